"""Hebb's rule for neurons that are on or silent: how often both were on."""

from __future__ import annotations

import numpy as np

from bnn.counts import Counts
from bnn.estimate import PairCounts
from bnn.rules.base import Connections, Draft, Rule, weigh_pairs


def hebb(counts: Counts, connections: Connections, dtype: np.dtype) -> Draft:
    """W(j,i) = P(j,i), states {0, 1}, no bias [Hebb 1949; Palm 1980].

    The plainest rule, and the worst memory of those here: a neuron that is often on excites everything, whatever it
    tells. No weight is negative, so without a threshold every neuron ends on: use `bnn.WinnerTakeAll` or
    `bnn.KWinners`, where only the order of fields counts. Prefer `covariance`, which takes out what chance explains.
    Without gaps weights are whole numbers of 1 / rows and only that unit is rounded.
    """

    def weigh(pairs: PairCounts) -> np.ndarray:
        return pairs.joint if counts.complete else pairs.joint / np.maximum(pairs.known, 1.0)

    weights = weigh_pairs(counts, connections, dtype, weigh)
    return Draft(weights, np.zeros(len(weights)), unit=1.0 / counts.rows if counts.complete else None)


RULE = Rule(
    name="hebb",
    function=hebb,
    summary="Hebb 1949: P(j,i), how often both were on",
    coding="values",
    self_connections=True,
    in_bits=False,
)
