"""One visitor in the recall room: a cue, what is recalled from it, and which moment is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from bnn.errors import DataError
from bnn.noise import corrupt
from bnn.web.course import Course, course_of, dynamics_named
from bnn.web.memory import Memory, from_digits, network_of, to_digits
from bnn.web.settings import BLANK, Settings
from bnn.web.work import Progress

SHOWS = 100
"""Pictures that playing a recall shows at most."""


class RecallSession:
    """What one visitor does in the recall room, without anything of a page.

    Parameters
    ----------
    find
        The memory of that name.
    settings
        What to begin with, such as an address tells.

    Attributes
    ----------
    settings
        What is shown.
    memory
        The patterns, those learned and forgotten here taken into account.
    courses
        What was recalled from the cue, one a rule; empty until `show`.
    position
        Number of the moment shown.
    playing
        Whether `tick` moves on.

    Raises
    ------
    DataError
        Settings that do not fit the memory.

    Examples
    --------
    >>> memory = Memory.of(np.array([[True, True, False, False], [False, False, True, True]]), ("a", "b"))
    >>> session = RecallSession(lambda name: memory, Settings(noise=0.25, rules=("odds",)))
    >>> session.show(session.recalled())
    >>> session.step()
    >>> session.position, session.on(0).tolist()
    (1, [1.0, 1.0, 0.0, 0.0])
    """

    def __init__(self, find: Callable[[str], Memory], settings: Settings) -> None:
        self._find = find
        self.settings = settings
        self.memory = self._remembered(settings)
        self._require_fitting(settings, self.memory)
        self.courses: tuple[Course, ...] = ()
        self.position = 0
        self.playing = False

    @property
    def cue(self) -> Bool[np.ndarray, " neurons"]:
        """The pattern chosen, with what was edited by hand and what noise flipped."""
        cells = self._clean ^ from_digits(self.settings.edits, self.memory.neurons, "edits")
        noisy: Bool[np.ndarray, " neurons"] = corrupt(cells[None], flip=self.settings.noise, seed=self.settings.seed)[0]
        return noisy

    @property
    def last(self) -> int:
        """Number of the last moment of the longest course."""
        return max((len(course) - 1 for course in self.courses), default=0)

    def change(self, **settings: Any) -> None:
        """Change settings; another pattern or other data drop what was edited by hand.

        Raises
        ------
        DataError
            Settings that cannot be; nothing is changed then.
        """
        if "data" in settings and settings["data"] != self.settings.data:
            settings = {"pattern": 0, "learned": (), "forgotten": (), **settings}
        if "data" in settings or "pattern" in settings:
            settings = {"edits": "", **settings}
        changed = replace(self.settings, **settings)
        same = all(getattr(changed, name) == getattr(self.settings, name) for name in ("data", "learned", "forgotten"))
        memory = self.memory if same else self._remembered(changed)
        self._require_fitting(changed, memory)
        self.settings, self.memory = changed, memory

    def paint(self, cells: list[int], on: bool | None) -> None:
        """Turn cells of the cue on or off; None: flip each."""
        if any(not 0 <= cell < self.memory.neurons for cell in cells):
            raise DataError(f"cells: got {max(cells, key=abs)}; there are cells 0 to {self.memory.neurons - 1}.")
        turned = np.zeros(self.memory.neurons, np.bool_)
        turned[cells] = True
        if on is not None:
            turned &= self.cue != on
        edits = from_digits(self.settings.edits, self.memory.neurons, "edits") ^ turned
        self.settings = replace(self.settings, edits=to_digits(edits) if edits.any() else "")

    def draw(self, cells: Bool[np.ndarray, " neurons"]) -> None:
        """Make these cells the cue, without noise."""
        self.change(pattern=BLANK, noise=0.0)
        self.paint(np.flatnonzero(cells).tolist(), True)

    def learn(self) -> None:
        """Store the cue as one more pattern."""
        learned = (*self.settings.learned, to_digits(self.cue))
        self.change(learned=learned)
        self.change(pattern=self.memory.numbers[-1], noise=0.0)

    def forget(self, number: int) -> None:
        """Forget a stored pattern, exactly: its counts are subtracted."""
        left = self.memory.forget(number)
        pattern = left.numbers[0] if self.settings.pattern == number else self.settings.pattern
        self.change(forgotten=(*self.settings.forgotten, number), pattern=pattern)

    def question(self) -> Callable[[Progress | None], tuple[Course, ...]]:
        """What recalls the cue by every rule, as settings are now: for another thread.

        It raises a `DataError` where a rule and a dynamics do not go together.
        """
        return partial(_recalled, self.settings, self.memory, self.cue)

    def recalled(self) -> tuple[Course, ...]:
        """Recall the cue by every rule; it changes nothing here."""
        return self.question()(None)

    def show(self, courses: tuple[Course, ...]) -> None:
        """Take courses as what is shown: from their start, or their end where the end of those before was shown."""
        ended = 0 < self.last == self.position
        self.courses, self.playing = courses, False
        self.position = self.last if ended else 0

    def seek(self, position: int) -> None:
        """Show that moment, or the nearest there is."""
        self.position = min(max(position, 0), self.last)

    def step(self) -> None:
        """Show the next moment."""
        self.seek(self.position + 1)

    def back(self) -> None:
        """Show the moment before."""
        self.seek(self.position - 1)

    def play(self) -> None:
        """Go on by itself, from the start where the end is shown."""
        if self.position == self.last:
            self.position = 0
        self.playing = self.last > 0

    def pause(self) -> None:
        """Stop going on."""
        self.playing = False

    def tick(self) -> None:
        """Go on while playing; long courses in larger strides."""
        if self.playing:
            self.seek(self.position + -(-self.last // SHOWS))
            self.playing = self.position < self.last

    def moment(self, course: int) -> int:
        """Number of the moment that a course shows; a shorter one rests at its end."""
        return min(self.position, len(self.courses[course]) - 1)

    def on(self, course: int) -> Float[np.ndarray, " neurons"]:
        """How far each neuron is on at the moment shown."""
        on: Float[np.ndarray, " neurons"] = self.courses[course].on[self.moment(course)]
        return on

    @property
    def _clean(self) -> Bool[np.ndarray, " neurons"]:
        """The stored pattern that the cue starts from, or nothing on."""
        if self.settings.pattern == BLANK:
            return np.zeros(self.memory.neurons, np.bool_)
        chosen: Bool[np.ndarray, " neurons"] = self.memory.patterns[self.memory.place(self.settings.pattern)]
        return chosen

    def _remembered(self, settings: Settings) -> Memory:
        """The memory that settings mean."""
        memory = self._find(settings.data)
        for number, digits in enumerate(settings.learned, 1):
            memory = memory.learn(from_digits(digits, memory.neurons, "learned"), f"learned {number}")
        for number in settings.forgotten:
            memory = memory.forget(number)
        return memory

    def _require_fitting(self, settings: Settings, memory: Memory) -> None:
        """Refuse a pattern that there is not, or edits of other cells."""
        if settings.pattern != BLANK:
            memory.place(settings.pattern)
        from_digits(settings.edits, memory.neurons, "edits")


def _recalled(
    settings: Settings, memory: Memory, cue: Bool[np.ndarray, " neurons"], progress: Progress | None
) -> tuple[Course, ...]:
    """Recall a cue by every rule."""
    return tuple(
        course_of(
            rule,
            network_of(memory, rule, settings.cut, settings.seed),
            cue,
            dynamics_named(settings.dynamics),
            settings.seed,
            progress,
        )
        for rule in settings.rules
    )
