"""What a dynamics is, what it may promise, and the working memory of one recall."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int8, Int64, Shaped
from torch import Tensor

from bnn.coding import NeuronStates
from bnn.kernels import parallel, sums, threads, twins, winners
from bnn.network import Network

RUNNING, SETTLED, CYCLE, STALLED, ENDED = range(5)
GRAIN = 32  # rows a thread takes at least: waking one costs as much as a few rows
SAMPLE = 64  # rows that tell whether a dense product is quicker than single columns
ENERGY, TWO_STEP, FREE_ENERGY = "energy", "two-step energy", "free energy"
ORDER, NOISE = 1, 2  # streams of one seed: never the one that made the cues
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


@dataclass(slots=True, eq=False)
class Work:
    """Working memory of one recall: the only thing that changes.

    States and fields are tensors on the network's device; what is kept a row is numpy.

    Attributes
    ----------
    states
        [batch, neurons], 0 silent (clamped and unknown): int8, 1 on, ``low`` off; or graded, in the weights' dtype.
    fields
        W V + b + input, in the weights' dtype, bits.
    bias
        [1 or batch, neurons]: b + input, without what unknown attributes would add.
    free
        bool [1 or batch, neurons]: False where clamped.
    mirror
        W' V + b + input where weights are asymmetric, else None.
    energy, lyapunov, rise
        float64 [batch], bits: E now, what must fall now (E itself or another array), the largest single rise of that.
    excess
        float64 [batch], bits: the largest rise beyond the error that its step may have made; ``rise`` itself where
        steps are exact.
    allowed
        Largest error, in bits, by which a rise was excused: what the solver's error may do in that step.
    solvers
        Of a flow: what it keeps of the rows at work.
    time, suspended
        Of a flow, else None: each row's own clock, float64 [batch], and whether the gain changed in its last step.
    flips
        int64 [batch]: neurons that changed in the last sweep.
    outcome
        int8 [batch]: index into `OUTCOMES`; rows not ``RUNNING`` are left alone.
    previous, chosen
        States before the last parallel step, the other phase of a cycle; and room for the next ones.
    log
        Every flip as (sweep, rows, neurons, energies after), where asked for.
    arrays
        numpy views of the tensors, by name, for the compiled loops; ``mirror`` empty where weights are symmetric.
    """

    network: Network
    states: Int8[Tensor, "batch neurons"] | Float[Tensor, "batch neurons"]
    fields: Float[Tensor, "batch neurons"]
    bias: Float[Tensor, "_ neurons"]
    free: Bool[Tensor, "_ neurons"]
    seed: int
    compiled: bool
    log_flips: bool
    mirror: Float[Tensor, "batch neurons"] | None
    energy: Float64[np.ndarray, " batch"]
    lyapunov: Float64[np.ndarray, " batch"]
    rise: Float64[np.ndarray, " batch"]
    flips: Int64[np.ndarray, " batch"]
    outcome: Int8[np.ndarray, " batch"]
    previous: Int8[Tensor, "batch neurons"] | None = None
    chosen: Int8[Tensor, "batch neurons"] | None = None
    log: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    allowed: float = 0.0
    solvers: list[Any] = field(default_factory=list)
    time: Float64[np.ndarray, " batch"] | None = None
    suspended: Bool[np.ndarray, " batch"] | None = None
    excess: Float64[np.ndarray, " batch"] = field(init=False)
    arrays: dict[str, np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        self.excess = self.rise
        mirror = self.fields[:0, :0] if self.mirror is None else self.mirror
        tensors = {
            "weights": self.network.weights,
            "columns": self.network.columns,
            "states": self.states,
            "fields": self.fields,
            "mirror": mirror.contiguous(),
            "bias": self.bias,
            "free": self.free,
        }
        self.arrays = {name: tensor.numpy() for name, tensor in tensors.items()} if self.compiled else {}

    @property
    def batch(self) -> int:
        """Number of rows."""
        return len(self.energy)

    def views(self, *names: str) -> tuple[np.ndarray, ...]:
        """Views for a compiled loop, in the order asked for."""
        return tuple(self.arrays[name] for name in names)

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

    Attributes
    ----------
    name
        Key in `bnn.DYNAMICS`.
    lyapunov
        Name of the function that must fall.
    settles
        False where a row never comes to rest by itself.
    one_value
        Whether an unknown attribute is filled with one value, or each of its neurons asked for itself.
    graded
        Whether neurons take states between off and on.
    limit
        Sweeps after which a recall stops unless it says otherwise.
    """

    name: ClassVar[str]
    settles: ClassVar[bool] = True
    one_value: ClassVar[bool] = False
    graded: ClassVar[bool] = False
    limit: ClassVar[int] = 100

    @property
    def lyapunov(self) -> str:
        """Name of the function that must fall: ``"energy"``, ``"two-step energy"`` or ``"free energy"``."""
        return ENERGY

    def begin(self, work: Work) -> None:
        """Set E and what must fall of the first state; the two-step energy of a state that follows itself is 2 E."""
        if work.compiled:
            arrays = (*work.views("states", "fields", "bias"), work.energy)
            rows = np.arange(work.batch)
            threads.run(lambda begin, end: sums.energies(*arrays, rows[begin:end]), len(rows), GRAIN)
        else:
            twice = work.states.double() * (work.fields.double() + work.bias.double())
            work.energy[:] = 0.0 - 0.5 * twice.sum(dim=1).cpu().numpy()
        work.lyapunov = 2.0 * work.energy if self.lyapunov == TWO_STEP else work.energy

    @abstractmethod
    def guarantee(self, network: Network) -> Guarantee:
        """Whether the Lyapunov function never rises for this network, and why."""

    def refusal(self, network: Network) -> str | None:
        """One sentence why this dynamics cannot run this network; None where it can."""
        return None

    def admissible(self, network: Network, states: NeuronStates, clamped: Bool[Tensor, "_ neurons"]) -> NeuronStates:
        """The cue as this dynamics may start from it: what is not legal becomes unknown, and is filled."""
        return states

    def start(self, work: Work, unknown: Bool[Tensor, "batch neurons"] | None) -> None:
        """Fill free unknown attributes once, in order, each from what is known by then; the claim starts after."""
        if unknown is None:
            return None
        network = work.network
        missing = network.unknown_attributes(unknown & work.free, "recall.clamp")
        own = said_to_itself(network) if self.one_value else torch.zeros(0, dtype=torch.float64)
        if not work.compiled:
            return twins.fill(work, missing, own, self.one_value)
        states, fields, mirror, bias = work.views("states", "fields", "mirror", "bias")
        evidence = np.empty((0, 0), fields.dtype) if network.evidence is None else network.evidence.numpy()
        columns, weights = work.views("columns", "weights")
        gaps, layout = missing.numpy(), network.layout
        rows = np.flatnonzero(gaps.any(axis=1))
        threads.run(
            lambda begin, end: winners.fill(
                columns, weights, evidence, own.numpy(), states, fields, mirror, bias, gaps,
                layout.start, layout.single, network.low, self.one_value, rows[begin:end],
            ),
            len(rows),
            GRAIN,
        )  # fmt: skip
        return None

    def discrete(
        self, network: Network, states: Shaped[np.ndarray, "rows neurons"]
    ) -> Int8[np.ndarray, "rows neurons"]:
        """The states 1 and ``low`` nearest to these."""
        return states

    @abstractmethod
    def sweep(self, work: Work, number: int) -> None:
        """Change states, fields, energies, flips and outcome of the running rows, in place."""


def said_to_itself(network: Network) -> Float64[Tensor, " neurons"]:
    """What an attribute's own neurons, one on and the others off, add to the choice of the one, float64 [neurons]."""
    layout = network.layout
    own = 0.5 * (1 - network.low) * network.diagonal.double()
    for a, (first, last) in enumerate(pairwise(layout.start.tolist())):
        mine = slice(first, last)
        if network.low != 0:
            own[mine] += network.low * network.columns[mine, mine].double().sum(dim=0)
        if network.silence is not None:
            own[mine] += network.silence[mine, a].double()
    return own


def step_parallel(work: Work, number: int, choose: Callable[[np.ndarray, Tensor], None]) -> None:
    """One parallel step of the running rows: ``choose(rows, chosen)`` writes the next states. Two-cycles end."""
    rows = work.running()
    if work.previous is None or work.chosen is None:
        # Copied by numpy: torch's own threads would go on spinning beside ours
        states = work.states.cpu().numpy()
        work.previous = torch.from_numpy(np.full_like(states, 2)).to(work.states.device)
        work.chosen = torch.from_numpy(states.copy()).to(work.states.device)
    chosen = work.chosen
    choose(rows, chosen)
    changed = torch.argwhere(chosen != work.states).cpu().numpy() if work.log_flips else None
    back = np.zeros(work.batch, dtype=np.bool_)
    results = (work.energy, work.lyapunov, work.rise, work.flips, back)
    if work.compiled:
        columns, bias, states, fields = work.views("columns", "bias", "states", "fields")
        moved = np.empty((0, 0), fields.dtype)
        some = rows[:SAMPLE]
        if np.count_nonzero(chosen.numpy()[some] != states[some]) * 8 > len(some) * states.shape[1]:
            change = (chosen - work.states)[torch.from_numpy(rows)]
            moved = (change.to(work.fields.dtype) @ work.network.columns).numpy()
        arrays = (columns, bias, states, work.previous.numpy(), chosen.numpy(), fields)
        threads.run(
            lambda begin, end: parallel.parallel_step(
                *arrays, moved[begin:end], work.network.symmetric, rows[begin:end], *results
            ),
            len(rows),
            GRAIN,
        )
    else:
        tensors = (work.network.columns, work.bias, work.states, work.previous, chosen, work.fields)
        twins.parallel_step(*tensors, rows, *results)
    if changed is not None:
        work.log.append((number, changed[:, 0], changed[:, 1], work.energy[changed[:, 0]]))
    work.outcome[rows] = np.where(work.flips[rows] == 0, SETTLED, np.where(back[rows], CYCLE, RUNNING))


def two_step_guarantee(network: Network, legal: str) -> Guarantee:
    """The two-step energy falls for every symmetric network: s(t+1) is the best answer to the field of s(t)."""
    if not network.symmetric:
        return Guarantee(False, "the weights are asymmetric, so the field is not the slope of the two-step energy")
    return Guarantee(True, f"symmetric weights: {legal}")
