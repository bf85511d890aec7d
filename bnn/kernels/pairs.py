"""Counting every pair of values of a table of codes: exact integers, linear in rows, little memory.

Neighbouring attributes are joined into groups of at most `GROUP` combinations of values, so that one increment of
the table of two groups serves every pair of their attributes; a missing value is one more combination. Tables are
small enough for the cache, and are summed into the result once a chunk of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Integer

from bnn.kernels import threads
from bnn.kernels.compiling import compiled
from bnn.memory import pooled

GROUP = 128  # combinations a group of several attributes may have: 128 x 128 numbers of four bytes stay in cache
CHUNK_BYTES = 1 << 22  # the codes of the groups held at a time
TABLE = 1 << 20  # cells of the largest table of two groups; beyond, pairs are counted in the result itself
BLOCK = 2048  # rows turned from row-major to columns at a time


@dataclass(frozen=True, slots=True)
class Grouping:
    """Neighbouring attributes joined, and where each combination of their values is counted.

    Attributes
    ----------
    first
        Group g holds the attributes ``first[g]`` to ``first[g + 1] - 1``.
    width
        Combinations of values of each group, missing included.
    offset
        Combination u of group g is row ``offset[g] + u`` of ``neuron``; the next group follows.
    neuron
        The neurons, among those of the group, that a combination switches on; one past the last where a member is
        missing or there is no such member.
    start
        Group g owns the neurons ``start[g]`` to ``start[g + 1] - 1``.
    """

    first: Int[np.ndarray, " groups_and_one"]
    width: Int[np.ndarray, " groups"]
    offset: Int[np.ndarray, " groups_and_one"]
    neuron: Int[np.ndarray, "combinations members"]
    start: Int[np.ndarray, " groups_and_one"]


def group(sizes: Int[np.ndarray, " attributes"]) -> Grouping:
    """Join neighbouring attributes while their combinations number at most `GROUP`.

    Examples
    --------
    >>> group(np.array([10, 10, 2, 2, 300])).width.tolist()
    [121, 9, 301]
    """
    first, width = [0], [1]
    for a, slots in enumerate((sizes + 1).tolist()):
        if a > first[-1] and (width[-1] * slots > GROUP or a - first[-1] == 8):
            first.append(a)
            width.append(1)
        width[-1] *= slots
    first.append(len(sizes))
    start = np.concatenate([[0], np.cumsum(sizes)])[first]
    neuron = np.empty((sum(width), max(np.diff(first))), dtype=np.int64)
    offset = np.cumsum([0, *width])
    for g in range(len(width)):
        rows = neuron[offset[g] : offset[g + 1]]
        rows[:] = start[g + 1] - start[g]
        members = sizes[first[g] : first[g + 1]]
        values = np.unravel_index(np.arange(width[g]), members + 1)
        for m, (value, size) in enumerate(zip(values, members.tolist(), strict=True)):
            rows[value < size, m] = members[:m].sum() + value[value < size]
    return Grouping(np.array(first), np.array(width), offset, neuron, start)


def count_pairs(
    codes: Integer[np.ndarray, "rows attributes"],
    sizes: Int[np.ndarray, " attributes"],
    weights: Int[np.ndarray, " rows"] | None = None,
) -> Int[np.ndarray, "neurons neurons"]:
    """Count, for every two values of any two attributes, the rows that have both.

    Parameters
    ----------
    codes
        Integers in either memory order; below 0 is missing. (A code beyond its attribute's values is taken as missing:
        nothing is ever counted outside the result.)
    sizes
        int64: number of values of each attribute; one neuron a value, in order.
    weights
        int64 multiplicity of each row, or None for once each. Their sum must fit int64.

    Returns
    -------
    ndarray
        int64, symmetric; its diagonal holds the counts of the values, and two values of one attribute never meet.

    Examples
    --------
    >>> count_pairs(np.array([[0, 1], [1, 1], [1, -1]], dtype=np.int8), np.array([2, 2]))
    array([[1, 0, 0, 1],
           [0, 2, 0, 1],
           [0, 0, 0, 0],
           [1, 1, 0, 2]])
    """
    groups = group(sizes)
    neurons = int(groups.start[-1])
    joint = pooled((neurons, neurons), np.int64)
    joint[:] = 0
    g, h = np.triu_indices(len(groups.width))
    tasks = count_groups(codes, sizes, groups, g, h, joint, weights)
    across = tasks[tasks[:, 0] != tasks[:, 1]]
    threads.run(lambda low, high: _mirror(across[low:high], groups.start, joint), len(across), grain=256)
    return joint


def count_groups(
    codes: Integer[np.ndarray, "rows attributes"],
    sizes: Int[np.ndarray, " attributes"],
    groups: Grouping,
    g: Int[np.ndarray, " tasks"],
    h: Int[np.ndarray, " tasks"],
    joint: Int[np.ndarray, "neurons some"],
    weights: Int[np.ndarray, " rows"] | None = None,
    beside: Integer[np.ndarray, " rows"] | None = None,
) -> Int[np.ndarray, "tasks three"]:
    """Add to ``joint`` the pairs of values of the groups ``g[t]`` and ``h[t]``, for every t.

    Parameters
    ----------
    codes, sizes, weights
        As in `count_pairs`.
    groups
        Of these attributes; or, with ``beside``, one more group before them, of an attribute whose codes are apart.
    beside
        Codes of that attribute, none missing.

    Returns
    -------
    ndarray
        One row a task: g, h, and the cells of its table (0: counted without one).
    """
    apart = 0 if beside is None else 1
    dtype = np.min_scalar_type(groups.width.max() - 1)
    chunk = min(max(CHUNK_BYTES // (len(groups.width) * dtype.itemsize), 1 << 16), len(codes))
    buffer = pooled((len(groups.width), chunk), dtype)
    tasks, cells = _tasks(groups, g, h, chunk)
    first = groups.first[apart:] - apart
    for begin in range(0, len(codes), max(chunk, 1)):
        rows = min(chunk, len(codes) - begin)
        part = None if weights is None else weights[begin : begin + rows]

        def encode(low: int, high: int, begin: int = begin) -> None:
            _encode(codes, begin, low, high, sizes + 1, first, buffer[apart:])
            if beside is not None:
                buffer[0, low:high] = beside[begin + low : begin + high]

        def count(low: int, high: int, rows: int = rows, part: Int[np.ndarray, " part"] | None = part) -> None:
            table = np.empty(cells, dtype=np.uint32 if part is None else np.int64)
            _count(tasks[low:high], buffer, rows, part, table, groups.offset, groups.neuron, groups.start, joint)

        threads.run(encode, rows, grain=1 << 14)
        threads.run(count, len(tasks), grain=1 + (1 << 16) // rows)
    return tasks


def _tasks(
    groups: Grouping, g: Int[np.ndarray, " tasks"], h: Int[np.ndarray, " tasks"], rows: int
) -> tuple[Int[np.ndarray, "tasks three"], int]:
    """Pairs of groups and the cells of their table, 0 where a table is too large to pay; the largest."""
    members = np.diff(groups.first)
    cells = groups.width[g] * groups.width[h]
    cells[cells > np.minimum(rows * members[g] * members[h], TABLE)] = 0
    return np.stack([g, h, cells], axis=1), int(cells.max())


@compiled
def _encode(codes, begin, low, high, slots, first, out):  # type: ignore[no-untyped-def]
    """Write to row g of ``out`` the combination of group g, in rows ``begin + low`` to ``begin + high - 1``."""
    for block in range(low, high, BLOCK):
        end = min(block + BLOCK, high)
        for g in range(len(first) - 1):
            combination = out[g, block:end]
            combination[:] = 0
            for a in range(first[g], first[g + 1]):
                column = codes[begin + block : begin + end, a]
                slot = np.int32(slots[a])
                missing = slot - np.int32(1)
                for r in range(end - block):
                    code = np.int32(column[r])
                    code = min(code if code >= 0 else missing, missing)
                    combination[r] = np.int32(combination[r]) * slot + code


@compiled
def _count(tasks, codes, rows, weights, tables, offset, neuron, start, joint):  # type: ignore[no-untyped-def]
    """Add the pairs of groups of each task, in the first ``rows`` columns, to their blocks of ``joint``."""
    cell = np.empty(BLOCK, dtype=np.uint32)
    for t in range(len(tasks)):
        g, h, cells = tasks[t]
        of_g, of_h = neuron[offset[g] : offset[g + 1]], neuron[offset[h] : offset[h + 1]]
        block = joint[start[g] : start[g + 1], start[h] : start[h + 1]]
        if cells > 0:
            table = tables[:cells]
            table[:] = 0
            _fill(codes[g], codes[h], rows, weights, np.uint32(len(of_h)), cell, table)
            _sum_up(table, of_g, of_h, block)
        else:
            _count_singly(codes[g], codes[h], rows, weights, of_g, of_h, block)


@compiled
def _fill(g, h, rows, weights, width, cell, table):  # type: ignore[no-untyped-def]
    """Count the combinations of two groups: all cells of a block of rows first, several at once, then one by one."""
    for begin in range(0, rows, BLOCK):
        number = min(BLOCK, rows - begin)
        some_g, some_h = g[begin : begin + number], h[begin : begin + number]
        for r in range(number):
            cell[r] = np.uint32(some_g[r]) * width + np.uint32(some_h[r])
        for r in range(number):
            if weights is None:
                table[cell[np.uint64(r)]] += np.uint32(1)
            else:
                table[cell[np.uint64(r)]] += weights[begin + r]


@compiled
def _sum_up(table, of_g, of_h, block):  # type: ignore[no-untyped-def]
    """Add a table of combinations to the pairs of neurons that they switch on: first one side, then the other."""
    half = np.zeros((block.shape[0] + 1, len(of_h)), dtype=np.int64)  # the last row collects what is missing
    for u in range(len(of_g)):
        line = table[u * len(of_h) : (u + 1) * len(of_h)]
        for m in range(of_g.shape[1]):
            half[of_g[u, m]] += line
    for v in range(len(of_h)):
        for m in range(of_h.shape[1]):
            j = of_h[v, m]
            if j < block.shape[1]:
                for i in range(block.shape[0]):
                    block[i, j] += half[i, v]


@compiled
def _count_singly(g, h, rows, weights, of_g, of_h, block):  # type: ignore[no-untyped-def]
    """Add the pairs of neurons of each row one by one, without a table."""
    for r in range(rows):
        for m in range(of_g.shape[1]):
            i = of_g[g[r], m]
            for n in range(of_h.shape[1]):
                j = of_h[h[r], n]
                if i < block.shape[0] and j < block.shape[1]:
                    if weights is None:
                        block[i, j] += 1
                    else:
                        block[i, j] += weights[r]


@compiled
def _mirror(tasks, start, joint):  # type: ignore[no-untyped-def]
    """Copy each task's block of ``joint`` to the other side of the diagonal."""
    for t in range(len(tasks)):
        g, h, _ = tasks[t]
        for i in range(start[g], start[g + 1]):
            for j in range(start[h], start[h + 1]):
                joint[j, i] = joint[i, j]
