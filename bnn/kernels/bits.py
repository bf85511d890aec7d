"""Counting pairs of two-valued attributes: records packed 64 to a word, counted by "and" and population count."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int, Integer, UInt64

from bnn.kernels import threads
from bnn.kernels.compiling import compiled

TILE = 64  # attributes counted against as many others at a time: 4096 sums stay in cache
STEP = 4  # words added up before a sum is touched
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def pack(
    codes: Integer[np.ndarray, "rows attributes"],
) -> tuple[UInt64[np.ndarray, "tiles words 64"], UInt64[np.ndarray, "tiles words 64"] | None]:
    """Turn codes of two-valued attributes into runs of bits along the records.

    Parameters
    ----------
    codes
        1 is on, 0 off, below 0 missing; either memory order.

    Returns
    -------
    on
        Bit r of word w of attribute a, ``on[a // 64, w, a % 64]``, tells that record 64 w + r has code 1.
        Attributes and records are filled up with zeros.
    known
        The same for codes that are not missing; None when none is.

    Examples
    --------
    >>> on, known = pack(np.array([[0, 1], [1, 1], [1, -1]], dtype=np.int8))
    >>> on[0, 0, :2].tolist(), known[0, 0, :2].tolist()
    ([6, 3], [7, 3])
    """
    rows, attributes = codes.shape
    words = STEP * -(-rows // (64 * STEP))
    on = np.zeros((-(-attributes // TILE), words, TILE), dtype=np.uint64)
    known = np.zeros_like(on)
    gaps = threads.run(lambda begin, end: _pack(codes, begin, end, on, known), -(-rows // 64), grain=64)
    return on, known if any(gaps) else None


def common(
    left: UInt64[np.ndarray, "tiles words 64"], right: UInt64[np.ndarray, "tiles words 64"], attributes: int
) -> Int[np.ndarray, "attributes attributes"]:
    """Count the records whose bits are set in both: row i of ``left`` with row j of ``right``.

    Parameters
    ----------
    left, right
        From `pack`; one and the same array is counted once for both sides of the diagonal.
    attributes
        How many there are, without the filling.

    Returns
    -------
    ndarray
        int64. No other array of that size is made.

    Examples
    --------
    >>> on, _ = pack(np.array([[0, 1], [1, 1], [1, -1]], dtype=np.int8))
    >>> common(on, on, 2)
    array([[2, 1],
           [1, 2]])
    """
    out = np.empty((attributes, attributes), dtype=np.int64)
    mirrored = left is right
    every = np.ones((len(left), len(right)), dtype=bool)
    tasks = np.argwhere(np.triu(every) if mirrored else every)
    threads.run(lambda begin, end: _common(tasks[begin:end], left, right, mirrored, out), len(tasks))
    return out


def count_common(
    tasks: Int[np.ndarray, "tasks 2"],
    left: UInt64[np.ndarray, "tiles words 64"],
    right: UInt64[np.ndarray, "tiles_of_others words 64"],
    out: Int[np.ndarray, "some others"],
) -> None:
    """Count as `common` does, but only the tiles (p, q) of ``out`` that ``tasks`` names; others stay as they are."""
    threads.run(lambda begin, end: _common(tasks[begin:end], left, right, False, out), len(tasks))


@compiled
def _pack(codes, begin, end, on, known):  # type: ignore[no-untyped-def]
    """Fill the words ``begin`` to ``end - 1``; tell whether a code is missing."""
    rows, attributes = codes.shape
    gaps = False
    for word in range(begin, end):
        first = 64 * word
        count = min(64, rows - first)
        for a in range(attributes):
            bits_on = np.uint64(0)
            bits_known = np.uint64(0)
            for r in range(count):
                code = codes[first + r, a]
                bits_on |= np.uint64(code == 1) << np.uint64(r)
                bits_known |= np.uint64(code >= 0) << np.uint64(r)
            on[a // TILE, word, a % TILE] = bits_on
            known[a // TILE, word, a % TILE] = bits_known
            gaps |= bits_known != ALL >> np.uint64(64 - count)
    return gaps


@compiled
def _ones(word):  # type: ignore[no-untyped-def]
    """Count the ones; compilers know this formula and use the machine's own instruction, several words at once."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def _common(tasks, left, right, mirrored, out):  # type: ignore[no-untyped-def]
    """Count each task's tile (p, q) of ``out``, and its mirror image; every number is written once."""
    sums = np.empty((TILE, TILE), dtype=np.int64)
    for t in range(len(tasks)):
        p, q = tasks[t]
        sums[:] = 0
        for word in range(0, left.shape[1], STEP):
            ours, theirs = left[p], right[q]
            r0, r1, r2, r3 = theirs[word], theirs[word + 1], theirs[word + 2], theirs[word + 3]
            for i in range(TILE):
                l0, l1, l2, l3 = ours[word, i], ours[word + 1, i], ours[word + 2, i], ours[word + 3, i]
                row = sums[i]
                for j in range(TILE):
                    row[j] += _ones(l0 & r0[j]) + _ones(l1 & r1[j]) + _ones(l2 & r2[j]) + _ones(l3 & r3[j])
        block = out[p * TILE : (p + 1) * TILE, q * TILE : (q + 1) * TILE]
        block[:] = sums[: block.shape[0], : block.shape[1]]
        if mirrored and p != q:
            mirror = out[q * TILE : (q + 1) * TILE, p * TILE : (p + 1) * TILE]
            mirror[:] = sums[: block.shape[0], : block.shape[1]].T
