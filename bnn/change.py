"""What changed between two windows of a stream: weights before and after, and how sure the change is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bnn.association import (
    LEVEL,
    Pairs,
    Places,
    asked,
    check_options,
    frame_of_pairs,
    information_component,
    seen_and_expected,
    strongest,
    tiles,
)
from bnn.counts import Counts
from bnn.learning import learn
from bnn.network import Network
from bnn.schema import Layout


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drift:
    """Pairs of neurons whose information component changed: the strongest rises first, then the strongest falls.

    Attributes
    ----------
    layout
        The neurons.
    first, second
        int64 [pairs]: the two neurons.
    before, after
        float64 [pairs], bits: the weights of the two networks.
    change, low, high
        float64 [pairs], bits: change of the information component and its credible interval, which leaves out 0.
    compared, found
        How many pairs were looked at, and how many changed, shown here or not.
    level
        Of the intervals.
    """

    layout: Layout
    first: Places
    second: Places
    before: Pairs
    after: Pairs
    change: Pairs
    low: Pairs
    high: Pairs
    compared: int
    found: int
    level: float

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        return f"Drift({len(self)} of {self.found:,} changes found among {self.compared:,} pairs)"

    def to_frame(self, backend: str = "pyarrow") -> Any:
        """A table, a pair a row (pyarrow, pandas or polars)."""
        told = {name: getattr(self, name) for name in ("before", "after", "change", "low", "high")}
        return frame_of_pairs(self.layout, self.first, self.second, told, backend, "Drift.to_frame")


def drift(
    before: Counts, after: Counts, *, top: int = 20, level: float = LEVEL, rule: str = "probability", **options: Any
) -> Drift:
    """Compare what two windows say of each pair of values of different attributes.

    The ratio of observed to expected counts is mu1 in one window and mu2 in the other, Gamma(O + 1/2, E + 1/2) each
    [Noren et al. 2013]; then mu2 (E2 + 1/2) / (mu1 (E1 + 1/2)) is a ratio of independent Gamma variables, whose share
    is Beta(O2 + 1/2, O1 + 1/2), which gives the interval of log2 (mu2 / mu1) exactly.

    Parameters
    ----------
    before, after
        Counts of the same neurons in the two windows, of which none is part of the other.
    top
        So many rises at most, and as many falls.
    level
        Of the intervals, above 0 and below 1.
    rule, **options
        As of `bnn.learn`, for the weights.

    Raises
    ------
    DataError, SchemaError
        Counts of other neurons, empty ones, options out of range.

    Examples
    --------
    >>> import bnn
    >>> monday = bnn.Counts.of(bnn.Records.from_patterns([[1, 1], [0, 0]] * 50))
    >>> tuesday = bnn.Counts.of(bnn.Records.from_patterns([[1, 0], [0, 1]] * 50))
    >>> found = drift(monday, tuesday)
    >>> found.to_frame().select(["first", "second"]).to_pylist(), float(found.change.round(1)[0])
    ([{'first': 'x0', 'second': 'x1'}], -6.7)
    """
    from scipy.special import betaincinv

    before.layout.require_same(after.layout, "drift")
    check_options(top, level, "drift")
    layout = before.layout
    networks: list[Network] = [learn(counts, rule, **options) for counts in (before, after)]
    tail = (1.0 - level) / 2.0
    everything = np.ones(layout.neurons, dtype=np.bool_)
    compared = found = 0
    kept: dict[int, list[np.ndarray]] = {1: [], -1: []}
    for to, given in tiles(layout.neurons):
        i, j = asked(layout, everything, to, given)
        (o1, e1), (o2, e2) = (seen_and_expected(counts, to, given, i, j) for counts in (before, after))
        compared += len(i)
        rates = np.log2((e1 + 0.5) / (e2 + 0.5))
        shares = betaincinv(o2 + 0.5, o1 + 0.5, tail), betaincinv(o1 + 0.5, o2 + 0.5, tail)
        low = rates + np.log2(shares[0] / (1.0 - shares[0]))
        high = rates - np.log2(shares[1] / (1.0 - shares[1]))
        change = information_component(o2, e2) - information_component(o1, e1)
        for sign, bound in ((1, low), (-1, -high)):
            chosen = bound > 0.0
            found += int(chosen.sum())
            columns = (i + to.start, j + given.start, change, low, high)
            kept[sign] = strongest(kept[sign], [c[chosen] for c in columns], bound[chosen], top)
    first, second, change, low, high, _ = np.concatenate([*kept[1], *kept[-1]], axis=1)
    here, there = first.astype(np.int64), second.astype(np.int64)
    weights = [network.table.double().numpy()[here, there] for network in networks]
    return Drift(layout, here, there, weights[0], weights[1], change, low, high, compared, found, level)
