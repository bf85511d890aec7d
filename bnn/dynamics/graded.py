"""What all solvers of a flow share: its equations, the rows still at work, and what is recorded of a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from bnn.dynamics.activations import Activation
from bnn.dynamics.base import ENDED, RUNNING, SETTLED, STALLED, Work


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

    def gain(self, time: Float64[Tensor, " rows"]) -> Float64[Tensor, " rows"]:
        """The gain at each row's time."""
        low, high = self.gains
        if self.anneal == 0.0:
            return torch.full_like(time, high)
        return low * (high / low) ** (time / self.anneal).clamp(max=1.0)


class Solver(ABC):
    """The rows of one recall that are still at work, packed together, and how they advance in time.

    Final classes name in `packed` whatever else they keep a row.
    """

    packed: ClassVar[tuple[str, ...]] = ("index", "states", "fields", "time", "bias", "free")

    def __init__(self, work: Work, equations: Equations) -> None:
        self.work, self.equations = work, equations
        self.index = torch.arange(work.batch, device=work.states.device)
        self.states, self.fields, self.bias = work.states, work.fields, work.bias
        self.free = None if bool(work.free.all()) else work.free
        self.time = torch.zeros(work.batch, dtype=torch.float64, device=work.states.device)
        work.time, work.suspended = np.zeros(work.batch), np.zeros(work.batch, dtype=np.bool_)
        work.excess = np.zeros(work.batch)
        work.energy, work.lyapunov = (e.cpu().numpy() for e in self.energies(self.states, self.fields, self.time))

    @abstractmethod
    def sweep(self) -> None:
        """Advance every row by a step."""

    def gain(self, time: Float64[Tensor, " rows"]) -> Float[Tensor, "rows 1"]:
        """The gain at each row's time, as a column in the weights' dtype."""
        return self.equations.gain(time)[:, None].to(self.fields.dtype)

    def only_free(self, values: Float[Tensor, "rows neurons"]) -> Float[Tensor, "rows neurons"]:
        """Zero for clamped neurons."""
        return values if self.free is None else values * self.free

    def answer(
        self, levels: Float[Tensor, "rows neurons"], time: Float64[Tensor, " rows"]
    ) -> Float[Tensor, "rows neurons"]:
        """States of these activation levels, those clamped as they are."""
        states = self.equations.activation.states(levels * self.gain(time))
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

    def record(
        self,
        states: Float[Tensor, "rows neurons"],
        fields: Float[Tensor, "rows neurons"],
        time: Float64[Tensor, " rows"],
        error: Float64[Tensor, " rows"] | None = None,
    ) -> None:
        """Take new states and keep what they change; ``error`` is what a step's may have done to the free energy."""
        work, middle = self.work, 0.5 * (1 + self.work.network.low)
        rows = self.index.cpu().numpy()
        energy, lyapunov = (e.cpu().numpy() for e in self.energies(states, fields, time))
        suspended = (self.equations.gain(time) != self.equations.gain(self.time)).cpu().numpy()
        rise = np.where(suspended, 0.0, lyapunov - work.lyapunov[rows])
        allowed = np.zeros(len(rows)) if error is None else error.cpu().numpy()
        work.rise[rows] = np.maximum(work.rise[rows], rise)
        work.excess[rows] = np.maximum(work.excess[rows], rise - allowed)
        work.allowed = max(work.allowed, float(allowed.max(initial=0.0)))
        work.flips[rows] = ((states > middle) != (self.states > middle)).sum(dim=1).cpu().numpy()
        work.energy[rows], work.lyapunov[rows] = energy, lyapunov
        assert work.time is not None
        assert work.suspended is not None
        work.time[rows], work.suspended[:] = time.cpu().numpy(), False
        work.suspended[rows] = suspended
        self.states, self.fields, self.time = states, fields, time
        for whole, mine in ((work.states, states), (work.fields, fields)):
            if len(mine) == len(whole):
                whole.copy_(mine)
            else:
                whole.index_copy_(0, self.index, mine)

    def finish(self, settled: Bool[Tensor, " rows"], stalled: Bool[Tensor, " rows"]) -> None:
        """Let go of the rows that have settled at their last gain, have stalled, or have no time left."""
        settled = settled & (self.time >= self.equations.anneal)
        over = self.time >= self.equations.t_end
        ended = settled | stalled | over
        if not bool(ended.any()):
            return
        outcome = torch.where(settled, SETTLED, torch.where(stalled, STALLED, torch.where(over, ENDED, RUNNING)))
        self.work.outcome[self.index.cpu().numpy()] = outcome.to(torch.int8).cpu().numpy()
        for name in self.packed:
            tensor = getattr(self, name)
            if tensor is not None and (len(tensor) > 1 or name == "index"):  # one bias may be that of all rows
                setattr(self, name, tensor[~ended])
