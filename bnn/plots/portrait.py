"""Phase portrait of two graded neurons: where each rests, where they flow, and over which free energy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bnn import coding
from bnn.driver import external_input, recall
from bnn.dynamics import GradientFlow
from bnn.dynamics.activations import ACTIVATIONS, Activation
from bnn.errors import DataError
from bnn.network import Network
from bnn.plots.flows import numbers_of, state_limits, state_name
from bnn.plots.style import BLUE, GREY, INK, ORANGE, count, figure_of, given_or_new, readable, styled

EDGE = 1e-6
FINE, ARROWS, LEVELS = 240, 17, 14
STARTS = (0.03, 0.35, 0.65, 0.97)  # of the trajectories, along the border
VALLEYS = LinearSegmentedColormap.from_list("valleys", ["#BBD7EA", "#FFFFFF"])


@styled()
def phase_portrait(
    network: Network,
    dynamics: GradientFlow = GradientFlow(),  # noqa: B008 - frozen
    *,
    neurons: Iterable[str] | None = None,
    cue: Any = None,
    input: Any = 0.0,
    ax: Axes | None = None,
) -> Figure:
    """Draw how two graded neurons move while all others are held.

    Shading and thin lines are levels of the free energy, darker where it is lower; arrows the direction of the flow;
    dark lines a few of its paths. On its nullcline a neuron rests, V = g(gain h); where both cross both rest: full
    dots are stable, for there the Hessian of the free energy has no direction downwards, empty ones are not.

    Parameters
    ----------
    network
        With symmetric weights.
    dynamics
        Its gain (the last, if it rises) and activation; under softmax, neurons that share their attribute with others
        are refused.
    neurons
        Names of two; None: those with the strongest connection.
    cue
        [neurons]: states at which the others are held, as `recall` takes them; None: unknown, so that they say nothing,
        but for other values of the two neurons' own attributes, which are off.
    input
        As for `recall`.
    ax
        Axes to draw into; None makes a figure.

    Raises
    ------
    DataError
        Asymmetric weights, other than two neurons, several cues, or a softmax.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -1], names=["hair", "milk"])
    >>> phase_portrait(network, bnn.GradientFlow(gain=6.0)).axes[0].get_title(loc="left")
    'gain 6: 2 stable states'
    """
    if not isinstance(network, Network):
        raise DataError(
            f"plots.phase_portrait.network: got {type(network).__name__}; give a Network, such as trace.network."
        )
    if not network.symmetric:
        raise DataError("plots.phase_portrait.network: the weights are asymmetric, so there is no free energy to draw.")
    if not isinstance(dynamics, GradientFlow):
        raise DataError(f"plots.phase_portrait.dynamics: got {dynamics!r}; give a GradientFlow, such as its default.")
    if (refusal := dynamics.refusal(network)) is not None:
        raise DataError(f"plots.phase_portrait.dynamics: {refusal}.")
    pair = _pair(network, dynamics, neurons)
    two = _held(network, pair, cue, input)
    gain = dynamics.gain[1] if isinstance(dynamics.gain, tuple) else dynamics.gain
    kind = "tanh" if network.low else "logistic"
    plane = Plane(two, ACTIVATIONS[kind](two.layout.start, two.layout.single), gain)
    ax = given_or_new(ax, 7.5, 7.8)
    _draw_landscape(ax, plane)
    _draw_paths(ax, plane, replace(dynamics, gain=plane.gain, anneal=0.0, activation=kind))
    points, stable = plane.rest_points()
    ax.plot(*points[stable].T, "o", color=INK, markersize=11, zorder=5, clip_on=False)
    ax.plot(*points[~stable].T, "o", color=INK, markerfacecolor="white", markersize=11, zorder=5, clip_on=False)
    first, second = (network.layout.names[j] for j in pair)
    ax.set_xlabel(f"{first}: {state_name(network)}")
    ax.set_ylabel(f"{second}: {state_name(network)}")
    ax.set(xlim=state_limits(network), ylim=state_limits(network), aspect="equal")
    ax.set_title(f"gain {readable(plane.gain, '.3g')}: {count(int(stable.sum()), 'stable state')}")
    handles = [
        Line2D([], [], color=BLUE, linewidth=2.6, label=f"where {first} rests"),
        Line2D([], [], color=ORANGE, linewidth=2.6, linestyle="--", label=f"where {second} rests"),
        Line2D([], [], color=INK, marker="o", markersize=9, linewidth=0, label="stable"),
        Line2D([], [], color=INK, marker="o", markersize=9, markerfacecolor="white", linewidth=0, label="unstable"),
    ]
    figure_of(ax).legend(handles=handles, loc="outside lower center", ncols=2)
    return figure_of(ax)


@dataclass(frozen=True, slots=True)
class Plane:
    """The states of two neurons under one activation and gain."""

    network: Network
    activation: Activation
    gain: float

    def states(self, levels: Float64[np.ndarray, "points two"]) -> Float64[np.ndarray, "points two"]:
        """V of u."""
        found: np.ndarray = self.activation.states(
            torch.from_numpy(levels), torch.tensor([[self.gain]], dtype=torch.float64)
        ).numpy()
        return found

    def fields(self, states: Float64[np.ndarray, "points two"]) -> Float64[np.ndarray, "points two"]:
        """What the two say to each other, and the others to them."""
        fields: np.ndarray = states @ self.network.table.numpy().T + self.network.bias.numpy()
        return fields

    def slope(self, states: Float64[np.ndarray, "points two"]) -> Float64[np.ndarray, "points two"]:
        """dV/du."""
        found: np.ndarray = self.gain * self.activation.slope(torch.from_numpy(states)).numpy()
        return found

    def force(self, states: Float64[np.ndarray, "points two"]) -> Float64[np.ndarray, "points two"]:
        """Tau du/dt = h - u."""
        inverse: np.ndarray = self.activation.inverse(torch.from_numpy(states)).numpy()
        force: np.ndarray = self.fields(states) - inverse / self.gain
        return force

    def free_energy(self, states: Float64[np.ndarray, "points two"]) -> Float64[np.ndarray, " points"]:
        """Energy minus temperature times entropy."""
        energy = -0.5 * (states * (self.fields(states) + self.network.bias.numpy())).sum(axis=1)
        integral: np.ndarray = self.activation.integral(torch.from_numpy(states)).sum(dim=1).numpy()
        whole: np.ndarray = energy + integral / self.gain
        return whole

    def rest_points(self) -> tuple[Float64[np.ndarray, "points two"], Bool[np.ndarray, " points"]]:
        """All fixed points, and which are stable; by Newton's method in u, from many places of where u can end.

        At a high gain a neuron that rests between on and off has u near 0, so places are also even in V.
        """
        weights, low = self.network.table.numpy(), self.network.low
        least, most = self.reach()
        places = self.grid(np.linspace(0.02, 0.98, 25))
        certain, between = self.fields(places), self.fields(places) - self.force(places)
        even = least + (most - least) * (places - low) / (1 - low)
        either = [np.stack(pair, axis=1) for pair in product(*zip(certain.T, between.T, strict=True))]
        levels = np.concatenate([even, *either])
        for _ in range(60):
            states = self.states(levels)
            jacobian = np.eye(2) - weights * self.slope(states)[:, None, :]
            singular = np.abs(np.linalg.det(jacobian)) < 1e-9
            jacobian[singular] = np.eye(2)
            change = np.linalg.solve(jacobian, (self.fields(states) - levels)[:, :, None])[:, :, 0]
            levels = (levels + change).clip(least - 1.0, most + 1.0)
        states = self.states(levels)
        rests = np.abs(self.fields(states) - levels).max(axis=1) < 1e-9
        found: list[np.ndarray] = []
        for point in states[rests]:
            if not any(np.abs(point - other).max() < 1e-4 for other in found):
                found.append(point)
        points = np.array(found).reshape(-1, 2)
        root = np.sqrt(self.slope(points))  # the Hessian -W + (dV/du)^-1, scaled so that certain neurons count 1
        hessian = np.eye(2) - root[:, :, None] * weights * root[:, None, :]
        return points, np.linalg.eigvalsh(hessian)[:, 0] > 0.0

    def reach(self) -> tuple[Float64[np.ndarray, " two"], Float64[np.ndarray, " two"]]:
        """Smallest and largest field of each neuron, between which u rests."""
        corners = self.fields(self.grid(np.array([0.0, 1.0])))
        return corners.min(axis=0), corners.max(axis=0)

    def nullclines(self, k: int) -> list[Float64[np.ndarray, "points two"]]:
        """Where neuron k rests: curves along its own u, or straight lines where the other does not concern it."""
        weights, bias, low = self.network.table.numpy()[k], float(self.network.bias[k]), self.network.low
        if weights[1 - k] == 0.0:
            at = np.unique(self.rest_points()[0][:, k].round(6))
            return [np.roll([[value, low], [value, 1.0]], k, axis=1) for value in at]
        inverse = self.activation.inverse(torch.from_numpy(self.grid(np.linspace(0.001, 0.999, FINE)))).numpy()
        least, most = self.reach()
        levels = np.unique(np.concatenate([np.linspace(least[k], most[k], FINE), inverse[:, k] / self.gain]))
        own = self.states(np.repeat(levels[:, None], 2, axis=1))[:, k]
        other = (levels - bias - weights[k] * own) / weights[1 - k]
        other[(other < low) | (other > 1.0)] = np.nan
        return [np.roll(np.stack([own, other], axis=1), k, axis=1)]

    def grid(self, lines: Float64[np.ndarray, " lines"]) -> Float64[np.ndarray, "points two"]:
        """All pairs of such chances of being on, as states, the first neuron the quickest."""
        low = self.network.low
        x, y = np.meshgrid(lines, lines)
        return low + (1 - low) * np.stack([x.ravel(), y.ravel()], axis=1)


def _pair(network: Network, dynamics: GradientFlow, names: Iterable[str] | None) -> Int[np.ndarray, " two"]:
    """The two neurons asked for, or those with the strongest connection."""
    layout = network.layout
    alone = layout.single[layout.attribute] | (dynamics.activation_of(network).name != "softmax")
    if names is not None:
        pair = np.array(numbers_of(layout, names, "plots.phase_portrait"))
        if len(set(pair.tolist())) != 2:
            raise DataError(f"plots.phase_portrait.neurons: got {len(pair)} names; give two different neurons.")
        if not alone[pair].all():
            name = layout.names[pair[int(np.argmin(alone[pair]))]]
            raise DataError(
                f"plots.phase_portrait.neurons: under softmax {name!r} moves with the other values of its attribute; "
                'choose neurons that own theirs, or activation="logistic".'
            )
        return pair
    able = np.flatnonzero(alone)
    if len(able) < 2:
        raise DataError(
            'plots.phase_portrait.network: no two neurons move by themselves under softmax; use activation="logistic".'
        )
    size = np.abs(network.table.cpu().double().numpy()[np.ix_(able, able)])
    np.fill_diagonal(size, -1.0)
    strongest = np.unravel_index(int(size.argmax()), size.shape)
    return able[np.sort(strongest)]


def _held(network: Network, pair: Int[np.ndarray, " two"], cue: Any, given: Any) -> Network:
    """The two neurons alone, their biases what the others, held at the cue, and the input say."""
    nothing = np.full(network.neurons, np.nan) if cue is None else cue
    read = coding.read_states(network.layout, nothing, "plots.phase_portrait.cue", soft=True)
    if len(read.on) != 1:
        raise DataError(f"plots.phase_portrait.cue: got {len(read.on)} rows; give one state of the network.")
    unknown = np.zeros(read.on.shape, np.bool_) if read.unknown is None else read.unknown.copy()
    attribute = network.layout.attribute
    unknown[:, np.isin(attribute, attribute[pair])] = False  # known as a whole: other values off
    values, mask = network.values_of(coding.NeuronStates(read.on, unknown))
    values = values.to(network.bias.dtype)
    values[:, pair] = 0.0
    bias = (network.bias_for(mask) + external_input(network, given, 1) + values @ network.columns)[0, pair]
    weights = network.table[pair][:, pair]
    names = [network.layout.names[j] for j in pair]
    return Network.of(weights.cpu().numpy(), bias.cpu().numpy(), low=network.low, names=names)


def _draw_landscape(ax: Axes, plane: Plane) -> None:
    """Levels of the free energy, the nullclines and the direction of the flow."""
    lines = np.linspace(EDGE, 1.0 - EDGE, FINE)
    states = plane.grid(lines)
    x, y = (states[:, k].reshape(len(lines), -1) for k in (0, 1))
    level = plane.free_energy(states).reshape(x.shape)
    ax.contourf(x, y, level, LEVELS, cmap=VALLEYS, zorder=0)
    ax.contour(x, y, level, LEVELS, colors=GREY, linewidths=0.5, linestyles="-", alpha=0.6, zorder=1)
    for k, (colour, dash) in enumerate(((BLUE, "-"), (ORANGE, "--"))):
        for line in plane.nullclines(k):
            ax.plot(*line.T, color=colour, linewidth=2.6, linestyle=dash, zorder=3)
    places = plane.grid(np.linspace(0.03, 0.97, ARROWS))
    speed = plane.slope(places) * plane.force(places)
    speed /= np.maximum(np.hypot(*speed.T), 1e-300)[:, None]
    ax.quiver(*places.T, *speed.T, color=GREY, alpha=0.7, scale=32, width=0.0025, pivot="mid", zorder=2)


def _draw_paths(ax: Axes, plane: Plane, dynamics: GradientFlow) -> None:
    """The flow from some places along the border."""
    starts = np.array([(a, b) for a in STARTS for b in STARTS if not {a, b} <= set(STARTS[1:3])])
    accurate = replace(dynamics, solver="dopri5", rtol=1e-6, atol=1e-6, step=None, t_end=None, blur=STARTS[0] / 2)
    trace = recall(plane.network, starts, accurate, record="states", seed=0, max_sweeps=2000)
    assert trace.history is not None
    for path in trace.history:
        ax.plot(*path.T, color=INK, linewidth=0.9, alpha=0.75, zorder=2.5)
