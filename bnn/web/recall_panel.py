"""A part of the recall room: what one rule recalls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from bnn.plots.style import readable
from bnn.rules import RULES
from bnn.web.frame import card
from bnn.web.recall_session import RecallSession
from bnn.web.widgets import Choice, Curve, Pixels, text

NOTHING = ""
"""Key of no rule."""


class Panel:
    """One rule's recall: its picture, what it is like, and its energy.

    Parameters
    ----------
    session
        The recall room's.
    number
        Which of its rules.
    change
        Called with the settings to change.
    """

    def __init__(self, session: RecallSession, number: int, change: Callable[..., Awaitable[None]]) -> None:
        self._session, self._number, self._change = session, number, change
        options = {name: name for name in RULES}
        with card("Recall" if number == 0 else "Recall by another rule", "recall"):
            if number:
                options = {NOTHING: "none", **options}
            Choice("Rule", options, self._rule, self._choose, name=f"rule-{number + 1}")
            with ui.element("div").classes("shown") as self._shown:
                self._pixels = Pixels(session.memory.shape, session.memory.neurons, "The network's state")
                with ui.element("div").classes("nearest"):
                    self._nearest = Pixels(session.memory.shape, session.memory.neurons, "The nearest stored pattern")
                    self._words = text("p", "")
                self._curve = Curve()
                self._verdict = text("p", "", "verdict")

    @property
    def _rule(self) -> str:
        rules = self._session.settings.rules
        return rules[self._number] if self._number < len(rules) else NOTHING

    async def _choose(self, rule: str) -> None:
        rules = list(self._session.settings.rules)
        rules[self._number : self._number + 1] = [rule] if rule else []
        await self._change(rules=tuple(rules))

    def begin(self) -> None:
        """Show what was recalled, if this rule was asked for."""
        session = self._session
        self._shown.set_visibility(self._number < len(session.courses))
        if self._number >= len(session.courses):
            return
        course = session.courses[self._number]
        falling = [round(value, 3) for value in course.falling.tolist()]
        start, end = (readable(value, ",.1f") for value in (falling[0], falling[-1]))
        self._curve.set(
            values=falling,
            name=f"{course.what} ({course.unit})",
            first=course.moments[0],
            last=course.moments[-1],
            label=f"{course.what} from {start} to {end} {course.unit} in {len(course) - 1} steps",
        )
        self._verdict.set_text(course.verdict)

    def move(self) -> None:
        """Show the moment that the session shows."""
        session = self._session
        if self._number >= len(session.courses):
            return
        on, moment = session.on(self._number), session.moment(self._number)
        place, overlap = session.memory.nearest(on)
        self._pixels.show(on)
        self._nearest.show(session.memory.patterns[place])
        exact = ", exactly" if overlap == 1.0 else ""
        self._words.set_text(f"Nearest: {session.memory.names[place]}{exact} (overlap {readable(overlap, '.2f')})")
        self._curve.set(position=moment)
