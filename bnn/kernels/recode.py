"""Columns of numbers to codes: whole numbers by a table, others by their place between bounds; and a first look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, Real

from bnn.kernels import threads
from bnn.kernels.compiling import compiled

BLOCK = 1024
GRAIN = 1 << 14
BY_TABLE, BY_BOUNDS, BY_SEARCH = 0, 1, 2
Matrix = Real[np.ndarray, "rows attributes"]


def seen_values(
    numbers: Matrix, low: Int[np.ndarray, " attributes"], start: Int[np.ndarray, " attributes_and_one"]
) -> tuple[Bool[np.ndarray, " values"], Bool[np.ndarray, " attributes"]]:
    """Which whole numbers occur in each column, and which columns hold anything else (NaN is nothing).

    Parameters
    ----------
    numbers
        Integers or floats, in any memory order.
    low
        int64: the number that entry ``start[a]`` of the result stands for; the next numbers follow. Integers are
        taken to lie between the first and the last of their column, where it has any.
    start
        int64: column a owns the entries ``start[a]`` to ``start[a + 1] - 1``.

    Examples
    --------
    >>> seen_values(np.array([[3.0, 0.5], [5.0, 1.0]]), np.array([3, 0]), np.array([0, 3, 5]))[0].tolist()
    [True, False, True, False, True]
    """
    parts: list[tuple[np.ndarray, np.ndarray]] = []

    def look(begin: int, end: int) -> None:
        seen, other = np.zeros(start[-1], np.bool_), np.zeros(len(low), np.bool_)
        _look(numbers, begin, end, low, start, numbers.dtype.kind in "iu", seen, other)
        parts.append((seen, other))

    threads.run(look, len(numbers), grain=GRAIN)
    if not parts:
        return np.zeros(start[-1], np.bool_), np.zeros(len(low), np.bool_)
    return np.logical_or.reduce([p[0] for p in parts]), np.logical_or.reduce([p[1] for p in parts])


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """How the numbers of each column become codes.

    Attributes
    ----------
    kind
        int64: `BY_TABLE`: the code of the whole number v is ``table[start[a] + v - low[a]]``. `BY_BOUNDS`: the number
        of keys of the column that are at most v. `BY_SEARCH`: the entry of ``table`` at the place of the key v.
    low, start, table
        As said; int64, int64, int32.
    key_start, keys
        Column a owns the float64 keys ``key_start[a]`` to ``key_start[a + 1] - 1``, ascending.
    """

    kind: Int[np.ndarray, " attributes"]
    low: Int[np.ndarray, " attributes"]
    start: Int[np.ndarray, " attributes_and_one"]
    table: Int[np.ndarray, " entries"]
    key_start: Int[np.ndarray, " attributes_and_one"]
    keys: Real[np.ndarray, " keys"]

    def of_column(self, a: int) -> Lookup:
        """The same for one column."""
        here, both = slice(a, a + 1), slice(a, a + 2)
        return Lookup(self.kind[here], self.low[here], self.start[both], self.table, self.key_start[both], self.keys)


def recode(numbers: Matrix, lookup: Lookup, out: Int[np.ndarray, "rows attributes"]) -> Int[np.ndarray, " attributes"]:
    """Write the code of every number to ``out``, -1 where it is NaN or unknown; return how many were unknown.

    Examples
    --------
    >>> none = np.zeros(0, np.int32)
    >>> lookup = Lookup(np.array([BY_BOUNDS]), np.array([0]), np.array([0, 0]), none, np.array([0, 1]), np.array([2.5]))
    >>> codes = np.empty((3, 1), np.int8)
    >>> recode(np.array([[1.0], [2.5], [np.nan]]), lookup, codes).tolist(), codes.ravel().tolist()
    ([0], [0, 1, -1])
    """
    unknown = np.zeros((threads.count(), len(lookup.kind)), np.int64)
    rest = iter(unknown)

    def write(begin: int, end: int) -> None:
        _recode(
            numbers,
            begin,
            end,
            lookup.kind,
            lookup.low,
            lookup.start,
            lookup.table,
            lookup.key_start,
            lookup.keys,
            out,
            next(rest),
        )

    threads.run(write, len(numbers), grain=GRAIN)
    total: np.ndarray = unknown.sum(axis=0)
    return total


def subtract(
    numbers: Matrix,
    low: Int[np.ndarray, " attributes"],
    sizes: Int[np.ndarray, " attributes"],
    out: Int[np.ndarray, "rows attributes"],
) -> bool:
    """Write ``v - low[a]`` to ``out`` for every whole number v of column a, -1 for NaN; False where any is unknown.

    What `recode` does where a column's values are all whole numbers from ``low[a]`` on: several numbers at a time, for
    arrays of C order.

    Examples
    --------
    >>> codes = np.empty((2, 2), np.int8)
    >>> subtract(np.array([[3.0, np.nan], [4.0, 1.0]]), np.array([3, 1]), np.array([2, 1]), codes)
    True
    >>> codes.tolist()
    [[0, -1], [1, 0]]
    """
    ends = np.stack([low, low + sizes - 1]).astype(np.float64)
    return all(
        threads.run(lambda begin, end: _subtract(numbers, begin, end, ends[0], ends[1], out), len(numbers), grain=GRAIN)
    )


@compiled
def _subtract(numbers, begin, end, low, high, out):  # type: ignore[no-untyped-def]
    """Subtract in the rows ``begin`` to ``end - 1``; whether every number is known."""
    unknown = 0
    for r in range(begin, end):
        for a in range(len(low)):
            v = np.float64(numbers[r, a])
            inside = (v >= low[a]) & (v <= high[a])
            whole = np.int32(v - low[a] if inside else 0.0)
            known = inside & (np.float64(whole) == v - low[a])
            out[r, a] = whole if known else np.int32(-1)
            unknown += (not known) & (v == v)
    return unknown == 0


@compiled
def _look(numbers, begin, end, low, start, whole, seen, other):  # type: ignore[no-untyped-def]
    """Look at the rows ``begin`` to ``end - 1``."""
    for block in range(begin, end, BLOCK):
        for a in range(len(low)):
            first, width = low[a], start[a + 1] - start[a]
            mine = seen[start[a] : start[a + 1]]
            strange = False
            if whole and mine.all():  # between the least and the largest whole number there is no other
                continue
            for r in range(block, min(block + BLOCK, end)):
                v = numbers[r, a]
                if v >= first and v < first + width:
                    place = np.int64(v) - first
                    if np.int64(v) == v:
                        mine[np.uint64(place)] = True
                    else:
                        strange = True
                elif v == v:
                    strange = True
            other[a] |= strange


@compiled
def _recode(numbers, begin, end, kind, low, start, table, key_start, keys, out, unknown):  # type: ignore[no-untyped-def]
    """Recode the rows ``begin`` to ``end - 1``."""
    for block in range(begin, end, BLOCK):
        for a in range(len(kind)):
            first, width = low[a], start[a + 1] - start[a]
            mine, ordered = table[start[a] : start[a + 1]], keys[key_start[a] : key_start[a + 1]]
            last = first + width
            for r in range(block, min(block + BLOCK, end)):
                v = numbers[r, a]
                if kind[a] == BY_TABLE:
                    # no jumps: which numbers are missing cannot be foreseen
                    place = np.int64(v) if first <= v < last else first
                    found = mine[np.uint64(place - first)] if place == v and width > 0 else np.int32(-1)
                    out[r, a] = found
                    unknown[a] += (found < 0) & (v == v)
                elif v == v:
                    below, high = 0, len(ordered)
                    while below < high:
                        middle = (below + high) // 2
                        if ordered[middle] <= v:
                            below = middle + 1
                        else:
                            high = middle
                    if kind[a] == BY_BOUNDS:
                        out[r, a] = below
                    elif below > 0 and ordered[below - 1] == v:
                        out[r, a] = mine[below - 1]
                    else:
                        out[r, a] = -1
                        unknown[a] += 1
                else:
                    out[r, a] = -1
