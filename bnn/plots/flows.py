"""One row of a flow: its neurons, the parts of its free energy, and what discrete neurons make of the same cue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float64, Int8, Shaped
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bnn.associative import AssociativeMemory
from bnn.errors import DataError, unknown_name
from bnn.network import Network
from bnn.plots import cells
from bnn.plots.clock import moment_name, moments_of, name_clock, path_of, row_of, shade_rising_gain
from bnn.plots.panels import MOST_NAMES, moments_of_flips
from bnn.plots.series import draw_flips, energy, flips_of, verdict
from bnn.plots.style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    SERIES,
    count,
    figure_of,
    given_or_new,
    new_figure,
    note,
    number_axis,
    styled,
    unit,
)
from bnn.schema import Layout
from bnn.trace import Trace

MOST_LINES = 8
ALIKE = 0.1  # of the range of all states
SNAPSHOTS = 6
DASHES = ("-", "--", ":")


@styled()
def trajectories(trace: Trace, row: int = 0, *, neurons: Iterable[str] | None = None, ax: Axes | None = None) -> Figure:
    """Draw how the states of some neurons change in time.

    Parameters
    ----------
    trace
        Of `bnn.GradientFlow`, with ``record="states"``.
    row
        Which row.
    neurons
        Names, such as ``"legs = 4"``; None: the eight that change most, one of several that change alike.
    ax
        Axes to draw into; None makes a figure.

    Raises
    ------
    DataError
        Another dynamics, states that were not recorded, no such row, or unknown names.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -1], names=["hair", "milk"])
    >>> trace = bnn.recall(network, [[0, 1]], bnn.GradientFlow(gain=4.0), record="states", seed=0)
    >>> [text.get_text() for text in trajectories(trace).axes[0].get_legend().get_texts()]
    ['hair', 'milk']
    """
    _, times, states = path_of(trace, row, "plots.trajectories")
    layout = trace.network.layout
    chosen = _most_changed(layout, states) if neurons is None else numbers_of(layout, neurons, "plots.trajectories")
    ax = given_or_new(ax, 9.0, 4.5)
    for k, neuron in enumerate(chosen):
        style, marker = DASHES[k // len(SERIES) % len(DASHES)], "o" if len(times) == 1 else None
        colour = SERIES[k % len(SERIES)]
        ax.plot(times, states[:, neuron], color=colour, linestyle=style, marker=marker, label=layout.names[neuron])
    rows = np.array([row_of(trace, row, "plots.trajectories.row")])
    shade_rising_gain(ax, trace, rows)
    name_clock(ax, trace, rows)
    ax.set_ylabel(state_name(trace.network))
    ax.set_ylim(*state_limits(trace.network))
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure_of(ax)


@styled()
def free_energy(trace: Trace, row: int = 0, *, ax: Axes | None = None) -> Figure:
    """Draw the free energy of a flow and the three parts it is the sum of, against time.

    They are what the neurons say to each other, -1/2 V' W V; what bias and input say, -(b + input)' V; and minus the
    temperature 1/gain times the entropy of the states. Only their sum must fall.

    Parameters
    ----------
    trace
        Of `bnn.GradientFlow`, with ``record="states"``.
    row
        Which row.
    ax
        Axes to draw into; None makes a figure.

    Raises
    ------
    DataError
        Another dynamics, states that were not recorded, or no such row.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -1])
    >>> trace = bnn.recall(network, [[0, 1]], bnn.GradientFlow(gain=4.0), record="states", seed=0)
    >>> [line.get_label() for line in free_energy(trace).axes[0].lines]
    ['pairs of neurons', 'bias and input', 'minus temperature x entropy', 'free energy, their sum']
    """
    entries, times, states = path_of(trace, row, "plots.free_energy")
    row = row_of(trace, row, "plots.free_energy.row")
    if not isinstance(trace.network, Network):
        raise DataError(
            f"plots.free_energy.trace: {trace.dynamics.name!r} has no free energy; draw plots.energy(trace)."
        )
    weights = trace.network.table.cpu().double().numpy()
    pairs = -0.5 * ((states @ weights.T) * states).sum(axis=1)
    whole, total = trace.energy[row, entries], trace.lyapunov[row, entries]
    ax = given_or_new(ax, 9.0, 4.8)
    for name, values, colour, style, width in (
        ("pairs of neurons", pairs, BLUE, "--", 1.8),
        ("bias and input", whole - pairs, GREEN, "-.", 1.8),
        ("minus temperature x entropy", total - whole, ORANGE, ":", 2.2),
        ("free energy, their sum", total, INK, "-", 2.6),
    ):
        ax.plot(times, values, label=name, color=colour, linestyle=style, linewidth=width)
    shade_rising_gain(ax, trace, np.array([row]))
    name_clock(ax, trace, np.array([row]))
    number_axis(ax.yaxis)
    ax.set_ylabel(f"part of the free energy ({unit(trace.network)})")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    note(ax, *verdict(trace))
    return figure_of(ax)


@styled()
def graded_against_discrete(discrete: Trace, flow: Trace, row: int = 0) -> Figure:
    """Draw discrete and continuous recall of the same cue: states at some moments, and what fell.

    Parameters
    ----------
    discrete
        Of a discrete dynamics, with ``record="flips"``.
    flow
        Of `bnn.GradientFlow` from the same cues, with ``record="states"``.
    row
        Which row of both.

    Raises
    ------
    DataError
        Traces of other kinds or other cues, a record that is missing, or no such row.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -1])
    >>> discrete = bnn.recall(network, [[0, 1]], seed=1, record="flips")
    >>> flow = bnn.recall(network, [[0, 1]], bnn.GradientFlow(gain=4.0), record="states", seed=0)
    >>> figure = graded_against_discrete(discrete, flow)
    >>> [ax.get_xlabel() for ax in figure.axes]
    ['', 'flip', '', 'time (tau)']
    """
    owner = "plots.graded_against_discrete"
    if discrete.dynamics.graded:
        raise DataError(f"{owner}.discrete: {discrete.dynamics.name!r} has graded states; give the flow second.")
    flips, _ = flips_of(discrete, row, f"{owner}.discrete")
    entries, times, path = path_of(flow, row, owner)
    row = row_of(flow, row, f"{owner}.row")
    layout, cues = flow.network.layout, [trace.cues[row] for trace in (discrete, flow)]
    if cues[0].shape != cues[1].shape or (cues[0] != cues[1]).any():
        raise DataError(f"{owner}: row {row} of the traces began from different cues; recall the same cues twice.")
    picture = cells.is_picture(layout)
    tall = 1.6 if picture else 0.22 * SNAPSHOTS
    figure = new_figure(13.0, 2 * max(tall + 0.9, 2.9) + (1.0 if layout.neurons <= MOST_NAMES and not picture else 0.0))
    (upper, staircase), (lower, curve) = figure.subplots(2, 2, width_ratios=[1.6, 1.0])

    states, at = discrete.replay(row), np.array(moments_of_flips(discrete, row, SNAPSHOTS))
    names = ["start", *(count(flip, "flip") for flip in at[1:].tolist())]
    shown = [cells.shades_of(discrete, states[at], _silent(discrete, row, len(at)))]
    draw_flips(staircase, discrete, row)
    _show_moments(upper, staircase, layout, shown[0], names, at, flips[at])

    at = np.array(moments_of(path, SNAPSHOTS))
    names = ["start", *(moment_name(flow, time) for time in times[at[1:]].tolist())]
    shown.append(cells.shades_of(flow, path[at], _silent(flow, row, len(at))))
    energy(flow, ax=curve, row=row)
    _show_moments(lower, curve, layout, shown[1], names, times[at], flow.lyapunov[row, entries[at]])

    differ = int((discrete.discrete[row] != flow.discrete[row]).sum())
    end = "the same answer" if differ == 0 else f"differs from it in {count(differ, 'neuron')}"
    upper.set_title("discrete neurons", pad=24 if picture else 6)
    lower.set_title(f"graded neurons: {end}", pad=24 if picture else 6)
    cells.explain_colours(figure, shown)
    return figure


def numbers_of(layout: Layout, names: Iterable[str], owner: str) -> list[int]:
    """Neurons by name; `DataError` of ``owner`` where there is no such neuron."""
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in layout.names:
            raise unknown_name(f"{owner}.neurons", name, layout.names)
    if not chosen:
        raise DataError(f"{owner}.neurons: got none; name at least one.")
    return [layout.names.index(name) for name in chosen]


def state_name(network: AssociativeMemory) -> str:
    """What a graded state is."""
    return "expected state" if network.low else "state (probability of being on)"


def state_limits(network: AssociativeMemory) -> tuple[float, float]:
    """A little more than what a state can be."""
    room = 0.03 * (1 - network.low)
    return network.low - room, 1.0 + room


def _most_changed(layout: Layout, states: Shaped[np.ndarray, "steps neurons"]) -> list[int]:
    """The neurons that move most, in their own order: of those that move alike, and of two mirror images, one."""
    alike = ALIKE * (states.max() - states.min())
    mirrored = np.diff(layout.start)[layout.attribute] == 2
    chosen: list[int] = []
    for neuron in np.argsort(-np.abs(np.diff(states, axis=0)).sum(axis=0), kind="stable").tolist():
        mine = states[:, chosen]
        seen = (np.abs(mine - states[:, [neuron]]) < alike).all(axis=0).any()
        seen |= bool(mirrored[neuron]) and layout.attribute[neuron] in layout.attribute[chosen]
        if not (seen and chosen):
            chosen.append(neuron)
        if len(chosen) == MOST_LINES:
            break
    return sorted(chosen)


def _silent(trace: Trace, row: int, times: int) -> Shaped[np.ndarray, "times neurons"] | None:
    """The neurons of a row that took no part, at each of so many times."""
    return None if trace.silent is None else np.repeat(trace.silent[[row]], times, axis=0)


def _show_moments(
    left: Axes,
    right: Axes,
    layout: Layout,
    shown: Int8[np.ndarray, "moments neurons"],
    names: Sequence[str],
    x: Shaped[np.ndarray, " moments"],
    y: Float64[np.ndarray, " moments"],
) -> None:
    """States at some moments beside the curve on which they lie: pictures, or one line of cells each."""
    if cells.is_picture(layout):
        pictures = cells.as_pictures(layout, shown)
        cells.show_cells(left, cells.mosaic([pictures], SNAPSHOTS))
        cells.name_columns(left, pictures.shape[2], names)
        left.xaxis.tick_top()
        left.tick_params(length=0)
    else:
        cells.show_cells(left, shown, aspect="auto", interpolation="nearest")
        left.set_yticks(range(len(names)), list(names))
        if layout.neurons <= MOST_NAMES:
            left.set_xticks(range(layout.neurons), layout.names, rotation=90, fontsize=10)
    right.plot(x, y, "o", color=BLUE, markersize=6)
