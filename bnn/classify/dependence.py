"""Which attribute hangs on which: conditional mutual information, and the tree that keeps most of it [T eq 25]."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int64

from bnn.classify.base import Training
from bnn.counting import require_memory, whole_weights
from bnn.kernels.pairs import count_pairs
from bnn.schema import Layout, Schema


def mutual_information(training: Training) -> Float64[np.ndarray, "attributes attributes"]:
    """I(a; b | C) in bits of every two attributes, by relative frequencies on the rows where both are known.

    An attribute whose every known value occurs once names the rows: it seems to tell everything about all others, and
    tells nothing of new rows. Its information counts as 0.
    """
    records = training.records
    schema, weights = records.schema, whole_weights(records)[0]
    used = np.flatnonzero([not name for name in _identifiers(training)])
    information = np.zeros((len(schema.sizes), len(schema.sizes)))
    sizes = np.array(schema.sizes, np.int64)[used]
    if len(used) < 2 or not sizes.sum():
        return information
    require_memory(Layout(Schema(tuple(schema.attributes[a] for a in used)), "values"))
    total, known = np.zeros((len(used), len(used))), np.zeros((len(used), len(used)))
    for c in range(len(training.target.values)):
        rows = training.classes == c
        pairs = count_pairs(records.codes[np.ix_(rows, used)], sizes, None if weights is None else weights[rows])
        bits, both = _information(pairs, sizes)
        total += bits
        known += both
    information[np.ix_(used, used)] = total / np.maximum(known, 1.0)
    np.fill_diagonal(information, 0.0)
    return (information + information.T) / 2  # sums in another order differ in their last digits


def _information(
    pairs: Int64[np.ndarray, "neurons neurons"], sizes: Int64[np.ndarray, " attributes"]
) -> tuple[Float64[np.ndarray, "attributes attributes"], Float64[np.ndarray, "attributes attributes"]]:
    """Sum over values of N(v,w) log2 N(v,w) N(a,b) / (N(v; b) N(w; a)), and N(a,b), of every two attributes."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    filled = np.flatnonzero(sizes)
    start = (np.cumsum(sizes) - sizes)[filled]
    known = np.zeros((len(owner), len(sizes)))
    known[:, filled] = np.add.reduceat(pairs, start, axis=1)
    both = np.zeros((len(sizes), len(sizes)))
    both[filled] = np.add.reduceat(known, start, axis=0)
    out = np.zeros((len(sizes), len(sizes)))
    for a in filled.tolist():  # one attribute at a time, so that no second table of all pairs is made
        rows = np.flatnonzero(owner == a)
        some = pairs[rows].astype(np.float64)
        expected = known[rows][:, owner] * known[:, a] / np.maximum(both[a, owner], 1.0)
        bits = some * np.log2(np.where(some > 0, some, 1.0) / np.where(some > 0, expected, 1.0))
        out[a, filled] = np.add.reduceat(bits.sum(axis=0), start)
    return np.maximum(out, 0.0), both


def _identifiers(training: Training) -> list[bool]:
    """Whether every value of an attribute that occurs does so once, in more than one row."""
    out = []
    for column in training.records.codes.T:
        seen = np.bincount(column[column >= 0])
        out.append(bool(seen.sum() > 1 and seen.max() == 1))
    return out


def best_tree(information: Float64[np.ndarray, "attributes attributes"]) -> tuple[int, ...]:
    """Parent of each attribute, -1 of the first, in the tree of the most information; ties by order.

    Examples
    --------
    >>> best_tree(np.array([[0.0, 0.1, 0.5], [0.1, 0.0, 0.4], [0.5, 0.4, 0.0]]))
    (-1, 2, 0)
    """
    parents = np.full(len(information), -1)
    outside, best = np.arange(len(information)) > 0, np.zeros(len(information), np.int64)
    gain = information[0].copy()
    while outside.any():  # Prim's algorithm: the attribute that the tree so far tells most about comes next
        new = int(np.argmax(np.where(outside, gain, -1.0)))
        parents[new], outside[new] = best[new], False
        closer = information[new] > gain
        best[closer], gain[closer] = new, information[new][closer]
    return tuple(parents.tolist())
