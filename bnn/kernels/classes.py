"""Counting values within classes: one increment a cell of a table of codes, linear in rows, little memory."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int, Int32, Integer

from bnn.kernels import threads
from bnn.kernels.compiling import compiled

BLOCK = 1024  # rows whose codes stay in cache while one attribute after the other is counted


def count_classes(
    codes: Integer[np.ndarray, "rows attributes"],
    sizes: Int[np.ndarray, " attributes"],
    classes: Int32[np.ndarray, " rows"],
    number: int,
    weights: Int[np.ndarray, " rows"] | None = None,
) -> Int[np.ndarray, "values classes"]:
    """Count, for every value of every attribute, the rows of each class that have it.

    Parameters
    ----------
    codes
        Integers in either memory order; below 0, or beyond the attribute's values, is missing.
    sizes
        int64: number of values of each attribute; the rows of the result, attribute by attribute.
    classes
        Code of each row's class, 0 to ``number - 1``.
    number
        How many classes there are.
    weights
        int64 multiplicity of each row, or None for once each. Their sum must fit int64.

    Examples
    --------
    >>> codes = np.array([[0, 1], [1, -1], [1, 1]], dtype=np.int8)
    >>> count_classes(codes, np.array([2, 2]), np.array([0, 1, 1], np.int32), 2).tolist()
    [[1, 0], [0, 2], [0, 0], [1, 1]]
    """
    slots = sizes + 1  # the last of each attribute collects what is missing
    start = np.concatenate([[0], np.cumsum(slots)])
    cells = int(start[-1]) * number
    parts: list[np.ndarray] = []

    def count(begin: int, end: int) -> None:
        # Two copies by turns, so that an increment need not wait for the last one of the same cell to be stored
        table = np.zeros((2, cells), dtype=np.uint32 if weights is None else np.int64)
        _count(codes, begin, end, classes, weights, sizes, start, np.uint32(number), table)
        parts.append(table.sum(axis=0, dtype=np.int64))

    # A wide table is not worth a copy a thread for few rows
    threads.run(count, len(codes), grain=max(1 << 14, cells // max(1, len(sizes))))
    total = np.sum(parts, axis=0) if parts else np.zeros(cells, np.int64)
    known = np.ones(start[-1], dtype=bool)
    known[start[1:] - 1] = False
    counted: np.ndarray = total.reshape(-1, number)[known]
    return counted


@compiled
def _count(codes, begin, end, classes, weights, sizes, start, number, table):  # type: ignore[no-untyped-def]
    """Add the rows ``begin`` to ``end - 1`` to the two copies of the table."""
    cell = np.empty(BLOCK, dtype=np.uint32)
    for low in range(begin, end, BLOCK):
        rows = min(BLOCK, end - low)
        some = classes[low : low + rows]
        for a in range(len(sizes)):
            column = codes[low : low + rows, a]
            size = np.uint32(sizes[a])
            base = np.uint32(start[a])
            for r in range(rows):
                code = min(np.uint32(np.int32(column[r])), size)  # what is below 0 becomes very large
                cell[r] = (base + code) * number + np.uint32(some[r])
            if weights is None:
                for r in range(0, rows - 1, 2):
                    table[0, cell[np.uint64(r)]] += np.uint32(1)
                    table[1, cell[np.uint64(r + 1)]] += np.uint32(1)
                if rows % 2:
                    table[0, cell[np.uint64(rows - 1)]] += np.uint32(1)
            else:
                for r in range(rows):
                    table[0, cell[np.uint64(r)]] += weights[low + r]
