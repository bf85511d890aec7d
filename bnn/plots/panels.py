"""Cue, recalled and true patterns side by side; one row's history, flip by flip."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Int8
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bnn.errors import DataError
from bnn.plots import cells
from bnn.plots.series import draw_flips
from bnn.plots.style import new_figure, readable, style
from bnn.schema import Layout
from bnn.trace import Trace

IN_A_LINE = 10
MOST_NAMES = 60


@style()
def recall(trace: Trace, patterns: Any = None, *, rows: Iterable[int] | None = None) -> Figure:
    """Draw cue, recalled and true pattern of each row: pictures where patterns have two dimensions, else strips.

    Unknown cells have a colour of their own; in what was recalled, cells that differ from the truth are marked. Below
    stands whether the row is stored, spurious or inverse, and its overlap with the nearest pattern; without
    ``patterns``, how the row ended.

    Parameters
    ----------
    trace
        From `bnn.recall`.
    patterns
        Records, or an array [patterns, neurons] or [patterns, height, width]. As many as rows: pattern r is the truth
        of row r. Otherwise the nearest pattern is shown and called so.
    rows
        Which rows to draw; None: the first ten.

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
        captions = [f"{truth.match.word[r]}\noverlap {readable(truth.match.overlap[r], '.2f')}" for r in chosen]
    lines = cells.lines_of(trace, chosen, truth)
    draw = _pictures if cells.is_picture(layout) else _strips
    figure = draw(layout, lines, captions)
    cells.explain_colours(figure, list(lines.values()))
    return figure


@style()
def replay(trace: Trace, row: int) -> Figure:
    """Draw the history of one row: its states along the flips, above its energy after each flip.

    Pictures are shown as eight snapshots or fewer, each above its place on the axis of flips; other patterns as one
    column a flip. In parallel dynamics, snapshots are taken at the end of steps.

    Parameters
    ----------
    trace
        From ``bnn.recall(..., record="flips")``.
    row
        Which row.

    Raises
    ------
    DataError
        The flips were not recorded, or there is no such row.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 1], [1, 0]], bias=[-0.5, 0.0])
    >>> figure = replay(bnn.recall(network, [[1, 0]], seed=0, record="flips"), 0)
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['neuron', 'energy (bits)']
    """
    states = trace.replay(row)
    layout = trace.network.layout
    silent = None if trace.silent is None else np.repeat(trace.silent[[row]], len(states), axis=0)
    history = cells.cells_of(states == 1, silent)
    figure = new_figure(11.0, 5.5)
    above, below = figure.subplots(2, 1, height_ratios=[1.0, 1.6])
    draw_flips(below, trace, row)
    if cells.is_picture(layout):
        _snapshots(above, below, layout, history, _moments(trace, row, len(states)))
    else:
        cells.show_cells(above, history.T, aspect="auto", interpolation="nearest")
        _name_neurons(above, layout, "y")
        above.set_ylabel("neuron")
        below.set_xlim(-0.5, len(states) - 0.5)
        above.sharex(below)
    cells.explain_colours(figure, [history])
    return figure
