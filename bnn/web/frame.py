"""What all pages have in common: the way between the rooms, the look, and how things are said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nicegui import Client, ui

from bnn.errors import BnnError
from bnn.web.limits import MOST_VISITORS
from bnn.web.widgets import button, say, text
from bnn.web.work import StoppedError

STYLE = Path(__file__).parent / "static" / "style.css"
ROOMS = {"/": "Recall", "/consult": "Consult", "/docs": "API"}


@contextmanager
def frame(here: str, title: str, introduction: str) -> Iterator[None]:
    """The page around a room.

    Parameters
    ----------
    here
        Address of the room.
    title, introduction
        Heading, and a line under it.
    """
    ui.page_title(f"{title} · bnn")
    ui.add_css(STYLE)
    dark = ui.dark_mode(None)
    with ui.element("header").classes("top"):
        text("span", "bnn", "brand")
        with ui.element("nav") as ways:
            ways.props["aria-label"] = "Rooms"
            for address, name in ROOMS.items():
                link = text("a", name)
                link.props["href"] = address
                if address == here:
                    link.props["aria-current"] = "page"
        button("◐", lambda: dark.set_value(not dark.value), "Light or dark", "plain")
    with ui.element("div").classes("content"):
        text("h1", title)
        text("p", introduction, "introduction")
        yield


@contextmanager
def card(title: str, kind: str = "") -> Iterator[ui.element]:
    """A part of a room, with a heading."""
    with ui.element("section").classes(f"card {kind}") as section:
        text("h2", title)
        yield section


async def told(page: ui.element, work: Callable[[], Awaitable[None] | None]) -> None:
    """Do something, and say in one sentence what prevents it; what a newer question stopped ends without a word.

    It is said on the page, since the button that was pressed may be gone by then.
    """
    with page:
        try:
            outcome = work()
            if outcome is not None:
                await outcome
        except StoppedError:
            return
        except BnnError as error:
            say(str(error))


def is_full() -> bool:
    """Whether as many pages are open as the server keeps."""
    return len(Client.instances) > MOST_VISITORS
