"""Fixed points of graded networks, followed from gain to gain: `bifurcation`."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Float64, Int
from torch import Tensor

from bnn import coding
from bnn.driver import recall
from bnn.dynamics import GradientFlow
from bnn.errors import DataError
from bnn.frames import frame_of
from bnn.network import Network, require_weights

LN2 = log(2.0)
BLUR, NUDGE, EDGE = 0.05, 0.01, 1e-6  # shares of a neuron's range
LONG = 2e5  # time constants: 10,000 sweeps, for what is slow near a bifurcation
NEGLIGIBLE = 1e-20  # V (1 - V) of a neuron too certain to move with the others


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bifurcation:
    """What `bnn.bifurcation` returns: the stable fixed points at each gain. Arrays are read-only numpy.

    Attributes
    ----------
    network
        The network, in float64.
    gains
        float64 [gains], rising, 1/bits.
    at
        int64 [points]: for each point the index of its gain; rising, and within a gain the free energy rises.
    states
        float64 [points, neurons]: graded states, from `network.low` to 1.
    free_energy
        float64 [points], bits.
    margin
        float64 [points], 1/tau: the rate at which the slowest small disturbance dies out, > 0 where stable and 0 at a
        bifurcation. It is the smallest eigenvalue of 1 - gain B' W B with dV/du = gain B B': of the free energy's
        Hessian -W + (dV/du)^-1, measured as the flow does, so that certain neurons count 1 and not infinity.
    lead
        int64 [gains, starts + 1]: the point that each start leads to, the blurred state last; -1 where it leads to no
        stable point: it came to rest on an unstable one, or had not settled in 10,000 sweeps.
    """

    network: Network
    gains: Float64[np.ndarray, " gains"]
    at: Int[np.ndarray, " points"]
    states: Float64[np.ndarray, "points neurons"]
    free_energy: Float64[np.ndarray, " points"]
    margin: Float64[np.ndarray, " points"]
    lead: Int[np.ndarray, "gains starts_and_one"]

    def __post_init__(self) -> None:
        for array in (self.gains, self.at, self.states, self.free_energy, self.margin, self.lead):
            array.flags.writeable = False

    def __len__(self) -> int:
        """Number of points."""
        return len(self.at)

    def __repr__(self) -> str:
        first, last = self.gains[0], self.gains[-1]
        return f"Bifurcation({len(self):,} stable points at {len(self.gains):,} gains from {first:g} to {last:g})"

    def of(self, gain: int) -> slice:
        """The points at the gain of this index."""
        first, last = np.searchsorted(self.at, [gain, gain + 1]).tolist()
        return slice(first, last)

    def to_frame(self, backend: str = "pyarrow") -> Any:
        """One line a point: its gain, free energy (bits), margin (1/tau), and how many of the starts lead there.

        Parameters
        ----------
        backend
            ``"pyarrow"``, ``"pandas"`` or ``"polars"``.
        """
        columns = {
            "gain": self.gains[self.at],
            "free_energy": self.free_energy,
            "margin": self.margin,
            "starts": np.bincount(self.lead[self.lead >= 0], minlength=len(self)),
        }
        return frame_of(columns, backend, "Bifurcation.to_frame")


def bifurcation(
    network: Network,
    gains: Any,
    starts: Any = None,
    *,
    activation: str = "auto",
    input: Any = 0.0,
    settle: float = 1e-8,
    merge: float = 1e-3,
) -> Bifurcation:
    """Find the stable states of a graded network at each gain: from one blurred state to the discrete memories.

    At each gain recall starts from ``starts``, from the blurred state (every neuron, or value, equally likely), and
    from the points found at both neighbouring gains; the descent solver brings each to a fixed point. One that is
    unstable, as the blurred state is beyond a bifurcation, is left both ways along its steepest direction.

    It finds no unstable points, such as the saddles between memories, and so not the branches along which two states
    meet and vanish. It finds a stable point only if a start or a neighbour leads there: give the patterns learned as
    starts, and gains close to each other. For all fixed points of the discrete network see `bnn.fixed_points`.

    Parameters
    ----------
    network
        With symmetric weights; computed in float64 on the CPU.
    gains
        [gains], each > 0, 1/bits; sorted, each once.
    starts
        Patterns, as `recall` takes cues: Records, or an array, also of probabilities; NaN starts at its prior. None:
        the blurred state alone.
    activation, input
        As for `GradientFlow` and `recall`.
    settle
        A state is a fixed point where no neuron differs by more than this from the answer to its field.
    merge
        Points whose neurons all differ by less than this share of their range are one.

    Raises
    ------
    DataError
        Asymmetric weights, gains or starts that do not fit.

    Notes
    -----
    A fixed point V = g(gain (W V + b + input)) is stable where the free energy bends upwards in every direction. Two
    neurons with W = [[0, w], [w, 0]] and b = -w/2 part from V = 1/2 where gain ln2 w/4 = 1 (a pitchfork).

    Examples
    --------
    >>> network = Network.of([[0, 2], [2, 0]], bias=[-1, -1])  # parts at 4 / (2 ln2) = 2.885
    >>> found = bifurcation(network, [2.0, 4.0])
    >>> found.gains[found.at].tolist(), sorted(found.states[:, 0].round(2).tolist())
    ([2.0, 4.0, 4.0], [0.1, 0.5, 0.9])
    """
    require_weights(network, "bifurcation.network")
    levels = np.unique(_gains(gains))
    if not network.symmetric:
        raise DataError(
            "bifurcation.network: the weights are asymmetric, so there is no free energy whose valleys could be found; "
            "give a network of symmetric weights."
        )
    if not 0.0 < merge < 0.5:
        raise DataError(f"bifurcation.merge: got {merge!r}; give a share of a neuron's range, between 0 and 1/2.")
    network = network.to(dtype=torch.float64, device="cpu")
    cues = _cues(network, starts)
    found = [
        _Level(network, GradientFlow(float(gain), solver="descent", settle=settle, activation=activation,
                                     t_end=LONG, blur=EDGE), input, merge)
        for gain in levels
    ]  # fmt: skip
    lead = []
    before: Float64[np.ndarray, "points neurons"] = np.empty((0, network.neurons))
    for level in found:
        lead.append(level.search(np.concatenate([cues, before]))[: len(cues)])
        before = level.chances()
    for level, above in zip(found[-2::-1], found[:0:-1], strict=True):
        if above.points:
            level.search(above.chances())
    return _joined(network, levels, found, lead)


@dataclass(frozen=True, slots=True)
class _Point:
    """A fixed point: states, free energy and margin."""

    states: Float64[np.ndarray, " neurons"]
    free_energy: float
    margin: float


class _Level:
    """The fixed points found at one gain, the stable ones and those that are not."""

    def __init__(self, network: Network, dynamics: GradientFlow, given: Any, merge: float) -> None:
        self.network, self.dynamics, self.input = network, dynamics, given
        self.merge = merge * (1 - network.low)
        self.points: list[_Point] = []
        self.unstable: list[_Point] = []

    def chances(self) -> Float64[np.ndarray, "points neurons"]:
        """The stable states as cues."""
        return self._as_cues(np.array([p.states for p in self.points]).reshape(len(self.points), self.network.neurons))

    def search(self, cues: Float64[np.ndarray, "rows neurons"]) -> Int[np.ndarray, " rows"]:
        """Let each cue settle, keep what is new, and tell which stable point it leads to, or -1."""
        trace = recall(self.network, cues, self.dynamics, input=self.input, seed=0)
        lead = np.full(len(cues), -1)
        left: list[np.ndarray] = []
        for row in np.flatnonzero(trace.outcome == "settled").tolist():
            states = trace.states[row]
            if self._index(states, self.unstable) >= 0:
                continue
            lead[row] = self._index(states, self.points)
            if lead[row] >= 0:
                continue
            margin = margin_of(self.network, self.dynamics, states)
            point = _Point(states, float(trace.lyapunov[row, -1]), margin)
            if margin > 0.0:
                lead[row] = len(self.points)
                self.points.append(point)
            else:
                self.unstable.append(point)
                steepest = steepest_of(self.network, self.dynamics, states)
                push = NUDGE * (1 - self.network.low) * steepest / np.abs(steepest).max()
                left += [states + push, states - push]
        if left:
            self.search(self._as_cues(np.array(left)))
        return lead

    def _as_cues(self, states: Float64[np.ndarray, "rows neurons"]) -> Float64[np.ndarray, "rows neurons"]:
        low = self.network.low
        return ((states - low) / (1 - low)).clip(EDGE, 1.0 - EDGE)

    def _index(self, states: Float64[np.ndarray, " neurons"], points: list[_Point]) -> int:
        """Which of the points these states are, -1 if none."""
        return next((i for i, p in enumerate(points) if np.abs(p.states - states).max() < self.merge), -1)


def margin_of(network: Network, dynamics: GradientFlow, states: Float64[np.ndarray, " neurons"]) -> float:
    """`Bifurcation.margin` of a fixed point."""
    carried, _ = _carried(network, dynamics, states)
    return 1.0 - max(0.0, float(torch.linalg.eigvalsh(carried)[-1])) if len(carried) else 1.0


def steepest_of(
    network: Network, dynamics: GradientFlow, states: Float64[np.ndarray, " neurons"]
) -> Float64[np.ndarray, " neurons"]:
    """The direction in V of the disturbance that dies out most slowly, or grows fastest."""
    carried, root = _carried(network, dynamics, states)
    direction: np.ndarray = (root @ torch.linalg.eigh(carried).eigenvectors[:, -1]).numpy()
    return direction


def _carried(
    network: Network, dynamics: GradientFlow, states: Float64[np.ndarray, " neurons"]
) -> tuple[Float64[Tensor, "moving moving"], Float64[Tensor, "neurons moving"]]:
    """What becomes of a disturbance within a time constant, gain B' W B, and B, where dV/du = gain B B'.

    With softmax dV/du = gain ln2 (diag V - V V') within an attribute, whose root is diag(sqrt V) (1 - sqrt V sqrt V').
    Neurons too certain to move are left out.
    """
    activation, layout = dynamics.activation_of(network), network.layout
    value = torch.tensor(states)[None]
    chance = (value[0] - network.low) / (1 - network.low)
    moving = torch.nonzero(chance * (1.0 - chance) > NEGLIGIBLE)[:, 0]
    size = activation.slope(value)[0].clamp(min=0.0).sqrt()
    attribute = torch.from_numpy(np.where(layout.single[layout.attribute], -1, layout.attribute))
    together = (attribute >= 0) if activation.name == "softmax" else torch.zeros_like(attribute, dtype=torch.bool)
    size = torch.where(together, (LN2 * chance).sqrt(), size)[moving]
    carried = float(cast(float, dynamics.gain)) * size[:, None] * network.table[moving][:, moving] * size
    root = torch.zeros(network.neurons, len(moving), dtype=torch.float64)
    root[moving, torch.arange(len(moving))] = size
    if bool(together.any()):
        mine, part = attribute[moving], chance[moving].sqrt()
        shared = (mine[:, None] == mine) * together[moving] * torch.outer(part, part)
        inner = torch.eye(len(moving), dtype=torch.float64) - shared
        carried, root = inner @ carried @ inner, root @ inner
    return carried, root


def _gains(gains: Any) -> Float64[np.ndarray, " gains"]:
    """Gains as a line of numbers."""
    try:
        array = np.atleast_1d(np.asarray(gains, dtype=np.float64))
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 1 or array.size == 0 or not (np.isfinite(array) & (array > 0)).all():
        raise DataError(f"bifurcation.gains: got {gains!r}; give a line of numbers above 0, such as [0.1, 1.0, 10.0].")
    return array


def _cues(network: Network, starts: Any) -> Float64[np.ndarray, "starts_and_one neurons"]:
    """The starts, not quite certain, NaN where unknown, and the blurred state."""
    blurred = np.full((1, network.neurons), 0.5)
    if starts is None:
        return blurred
    read = coding.read_states(network.layout, starts, "bifurcation.starts", soft=True)
    cues = read.on.astype(np.float64).clip(BLUR, 1.0 - BLUR)
    if read.unknown is not None:
        cues[read.unknown] = np.nan
    return np.concatenate([cues, blurred])


def _joined(
    network: Network, gains: Float64[np.ndarray, " gains"], found: list[_Level], lead: list[np.ndarray]
) -> Bifurcation:
    """All levels as one record, the points of each by rising free energy."""
    points: list[_Point] = []
    moved = []
    for level, mine in zip(found, lead, strict=True):
        order = sorted(range(len(level.points)), key=lambda i: level.points[i].free_energy)
        place = np.empty(len(order) + 1, dtype=np.int64)
        place[order], place[-1] = len(points) + np.arange(len(order)), -1
        moved.append(place[mine])
        points += [level.points[i] for i in order]
    return Bifurcation(
        network=network,
        gains=gains,
        at=np.repeat(np.arange(len(found)), [len(level.points) for level in found]),
        states=np.array([p.states for p in points]).reshape(len(points), network.neurons),
        free_energy=np.array([p.free_energy for p in points]),
        margin=np.array([p.margin for p in points]),
        lead=np.array(moved),
    )
