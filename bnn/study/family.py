"""What a family of patterns is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int

from bnn.dynamics import Dynamics
from bnn.schema import Schema
from bnn.study.checks import parameters_of
from bnn.study.cues import Noise

Codes = Int[np.ndarray, "rows attributes"]


class Family(ABC):
    """A kind of random patterns. Final classes are frozen dataclasses of their parameters.

    Attributes
    ----------
    name
        Key in `FAMILIES`.
    most
        How many patterns there are at most; None: as many as one asks for.
    """

    name: ClassVar[str]

    @property
    def most(self) -> int | None:
        """How many patterns there are at most."""
        return None

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The attributes: of the on_off kind where a pattern is neurons that are on or off."""

    @property
    @abstractmethod
    def dynamics(self) -> Dynamics:
        """What recalls such patterns where nothing else is asked for."""

    @property
    @abstractmethod
    def noise(self) -> Noise:
        """What the cues of such patterns suffer where nothing else is asked for."""

    @property
    @abstractmethod
    def entropy(self) -> float | None:
        """Information of a pattern, in bits; None where it is not known."""

    @abstractmethod
    def draw(self, number: int, rng: np.random.Generator) -> Codes:
        """Codes of so many patterns; more of them from an equal generator begin with the same ones."""

    def describe(self) -> dict[str, Any]:
        """Name and parameters as plain JSON types."""
        return parameters_of(self)


class Prototypes(Family):
    """A family whose patterns can be distorted into others of the family."""

    @abstractmethod
    def distort(self, codes: Codes, by: float, rng: np.random.Generator) -> Codes:
        """Patterns of which each part is changed with probability ``by``, nested as `draw` is."""

    @abstractmethod
    def distortion_entropy(self, by: float) -> float:
        """Information of a distorted pattern when its prototype is known, in bits."""


def binary_entropy(p: float) -> float:
    """Entropy of a coin, in bits.

    Examples
    --------
    >>> binary_entropy(0.5), binary_entropy(1.0)
    (1.0, 0.0)
    """
    return sum(-q * math.log2(q) for q in (p, 1.0 - p) if q > 0.0)
