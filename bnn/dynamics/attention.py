"""The graded update of the modern Hopfield network, which transformers know as attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int8, Shaped
from torch import Tensor

from bnn.dynamics.base import RUNNING, SETTLED, Dynamics, Guarantee, nearest_states
from bnn.dynamics.overlaps import OverlapWork
from bnn.errors import DataError
from bnn.interactions import LogSumExp
from bnn.memories import PatternMemory

PATTERNS = ("patterns",)


@dataclass(frozen=True, slots=True)
class Attention(Dynamics):
    """All neurons at once: V <- X softmax(beta X' V), a mean of the stored patterns [Ramsauer et al. 2021].

    The columns of X are the patterns of a modern Hopfield network. States are graded, an expected state of each neuron;
    unknown neurons start at 0 and add nothing. Of patterns far from each other one update recalls the nearest; of near
    ones it comes to rest between them. Where neurons must be on or off at every step, take `Asynchronous`, which lowers
    the same energy.

    Parameters
    ----------
    settle
        A row has settled once no state changes by more than this.

    Notes
    -----
    Guarantee: E = |V|^2/2 - ln(sum of w exp(beta m))/beta + constant is one convex function minus another; the update
    minimises the first minus the tangent of the second at the present state, so E never rises (the concave-convex
    procedure), whatever is clamped.

    Examples
    --------
    >>> import bnn
    >>> patterns = bnn.Records.from_patterns([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0]])
    >>> memory = bnn.learn(patterns, "modern", beta=0.5)
    >>> trace = bnn.recall(memory, [[1, 1, 0, 0, 0, 0]], bnn.Attention(), check="raise")
    >>> trace.states.round(2).tolist(), trace.outcome.tolist()
    ([[0.96, 0.96, 1.0, -0.96, -0.96, -1.0]], ['settled'])
    """

    settle: float | int = 1e-6
    name: ClassVar[str] = "attention"
    graded: ClassVar[bool] = True
    clock: ClassVar[str] = "update"
    limit: ClassVar[int] = 1000

    def __post_init__(self) -> None:
        number = isinstance(self.settle, int | float | np.number) and not isinstance(self.settle, bool)
        if not number or not 0.0 <= self.settle <= 1.0:
            raise DataError(f"Attention.settle: got {self.settle!r}; give a number from 0 to 1.")
        object.__setattr__(self, "settle", float(self.settle))

    @property
    def runs(self) -> tuple[str, ...]:
        """Memories of patterns."""
        return PATTERNS

    def guarantee(self, network: PatternMemory) -> Guarantee:
        """Always."""
        return Guarantee(True, "each update minimises a bound of the energy that touches it at the present state")

    def objection(self, network: PatternMemory) -> str | None:
        """Only the log-sum-exp has the softmax for its slope."""
        if isinstance(network.interaction, LogSumExp):
            return None
        return 'its update lowers the energy of the rule "modern", not of a polynomial; use Asynchronous()'

    def start(self, work: OverlapWork, unknown: Bool[Tensor, "batch neurons"] | None) -> None:
        """Unknown neurons start at 0, as the cue has them; input is refused."""
        if bool((work.bias != work.network.bias).any()):
            raise DataError(
                "recall.input: the states of Attention are means of patterns, and input would move them out of their "
                "range; leave it at 0."
            )

    def begin(self, work: OverlapWork) -> None:
        """Set E and the softmax of the first state, and each row's count of updates."""
        work.share, energy = weigh(work.network, work.states)
        work.energy[:] = energy.cpu().numpy()
        work.excess, work.time = np.zeros(work.batch), np.zeros(work.batch)
        work.suspended = np.zeros(work.batch, dtype=np.bool_)

    def sweep(self, work: OverlapWork, number: int) -> None:
        """One update of every running row."""
        network, rows = work.network, work.running()
        assert work.share is not None
        assert work.time is not None
        at = torch.from_numpy(rows).to(network.device)
        old, middle = work.states[at], 0.5 * (1 + network.low)
        free = work.free if len(work.free) == 1 else work.free[at]
        new = torch.where(free, work.share[at] @ network.patterns.double(), old)
        work.states[at] = new
        work.share[at], weighed = weigh(network, new)
        energy, tolerance = weighed.cpu().numpy(), network.tolerance()
        rise = energy - work.energy[rows]
        work.rise[rows] = np.maximum(work.rise[rows], rise)
        work.excess[rows] = np.maximum(work.excess[rows], rise - tolerance)
        work.allowed[rows[rise > 0.0]] = tolerance
        work.energy[rows] = energy
        work.flips[rows] = ((new > middle) != (old > middle)).sum(dim=1).cpu().numpy()
        work.time[rows] += 1.0
        settled = ((new - old).abs().amax(dim=1) <= self.settle).cpu().numpy()
        work.outcome[rows] = np.where(settled, SETTLED, RUNNING)

    def discrete(
        self, network: PatternMemory, states: Shaped[np.ndarray, "rows neurons"]
    ) -> Int8[np.ndarray, "rows neurons"]:
        """On above the middle of the range; of several values of an attribute the likeliest."""
        return nearest_states(states, network.layout, network.low, True)


def weigh(
    network: PatternMemory, states: Float64[Tensor, "batch neurons"]
) -> tuple[Float64[Tensor, "batch patterns"], Float64[Tensor, " batch"]]:
    """The softmax p of states' overlaps, and E by p: |V|^2/2 - p'm + (sum of p ln(p/w))/beta, plus the constant.

    The audit computes E by the log-sum-exp itself.
    """
    overlaps, interaction = network.overlaps_of(states), network.interaction
    assert isinstance(interaction, LogSumExp)
    share = interaction.attention(overlaps, network.weight)
    surprise = torch.xlogy(share, share / network.weight).sum(dim=1) / interaction.beta
    own = 0.5 * (states * states).sum(dim=1)
    return share, network.offset + own - (share * overlaps).sum(dim=1) + surprise
