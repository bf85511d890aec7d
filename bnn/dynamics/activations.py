"""Activations of graded neurons: the state of a neuron from its activation level, with inverse and integral."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from math import log
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

LN2 = log(2.0)
NEVER = 1e-20  # smaller chances are 0: they change no sum, and numbers below the normal range are slow


class Activation(ABC):
    """Increasing function from activation levels u, times the gain, to states V; everything in bits.

    Final classes are made for some neighbouring attributes. The free energy takes 1/gain times the sum of `integral`,
    the integral of the inverse, which is minus the entropy of the states.

    Attributes
    ----------
    name
        Key in `ACTIVATIONS`.
    low
        State that a neuron approaches when it is off.
    steepest
        Largest eigenvalue of dV/du at gain 1.
    """

    name: ClassVar[str]
    low: ClassVar[int] = 0
    steepest: ClassVar[float] = LN2 / 4

    def __init__(self, start: Int[np.ndarray, " edges"], single: Bool[np.ndarray, " attributes"]) -> None:
        self.start, self.single = start, single

    def part(self, first: int, last: int) -> Activation:
        """The same for the attributes from ``first`` to ``last - 1`` alone."""
        start = self.start[first : last + 1]
        return type(self)(start - start[0], self.single[first:last])

    @abstractmethod
    def states(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """V of activation levels u."""

    @abstractmethod
    def inverse(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """Gain times u of states strictly inside their range."""

    @abstractmethod
    def integral(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """Integral of the inverse, one term a neuron."""

    @abstractmethod
    def pull(
        self, states: Float[Tensor, "rows neurons"], vector: Float[Tensor, "rows neurons"]
    ) -> Float[Tensor, "rows neurons"]:
        """Derivative dV/du at gain 1, symmetric, times a vector."""

    def inside(self, chance: Float[Tensor, "rows neurons"], blur: float) -> Float[Tensor, "rows neurons"]:
        """States of neurons on with so much probability, kept ``blur`` away from certainty."""
        kept = chance.clamp(blur, 1.0 - blur)
        return kept if self.low == 0 else 2.0 * kept - 1.0


class Logistic(Activation):
    """V = 1 / (1 + 2^(-gain u)), each neuron for itself: states in [0, 1]."""

    name = "logistic"

    def states(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """1 / (1 + 2^(-gain u))."""
        return _never(torch.sigmoid(levels * (gain * LN2)))

    def inverse(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """log2 V / (1 - V)."""
        return torch.logit(states) / LN2

    def integral(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """V log2 V + (1 - V) log2 (1 - V)."""
        return _information(states) + _information(1.0 - states)

    def pull(
        self, states: Float[Tensor, "rows neurons"], vector: Float[Tensor, "rows neurons"]
    ) -> Float[Tensor, "rows neurons"]:
        """V (1 - V) ln 2."""
        return LN2 * states * (1.0 - states) * vector


class Tanh(Activation):
    """s = tanh(gain u ln2 / 2), each neuron for itself: states in [-1, 1], Hopfield's graded neurons (1984)."""

    name = "tanh"
    low = -1
    steepest = LN2 / 2

    def states(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """tanh(gain u ln2 / 2)."""
        return torch.tanh(levels * (gain * (LN2 / 2)))

    def inverse(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """log2 (1 + s) / (1 - s)."""
        return torch.atanh(states) * (2 / LN2)

    def integral(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """(1 + s) log2 (1 + s) + (1 - s) log2 (1 - s)."""
        return _information(1.0 + states) + _information(1.0 - states)

    def pull(
        self, states: Float[Tensor, "rows neurons"], vector: Float[Tensor, "rows neurons"]
    ) -> Float[Tensor, "rows neurons"]:
        """(1 - s^2) ln2 / 2."""
        return (LN2 / 2) * (1.0 - states * states) * vector


class Softmax(Activation):
    """V proportional to 2^(gain u) within each attribute: a probability for each of its values, graded winner-take-all.

    An attribute that owns a single neuron for its two values has the other value at u = 0: that is `Logistic`.
    """

    name = "softmax"
    steepest = LN2 / 2

    def __init__(self, start: Int[np.ndarray, " edges"], single: Bool[np.ndarray, " attributes"]) -> None:
        super().__init__(start, single)
        groups: dict[int, list[np.ndarray]] = {}
        for (first, last), alone in zip(pairwise(start.tolist()), single.tolist(), strict=True):
            groups.setdefault(0 if alone else last - first, []).append(np.arange(first, last))
        self.alone = torch.from_numpy(np.concatenate(groups.pop(0, [np.empty(0, np.int64)])))
        self.groups = [(torch.from_numpy(np.concatenate(members)), width) for width, members in groups.items() if width]

    def states(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """2^(gain u) over its sum within the attribute."""
        states, natural = torch.empty_like(levels), gain * LN2
        for neurons, width in self.groups:
            grouped = (levels[:, neurons] * natural).view(len(levels), -1, width)
            states[:, neurons] = torch.softmax(grouped, dim=2).flatten(1)
        if len(self.alone):
            states[:, self.alone] = torch.sigmoid(levels[:, self.alone] * natural)
        return _never(states)

    def inverse(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """log2 V; of a single neuron log2 V / (1 - V)."""
        levels = torch.log2(states)
        levels[:, self.alone] -= torch.log2(1.0 - states[:, self.alone])
        return levels

    def integral(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """V log2 V; of a single neuron also (1 - V) log2 (1 - V)."""
        terms = _information(states)
        if len(self.alone):
            terms[:, self.alone] += _information(1.0 - states[:, self.alone])
        return terms

    def pull(
        self, states: Float[Tensor, "rows neurons"], vector: Float[Tensor, "rows neurons"]
    ) -> Float[Tensor, "rows neurons"]:
        """V (x - sum of V x within the attribute) ln 2; of a single neuron V (1 - V) x ln 2."""
        along = LN2 * states * vector
        pulled = along - states * self._spread(along)
        if len(self.alone):
            pulled[:, self.alone] = (1.0 - states[:, self.alone]) * along[:, self.alone]
        return pulled

    def inside(self, chance: Float[Tensor, "rows neurons"], blur: float) -> Float[Tensor, "rows neurons"]:
        """Kept away from certainty, then made to sum to one within each attribute."""
        kept = chance.clamp(blur, 1.0 - blur)
        total = self._spread(kept)
        total[:, self.alone] = 1.0
        return kept / total

    def _spread(self, values: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """The sum over each attribute, at each of its neurons."""
        total = torch.empty_like(values)
        for neurons, width in self.groups:
            grouped = values[:, neurons].view(len(values), -1, width)
            total[:, neurons] = grouped.sum(dim=2, keepdim=True).expand_as(grouped).flatten(1)
        return total


def _never(states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
    """Without chances too small to matter."""
    return torch.nn.functional.threshold(states, NEVER, 0.0)


def _information(states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
    """V log2 V, 0 at 0."""
    return states * torch.log2(states.clamp_min(torch.finfo(states.dtype).tiny))


ACTIVATIONS: dict[str, type[Activation]] = {kind.name: kind for kind in (Logistic, Softmax, Tanh)}
