"""The patterns of the recall room, the counts they add up to, and the networks learned from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float, UInt8

from bnn.associative import AssociativeMemory
from bnn.counts import Counts
from bnn.errors import DataError
from bnn.learning import learn
from bnn.network import Network
from bnn.records import Records
from bnn.rules import RULES

KEPT = 32
"""Networks kept for the next question; of 784 neurons each takes up to 15 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Patterns with their names, and their counts; learning and forgetting one give another memory.

    Parameters
    ----------
    patterns
        [patterns, neurons], True where on.
    names
        Of the patterns, for people.
    numbers
        Of the patterns, which they keep when others are forgotten.
    shape
        Rows and columns of cells they are shown in; the last row may be shorter.
    counts
        What was counted; None: the patterns are counted.

    Examples
    --------
    >>> memory = Memory.of(np.array([[True, True, False], [False, True, True]]), ("a", "b"))
    >>> memory.learn(np.array([True, False, True]), "c").forget(0).names
    ('b', 'c')
    """

    patterns: Bool[np.ndarray, "patterns neurons"]
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    shape: tuple[int, int]
    counts: Counts = field(repr=False)

    @staticmethod
    def of(
        patterns: Bool[np.ndarray, "patterns neurons"], names: tuple[str, ...], shape: tuple[int, int] | None = None
    ) -> Memory:
        """Count patterns; without a shape they are shown in about a square."""
        neurons = patterns.shape[1]
        columns = math.isqrt(neurons - 1) + 1
        shape = shape or (-(-neurons // columns), columns)
        return Memory(patterns, names, tuple(range(len(names))), shape, Counts.of(records_of(patterns, shape)))

    @property
    def neurons(self) -> int:
        """Number of neurons."""
        return int(self.patterns.shape[1])

    @property
    def records(self) -> Records:
        """The patterns as records, for rules that counts do not tell enough."""
        return records_of(self.patterns, self.shape)

    def learn(self, pattern: Bool[np.ndarray, " neurons"], name: str) -> Memory:
        """One pattern more: its counts are added."""
        added = Counts.of(records_of(pattern[None], self.shape))
        patterns = np.concatenate([self.patterns, pattern[None]])
        number = max(self.numbers) + 1
        return Memory(patterns, (*self.names, name), (*self.numbers, number), self.shape, self.counts + added)

    def forget(self, number: int) -> Memory:
        """One pattern less: its counts are subtracted.

        Raises
        ------
        DataError
            There is no such pattern, or it is the last one.
        """
        place = self.place(number)
        if len(self.names) == 1:
            raise DataError(
                "forgotten: this is the last pattern, and a memory of nothing recalls nothing; learn another first."
            )
        kept = [i for i in range(len(self.names)) if i != place]
        gone = Counts.of(records_of(self.patterns[[place]], self.shape))
        names, numbers = tuple(self.names[i] for i in kept), tuple(self.numbers[i] for i in kept)
        return Memory(self.patterns[kept], names, numbers, self.shape, self.counts - gone)

    def place(self, number: int) -> int:
        """Where the pattern of that number stands."""
        if number not in self.numbers:
            raise DataError(f"pattern: there is no number {number}; stored are {', '.join(map(str, self.numbers))}.")
        return self.numbers.index(number)

    def nearest(self, on: Float[np.ndarray, " neurons"]) -> tuple[int, float]:
        """Place of the stored pattern with the largest overlap, and that overlap: 1 exact, -1 the inverse."""
        agreement = 1.0 - 2.0 * (self.patterns != (on > 0.5)).mean(axis=1)
        place = int(agreement.argmax())
        return place, float(agreement[place])


def records_of(patterns: Bool[np.ndarray, "patterns neurons"], shape: tuple[int, int]) -> Records:
    """Patterns as records, as pictures where they fill their shape."""
    full = math.prod(shape) == patterns.shape[1]
    return Records.from_patterns(patterns.reshape(-1, *shape) if full else patterns)


@lru_cache(KEPT)
def network_of(memory: Memory, rule: str, cut: float, seed: int) -> AssociativeMemory:
    """The network that a rule learns from a memory, with a share of its connections cut."""
    counted = RULES[rule].source == "counts"
    network: AssociativeMemory = learn(memory.counts if counted else memory.records, rule)
    if cut == 0.0:
        return network
    if not isinstance(network, Network):
        raise DataError(f"cut: the rule {rule} keeps patterns and has no connections to cut; choose another rule.")
    return network.cut(cut, seed)


def to_digits(cells: Bool[np.ndarray, " neurons"]) -> str:
    """Cells as packed bits in hexadecimal digits.

    Examples
    --------
    >>> to_digits(np.array([True, False, True]))
    'a0'
    >>> from_digits("a0", 3, "edits").tolist()
    [True, False, True]
    """
    return np.packbits(cells).tobytes().hex()


def from_digits(digits: str, neurons: int, owner: str) -> Bool[np.ndarray, " neurons"]:
    """The inverse of `to_digits`; no digits are no cells on.

    Raises
    ------
    DataError
        Digits that do not hold so many neurons.
    """
    if not digits:
        return np.zeros(neurons, np.bool_)
    try:
        packed: UInt8[np.ndarray, " bytes"] = np.frombuffer(bytes.fromhex(digits), np.uint8)
    except ValueError:
        packed = np.zeros(0, np.uint8)
    if len(packed) != -(-neurons // 8):
        raise DataError(f"{owner}: got {digits[:20]!r}; give {2 * -(-neurons // 8)} hexadecimal digits.")
    return np.unpackbits(packed)[:neurons].astype(np.bool_)
