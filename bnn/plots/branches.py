"""Fixed points against gain: from one blurred state to the memories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Float64, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from bnn import coding
from bnn.continuation import Bifurcation
from bnn.errors import DataError
from bnn.plots import cells
from bnn.plots.flows import numbers_of, state_limits, state_name
from bnn.plots.style import (
    GREY,
    MARKERS,
    PALE,
    SERIES,
    figure_of,
    given_or_new,
    new_figure,
    readable,
    styled,
)

FORK = 1.5  # a branch goes on to all points at most so many times as far as the nearest
COLUMNS, MOST, MOST_NAMED = 7, 6, 12
PICTURE = 0.62  # inches


@styled()
def bifurcation(
    result: Bifurcation,
    patterns: Any = None,
    *,
    pattern: int = 0,
    neurons: Iterable[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the stable states of a network against the gain: their overlap with a pattern, or the states of neurons.

    A line goes on to the nearest point of the next gain, and parts where several are about as near; a state that is
    born far from all others begins a line of its own. A point to which a single pattern leads has that pattern's
    colour and marker; points to which several lead, or none, are small and grey. Where patterns are pictures, the
    states at some gains stand above, in the order of the curves.

    Parameters
    ----------
    result
        From `bnn.bifurcation`.
    patterns
        What was stored, if points are to be drawn by their overlap with one of them: 1 equal, 0 unrelated, -1 inverse
        (the mean over neurons of (2 P - 1)(2 V - 1)). As many as starts: pattern r is named by start r.
    pattern
        Which one.
    neurons
        Names of neurons whose states are drawn instead; None, without patterns: the one that differs most at the last
        gain.
    ax
        Axes to draw into, without pictures; None makes a figure.

    Raises
    ------
    DataError
        Both patterns and neurons, no such pattern, unknown names, or a result without points.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -1])
    >>> ax = bifurcation(bnn.bifurcation(network, [1.0, 2.0, 4.0, 8.0]), neurons=["x0"]).axes[0]
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('gain (1/bits)', 'x0: state (probability of being on)')
    """
    if len(result) == 0:
        raise DataError("plots.bifurcation.result: holds no stable point; give bnn.bifurcation more starts.")
    if patterns is not None and neurons is not None:
        raise DataError("plots.bifurcation: got patterns and neurons; give one of them.")
    network = result.network
    if patterns is None:
        chosen = (
            _most_different(result) if neurons is None else numbers_of(network.layout, neurons, "plots.bifurcation")
        )
        values, name = result.states[:, chosen].T, state_name(network)
        name = f"{network.layout.names[chosen[0]]}: {name}" if len(chosen) == 1 else name
        labels = [network.layout.names[j] for j in chosen]
    else:
        values, name = _overlaps(result, patterns, pattern)[None], f"overlap with pattern {pattern}"
        labels = []
    pictures = ax is None and cells.is_picture(network.layout)
    above = None
    if pictures:
        tallest = min(MOST, int(np.bincount(result.at).max()))
        height = tallest * (PICTURE + 0.18) + 0.35
        figure = new_figure(10.5, 4.8 + height)
        above, ax = figure.subplots(2, 1, height_ratios=[height, 4.4], sharex=True)
    ax = given_or_new(ax, 9.0, 5.0)
    _draw_branches(ax, result, values, labels)
    if above is not None:
        _draw_states(above, ax, result, values[0], tallest)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: readable(value)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("gain (1/bits)")
    ax.set_ylabel(name)
    if patterns is None:
        ax.set_ylim(*state_limits(network))
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure_of(ax)


def links_of(result: Bifurcation) -> list[tuple[int, int]]:
    """Pairs of points at neighbouring gains that are one branch, or a fork of it."""
    links = []
    for k in range(len(result.gains) - 1):
        below, above = result.of(k), result.of(k + 1)
        if below.start == below.stop or above.start == above.stop:
            continue
        apart = np.linalg.norm(result.states[below][:, None] - result.states[above][None], axis=2)
        parent, nearest = apart.argmin(axis=0), apart.min(axis=1)
        for child in range(apart.shape[1]):
            mine = int(parent[child])
            if apart[mine, child] <= FORK * nearest[mine] + 1e-9:
                links.append((below.start + mine, above.start + child))
    return links


def _most_different(result: Bifurcation) -> list[int]:
    """The neuron whose states lie furthest apart at the last gain that has any."""
    last = result.states[result.at == result.at[-1]]
    return [int(np.ptp(last, axis=0).argmax())]


def _overlaps(result: Bifurcation, patterns: Any, pattern: int) -> Float64[np.ndarray, " points"]:
    """Overlap of every point with one pattern."""
    read = coding.read_states(result.network.layout, patterns, "plots.bifurcation.patterns")
    if not -len(read.on) <= pattern < len(read.on):
        raise DataError(f"plots.bifurcation.pattern: got {pattern}; there are patterns 0 to {len(read.on) - 1}.")
    low = result.network.low
    signed = 2.0 * (result.states - low) / (1 - low) - 1.0
    known = np.ones(read.on.shape, np.bool_) if read.unknown is None else ~read.unknown
    overlap: np.ndarray = signed[:, known[pattern]] @ (2.0 * read.on[pattern, known[pattern]] - 1.0)
    return overlap / max(1, int(known[pattern].sum()))


def _owner_of(result: Bifurcation) -> Int[np.ndarray, " points"]:
    """The only start, but for the blurred state, that leads to each point; -1 where it is not one."""
    starts = result.lead[:, :-1]
    owner = np.full(len(result), -1)
    for k in range(len(result.gains)):
        for point in range(result.of(k).start, result.of(k).stop):
            mine = np.flatnonzero(starts[k] == point)
            if len(mine) == 1:
                owner[point] = mine[0]
    return owner


def _draw_branches(
    ax: Axes, result: Bifurcation, values: Float64[np.ndarray, "curves points"], names: list[str]
) -> None:
    """Points and the lines between them; one colour a start, or, of several neurons, one a neuron."""
    gain = result.gains[result.at]
    owner = _owner_of(result)
    for c, series in enumerate(values):
        several = len(values) > 1
        for a, b in links_of(result):
            colour = SERIES[c % len(SERIES)] if several else GREY
            ax.plot(gain[[a, b]], series[[a, b]], color=colour, linewidth=1.2, alpha=0.8, zorder=2)
        if several:
            look: dict[str, Any] = {"color": SERIES[c % len(SERIES)], "marker": MARKERS[c % len(MARKERS)]}
            ax.plot(gain, series, linewidth=0, markersize=5, label=names[c], zorder=3, **look)
            continue
        plain = owner < 0
        ax.plot(gain[plain], series[plain], color=GREY, linewidth=0, marker="o", markersize=4, zorder=3)
        starts = np.unique(owner[~plain]).tolist()
        for start in starts:
            look = {"color": SERIES[start % len(SERIES)], "marker": MARKERS[start % len(MARKERS)]}
            mine = owner == start
            label = f"only pattern {start} leads here" if len(starts) <= MOST_NAMED else None
            ax.plot(gain[mine], series[mine], linewidth=0, markersize=6.5, label=label, zorder=4, **look)


def _draw_states(
    above: Axes, below: Axes, result: Bifurcation, values: Float64[np.ndarray, " points"], tallest: int
) -> None:
    """The states at some gains as pictures above their place, in the order of the curves."""
    layout = result.network.layout
    height, width = layout.schema.shape or (1, 1)
    chosen = np.unique(np.linspace(0, len(result.gains) - 1, COLUMNS).round().astype(int)).tolist()
    owner = _owner_of(result)
    low = result.network.low
    for k in chosen:
        points = np.arange(result.of(k).start, result.of(k).stop)
        points = points[np.argsort(-values[points], kind="stable")]
        for place, point in enumerate(points[:tallest].tolist()):
            chance = (result.states[[point]] - low) / (1 - low)
            shade = cells.as_pictures(layout, cells.greys_of(chance))[0]
            image = OffsetImage(
                cells.colours_of(shade), zoom=PICTURE * 72 / max(height, width), interpolation="nearest"
            )
            start = int(owner[point])
            frame = {"edgecolor": PALE if start < 0 else SERIES[start % len(SERIES)], "linewidth": 1.8}
            above.add_artist(
                AnnotationBbox(
                    image, (result.gains[k], -place), frameon=True, pad=0.1, bboxprops=frame, box_alignment=(0.5, 0.5)
                )
            )
        if len(points) > tallest:
            above.annotate(
                f"and {len(points) - tallest} more",
                (result.gains[k], -tallest + 0.35),
                ha="center",
                va="top",
                fontsize=10,
            )
        below.axvline(result.gains[k], color=PALE, zorder=0)
    above.set_ylim(-tallest + 0.2, 0.8)
    above.axis("off")
    first, last = (f"{int((result.at == k).sum())} at gain {readable(result.gains[k], '.3g')}" for k in (0, chosen[-1]))
    above.set_title(f"stable states: {first}, {last}", fontsize=12)
