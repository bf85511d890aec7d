"""What all solvers of a flow share: its equations, the rows still at work, and what is recorded of a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from bnn.dynamics.activations import Activation
from bnn.dynamics.base import ENDED, RUNNING, SETTLED, STALLED
from bnn.dynamics.pairs import PairWork
from bnn.kernels import stages

Rows = Int64[np.ndarray, " some"] | slice


@dataclass(frozen=True, slots=True)
class Equations:
    """tau du/dt = -u + W V + b + input, V = g(gain u) [B eq 11, 12; Hopfield 1984], and when a row stops.

    Attributes
    ----------
    activation
        g.
    gains, anneal
        The gain rises geometrically from the first to the second until the time ``anneal``.
    tau
        Time constant.
    settle
        A row has settled when no state differs by more than this from g(gain h), its answer to the field.
    t_end
        Time at which a row stops in any case.
    """

    activation: Activation
    gains: tuple[float, float]
    anneal: float
    tau: float
    settle: float
    t_end: float

    def gain(self, time: Float64[np.ndarray, " rows"]) -> Float64[np.ndarray, " _"]:
        """The gain at each row's time; one for all where it does not change."""
        low, high = self.gains
        if self.anneal == 0.0:
            return np.array([high])
        gains: np.ndarray = low * (high / low) ** np.minimum(time / self.anneal, 1.0)
        return gains


def largest(values: Float[Tensor, "rows neurons"]) -> Float64[np.ndarray, " rows"]:
    """Largest size in each row."""
    sizes: np.ndarray = torch.maximum(values.amax(dim=1), -values.amin(dim=1)).double().cpu().numpy()
    return sizes


def rows_of(values: Any, rows: Rows) -> Any:
    """Some rows of a tensor or an array."""
    if isinstance(values, np.ndarray) or isinstance(rows, slice):
        return values[rows]
    return values[torch.from_numpy(rows).to(values.device)]


def one_or_rows(values: Tensor, rows: Rows) -> Tensor:
    """The only row, which stands for all, or some rows of many."""
    some: Tensor = values if len(values) == 1 else rows_of(values, rows)
    return some


class Solver(ABC):
    """The rows of one recall that are still at work, packed together, and how they advance in time.

    What is one number a row is numpy's, whose operations on few numbers are the quicker ones. Final classes name in
    `packed` whatever else they keep a row.
    """

    packed: ClassVar[tuple[str, ...]] = ("index", "states", "fields", "time", "bias", "free")

    def __init__(self, work: PairWork, equations: Equations, index: Int64[np.ndarray, " rows"]) -> None:
        self.work, self.equations, self.index = work, equations, index
        self.states: Tensor = rows_of(work.states, index)
        self.fields: Tensor = rows_of(work.fields, index)
        self.bias = one_or_rows(work.bias, index)
        self.free = None if bool(work.free.all()) else one_or_rows(work.free, index)
        self.time = np.zeros(len(index))
        self.steady: Tensor = self.fields.new_tensor([[equations.gains[1]]])
        work.energy[index], work.lyapunov[index], _ = self.weighed(self.states, self.fields, self.time)

    def join(self, other: Solver) -> None:
        """Take over the rows of another solver."""
        for name in self.packed:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not None and (mine is not theirs):
                both = np.concatenate if isinstance(mine, np.ndarray) else torch.cat
                setattr(self, name, both([mine, theirs]))

    def until_landmarks(self, step: Float64[np.ndarray, " rows"]) -> Float64[np.ndarray, " rows"]:
        """Steps that end no later than the change of the gain does, or the row's time."""
        anneal, left = self.equations.anneal, self.equations.t_end - self.time
        to_anneal = np.where(self.time < anneal, anneal - self.time, left)
        steps: np.ndarray = np.minimum(step, np.minimum(to_anneal, left))
        return steps

    def later(self, size: Float64[np.ndarray, " rows"]) -> Float64[np.ndarray, " rows"]:
        """The time after a step; one that should end with the change of the gain does, whatever rounding says."""
        time: np.ndarray = self.time + size
        if self.equations.anneal:
            time[np.abs(time - self.equations.anneal) <= 1e-12 * time] = self.equations.anneal
        return time

    @abstractmethod
    def sweep(self) -> None:
        """Advance every row by a step."""

    def gain(self, time: Float64[np.ndarray, " rows"]) -> Float[Tensor, "_ 1"]:
        """The gain at each row's time, as a column in the weights' dtype; one for all where it does not change."""
        if self.equations.anneal == 0.0:
            return self.steady
        column: Tensor = torch.from_numpy(self.equations.gain(time))[:, None].to(self.fields)
        return column

    @property
    def on_cpu(self) -> bool:
        """Whether passes over the states are compiled loops, and not torch's operations."""
        return self.states.device.type == "cpu"

    @property
    def asked(self) -> Bool[Tensor, "_ neurons"]:
        """Which neurons are free, [1 or rows, neurons]."""
        return self.work.free[:1] if self.free is None else self.free

    def only_free(self, values: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """Zero for clamped neurons."""
        return values if self.free is None else values * self.free

    def answer(
        self, levels: Float[Tensor, "some neurons"], time: Float64[np.ndarray, " some"], rows: Rows = slice(None)
    ) -> Float[Tensor, "some neurons"]:
        """States of the levels of some rows at some time, those clamped as they are."""
        states = self.equations.activation.states(levels, self.gain(time))
        if self.free is None:
            return states
        return torch.where(one_or_rows(self.free, rows), states, rows_of(self.states, rows))

    def weighed(
        self,
        states: Float[Tensor, "rows neurons"],
        fields: Float[Tensor, "rows neurons"],
        time: Float64[np.ndarray, " rows"],
    ) -> tuple[Float64[np.ndarray, " rows"], Float64[np.ndarray, " rows"], Int64[np.ndarray, " rows"]]:
        """E and the free energy of states, from nothing but them and their fields; how many neurons are flipped."""
        activation = self.equations.activation
        if self.on_cpu:
            energy, integral = np.empty((2, len(states)))
            flips = np.empty(len(states), dtype=np.int64)
            arrays = (tensor.numpy() for tensor in (states, self.states, fields, self.bias, self.asked))
            stages.weigh(*arrays, float(activation.low), activation.both, energy, integral, flips)
        else:
            middle = 0.5 * (1 + activation.low)
            twice = (states * (fields + self.bias)).sum(dim=1, dtype=torch.float64)
            terms = self.only_free(activation.integral(states)).sum(dim=1, dtype=torch.float64)
            flipped = ((states > middle) != (self.states > middle)).sum(dim=1)
            energy, integral, flips = 0.0 - 0.5 * twice.cpu().numpy(), terms.cpu().numpy(), flipped.cpu().numpy()
        return energy, energy + integral / self.equations.gain(time), flips

    def rounding(
        self,
        states: Float[Tensor, "some neurons"],
        fields: Float[Tensor, "some neurons"],
        time: Float64[np.ndarray, " some"],
        rows: Int64[np.ndarray, " some"],
    ) -> Float64[np.ndarray, " some"]:
        """What rounding may do to a difference of free energies: to sums of terms, and to each term of an integral."""
        sizes = states.abs() * (fields.abs() + one_or_rows(self.bias, rows).abs())
        terms = sizes.sum(dim=1, dtype=torch.float64).cpu().numpy()
        neurons = states.shape[1]
        sums = 4.0 * neurons**0.5 * terms + 8.0 * neurons / self.equations.gain(time)
        rounding: np.ndarray = sums * torch.finfo(states.dtype).eps
        return rounding

    def record(
        self,
        states: Float[Tensor, "rows neurons"],
        fields: Float[Tensor, "rows neurons"],
        time: Float64[np.ndarray, " rows"],
        error: Callable[[Int64[np.ndarray, " risen"]], Float64[np.ndarray, " risen"]] | None = None,
    ) -> None:
        """Take new states and keep what they change; ``error`` says of rows what their step's may do to F, in bits."""
        work, index = self.work, self.index
        energy, lyapunov, work.flips[index] = self.weighed(states, fields, time)
        suspended = (self.time < self.equations.anneal) & (time > self.time)
        rise = np.where(suspended, 0.0, lyapunov - work.lyapunov[index])
        work.rise[index] = np.maximum(work.rise[index], rise)
        if len(risen := np.flatnonzero(rise > 0.0)):
            allowed = self.rounding(rows_of(states, risen), rows_of(fields, risen), time[risen], risen)
            if error is not None and len(beyond := np.flatnonzero(rise[risen] > allowed)):
                allowed[beyond] += error(risen[beyond])
            at = index[risen]
            work.allowed[at] = np.maximum(work.allowed[at], allowed)
            work.excess[at] = np.maximum(work.excess[at], rise[risen] - allowed)
        work.energy[index], work.lyapunov[index] = energy, lyapunov
        assert work.time is not None
        assert work.suspended is not None
        work.time[index], work.suspended[index] = time, suspended
        everywhere = torch.from_numpy(index).to(states.device)
        work.states[everywhere], work.fields[everywhere] = states, fields
        self.states, self.fields, self.time = states, fields, time

    def finish(self, settled: Bool[np.ndarray, " rows"], stalled: Bool[np.ndarray, " rows"]) -> None:
        """Let go of the rows that have settled at their last gain, have stalled, or have no time left."""
        assert self.work.suspended is not None
        settled = settled & ~self.work.suspended[self.index]  # a step that was judged
        over = self.time >= self.equations.t_end
        ended = settled | stalled | over
        if not ended.any():
            return
        outcome = np.where(settled, SETTLED, np.where(over, ENDED, np.where(stalled, STALLED, RUNNING)))
        self.work.outcome[self.index] = outcome
        left = np.flatnonzero(~ended)
        for name in self.packed:
            values = getattr(self, name)
            if values is not None and len(values) == len(ended):  # one bias may be that of all rows
                setattr(self, name, rows_of(values, left))
