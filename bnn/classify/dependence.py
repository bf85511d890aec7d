"""Which attribute hangs on which: conditional mutual information, and the tree that keeps most of it [T eq 25]."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int32, Int64, Integer

from bnn.classify.base import Training
from bnn.counting import require_memory, whole_weights
from bnn.kernels.pairs import count_pairs
from bnn.schema import Layout, Schema

WIDE = 256
"""Attributes of more values are looked at pair by pair, without a table of all pairs of values."""


def mutual_information(training: Training) -> Float64[np.ndarray, "attributes attributes"]:
    """I(a; b | C) in bits of every two attributes, by relative frequencies on the rows where both are known.

    An attribute whose every known value occurs once names the rows: it seems to tell everything about all others, and
    tells nothing of new rows. Its information counts as 0.
    """
    schema, codes = training.records.schema, training.records.codes
    weights = whole_weights(training.records)[0]
    sizes = np.array(schema.sizes, np.int64)
    used = [a for a in range(len(sizes)) if sizes[a] and not _names_rows(codes[:, a])]
    few = [a for a in used if sizes[a] <= WIDE]
    information = np.zeros((len(sizes), len(sizes)))
    if len(few) > 1:
        total, known = np.zeros((2, len(few), len(few)))
        require_memory(Layout(Schema(tuple(schema.attributes[a] for a in few)), "values"))
        for c in range(len(training.target.values)):
            rows = training.classes == c
            pairs = count_pairs(codes[np.ix_(rows, few)], sizes[few], None if weights is None else weights[rows])
            bits, both = _information(pairs, sizes[few])
            total += bits
            known += both
        information[np.ix_(few, few)] = total / np.maximum(known, 1.0)
    whole = np.ones(len(codes), np.int64) if weights is None else weights
    for a in set(used) - set(few):
        for b in set(used) - {a}:
            information[a, b] = information[b, a] = _of_pair(codes[:, a], codes[:, b], training.classes, whole)
    np.fill_diagonal(information, 0.0)
    return (information + information.T) / 2  # sums in another order differ in their last digits


def _names_rows(column: Integer[np.ndarray, " rows"]) -> bool:
    """Whether every value of an attribute that occurs does so once, in more than one row."""
    seen = np.bincount(column[column >= 0])
    return bool(seen.sum() > 1 and seen.max() == 1)


def _of_pair(
    a: Integer[np.ndarray, " rows"],
    b: Integer[np.ndarray, " rows"],
    classes: Int32[np.ndarray, " rows"],
    weights: Int64[np.ndarray, " rows"],
) -> float:
    """I(a; b | C) in bits of two attributes whose pairs of values are too many for a table."""
    known = np.flatnonzero((a >= 0) & (b >= 0) & (weights > 0))
    if not len(known):
        return 0.0
    parts = (a[known], b[known], classes[known])

    def number(*places: int) -> Float64[np.ndarray, " known"]:
        """How many rows are like each row in these respects."""
        some = np.stack([parts[i] for i in places])
        _, kind = np.unique(some, axis=1, return_inverse=True)
        return np.bincount(kind.ravel(), weights[known])[kind.ravel()]

    ratio = number(0, 1, 2) * number(2) / (number(0, 2) * number(1, 2))
    return max(float(np.average(np.log2(ratio), weights=weights[known])), 0.0)


def _information(
    pairs: Int64[np.ndarray, "neurons neurons"], sizes: Int64[np.ndarray, " attributes"]
) -> tuple[Float64[np.ndarray, "attributes attributes"], Float64[np.ndarray, "attributes attributes"]]:
    """Sum over values of N(v,w) log2 N(v,w) N(a,b) / (N(v; b) N(w; a)), and N(a,b), of every two attributes."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    start = np.cumsum(sizes) - sizes
    known = np.add.reduceat(pairs, start, axis=1).astype(np.float64)
    both = np.add.reduceat(known, start, axis=0)
    out = np.zeros((len(sizes), len(sizes)))
    for a in range(len(sizes)):  # one attribute at a time, so that no second table of all pairs is made
        rows = slice(start[a], start[a] + sizes[a])
        some = pairs[rows].astype(np.float64)
        expected = known[rows][:, owner] * known[:, a] / np.maximum(both[a, owner], 1.0)
        bits = some * np.log2(np.where(some > 0, some, 1.0) / np.where(some > 0, expected, 1.0))
        out[a] = np.add.reduceat(bits.sum(axis=0), start)
    return np.maximum(out, 0.0), both


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
