"""Continuous networks: graded neurons that flow down a free energy [B 2.3, appendix; Hopfield 1984]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil
from typing import ClassVar, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Int8, Shaped
from torch import Tensor

from bnn.coding import NeuronStates
from bnn.dynamics.activations import ACTIVATIONS, Activation
from bnn.dynamics.base import FREE_ENERGY, Dynamics, Guarantee, nearest_states
from bnn.dynamics.coordinate import Coordinate, blocks_of
from bnn.dynamics.graded import Equations, Solver
from bnn.dynamics.pairs import PairWork, fields_of
from bnn.dynamics.runge_kutta import TABLEAUS, RungeKutta
from bnn.errors import DataError, unknown_name
from bnn.kernels import threads
from bnn.network import Network

Real = float | int
Result = TypeVar("Result")
DESCENT = "descent"
SOLVERS = (*TABLEAUS, DESCENT)
AUTO = "auto"
COARSEST = 0.01  # tolerance, relative and in bits
FULL = 20.0  # time constants after which a relaxation is complete, to 2e-9
MANY, FEW = 1 << 19, 1 << 17  # states worked on at once, at most; so few are not divided over threads
MANY_ROWS, FEW_ROWS = 512, 64  # the same in rows, where these are long
EXACT = 2000  # neurons up to which the smallest eigenvalue is worth its time
LONG = 1e4  # time constants until even a row near a bifurcation has settled


@dataclass(frozen=True, slots=True)
class GradientFlow(Dynamics):
    """Graded neurons: tau du/dt = -u + W V + b + input, V = g(gain u) [B eq 9-12, 26; Hopfield 1984 eq 4].

    The state of a neuron is the probability that it is on (or, in a network of states -1 and 1, an expected state), and
    its field the expected information from the others. At a low gain everything flows into one blurred state, at a high
    gain into the memories of the discrete network; with gain 1 and the prior as input, an odds network with clamped
    evidence ends in the naive Bayesian posterior. Known neurons start ``blur`` inside their cue, unknown attributes at
    their priors; cues may hold a probability for each value.

    Parameters
    ----------
    gain
        Slope of the activation, > 0, 1/bits: an inverse temperature. Of a pair, it goes geometrically from the first to
        the second until the time ``anneal``; meanwhile no descent is promised, and `Trace.suspended` marks these steps.
    tau
        Time constant, > 0: the unit of time.
    solver
        ``"dopri5"``: Dormand-Prince 5(4), each row with its own steps; ``"rk4"`` and ``"euler"``: fixed steps;
        ``"descent"``: each attribute (softmax) or neuron in turn moves towards its own minimum of the free energy by
        the share 1 - e^(-step/tau), which never raises it, whatever the step, and is by far the quickest way to a
        state where the flow rests (by another path).
    rtol, atol
        Of dopri5: a step may err by atol + rtol |u| bits, and no state by more than half of ``settle``.
    step
        Of time: default 0.1 tau for rk4 and euler, 20 tau for descent (each unit goes all the way); of dopri5 the
        first one.
    t_end
        Time at which rows stop that have not settled; default 10,000 tau.
    settle
        A row has settled once no state differs by more than this from g(gain h), its answer to its field.
    activation
        ``"logistic"``: each neuron for itself; ``"softmax"``: a distribution over the values of each attribute;
        ``"tanh"``: states from -1 to 1. ``"auto"``: tanh in networks of states -1 and 1; logistic in the odds form,
        where each neuron has odds of its own, and where every attribute is one neuron; else softmax.
    anneal
        Time during which the gain changes; only with a pair of gains.
    blur
        A known neuron starts at least this far from certainty, 0 < blur < 1/2.

    Raises
    ------
    DataError
        Parameters outside their range; a network of other states than the activation's.

    Notes
    -----
    What falls is the free energy F(V) = E(V) + (1/gain) times the sum of the integrals of the inverse activation:
    energy minus temperature times entropy. dF/dt = -tau times the sum of du/dt dV/dt <= 0 for symmetric weights, and
    each recorded value is computed from the states. Without the integrals it may rise. A step of a Runge-Kutta solver
    may depart from the flow by its own error; `Descent` holds every rise against what that error, as the solver
    estimates it, may do.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -1])
    >>> trace = bnn.recall(network, [[1, 1], [0, 0]], bnn.GradientFlow(gain=4.0), check="raise")
    >>> trace.states.round(2).tolist(), trace.outcome.tolist()
    ([[0.9, 0.9], [0.1, 0.1]], ['settled', 'settled'])
    >>> bnn.recall(network, [[1, 1], [0, 0]], bnn.GradientFlow(gain=1.0, solver="descent")).states.round(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    gain: Real | tuple[Real, Real] = 1.0
    tau: Real = 1.0
    solver: str = "dopri5"
    rtol: Real = 1e-4
    atol: Real = 1e-4
    step: Real | None = None
    t_end: Real | None = None
    settle: Real = 1e-4
    activation: str = AUTO
    anneal: Real = 0.0
    blur: Real = 0.05
    name: ClassVar[str] = "flow"
    graded: ClassVar[bool] = True
    clock: ClassVar[str] = "time (tau)"
    limit: ClassVar[int] = 10_000

    def __post_init__(self) -> None:
        for name, known in (("solver", SOLVERS), ("activation", (AUTO, *ACTIVATIONS))):
            if getattr(self, name) not in known:
                raise unknown_name(f"GradientFlow.{name}", getattr(self, name), known)
        gains = self.gain if isinstance(self.gain, tuple | list) else (self.gain,)
        if len(gains) not in (1, 2):
            raise DataError(f"GradientFlow.gain: got {self.gain!r}; give one number, or the first and the last.")
        positive = {"gain": gains, "tau": (self.tau,)}
        positive |= {name: (value,) for name in ("step", "t_end") if (value := getattr(self, name)) is not None}
        for name, values in positive.items():
            if not all(_is_number(value) and 1e-30 <= value <= 1e30 for value in values):
                raise DataError(f"GradientFlow.{name}: got {getattr(self, name)!r}; give a number above 0, up to 1e30.")
        for name in ("rtol", "atol"):
            if not _is_number(value := getattr(self, name)) or not 0.0 < value <= COARSEST:
                raise DataError(
                    f"GradientFlow.{name}: got {value!r}; give a number above 0, up to {COARSEST:g}: coarser steps "
                    "would leave the flow."
                )
        for name, largest in (("settle", 1.0), ("anneal", 1e30)):
            if not _is_number(value := getattr(self, name)) or not 0.0 <= value <= largest:
                raise DataError(f"GradientFlow.{name}: got {value!r}; give a number from 0 to {largest:g}.")
        if not _is_number(self.blur) or not 1e-6 <= self.blur < 0.5:
            raise DataError(f"GradientFlow.blur: got {self.blur!r}; give a number from 1e-6 to below 0.5.")
        if (len(gains) == 2) != (self.anneal > 0.0):
            raise DataError(
                f"GradientFlow.anneal: got {self.anneal!r} with gain {self.gain!r}; a changing gain takes a pair and "
                "the time of its change, such as gain=(0.1, 4.0), anneal=20.0."
            )
        object.__setattr__(self, "gain", float(gains[0]) if len(gains) == 1 else (float(gains[0]), float(gains[1])))
        for name in ("tau", "rtol", "atol", "step", "t_end", "settle", "anneal", "blur"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, float(value))

    @property
    def lyapunov(self) -> str:
        """The free energy."""
        return FREE_ENERGY

    def guarantee(self, network: Network) -> Guarantee:
        """Symmetric weights; of Euler a small step, of descent no self-connection that could overshoot."""
        if not network.symmetric:
            return Guarantee(False, "the weights are asymmetric, so the field is not the slope of the free energy")
        later = " once the gain is at its last value" if self.anneal else ""
        if self.solver == DESCENT:
            return self._descent_guarantee(network, later)
        if self.solver in ("rk4", "euler") and (limit := self._largest_step(network)) < self._step:
            steps = f"steps of {self._step / self.tau:g} tau exceed {limit / self.tau:.3g} tau"
            return Guarantee(False, f"{steps}, up to which {self.solver} is sure")
        if self.solver == "euler":
            return Guarantee(True, f"symmetric weights: steps this small descend{later}")
        return Guarantee(True, f"symmetric weights: the flow descends{later}, but for the estimated error of each step")

    def objection(self, network: Network) -> str | None:
        """Activation and network speak of the same states; descent needs the weights of one unit after another."""
        if network.is_sparse and self.solver == "descent":
            return (
                'solver="descent" reads whole columns, and these weights are sparse; use "dopri5" or network.to_dense()'
            )
        kind = ACTIVATIONS[self._activation(network)]
        if kind.low == network.low:
            return None
        return (
            f"the activation {kind.name!r} has states from {kind.low} to 1, and this network from {network.low} to 1; "
            f"use activation={'tanh' if network.low else 'logistic'!r} or 'auto'"
        )

    def admissible(self, network: Network, states: NeuronStates, clamped: Bool[Tensor, "_ neurons"]) -> NeuronStates:
        """Under softmax a clamped attribute is a distribution as a whole; a free one without value is unknown."""
        if self._activation(network) != "softmax":
            return states
        layout, held = network.layout, np.broadcast_to(clamped.cpu().numpy(), states.on.shape)
        unknown = np.zeros(states.on.shape, dtype=np.bool_) if states.unknown is None else states.unknown.copy()
        for a, (first, last) in enumerate(pairwise(layout.start.tolist())):
            if layout.single[a] or last == first:
                continue
            total = states.on[:, first:last].sum(axis=1)
            unknown[:, first:last] |= (total == 0.0)[:, None] & ~held[:, first:last]
            if not (mine := held[:, first:last]).any():
                continue
            name = layout.schema.names[a]
            if (mine.any(axis=1) != mine.all(axis=1)).any():
                raise DataError(
                    f"recall.clamp: only some neurons of {name!r} are clamped; softmax clamps whole attributes."
                )
            known = mine[:, 0] if states.unknown is None else mine[:, 0] & ~states.unknown[:, first]
            if (wrong := known & (np.abs(total - 1.0) > 1e-6)).any():
                row = int(wrong.argmax())
                raise DataError(
                    f"recall.cues: in row {row} the values of {name!r}, clamped, sum to {total[row]:g}; under softmax "
                    "they are a distribution and sum to 1."
                )
        return NeuronStates(states.on, unknown)

    def start(self, work: PairWork, unknown: Bool[Tensor, "batch neurons"] | None) -> None:
        """Known neurons start inside their cue, free unknown attributes at their priors; the fields of both."""
        network, low = work.network, work.network.low
        activation = self.activation_of(network)
        start = activation.inside(work.states, self.blur)
        if unknown is not None:
            prior = torch.full_like(network.bias, 0.5) if network.prior is None else network.prior.to(network.bias)
            least = torch.finfo(prior.dtype).eps
            unasked = activation.inside((low + (1 - low) * prior).expand_as(start), least)
            torch.where(unknown, unasked, start, out=start)
            if network.silence is not None:
                filled = network.unknown_attributes(unknown & work.free, "recall.clamp")
                work.bias = work.bias + filled.to(work.bias.dtype) @ network.silence.T
        work.states = torch.where(work.free, start, work.states, out=start)
        work.fields = fields_of(network, work.states, work.bias, compiled=False)

    def begin(self, work: PairWork) -> None:
        """Make the solver, which sets E and the free energy of the first state."""
        t_end = LONG * self.tau if self.t_end is None else self.t_end
        activation = self.activation_of(work.network)
        equations = Equations(activation, self._gains, self.anneal, self.tau, self.settle, t_end)
        work.time, work.suspended = np.zeros(work.batch), np.zeros(work.batch, dtype=np.bool_)
        work.excess, work.lyapunov = np.zeros(work.batch), np.zeros(work.batch)
        work.solvers = self._solvers(work, equations)

    def sweep(self, work: PairWork, number: int) -> None:
        """One step of every running row."""
        assert work.suspended is not None
        work.suspended[:] = False
        _at_once([solver.sweep for solver in work.solvers])
        left = [solver for solver in work.solvers if len(solver.index)]
        work.solvers, (_, few) = left[:1], _rows_at_once(work.network)
        for solver in left[1:]:  # few rows cost almost as much as many
            if len(work.solvers[-1].index) + len(solver.index) <= few:
                work.solvers[-1].join(solver)
            else:
                work.solvers.append(solver)

    def activation_of(self, network: Network) -> Activation:
        """The activation of the neurons of this network."""
        return ACTIVATIONS[self._activation(network)](network.layout.start, network.layout.single)

    def discrete(
        self, network: Network, states: Shaped[np.ndarray, "rows neurons"]
    ) -> Int8[np.ndarray, "rows neurons"]:
        """On above the middle of the range; under softmax the likeliest value of each attribute."""
        return nearest_states(states, network.layout, network.low, self._activation(network) == "softmax")

    @property
    def _gains(self) -> tuple[float, float]:
        """The first and the last gain."""
        return self.gain if isinstance(self.gain, tuple) else (self.gain, self.gain)

    @property
    def _step(self) -> float:
        """The step of the fixed solvers; by default short enough to follow a changing gain."""
        if self.step is not None:
            return self.step
        step = (FULL if self.solver == DESCENT else 0.1) * self.tau
        return min(step, self.anneal / 50.0) if self.anneal else step

    def _solvers(self, work: PairWork, equations: Equations) -> list[Solver]:
        """One for a share of the rows: on the CPU equal ones for all threads, whose memory stays near the processor."""
        make: Callable[[np.ndarray], Solver]
        if self.solver == DESCENT:
            blocks = blocks_of(work.network, equations.activation)
            make = partial(Coordinate, work, equations, step=self._step, blocks=blocks)
        else:
            tableau = TABLEAUS[self.solver]
            step = self.step if tableau.order is not None else self._step
            make = partial(RungeKutta, work, equations, tableau=tableau, step=step, rtol=self.rtol, atol=self.atol)
        shares = 1
        if work.states.device.type == "cpu":
            many, few = _rows_at_once(work.network)
            workers = threads.count()
            shares = min(workers * ceil(work.batch / (workers * many)), max(1, work.batch // few))
        return _at_once([partial(make, rows) for rows in np.array_split(np.arange(work.batch), shares)])

    def _activation(self, network: Network) -> str:
        """Name of the activation."""
        if self.activation != AUTO:
            return self.activation
        if network.low == -1:
            return "tanh"
        return "logistic" if network.layout.single.all() or network.silence is not None else "softmax"

    def _largest_step(self, network: Network) -> float:
        """Euler: sure to descend; RK4: stable where the flow contracts fastest (`docs/theory.md`, section 10)."""
        steepest = max(self._gains) * ACTIVATIONS[self._activation(network)].steepest

        def limit(fastest: float) -> float:
            rate = 1.0 + steepest * fastest
            return self.tau * (min(1.0, 2.0 / rate) if self.solver == "euler" else TABLEAUS[self.solver].limit / rate)

        quick = limit(network.largest_row_sum)  # no eigenvalue is larger
        if quick >= self._step or network.neurons > EXACT:
            return quick
        return limit(max(0.0, -network.least_eigenvalue))

    def _descent_guarantee(self, network: Network, later: str) -> Guarantee:
        """What a unit says to itself must bend its free energy downwards, so that its answer is no overshoot."""
        if self._activation(network) != "softmax" and network.negative_self is not None:
            name = network.layout.names[network.negative_self]
            return Guarantee(False, f"the self-connection of {name!r} is negative, so its answer may overshoot")
        if self._activation(network) == "softmax" and network.indefinite is not None:
            name = network.layout.schema.names[network.indefinite]
            return Guarantee(
                False, f"the weights between the values of {name!r} bend E upwards, so its answer may overshoot"
            )
        return Guarantee(True, f"symmetric weights: each unit moves towards its own minimum{later}")


def _rows_at_once(network: Network) -> tuple[int, int]:
    """How many rows at most, so that their states stay near the processor, and how few are not divided further."""
    return max(MANY_ROWS, MANY // network.neurons), max(FEW_ROWS, FEW // network.neurons)


def _at_once(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """What tasks return; several are divided over threads, each of which keeps torch's operations to itself.

    Threads of torch's own would share every single operation, and wait for each other after each. A thread takes the
    next task when it is free.
    """
    if len(tasks) == 1:
        return [tasks[0]()]
    found: dict[int, Result] = {}
    waiting, of_torch = iter(enumerate(tasks)), torch.get_num_threads()

    def work_off(_begin: int, _end: int) -> None:
        torch.set_num_threads(1)  # of this thread
        with threads.undivided():
            for number, task in waiting:
                found[number] = task()

    try:
        threads.run(work_off, len(tasks))
    finally:
        torch.set_num_threads(of_torch)
    return [found[number] for number in range(len(tasks))]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
