"""The weight matrix, grouped by attribute, and what one neuron of a picture listens to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float64, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from bnn.errors import DataError, unknown_name
from bnn.network import Network, require_weights
from bnn.plots import cells
from bnn.plots.style import GREY, INK, WEIGHTS, figure_of, given_or_new, number_axis, styled, unit

MOST_NEURONS = 60
MOST_NAMES = 45  # of attributes, in the height of eight inches


@styled()
def weights(
    network: Network,
    *,
    attributes: str | Iterable[str] | None = None,
    neuron: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the weight matrix, one row a receiving and one column a sending neuron, with lines between attributes.

    Blue excites, orange inhibits, white is 0. The colour scale ends at the 99th percentile of the sizes of all
    connections, so that a few extreme weights do not hide the rest; where some lie beyond, the colour bar is pointed.

    Parameters
    ----------
    network
        From `bnn.learn` or `Network.of`.
    attributes
        Only the neurons of these; None: all.
    neuron
        Draw only what this neuron receives, in the shape of the patterns, which must be pictures.
    ax
        Axes to draw into; None makes a figure.

    Raises
    ------
    DataError
        Unknown names, or ``neuron`` of a network whose patterns are no pictures.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 1], [1, 0]], names=["hair", "milk"])
    >>> [label.get_text() for label in weights(network).axes[0].get_xticklabels()]
    ['hair', 'milk']
    """
    require_weights(network, "plots.weights.network")
    layout = network.layout
    if neuron is not None:
        return _field(network, neuron, given_or_new(ax, 6.5, 5.5))
    chosen = np.arange(layout.neurons) if attributes is None else layout.neurons_of(attributes)
    if len(chosen) == 0:
        raise DataError("plots.weights.attributes: they own no neuron; name at least one attribute that has values.")
    if attributes is None:
        matrix = network.table.cpu().double().numpy()
    else:  # of a wide network, a part
        matrix = network.between(np.repeat(chosen, len(chosen)), np.tile(chosen, len(chosen))).reshape(len(chosen), -1)
    size = 3.5 + 0.17 * len(chosen) if len(chosen) <= MOST_NEURONS else 8.0
    ax = given_or_new(ax, size + 1.2, size)
    _show_weights(ax, matrix, unit(network))
    edges = np.flatnonzero(np.diff(layout.attribute[chosen])) + 0.5
    if len(edges) < MOST_NEURONS:
        for edge in edges.tolist():
            ax.axhline(edge, color=GREY, linewidth=0.7)
            ax.axvline(edge, color=GREY, linewidth=0.7)
    _name_axes(ax, network, chosen)
    return figure_of(ax)


def _field(network: Network, neuron: str, ax: Axes) -> Figure:
    """What one pixel receives from each other, as a picture with the pixel framed."""
    layout = network.layout
    if neuron not in layout.names:
        raise unknown_name("plots.weights.neuron", neuron, layout.names)
    if not cells.is_picture(layout) or layout.schema.shape is None:
        raise DataError(
            f"plots.weights.neuron: the patterns of {neuron!r} are no pictures; draw attributes=... or plots.graph."
        )
    index = layout.names.index(neuron)
    received = network.table[index].cpu().double().numpy()[layout.start[1:] - 1].reshape(layout.schema.shape)
    _show_weights(ax, received, unit(network))
    row, column = divmod(int(layout.attribute[index]), layout.schema.shape[1])
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=2.5))
    ax.set_title(f"what {neuron!r} receives")
    ax.set(xlabel="column", ylabel="row")
    return figure_of(ax)


def _show_weights(ax: Axes, values: Float64[np.ndarray, "height width"], name: str) -> AxesImage:
    """A colour for each weight, symmetric about 0, with a colour bar."""
    sizes = np.abs(values[values != 0])
    limit = float(np.percentile(sizes, 99)) if len(sizes) else 1.0
    image = ax.imshow(values, cmap=WEIGHTS, vmin=-limit, vmax=limit, interpolation_stage="rgba")
    beyond = (bool((values < -limit).any()), bool((values > limit).any()))
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[beyond]
    bar = figure_of(ax).colorbar(image, ax=ax, label=f"weight ({name})", extend=extend, shrink=0.8)
    bar.outline.set_visible(False)
    number_axis(bar.ax.yaxis)
    ax.spines[:].set_visible(False)
    return image


def _name_axes(ax: Axes, network: Network, chosen: Int[np.ndarray, " chosen"]) -> None:
    """Names of neurons where they fit, else of those attributes whose names fit, else only what the axes count."""
    layout = network.layout
    if len(chosen) <= MOST_NEURONS:
        places, names = list(range(len(chosen))), [layout.names[i] for i in chosen.tolist()]
    else:
        owners, first, number = np.unique(layout.attribute[chosen], return_index=True, return_counts=True)
        centres = first + (number - 1) / 2
        fits = np.diff(centres, prepend=-np.inf) >= len(chosen) / MOST_NAMES
        places, names = centres[fits].tolist(), [layout.schema.names[a] for a in owners[fits].tolist()]
        if len(names) < len(owners) / 2:
            ax.set(xlabel="sending neuron", ylabel="receiving neuron")
            return
    ax.set_xticks(places, names, rotation=90, fontsize=10)
    ax.set_yticks(places, names, fontsize=10)
    ax.tick_params(length=0)
    ax.set(xlabel="from", ylabel="to")
