"""Hopfield's rule of 1982: the mean product of two neurons' states, the baseline the papers compare with."""

from __future__ import annotations

import numpy as np

from bnn.counts import Counts
from bnn.errors import DataError
from bnn.estimate import PairCounts
from bnn.rules.base import Connections, Draft, Rule, weigh_pairs


def hopfield(counts: Counts, connections: Connections, dtype: np.dtype, *, low: int = -1) -> Draft:
    """W(j,i) = P(same) - P(different), threshold 0 [Hopfield 1982; B 2.2].

    It is the mean of the products of the patterns written in {-1, +1}. Without gaps the weights are whole numbers of
    1 / rows and only that unit is rounded, so that a neuron exactly at threshold stays exactly at threshold.

    Parameters
    ----------
    counts, connections, dtype
        What was seen, who is connected, the dtype of the weights.
    low
        State of a neuron that is off: -1, or 0 for the {0, 1} states of [B]'s text with the same weights.
    """
    if low not in (-1, 0):
        raise DataError(f"learn.low: got {low!r}; a Hopfield network's off state is -1 or 0.")

    def weigh(pairs: PairCounts) -> np.ndarray:
        # same - different = N - 2 N(i) - 2 N(j) + 4 N(i,j)
        block: np.ndarray = 4.0 * pairs.joint - 2.0 * pairs.to - 2.0 * pairs.given + pairs.known
        return block if counts.complete else block / np.maximum(pairs.known, 1.0)

    weights = weigh_pairs(counts, connections, dtype, weigh)
    return Draft(weights, np.zeros(len(weights)), low=low, unit=1.0 / counts.rows if counts.complete else None)


RULE = Rule(
    name="hopfield",
    function=hopfield,
    summary="Hopfield 1982: mean product of states in {-1, +1}",
    coding="on",
    self_connections=True,
    in_bits=False,
)
