"""Storkey's rule: patterns one after another, each less what the network already knows of it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int64

from bnn.errors import DataError
from bnn.network import Network
from bnn.records import Records
from bnn.rules.base import Connections, Draft, Rule, known_patterns

BLOCK = 64  # patterns whose changes are kept apart until one product adds them up


def storkey(records: Records, connections: Connections, dtype: np.dtype, start: Network | None = None) -> Draft:
    """Add (x_j x_i - x_j h_ij - h_ji x_i) / n for each pattern x in turn, states -1 and +1 [Storkey 1997].

    h_ji is the sum of W(j,k) x_k over k other than j and i, W as it was before the pattern: the field of neuron j in
    which neither itself nor i is heard. The rule is local and incremental as Hopfield's is, but holds n / sqrt(2 ln n)
    patterns instead of n / (2 ln n), with wider and more even basins [Storkey, Valabregue 1999]. Later patterns are
    remembered better than earlier ones; well beyond n patterns the weights grow without bound and nothing is left.
    Self-connections follow the same formula with i = j and may become negative; no field hears them while learning.

    Parameters
    ----------
    records
        Every value known; a whole-numbered weight counts as so many repetitions in its place.
    connections, dtype
        Who is connected, the dtype of the weights. A field sums over connected neurons only.
    start
        Network of earlier records to go on from.

    Notes
    -----
    With zero diagonal h_ji = h_j - W(j,i) x_i, so that one pattern makes W grow by the factor 1 + 2/n and by a matrix
    of rank two. Fields of the patterns of a block follow from one product with the weights before it and from the
    changes since: the same numbers as pattern by pattern but for the order of sums.
    """
    layout = connections.layout
    n = layout.neurons
    patterns = known_patterns(records[_repeated(records)], layout, RULE.name)
    everyone = slice(0, n)
    joined = np.ones((n, n))
    connections.disconnect(joined, everyone, everyone, 0.0)
    np.fill_diagonal(joined, 0.0)
    weights = np.zeros((n, n)) if start is None else start.table.cpu().double().numpy() * joined
    own = np.zeros(n) if start is None else start.diagonal.cpu().double().numpy().copy()
    length = BLOCK if joined.sum() == n * (n - 1) else 1  # changes of connected pairs only are not of rank two
    with np.errstate(over="ignore", invalid="ignore"):  # told below, by its cause
        for begin in range(0, len(patterns), length):
            block = patterns[begin : begin + length]
            fields = _fields(weights, block)
            own += ((1.0 - 2.0 * block * fields) / n).sum(axis=0)
            growth = (1.0 + 2.0 / n) ** np.arange(len(block), -1, -1)
            change = (block * growth[1:, None] / n).T @ (0.5 * block - fields)
            weights *= growth[0]
            weights += change + change.T
            weights *= joined
    if not np.isfinite(weights).all():
        raise DataError(
            f"learn.data: after {len(patterns):,} patterns the weights of the rule 'storkey' are beyond all numbers, "
            f"for they grow once there are more patterns than neurons, {n:,}; learn fewer, or take 'hopfield'."
        )
    if connections.itself:
        np.fill_diagonal(weights, own)
    return Draft(weights.astype(dtype), np.zeros(n), low=-1)


def _fields(
    weights: Float64[np.ndarray, "neurons neurons"], block: Float64[np.ndarray, "rows neurons"]
) -> Float64[np.ndarray, "rows neurons"]:
    """Field of each pattern by the weights as they are when its turn comes; ``weights`` are those before the block."""
    n = len(weights)
    fields: np.ndarray = block @ weights
    own = np.zeros(n)  # what the changes alone would have on the diagonal
    for k, pattern in enumerate(block):
        growth = (1.0 + 2.0 / n) ** np.arange(k, -1, -1)
        earlier, heard = block[:k], fields[:k]
        same, known = (array @ pattern * growth[1:] / n for array in (earlier, heard))
        fields[k] = growth[0] * fields[k] + (same - known) @ earlier - same @ heard - own * pattern
        own = (1.0 + 2.0 / n) * own + (1.0 - 2.0 * pattern * fields[k]) / n
    return fields


def _repeated(records: Records) -> Int64[np.ndarray, " repeated"]:
    """Row numbers in order, each as often as its weight says."""
    if records.weights is None:
        return np.arange(records.rows)
    fractions = records.weights != np.rint(records.weights)
    if fractions.any():
        row = int(np.argmax(fractions))
        raise DataError(
            f"learn.data: row {row} has the weight {records.weights[row]:g}, and the rule 'storkey' learns a pattern a "
            "whole number of times; round the weights, or leave them out."
        )
    return np.repeat(np.arange(records.rows), records.weights.astype(np.int64))


RULE = Rule(
    name="storkey",
    function=storkey,
    summary="Storkey 1997: each pattern less what is known of it; depends on their order",
    coding="on",
    self_connections=True,
    source="patterns",
    ordered=True,
    in_bits=False,
)
