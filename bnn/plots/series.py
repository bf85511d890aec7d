"""What must fall and what should rise, against sweeps or flips."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float64, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from bnn.errors import DataError
from bnn.plots.clock import clock_of, name_clock, row_of, shade_rising_gain, together
from bnn.plots.style import (
    GREY,
    PALE,
    WARNING,
    count,
    figure_of,
    given_or_new,
    note,
    number_axis,
    readable,
    styled,
    unit,
)
from bnn.trace import Trace

MOST_LINES = 12


@styled()
def energy(trace: Trace, *, ax: Axes | None = None, label: str | None = None, row: int | None = None) -> Figure:
    """Draw what must fall: the Lyapunov function of each row against sweeps, or one row's energy against its flips.

    A flow is drawn against time, each row by its own clock, logarithmic where it rests for most of it; the time in
    which its gain rises is shaded. Up to 12 rows are thin lines; more become their median and the band from the 10th
    to the 90th percentile, with the row of the largest rise beside them. Rises are drawn in the warning colour, and a
    missing guarantee is written out.

    Parameters
    ----------
    trace
        From `bnn.recall`.
    ax
        Axes to draw into; None makes a figure.
    label
        Name in the legend, to compare several traces in the same axes.
    row
        Draw this row alone, every flip a step; needs ``record="flips"``, but in a flow, which has no flips.

    Raises
    ------
    DataError
        ``row`` without recorded flips, or no such row.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 1], [1, 0]], bias=[-0.5, 0.0])
    >>> figure = energy(bnn.recall(network, [[0, 1], [1, 1]], seed=0))
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('sweep', 'energy (bits)')
    """
    ax = given_or_new(ax, 7.5, 4.5)
    if row is None or trace.dynamics.graded:
        rows = np.arange(len(trace)) if row is None else np.array([row_of(trace, row, "plots.energy.row")])
        _draw_rows(ax, trace, trace.lyapunov[rows], rows, "rise", trace.descent.tolerance, label)
        ax.set_ylabel(f"{trace.lyapunov_name} ({unit(trace.network)})")
        note(ax, *verdict(trace))
    else:
        draw_flips(ax, trace, row, label)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best")
    return figure_of(ax)


@styled()
def similarity(trace: Trace, *, ax: Axes | None = None, label: str | None = None) -> Figure:
    """Draw log2 Sim, the agreement of the active neurons, which rises as the energy falls [B eq 6, 7, 22].

    Lines, band and warnings as in `energy`, for falls instead of rises. Rows whose similarity is not defined, because
    silent neurons leave the odds form's constant open, are left out, and their number is written out.

    Parameters
    ----------
    trace
        From `bnn.recall`.
    ax
        Axes to draw into; None makes a figure.
    label
        Name in the legend, to compare several traces in the same axes.

    Raises
    ------
    DataError
        The trace of a memory of patterns, which has no similarity.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 1], [1, 0]], bias=[-0.5, 0.0])
    >>> figure = similarity(bnn.recall(network, [[0, 1], [1, 1]], seed=0))
    >>> figure.axes[0].get_ylabel()
    'log2 similarity (bits)'
    """
    if trace.network.keeps == "patterns":
        raise DataError(
            "plots.similarity.trace: a memory of patterns has an energy and no similarity; draw plots.energy(trace)."
        )
    ax = given_or_new(ax, 7.5, 4.5)
    defined = ~np.isnan(trace.log_similarity).any(axis=1)
    values, rows = trace.log_similarity[defined], np.flatnonzero(defined)
    _draw_rows(ax, trace, values, rows, "fall", 2 * trace.descent.tolerance, label)
    ax.set_ylabel(f"log2 similarity ({unit(trace.network)})")
    text, colour = verdict(trace)
    own = trace.network.constant - 2.0 * trace.energy[defined]
    if trace.lyapunov_name != "energy":
        text, colour = f"may fall: what is sure to fall is the {trace.lyapunov_name}", GREY
    elif not np.allclose(own, values):
        text, colour = "may fall: the external input is part of the energy, not of the similarity", GREY
    if not defined.all():
        text = f"{count(int((~defined).sum()), 'row')} left out, undefined while neurons are silent\n{text}"
    note(ax, text, colour)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best")
    return figure_of(ax)


def flips_of(
    trace: Trace, row: int, owner: str = "plots.energy.row"
) -> tuple[Float64[np.ndarray, " steps"], Int[np.ndarray, " flips"]]:
    """E of a row at its start and after each flip, in bits, and the sweep of each flip; `DataError` if not recorded."""
    if trace.flip_log is None:
        raise DataError(f'{owner}: the flips were not recorded; call recall(..., record="flips").')
    row = row_of(trace, row, owner)
    mine = slice(*trace.flip_log.start[row : row + 2].tolist())
    return np.concatenate([trace.energy[row, :1], trace.flip_log.energy[mine]]), trace.flip_log.sweep[mine]


def draw_flips(ax: Axes, trace: Trace, row: int, label: str | None = None) -> None:
    """Draw one row's energy as a staircase, one step a flip, with a pale line where a sweep ends."""
    values, sweep = flips_of(trace, row)
    first = [0.0, *(np.flatnonzero(np.diff(sweep)) + 1.5).tolist()]
    if len(first) <= MOST_LINES:
        for x in first[1:]:
            ax.axvline(x, color=PALE, zorder=0)
        for x, end, number in zip(first, [*first[1:], len(sweep)], np.unique(sweep).tolist(), strict=False):
            if end - x > 0.1 * len(sweep):
                ax.text(
                    x,
                    0.99,
                    f" sweep {number + 1}",
                    transform=ax.get_xaxis_transform(),
                    color=GREY,
                    va="top",
                    fontsize=10,
                )
    ax.margins(y=0.12)
    _staircase(ax, values, trace.descent.tolerance, None, 1.8, label)
    if trace.lyapunov_name == "energy":
        note(ax, *verdict(trace))
    else:
        note(ax, f"E itself may rise here: what must fall is the {trace.lyapunov_name}")
    ax.set_xlabel("flip")
    ax.set_ylabel(f"energy ({unit(trace.network)})")
    number_axis(ax.xaxis, whole=True)
    number_axis(ax.yaxis)


def draw_descent(ax: Axes, trace: Trace) -> None:
    """Draw how far each row's energy lies above its final value, against flips where recorded, else sweeps or time.

    Only then can rows whose energies differ by far more than recall changes them be read in a small picture.
    """
    if trace.flip_log is None or trace.lyapunov_name != "energy" or len(trace) > MOST_LINES:
        above = trace.lyapunov - trace.lyapunov[:, -1:]
        _draw_rows(ax, trace, above, np.arange(len(trace)), "rise", trace.descent.tolerance, None)
    else:
        for row in range(len(trace)):
            values = flips_of(trace, row)[0]
            _staircase(ax, values - values[-1], trace.descent.tolerance, ax.lines[0].get_color() if row else None, 1.2)
        ax.set_xlabel("flip")
        number_axis(ax.xaxis, whole=True)
        number_axis(ax.yaxis)
    if len(trace) > MOST_LINES:
        ax.legend(loc="best", fontsize=10)
    ax.set_ylabel(f"{trace.lyapunov_name} above final\n({unit(trace.network)})")
    note(ax, *verdict(trace))


def _draw_rows(
    ax: Axes,
    trace: Trace,
    values: Float64[np.ndarray, "batch steps"],
    rows: Int[np.ndarray, " batch"],
    wrong: str,
    tolerance: float,
    label: str | None,
) -> None:
    """Draw rows as lines, or as median and band, and mark each step in the ``wrong`` direction, "rise" or "fall"."""
    clock = clock_of(trace)[rows]
    marker = "o" if clock.shape[1] <= MOST_LINES else None
    step = np.diff(values, axis=1) * (1 if wrong == "rise" else -1)
    if trace.suspended is not None:
        step[trace.suspended[rows, 1:]] = 0.0
        shade_rising_gain(ax, trace, rows)
    if len(values) > MOST_LINES:
        times, shared = together(trace, clock, values)
        low, middle, high = np.percentile(shared, [10, 50, 90], axis=0)
        summary = f"median of {count(len(values), 'row')}, band 10 to 90 %"
        summary = summary if label is None else f"{label}: {summary}"
        marker = marker if len(times) <= MOST_LINES else None
        (line,) = ax.plot(times, middle, marker=marker, markersize=5, linewidth=2.5, zorder=3, label=summary)
        ax.fill_between(times, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        largest = step.max(axis=1, initial=0.0)
        worst = [int(largest.argmax())] if largest.max() > tolerance else []
        every = "step" if trace.dynamics.graded else "sweep"
        for i in worst:
            ax.plot(
                clock[i], values[i], color=GREY, linewidth=1, label=f"row {rows[i]}: the largest {wrong} in a {every}"
            )
        clock, values, step = clock[worst], values[worst], step[worst]
    else:
        colour: Any = None
        for i, line_values in enumerate(values):
            name = label if i == 0 else None
            (line,) = ax.plot(
                clock[i], line_values, color=colour, marker=marker, markersize=4, linewidth=1.2, alpha=0.8, label=name
            )
            colour = line.get_color()
    row, t = np.nonzero(step > tolerance)
    _warn(ax, clock[row, t], values[row, t], clock[row, t + 1], values[row, t + 1])
    name_clock(ax, trace, rows)
    number_axis(ax.yaxis)


def _staircase(
    ax: Axes,
    values: Float64[np.ndarray, " steps"],
    tolerance: float,
    colour: Any,
    width: float,
    label: str | None = None,
) -> None:
    """One step a flip, rises in the warning colour."""
    marker = "o" if len(values) == 1 else None
    ax.plot(
        np.arange(len(values)),
        values,
        drawstyle="steps-post",
        color=colour,
        linewidth=width,
        marker=marker,
        label=label,
    )
    risen = np.flatnonzero(np.diff(values) > tolerance)
    _warn(ax, risen + 1.0, values[risen], risen + 1.0, values[risen + 1])


def _warn(
    ax: Axes,
    x: Float64[np.ndarray, " segments"],
    y: Float64[np.ndarray, " segments"],
    to_x: Float64[np.ndarray, " segments"],
    to_y: Float64[np.ndarray, " segments"],
) -> None:
    """Draw segments over what is there, in the warning colour."""
    if len(x):
        segments = np.stack([x, y, to_x, to_y], axis=1).reshape(-1, 2, 2)
        ax.add_collection(LineCollection(list(segments), colors=WARNING, linewidths=2.5, zorder=4))


def verdict(trace: Trace) -> tuple[str, str]:
    """What the trace says of its descent, and the colour to say it in."""
    descent = trace.descent
    in_bits = " bits" if unit(trace.network) == "bits" else ""
    rise = f"largest rise {readable(float(f'{descent.largest_rise:.3g}'))}{in_bits}"
    if not descent.guaranteed:
        return f"no guarantee: {descent.reason}\n{rise}", WARNING
    if not descent.holds:
        return f"descent violated: {rise}, independent checks differ by {descent.mismatch:.3g}", WARNING
    if not trace.dynamics.graded:
        return "descent verified over every single change", GREY
    but = "" if trace.suspended is None else " after the gain's rise"
    within = "" if descent.largest_rise <= 0.0 else f", within the solver's error: {rise}"
    return f"descent verified at every step{but}{within}", GREY
