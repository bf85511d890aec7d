"""Associations: how much more often, or less, pairs of values come together than chance, with intervals."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bnn.association import Associations
from bnn.errors import DataError
from bnn.plots.style import BLUE, GREY, INK, ORANGE, figure_of, given_or_new, number_axis, short, styled

ROOM = 1.0  # bits left free beyond the points: intervals may end outside


@styled()
def associations(found: Associations, *, ax: Axes | None = None) -> Figure:
    """Draw the information component of each pair with its credible interval, and the network's weight.

    Blue: together more often than chance; orange: less often. Beside each pair stand observed and expected counts. An
    interval that ends beyond the axis is that of a pair seen hardly ever.

    Parameters
    ----------
    found
        From `Network.associations`.
    ax
        Axes to draw into; None makes a figure.

    Raises
    ------
    DataError
        Nothing was found.

    Examples
    --------
    >>> import bnn
    >>> zoo = bnn.learn(bnn.datasets.load("zoo"), "probability")
    >>> associations(zoo.associations(attribute="class", top=5)).axes[0].get_xlabel()
    'information component, bits'
    """
    if len(found) == 0:
        raise DataError("plots.associations.found: no association was found; there is nothing to draw.")
    ax = given_or_new(ax, 9.5, 1.6 + 0.3 * len(found))
    places = np.arange(len(found))
    reach = float(np.abs(found.component).max())
    shown = [found.component] if found.weight is None else [found.component, found.weight]
    limits = min(float(np.min(shown)), 0.0) - ROOM, max(float(np.max(shown)), 0.0) + ROOM
    for sign, colour, label in ((1, BLUE, "together too often"), (-1, ORANGE, "together too rarely")):
        mine = sign * found.component > 0
        low = np.maximum(found.low[mine], limits[0] - reach)
        bars = [found.component[mine] - low, found.high[mine] - found.component[mine]]
        if mine.any():
            ax.errorbar(
                found.component[mine], places[mine], xerr=bars, fmt="o", color=colour, linewidth=1.6, label=label
            )
    if found.weight is not None:
        ax.plot(found.weight, places, "|", color=INK, markersize=11, markeredgewidth=1.8, label="weight in the network")
    ax.axvline(0.0, color=GREY, linewidth=1.0)
    names = found.layout.names
    pairs = zip(found.first.tolist(), found.second.tolist(), strict=True)
    ax.set_yticks(places, [f"{short(names[i], 28)},  {short(names[j], 28)}" for i, j in pairs])
    ax.set(xlim=limits, ylim=(len(found) - 0.4, -0.6), xlabel="information component, bits")
    number_axis(ax.xaxis)
    counts = ax.secondary_yaxis("right")
    seen = zip(found.observed.tolist(), found.expected.tolist(), strict=True)
    counts.set_yticks(places, [f"{observed:,.6g} / {expected:,.1f}" for observed, expected in seen])
    counts.tick_params(length=0)
    ax.text(1.0, -0.75, " seen / expected", transform=ax.get_yaxis_transform(), va="bottom", color=GREY)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.6 / (0.3 * len(found) + 0.8)), ncols=3)
    told = f"{100 * found.level:g} % intervals; {found.found:,} of {found.compared:,} pairs leave out 0"
    ax.set_title(told, fontsize=11, color=GREY)
    return figure_of(ax)
