"""The time axis of a trace: sweeps for all rows at once, or, in a flow, each row's own clock."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int, Shaped
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from bnn.dynamics import GradientFlow
from bnn.errors import DataError
from bnn.plots.style import GREY, count, number_axis, readable
from bnn.trace import Trace

FINEST = 500  # times at which many rows are summed up
SQUEEZED = 0.05  # share of the time axis that the first half of the fall may not be squeezed into
RISING, SHADE = "gain rises", 0.12


def tau_of(trace: Trace) -> float:
    """Time constant of a flow; 1 of other dynamics, which count sweeps."""
    return float(trace.dynamics.tau) if isinstance(trace.dynamics, GradientFlow) else 1.0


def clock_of(trace: Trace) -> Float64[np.ndarray, "batch steps"]:
    """When each entry of each row's series was: the number of the sweep, or the time in time constants."""
    return np.broadcast_to(trace.times / tau_of(trace), trace.lyapunov.shape)


def together(
    trace: Trace, clock: Float64[np.ndarray, "rows steps"], values: Float64[np.ndarray, "rows steps"]
) -> tuple[Float64[np.ndarray, " times"], Float64[np.ndarray, "rows times"]]:
    """Series at times that all rows share: between steps interpolated, after its last one each row rests."""
    if trace.times.ndim == 1 or len(clock) == 0:
        return trace.times, values
    times = np.unique(clock)
    times = times[np.unique(np.linspace(0, len(times) - 1, FINEST).round().astype(int))]
    return times, np.stack([np.interp(times, own, series) for own, series in zip(clock, values, strict=True)])


def moment_name(trace: Trace, when: float) -> str:
    """A moment of graded neurons in words: a time, or a number of updates."""
    if isinstance(trace.dynamics, GradientFlow):
        return f"{readable(when, '.2g')} tau"
    return count(round(when), trace.dynamics.clock)


def row_of(trace: Trace, row: int, owner: str) -> int:
    """A row number, counted from the end where negative; `DataError` of ``owner`` where there is no such row."""
    if not -len(trace) <= row < len(trace):
        raise DataError(f"{owner}: got {row}; the trace has rows 0 to {len(trace) - 1}.")
    return row % len(trace)


def path_of(
    trace: Trace, row: int, owner: str
) -> tuple[Int[np.ndarray, " steps"], Float64[np.ndarray, " steps"], Shaped[np.ndarray, "steps neurons"]]:
    """The entries of a flow's row at which its clock moved on, their times in time constants, and the states there.

    Raises
    ------
    DataError
        A trace of another dynamics, states that were not recorded, or no such row.
    """
    if not trace.dynamics.graded:
        raise DataError(f"{owner}.trace: {trace.dynamics.name!r} has no graded states; recall with bnn.GradientFlow.")
    if trace.history is None:
        raise DataError(f'{owner}.trace: the path was not recorded; call recall(..., record="states").')
    row = row_of(trace, row, f"{owner}.row")
    clock = clock_of(trace)[row]
    entries = np.flatnonzero(np.diff(clock, prepend=-1.0) > 0)
    return entries, clock[entries], trace.history[row, entries]


def moments_of(states: Shaped[np.ndarray, "steps neurons"], most: int) -> list[int]:
    """Up to so many steps of a path, the first and the last among them, with about as much change between any two."""
    gone = np.concatenate([[0.0], np.abs(np.diff(states.astype(np.float64), axis=0)).sum(axis=1).cumsum()])
    chosen: list[int] = np.unique([*np.searchsorted(gone, np.linspace(0.0, gone[-1], most)), len(gone) - 1]).tolist()
    return chosen if len(chosen) <= most else [*chosen[: most - 1], chosen[-1]]


def name_clock(ax: Axes, trace: Trace, rows: Int[np.ndarray, " rows"]) -> None:
    """Name the time axis; where a flow rests for most of it, equal lengths are equal factors beyond the busy part."""
    ax.set_xlabel(trace.dynamics.clock)
    if not isinstance(trace.dynamics, GradientFlow):
        number_axis(ax.xaxis, whole=True)
        return
    if ax.get_xscale() != "linear" or len(rows) == 0:
        return
    clock, values = clock_of(trace)[rows], trace.lyapunov[rows]
    fallen = np.abs(values[:, :1] - values)
    half = float(np.median(clock[np.arange(len(rows)), (fallen >= 0.5 * fallen[:, -1:]).argmax(axis=1)]))
    end = float(clock.max(initial=0.0))
    if 0.0 < half < SQUEEZED * end:
        linear = 10.0 ** np.floor(np.log10(half))
        ax.set_xscale("symlog", linthresh=linear, linscale=0.5)
        ax.set_xlim(0.0, 1.05 * end)
        ax.xaxis.set_major_locator(FixedLocator([0.0, *linear * 10.0 ** np.arange(np.ceil(np.log10(end / linear)))]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: readable(value)))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        number_axis(ax.xaxis)


def shade_rising_gain(ax: Axes, trace: Trace, rows: Int[np.ndarray, " rows"]) -> None:
    """Shade the time in which the gain rises, so that no descent is promised."""
    if trace.suspended is None or not trace.suspended[rows].any():
        return
    end = float(clock_of(trace)[rows][trace.suspended[rows]].max())
    ax.axvspan(0.0, end, color=GREY, alpha=SHADE, linewidth=0, zorder=0)
    place = ax.get_xaxis_transform()
    ax.text(end, 0.5, f"{RISING} ", transform=place, color=GREY, fontsize=10, ha="right", va="center")
