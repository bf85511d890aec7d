"""Activations of graded neurons: the state of a neuron from its activation level, with inverse and integral."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from itertools import pairwise
from math import log
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor

from bnn.kernels import stages

LN2 = log(2.0)


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

    def states(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """V of activation levels u: by one compiled pass on the CPU, by torch's operations elsewhere."""
        if levels.device.type != "cpu":
            return self.by_torch(levels, gain)
        states = torch.empty(levels.shape, dtype=levels.dtype)
        stages.answer(levels.contiguous().numpy(), gain.numpy(), *self.for_loops, states.numpy())
        return states

    @property
    def for_loops(self) -> tuple[float, Bool[np.ndarray, " neurons"], Int64[np.ndarray, "number 2"]]:
        """What a compiled loop has to know of it: the state of a neuron that is off, `both`, and `spans`."""
        return float(self.low), self.both, self.spans

    @abstractmethod
    def by_torch(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """`states` by the operations of torch."""

    @abstractmethod
    def inverse(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """Gain times u of states strictly inside their range."""

    @cached_property
    def both(self) -> Bool[np.ndarray, " neurons"]:
        """Neurons that speak for two values and answer for themselves: their state says how likely either is."""
        return np.ones(self.start[-1], dtype=np.bool_)

    @cached_property
    def spans(self) -> Int64[np.ndarray, "number 2"]:
        """First and last neuron plus one of those that answer together."""
        return np.empty((0, 2), dtype=np.int64)

    def integral(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """Integral of the inverse, one term a neuron: I(V - low), and I(1 - V) too of `both`, I(x) = x log2 x."""
        off = _information(1.0 - states).mul_(torch.from_numpy(self.both).to(states))
        return _information(states - self.low).add_(off)

    def slope(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """dV/du at gain 1 of each neuron by itself: V (1 - V) ln 2."""
        return LN2 * states * (1.0 - states)

    def inside(self, states: Float[Tensor, "rows neurons"], blur: float) -> Float[Tensor, "rows neurons"]:
        """States kept away from certainty by ``blur`` in probability."""
        apart = (1 - self.low) * blur
        return states.clamp(self.low + apart, 1.0 - apart)


class Logistic(Activation):
    """V = 1 / (1 + 2^(-gain u)), each neuron for itself: states in [0, 1]."""

    name = "logistic"

    def by_torch(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """1 / (1 + 2^(-gain u))."""
        return _without_traces(torch.sigmoid(levels * (gain * LN2)))

    def inverse(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """log2 V / (1 - V)."""
        return torch.logit(states).div_(LN2)


class Tanh(Activation):
    """s = tanh(gain u ln2 / 2), each neuron for itself: states in [-1, 1], Hopfield's graded neurons (1984)."""

    name = "tanh"
    low = -1
    steepest = LN2 / 2

    def by_torch(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """tanh(gain u ln2 / 2)."""
        return torch.tanh(levels * (gain * (LN2 / 2)))

    def inverse(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """log2 (1 + s) / (1 - s)."""
        return torch.atanh(states).mul_(2 / LN2)

    def slope(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """(1 - s^2) ln2 / 2."""
        return (LN2 / 2) * (1.0 - states * states)


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

    def by_torch(
        self, levels: Float[Tensor, "rows neurons"], gain: Float[Tensor, "_ 1"]
    ) -> Float[Tensor, "rows neurons"]:
        """2^(gain u) over its sum within the attribute."""
        states, natural = torch.empty_like(levels), gain * LN2
        for neurons, width in self.groups:
            grouped = levels[:, neurons].view(len(levels), -1, width)
            below = (grouped - grouped.amax(dim=2, keepdim=True)) * natural[:, :, None]  # a large gain cannot overflow
            states[:, neurons] = torch.softmax(below, dim=2).flatten(1)
        if len(self.alone):
            states[:, self.alone] = torch.sigmoid(levels[:, self.alone] * natural)
        return _without_traces(states)

    @cached_property
    def both(self) -> Bool[np.ndarray, " neurons"]:
        """Those that stand alone for their attribute."""
        return np.repeat(self.single, np.diff(self.start))

    @cached_property
    def spans(self) -> Int64[np.ndarray, "number 2"]:
        """The other attributes."""
        edges = np.stack([self.start[:-1], self.start[1:]], axis=1).astype(np.int64)
        return edges[~self.single & (edges[:, 0] < edges[:, 1])]

    def inverse(self, states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """log2 V; of a single neuron log2 V / (1 - V)."""
        levels = torch.log2(states)
        levels[:, self.alone] -= torch.log2(1.0 - states[:, self.alone])
        return levels

    def inside(self, states: Float[Tensor, "rows neurons"], blur: float) -> Float[Tensor, "rows neurons"]:
        """A distribution within each attribute, drawn towards equal chances until a certain value has 1 - blur."""
        kept = super().inside(states, blur)
        for neurons, width in self.groups:
            grouped = states[:, neurons].view(len(states), -1, width)
            least = blur / max(1, width - 1)
            share = grouped / grouped.sum(dim=2, keepdim=True).clamp_min(stages.NEVER)
            kept[:, neurons] = (share * (1.0 - width * least) + least).flatten(1) if width > 1 else 1.0
        return kept


def _without_traces(states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
    """States, where chances too small to matter become 0, in place."""
    return torch.nn.functional.threshold(states, stages.NEVER, 0.0, inplace=True)


def _information(states: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
    """V log2 V, 0 at 0."""
    return states.clamp_min(torch.finfo(states.dtype).tiny).log2_().mul_(states)


ACTIVATIONS: dict[str, type[Activation]] = {kind.name: kind for kind in (Logistic, Softmax, Tanh)}
