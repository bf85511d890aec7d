"""Telling rows of whole numbers apart: labels of fixed width, text among them, without sorting all of them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int32, Int64, UInt32

from bnn.kernels.compiling import compiled

SLOTS = 1 << 14  # of the table of hashes
MOST = 1 << 12  # distinct rows it may hold


def distinct_rows(
    words: UInt32[np.ndarray, "rows width"],
) -> tuple[Int64[np.ndarray, " distinct"], Int32[np.ndarray, " rows"]] | None:
    """First place of each distinct row, in order of appearance, and which of them every row is.

    None where there are more than `MOST`: sorting is the better way then.

    Examples
    --------
    >>> first, codes = distinct_rows(np.array([[7, 1], [7, 2], [7, 1]], np.uint32))
    >>> first.tolist(), codes.tolist()
    ([0, 1], [0, 1, 0])
    """
    slots = np.full(SLOTS, -1, np.int32)
    first = np.empty(MOST, np.int64)
    codes = np.empty(len(words), np.int32)
    number = _distinct(words, slots, first, codes)
    return None if number < 0 else (first[:number], codes)


@compiled
def _distinct(words, slots, first, codes):  # type: ignore[no-untyped-def]
    """Fill ``first`` and ``codes``; return the number of distinct rows, -1 if they are too many."""
    number = 0
    for r in range(len(words)):
        mixed = np.uint64(14695981039346656037)
        for w in range(words.shape[1]):
            mixed = (mixed ^ np.uint64(words[r, w])) * np.uint64(1099511628211)
        slot = (mixed ^ (mixed >> np.uint64(29))) & np.uint64(len(slots) - 1)
        while True:
            code = slots[slot]
            if code < 0:
                if number == len(first):
                    return -1
                code = number
                slots[slot], first[number] = code, r
                number += 1
                break
            same = True
            for w in range(words.shape[1]):
                same &= words[r, w] == words[first[code], w]
            if same:
                break
            slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
        codes[r] = code
    return number
