"""Which values of different attributes are joined: Chebyshev's test of the semi-naive classifier [B 2.5]."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from bnn.classify.base import Training
from bnn.classify.class_counts import ClassCounts
from bnn.counting import whole_weights
from bnn.errors import BnnWarning
from bnn.kernels.bits import TILE
from bnn.kernels.within import Listing, count_within
from bnn.schema import Schema
from bnn.tables import smallest_type

MOST = 100_000  # joins of one order that are kept
DIGITS = 12  # values of the test are compared to so many, so that ties in the formula are ties in the numbers


@dataclass(frozen=True, slots=True)
class Join:
    """Values of different attributes that are taken as one.

    Attributes
    ----------
    attributes, values
        Their names, and the values, attribute by attribute.
    n
        Training cases that have all of them.
    eps
        By how much, on average over the classes, the joined influence differs from the separate ones [B eq 18].
    reliability
        1 - 1/(4 eps^2 n) [B eq 19].

    Examples
    --------
    >>> print(Join(("age", "bmi"), ("young", "high"), 41.0, 0.2137, 0.866))
    age=young & bmi=high, n = 41, eps = 0.21
    """

    attributes: tuple[str, ...]
    values: tuple[object, ...]
    n: float
    eps: float
    reliability: float

    @property
    def name(self) -> str:
        """The values: ``"age=young & bmi=high"``."""
        return " & ".join(f"{a}={v}" for a, v in zip(self.attributes, self.values, strict=True))

    def __str__(self) -> str:
        return f"{self.name}, n = {self.n:g}, eps = {self.eps:.2f}"


@dataclass(frozen=True, slots=True, eq=False)
class Joins:
    """Joins in the order in which rows use them: those of most values first, then the most reliable.

    Attributes
    ----------
    neurons
        Members of each join, ascending: neurons of the coding ``"values"``; unused places at the end are -1.
    counts
        N(join, C), in units of ``1 / scale``.
    eps, reliability
        As in `Join`.
    scale
        Units in one record.
    tests
        How many tests were made to find them.
    """

    neurons: Int64[np.ndarray, "joins order"]
    counts: Int64[np.ndarray, "joins classes"]
    eps: Float64[np.ndarray, " joins"]
    reliability: Float64[np.ndarray, " joins"]
    scale: int
    tests: int

    def __len__(self) -> int:
        return len(self.neurons)

    @staticmethod
    def of(arrays: Iterable[np.ndarray], scale: int, tests: int) -> Joins:
        """Joins from their four arrays, in order."""
        neurons, counts, eps, reliability = arrays
        return Joins(neurons, counts, eps, reliability, scale, tests)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The four arrays, in order."""
        return self.neurons, self.counts, self.eps, self.reliability

    def first(self, number: int) -> Joins:
        """The first so many joins."""
        return Joins.of((array[:number] for array in self.arrays), self.scale, self.tests)

    def members(self, schema: Schema) -> tuple[Int64[np.ndarray, "joins order"], Int64[np.ndarray, "joins order"]]:
        """Attribute and code of each member, -1 where there is none."""
        owner, code = owners(schema)
        used = self.neurons >= 0
        return np.where(used, owner[self.neurons], -1), np.where(used, code[self.neurons], -1)

    def described(self, schema: Schema) -> tuple[Join, ...]:
        """The joins in words."""
        out = []
        for j, (attributes, codes) in enumerate(zip(*self.members(schema), strict=True)):
            some = [(schema.attributes[a], c) for a, c in zip(attributes, codes, strict=True) if a >= 0]
            n = int(self.counts[j].sum()) / self.scale
            names, values = tuple(a.name for a, _ in some), tuple(a.values[c] for a, c in some)
            out.append(Join(names, values, n, float(self.eps[j]), float(self.reliability[j])))
        return tuple(out)


def owners(schema: Schema) -> tuple[Int64[np.ndarray, " neurons"], Int64[np.ndarray, " neurons"]]:
    """Attribute and code of each neuron."""
    owner = np.repeat(np.arange(len(schema.sizes)), schema.sizes)
    start = np.concatenate([[0], np.cumsum(schema.sizes, dtype=np.int64)])
    return owner, np.arange(start[-1]) - start[owner]


def find_joins(training: Training, max_order: int, threshold: float) -> Joins:
    """Test all pairs of values, then every joined value with all single ones, and so on.

    Parameters
    ----------
    training
        Training rows.
    max_order
        Most values in a join.
    threshold
        Joined are those whose reliability is greater.
    """
    records, classes = training.records, len(training.target.values)
    counts = ClassCounts.of(records, training.target, training.classes)
    weights, _, scale = whole_weights(records)
    schema = records.schema
    listing = Listing.of(records.codes, np.array(schema.sizes), training.classes, classes, weights)
    owner, _ = owners(schema)
    alone, prior = counts.joint, counts.totals / max(int(counts.totals.sum()), 1)
    search = _Search(listing, schema, owner, prior, _shares(alone), threshold, scale)
    untested = np.zeros(len(owner))
    found = Joins(np.arange(len(owner))[:, None], alone, untested, untested, scale, 0)
    levels: list[Joins] = []
    while found.neurons.shape[1] < max_order and len(found):
        found = search.extended(found)
        levels.append(found)
    return _together(levels[::-1], classes, scale)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What every level of the search uses: rows, attributes, P(C), P(C|w), and what is asked for."""

    listing: Listing
    schema: Schema
    owner: Int64[np.ndarray, " neurons"]
    prior: Float64[np.ndarray, " classes"]
    alone: Float64[np.ndarray, "neurons classes"]
    threshold: float
    scale: int

    def extended(self, items: Joins) -> Joins:
        """Joins of each item with one more value that pass the test, ranked; of very many the most reliable."""
        parts: list[tuple[np.ndarray, ...]] = []
        tests, held, more, floor = 0, 0, False, -np.inf
        for chunk in self.listing.chunks(len(items)):
            part, made = self._tested(items.neurons[chunk], _shares(items.counts[chunk]), floor)
            parts.append(part)
            tests += made
            held += len(part[0])
            if held > 4 * MOST:  # before memory runs out
                best = self._ranked(parts, tests)
                more = more or len(best) > MOST
                best = best.first(MOST)
                parts, held = [best.arrays], len(best)
                floor = best.reliability[-1] if held == MOST else floor  # what is below will not be among the first
        best = self._ranked(parts, tests)
        if more or len(best) > MOST:
            warnings.warn(
                f"SemiNaiveBayesClassifier: more than {MOST} joins of {best.neurons.shape[1]} values pass the test; "
                "only the most reliable are kept. Raise the threshold, or lower max_order.",
                BnnWarning,
                stacklevel=4,
            )
        return best.first(MOST)

    def _ranked(self, parts: Iterable[tuple[np.ndarray, ...]], tests: int) -> Joins:
        """The joins of all parts, ranked."""
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return _ranked(Joins.of(columns, self.scale, tests), self.schema)

    def _tested(
        self, items: Int64[np.ndarray, "items order"], own: Float64[np.ndarray, "items classes"], floor: float
    ) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], int]:
        """Members, counts, eps and reliability of what passes, and the number of tests."""
        allowed = np.ones((len(items), len(self.owner)), bool)
        for m in range(items.shape[1]):
            allowed &= self.owner != self.owner[items[:, m : m + 1]]
        if items.shape[1] == 1:  # a pair is met once, from its first value
            allowed &= self.owner > self.owner[items]
        counts = count_within(self.listing, items, _tiles(allowed))
        totals = counts.sum(axis=0)
        totals[~allowed] = 0
        i, j = np.nonzero(totals)
        n, eps = totals[i, j], np.zeros(len(i))
        for c, some in enumerate(counts):  # class by class: the arrays stay long and thin
            eps += np.abs(self.prior[c] * (some[i, j] / n) - own[i, c] * self.alone[j, c])
        with np.errstate(divide="ignore"):
            reliability = np.round(1.0 - 1.0 / (4.0 * eps**2 * (n / self.scale)), DIGITS)
        passed = np.flatnonzero((reliability > self.threshold) & (reliability >= floor))
        i, j = i[passed], j[passed]
        neurons = np.sort(np.concatenate([items[i], j[:, None]], axis=1), axis=1)
        return (neurons, np.ascontiguousarray(counts[:, i, j].T), eps[passed], reliability[passed]), len(n)


def _tiles(allowed: Bool[np.ndarray, "items neurons"]) -> Bool[np.ndarray, "item_tiles tiles"]:
    """Which tiles hold anything that is allowed."""
    rows, columns = (np.arange(0, length, TILE) for length in allowed.shape)
    tiles: np.ndarray = np.logical_or.reduceat(np.logical_or.reduceat(allowed, rows, axis=0), columns, axis=1)
    return tiles


def _shares(counts: Int64[np.ndarray, "some classes"]) -> Float64[np.ndarray, "some classes"]:
    """Relative frequencies in each row."""
    shares: np.ndarray = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


def _ranked(joins: Joins, schema: Schema) -> Joins:
    """The most reliable first, then those with more cases, then by name; the same values only once."""
    narrow = smallest_type(sum(schema.sizes))  # whole numbers of 16 bits are sorted ten times as fast as wide ones
    columns = list(joins.neurons.T[::-1].astype(narrow))
    order = np.lexsort([-joins.reliability, *columns])
    changes = (np.diff(joins.neurons[order], axis=0) != 0).any(axis=1)
    best = order[np.concatenate([[True], changes])] if len(order) else order
    names = [f"{a.name}={v}" for a in schema.attributes for v in a.values]
    by_name = np.argsort(np.argsort(np.array(names, dtype=str), kind="stable")).astype(narrow)
    keys = [*(by_name[column[best]] for column in columns), -joins.counts[best].sum(axis=1), -joins.reliability[best]]
    kept = best[np.lexsort(keys)]
    return Joins.of((array[kept] for array in joins.arrays), joins.scale, joins.tests)


def _together(levels: list[Joins], classes: int, scale: int) -> Joins:
    """One list of all levels, in their order."""
    order = max((level.neurons.shape[1] for level in levels), default=2)
    neurons = [
        np.pad(level.neurons, ((0, 0), (0, order - level.neurons.shape[1])), constant_values=-1) for level in levels
    ]
    return Joins(
        np.concatenate([np.zeros((0, order), np.int64), *neurons]),
        np.concatenate([np.zeros((0, classes), np.int64), *(level.counts for level in levels)]),
        np.concatenate([np.zeros(0), *(level.eps for level in levels)]),
        np.concatenate([np.zeros(0), *(level.reliability for level in levels)]),
        scale,
        sum(level.tests for level in levels),
    )
