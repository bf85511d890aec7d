"""Which joins of values a row uses: the first of a ranked list that it has, and of the rest, no value twice."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int32, Int64, Integer

from bnn.kernels import threads
from bnn.kernels.compiling import compiled

NONE = -1
GRAIN = 64


def choose_joins(
    codes: Integer[np.ndarray, "rows attributes"],
    attributes: Int64[np.ndarray, "joins order"],
    values: Int64[np.ndarray, "joins order"],
    sizes: Int64[np.ndarray, " attributes"],
) -> Int32[np.ndarray, "rows attributes"]:
    """Choose the joins of each row, in the order in which they are listed.

    Parameters
    ----------
    codes
        Below 0, or beyond the attribute's values, is missing.
    attributes, values
        Members of each join, and the code that each must have; unused places at the end are -1.
    sizes
        Number of values of each attribute.

    Returns
    -------
    ndarray
        The join that uses the row's value of the attribute, -1 where none does.

    Examples
    --------
    >>> attributes, values = np.array([[0, 1], [1, 2]]), np.array([[1, 1], [1, 1]])
    >>> choose_joins(np.array([[1, 1, 1], [0, 1, 1]]), attributes, values, np.array([2, 2, 2])).tolist()
    [[0, 0, -1], [-1, 1, 1]]
    """
    chosen = np.full(codes.shape, NONE, np.int32)
    if not len(attributes):
        return chosen
    first = np.concatenate([[0], np.cumsum(sizes)])
    leader = first[attributes[:, 0]] + values[:, 0]
    order = np.argsort(leader, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(leader, minlength=first[-1]))])
    by_leader = (order, attributes[order], values[order])

    def some(low: int, high: int) -> None:
        _choose(codes, low, high, attributes, *by_leader, first, start, np.empty(len(attributes), np.int64), chosen)

    threads.run(some, len(codes), grain=GRAIN)
    return chosen


@compiled
def _choose(  # type: ignore[no-untyped-def]
    codes, low, high, attributes, ranks, some_attributes, some_values, first, start, applicable, chosen
):
    """Collect the ranks of the joins that each row has, and take them in order."""
    for r in range(low, high):
        number = 0
        for a in range(codes.shape[1]):
            code = np.int64(codes[r, a])
            if code < 0 or code >= first[a + 1] - first[a]:
                continue
            for k in range(start[first[a] + code], start[first[a] + code + 1]):
                has = True
                for m in range(1, some_attributes.shape[1]):
                    if some_attributes[k, m] >= 0 and codes[r, some_attributes[k, m]] != some_values[k, m]:
                        has = False
                        break
                if has:
                    applicable[number] = ranks[k]
                    number += 1
        applicable[:number].sort()
        for rank in applicable[:number]:
            free = True
            for a in attributes[rank]:
                free = free and (a < 0 or chosen[r, a] < 0)
            if free:
                for a in attributes[rank]:
                    if a >= 0:
                        chosen[r, a] = rank
