"""Which loads are evaluated, and what their curve says."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from bnn.study.points import Point

SURE = 4.0  # standard errors of a difference that is more than chance


def loads_up_to(most: int, precision: float) -> tuple[int, ...]:
    """Loads that may be evaluated: from 1 on, each larger by the share ``precision`` or by 1, ``most`` the last.

    The same for every rule and seed, so that their curves meet.

    Examples
    --------
    >>> loads_up_to(8, 0.5)
    (1, 2, 3, 4, 6, 8)
    """
    loads = [1]
    while loads[-1] < most:
        loads.append(min(most, max(loads[-1] + 1, math.floor(loads[-1] * (1.0 + precision)))))
    return tuple(loads)


def largest(holds: Callable[[int], bool], loads: Sequence[int], start: int) -> int:
    """How many of the first loads hold, if all do up to one of them: doubling from ``start``, then halving the gap.

    0 where not even the first load holds. Chance fails a small load now and then, and some memories need a few patterns
    before they hold any, so doubling ends only where two loads in a row fail, and where ``start`` fails too the way
    down is by quarters, lest the loads that do hold be passed over. Asked are the load found and the next.

    Examples
    --------
    >>> largest(lambda load: load <= 5, (1, 2, 3, 4, 6, 8), start=2)  # 1, 2, 3 and 4
    4
    """
    low, high = 0, len(loads) + 1  # so many hold; so many do not
    at = min(bisect_left(loads, start) + 1, len(loads))
    while True:
        if holds(loads[at - 1]):
            low, high = at, len(loads) + 1
        elif high <= len(loads):
            break
        else:
            high = at
        if at == len(loads):
            break
        at = min(bisect_left(loads, 2 * loads[at - 1]) + 1, len(loads))
    while high - low > 1:
        at = (low + high) // 2 if low else max(1, bisect_right(loads, loads[high - 1] * 3 // 4))
        if holds(loads[at - 1]):
            low = at
        else:
            high = at
    return low


@dataclass(frozen=True, slots=True)
class Rise:
    """A load at which clearly more was recalled than at a smaller one, so that the search may have missed something.

    Attributes
    ----------
    seed
        Whose patterns.
    patterns, exact
        The two loads, and the shares recalled without error.
    """

    seed: int
    patterns: tuple[int, int]
    exact: tuple[float, float]

    def __str__(self) -> str:
        (low, high), (before, after) = self.patterns, self.exact
        return f"seed {self.seed}: {before:.3g} recalled at {low}, {after:.3g} at {high}"


def rises(points: Iterable[Point]) -> tuple[Rise, ...]:
    """For each seed the clearest rise of the share recalled, if chance does not explain it.

    The shares of two loads are compared as those of independent samples, which gives chance more room than it needs,
    for their patterns are mostly the same; and a rise counts from four standard errors on, for many are looked at.
    """
    curves: dict[int, list[Point]] = {}
    for point in sorted(points, key=lambda point: (point.seed, point.patterns)):
        curves.setdefault(point.seed, []).append(point)
    found = []
    for seed, curve in curves.items():
        pairs = [(_errors(a, b), a, b) for a, b in combinations(curve, 2)]
        errors, a, b = max(pairs, key=lambda pair: pair[0], default=(0.0, curve[0], curve[0]))
        if errors > SURE:
            found.append(Rise(seed, (a.patterns, b.patterns), (a.exact, b.exact)))
    return tuple(found)


def _errors(before: Point, after: Point) -> float:
    """By how many standard errors the share recalled is larger after than before."""
    share = (before.recalled + after.recalled) / (before.cues + after.cues)
    error = math.sqrt(share * (1.0 - share) * (1.0 / before.cues + 1.0 / after.cues))
    return (after.exact - before.exact) / error if error > 0.0 else 0.0
