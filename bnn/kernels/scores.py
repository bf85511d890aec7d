"""Adding up the gains of each row's values: the field of the class neurons, evidence clamped."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int, Integer

from bnn.kernels import threads
from bnn.kernels.compiling import compiled

LANES = 8  # classes added at a time, in one or two registers
GRAIN = 1 << 12
BLOCK = 1 << 12  # rows whose scores stay in cache


def pad(gains: Float64[np.ndarray, "values classes"], sizes: Int[np.ndarray, " attributes"]) -> np.ndarray:
    """Lay gains out for `sum_gains`: a row of zeros behind each attribute's values, whole lanes of classes.

    Examples
    --------
    >>> pad(np.ones((3, 2)), np.array([2, 1]))[:, 0].tolist()
    [1.0, 1.0, 0.0, 1.0, 0.0]
    """
    values, classes = gains.shape
    table = np.zeros((values + len(sizes), -(-classes // LANES) * LANES))
    table[np.arange(values) + np.repeat(np.arange(len(sizes)), sizes), :classes] = gains
    return table


def sum_gains(
    codes: Integer[np.ndarray, "rows attributes"],
    sizes: Int[np.ndarray, " attributes"],
    table: Float64[np.ndarray, "padded lanes"],
    prior: Float64[np.ndarray, "blocks classes"],
    block: Int[np.ndarray, " rows"] | None = None,
) -> Float64[np.ndarray, "rows classes"]:
    """Add up the gains of every row's values, attribute after attribute, and its prior.

    Parameters
    ----------
    codes
        Below 0, or beyond the attribute's values, is missing and adds nothing.
    sizes
        int64: number of values of each attribute.
    table
        What `pad` made, or several of them below each other.
    prior
        Where the sums begin; one row a table.
    block
        int64: which of the tables a row uses; None: there is one.

    Examples
    --------
    >>> gains = pad(np.array([[1.0, -1.0], [2.0, -2.0]]), np.array([2]))
    >>> sum_gains(np.array([[1], [-1]]), np.array([2]), gains, np.array([[-1.0, -1.0]])).tolist()
    [[1.0, -3.0], [-1.0, -1.0]]
    """
    start = np.concatenate([[0], np.cumsum(sizes + 1)])
    blocks = np.zeros(0, np.int64) if block is None else block
    scores = np.empty((len(codes), prior.shape[1]))
    threads.run(
        lambda begin, end: _add(codes, begin, end, sizes, start, table, blocks, prior, scores), len(codes), grain=GRAIN
    )
    return scores


def to_probabilities(scores: Float64[np.ndarray, "rows classes"]) -> None:
    """Turn log2 scores into probabilities, in place.

    A row of -infinity throughout has no answer and becomes NaN: see to it before.

    Examples
    --------
    >>> scores = np.array([[1.0, 1.0], [2.0, -np.inf]])
    >>> to_probabilities(scores)
    >>> scores.tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """

    def some(begin: int, end: int) -> None:
        largest = np.empty(BLOCK)
        for low in range(begin, end, BLOCK):
            part = scores[low : min(low + BLOCK, end)]
            _shift(part, largest)
            np.exp2(part, out=part)  # several at a time, as compiled loops do not
            _divide(part)

    threads.run(some, len(scores), grain=GRAIN)


def to_log2_probabilities(scores: Float64[np.ndarray, "rows classes"]) -> Float64[np.ndarray, " rows"]:
    """Turn log2 scores into log2 of probabilities, in place; return the normaliser log2 Z of each row.

    Examples
    --------
    >>> scores = np.array([[1.0, 1.0]])
    >>> to_log2_probabilities(scores).tolist(), scores.tolist()
    ([2.0], [[-1.0, -1.0]])
    """
    normaliser = np.empty(len(scores))

    def some(begin: int, end: int) -> None:
        for low in range(begin, end, BLOCK):
            rows = slice(low, min(low + BLOCK, end))
            _shift(scores[rows], normaliser[rows])
            bits = np.log2(np.exp2(scores[rows]).sum(axis=1))
            normaliser[rows] += bits
            scores[rows] -= bits[:, None]

    threads.run(some, len(scores), grain=GRAIN)
    return normaliser


@compiled
def _shift(scores, largest):  # type: ignore[no-untyped-def]
    """Take each row's largest score from it, and keep it."""
    for r in range(len(scores)):
        largest[r] = scores[r, 0]
        for c in range(1, scores.shape[1]):
            largest[r] = max(largest[r], scores[r, c])
        for c in range(scores.shape[1]):
            scores[r, c] -= largest[r]


@compiled
def _divide(shares):  # type: ignore[no-untyped-def]
    """Divide each row by its sum."""
    for r in range(len(shares)):
        total = 0.0
        for c in range(shares.shape[1]):
            total += shares[r, c]
        for c in range(shares.shape[1]):
            shares[r, c] /= total


@compiled
def _add(codes, begin, end, sizes, start, table, block, prior, scores):  # type: ignore[no-untyped-def]
    """Add up the rows ``begin`` to ``end - 1``."""
    classes = scores.shape[1]
    total = np.empty(LANES)
    for r in range(begin, end):
        mine = block[r] if len(block) > 0 else 0
        base = mine * start[-1]
        for lane in range(0, classes, LANES):
            l0 = np.uint64(lane)  # unsigned: a place below 0 would be counted from the end, and so tested for
            l1, l2, l3 = l0 + np.uint64(1), l0 + np.uint64(2), l0 + np.uint64(3)
            l4, l5, l6, l7 = l0 + np.uint64(4), l0 + np.uint64(5), l0 + np.uint64(6), l0 + np.uint64(7)
            t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = 0.0  # eight registers: an array would be stored at every step
            for a in range(len(sizes)):
                code = min(np.uint32(np.int32(codes[r, a])), np.uint32(sizes[a]))
                row = np.uint64(base + start[a] + code)
                t0 += table[row, l0]
                t1 += table[row, l1]
                t2 += table[row, l2]
                t3 += table[row, l3]
                t4 += table[row, l4]
                t5 += table[row, l5]
                t6 += table[row, l6]
                t7 += table[row, l7]
            total[:] = (t0, t1, t2, t3, t4, t5, t6, t7)
            for c in range(min(LANES, classes - lane)):
                scores[r, lane + c] = prior[mine, lane + c] + total[c]
