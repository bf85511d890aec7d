"""What is added to every field: a number, the prior, or a threshold that lies where the fields of the patterns say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from bnn import coding
from bnn.associative import AssociativeMemory
from bnn.driver import LARGEST_INPUT, external_input
from bnn.errors import DataError
from bnn.records import Records

Real = float | int
Fields = Float64[np.ndarray, " _"]
LEAST_SPREAD = 0.01  # of fields, as a share of their distance: with few patterns they may not spread at all


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold, the same for every neuron, between what neurons off and neurons on hear in the stored patterns.

    It lies ``ratio`` times as many standard deviations above the mean field of neurons that are off as below that of
    neurons that are on: a scale of the network's own, so that one number means the same for every rule and load.

    Parameters
    ----------
    ratio
        Above 0; at 1 both kinds of neurons are as safe, at more those that are off are safer.
    prior
        Whether the network's prior is added as well, before the fields are measured.
    """

    ratio: Real = 1.0
    prior: bool = False

    def __post_init__(self) -> None:
        if not _is_number(self.ratio) or not self.ratio > 0.0:
            raise DataError(f"Threshold.ratio: got {self.ratio!r}; give a number above 0, 1 for one halfway.")
        _check_prior(self, "Threshold")
        object.__setattr__(self, "ratio", float(self.ratio))

    def shift(self, off: Fields, on: Fields) -> float:
        """What is added to every field, from those of neurons that are off and on."""
        distance = float(on.mean() - off.mean())
        least = LEAST_SPREAD * abs(distance)
        above, below = self.ratio * (float(off.std()) + least), float(on.std()) + least
        share = above / (above + below) if above > 0.0 else 0.0
        return -float(off.mean()) - share * distance


@dataclass(frozen=True, slots=True)
class Shift:
    """The rule's own threshold moved by a share of the distance between what neurons off and neurons on hear.

    Parameters
    ----------
    by
        Added to every field, as a share of the mean field of neurons that are on, less that of those that are off, in
        the stored patterns; above 0 more neurons come on.
    prior
        Whether the network's prior is added as well.
    """

    by: Real
    prior: bool = False

    def __post_init__(self) -> None:
        if not _is_number(self.by):
            raise DataError(f"Shift.by: got {self.by!r}; give a share of the distance, such as 0.1 or -0.1.")
        _check_prior(self, "Shift")
        object.__setattr__(self, "by", float(self.by))

    def shift(self, off: Fields, on: Fields) -> float:
        """What is added to every field, from those of neurons that are off and on."""
        return self.by * float(on.mean() - off.mean())


Input = Real | str | Threshold | Shift


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))


def _check_prior(value: Threshold | Shift, owner: str) -> None:
    if not isinstance(value.prior, bool | np.bool_):
        raise DataError(f"{owner}.prior: got {value.prior!r}; give True or False.")


def checked_input(value: Any, owner: str) -> Input:
    """A number of the field's unit, ``"prior"``, or what is to be found from the network's fields."""
    if isinstance(value, Threshold | Shift) or (isinstance(value, str) and value == "prior"):
        return value
    if not _is_number(value) or abs(value) > LARGEST_INPUT:
        raise DataError(f'{owner}: got {value!r}; give a number, "prior", or a bnn.study.Threshold or Shift.')
    return float(value)


def wants_prior(value: Input) -> bool:
    """Whether the network's prior is added."""
    return value.prior if isinstance(value, Threshold | Shift) else value == "prior"


def described_input(value: Input) -> Any:
    """The input as plain JSON types."""
    if not isinstance(value, Threshold | Shift):
        return value
    return {
        type(value).__name__.lower(): value.ratio if isinstance(value, Threshold) else value.by,
        "prior": value.prior,
    }


def input_for(network: AssociativeMemory, value: Input, patterns: Records) -> Any:
    """What `bnn.recall` takes as ``input``."""
    if not isinstance(value, Threshold | Shift):
        return value
    added = external_input(network, "prior" if value.prior else 0.0, 1).cpu().numpy().astype(np.float64)
    on = coding.read_states(network.layout, patterns, "Threshold.patterns").on == 1
    if on.all() or not on.any():
        return added
    fields = network.field(patterns).cpu().numpy().astype(np.float64) + added
    return added + value.shift(fields[~on], fields[on])
