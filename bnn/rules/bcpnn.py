"""BCPNN, the Bayesian confidence propagation neural network."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from bnn.counts import Counts
from bnn.estimate import PairCounts
from bnn.rules.base import Connections, Draft, Rule, weigh_pairs


def bcpnn(counts: Counts, connections: Connections, dtype: np.dtype) -> Draft:
    """W(j,i) = log2 p(j,i) / (p(j) p(i)), bias log2 p(j), states {0, 1} [Lansner, Ekeberg 1989].

    The probability form with the prior as its bias, but for zeros: with P records, p is at least 1/(P+1) and p(j,i) at
    least 1/(P+1)^2, as in the benchmarks of Lansner and others (2026), who take natural logarithms; in bits all
    is divided by ln 2, and no winner changes. The probability form's m-estimate shrinks every weight instead, and rare
    pairs most: choose that for small tables. A neuron's field is its log posterior, so winners are the most probable
    values; by single thresholds a neuron comes on only if its support exceeds 1.

    The bias holds the prior: ``recall(input="prior")`` adds nothing to it.
    """

    def least(known: Float[np.ndarray, "..."]) -> np.ndarray:
        floor: np.ndarray = 1.0 / (known / counts.scale + 1.0)
        return floor

    def weigh(pairs: PairCounts) -> np.ndarray:
        # in counts, so that an independent pair has weight 0 exactly
        known, floor = np.maximum(pairs.known, 1.0), least(pairs.known)
        joint = np.maximum(pairs.joint, known * floor**2)
        to, given = (np.maximum(number, known * floor) for number in (pairs.to, pairs.given))
        gain: np.ndarray = np.log2(joint * known / (to * given))
        return gain

    weights = weigh_pairs(counts, connections, dtype, weigh)
    known = counts.known.diagonal()[counts.layout.attribute].astype(np.float64)
    share = counts.joint.diagonal() / np.maximum(known, 1.0)
    return Draft(weights, np.log2(np.maximum(share, least(known))))


RULE = Rule(
    name="bcpnn",
    function=bcpnn,
    summary="BCPNN: log2 p(j,i)/(p(j) p(i)), bias log2 p(j), zeros replaced",
    coding="values",
    self_connections=True,
    prior_bias=np.zeros_like,
)
