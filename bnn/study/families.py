"""Families of patterns: what memories are asked to hold. A new one is a class and a line in `FAMILIES`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bnn import datasets
from bnn.dynamics import Asynchronous, Dynamics, WinnerTakeAll
from bnn.errors import DataError, unknown_name
from bnn.records import Records
from bnn.schema import Schema
from bnn.study.checks import share, whole
from bnn.study.cues import Noise
from bnn.study.drawn import Dense, KActive, Modular
from bnn.study.family import Codes, Family, Prototypes


@dataclass(frozen=True, slots=True)
class Correlated(Family):
    """Classes of patterns, each distorted from the prototype of its class.

    Patterns come class by class, so that a load is so many whole classes and the beginning of one.

    Parameters
    ----------
    prototypes
        Family of the prototypes: `Dense`, `KActive` or `Modular`.
    per
        Patterns of a class.
    distortion
        Probability that a neuron is flipped, an active neuron moves, a group takes another value.
    """

    prototypes: Prototypes = field(default_factory=Dense)
    per: int = 5
    distortion: float = 0.1
    name: ClassVar[str] = "correlated"

    def __post_init__(self) -> None:
        if not isinstance(self.prototypes, Prototypes):
            raise DataError(
                f"Correlated.prototypes: got {self.prototypes!r}; give Dense(...), KActive(...) or Modular(...)."
            )
        object.__setattr__(self, "per", whole(self.per, 1, "Correlated.per"))
        object.__setattr__(self, "distortion", share(self.distortion, "Correlated.distortion"))

    @property
    def schema(self) -> Schema:
        """That of the prototypes."""
        return self.prototypes.schema

    @property
    def dynamics(self) -> Dynamics:
        """That of the prototypes."""
        return self.prototypes.dynamics

    @property
    def noise(self) -> Noise:
        """That of the prototypes."""
        return self.prototypes.noise

    @property
    def entropy(self) -> float | None:
        """At most the prototype's, shared by its class, and the distortion's; at most a pattern's of its own."""
        alone = self.prototypes.entropy
        assert alone is not None
        return min(alone, alone / self.per + self.prototypes.distortion_entropy(self.distortion))

    def draw(self, number: int, rng: np.random.Generator) -> Codes:
        """Prototypes, each distorted so many times."""
        ours, theirs = rng.spawn(2)
        prototypes = self.prototypes.draw(-(-number // self.per), ours)
        return self.prototypes.distort(np.repeat(prototypes, self.per, axis=0)[:number], self.distortion, theirs)

    def describe(self) -> dict[str, Any]:
        """Name and parameters as plain JSON types."""
        own = {"name": self.name, "per": self.per, "distortion": self.distortion}
        return own | {"prototypes": self.prototypes.describe()}


@dataclass(frozen=True, slots=True)
class Real(Family):
    """Rows of a data set in random order, each different row once: pictures as pixels, tables one neuron a value.

    Their information is not known, so that nothing is said in bits.

    Parameters
    ----------
    data
        Name of a data set, see ``bnn.datasets.names()``.
    """

    data: str = "mnist-100"
    name: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        datasets.path(self.data)

    @property
    def most(self) -> int:
        """Different rows of the data."""
        return self._records.rows

    @property
    def schema(self) -> Schema:
        """That of the data, the class of a table among it."""
        return self._records.schema

    @property
    def dynamics(self) -> Dynamics:
        """Single thresholds for patterns; for tables a winner in each attribute, all at once."""
        patterns = all(attribute.kind == "on_off" for attribute in self.schema.attributes)
        return Asynchronous() if patterns else WinnerTakeAll(parallel=True)

    @property
    def noise(self) -> Noise:
        """A tenth of the cells changed."""
        return Noise(flips=0.1)

    @property
    def entropy(self) -> None:
        """Not known."""

    def draw(self, number: int, rng: np.random.Generator) -> Codes:
        """The first rows of a random order."""
        return self._records.codes[rng.permutation(self.most)[:number]]

    def describe(self) -> dict[str, Any]:
        """Name, data set and a hash of its file."""
        content = hashlib.sha256(datasets.path(self.data).read_bytes()).hexdigest()
        return {"name": self.name, "data": self.data, "sha256": content}

    @property
    def _records(self) -> Records:
        file = datasets.path(self.data)
        return _different_rows(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _different_rows(file: Path, changed: int) -> Records:  # noqa: ARG001 - a changed file is read anew
    """Each different row of a data set once, the first of equals."""
    records = datasets.read(file)
    _, first = np.unique(records.codes, axis=0, return_index=True)
    return records[np.sort(first)]


FAMILIES: dict[str, type[Family]] = {kind.name: kind for kind in (Dense, KActive, Modular, Correlated, Real)}


def family_of(family: str | Family, owner: str) -> Family:
    """A family, or the one of that name with its usual parameters; an unknown name is an error naming the nearest."""
    if isinstance(family, Family):
        return family
    if not isinstance(family, str) or family not in FAMILIES:
        raise unknown_name(owner, family, FAMILIES)
    return FAMILIES[family]()
