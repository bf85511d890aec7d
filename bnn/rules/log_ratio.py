"""Probability form [B 2.2]: the weight is the information gain log2 P(j,i) / (P(j) P(i)), in bits."""

from __future__ import annotations

import numpy as np

from bnn.counts import Counts
from bnn.errors import unknown_name
from bnn.estimate import ESTIMATES, Estimate, pair_counts
from bnn.rules.base import Connections, Draft, Rule, fill_tiles, require_positive, weigh_occurring


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
    if counts.is_sparse:
        gains = weigh_occurring(
            counts, connections, dtype, lambda pairs: np.log2(chosen.ratio(pairs, m * counts.scale))
        )
        return Draft(gains, np.zeros(layout.neurons))
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


def varied(counts: Counts, connections: Connections, *, m: float, estimate: str) -> str | None:
    """Why never-seen pairs have no common weight; None where it is log2 m / (N + m)."""
    if not counts.complete:
        return "where values are missing, pairs never seen together differ in weight by how many records know both"
    if estimate != "joint":
        return f"the estimate {estimate!r} gives pairs never seen together different weights"
    if m == 0.0:
        return "with m = 0 pairs never seen together have no finite weight"
    return None if connections.mask is None else "the mask leaves some pairs unconnected"


RULE = Rule(
    name="probability",
    function=log_ratio,
    summary="probability form [B 2.2]: information gains, only neurons that are on speak",
    coding="values",
    self_connections=True,
    prior_bias=np.log2,
    sparse=varied,
)
