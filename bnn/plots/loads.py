"""How much of what is stored comes back, against how much is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from bnn.errors import DataError
from bnn.plots.style import GREY, MARKERS, PALE, SERIES, count, figure_of, given_or_new, number_axis, readable, styled
from bnn.study.capacities import Capacity
from bnn.study.intervals import half_width

LINES = ("-", "--", "-.", ":")  # lines that lie on each other are all seen
WIDE = 6.0  # largest over smallest load from which loads are drawn by their logarithms
_LABELS = {
    "exact": "patterns recalled without an error",
    "overlap": "mean overlap with the pattern",
    "wrong": "mean share of neurons wrong",
}


@styled()
def capacity(capacities: Capacity | Mapping[str, Capacity], *, ax: Axes | None = None) -> Figure:
    """Draw what is recalled against the load, one colour a memory, and the load up to which its criterion holds.

    A dot is an evaluated load of one seed. The line is the mean over seeds, each seed's own dots joined by straight
    lines, and the band its 95 % interval by Student's t; both end where not all seeds were evaluated. The marker on the
    dotted line of the criterion is the capacity with its interval. Loads are in patterns, above in patterns a neuron.

    Parameters
    ----------
    capacities
        From `bnn.capacity`: one, or several by name, of the same criterion.
    ax
        Axes to draw into; None makes a figure.

    Raises
    ------
    DataError
        Nothing to draw, or criteria that differ.

    Examples
    --------
    >>> import bnn
    >>> found = bnn.capacity("hopfield", bnn.study.Dense(50), seeds=2)
    >>> capacity(found).axes[0].get_ylabel()
    'patterns recalled without an error'
    """
    named = {capacities.learner.rule.name: capacities} if isinstance(capacities, Capacity) else dict(capacities)
    if not named:
        raise DataError("plots.capacity.capacities: got none; give at least one, from bnn.capacity.")
    criteria = {str(found.criterion): found.criterion for found in named.values()}
    if len(criteria) > 1:
        raise DataError(
            f"plots.capacity.capacities: their criteria differ, {' and '.join(criteria)}; draw those of one together."
        )
    (criterion,) = criteria.values()
    measure, share = criterion.measure, criterion.measure != "overlap"
    ax = given_or_new(ax, 9.0, 5.2)
    ax.axhline(criterion.bound, color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    for k, (name, found) in enumerate(named.items()):
        _draw(ax, name, found, measure, k)
    seeds = sorted({len(found.seeds) for found in named.values()})
    told = f"mean of {' or '.join(map(str, seeds[:-1]))}{' or ' if seeds[:-1] else ''}{count(seeds[-1], 'seed')}"
    band = ", bands and bars: 95 % intervals" if seeds[-1] > 1 else ""
    ax.set_title(f"{told}{band}; dotted: {criterion}", fontsize=11, color=GREY)
    ax.set_xlabel("patterns stored")
    ax.set_ylabel(_LABELS[measure])
    ax.grid(axis="y", color=PALE, zorder=0)
    ax.set_axisbelow(True)
    if share:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    else:
        number_axis(ax.yaxis)
    _scale_loads(ax, [point.patterns for found in named.values() for point in found.points])
    neurons = {found.neurons for found in named.values()}
    if len(neurons) == 1:
        _draw_relative(ax, neurons.pop())
    ax.legend(loc="best")
    return figure_of(ax)


def _draw(ax: Axes, name: str, found: Capacity, measure: str, k: int) -> None:
    """Dots, mean and band of one memory, the k-th, and its capacity on the criterion's line."""
    colour, marker, line = (looks[k % len(looks)] for looks in (SERIES, MARKERS, LINES))
    loads = np.array([point.patterns for point in found.points], dtype=np.float64)
    values = np.array([getattr(point, measure) for point in found.points])
    seeds = np.array([point.seed for point in found.points])
    ax.plot(loads, values, "o", color=colour, alpha=0.25, markersize=4, markeredgewidth=0, zorder=2)
    joined = np.unique(loads)
    each = [np.interp(joined, loads[seeds == s], values[seeds == s], np.nan, np.nan) for s in found.seeds]
    curves: Float64[np.ndarray, "seeds loads"] = np.array(each)
    every = ~np.isnan(curves).any(axis=0)
    joined, curves = joined[every], curves[:, every]
    mean = curves.mean(axis=0)
    ax.plot(joined, mean, line, color=colour, zorder=3)
    low, high = found.interval or (found.patterns, found.patterns)
    if len(curves) > 1:
        reach = half_width(curves)
        bounds = (0.0, 1.0) if measure != "overlap" else (-1.0, 1.0)
        ax.fill_between(joined, *np.clip([mean - reach, mean + reach], *bounds), color=colour, alpha=0.2, linewidth=0)
    bound = found.criterion.bound
    ax.plot([low, high], [bound, bound], color=colour, linewidth=4, solid_capstyle="butt", zorder=4)
    within = "" if found.interval is None else f" [{readable(low, ',.0f')}, {readable(high, ',.0f')}]"
    at_least = "at least " if any(found.limited) else ""
    label = f"{name}: {at_least}{readable(found.patterns, ',.0f')}{within}"
    ax.plot(found.patterns, bound, marker, color=colour, markersize=9, markeredgecolor="white", label=label, zorder=5)


def _scale_loads(ax: Axes, loads: list[int]) -> None:
    """Loads by their logarithms where they are wide apart."""
    if max(loads) < WIDE * min(loads):
        return number_axis(ax.xaxis)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: readable(value)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    return None


def _draw_relative(ax: Axes, neurons: int) -> None:
    """The same loads in patterns a neuron, above."""

    def relative(load: Any) -> Any:
        return load / neurons

    def absolute(share: Any) -> Any:
        return share * neurons

    above = ax.secondary_xaxis("top", functions=(relative, absolute))
    above.set_xlabel(f"patterns a neuron ({neurons:,} neurons)", color=GREY)
    if ax.get_xscale() == "log":
        above.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        above.xaxis.set_minor_formatter(NullFormatter())
    above.xaxis.set_major_formatter(FuncFormatter(lambda value, _: readable(value, ",.3g")))
