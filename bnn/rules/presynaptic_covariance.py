"""The presynaptic covariance rule: what one neuron being on does to the probability of another."""

from __future__ import annotations

import numpy as np

from bnn.counts import Counts
from bnn.estimate import PairCounts
from bnn.rules.base import Connections, Draft, Rule, weigh_pairs


def presynaptic_covariance(counts: Counts, connections: Connections, dtype: np.dtype) -> Draft:
    """W(j,i) = P(j given i) - P(j), the covariance over P(i) of the sending neuron, states {0, 1} [Minai 1997].

    A rare neuron speaks as loud as a frequent one, which helps where patterns are correlated or frequencies unequal.
    Not symmetric: no energy is promised to fall, sequential winners refuse it, and it is meant for updates in parallel,
    ``bnn.WinnerTakeAll(parallel=True)`` or ``bnn.KWinners(parallel=True)``. A neuron that was never on says nothing.
    """

    def weigh(pairs: PairCounts) -> np.ndarray:
        # 0 exactly where independent, which the difference of two quotients is not; a count is at least one unit
        block: np.ndarray = pairs.joint * pairs.known - pairs.to * pairs.given
        block /= np.maximum(pairs.given * pairs.known, 1.0)
        return block

    weights = weigh_pairs(counts, connections, dtype, weigh, symmetric=False)
    return Draft(weights, np.zeros(len(weights)))


RULE = Rule(
    name="presynaptic-covariance",
    function=presynaptic_covariance,
    summary="presynaptic covariance: P(j given i) - P(j), asymmetric, nothing promises descent",
    coding="values",
    self_connections=True,
    symmetric=False,
    in_bits=False,
)
