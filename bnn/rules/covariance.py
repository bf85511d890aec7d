"""The covariance rule: how much oftener both were on than chance would have it."""

from __future__ import annotations

import numpy as np

from bnn.counts import Counts
from bnn.estimate import PairCounts
from bnn.rules.base import Connections, Draft, Rule, weigh_pairs


def covariance(counts: Counts, connections: Connections, dtype: np.dtype) -> Draft:
    """W(j,i) = P(j,i) - P(j) P(i), states {0, 1}, no bias [Sejnowski 1977; Tsodyks, Feigelman 1988].

    An independent pair has weight exactly 0, so that fields of states that were never learned scatter around 0. Of P
    random patterns with a share f of N neurons on, a recalled one gives its own neurons a field of about
    N f (1-f)^2 / P and all others -N f^2 (1-f) / P. The threshold halfway, ``input=-N * f * (1 - f) * (0.5 - f) / P``,
    makes it a memory under single thresholds; `bnn.KWinners` needs none. Where every neuron is on in half of the
    records it is a quarter of Hopfield's rule. Without gaps weights are whole numbers of 1 / rows^2 and only that unit
    is rounded.
    """

    def weigh(pairs: PairCounts) -> np.ndarray:
        block: np.ndarray = pairs.joint * pairs.known - pairs.to * pairs.given
        return block if counts.complete else block / np.maximum(pairs.known, 1.0) ** 2

    weights = weigh_pairs(counts, connections, dtype, weigh)
    return Draft(weights, np.zeros(len(weights)), unit=1.0 / counts.rows**2 if counts.complete else None)


RULE = Rule(
    name="covariance",
    function=covariance,
    summary="covariance: P(j,i) - P(j) P(i)",
    coding="values",
    self_connections=True,
    in_bits=False,
)
