"""When a load counts as recalled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bnn.errors import DataError, unknown_name
from bnn.study.points import Point

AT_LEAST, AT_MOST = ">=", "<="
MEASURES = {"exact": (AT_LEAST, 0.9), "overlap": (AT_LEAST, 0.95), "wrong": (AT_MOST, 0.015)}


@dataclass(frozen=True, slots=True)
class Criterion:
    """A bound on what a memory recalls of all that it was asked for.

    Parameters
    ----------
    measure
        ``"exact"``: share of the patterns recalled without one error, at least; ``"overlap"``: mean overlap of what was
        recalled with the pattern, 1 - 2 x share of neurons that differ, at least; ``"wrong"``: mean share of neurons
        that differ, at most, as in the theory of Hopfield's network, whose 0.138 patterns a neuron are recalled with
        some 1.6 % of the neurons wrong [Amit, Gutfreund, Sompolinsky 1987].
    bound
        Above 0 and at most 1; None: 0.9, 0.95 and 0.015.

    Examples
    --------
    >>> print(Criterion(), Criterion("wrong", 0.02))
    exact >= 0.9 wrong <= 0.02
    """

    measure: str = "exact"
    bound: Any = None

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise unknown_name("Criterion.measure", self.measure, MEASURES)
        bound = MEASURES[self.measure][1] if self.bound is None else self.bound
        if isinstance(bound, bool) or not isinstance(bound, int | float | np.number) or not 0.0 < bound <= 1.0:
            raise DataError(f"Criterion.bound: got {bound!r}; give a number above 0 and at most 1.")
        object.__setattr__(self, "bound", float(bound))

    def __str__(self) -> str:
        return f"{self.measure} {MEASURES[self.measure][0]} {self.bound:g}"

    def margin(self, point: Point) -> float:
        """By how much what was recalled is better than the bound; below 0 it is worse."""
        above: float = getattr(point, self.measure) - self.bound
        return above if MEASURES[self.measure][0] == AT_LEAST else -above

    def holds(self, *points: Point) -> bool:
        """Whether what was recalled meets the bound, on average; what equals it does, whatever the rounding."""
        return sum(map(self.margin, points)) > -1e-12 * len(points)
