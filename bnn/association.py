"""Which values come together more often, or less, than chance: observed against expected, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64

from bnn.counts import Counts
from bnn.errors import DataError
from bnn.estimate import pair_counts
from bnn.frames import frame_of
from bnn.kernels import sparse as loops
from bnn.schema import Layout

TILE = 1024
LEVEL = 0.95

Pairs = Float64[np.ndarray, " pairs"]
Places = Int64[np.ndarray, " pairs"]


def information_component(observed: Pairs, expected: Pairs) -> Pairs:
    """IC = log2((O + 1/2) / (E + 1/2)), in bits: the information gain, shrunk towards 0 where little was seen.

    Noren, Hopstadius and Bate, Statistical Methods in Medical Research 22 (2013) 57-69; the measure of
    pharmacovigilance.

    Parameters
    ----------
    observed
        O, records with both.
    expected
        E = N(i) N(j) / N, records with both that chance alone would make.

    Examples
    --------
    >>> information_component(np.array([0.0, 7.5]), np.array([0.5, 1.5])).tolist()
    [-1.0, 2.0]
    """
    component: np.ndarray = np.log2((observed + 0.5) / (expected + 0.5))
    return component


def credible_interval(observed: Pairs, expected: Pairs, level: float = LEVEL) -> tuple[Pairs, Pairs]:
    """Bounds of the information component, in bits, exact: O is Poisson of mean mu E, mu is Gamma(1/2, 1/2) beforehand.

    Then mu is Gamma(O + 1/2, E + 1/2) afterwards [Noren et al. 2013], and the bounds are log2 of its quantiles.

    Examples
    --------
    >>> low, high = credible_interval(np.array([10.0]), np.array([2.0]))
    >>> round(float(low[0]), 2), round(float(high[0]), 2)
    (1.04, 2.83)
    """
    from scipy.special import gammaincinv

    tail = (1.0 - level) / 2.0
    rate = expected + 0.5
    low, high = (np.log2(gammaincinv(observed + 0.5, share) / rate) for share in (tail, 1.0 - tail))
    return low, high


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Associations:
    """Pairs of neurons whose interval leaves out 0: the strongest that occur together too often, then too rarely.

    Strongest is what is furthest from 0 at the near end of its interval.

    Attributes
    ----------
    layout
        The neurons.
    first, second
        int64 [pairs]: the two neurons.
    observed, expected
        float64 [pairs], records: seen with both, and expected by chance, of those that know both.
    component, low, high
        float64 [pairs], bits: the information component and its credible interval.
    weight
        float64 [pairs], the network's weight, where there is a network: not the same number for rare pairs, which m
        draws towards 0; else None.
    compared
        How many pairs were looked at.
    found
        How many of them have an interval that leaves out 0, shown here or not.
    level
        Of the intervals.
    """

    layout: Layout
    first: Int64[np.ndarray, " pairs"]
    second: Int64[np.ndarray, " pairs"]
    observed: Pairs
    expected: Pairs
    component: Pairs
    low: Pairs
    high: Pairs
    weight: Pairs | None
    compared: int
    found: int
    level: float

    def __len__(self) -> int:
        return len(self.first)

    @property
    def caution(self) -> str:
        """What so many comparisons do, in a sentence."""
        chance = (1.0 - self.level) * self.compared
        return (
            f"{self.compared:,} pairs were compared and {self.found:,} intervals of {100 * self.level:g} % leave out "
            f"0; were no values related, up to about {chance:,.0f} would by chance, so check what you find on new "
            "records."
        )

    def __repr__(self) -> str:
        return f"Associations({len(self)} of {self.found:,} pairs found among {self.compared:,})"

    def to_frame(self, backend: str = "pyarrow") -> Any:
        """A table, a pair a row (pyarrow, pandas or polars)."""
        told = {name: getattr(self, name) for name in ("observed", "expected", "component", "low", "high", "weight")}
        return frame_of_pairs(self.layout, self.first, self.second, told, backend, "Associations.to_frame")


def find_associations(
    counts: Counts,
    top: int = 20,
    attribute: str | None = None,
    level: float = LEVEL,
    weights: Callable[[Places, Places], Pairs] | None = None,
    owner: str = "associations",
) -> Associations:
    """Compare all pairs of neurons of different attributes, some at a time.

    Of sparse counts, pairs never seen together are only counted where that alone says that 0 is in their interval.

    Parameters
    ----------
    counts
        What was seen.
    top
        So many pairs at most of those too often together, and of those too rarely.
    attribute
        Only pairs of this attribute with others; None: all.
    level
        Of the intervals, above 0 and below 1.
    weights
        Tells those of a network, of pairs of neurons, to show beside.
    owner
        Beginning of sentences.

    Raises
    ------
    DataError
        ``top`` below 1, a level out of range, an unknown attribute.
    """
    check_options(top, level, owner)
    layout = counts.layout
    mine = np.ones(layout.neurons, dtype=np.bool_)
    if attribute is not None:
        mine = np.isin(np.arange(layout.neurons), layout.neurons_of(attribute))
    found, compared = 0, _comparable(counts, mine) if counts.is_sparse else 0
    kept: dict[int, list[np.ndarray]] = {1: [], -1: []}
    for i, j, observed, expected in _occurring(counts, mine, level) if counts.is_sparse else _tabled(counts, mine):
        compared += 0 if counts.is_sparse else len(i)
        for sign in (1, -1):
            chosen = _outside(observed, expected, level, sign)
            found += int(chosen.sum())
            bound = credible_interval(observed[chosen], expected[chosen], level)[0 if sign > 0 else 1]
            columns = (i[chosen], j[chosen], observed[chosen], expected[chosen])
            kept[sign] = strongest(kept[sign], columns, sign * bound, top)
    first, second, observed, expected, _ = np.concatenate([*kept[1], *kept[-1]], axis=1)
    here, there = first.astype(np.int64), second.astype(np.int64)
    low, high = credible_interval(observed, expected, level)
    return Associations(
        layout=layout,
        first=here,
        second=there,
        observed=observed,
        expected=expected,
        component=information_component(observed, expected),
        low=low,
        high=high,
        weight=None if weights is None else weights(here, there),
        compared=compared,
        found=found,
        level=level,
    )


def check_options(top: int, level: float, owner: str) -> None:
    """Refuse no pairs, and a level that is no probability."""
    if not isinstance(top, int | np.integer) or top < 1:
        raise DataError(f"{owner}.top: got {top!r}; ask for at least one pair.")
    if not 0.0 < level < 1.0:
        raise DataError(f"{owner}.level: got {level!r}; give a probability between 0 and 1, such as {LEVEL}.")


def frame_of_pairs(
    layout: Layout, first: Places, second: Places, told: Mapping[str, Pairs | None], backend: str, owner: str
) -> Any:
    """A table of pairs of neurons by name and what is told of them; what is None is left out."""
    columns = {name: [layout.names[i] for i in some.tolist()] for name, some in (("first", first), ("second", second))}
    numbers = {name: values.tolist() for name, values in told.items() if values is not None}
    return frame_of({**columns, **numbers}, backend, owner)


def counts_behind(
    layout: Layout,
    weights: Float64[np.ndarray, "neurons neurons"],
    prior: Float64[np.ndarray, " neurons"],
    records: float,
    m: float,
) -> Counts | None:
    """The counts of complete records whose joint gains these weights are; None where rounding hides them.

    From Q = (R + m) / (N + m) with R = N N(i,j) / E, N(i,j) = (2^W (N + m) - m) E / N: a whole number.

    Parameters
    ----------
    layout
        The neurons.
    weights
        W, in bits; those of two values of one attribute are not looked at.
    prior
        P(j).
    records, m
        N, and the strength of the estimate.
    """
    rows = round(records)
    alone = np.rint(prior * rows)
    expected = alone[:, None] * alone / rows
    exact = (np.exp2(weights) * (rows + m) - m) * expected / rows
    apart = layout.attribute[:, None] != layout.attribute
    whole = np.where(apart, np.rint(exact), np.diag(alone))
    if rows != records or np.abs(exact - whole, where=apart, out=np.zeros_like(exact)).max() > 0.1:
        return None
    joint = whole.astype(np.int64)
    return Counts(layout, joint, alone.astype(np.int64)[:, None], np.array([[rows]]), rows)


def _tabled(counts: Counts, mine: Bool[np.ndarray, " neurons"]) -> Iterator[tuple[Places, Places, Pairs, Pairs]]:
    """All pairs to compare, tile by tile: neurons, records with both, records expected."""
    for to, given in tiles(counts.layout.neurons):
        i, j = asked(counts.layout, mine, to, given)
        observed, expected = seen_and_expected(counts, to, given, i, j)
        able = expected > 0.0  # a value never seen tells nothing
        yield i[able] + to.start, j[able] + given.start, observed[able], expected[able]


def _comparable(counts: Counts, mine: Bool[np.ndarray, " neurons"]) -> int:
    """How many pairs of seen values of different attributes there are, one of them chosen."""
    able, attribute = counts.on[:, 0] > 0, counts.layout.attribute

    def pairs(some: Bool[np.ndarray, " neurons"]) -> int:
        owned = np.bincount(attribute[some & able])
        return (int(owned.sum()) ** 2 - int((owned**2).sum())) // 2

    return pairs(np.ones_like(mine)) - pairs(~mine)


def _occurring(
    counts: Counts, mine: Bool[np.ndarray, " neurons"], level: float
) -> Iterator[tuple[Places, Places, Pairs, Pairs]]:
    """Pairs of sparse counts to compare, as of `_tabled`: those seen, then those expected yet never seen."""
    from scipy.special import gammainccinv

    attribute, scale = counts.layout.attribute, counts.scale
    start, index, number = counts.joint.indptr.astype(np.int64), counts.joint.indices, counts.joint.data
    alone = counts.on[:, 0].astype(np.float64)

    def those(i: Places, j: Places, observed: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        compared = (attribute[i] != attribute[j]) & (mine[i] | mine[j])
        i, j = i[compared], j[compared]
        return i, j, observed[compared] / scale, alone[i] * alone[j] / counts.rows / scale

    rows = max(1, TILE**2 * counts.layout.neurons // max(len(index), 1))
    for first in range(0, counts.layout.neurons, rows):
        edges = start[first : first + rows + 1]
        run = slice(edges[0], edges[-1])
        i = np.repeat(np.arange(first, first + len(edges) - 1), np.diff(edges))
        yield those(i, index[run].astype(np.int64), number[run].astype(np.float64))
    least = (float(gammainccinv(0.5, (1.0 - level) / 2.0)) - 0.5) * scale * counts.rows
    order = np.argsort(-alone, kind="stable")
    ahead = alone[order]
    # Of the neurons after the a-th, those so frequent that to be never seen with it is rare by chance
    ends = np.searchsorted(-ahead, -least / np.maximum(ahead, 0.5), side="left")
    ends[ahead == 0.0] = 0
    for a in range(len(order)):
        if ends[a] <= a + 1:
            continue
        others = order[a + 1 : ends[a]]
        i, j = np.minimum(order[a], others), np.maximum(order[a], others)
        found = np.empty(len(others), dtype=np.int64)
        loops.places(start, index, i, j, found)
        never = (found < 0) & (alone[others] > 0.0)  # a value never seen tells nothing
        yield those(i[never], j[never], np.zeros(int(never.sum())))


def tiles(neurons: int) -> Iterator[tuple[slice, slice]]:
    """Tiles of the upper triangle of all pairs."""
    for begin in range(0, neurons, TILE):
        for start in range(begin, neurons, TILE):
            yield slice(begin, min(begin + TILE, neurons)), slice(start, min(start + TILE, neurons))


def asked(layout: Layout, mine: Bool[np.ndarray, " neurons"], to: slice, given: slice) -> tuple[Places, Places]:
    """Places in a tile of the pairs that are compared: once each, of different attributes, one of them chosen."""
    one, other = np.arange(layout.neurons)[to], np.arange(layout.neurons)[given]
    apart = layout.attribute[to][:, None] != layout.attribute[given]
    i, j = np.nonzero((one[:, None] < other) & apart & (mine[to][:, None] | mine[given]))
    return i, j


def seen_and_expected(counts: Counts, to: slice, given: slice, i: Places, j: Places) -> tuple[Pairs, Pairs]:
    """Records with both neurons, and those that chance would make: E = N(i) N(j) / N where both are known."""
    pairs = pair_counts(counts, to, given)
    expected = pairs.to * pairs.given / np.maximum(pairs.known, 1.0)
    return pairs.joint[i, j] / counts.scale, expected[i, j] / counts.scale


def _outside(observed: Pairs, expected: Pairs, level: float, sign: int) -> Bool[np.ndarray, " pairs"]:
    """Whether the interval lies above 0 (``sign`` 1) or below: the probability that mu is on the other side of 1."""
    from scipy.special import gammainc, gammaincc

    side = gammainc if sign > 0 else gammaincc
    outside: np.ndarray = side(observed + 0.5, expected + 0.5) < (1.0 - level) / 2.0
    return outside


def strongest(kept: list[np.ndarray], columns: Sequence[np.ndarray], strength: Pairs, top: int) -> list[np.ndarray]:
    """Of pairs kept and new ones, the first ``top`` by strength (the last row), ties by number of the neurons."""
    more = np.stack([*(column.astype(np.float64) for column in columns), strength])
    both = np.concatenate([*kept, more], axis=1)
    order = np.lexsort((both[1], both[0], -both[-1]))[:top]
    return [both[:, order]]
