"""Adding up the gains of each row's values: the field of the class neurons, evidence clamped."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float64, Int, Integer

from bnn.kernels import threads
from bnn.kernels.compiling import compiled

LANES = 8  # classes added at a time, in one or two registers
GRAIN = 1 << 12


def pad(gains: Float64[np.ndarray, "values classes"], sizes: Int[np.ndarray, " attributes"]) -> np.ndarray:
    """Lay gains out for `add_gains`: a row of zeros behind each attribute's values, whole lanes of classes.

    Examples
    --------
    >>> pad(np.ones((3, 2)), np.array([2, 1]))[:, 0].tolist()
    [1.0, 1.0, 0.0, 1.0, 0.0]
    """
    values, classes = gains.shape
    table = np.zeros((values + len(sizes), -(-classes // LANES) * LANES))
    table[np.arange(values) + np.repeat(np.arange(len(sizes)), sizes), :classes] = gains
    return table


def add_gains(
    codes: Integer[np.ndarray, "rows attributes"],
    sizes: Int[np.ndarray, " attributes"],
    table: Float64[np.ndarray, "padded lanes"],
    scores: Float64[np.ndarray, "rows classes"],
    block: Int[np.ndarray, " rows"] | None = None,
) -> None:
    """Add to ``scores``, in place, the gains of every row's values, attribute after attribute.

    Parameters
    ----------
    codes
        Below 0, or beyond the attribute's values, is missing and adds nothing.
    sizes
        int64: number of values of each attribute.
    table
        What `pad` made, or several of them below each other.
    scores
        float64, C order.
    block
        int64: which of the tables a row uses; None: there is one.
    """
    start = np.concatenate([[0], np.cumsum(sizes + 1)])
    blocks = np.zeros(0, np.int64) if block is None else block
    threads.run(
        lambda begin, end: _add(codes, begin, end, sizes, start, table, blocks, scores), len(codes), grain=GRAIN
    )


def normalise(scores: Float64[np.ndarray, "rows classes"], exponentiate: bool = False) -> Float64[np.ndarray, " rows"]:
    """Normalise log2 scores in place, to log2 P or, with ``exponentiate``, to P; return log2 of the sums, log2 Z.

    A row of -infinity throughout has no answer and becomes NaN: see to it before.

    Examples
    --------
    >>> scores = np.array([[1.0, 1.0]])
    >>> normalise(scores).tolist(), scores.tolist()
    ([2.0], [[-1.0, -1.0]])
    """
    normaliser = np.empty(len(scores))
    threads.run(lambda begin, end: _normalise(scores, begin, end, exponentiate, normaliser), len(scores), grain=GRAIN)
    return normaliser


@compiled
def _normalise(scores, begin, end, exponentiate, normaliser):  # type: ignore[no-untyped-def]
    """Normalise the rows ``begin`` to ``end - 1``."""
    classes = scores.shape[1]
    share = np.empty(classes)
    for r in range(begin, end):
        largest = scores[r, 0]
        for c in range(1, classes):
            largest = max(largest, scores[r, c])
        total = 0.0
        for c in range(classes):
            share[c] = 2.0 ** (scores[r, c] - largest)
            total += share[c]
        bits = largest + math.log2(total)
        normaliser[r] = bits
        for c in range(classes):
            scores[r, c] = share[c] / total if exponentiate else scores[r, c] - bits


@compiled
def _add(codes, begin, end, sizes, start, table, block, scores):  # type: ignore[no-untyped-def]
    """Add up the rows ``begin`` to ``end - 1``."""
    classes = scores.shape[1]
    total = np.empty(LANES)
    for r in range(begin, end):
        base = block[r] * start[-1] if len(block) > 0 else 0
        for lane in range(0, classes, LANES):
            for c in range(LANES):
                total[c] = 0.0
            for a in range(len(sizes)):
                code = min(np.uint32(np.int32(codes[r, a])), np.uint32(sizes[a]))
                row = table[np.uint64(base + start[a] + code)]
                for c in range(LANES):
                    total[c] += row[np.uint64(lane + c)]
            for c in range(min(LANES, classes - lane)):
                scores[r, lane + c] += total[c]
