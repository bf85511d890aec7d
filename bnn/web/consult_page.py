"""The consulting room: a case, what speaks for and against each class, and what to ask next."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlencode

import numpy as np
from nicegui import ui

from bnn.plots.style import readable
from bnn.web.consult_session import ConsultSession
from bnn.web.frame import card, told
from bnn.web.reports import View, as_html, as_json, view_of
from bnn.web.shelf import Shelf, Subject
from bnn.web.uploads import subject_sent
from bnn.web.widgets import Bars, Choice, File, Slider, button, say, text
from bnn.web.work import Desk, Pool

UNKNOWN = ""
SENT = "(sent)"
"""Key of what a visitor sent."""
SUGGESTED = 5
"""Questions suggested."""
MANY = 8
"""Classes beyond which the most probable ones come first."""
NOT_A_DEVICE = (
    "For teaching and research. This is not a medical device, and no diagnosis: it has not been validated for any use "
    "in care."
)


class ConsultRoom:
    """The page of one visitor.

    Parameters
    ----------
    shelf, pool
        What can be opened, and where work is done.
    query
        The part of the address after the question mark: ``data``, and ``case`` as JSON.
    """

    def __init__(self, shelf: Shelf, pool: Pool, query: Mapping[str, str]) -> None:
        self._shelf, self._desk = shelf, Desk(pool)
        self._name = query.get("data", shelf.subjects[0])
        self._asked = query.get("case", "{}")
        self._shown: str | None = None
        self._choices: dict[str, Choice] = {}
        text("p", NOT_A_DEVICE, "note warning")
        self._page = ui.element("div").classes("consult")
        ui.timer(0.0, partial(told, self._page, self._begin), once=True)
        ui.context.client.on_delete(self._desk.stop)

    async def _begin(self) -> None:
        """Open what the address tells, or the first on the shelf where it tells nonsense."""
        try:
            subject = await self._desk.run(lambda _: self._shelf.subject(self._name))
            case = json.loads(self._asked)
            if not isinstance(case, dict):
                raise ValueError("a case is an object of attributes and values.")
            await self._open(subject, {str(name): str(value) for name, value in case.items()})
        except ValueError as error:
            say(f"This address cannot be shown: {error}")
            self._name = self._shelf.subjects[0]
            await self._open(await self._desk.run(lambda _: self._shelf.subject(self._name)))

    async def _open(self, subject: Subject, case: Mapping[str, str] | None = None) -> None:
        """Consult a subject, with the page built anew."""
        self.session = ConsultSession(subject, case)
        self._shown = None
        self._page.clear()
        with self._page:
            self._build_case()
            with ui.element("div").classes("side"):
                self._build_answer()
                self._build_reasons()
                self._build_next()
                self._build_source()
        await self._update()

    def _build_case(self) -> None:
        session = self.session
        with card("The case"):
            with ui.element("div").classes("pair"):
                button("All unknown", self._forget_all)
                self._link = text("a", "Link to this case", "link")
            with ui.element("div").classes("questions"):
                self._choices = {}
                for name in session.attributes:
                    options = {UNKNOWN: "unknown", **{value: value for value in session.values(name)}}
                    chosen = session.case.get(name, UNKNOWN)
                    self._choices[name] = Choice(name, options, chosen, partial(self._choose, name))

    def _build_answer(self) -> None:
        session = self.session
        with card(f"Probability of each {session.subject.target}", "answer"):
            self._answer = Bars()
            self._answer.set(heads=[session.subject.target, "", "probability"], most=1.0, label="Class probabilities")
            if session.answers_to_priors:
                self._prior = Slider("", (0.0, 1.0, 0.001), 0.0, percent, self._suppose)
                button("Prior as learned", self._as_learned)

    def _build_reasons(self) -> None:
        session = self.session
        with card("What speaks for and against"):
            options = {label: label for label in session.classes}
            self._class = Choice("Class", options, session.classes[0], self._explain, name="class-shown")
            self._reasons = Bars()
            self._reasons.set(signed=True, label="Gains in bits")
            text(
                "p", "A bit is a factor of two. Prior, gains and normaliser add up to log2 of the probability.", "note"
            )
            with ui.element("div").classes("pair"):
                for name, make, kind in (("HTML", as_html, "text/html"), ("JSON", as_json, "application/json")):
                    save = partial(self._save, make, f"case.{name.lower()}", kind)
                    button(f"Save as {name}", partial(told, self._page, save))

    def _build_next(self) -> None:
        with card("What to ask next"):
            text("p", "What is expected to tell most of the class, in bits. Recall fills in a likely value.", "note")
            self._next = ui.element("div").classes("shown")

    def _build_source(self) -> None:
        session = self.session
        with card("What is consulted"):
            names = {name: name for name in self._shelf.subjects}
            if self._name == SENT:
                names = {SENT: f"{session.subject.name} (sent)", **names}
            Choice("Data or model", names, self._name, self._choose_subject, name="data")
            File(
                "Your own (CSV, Parquet, or a model of bnn fit)",
                ".csv,.parquet,.safetensors",
                self._sent,
            )

    async def _update(self) -> None:
        """Ask everything that follows from the case, in a thread, and show it."""
        session, label = self.session.copy(), self._shown
        self._show(await self._desk.run(lambda _: view_of(session, label)))

    def _show(self, view: View) -> None:
        session, chances = self.session, view.chances
        order = np.argsort(chances)[::-1].tolist() if len(chances) > MANY else range(len(chances))
        lines = [
            {
                "name": session.classes[c],
                "size": chances[c],
                "told": percent(chances[c]),
                "kind": "chosen" if session.classes[c] == view.shown else "",
            }
            for c in order
        ]
        self._answer.set(lines=lines)
        self._class.set(value=view.shown)
        most = max(abs(line["size"]) for line in view.reasons)
        heads = [f"for {view.shown}", "against | for", "bits", "cases"]
        self._reasons.set(lines=view.reasons, heads=heads, most=most)
        if session.answers_to_priors:
            self._prior.set(label=f"Prior of {view.shown}")
            self._prior.show(view.prior)
        self._suggest(view.asked[:SUGGESTED])
        query = {"data": self._name, "case": json.dumps(session.case)} if session.case else {"data": self._name}
        address = f"/consult?{urlencode(query)}" if self._name != SENT else "/consult"
        self._link.props["href"] = address
        self._page.client.run_javascript(f"history.replaceState(null, '', {json.dumps(address)})")

    def _suggest(self, ranked: list[tuple[str, float]]) -> None:
        """What to ask next, and buttons that fill it in."""
        self._next.clear()
        with self._next:
            if not ranked:
                text("p", "Nothing is left to ask, or this model does not tell.", "note")
                return
            bars = Bars()
            lines = [{"name": name, "size": drop, "told": readable(drop, ".2f")} for name, drop in ranked]
            bars.set(
                lines=lines,
                heads=["attribute", "", "bits"],
                most=ranked[0][1],
                label="Expected drop of entropy in bits",
            )
            with ui.element("div").classes("ask"):
                for name, _ in ranked:
                    button(f"Fill in {name}", partial(told, self._page, partial(self._fill, name)))

    async def _change(self, change: Callable[[], None]) -> None:
        """Change the case, and show what follows."""

        async def both() -> None:
            change()
            await self._update()

        await told(self._page, both)

    async def _choose(self, attribute: str, value: str) -> None:
        await self._change(lambda: self.session.choose(attribute, value or None))

    async def _fill(self, attribute: str) -> None:
        session = self.session.copy()
        value = await self._desk.run(lambda _: session.recalled(attribute))
        self.session.choose(attribute, value)
        self._choices[attribute].set(value=value)
        await self._update()

    async def _forget_all(self) -> None:
        for choice in self._choices.values():
            choice.set(value=UNKNOWN)
        await self._change(self.session.codes.clear)

    async def _explain(self, label: str) -> None:
        self._shown = label
        await told(self._page, self._update)

    async def _suppose(self, probability: float) -> None:
        self._shown = self._class.props["value"]
        await self._change(partial(self.session.suppose, self._shown, probability))

    async def _as_learned(self) -> None:
        await self._change(partial(self.session.suppose, self.session.classes[0], None))

    async def _save(self, make: Callable[[ConsultSession], str], name: str, kind: str) -> None:
        session = self.session.copy()
        ui.download((await self._desk.run(lambda _: make(session))).encode(), name, kind)

    async def _choose_subject(self, name: str) -> None:
        async def open_it() -> None:
            subject = await self._desk.run(lambda _: self._shelf.subject(name))
            self._name = name
            await self._open(subject)

        if name != SENT:
            await told(self._page, open_it)

    async def _sent(self, content: bytes) -> None:
        async def open_it() -> None:
            subject = await self._desk.run(lambda _: subject_sent(content))
            self._name = SENT
            await self._open(subject)

        await told(self._page, open_it)


def percent(share: float) -> str:
    """A probability as people say it.

    Examples
    --------
    >>> percent(0.5), percent(0.0004)
    ('50.0 %', '0.0 %')
    """
    return f"{100 * share:.1f} %"
