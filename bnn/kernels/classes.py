"""Counting values within classes: the pairs of one attribute, the class, with all others."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int, Integer

from bnn.kernels.pairs import Grouping, count_groups, group


def count_classes(
    codes: Integer[np.ndarray, "rows attributes"],
    sizes: Int[np.ndarray, " attributes"],
    classes: Integer[np.ndarray, " rows"],
    number: int,
    weights: Int[np.ndarray, " rows"] | None = None,
) -> tuple[Int[np.ndarray, "values classes"], Int[np.ndarray, " classes"]]:
    """Count, for every value of every attribute, the rows of each class that have it; and all rows of each class.

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
    >>> joint, totals = count_classes(codes, np.array([2, 2]), np.array([0, 1, 1]), 2)
    >>> joint.tolist(), totals.tolist()
    ([[1, 0], [0, 2], [0, 0], [1, 1]], [1, 2])
    """
    groups = _behind_classes(group(sizes), number)
    joint = np.zeros((groups.start[-1], number), dtype=np.int64)
    every = np.arange(len(groups.width))
    count_groups(codes, sizes, groups, every, np.zeros_like(every), joint, weights, classes)
    return joint[number:], joint[:number].diagonal()


def _behind_classes(groups: Grouping, number: int) -> Grouping:
    """Put one group before the others: the classes, which are never missing."""
    neuron = np.full((number, groups.neuron.shape[1]), number)
    neuron[:, 0] = np.arange(number)
    return Grouping(
        np.concatenate([[0], groups.first + 1]),
        np.concatenate([[number], groups.width]),
        np.concatenate([[0], groups.offset + number]),
        np.concatenate([neuron, groups.neuron]),
        np.concatenate([[0], groups.start + number]),
    )
