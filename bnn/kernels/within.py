"""Counting value x class among the rows that have something in common: a value, or several values joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, Int32, Int64, Integer, UInt64

from bnn.kernels import threads
from bnn.kernels.bits import STEP, TILE, count_common
from bnn.kernels.compiling import compiled

MEMORY = 1 << 22  # numbers of a result, and words of bits, held at a time


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Rows laid out for `count_within`.

    Attributes
    ----------
    codes
        Below 0 is missing.
    first
        Neuron of each attribute's first value; one neuron a value.
    classes
        Code of each row's class.
    weights
        Multiplicity of each row; None: once each.
    bits
        For each class, its rows that have neuron n: the bits ``[n // 64, :, n % 64]``. Without weights only.
    number
        How many classes there are.
    """

    codes: Integer[np.ndarray, "rows attributes"]
    first: Int64[np.ndarray, " attributes_and_one"]
    classes: Int32[np.ndarray, " rows"]
    weights: Int64[np.ndarray, " rows"] | None
    bits: tuple[UInt64[np.ndarray, "tiles _ 64"], ...]
    number: int

    @staticmethod
    def of(
        codes: Integer[np.ndarray, "rows attributes"],
        sizes: Int[np.ndarray, " attributes"],
        classes: Int32[np.ndarray, " rows"],
        number: int,
        weights: Int64[np.ndarray, " rows"] | None = None,
    ) -> Listing:
        """Lay out a table of codes (below 0: missing), the code of each row's class, and weights."""
        first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        bits = []
        if weights is None:
            order = np.argsort(classes, kind="stable")
            ends = np.cumsum(np.bincount(classes, minlength=number))
            bits = [_packed(codes, first, rows) for rows in np.split(order, ends[:-1])]
        return Listing(codes, first, classes, weights, tuple(bits), number)

    @property
    def neurons(self) -> int:
        """How many neurons there are."""
        return int(self.first[-1])

    def chunks(self, items: int) -> list[slice]:
        """Divide so many items into runs whose results and bits fit the memory that may be used."""
        words = sum(b.shape[1] for b in self.bits)
        length = max(MEMORY // max(self.neurons * self.number, words, 1) // TILE * TILE, TILE)
        return [slice(begin, min(begin + length, items)) for begin in range(0, items, length)]


def _packed(
    codes: Integer[np.ndarray, "rows attributes"], first: Int64[np.ndarray, " _"], rows: Int[np.ndarray, " some"]
) -> UInt64[np.ndarray, "tiles words 64"]:
    """Bits of some rows."""
    bits = np.zeros((-(-int(first[-1]) // TILE), STEP * -(-len(rows) // (64 * STEP)), TILE), dtype=np.uint64)
    threads.run(lambda low, high: _pack(codes, first, rows, low, high, bits), -(-len(rows) // 64), grain=64)
    return bits


def count_within(
    listing: Listing, items: Int64[np.ndarray, "items order"], wanted: Bool[np.ndarray, "item_tiles tiles"]
) -> Int64[np.ndarray, "classes items neurons"]:
    """Count, among the rows that have all neurons of an item, every neuron by class: N(item, w, C).

    Parameters
    ----------
    listing
        The rows.
    items
        Neurons of each item.
    wanted
        Which tiles of 64 items by 64 neurons are wanted; elsewhere nothing need be counted.

    Examples
    --------
    >>> codes, classes = np.array([[0, 1], [1, 1], [1, -1]], dtype=np.int8), np.array([0, 0, 1], np.int32)
    >>> listing = Listing.of(codes, np.array([2, 2]), classes, 2)
    >>> count_within(listing, np.array([[1]]), np.ones((1, 1), bool)).tolist()
    [[[0, 1, 0, 1]], [[0, 1, 0, 0]]]
    """
    counts = np.zeros((listing.number, len(items), listing.neurons), np.int64)
    if listing.weights is not None:
        arrays = (listing.codes, listing.first, listing.classes, listing.weights)
        threads.run(lambda low, high: _add(*arrays, items[low:high], counts[:, low:high]), len(items))
        return counts
    tasks = np.argwhere(wanted)
    for some, bits in zip(counts, listing.bits, strict=True):
        all_of = np.zeros((len(wanted), bits.shape[1], TILE), np.uint64)
        threads.run(lambda low, high, b=bits, out=all_of: _all(b, items, low, high, out), len(wanted))  # type: ignore[misc]
        count_common(tasks, all_of, bits, some)
    return counts


@compiled
def _pack(codes, first, rows, low, high, bits):  # type: ignore[no-untyped-def]
    """Fill the words ``low`` to ``high - 1``."""
    for word in range(low, high):
        for r in range(min(64, len(rows) - 64 * word)):
            row, bit = rows[64 * word + r], np.uint64(1) << np.uint64(r)
            for a in range(codes.shape[1]):
                if codes[row, a] >= 0:
                    neuron = np.uint64(first[a] + codes[row, a])
                    bits[neuron // np.uint64(TILE), word, neuron % np.uint64(TILE)] |= bit


@compiled
def _all(bits, items, low, high, out):  # type: ignore[no-untyped-def]
    """Bits of the rows that have all neurons of an item, the tiles ``low`` to ``high - 1`` of items."""
    for tile in range(low, high):
        number = min(TILE, len(items) - tile * TILE)
        for word in range(bits.shape[1]):
            for i in range(number):
                neuron = items[tile * TILE + i, 0]
                common = bits[neuron // TILE, word, neuron % TILE]
                for m in range(1, items.shape[1]):
                    neuron = items[tile * TILE + i, m]
                    common &= bits[neuron // TILE, word, neuron % TILE]
                out[tile, word, i] = common


@compiled
def _add(codes, first, classes, weights, items, counts):  # type: ignore[no-untyped-def]
    """Count weighted rows one by one."""
    for i in range(len(items)):
        members = np.searchsorted(first, items[i], side="right") - 1
        values = items[i] - first[members]
        for r in range(len(codes)):
            has = True
            for m in range(len(members)):
                has = has and codes[r, members[m]] == values[m]
            if has:
                for a in range(codes.shape[1]):
                    if codes[r, a] >= 0:
                        counts[classes[r], i, first[a] + codes[r, a]] += weights[r]
