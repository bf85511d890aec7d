"""Several rules side by side: what they recall, how their energy falls, how much noise they bear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float64, Int8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from bnn.errors import DataError
from bnn.plots import cells
from bnn.plots.series import draw_descent
from bnn.plots.style import BLUE, GREY, MARKERS, PALE, figure_of, given_or_new, new_figure, number_axis, styled
from bnn.trace import Trace


@styled()
def comparison(traces: Mapping[str, Trace], patterns: Any) -> Figure:
    """Draw what each rule recalls from the same cues, beside its falling energy: one line of axes a rule.

    Patterns that are pictures are shown as cue, recalled and true image of ten rows, differing pixels marked; for
    tables, bars show the share of rows recalled exactly. Each rule's energy has its own scale and unit, so it is
    drawn as what lies above the row's final value; against flips where up to 12 rows recorded them, else against
    sweeps.

    Parameters
    ----------
    traces
        By name, such as "odds"; recalled from the same cues.
    patterns
        What was stored, as for `recall`; as many as rows: pattern r is the truth of row r.

    Raises
    ------
    DataError, SchemaError
        No traces, or patterns of another network.

    Examples
    --------
    >>> import bnn
    >>> patterns = bnn.Records.from_patterns([[[1, 1], [0, 0]], [[0, 1], [0, 1]]])
    >>> rules = ("odds", "hopfield")
    >>> traces = {rule: bnn.recall(bnn.learn(patterns, rule), patterns, seed=0) for rule in rules}
    >>> comparison(traces, patterns).axes[0].get_title(loc="left")
    'odds: 2 of 2 recalled exactly'
    """
    if not traces:
        raise DataError("plots.comparison.traces: got none; give at least one trace by name.")
    truths = {name: cells.truth_of(trace, patterns, "plots.comparison.patterns") for name, trace in traces.items()}
    pictures = all(cells.is_picture(trace.network.layout) for trace in traces.values())
    figure = new_figure(13.0, 0.5 + (2.75 if pictures else 2.5) * len(traces))
    grid = figure.subplots(len(traces), 2, width_ratios=[1.8 if pictures else 1.0, 1.0], squeeze=False)
    drawn = []
    for (left, right), (name, trace) in zip(grid, traces.items(), strict=True):
        truth = truths[name]
        if pictures:
            drawn += _show_pictures(left, trace, truth)
        else:
            _show_share(left, float(truth.exact.mean()))
        left.set_title(f"{name}: {truth.exact.sum():,} of {len(truth.exact):,} recalled exactly")
        draw_descent(right, trace)
    cells.explain_colours(figure, drawn)
    return figure


def _show_pictures(ax: Axes, trace: Trace, truth: cells.Truth) -> list[Int8[np.ndarray, "rows neurons"]]:
    """Cue, recalled and true pictures of ten rows at most; returns the cells drawn."""
    layout = trace.network.layout
    rows = cells.spread(len(trace))
    lines = cells.lines_of(trace, rows, truth)
    pictures = [cells.as_pictures(layout, line) for line in lines.values()]
    cells.show_cells(ax, cells.mosaic(pictures, max(len(rows), 5)))
    _, height, width = pictures[0].shape
    cells.name_lines(ax, height, width, list(lines))
    return list(lines.values())


def _show_share(ax: Axes, share: float) -> None:
    """A bar as long as the share of rows recalled exactly."""
    ax.barh(0.0, 1.0, color=PALE, height=0.5)
    ax.barh(0.0, share, color=BLUE, height=0.5)
    ax.set(xlim=(0.0, 1.0), ylim=(-1.0, 1.0), yticks=[], xlabel="share recalled exactly")
    ax.spines["left"].set_visible(False)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))


@styled()
def overlap_against_noise(
    shares: Any,
    curves: Mapping[str, Any],
    *,
    before: Any = None,
    xlabel: str = "share of neurons flipped",
    ylabel: str = "overlap after recall",
    ax: Axes | None = None,
) -> Figure:
    """Draw what recall reaches against the noise of the cue: the mean over seeds and the middle 80 % of them.

    Parameters
    ----------
    shares
        Noise of the cues, [shares], between 0 and 1.
    curves
        By name: [shares], or [shares, seeds]; a mean overlap, or a share of rows recalled exactly.
    before
        The same measure for the cues themselves, [shares]: what recall must beat. None draws no such line.
    xlabel, ylabel
        Kind of noise, and what was measured.
    ax
        Axes to draw into; None makes a figure.

    Raises
    ------
    DataError
        A curve that does not have one entry, or one line of seeds, for each share.

    Examples
    --------
    >>> figure = overlap_against_noise([0.0, 0.1, 0.2], {"odds": [1.0, 1.0, 0.9]}, before=[1.0, 0.8, 0.6])
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['odds', 'before recall']
    """
    ax = given_or_new(ax, 7.5, 4.8)
    noise = _numbers("shares", shares, None)
    seeds = set()
    for (name, values), marker in zip(curves.items(), MARKERS * len(curves), strict=False):
        array = _numbers(f"curves[{name!r}]", values, len(noise))
        table = array.reshape(len(noise), -1)
        (line,) = ax.plot(noise, table.mean(axis=1), marker=marker, markersize=6, label=name)
        if table.shape[1] > 1:
            low, high = np.percentile(table, [10, 90], axis=1)
            ax.fill_between(noise, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
            seeds.add(table.shape[1])
    if before is not None:
        ax.plot(noise, _numbers("before", before, len(noise)), color=GREY, linestyle="--", label="before recall")
    if seeds:
        ax.set_title(f"mean and middle 80 % of {' or '.join(map(str, sorted(seeds)))} seeds", fontsize=11, color=GREY)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    number_axis(ax.yaxis)
    ax.legend()
    return figure_of(ax)


def _numbers(name: str, values: Any, entries: int | None) -> Float64[np.ndarray, "..."]:
    """An array of numbers with so many entries, or lines."""
    array = np.asarray(values, dtype=np.float64)
    wanted = "[shares]" if entries is None else f"[{entries}] or [{entries}, seeds]"
    if array.ndim not in ((1,) if entries is None else (1, 2)) or array.size == 0 or entries not in (None, len(array)):
        raise DataError(
            f"plots.overlap_against_noise.{name}: got shape {array.shape}; expected {wanted}, one entry a share."
        )
    return array
