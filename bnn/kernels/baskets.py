"""Counting the pairs of records that are lists of few neurons among many: only pairs that occur are touched."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Int32, Int64

from bnn.kernels import threads
from bnn.kernels.compiling import compiled

BLOCKS, STRIDE = 64, 8  # runs of neurons of about equal work, taken so many apart
SCAN = 16  # a row with more than one partner in so many neurons is read from end to end, not sorted

Upper = tuple[Int64[np.ndarray, " neurons_and_one"], Int32[np.ndarray, " seen"], Int64[np.ndarray, " seen"]]


def count_baskets(
    items: Int32[np.ndarray, " stored"],
    start: Int64[np.ndarray, " rows_and_one"],
    neurons: int,
    weights: Int64[np.ndarray, " rows"] | None,
) -> Upper:
    """Count the records that hold both neurons of a pair, for every pair that occurs.

    Parameters
    ----------
    items
        Neurons that are on, ascending within a record.
    start
        Record r has ``items[start[r]:start[r + 1]]``.
    neurons
        How many there are.
    weights
        Multiplicity of each record; None: once each.

    Returns
    -------
    start, index, number
        The upper triangle with its diagonal, row by row: neuron i was seen with neurons
        ``index[start[i]:start[i + 1]]``, ascending and none below i, so many times.

    Examples
    --------
    >>> count_baskets(np.array([0, 2, 2], np.int32), np.array([0, 2, 3]), 3, None)
    (array([0, 2, 2, 3]), array([0, 2, 2], dtype=int32), array([1, 1, 2]))
    """
    number = np.bincount(items, minlength=neurons)
    first = np.concatenate([[0], np.cumsum(number)])
    place, record = np.empty(len(items), np.int64), np.empty(len(items), np.int32)
    work = np.zeros(neurons, np.int64)
    _invert(items, start, first[:-1].copy(), place, record, work)
    lists = (items, start, first, place, record)
    once = np.ones(0, np.int64) if weights is None else weights
    sums = np.concatenate([[0], np.cumsum(work + 1)])
    edges = np.searchsorted(sums, np.linspace(0, sums[-1], BLOCKS + 1)).clip(0, neurons)
    order = np.arange(BLOCKS).reshape(STRIDE, -1).T.ravel()  # rows of many partners are quicker: each thread has some

    def on_blocks(loop: Callable[..., None], *arrays: np.ndarray) -> None:
        def some(begin: int, end: int) -> None:
            for block in order[begin:end]:
                loop(edges[block], edges[block + 1], *lists, *arrays)

        threads.run(some, BLOCKS)

    partners = np.zeros(neurons, np.int64)
    on_blocks(_partners, partners)
    begins = np.concatenate([[0], np.cumsum(partners)])
    index, joint = np.empty(begins[-1], np.int32), np.empty(begins[-1], np.int64)
    on_blocks(_fill, once, begins, index, joint)
    return begins, index, joint


@compiled
def _invert(items, start, free, place, record, work):  # type: ignore[no-untyped-def]
    """List the places of each neuron, in order, from ``free`` on, and how many neurons follow it in its records."""
    for r in range(start.size - 1):
        for p in range(start[r], start[r + 1]):
            i = items[p]
            place[free[i]] = p
            record[free[i]] = r
            free[i] += 1
            work[i] += start[r + 1] - p


@compiled
def _partners(begin, end, items, start, first, place, record, partners):  # type: ignore[no-untyped-def]
    """Count the distinct neurons from i on that neurons i of a run occur with, themselves included."""
    seen = np.full(first.size - 1, -1, np.int32)
    for i in range(begin, end):
        count = 0
        for q in range(first[i], first[i + 1]):
            for p in range(place[q], start[record[q] + 1]):
                j = items[p]
                if seen[j] != i:
                    seen[j] = i
                    count += 1
        partners[i] = count


@compiled
def _fill(begin, end, items, start, first, place, record, weights, begins, index, joint):  # type: ignore[no-untyped-def]
    """Write partners and numbers of a run of neurons to their places."""
    neurons = first.size - 1
    sums = np.zeros(neurons, np.int64)
    seen = np.full(neurons, -1, np.int32)
    for i in range(begin, end):
        at = begins[i]
        mine = index[at : begins[i + 1]]
        count = 0
        for q in range(first[i], first[i + 1]):
            r = record[q]
            weight = weights[r] if weights.size > 0 else 1
            for p in range(place[q], start[r + 1]):
                j = items[p]
                if seen[j] != i:
                    seen[j] = i
                    sums[j] = 0
                    mine[count] = j
                    count += 1
                sums[j] += weight
        if count * SCAN > neurons - i:
            count = 0
            for j in range(i, neurons):
                if seen[j] == i:
                    mine[count] = j
                    count += 1
        else:
            mine.sort()
        for k in range(count):
            joint[at + k] = sums[mine[k]]
