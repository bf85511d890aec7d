"""Both rooms in a real browser: what visitors do, that nothing leaves this machine, and that everyone can use them."""

import io
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect, sync_playwright

from bnn import datasets

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("BNN_REQUIRE_BROWSER"), reason="needs Chromium (apt install chromium)"
    ),
]
PATIENCE = 30_000  # milliseconds; nothing waits that long unless it fails
MINUS = "\N{MINUS SIGN}"
TOKEN = "a-long-secret"
DIGITS = datasets.load("mnist-100").patterns[::10]
HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


def served(*words):
    """A server in a process of its own, and its address."""
    server = subprocess.Popen(
        [sys.executable, "-m", "bnn", "serve", "--port", "0", *words], stdout=subprocess.PIPE, text=True
    )
    return server, re.search(r"http://\S+", server.stdout.readline())[0]


@pytest.fixture(scope="module")
def address():
    server, address = served()
    yield address
    server.terminate()
    server.communicate()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open a page; at the end nothing was asked of another host, and no script failed."""
    contexts, outside, failed = [], [], []

    def open_page(path="", start=address, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        page.on("request", lambda request: outside.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.goto(start + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [url for url in outside if urlsplit(url).hostname not in ("127.0.0.1", None)] == []
    assert failed == []


def cells(canvas):
    """Which cells of a picture of 28 x 28 are darker than the middle."""
    levels = canvas.evaluate(
        """canvas => {
            const pen = canvas.getContext("2d"), size = canvas.width / 28;
            return Array.from({length: 784}, (_, i) => pen.getImageData(
                Math.floor((i % 28 + 0.4) * size), Math.floor((Math.floor(i / 28) + 0.4) * size), 1, 1).data[0]);
        }"""
    )
    return np.array(levels) < 128


def cue_of(page):
    return page.get_by_role("application", name="The cue, to draw on")


def states_of(page):
    return page.get_by_role("img", name="The network's state")


def number(words):
    """A number as people print it."""
    return float(words.replace(",", "").replace(MINUS, "-"))


def falling(page):
    """What the curves of energy say to who cannot see them: their start and end."""
    told = page.locator("svg.curve").evaluate_all("curves => curves.map(curve => curve.getAttribute('aria-label'))")
    return [tuple(map(number, re.search(r" from (\S+) to (\S+) ", one).groups())) for one in told]


def ready(page):
    """The recall room once the first cue was recalled."""
    expect(page.locator(".verdict").first).to_contain_text("ettled")
    return page


def to_the_end(page):
    page.get_by_role("button", name="To the end").click()
    page.wait_for_function(
        "document.querySelector('.transport input').value === document.querySelector('.transport input').max"
    )


def test_a_drawn_and_damaged_digit_comes_back(visit):
    page = ready(visit())
    page.get_by_role("button", name="Take pattern 3 as the cue").click()
    page.wait_for_function("location.search.includes('pattern=3')")
    ready(page)
    before = cells(cue_of(page))
    cue_of(page).scroll_into_view_if_needed()
    box = cue_of(page).bounding_box()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.5 * box["height"], steps=5)
    page.mouse.up()
    page.wait_for_function("location.search.includes('edits=')")
    drawn = cells(cue_of(page))
    assert drawn.reshape(28, 28)[14, 4:24].all()
    assert (drawn != DIGITS[3]).mean() > 0.1
    assert (drawn & before == before).all()
    to_the_end(page)
    np.testing.assert_array_equal(cells(states_of(page).first), DIGITS[3] == 1)
    expect(page.get_by_text("Nearest: pattern 3, exactly").first).to_be_visible()
    for start, end in falling(page):
        assert end < start
    expect(page.locator(".verdict").first).to_have_text("Settled: no neuron wants to change. The energy never rose.")


def test_steps_forth_and_back_and_playing(visit):
    page = ready(visit("?rules=odds"))
    state, start = states_of(page).first, cells(states_of(page).first)
    np.testing.assert_array_equal(start, cells(cue_of(page)))
    page.get_by_role("button", name="One step on").click()
    expect(page.locator(".transport output")).to_contain_text("flip 1 of 78")
    assert (cells(state) != start).sum() == 1
    page.get_by_role("button", name="One step back").click()
    expect(page.locator(".transport output")).to_have_text("start")
    np.testing.assert_array_equal(cells(state), start)
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".transport output")).to_contain_text("flip 78 of 78")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    np.testing.assert_array_equal(cells(state), DIGITS[0] == 1)


def test_the_keyboard_draws_too(visit):
    page = ready(visit("?pattern=-1&noise=0"))
    cue_of(page).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Space"):
        page.keyboard.press(key)
    page.wait_for_function("location.search.includes('edits=')")
    assert np.flatnonzero(cells(cue_of(page))).tolist() == [30]
    expect(page.get_by_text("row 2, column 3: on")).to_be_attached()
    page.get_by_role("button", name="Flip").click()
    cue_of(page).focus()
    page.keyboard.press("Enter")
    page.wait_for_function("!location.search.includes('edits=')")
    assert not cells(cue_of(page)).any()


def test_a_pattern_is_learned_from_a_picture_and_forgotten(visit):
    page = ready(visit("?rules=odds"))
    picture = io.BytesIO()
    square = np.full((28, 28), 255, np.uint8)
    square[8:20, 8:20] = 0
    Image.fromarray(square).save(picture, "PNG")
    page.locator("input[type=file]").set_input_files(
        {"name": "../../square.png", "mimeType": "image/png", "buffer": picture.getvalue()}
    )
    page.wait_for_function("location.search.includes('edits=')")
    np.testing.assert_array_equal(cells(cue_of(page)), square.ravel() == 0)
    page.get_by_role("button", name="Learn the cue as a new pattern").click()
    expect(page.get_by_role("button", name="Take learned 1 as the cue")).to_be_visible()
    page.get_by_role("button", name="Forget pattern 7").click()
    expect(page.get_by_role("button", name="Take pattern 7 as the cue")).to_have_count(0)
    page.get_by_role("slider", name="Noise").fill("0.1")
    page.wait_for_function("location.search.includes('noise=0.1') || !location.search.includes('noise')")
    page.get_by_role("slider", name="Connections cut").fill("0.05")
    page.wait_for_function("location.search.includes('cut=0.05')")
    to_the_end(page)
    expect(page.get_by_text("Nearest: learned 1")).to_be_visible()
    assert (cells(states_of(page).first) != (square.ravel() == 0)).mean() < 0.01
    page.locator("input[type=file]").set_input_files(
        {"name": "square.png", "mimeType": "image/png", "buffer": pickle.dumps([1])}
    )
    expect(page.get_by_text("picture: is no PNG or JPEG file")).to_be_visible()


def test_a_link_shows_the_same_in_another_browser(visit):
    page = ready(visit("?pattern=5&noise=0.25&seed=7&rules=hopfield,storkey&cut=0.4&dynamics=synchronous"))
    to_the_end(page)
    link = page.get_by_role("link", name="Link to this view").get_attribute("href")
    other = ready(visit(link.removeprefix("/")))
    assert parse_qs(urlsplit(other.url).query) == parse_qs(urlsplit(link).query)
    to_the_end(other)
    for number in range(2):
        np.testing.assert_array_equal(cells(states_of(page).nth(number)), cells(states_of(other).nth(number)))
    assert falling(page) == falling(other)


def test_an_address_that_cannot_be_shown_says_why(visit):
    page = ready(visit("?noise=7"))
    expect(page.get_by_text("This address cannot be shown: noise: got 7")).to_be_visible()
    page = visit("consult?data=..%2F..%2Fetc%2Fpasswd")
    expect(page.get_by_text("data: there is no '../../etc/passwd'")).to_be_visible()
    expect(page.get_by_label("by_pass")).to_be_visible()


def test_a_rule_and_a_dynamics_that_do_not_go_together_are_told(visit):
    page = ready(visit())
    page.get_by_label("Dynamics").select_option("attention")
    expect(page.get_by_text("works by patterns, and this memory keeps weights")).to_be_visible()
    page.locator("select[name=rule-2]").select_option("")
    page.locator("select[name=rule-1]").select_option("modern")
    expect(states_of(page)).to_have_count(1)
    to_the_end(page)
    np.testing.assert_array_equal(cells(states_of(page).first), DIGITS[0] == 1)


def test_a_recall_is_saved_and_the_network_is_shown(visit, tmp_path):
    page = ready(visit("?rules=odds&noise=0.01"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as animation").click()
    download.value.save_as(tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 9
    page.get_by_role("button", name="Show the network").click()
    expect(page.get_by_role("img", name="The strongest connections")).to_be_visible()


def numbers(page):
    """The numbers of the table of reasons, and the probability that its last line says."""
    rows = page.locator("table.signed tbody tr")
    bits = list(map(number, rows.locator("td:nth-child(3)").all_text_contents()))
    return bits, float(re.search(r"log2 of ([\d.e-]+) %", rows.last.text_content())[1]) / 100


def test_a_lymphography_case_adds_up_to_its_probability(visit):
    page = visit("consult")
    case = datasets.load("lymphography")[[3]].to_table().drop_columns("class").to_pylist()[0]
    for number, (name, value) in enumerate(case.items()):
        page.get_by_label(name, exact=True).select_option(str(value))
        expect(page.locator("table.signed tbody tr")).to_have_count(number + 4)
    page.get_by_label("Class", exact=True).select_option("malign lymph")
    bits, probability = numbers(page)
    assert sum(bits[:-1]) == pytest.approx(bits[-1], abs=0.01 * len(bits))
    assert 2 ** bits[-1] == pytest.approx(probability, rel=0.01)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as JSON").click()
    told = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert told["probabilities"]["malign lymph"] == pytest.approx(probability, rel=0.01)
    assert told["case"] == {name: str(value) for name, value in case.items()}
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as HTML").click()
    assert "changes_in_node" in download.value.path().read_text(encoding="utf-8")
    expect(page.get_by_text("not a medical device")).to_be_visible()


def test_what_to_ask_recall_and_another_prior(visit):
    page = visit("consult?data=lymphography&case=" + json.dumps({"changes_in_node": "lac central"}))
    expect(page.get_by_label("changes_in_node", exact=True)).to_have_value("lac central")
    first = page.locator("section", has=page.get_by_role("heading", name="What to ask next")).locator("tbody th").first
    page.get_by_role("button", name=f"Fill in {first.text_content()}", exact=True).click()
    expect(page.locator("table.signed tbody tr")).to_have_count(5)
    before = numbers(page)[1]
    page.get_by_role("slider", name="Prior of malign lymph").fill("0.01")
    expect(page.get_by_role("slider", name="Prior of malign lymph")).to_have_attribute("aria-valuetext", "1.0 %")
    page.wait_for_function(
        f"!document.querySelector('table.signed tr.total').textContent.includes('{100 * before:.3g} %')"
    )
    assert numbers(page)[1] < before
    page.get_by_role("button", name="All unknown").click()
    expect(page.locator("table.signed tbody tr")).to_have_count(3)
    expect(page.get_by_label("changes_in_node", exact=True)).to_have_value("")


def test_a_table_sent_with_markup_is_shown_as_text(visit):
    page = visit("consult")
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    table = f"{quoted},class\n{quoted},{quoted}\nb,no\n{quoted},{quoted}\nb,no\n"
    page.locator("input[type=file]").set_input_files(
        {"name": "../../../etc/cron.d/x.csv", "mimeType": "text/csv", "buffer": table.encode()}
    )
    page.get_by_label(HOSTILE, exact=True).select_option(HOSTILE)
    expect(page.locator("table.signed tbody tr")).to_have_count(4)
    assert page.locator("table.signed tbody th").nth(1).text_content() == HOSTILE + HOSTILE
    assert page.locator("main img").count() == 0
    assert page.title() == "Consult · bnn"
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as HTML").click()
    report = page.context.new_page()
    report.goto(f"file://{download.value.path()}")
    assert report.locator("img").count() == 0
    page.locator("input[type=file]").set_input_files(
        {"name": "x.csv", "mimeType": "text/csv", "buffer": pickle.dumps([1])}
    )
    expect(page.get_by_text("is not UTF-8")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["", "consult?data=lymphography&case=%7B%22by_pass%22%3A%22yes%22%7D", "docs"])
def test_everyone_can_use_it(visit, path, scheme):
    page = visit(path, color_scheme=scheme)
    page.locator("canvas, table").first.wait_for()
    if not path:
        ready(page)
    elif path != "docs":
        expect(page.locator("table.signed tbody tr")).to_have_count(4)
    assert ("body--dark" in page.locator("body").get_attribute("class")) == (scheme == "dark")
    found = Axe().run(page).response["violations"]
    serious = [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []


@pytest.mark.parametrize("path", ["", "consult", "docs"])
def test_a_phone_need_not_scroll_sideways(visit, path):
    page = visit(path, viewport={"width": 375, "height": 740}, has_touch=True)
    page.locator("canvas, table").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_token_opens_page_and_socket(visit):
    server, start = served("--token", TOKEN)
    try:
        stranger = start.partition("?")[0]
        page = visit(start=stranger)
        expect(page.get_by_text("Show the token")).to_be_visible()
        page = ready(visit(start=start))
        assert TOKEN not in page.url
        to_the_end(page)  # by the socket
        answer = page.context.request.post(f"{stranger}api/predict", data={"rows": [{}]})
        assert answer.ok
        bare = page.context.browser.new_context()
        assert bare.request.post(f"{stranger}api/predict", data={"rows": [{}]}).status == 401
        assert bare.request.get(f"{stranger}_nicegui_ws/socket.io/?EIO=4&transport=polling").status == 401
        bare.close()
    finally:
        server.terminate()
        server.communicate()
