"""Who is let in, how much at once, and work that is stopped when nobody waits for it."""

import asyncio
import threading

import pytest
from nicegui import Client
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from bnn.web.frame import is_full
from bnn.web.guard import Guard
from bnn.web.limits import MOST_VISITORS
from bnn.web.work import BusyError, Desk, Pool, StoppedError

TOKEN = "a-long-secret"


async def page(request):
    await request.body()
    return PlainTextResponse("in")


async def socket(websocket):
    await websocket.accept()
    await websocket.send_text("in")
    await websocket.close()


def client(token=None, most=100, address="http://127.0.0.1:80"):
    inner = Starlette(routes=[Route("/", page, methods=["GET", "POST"]), WebSocketRoute("/ws", socket)])
    return TestClient(Guard(inner, token, most), base_url=address, follow_redirects=False)


def hears(client, **headers):
    """Whether a websocket is opened."""
    try:
        with client.websocket_connect("/ws", headers=headers) as websocket:
            return websocket.receive_text() == "in"
    except WebSocketDisconnect:
        return False


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8080", "[::1]:8080"])
def test_loopback_is_answered(host):
    assert client().get("/", headers={"host": host}).text == "in"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "[", "[::1", "::1]", "[abc]"]
)
def test_other_names_are_not_answered_without_a_token(host):
    answer = client().get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "answers only to 127.0.0.1 and localhost" in answer.json()["detail"]
    assert not hears(client(), host=host)


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:81", "null", "http://[x"])
def test_other_pages_are_not_answered(origin):
    assert client().get("/", headers={"origin": origin}).status_code == 403
    assert client().post("/", headers={"origin": origin}).status_code == 403
    assert not hears(client(), origin=origin)


def test_the_page_itself_is_answered():
    assert client().get("/", headers={"host": "127.0.0.1:9", "origin": "http://127.0.0.1:9"}).text == "in"
    assert hears(client(), host="127.0.0.1:9", origin="http://127.0.0.1:9")


@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer wrong"}, {"cookie": "bnn-80=wrong"}, {"cookie": "=;;="}]
)
def test_a_token_is_asked_for_everywhere(headers):
    answer = client(TOKEN).get("/", headers=headers)
    assert answer.status_code == 401
    assert "Show the token" in answer.json()["detail"]
    assert client(TOKEN).get("/?token=wrong").status_code == 401
    assert client(TOKEN).post("/", headers=headers).status_code == 401
    assert not hears(client(TOKEN), **headers)


def test_a_token_is_shown_as_programs_do():
    assert client(TOKEN).get("/", headers={"authorization": f"Bearer {TOKEN}"}).text == "in"
    assert client(TOKEN).post("/", headers={"authorization": f"Bearer {TOKEN}"}).text == "in"
    assert hears(client(TOKEN), authorization=f"Bearer {TOKEN}")
    elsewhere = client(TOKEN, address="http://laboratory.example")
    assert elsewhere.get("/", headers={"authorization": f"Bearer {TOKEN}"}).text == "in"


def test_a_token_of_an_address_becomes_a_cookie_and_leaves_the_address():
    visitor = client(TOKEN)
    answer = visitor.get(f"/?noise=0.2&token={TOKEN}&rules=odds")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?noise=0.2&rules=odds"
    told = answer.headers["set-cookie"].lower()
    assert "httponly" in told
    assert "samesite=strict" in told
    assert visitor.get("/").text == "in"
    assert hears(client(TOKEN), cookie=told.partition(";")[0])


def test_no_address_leads_elsewhere():
    answer = client(TOKEN).get(f"http://127.0.0.1:80//evil.example/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/evil.example/")


@pytest.mark.parametrize(("size", "status"), [(100, 200), (101, 413)])
def test_bodies_are_measured(size, status):
    answer = client().post("/", content=b"x" * size)
    assert answer.status_code == status
    if status == 413:
        assert answer.json() == {"detail": "The body has 101 bytes; at most 100 are read."}


def test_a_body_must_say_how_large_it_is():
    answer = client().post("/", content=iter([b"x"]))
    assert (answer.status_code, answer.json()) == (411, {"detail": "Say how long the body is, with Content-Length."})


def test_chunks_are_not_measured_by_a_length_that_is_told_beside_them():
    told = {"content-length": "1", "transfer-encoding": "chunked"}
    answer = client().post("/", content=b"x" * 200, headers=told)
    assert {name: answer.request.headers[name] for name in told} == told
    assert answer.status_code == 411


def test_answers_keep_other_hosts_out():
    headers = client().get("/").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_more_pages_than_the_server_keeps_are_refused(monkeypatch):
    for number, full in ((MOST_VISITORS, False), (MOST_VISITORS + 1, True)):
        monkeypatch.setattr(Client, "instances", dict.fromkeys(range(number)))
        assert is_full() is full


def test_one_slow_question_does_not_hold_up_another():
    async def ask():
        pool, gate = Pool(threads=2), threading.Event()
        slow = asyncio.create_task(pool.run(lambda _: gate.wait()))
        assert await pool.run(lambda _: "quick") == "quick"
        assert not slow.done()
        gate.set()
        assert await slow

    asyncio.run(ask())


def test_more_than_there_is_room_for_is_refused_and_room_comes_back():
    async def ask():
        pool, gate = Pool(threads=1, waiting=1), threading.Event()
        taken = [asyncio.create_task(pool.run(lambda _: gate.wait())) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="The server is busy"):
            await pool.run(lambda _: None)
        gate.set()
        await asyncio.gather(*taken)
        await asyncio.sleep(0)
        assert await pool.run(lambda _: "in") == "in"

    asyncio.run(ask())


def test_what_takes_too_long_is_told_and_stopped():
    stopped = threading.Event()

    def endless(progress):
        try:
            while True:
                progress(0, 1)
        except StoppedError:
            stopped.set()
            raise

    async def ask():
        with pytest.raises(BusyError, match=r"This takes more than 0\.01 seconds; ask for less"):
            await Pool(seconds=0.01).run(endless)
        assert await asyncio.to_thread(stopped.wait, 60)

    asyncio.run(ask())


def test_a_newer_question_stops_the_one_before():
    begun, stopped = threading.Event(), threading.Event()

    def endless(progress):
        begun.set()
        try:
            while True:
                progress(0, 1)
        except StoppedError:
            stopped.set()
            raise

    async def ask():
        desk = Desk(Pool())
        old = asyncio.create_task(desk.run(endless))
        await asyncio.to_thread(begun.wait, 60)
        assert await desk.run(lambda _: "new") == "new"
        with pytest.raises(StoppedError):
            await old
        assert stopped.is_set()

    asyncio.run(ask())


def test_an_answer_that_came_too_late_is_not_shown():
    async def ask():
        desk, gate = Desk(Pool()), threading.Event()
        old = asyncio.create_task(desk.run(lambda _: gate.wait()))
        await asyncio.sleep(0)
        await desk.run(lambda _: gate.set())
        with pytest.raises(StoppedError, match="A newer question came"):
            await old

    asyncio.run(ask())
