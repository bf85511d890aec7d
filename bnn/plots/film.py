"""A recall as a film: the network's neurons turn on and off beside the falling energy."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int, Shaped
from matplotlib.animation import FuncAnimation
from matplotlib.artist import Artist

from bnn.errors import DataError
from bnn.plots.clock import moments_of, path_of
from bnn.plots.network_graph import draw_graph, strongest_connections
from bnn.plots.series import draw_flips, energy, flips_of
from bnn.plots.style import BLUE, INK, new_figure, readable, styled
from bnn.trace import Trace

OF_A_FILM, PAUSE = 40, 500  # moments at most; milliseconds between two
CHANGED = 3.5  # points: rim of the neuron that has just changed


@styled()
def animation(trace: Trace, row: int = 0, *, strongest: int = 20, moments: int = OF_A_FILM) -> FuncAnimation:
    """Film the recall of one row: its network as a graph whose neurons fill when on, beside what falls.

    Neurons are black when on, white when off, grey where they are on with a probability; a thick rim marks the one that
    has just changed. Lines are as in `graph`. In discrete dynamics a moment is a flip; in a flow there is about as much
    change between any two. Save it with ``film.save("name.gif", writer="pillow", dpi=80)``, or show it in a notebook.

    Parameters
    ----------
    trace
        From ``bnn.recall(..., record="flips")``; of a flow from ``record="states"``.
    row
        Which row.
    strongest
        How many connections of each sign, at most; neurons without any of these are not shown.
    moments
        How many, at most; at least two.

    Raises
    ------
    DataError
        What was not recorded, no such row, too few moments, or nothing to draw.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -0.5], names=["hair", "milk"])
    >>> film = animation(bnn.recall(network, [[0, 1]], seed=0, record="flips"))
    >>> "<img" in film.to_jshtml()
    True
    """
    if moments < 2:
        raise DataError(f"plots.animation.moments: got {moments}; give at least two, the start and the end.")
    states, x, y, names = _told(trace, row, moments)
    figure = new_figure(11.5, 5.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    marks = draw_graph(
        left, trace.network.layout, strongest_connections(trace.network, strongest), not trace.network.symmetric
    )
    for mark in marks.values():
        mark.set(markersize=17, markeredgewidth=1.0)
    for name in left.texts:  # clear of the larger marks
        name.set_position(tuple(1.08 * place for place in name.get_position()))
    left.set(xlim=(-1.5, 1.5), ylim=(-1.35, 1.35))
    if trace.dynamics.graded:
        energy(trace, ax=right, row=row)
    else:
        draw_flips(right, trace, row)
    (dot,) = right.plot(x[:1], y[:1], "o", color=BLUE, markeredgecolor=INK, markersize=10, zorder=5)
    title = left.set_title("")
    low = trace.network.low
    on = (states - low) / (1 - low)

    def show(moment: int) -> list[Artist]:
        for neuron, mark in marks.items():
            flipped = moment > 0 and not trace.dynamics.graded and states[moment, neuron] != states[moment - 1, neuron]
            mark.set(markerfacecolor=str(1.0 - float(on[moment, neuron])), markeredgewidth=CHANGED if flipped else 1.0)
        dot.set_data(x[moment : moment + 1], y[moment : moment + 1])
        title.set_text(names[moment])
        return [*marks.values(), dot, title]

    return FuncAnimation(figure, show, frames=len(states), interval=PAUSE, repeat_delay=4 * PAUSE, blit=False)


def _told(
    trace: Trace, row: int, moments: int
) -> tuple[
    Shaped[np.ndarray, "moments neurons"], Shaped[np.ndarray, " moments"], Float64[np.ndarray, " moments"], list[str]
]:
    """States at the moments of a film, their place on the curve of what falls, and what to write above each."""
    if trace.dynamics.graded:
        entries, times, states = path_of(trace, row, "plots.animation")
        chosen = moments_of(states, moments)
        names = [f"time {readable(times[m], '.2f')} tau" for m in chosen]
        return states[chosen], times[chosen], trace.lyapunov[row, entries][chosen], names
    values, sweeps = flips_of(trace, row, "plots.animation.row")
    states = trace.replay(row)
    chosen = np.unique(np.linspace(0, len(states) - 1, moments).round().astype(int)).tolist()
    return states[chosen], np.array(chosen), values[chosen], [_flip(trace, states, sweeps, m) for m in chosen]


def _flip(
    trace: Trace, states: Shaped[np.ndarray, "steps neurons"], sweeps: Int[np.ndarray, " flips"], step: int
) -> str:
    """Which neuron changed to what, in which sweep."""
    if step == 0:
        return "start"
    neuron = int(np.flatnonzero(states[step] != states[step - 1])[0])
    word = "on" if states[step, neuron] == 1 else "off"
    return f"sweep {int(sweeps[step - 1]) + 1}, flip {step}: {trace.network.layout.names[neuron]} {word}"
