"""What all solvers of a flow share: its equations, the rows still at work, and what is recorded of a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from bnn.dynamics.activations import Activation
from bnn.dynamics.base import ENDED, RUNNING, SETTLED, STALLED
from bnn.dynamics.pairs import PairWork


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

    def gain(self, time: Float64[Tensor, " rows"]) -> Float64[Tensor, " _"]:
        """The gain at each row's time; one for all where it does not change."""
        low, high = self.gains
        if self.anneal == 0.0:
            return time.new_tensor([high])
        return low * (high / low) ** (time / self.anneal).clamp(max=1.0)


def largest(values: Float[Tensor, "rows neurons"]) -> Float[Tensor, " rows"]:
    """Largest size in each row."""
    return values.abs().amax(dim=1)


class Solver(ABC):
    """The rows of one recall that are still at work, packed together, and how they advance in time.

    Final classes name in `packed` whatever else they keep a row.
    """

    packed: ClassVar[tuple[str, ...]] = ("index", "states", "fields", "time", "bias", "free")
    rows_at_once: ClassVar[int]  # few enough for their memory to stay near the processor

    def __init__(self, work: PairWork, equations: Equations, index: Int64[Tensor, " rows"]) -> None:
        self.work, self.equations, self.index = work, equations, index
        self.states, self.fields = work.states[index], work.fields[index]
        self.bias = work.bias if len(work.bias) == 1 else work.bias[index]
        self.free = None if bool(work.free.all()) else work.free if len(work.free) == 1 else work.free[index]
        self.time = torch.zeros(len(index), dtype=torch.float64, device=index.device)
        self.steady = self.fields.new_tensor([[equations.gains[1]]])
        rows = index.cpu().numpy()
        energies = self.energies(self.states, self.fields, self.time)
        work.energy[rows], work.lyapunov[rows] = (e.cpu().numpy() for e in energies)

    def join(self, other: Solver) -> None:
        """Take over the rows of another solver."""
        for name in self.packed:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not None and (mine is not theirs):
                setattr(self, name, torch.cat([mine, theirs]))

    def until_landmarks(self, step: Float64[Tensor, " rows"]) -> Float64[Tensor, " rows"]:
        """Steps that end no later than the change of the gain does, or the row's time."""
        anneal, t_end = self.equations.anneal, self.equations.t_end
        left = torch.where(self.time < anneal, anneal - self.time, t_end - self.time)
        return torch.minimum(step, left.minimum(t_end - self.time))

    def later(self, size: Float64[Tensor, " rows"]) -> Float64[Tensor, " rows"]:
        """The time after a step; one that should end with the change of the gain does, whatever rounding says."""
        time = self.time + size
        return torch.where((time - self.equations.anneal).abs() <= 1e-12 * time, self.equations.anneal, time)

    @abstractmethod
    def sweep(self) -> None:
        """Advance every row by a step."""

    def gain(self, time: Float64[Tensor, " rows"]) -> Float[Tensor, "_ 1"]:
        """The gain at each row's time, as a column in the weights' dtype; one for all where it does not change."""
        if self.equations.anneal == 0.0:
            return self.steady
        return self.equations.gain(time)[:, None].to(self.fields.dtype)

    def only_free(self, values: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """Zero for clamped neurons."""
        return values if self.free is None else values * self.free

    def answer(
        self, levels: Float[Tensor, "rows neurons"], time: Float64[Tensor, " rows"]
    ) -> Float[Tensor, "rows neurons"]:
        """States of these activation levels, those clamped as they are."""
        states = self.equations.activation.states(levels, self.gain(time))
        return states if self.free is None else torch.where(self.free, states, self.states)

    def energies(
        self,
        states: Float[Tensor, "rows neurons"],
        fields: Float[Tensor, "rows neurons"],
        time: Float64[Tensor, " rows"],
    ) -> tuple[Float64[Tensor, " rows"], Float64[Tensor, " rows"]]:
        """E and the free energy of states, from nothing but them and their fields."""
        energy = -0.5 * (states * (fields + self.bias)).sum(dim=1, dtype=torch.float64)
        integral = self.only_free(self.equations.activation.integral(states)).sum(dim=1, dtype=torch.float64)
        return energy, energy + integral / self.equations.gain(time)

    def rounding(
        self,
        states: Float[Tensor, "some neurons"],
        fields: Float[Tensor, "some neurons"],
        time: Float64[Tensor, " some"],
        rows: Tensor,
    ) -> Float64[Tensor, " some"]:
        """What rounding may do to a difference of free energies: to sums of terms, and to each term of an integral."""
        bias = self.bias if len(self.bias) == 1 else self.bias[rows]
        terms = (states.abs() * (fields.abs() + bias.abs())).sum(dim=1, dtype=torch.float64)
        neurons = states.shape[1]
        sums = 4.0 * neurons**0.5 * terms + 8.0 * neurons / self.equations.gain(time)
        rounding: Tensor = sums * torch.finfo(states.dtype).eps
        return rounding

    def record(
        self,
        states: Float[Tensor, "rows neurons"],
        fields: Float[Tensor, "rows neurons"],
        time: Float64[Tensor, " rows"],
        error: Callable[[Tensor], Float64[Tensor, " risen"]] | None = None,
    ) -> None:
        """Take new states and keep what they change; ``error`` says of rows what their step's may do to F, in bits."""
        work, middle = self.work, 0.5 * (1 + self.work.network.low)
        rows = self.index.cpu().numpy()
        energy, lyapunov = (e.cpu().numpy() for e in self.energies(states, fields, time))
        suspended = ((self.time < self.equations.anneal) & (time > self.time)).cpu().numpy()
        rise = np.where(suspended, 0.0, lyapunov - work.lyapunov[rows])
        work.rise[rows] = np.maximum(work.rise[rows], rise)
        if len(risen := np.flatnonzero(rise > 0.0)):
            some = torch.from_numpy(risen).to(states.device)
            excuse = self.rounding(states[some], fields[some], time[some], some)
            excuse = excuse if error is None else excuse + error(some)
            allowed = excuse.cpu().numpy()
            work.allowed = max(work.allowed, float(allowed.max()))
            work.excess[rows[risen]] = np.maximum(work.excess[rows[risen]], rise[risen] - allowed)
        work.flips[rows] = ((states > middle) != (self.states > middle)).sum(dim=1).cpu().numpy()
        work.energy[rows], work.lyapunov[rows] = energy, lyapunov
        assert work.time is not None
        assert work.suspended is not None
        work.time[rows], work.suspended[rows] = time.cpu().numpy(), suspended
        work.states[self.index], work.fields[self.index] = states, fields
        self.states, self.fields, self.time = states, fields, time

    def finish(self, settled: Bool[Tensor, " rows"], stalled: Bool[Tensor, " rows"]) -> None:
        """Let go of the rows that have settled at their last gain, have stalled, or have no time left."""
        rows = self.index.cpu().numpy()
        assert self.work.suspended is not None
        settled = settled & ~torch.from_numpy(self.work.suspended[rows]).to(settled.device)  # a step that was judged
        over = self.time >= self.equations.t_end
        ended = settled | stalled | over
        if not bool(ended.any()):
            return
        outcome = torch.where(settled, SETTLED, torch.where(over, ENDED, torch.where(stalled, STALLED, RUNNING)))
        self.work.outcome[rows] = outcome.to(torch.int8).cpu().numpy()
        for name in self.packed:
            tensor = getattr(self, name)
            if tensor is not None and len(tensor) == len(ended):  # one bias may be that of all rows
                setattr(self, name, tensor[~ended])
