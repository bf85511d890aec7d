"""Cue, recalled and true patterns side by side; one row's history, flip by flip or along a flow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64, Int8, Shaped
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch

from bnn.errors import DataError
from bnn.plots import cells
from bnn.plots.clock import moment_name, moments_of, path_of
from bnn.plots.series import draw_flips, energy, flips_of
from bnn.plots.style import BLUE, GREY, count, new_figure, readable, styled
from bnn.schema import Layout
from bnn.trace import Trace

SNAPSHOTS = 8
MOST_NAMES = 60


@styled()
def recall(trace: Trace, patterns: Any = None, *, rows: Iterable[int] | None = None) -> Figure:
    """Draw cue, recalled and true pattern of each row: pictures where patterns have two dimensions, else strips.

    The graded states of a flow are shown as grey levels. Unknown cells have a colour of their own; in what was
    recalled, cells that differ from the truth are marked. Beside stands whether the row ended in its pattern (stored),
    in another stored one, in the inverse of one, or in none (spurious), and its overlap with its pattern; without
    ``patterns``, how the row ended.

    Parameters
    ----------
    trace
        From `bnn.recall`.
    patterns
        Records, or an array [patterns, neurons] or [patterns, height, width]. As many as rows: pattern r is the truth
        of row r. Otherwise the nearest pattern is shown and called so.
    rows
        Which rows to draw; None: all, or ten spread over them.

    Raises
    ------
    DataError, SchemaError
        Patterns of another network, or no such row.

    Examples
    --------
    >>> import bnn
    >>> patterns = bnn.Records.from_patterns([[[1, 1], [0, 0]], [[0, 1], [0, 1]]])
    >>> network = bnn.learn(patterns, "odds")
    >>> trace = bnn.recall(network, [[[1, 1], [0, 1]]], seed=0)
    >>> [label.get_text() for label in recall(trace, patterns).axes[0].get_yticklabels()]
    ['cue', 'recalled', 'nearest']
    """
    chosen = _rows(trace, rows)
    layout = trace.network.layout
    truth = None if patterns is None else cells.truth_of(trace, patterns, "plots.recall.patterns")
    if truth is None:
        captions = [str(trace.outcome[r]) for r in chosen]
    else:
        captions = [f"{truth.word[r]}\noverlap {readable(truth.overlap[r], '.2f')}" for r in chosen]
    lines = cells.lines_of(trace, chosen, truth)
    draw = _pictures if cells.is_picture(layout) else _strips
    figure = draw(layout, lines, captions)
    cells.explain_colours(figure, list(lines.values()))
    return figure


@styled()
def replay(trace: Trace, row: int) -> Figure:
    """Draw the history of one row: its states along the flips, above its energy after each flip.

    Pictures are shown as eight snapshots or fewer, each above its place on the axis of flips; other patterns as one
    column a flip. In parallel dynamics, snapshots are taken at the end of steps. A flow, which has no flips, is shown
    in grey levels along its time, above its free energy.

    Parameters
    ----------
    trace
        From ``bnn.recall(..., record="flips")``; of a flow from ``record="states"``.
    row
        Which row.

    Raises
    ------
    DataError
        The flips, or the states of a flow, were not recorded, or there is no such row.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 1], [1, 0]], bias=[-0.5, 0.0])
    >>> figure = replay(bnn.recall(network, [[1, 0]], seed=0, record="flips"), 0)
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['neuron', 'energy (bits)']
    """
    flow = trace.dynamics.graded
    if flow:
        entries, places, states = path_of(trace, row, "plots.replay")
        values = trace.lyapunov[row, entries]
    else:
        states, values = trace.replay(row), flips_of(trace, row)[0]
        places = np.arange(len(states))
    layout = trace.network.layout
    silent = None if trace.silent is None else np.repeat(trace.silent[[row]], len(states), axis=0)
    history = cells.shades_of(trace, states, silent)
    picture = cells.is_picture(layout)
    top = 1.9 if picture else 0.16 * layout.neurons + 0.5 if layout.neurons <= MOST_NAMES else 2.5
    figure = new_figure(11.0, top + 3.6)
    above, below = figure.subplots(2, 1, height_ratios=[top, 3.3])
    if flow:
        energy(trace, ax=below, row=row)
    else:
        draw_flips(below, trace, row)
    if picture:
        moments = moments_of(states, SNAPSHOTS) if flow else moments_of_flips(trace, row, SNAPSHOTS)
        names = [moment_name(trace, places[m]) if flow else count(m, "flip") for m in moments[1:]]
        pictures = cells.as_pictures(layout, history[moments])
        join_snapshots(above, below, pictures, ["start", *names], places[moments], values[moments], not flow)
    else:
        _columns(above, below, history, places if flow else None)
        _name_neurons(above, layout, "y")
        above.set_ylabel("neuron")
    cells.explain_colours(figure, [history])
    return figure


def _rows(trace: Trace, rows: Iterable[int] | None) -> list[int]:
    """Row numbers to draw, counted from the end where negative."""
    chosen = cells.spread(len(trace)) if rows is None else [int(row) for row in rows]
    if not chosen:
        raise DataError("plots.recall.rows: got none; name at least one row.")
    for row in chosen:
        if not -len(trace) <= row < len(trace):
            raise DataError(f"plots.recall.rows: got {row}; the trace has rows 0 to {len(trace) - 1}.")
    return [row % len(trace) for row in chosen]


def _pictures(layout: Layout, lines: dict[str, Int8[np.ndarray, "rows neurons"]], captions: list[str]) -> Figure:
    """Ten columns of pictures at most, further rows below."""
    pictures = [cells.as_pictures(layout, line) for line in lines.values()]
    rows, height, width = pictures[0].shape
    columns = min(rows, cells.IN_A_LINE)
    blocks = -(-rows // columns)
    block_height = 0.55 + len(lines) * 1.02 * height / width
    figure = new_figure(1.2 + 1.12 * max(columns, 4), blocks * block_height + 0.5)
    for i, ax in enumerate(np.atleast_1d(figure.subplots(blocks, 1))):
        mine = slice(i * columns, (i + 1) * columns)
        cells.show_cells(ax, cells.mosaic([picture[mine] for picture in pictures], columns))
        cells.name_lines(ax, height, width, list(lines))
        cells.name_columns(ax, width, captions[mine])
        ax.tick_params(axis="x", labelsize=10)
    return figure


def _strips(layout: Layout, lines: dict[str, Int8[np.ndarray, "rows neurons"]], captions: list[str]) -> Figure:
    """One line of cells a pattern, the lines of one row together, the caption at the right."""
    rows = len(captions)
    between = np.full((rows, layout.neurons), cells.BLANK, np.int8)
    stacked = np.stack([*lines.values(), between], axis=1).reshape(-1, layout.neurons)[:-1]
    named = layout.neurons <= MOST_NAMES
    figure = new_figure(min(13.0, max(5.0, 2.8 + 0.25 * layout.neurons)), 0.8 + 0.22 * len(stacked) + 1.4 * named)
    ax = figure.add_subplot()
    cells.show_cells(ax, stacked, aspect="auto", interpolation="nearest" if named else "auto")
    if (np.diff(layout.start) > 1).any():
        for edge in layout.start[1:-1].tolist():
            ax.axvline(edge - 0.5, color="white", linewidth=3)
    if named:
        for line in range(layout.neurons):
            ax.axvline(line - 0.5, color="white", linewidth=0.5)
    _name_neurons(ax, layout, "x")
    period = len(lines) + 1
    ax.set_yticks(
        [r * period + i for r in range(rows) for i in range(len(lines))], [name for _ in range(rows) for name in lines]
    )
    ax.tick_params(axis="y", labelsize=10)
    for r, caption in enumerate(captions):
        middle = r * period + (len(lines) - 1) / 2
        ax.text(layout.neurons, middle, caption, va="center", fontsize=10)
    return figure


def _name_neurons(ax: Axes, layout: Layout, axis: str) -> None:
    """Names of neurons along an axis where they fit, else only what is counted."""
    if layout.neurons > MOST_NAMES:
        ax.set(**{f"{axis}label": "neuron"})
        return
    if axis == "x":
        ax.set_xticks(range(layout.neurons), layout.names, rotation=90, fontsize=10)
    else:
        ax.set_yticks(range(layout.neurons), layout.names, fontsize=10)


def moments_of_flips(trace: Trace, row: int, most: int) -> list[int]:
    """Up to so many numbers of flips, from none to all, never amid a parallel step."""
    sweep = flips_of(trace, row)[1]
    parallel = trace.lyapunov_name == "two-step energy"
    whole = np.arange(len(sweep) + 1)
    if parallel:
        whole = np.concatenate([[0], np.flatnonzero(np.diff(sweep)) + 1, [len(sweep)]])
    chosen: list[int] = np.unique(whole[np.linspace(0, len(whole) - 1, most).round().astype(int)]).tolist()
    return chosen


def _columns(
    above: Axes, below: Axes, history: Int8[np.ndarray, "states neurons"], times: Float64[np.ndarray, " states"] | None
) -> None:
    """States as columns above their place: one a flip, or as wide as the time until the next step of a flow."""
    if times is None:
        cells.show_cells(above, history.T, aspect="auto", interpolation="nearest")
        below.set_xlim(-0.5, len(history) - 0.5)
    else:
        ends = np.append(times, 1.02 * times[-1] or 1.0)
        cells.show_columns(above, ends, history)
        below.set_xlim(0.0, ends[-1])
    above.sharex(below)
    above.tick_params(labelbottom=False)


def join_snapshots(
    above: Axes,
    below: Axes,
    pictures: Int8[np.ndarray, "moments height width"],
    names: Sequence[str],
    x: Shaped[np.ndarray, " moments"],
    y: Float64[np.ndarray, " moments"],
    even: bool = False,
) -> None:
    """Pictures at some moments, ``even`` where evenly spaced, each joined to its place on the curve below."""
    _, height, width = pictures.shape
    columns = max(len(pictures), 5)
    cells.show_cells(above, cells.mosaic([pictures], columns))
    cells.name_columns(above, width, names)
    above.xaxis.tick_top()
    above.tick_params(length=0)
    places = above.get_xticks()
    if even and len(pictures) == columns:  # each place then stands below its snapshot
        a_cell = (x[-1] - x[0]) / (places[-1] - places[0])
        below.set_xlim(*((np.array(above.get_xlim()) - places[0]) * a_cell))
    below.plot(x, y, "o", color=BLUE, markersize=6)
    below.patch.set_visible(False)  # the lines that join lie under everything
    for a, b, place in zip(x.tolist(), y.tolist(), places, strict=True):
        join = ConnectionPatch(
            (place, height - 0.5),
            (a, b),
            "data",
            axesA=above,
            axesB=below,
            annotation_clip=False,
            color=GREY,
            linewidth=0.8,
            linestyle=":",
        )
        join.set_in_layout(False)
        join.set_zorder(-1)
        above.figure.add_artist(join)
