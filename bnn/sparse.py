"""Symmetric weights of which most are one constant: the constant, and what differs from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Float64, Int32, Int64

from bnn.errors import DataError
from bnn.kernels import sparse as loops
from bnn.kernels import threads
from bnn.rounding import BITS, grid_for, round_to

GRAIN = 1024  # rows of a product that a thread takes at least


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseWeights:
    """Symmetric weights W(j,i): ``background``, but for the entries that each row keeps, its own among them.

    Parameters
    ----------
    start
        int64 [neurons + 1]: row j keeps the entries ``start[j]`` to ``start[j + 1] - 1``.
    index
        int32 [kept]: the neurons they come from, ascending in a row.
    values
        float32 or float64 [kept]: the weights themselves.
    background
        Weight of all other pairs.

    Raises
    ------
    DataError
        Arrays that do not fit each other, rows out of order, numbers that are not finite, weights that are not
        symmetric or lack a self-connection.

    Examples
    --------
    >>> weights = SparseWeights(np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 2], np.int32), np.arange(2.0).repeat(
    ...     [1, 4])[[0, 1, 1, 0, 0]], -3.0)
    >>> weights.table()
    array([[ 0.,  1., -3.],
           [ 1.,  0., -3.],
           [-3., -3.,  0.]])
    """

    start: Int64[np.ndarray, " neurons_and_one"]
    index: Int32[np.ndarray, " kept"]
    values: Float[np.ndarray, " kept"]
    background: float

    def __post_init__(self) -> None:
        types = (self.start.dtype == np.int64, self.index.dtype == np.int32, self.values.dtype in BITS)
        ends = len(self.start) > 1 and self.start[0] == 0 and self.start[-1] == len(self.index) == len(self.values)
        if not (all(types) and ends and (np.diff(self.start) >= 0).all() and math.isfinite(self.background)):
            raise DataError(
                "Network.weights: their sparse parts do not fit each other; needed are int64 starts of rows, int32 "
                "neurons and float weights of one length, and a finite background."
            )
        if (row := loops.flaw(self.start, self.index, self.values)) >= 0:
            raise DataError(
                f"Network.weights: row {row} of the sparse weights is out of order, not finite, without its own entry "
                "or unlike its column; sparse weights are symmetric."
            )

    @property
    def neurons(self) -> int:
        """Number of neurons."""
        return len(self.start) - 1

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """What the compiled loops take: start, index, values, background."""
        return self.start, self.index, self.values, self.background

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.start.nbytes + self.index.nbytes + self.values.nbytes

    def diagonal(self) -> Float[np.ndarray, " neurons"]:
        """Self-connections."""
        every = np.arange(self.neurons)
        return self.between(every, every).astype(self.values.dtype)

    def between(
        self, to: Int64[np.ndarray, " pairs"], given: Int64[np.ndarray, " pairs"]
    ) -> Float64[np.ndarray, " pairs"]:
        """W(j,i) of pairs of neurons."""
        found = np.empty(len(to), dtype=np.int64)
        loops.places(self.start, self.index, to, given, found)
        return np.where(found < 0, self.background, self.values[found].astype(np.float64))

    def largest(self) -> float:
        """Largest size of a weight."""
        return max(abs(self.background), float(self.values.max()), -float(self.values.min()))

    def min(self) -> float:
        """The smallest weight."""
        return min(self.background, float(self.values.min()))

    def row_sums(self) -> Float64[np.ndarray, " neurons"]:
        """Sum of |W(j,i)| over i, of every j."""
        total = np.empty(self.neurons)
        loops.row_sums(self.start, self.values, self.background, total)
        return total

    def send(self, states: np.ndarray, fields: Float64[np.ndarray, "batch neurons"]) -> None:
        """Add W V to the fields of each row of states, in place."""
        threads.run(lambda begin, end: loops.send(*self.parts, states, fields, np.arange(begin, end)), len(states))

    def times(self, vector: Float64[np.ndarray, " neurons"]) -> Float64[np.ndarray, " neurons"]:
        """W times a vector, row by row."""
        image = np.empty(self.neurons)
        threads.run(lambda begin, end: loops.gather(*self.parts, vector, image, begin, end), self.neurons, GRAIN)
        return image

    def table(self) -> Float[np.ndarray, "neurons neurons"]:
        """All weights, written out."""
        full = np.full((self.neurons, self.neurons), self.background, self.values.dtype)
        for row, begin, end in zip(full, self.start[:-1], self.start[1:], strict=True):
            row[self.index[begin:end]] = self.values[begin:end]
        return full

    def rounded(self, bias: Float[np.ndarray, " neurons"]) -> tuple[SparseWeights, float]:
        """The same weights rounded once, values and bias in place, to the grid that is returned with them.

        Fields and energies, kept in float64, are exact on it. It is the grid of the same weights written out in float64
        (`bnn.rounding`), unless sums that take the background apart need more room, or float32 is too coarse for it.
        """
        sums = self.row_sums() + np.abs(bias.astype(np.float64))
        grid = grid_for(sums, np.dtype(np.float64))
        apart = 2.0 * (float(sums.max()) + abs(self.background) * (self.neurons + 2))
        for size, bits in ((apart, 53), (self.largest(), BITS[self.values.dtype] + 1)):
            grid = max(grid, 2.0 ** (math.ceil(math.log2(size)) - bits) if size > 0.0 else 0.0)
        round_to(self.values, grid)
        round_to(bias, grid)
        background = round(self.background / grid) * grid if grid else self.background
        return replace(self, background=background), grid
