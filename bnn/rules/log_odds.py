"""Odds form [B appendix]: both states of a binary attribute speak; weights of evidence in bits."""

from __future__ import annotations

import numpy as np

from bnn.counts import Counts
from bnn.estimate import pair_counts
from bnn.rules.base import Connections, Draft, Rule, fill_tiles, require_positive
from bnn.rules.log_ratio import chosen_estimate


def log_odds(
    counts: Counts, connections: Connections, dtype: np.dtype, *, m: float = 2.0, estimate: str = "joint"
) -> Draft:
    """Posterior odds over prior odds as an affine network [B eq 20-22].

    With L(x,y) = log2 P(j=x, i=y) / (P(j=x) P(i=y)) for the four combinations of states, the evidence of neuron i for
    neuron j is L(1, V_i) - L(0, V_i) = W(j,i) V_i + B(j,i), W = L11 - L01 - L10 + L00 (the log odds ratio) and
    B = L10 - L00. The bias is the sum of B over i; B summed within each attribute is kept as `silence`, because an
    unknown neuron must add neither term. log2 Sim = V' W V + 2 b' V + the sum of L00 [B eq 22].

    Parameters
    ----------
    counts, connections, dtype
        What was seen, who is connected, the dtype of the weights.
    m, estimate
        As for the probability form; each of the four cells is estimated alike.
    """
    chosen = chosen_estimate(estimate)
    layout = counts.layout
    attributes = len(layout.schema.names)
    weights = np.empty((layout.neurons, layout.neurons), dtype)
    silence = np.zeros((layout.neurons, attributes), dtype)

    def evidence_of_off(block: np.ndarray, to: slice, given: slice) -> None:
        """Sum B over the neurons of each attribute; tiles are cut between attributes, so none is shared."""
        present = np.unique(layout.attribute[given])
        if len(present) == block.shape[1]:
            silence[to, present] = block
        else:
            starts = layout.start[present] - given.start
            silence[to, present] = np.add.reduceat(block, starts, axis=1)

    def fill(to: slice, given: slice) -> float:
        pairs = pair_counts(counts, to, given)
        cells = {}
        for states in ((True, True), (True, False), (False, True), (False, False)):
            ratio = chosen.ratio(pairs.cell(*states), m * counts.scale)
            connections.disconnect(ratio, to, given, 1.0)
            require_positive(ratio, to, given, layout, states)
            cells[states] = ratio
        both, to_only, given_only, neither = cells.values()
        block = np.log2(both * neither / (to_only * given_only))
        weights[to, given] = block
        evidence_of_off(np.log2(to_only / neither), to, given)
        total = float(np.log2(neither).sum())
        if chosen.symmetric and to != given:
            weights[given, to] = block.T
            evidence_of_off(np.log2(given_only / neither).T, given, to)
            total *= 2.0
        return total

    constant = fill_tiles(layout, chosen.symmetric, fill)
    bias = silence.sum(axis=1, dtype=np.float64)
    return Draft(weights, bias, silence=silence, constant=constant)


RULE = Rule(
    name="odds",
    function=log_odds,
    summary="odds form [B appendix]: weights of evidence, both states of a neuron speak",
    coding="on",
    self_connections=False,
    prior_bias=lambda prior: np.log2(prior / (1.0 - prior)),
)
