"""Patterns whose parts are drawn by themselves: dense, k active, one active unit a group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bnn.dynamics import Asynchronous, Dynamics, KWinners, WinnerTakeAll
from bnn.errors import DataError
from bnn.patterns import pattern_schema
from bnn.schema import Attribute, Schema
from bnn.study.checks import share, whole
from bnn.study.cues import Noise
from bnn.study.family import Codes, Prototypes, binary_entropy


@dataclass(frozen=True, slots=True)
class Dense(Prototypes):
    """Each neuron is on by a coin of its own; at activity 1/2 the +-1 patterns of Hopfield's theory.

    Parameters
    ----------
    neurons
        How many.
    activity
        Probability of being on, above 0 and below 1.
    """

    neurons: int = 400
    activity: float = 0.5
    name: ClassVar[str] = "dense"

    def __post_init__(self) -> None:
        object.__setattr__(self, "neurons", whole(self.neurons, 1, "Dense.neurons"))
        object.__setattr__(self, "activity", share(self.activity, "Dense.activity"))

    @property
    def schema(self) -> Schema:
        """One on_off attribute a neuron."""
        return pattern_schema((self.neurons,))

    @property
    def dynamics(self) -> Dynamics:
        """Single thresholds, one after another."""
        return Asynchronous()

    @property
    def noise(self) -> Noise:
        """A tenth of the neurons flipped; of sparser patterns, or denser ones, as much less as they are."""
        return Noise(flips=0.2 * min(self.activity, 1.0 - self.activity))

    @property
    def entropy(self) -> float:
        """So many coins."""
        return self.neurons * binary_entropy(self.activity)

    def draw(self, number: int, rng: np.random.Generator) -> Codes:
        """A coin a neuron."""
        return (rng.random((number, self.neurons)) < self.activity).astype(np.int8)

    def distort(self, codes: Codes, by: float, rng: np.random.Generator) -> Codes:
        """Each neuron is flipped with probability ``by``."""
        return codes ^ (rng.random(codes.shape) < by)

    def distortion_entropy(self, by: float) -> float:
        """Which neurons are flipped."""
        return self.neurons * binary_entropy(by)


@dataclass(frozen=True, slots=True)
class KActive(Prototypes):
    """So many neurons are on, anywhere: all such patterns are equally likely.

    Parameters
    ----------
    neurons
        How many.
    active
        How many of them are on.
    """

    neurons: int = 400
    active: int = 20
    name: ClassVar[str] = "k-active"

    def __post_init__(self) -> None:
        object.__setattr__(self, "neurons", whole(self.neurons, 2, "KActive.neurons"))
        object.__setattr__(self, "active", whole(self.active, 1, "KActive.active"))
        if 2 * self.active > self.neurons:
            raise DataError(f"KActive.active: got {self.active} of {self.neurons} neurons; give at most half of them.")

    @property
    def schema(self) -> Schema:
        """One on_off attribute a neuron."""
        return pattern_schema((self.neurons,))

    @property
    def dynamics(self) -> Dynamics:
        """As many winners, all at once."""
        return KWinners(self.active, parallel=True)

    @property
    def noise(self) -> Noise:
        """One active neuron moved."""
        return Noise(moves=1)

    @property
    def entropy(self) -> float:
        """One choice of neurons among all."""
        return math.log2(math.comb(self.neurons, self.active))

    def draw(self, number: int, rng: np.random.Generator) -> Codes:
        """The neurons of the smallest random numbers."""
        keys = rng.random((number, self.neurons))
        chosen = np.argpartition(keys, self.active - 1, axis=1)[:, : self.active]
        codes = np.zeros((number, self.neurons), np.int8)
        np.put_along_axis(codes, chosen, np.int8(1), axis=1)
        return codes

    def distort(self, codes: Codes, by: float, rng: np.random.Generator) -> Codes:
        """Each active neuron moves to an inactive place with probability ``by``."""
        chances = rng.random((len(codes), 2, self.neurons))
        leaving = (codes == 1) & (chances[:, 0] < by)
        places = np.where(codes == 0, chances[:, 1], 2.0).argsort(axis=1).argsort(axis=1)
        arriving = places < leaving.sum(axis=1, keepdims=True)
        moved: Codes = (codes - leaving + arriving).astype(np.int8)
        return moved

    def distortion_entropy(self, by: float) -> float:
        """Each active neuron's coin, and where those that leave arrive."""
        bits = self.active * binary_entropy(by)
        for moved in range(self.active + 1):
            chance = math.comb(self.active, moved) * by**moved * (1.0 - by) ** (self.active - moved)
            bits += chance * math.log2(math.comb(self.neurons - self.active, moved))
        return bits


@dataclass(frozen=True, slots=True)
class Modular(Prototypes):
    """Groups of neurons, one of each on: attributes of so many values, all equally likely.

    The patterns of the BCPNN literature, where a group is a hypercolumn and a neuron a minicolumn.

    Parameters
    ----------
    groups
        How many.
    size
        Neurons of each.
    """

    groups: int = 20
    size: int = 20
    name: ClassVar[str] = "modular"

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", whole(self.groups, 1, "Modular.groups"))
        object.__setattr__(self, "size", whole(self.size, 2, "Modular.size"))

    @property
    def schema(self) -> Schema:
        """One attribute a group."""
        values = tuple(range(self.size))
        return Schema(tuple(Attribute(f"g{i}", values) for i in range(self.groups)))

    @property
    def dynamics(self) -> Dynamics:
        """A winner in each group, all groups at once, as the literature has it."""
        return WinnerTakeAll(parallel=True)

    @property
    def noise(self) -> Noise:
        """One active neuron moved within its group."""
        return Noise(moves=1)

    @property
    def entropy(self) -> float:
        """One choice a group."""
        return self.groups * math.log2(self.size)

    def draw(self, number: int, rng: np.random.Generator) -> Codes:
        """A value a group."""
        return rng.integers(0, self.size, (number, self.groups))

    def distort(self, codes: Codes, by: float, rng: np.random.Generator) -> Codes:
        """Each group takes another value with probability ``by``."""
        chances = rng.random((*codes.shape, 2))
        step = 1 + (chances[..., 1] * (self.size - 1)).astype(np.int64)
        return np.where(chances[..., 0] < by, (codes + step) % self.size, codes)

    def distortion_entropy(self, by: float) -> float:
        """Which groups change, and to what."""
        return self.groups * (binary_entropy(by) + by * math.log2(self.size - 1))
