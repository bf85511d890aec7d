"""The server: both rooms and the interface for programs, behind one guard."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI, Request
from nicegui import ui
from starlette.responses import Response
from starlette.types import ASGIApp

from bnn.errors import BnnWarning, DataError
from bnn.web.api import api_of
from bnn.web.api_page import describe
from bnn.web.consult_page import ConsultRoom
from bnn.web.consult_session import ConsultSession
from bnn.web.frame import frame, is_full
from bnn.web.guard import LOOPBACK, Guard, refused
from bnn.web.recall_page import RecallRoom
from bnn.web.recall_session import RecallSession
from bnn.web.settings import Settings
from bnn.web.shelf import Shelf
from bnn.web.work import Pool

GONE = 20.0
"""Seconds without a sign of life after which a visitor has left."""


def app_of(shelf: Shelf, token: str | None = None) -> ASGIApp:
    """The whole application.

    Parameters
    ----------
    shelf
        What can be opened.
    token
        What visitors must show; None: nothing, and only loopback names are answered.
    """
    pool = Pool()
    app, api = FastAPI(openapi_url=None), api_of(shelf, pool)
    app.mount("/api", api)

    @ui.page("/")
    def recall_room(request: Request) -> Response | None:
        if is_full():
            return full()
        with frame("/", "Recall", "Draw or pick a pattern, damage it, and watch the memory fall into place."):
            RecallRoom(shelf, pool, request.query_params)
        return None

    @ui.page("/consult")
    def consult_room(request: Request) -> Response | None:
        if is_full():
            return full()
        with frame(
            "/consult",
            "Consult",
            "Say what is known; see what speaks for and against each class, and what to ask next.",
        ):
            ConsultRoom(shelf, pool, request.query_params)
        return None

    @ui.page("/docs")
    def description() -> Response | None:
        if is_full():
            return full()
        with frame("/docs", "For programs", "The same answers as JSON. The whole description is in /api/openapi.json."):
            describe("/api", api.openapi())
        return None

    ui.run_with(
        app,
        title="bnn",
        dark=None,
        language="en-US",
        tailwind=False,
        reconnect_timeout=GONE,
        show_welcome_message=False,
    )
    return Guard(app, token)


def full() -> Response:
    """A refusal of one page too many, which is not kept either."""
    ui.context.client.delete()
    return refused(503, "As many pages are open as this server keeps; close one, or try again later.")


def serve(shelf: Shelf, host: str, port: int, token: str | None, ready: Callable[[str], None]) -> None:
    """Answer until interrupted.

    Parameters
    ----------
    shelf, token
        As in `app_of`.
    host, port
        Where; port 0 takes a free one.
    ready
        Called with the address once it is open.

    Raises
    ------
    DataError
        Another host than loopback without a token, or an address that cannot be had.
    """
    if host not in LOOPBACK and token is None:
        raise DataError(f"--host: {host} can be reached by others; give a --token that they must show.")
    try:
        opened = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise DataError(f"--port: {host} port {port} cannot be opened ({error.strerror}); take another.") from error
    with opened:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{opened.getsockname()[1]}/"
        warm(shelf)
        ready(address if token is None else f"{address}?token={token}")
        # What a table is like is told on the page; the toolkit, when it starts, looks at every object, also old ones
        warnings.simplefilter("ignore", BnnWarning)
        warnings.simplefilter("ignore", FutureWarning)
        uvicorn.Server(uvicorn.Config(app_of(shelf, token), log_level="warning")).run([opened])


def warm(shelf: Shelf) -> None:
    """Do once what visitors do, so that the first of them does not wait for compiled loops."""
    ConsultSession(shelf.subject(shelf.subjects[0])).to_ask()
    RecallSession(shelf.memory, Settings(data=shelf.memories[0], rules=("odds", "hopfield"))).recalled()
