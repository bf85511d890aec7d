"""The recall room: draw, damage, recall, and watch the energy fall."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.element import Element

from bnn import plots
from bnn.dynamics import DYNAMICS
from bnn.errors import BnnError, DataError
from bnn.web.film import film
from bnn.web.frame import card, told
from bnn.web.memory import Memory, network_of
from bnn.web.pictures import cells_of
from bnn.web.recall_panel import Panel
from bnn.web.recall_session import RecallSession
from bnn.web.settings import BLANK, SEEDS, Settings
from bnn.web.shelf import Shelf
from bnn.web.widgets import Choice, File, Pixels, Slider, button, say, text
from bnn.web.work import Desk, Pool

TICK = 0.07
"""Seconds between two pictures while playing."""
PENS = {"draw": True, "erase": False, "flip": None}


class RecallRoom:
    """The page of one visitor.

    Parameters
    ----------
    shelf, pool
        What can be opened, and where work is done.
    query
        The part of the address after the question mark.
    """

    def __init__(self, shelf: Shelf, pool: Pool, query: Mapping[str, str]) -> None:
        self._shelf, self._desk = shelf, Desk(pool)
        self.session = self._begun(query)
        self._pen = "draw"
        self._page = ui.element("div")
        with self._page:
            self._build()
        self._timer = ui.timer(TICK, self._tick, active=False)
        ui.timer(0.0, self.recall, once=True)
        ui.context.client.on_delete(self._desk.stop)

    def _build(self) -> None:
        self._build_transport()
        with ui.element("div").classes("room"):
            self._build_cue()
            self._panels = [Panel(self.session, number, self.change) for number in range(2)]
        with ui.element("div").classes("room"):
            self._build_settings()
            self._build_memory()
            self._build_keep()

    async def change(self, **settings: Any) -> None:
        """Change settings, and recall anew."""
        await told(self._page, partial(self.session.change, **settings))
        await self.recall()

    async def recall(self) -> None:
        """Recall the cue in a thread, and show it; the cue at once."""
        self._show_cue()
        await told(self._page, self._recall)

    async def _recall(self) -> None:
        self.session.show(await self._desk.run(self.session.question()))
        for panel in self._panels:
            panel.begin()
        self._move()

    def _begun(self, query: Mapping[str, str]) -> RecallSession:
        """The session that an address tells of, or the usual one where it tells nonsense."""
        first = self._shelf.memories[0]
        try:
            return RecallSession(self._shelf.memory, Settings.of(query, data=first))
        except BnnError as error:
            say(f"This address cannot be shown: {error}")
            return RecallSession(self._shelf.memory, Settings(data=first))

    def _build_cue(self) -> None:
        memory, settings = self.session.memory, self.session.settings
        with card("Cue", "cue"):
            self._cue = Pixels(memory.shape, memory.neurons, "The cue, to draw on", self._stroke)
            with ui.element("fieldset").classes("pens"):
                text("legend", "Pen", "hidden")
                self._pens = {pen: button(pen.title(), partial(self._choose_pen, pen)) for pen in PENS}
                button("Clear", partial(self.change, pattern=BLANK, noise=0.0))
            self._noise = Slider("Noise", (0.0, 0.5, 0.01), settings.noise, percent, lambda v: self.change(noise=v))
            with ui.element("div").classes("pair"):
                button("Other noise", self._draw_lots, "Other noise, and another order of updates")
                button("Learn this", partial(self._act, self.session.learn), "Learn the cue as a new pattern")
        self._choose_pen(self._pen)

    def _build_transport(self) -> None:
        with ui.element("section").classes("card transport") as bar:
            bar.props["aria-label"] = "Steps of the recall"
            button("|◀", partial(self._go, lambda: self.session.seek(0)), "To the start")
            button("◀", partial(self._go, self.session.back), "One step back")
            self._play = button("Play", self._toggle, kind="main")
            button("▶", partial(self._go, self.session.step), "One step on")
            button("▶|", partial(self._go, lambda: self.session.seek(self.session.last)), "To the end")
            self._where = Slider("Step", (0, 1, 1), 0, self._moment_name, self._seek)

    def _build_settings(self) -> None:
        settings = self.session.settings
        with card("Settings"):
            Choice("Patterns", {n: n for n in self._shelf.memories}, settings.data, self._open, name="data")
            dynamics = {name: name.replace("-", " ") for name in DYNAMICS}
            Choice("Dynamics", dynamics, settings.dynamics, lambda name: self.change(dynamics=name))
            self._cut = Slider(
                "Connections cut", (0.0, 0.95, 0.01), settings.cut, percent, lambda v: self.change(cut=v)
            )
            self._seed = text("p", "", "note")

    def _build_memory(self) -> None:
        with card("Stored patterns", "memory"):
            text("p", "Choose one as the cue, or forget it: its counts are subtracted.", "note")
            self._stored = ui.element("ul").classes("stored")
            File("Draw from a picture (PNG, JPEG)", "image/png,image/jpeg", self._upload)
        self._fill_stored()

    def _build_keep(self) -> None:
        with card("Keep and look inside"):
            self._link = text("a", "Link to this view", "link")
            button("Save as animation", self._save_film)
            button("Show the network", self._show_graph)
            self._graph = ui.element("div").classes("graph")

    def _fill_stored(self) -> None:
        """The list of stored patterns, drawn anew."""
        self._stored.clear()
        memory = self.session.memory
        with self._stored:
            for number, name, pattern in zip(memory.numbers, memory.names, memory.patterns, strict=True):
                with ui.element("li"):
                    chosen = button("", partial(self.change, pattern=number), f"Take {name} as the cue", "stored-one")
                    with chosen:
                        Pixels(memory.shape, memory.neurons, name).show(pattern)
                    button("✕", partial(self._act, partial(self.session.forget, number)), f"Forget {name}", "plain")

    def _show_cue(self) -> None:
        """The cue, its settings, and the address that reproduces them."""
        settings = self.session.settings
        self._cue.show(self.session.cue)
        self._noise.show(settings.noise)
        self._cut.show(settings.cut)
        self._seed.set_text(f"Seed {settings.seed}: of the noise, the order of updates and the connections cut.")
        query = settings.query()
        self._link.props["href"] = f"/?{query}"
        self._page.client.run_javascript(
            f"history.replaceState(null, '', {json.dumps(f'/?{query}' if query else '/')})"
        )

    def _move(self) -> None:
        """The moment shown."""
        session = self.session
        for panel in self._panels:
            panel.move()
        self._where.set(max=max(1, session.last))
        self._where.show(session.position)
        self._play.set_text("Pause" if session.playing else "Play")
        self._timer.active = session.playing

    def _moment_name(self, position: float) -> str:
        """Name of the moment shown, of the course that has it."""
        longest = max(self.session.courses, key=len, default=None)
        return "" if longest is None else longest.moments[min(round(position), len(longest) - 1)]

    def _go(self, move: Callable[[], None]) -> None:
        self.session.pause()
        move()
        self._move()

    def _seek(self, position: float) -> None:
        self._go(partial(self.session.seek, round(position)))

    def _toggle(self) -> None:
        (self.session.pause if self.session.playing else self.session.play)()
        self._move()

    def _tick(self) -> None:
        self.session.tick()
        self._move()

    def _choose_pen(self, pen: str) -> None:
        self._pen = pen
        self._cue.set(mode=pen)
        for name, key in self._pens.items():
            key.props["aria-pressed"] = "true" if name == pen else "false"

    async def _stroke(self, event: Any) -> None:
        cells = [int(cell) for cell in event.args["cells"]]
        await told(self._page, partial(self.session.paint, cells, PENS[event.args["mode"]]))
        await self.recall()

    async def _draw_lots(self) -> None:
        await self.change(seed=(self.session.settings.seed + 1) % SEEDS)

    async def _act(self, act: Callable[[], None]) -> None:
        """Learn or forget, and show the patterns that are left."""
        await told(self._page, act)
        self._fill_stored()
        await self.recall()

    async def _open(self, data: str) -> None:
        """Other patterns have another shape: the page begins anew."""
        ui.navigate.to(f"/?{Settings(data=data).query()}")

    async def _upload(self, content: bytes) -> None:
        async def draw() -> None:
            memory = self.session.memory
            cells = await self._desk.run(lambda _: cells_of(content, memory.shape, memory.neurons))
            self.session.draw(cells)

        await told(self._page, draw)
        await self.recall()

    async def _save_film(self) -> None:
        async def save() -> None:
            courses, shape = self.session.courses, self.session.memory.shape
            if not courses:
                raise DataError("Nothing was recalled yet; choose a rule and a dynamics that go together.")
            made = await self._desk.run(lambda progress: film(courses, shape, progress))
            ui.download(made, "recall.gif", "image/gif")

        await told(self._page, save)

    async def _show_graph(self) -> None:
        async def show() -> None:
            memory, settings = self.session.memory, self.session.settings
            picture = await self._desk.run(lambda _: graph_of(memory, settings))
            self._graph.clear()
            with self._graph:
                image = Element("img")
                image.props["src"] = f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"
                image.props["alt"] = "The strongest connections of the network, blue where neurons excite each other"

        await told(self._page, show)


def graph_of(memory: Memory, settings: Settings) -> bytes:
    """The network of the first rule as a graph, SVG."""
    network = network_of(memory, settings.rules[0], settings.cut, settings.seed)
    buffer = io.BytesIO()
    plots.graph(network).savefig(buffer, format="svg")  # type: ignore[arg-type]
    return buffer.getvalue()


def percent(share: float) -> str:
    """A share as people say it."""
    return f"{100 * share:.0f} %"
