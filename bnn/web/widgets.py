"""Elements of the pages that the toolkit lacks: small components of the browser's own controls."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float
from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import GenericEventArguments, UploadEventArguments

from bnn.web.limits import MOST_BYTES

SHOWN = 12.0
"""Seconds that a sentence stays on the page."""
Handler = Callable[[Any], Awaitable[None] | None]


class Component(Element):
    """An element whose properties are set by name; the browser is told only what changed."""

    def set(self, **properties: Any) -> None:
        """Set properties, and redraw where one has changed."""
        changed = {name: value for name, value in properties.items() if self.props.get(name) != value}
        if changed:
            self.props.update(changed)


class Pixels(Component, component="static/pixels.js"):
    """Cells from off to on, which may be drawn on."""

    def __init__(self, shape: tuple[int, int], count: int, label: str, stroke: Handler | None = None) -> None:
        super().__init__()
        self.set(rows=shape[0], columns=shape[1], count=count, label=label, editable=stroke is not None, mode="draw")
        self.set(cells="")
        if stroke is not None:
            self.on("stroke", stroke)

    def show(self, on: Float[np.ndarray, " neurons"]) -> None:
        """Show how far each neuron is on, 0 to 1."""
        self.set(cells=base64.b64encode(np.rint(255 * on).astype(np.uint8).tobytes()).decode())


class Curve(Component, component="static/curve.js"):
    """What must fall, against moments."""


class Bars(Component, component="static/bars.js"):
    """A table whose lines have bars."""


class Choice(Component, component="static/choice.js"):
    """A labelled list to choose from; ``chosen`` is called with the key."""

    def __init__(self, label: str, options: Mapping[str, str], value: str, chosen: Handler, name: str = "") -> None:
        super().__init__()
        self.set(label=label, name=name or label, options=list(map(list, options.items())), value=value)
        self.on("choose", chosen_by(self, chosen))


class Slider(Component, component="static/slider.js"):
    """A labelled slider; ``slid`` is called with the number."""

    def __init__(
        self, label: str, ends: tuple[float, float, float], value: float, told: Callable[[float], str], slid: Handler
    ) -> None:
        super().__init__()
        low, high, step = ends
        self._words = told
        self.set(label=label, name=label, min=low, max=high, step=step)
        self.show(value)
        self.on("slide", chosen_by(self, slid), throttle=0.05)

    def show(self, value: float) -> None:
        """Show a value, and what it is in words."""
        self.set(value=value, told=self._words(value))


class File(ui.upload, component="static/file.js"):
    """A labelled file to send; ``sent`` is called with its bytes."""

    def __init__(self, label: str, accept: str, sent: Handler) -> None:
        async def read(event: UploadEventArguments) -> None:
            outcome = sent(await event.file.read())
            if outcome is not None:
                await outcome

        super().__init__(label=label, on_upload=read)
        self.props.update({"accept": accept, "most": MOST_BYTES})
        self.on("refused", lambda event: say(f"This file has {event.args:,} bytes; at most {MOST_BYTES:,} are read."))


def chosen_by(element: Component, handler: Handler) -> Handler:
    """A handler that keeps the value chosen in the browser, and hands it on."""

    async def chosen(event: GenericEventArguments) -> None:
        element.set(value=event.args)
        outcome = handler(event.args)
        if outcome is not None:
            await outcome

    return chosen


def button(text: str, press: Callable[[], Any], label: str = "", kind: str = "") -> TextElement:
    """A button, the browser's own; ``label`` says more than its text to who cannot see it."""
    element = TextElement(tag="button", text=text)
    element.classes(f"button {kind}")
    element.props["type"] = "button"
    if label:
        element.props["aria-label"] = label
        element.props["title"] = label
    element.on("click", lambda: press())
    return element


def say(sentence: str) -> None:
    """Say something that cannot be, to eyes and to screen readers."""
    ui.notify(sentence, type="warning", timeout=1000 * SHOWN, close_button="Close", multi_line=True, position="top")


def text(tag: str, words: str, kind: str = "") -> TextElement:
    """Words in an element; what looks like markup in them is shown as it is."""
    element = TextElement(tag=tag, text=words)
    element.classes(kind)
    return element
