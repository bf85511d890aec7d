"""Willshaw's rule: one bit a connection."""

from __future__ import annotations

import numpy as np

from bnn.counts import Counts
from bnn.rules.base import Connections, Draft, Rule, weigh_pairs


def willshaw(counts: Counts, connections: Connections, dtype: np.dtype) -> Draft:
    """W(j,i) = 1 if both were ever on together, else 0; states {0, 1} [Willshaw, Buneman, Longuet-Higgins 1969].

    For sparse patterns: a pattern of k active neurons is a clique of k, and up to half of all bits set it holds most.
    What was learned once is never outweighed, nor forgotten, so that dense or noisy records fill it at once.

    A cue that is part of a pattern, k neurons on and none wrong, is completed in one step: a neuron comes on that
    hears all k. That is ``self_connections=True``, `bnn.Synchronous` for one sweep, ``input=0.5 - k`` (an array with a
    row a cue where k differs). With wrong neurons in the cue, or to iterate, take `bnn.KWinners` or
    `bnn.WinnerTakeAll`: once neurons are added, k is too low a threshold, and more and more come on.
    """
    weights = weigh_pairs(counts, connections, dtype, lambda pairs: (pairs.joint > 0.0).astype(np.float64))
    return Draft(weights, np.zeros(len(weights)))


RULE = Rule(
    name="willshaw",
    function=willshaw,
    summary="Willshaw 1969: 1 where both were ever on together",
    coding="values",
    self_connections=True,
    in_bits=False,
)
