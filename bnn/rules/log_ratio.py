"""Probability form [B 2.2]: the weight is the information gain log2 P(j,i) / (P(j) P(i)), in bits."""

from __future__ import annotations

import numpy as np

from bnn.counts import Counts
from bnn.errors import unknown_name
from bnn.estimate import ESTIMATES, Estimate, pair_counts
from bnn.rules.base import Connections, Draft, Rule, fill_tiles, require_positive


def chosen_estimate(name: str) -> Estimate:
    """The registered estimate of that name; an unknown one is an error naming the nearest."""
    if not isinstance(name, str) or name not in ESTIMATES:
        raise unknown_name("learn.estimate", name, ESTIMATES)
    return ESTIMATES[name]


def log_ratio(
    counts: Counts, connections: Connections, dtype: np.dtype, *, m: float = 2.0, estimate: str = "joint"
) -> Draft:
    """W(j,i) = log2 Q(j,i), no bias: a neuron turns on when its posterior exceeds its prior [B eq 1-4].

    Parameters
    ----------
    counts, connections, dtype
        What was seen, who is connected, the dtype of the weights.
    m
        Strength of the estimate in records, at least 0; a pair as frequent as independence predicts has gain exactly 0.
    estimate
        A key of `bnn.estimate.ESTIMATES`. ``"conditional"`` is the class-conditional m-estimate of the papers: not
        symmetric, so that nothing guarantees descent.
    """
    chosen = chosen_estimate(estimate)
    layout = counts.layout
    weights = np.empty((layout.neurons, layout.neurons), dtype)

    def fill(to: slice, given: slice) -> float:
        ratio = chosen.ratio(pair_counts(counts, to, given), m * counts.scale)
        connections.disconnect(ratio, to, given, 1.0)
        require_positive(ratio, to, given, layout)
        block = np.log2(ratio, out=ratio)
        weights[to, given] = block
        if chosen.symmetric:
            weights[given, to] = block.T
        return 0.0

    fill_tiles(layout, chosen.symmetric, fill)
    return Draft(weights, np.zeros(layout.neurons))


RULE = Rule(
    name="probability",
    function=log_ratio,
    summary="probability form [B 2.2]: information gains, only neurons that are on speak",
    coding="values",
    self_connections=True,
    prior_bias=np.log2,
)
