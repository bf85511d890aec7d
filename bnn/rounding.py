"""Rounding weights once to a dyadic grid, so that every sum over network states is exact in any order.

Floating-point addition is exact while all terms are multiples of one power of two g and the sum stays below 2^53 g
(2^24 g in float32). Rounded so, fields kept up to date flip by flip equal fields computed anew, and neither the batch
nor the number of threads can change a bit.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from bnn.kernels import threads

BITS = {np.dtype(np.float32): 23, np.dtype(np.float64): 52}
ROWS = 64
ENTRIES = 1 << 16  # of narrow arrays, so many at a time
TILE = 256
FINE = {np.dtype(np.float32): 2**6, np.dtype(np.float64): 2**16}  # grid steps in a unit that is rounded alone


def row_sums(*arrays: Float[np.ndarray, "neurons _"]) -> Float[np.ndarray, " neurons"]:
    """float64 sum of absolute values of each row over all arrays."""
    total = np.zeros(len(arrays[0]))

    def add(begin: int, end: int) -> None:
        for first in range(begin, end, ROWS):
            rows = slice(first, min(first + ROWS, end))
            for array in arrays:
                total[rows] += np.abs(array[rows]).sum(axis=1, dtype=np.float64)

    threads.run(add, len(total), ROWS)
    return total


def grid_for(rows: Float[np.ndarray, " neurons"], dtype: np.dtype) -> float:
    """Power of two that leaves fields exact in ``dtype`` and energies exact in float64.

    Parameters
    ----------
    rows
        Sum of |weights| and |bias| of each neuron, in bits.
    dtype
        Type of the weights. In float64 the grid is made for the sum of all rows, because energies are float64 too; in
        float32 for the largest row, because energies are kept in float64.
    """
    bound = 2.0 * (float(rows.max(initial=0.0)) if dtype == np.float32 else math.fsum(rows))
    if bound == 0.0:
        return 0.0
    smallest = float(np.finfo(dtype).tiny)  # below it, 1 / grid is infinite
    return max(2.0 ** (math.ceil(math.log2(bound)) - BITS[np.dtype(dtype)]), smallest)


def round_to(array: Float[np.ndarray, "..."], grid: float) -> None:
    """Round in place to multiples of ``grid``, a power of two; 0 leaves the array as it is."""
    if grid == 0.0:
        return

    step = max(ROWS, ENTRIES // max(array[:1].size, 1))

    def some(begin: int, end: int) -> None:
        for first in range(begin, end, step):
            rows = array[first : min(first + step, end)]
            np.rint(np.multiply(rows, 1.0 / grid, out=rows), out=rows)
            rows *= grid

    threads.run(some, len(array), ROWS)


def is_symmetric(weights: Float[np.ndarray, "neurons neurons"]) -> bool:
    """Whether W(j,i) = W(i,j) everywhere, tile by tile so that both halves stay near."""
    edges = range(0, len(weights), TILE)
    pairs = [(i, j) for i in edges for j in edges if i <= j]

    def alike(begin: int, end: int) -> bool:
        return all(
            np.array_equal(weights[i : i + TILE, j : j + TILE], weights[j : j + TILE, i : i + TILE].T)
            for i, j in pairs[begin:end]
        )

    return all(threads.run(alike, len(pairs)))


def round_network(
    weights: Float[np.ndarray, "neurons neurons"],
    bias: Float[np.ndarray, " neurons"],
    silence: Float[np.ndarray, "neurons attributes"] | None,
    unit: float = 1.0,
) -> float:
    """Round what a network is made of in place, once, to one grid; the bias stays the sum of its silence.

    Parameters
    ----------
    weights, bias, silence
        As in `bnn.Network`, of one dtype; weights in units of ``unit``.
    unit
        If not 1, the weights are whole numbers and the unit alone is rounded, so that exact ties stay ties; unless that
        would move all weights by more than 1 part in 2^17 (2^7 in float32).

    Returns
    -------
    float
        The grid.
    """
    sums = row_sums(weights)
    if not is_symmetric(weights):  # the true energy then needs sums along columns too
        sums = np.maximum(sums, row_sums(weights.T))
    grid = grid_for(sums * unit + row_sums(bias[:, None] if silence is None else silence), weights.dtype)
    alone = unit != 1.0 and unit >= FINE[weights.dtype] * grid > 0.0
    if unit != 1.0:
        weights *= weights.dtype.type(round(unit / grid) * grid if alone else unit)
    if not alone:
        round_to(weights, grid)
    round_to(bias if silence is None else silence, grid)
    if silence is not None:
        bias[:] = silence.sum(axis=1)
    return grid
