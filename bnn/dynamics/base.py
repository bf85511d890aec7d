"""What a dynamics is, what it may promise, and the working memory of one recall."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Float64, Int8, Int64, Shaped
from torch import Tensor

from bnn.associative import AssociativeMemory
from bnn.coding import NeuronStates
from bnn.kernels import threads
from bnn.schema import Layout

RUNNING, SETTLED, CYCLE, STALLED, ENDED = range(5)
GRAIN = 32  # rows a thread takes at least: waking one costs as much as a few rows
ENERGY, TWO_STEP, FREE_ENERGY = "energy", "two-step energy", "free energy"
ORDER, NOISE = 1, 2  # streams of one seed: never the one that made the cues
WEIGHTS, EITHER = ("weights",), ("weights", "patterns")  # what a memory keeps that a dynamics can run
REMEDY = {
    "patterns": "use Asynchronous(), WinnerTakeAll(), KWinners() or Glauber()",
    "weights": 'learn patterns with rule="modern", or use another dynamics',
}
OUTCOMES = ("limit", "settled", "cycle", "stalled", "limit")


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Whether theory promises that the Lyapunov function never rises for a network under a dynamics.

    Attributes
    ----------
    holds
        True where every hypothesis of the argument is met.
    reason
        The argument, or the hypothesis that fails, in one sentence.
    """

    holds: bool
    reason: str


@dataclass(slots=True, eq=False, kw_only=True)
class Work(ABC):
    """Working memory of one recall: the only thing that changes.

    What it holds beside states and energies depends on the kind of memory (`bnn.dynamics.pairs`, `.overlaps`), and so
    does how a single change is made; which changes are tried, and when a row has settled, the dynamics says. States are
    a tensor on the memory's device; what is kept a row is numpy.

    Attributes
    ----------
    network
        What recalls.
    states
        [batch, neurons], 0 silent (clamped and unknown): int8, 1 on, ``low`` off; or graded, floating point.
    bias
        [1 or batch, neurons]: b + input, without what unknown attributes would add.
    free
        bool [1 or batch, neurons]: False where clamped.
    compiled
        Whether compiled loops run, on the CPU, or torch.
    energy, lyapunov, rise
        float64 [batch], in the memory's unit: E now, what must fall now (E itself or another array), the largest single
        rise of that.
    excess
        float64 [batch]: the largest rise beyond the error that its step may have made; ``rise`` itself where steps are
        exact.
    allowed
        float64 [batch], of graded dynamics: the largest error by which a rise was excused, what that step's arithmetic
        may do.
    time, suspended
        Of graded dynamics, else None: each row's own clock, float64 [batch], and whether nothing was promised of its
        last step.
    flips
        int64 [batch]: neurons that changed in the last sweep.
    outcome
        int8 [batch]: index into `OUTCOMES`; rows not ``RUNNING`` are left alone.
    previous
        States before the last parallel step, the other phase of a cycle.
    log
        Every flip as (sweep, rows, neurons, energies after), where asked for.
    """

    network: Any
    states: Int8[Tensor, "batch neurons"] | Float[Tensor, "batch neurons"]
    bias: Float[Tensor, "_ neurons"]
    free: Bool[Tensor, "_ neurons"]
    seed: int
    compiled: bool
    log_flips: bool
    energy: Float64[np.ndarray, " batch"] = field(init=False)
    lyapunov: Float64[np.ndarray, " batch"] = field(init=False)
    rise: Float64[np.ndarray, " batch"] = field(init=False)
    excess: Float64[np.ndarray, " batch"] = field(init=False)
    allowed: Float64[np.ndarray, " batch"] = field(init=False)
    time: Float64[np.ndarray, " batch"] | None = None
    suspended: Bool[np.ndarray, " batch"] | None = None
    flips: Int64[np.ndarray, " batch"] = field(init=False)
    outcome: Int8[np.ndarray, " batch"] = field(init=False)
    previous: Int8[Tensor, "batch neurons"] | None = None
    log: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    def __post_init__(self) -> None:
        batch = len(self.states)
        self.energy = self.lyapunov = np.zeros(batch)
        self.rise = self.excess = np.zeros(batch)
        self.allowed = np.zeros(batch)
        self.flips, self.outcome = np.zeros(batch, dtype=np.int64), np.zeros(batch, dtype=np.int8)

    @abstractmethod
    def weigh(self) -> None:
        """Set E of the present states."""

    @abstractmethod
    def fill(self, missing: Bool[Tensor, "batch attributes"], one_value: bool) -> None:
        """Give missing attributes states, in order, each from what is known by then: one value, or neuron by neuron."""

    @abstractmethod
    def threshold_sweep(
        self, number: int, order: Int64[np.ndarray, " neurons"], noise: Float64[np.ndarray, "rows neurons"] | None
    ) -> Bool[np.ndarray, " batch"]:
        """Ask every neuron once whether being on or off has less energy, with noise by how much; whom it may not be."""

    @abstractmethod
    def winner_sweep(self, number: int, order: Int64[np.ndarray, " attributes"]) -> None:
        """Give each attribute in turn its value of least energy."""

    @abstractmethod
    def swap_sweep(self, number: int, order: Int64[np.ndarray, " neurons"]) -> None:
        """Offer each neuron that is off, in turn, the place of the one on neuron whose exchange saves most."""

    @abstractmethod
    def start_with(self, rows: Int64[np.ndarray, " rows"], number: Tensor, unknown: Tensor | None) -> None:
        """Start rows from their ``number`` neurons of largest field, free unknown ones among them."""

    @property
    def batch(self) -> int:
        """Number of rows."""
        return len(self.energy)

    def running(self) -> Int64[np.ndarray, " rows"]:
        """Rows still at work."""
        return np.flatnonzero(self.outcome == RUNNING)

    def order(self, sweep: int, length: int, random: bool) -> Int64[np.ndarray, " length"]:
        """The order of one sweep, one for all rows, so that no row's result depends on the rest of its batch."""
        if not random:
            return np.arange(length)
        return np.random.default_rng([self.seed, sweep, ORDER]).permutation(length)

    def each(self, kernel: Callable[..., None], *, log_room: int, sweep: int, rows: np.ndarray, arguments: Any) -> None:
        """Run a compiled sweep over the rows, divided over threads, and keep the flips it logs.

        ``arguments(begin, end, log_neuron, log_energy)`` gives the kernel's arguments for ``rows[begin:end]``.
        """
        size = (self.batch, log_room) if self.log_flips else (0, 0)
        neuron, energy = np.empty(size, np.int64), np.empty(size, np.float64)
        threads.run(lambda begin, end: kernel(*arguments(begin, end, neuron, energy)), len(rows), GRAIN)
        if self.log_flips:
            self.keep(sweep, rows, neuron, energy)

    def keep(self, sweep: int, rows: np.ndarray, neuron: np.ndarray, energy: np.ndarray) -> None:
        """Append the first ``flips`` entries of each row to the log, row by row."""
        count = self.flips[rows]
        used = np.arange(neuron.shape[1]) < count[:, None]
        self.log.append((sweep, np.repeat(rows, count), neuron[rows][used], energy[rows][used]))


class Dynamics(ABC):
    """How states change, one sweep after another. Final classes are frozen dataclasses of their parameters.

    A network is a `Network` or a `PatternMemory`, whichever `runs` names, and the working memory is of its kind.

    Attributes
    ----------
    name
        Key in `bnn.DYNAMICS`.
    lyapunov
        Name of the function that must fall.
    runs
        Kinds of memory it can run, by what they keep.
    settles
        False where a row never comes to rest by itself.
    one_value
        Whether an unknown attribute is filled with one value, or each of its neurons asked for itself.
    graded
        Whether neurons take states between off and on.
    clock
        What the series are counted in.
    limit
        Sweeps after which a recall stops unless it says otherwise.
    """

    name: ClassVar[str]
    settles: ClassVar[bool] = True
    one_value: ClassVar[bool] = False
    graded: ClassVar[bool] = False
    clock: ClassVar[str] = "sweep"
    limit: ClassVar[int] = 100

    @property
    def lyapunov(self) -> str:
        """Name of the function that must fall: ``"energy"``, ``"two-step energy"`` or ``"free energy"``."""
        return ENERGY

    @property
    def runs(self) -> tuple[str, ...]:
        """What a memory must keep: ``"weights"``, ``"patterns"``, or either."""
        return WEIGHTS

    def begin(self, work: Any) -> None:
        """Set E and what must fall of the first state; the two-step energy of a state that follows itself is 2 E."""
        work.weigh()
        work.lyapunov = 2.0 * work.energy if self.lyapunov == TWO_STEP else work.energy

    @abstractmethod
    def guarantee(self, network: Any) -> Guarantee:
        """Whether the Lyapunov function never rises for this network, and why."""

    def refusal(self, network: AssociativeMemory) -> str | None:
        """One sentence why this dynamics cannot run this network; None where it can."""
        if network.keeps not in self.runs:
            return f"{self!r} works by {self.runs[0]}, and this memory keeps {network.keeps}; {REMEDY[network.keeps]}"
        return self.objection(network)

    def objection(self, network: Any) -> str | None:
        """One sentence why it cannot run this network, of a kind that it can; None where it can."""
        return None

    def admissible(self, network: Any, states: NeuronStates, clamped: Bool[Tensor, "_ neurons"]) -> NeuronStates:
        """The cue as this dynamics may start from it: what is not legal becomes unknown, and is filled."""
        return states

    def start(self, work: Any, unknown: Bool[Tensor, "batch neurons"] | None) -> None:
        """Fill free unknown attributes once, in order, each from what is known by then; the claim starts after."""
        if unknown is not None:
            work.fill(work.network.unknown_attributes(unknown & work.free, "recall.clamp"), self.one_value)

    def discrete(self, network: Any, states: Shaped[np.ndarray, "rows neurons"]) -> Int8[np.ndarray, "rows neurons"]:
        """The states 1 and ``low`` nearest to these."""
        return states

    @abstractmethod
    def sweep(self, work: Any, number: int) -> None:
        """Change states, energies, flips and outcome of the running rows, in place."""


def nearest_states(
    states: Shaped[np.ndarray, "rows neurons"], layout: Layout, low: int, one_value: bool
) -> Int8[np.ndarray, "rows neurons"]:
    """Graded states made 1 and ``low``: on above the middle of the range, or the likeliest value of each attribute."""
    on = states > 0.5 * (1 + low)
    if one_value:
        for (first, last), single in zip(pairwise(layout.start.tolist()), layout.single.tolist(), strict=True):
            if last > first and not single:
                mine = states[:, first:last]
                likeliest = np.arange(last - first) == mine.argmax(axis=1)[:, None]
                on[:, first:last] = likeliest & (mine > low)
    return np.where(on, 1, low).astype(np.int8)


def sequential_guarantee(network: AssociativeMemory, argument: str) -> Guarantee:
    """Every change is chosen by its exact energy, so a field that is the slope of the energy is enough."""
    if not network.symmetric:
        return Guarantee(False, "the weights are asymmetric, so the field is not the slope of the energy")
    return Guarantee(True, f"{network.grounds}: {argument}")
