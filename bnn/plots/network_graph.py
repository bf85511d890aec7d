"""The strongest connections of a network as a graph, named by attribute = value."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float64
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from bnn.association import Associations
from bnn.associative import AssociativeMemory
from bnn.errors import DataError
from bnn.network import Network, require_weights
from bnn.plots.style import EXCITATORY, GREEN, GREY, INHIBITORY, INK, PURPLE, SKY, new_figure, readable, styled, unit
from bnn.schema import Layout

WIDEST = 6.0  # points
# Blue and orange say excite and inhibit, so nodes take the other colours; colour and shape together tell attributes.
_COLOURS = (GREEN, PURPLE, SKY, INK, "#F0E442", GREY, "#FFFFFF")
_SHAPES = ("o", "s", "^", "D", "v")


@styled()
def graph(network: Network | Associations, *, strongest: int = 20, attribute: str | None = None) -> Figure:
    """Draw the strongest connections: blue where neurons excite each other, orange where they inhibit.

    Of `Associations`, the pairs they list: blue where values come together too often, orange where too rarely.

    Neurons stand on a circle, those of one attribute together, in one colour and shape; width is the size of the
    weight. Arrows show the direction where weights are asymmetric; self-connections are left out.

    Parameters
    ----------
    network
        From `bnn.learn` or `Network.of`; or what `Network.associations` found.
    strongest
        How many connections of each sign, at most; among equally strong ones those of the more frequent neurons.
    attribute
        Only connections of this attribute with others, such as the class; None: all.

    Raises
    ------
    DataError
        Fewer than one connection asked for, an unknown attribute, or no connection at all.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 1], [1, 0]], names=["hair", "milk"])
    >>> sorted(text.get_text() for text in graph(network).axes[0].texts)
    ['hair', 'milk']
    """
    if isinstance(network, Associations):
        chosen, name, directed = _found(network, strongest, attribute), "bits", False
        verbs = ("too often together", "too rarely")
    else:
        chosen, name = strongest_connections(network, strongest, attribute), unit(network)
        directed, verbs = not network.symmetric, ("excite", "inhibit")
    figure = new_figure(10.5, 9.0)
    draw_graph(figure.add_subplot(), network.layout, chosen, directed)
    figure.legend(handles=_key(chosen, name, verbs), loc="outside lower center")
    return figure


def draw_graph(ax: Axes, layout: Layout, chosen: nx.Graph, directed: bool) -> dict[int, Line2D]:
    """Draw connections on a circle of neurons, and return the mark of each neuron."""
    order = sorted(chosen.nodes)
    angles = {node: math.pi / 2 - 2 * math.pi * k / len(order) for k, node in enumerate(order)}
    places = {node: (math.cos(angle), math.sin(angle)) for node, angle in angles.items()}
    sizes = [abs(weight) for _, _, weight in chosen.edges(data="weight")]
    for a, b, weight in sorted(chosen.edges(data="weight"), key=lambda edge: abs(edge[2])):
        _draw_edge(ax, places[a], places[b], weight, WIDEST * abs(weight) / max(sizes), directed)
    marks = _draw_nodes(ax, layout, places, angles)
    ax.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal")
    ax.axis("off")
    return marks


def strongest_connections(network: AssociativeMemory, strongest: int, attribute: str | None = None) -> nx.Graph:
    """The strongest connections of each sign as a networkx graph of neuron numbers, directed if W is asymmetric.

    Edges carry ``weight``. The graph carries ``equal``: how many connections, drawn and not, are exactly as strong as
    the weakest one drawn, for each sign, 1 and -1.
    """
    require_weights(network, "plots.graph.network")
    if strongest < 1:
        raise DataError(f"plots.graph.strongest: got {strongest}; ask for at least one connection of each sign.")
    if not isinstance(network, Network):
        raise DataError(f"plots.graph.network: a {type(network).__name__} has no connections; draw a Network.")
    weights = network.table.cpu().double().numpy()
    eligible: Bool[np.ndarray, "to from"] = weights != 0
    np.fill_diagonal(eligible, False)
    if network.symmetric:
        eligible = np.triu(eligible)
    if attribute is not None:
        mine = np.isin(np.arange(network.neurons), network.layout.neurons_of(attribute))
        eligible &= mine[:, None] != mine
    if not eligible.any():
        raise DataError("plots.graph.network: has no connection to draw; every weight is 0.")
    connections = nx.Graph() if network.symmetric else nx.DiGraph()
    prior = np.ones(network.neurons) if network.prior is None else network.prior.cpu().numpy()
    for sign in (1, -1):
        to, given = np.nonzero(eligible & (sign * weights > 0))
        size: Float64[np.ndarray, " pairs"] = np.abs(weights[to, given])
        if len(size) == 0:
            continue
        weakest = np.partition(size, -min(strongest, len(size)))[-min(strongest, len(size))]
        candidates = np.flatnonzero(size >= weakest)
        expected = prior[to[candidates]] * prior[given[candidates]]
        best = candidates[np.lexsort((-expected, -size[candidates]))][:strongest]
        for k in best.tolist():
            connections.add_edge(int(given[k]), int(to[k]), weight=sign * float(size[k]))
        connections.graph[sign] = int((size == weakest).sum())
    return connections


def _found(found: Associations, strongest: int, attribute: str | None) -> nx.Graph:
    """The pairs found as a graph like that of `strongest_connections`, their information components as weights."""
    mine = range(found.layout.neurons) if attribute is None else found.layout.neurons_of(attribute).tolist()
    connections = nx.Graph()
    for sign in (1, -1):
        pairs = [
            (i, j, c)
            for i, j, c in zip(found.first.tolist(), found.second.tolist(), found.component.tolist(), strict=True)
            if sign * c > 0 and (i in mine or j in mine)
        ][:strongest]
        connections.add_weighted_edges_from(pairs)
        if pairs:
            connections.graph[sign] = sum(abs(c) == min(abs(c) for _, _, c in pairs) for _, _, c in pairs)
    if not connections:
        raise DataError("plots.graph.network: no association was found; there is nothing to draw.")
    return connections


def _draw_edge(
    ax: Axes, a: tuple[float, float], b: tuple[float, float], weight: float, width: float, directed: bool
) -> None:
    """A line bent towards the middle of the circle, less so on the way back."""
    turn = a[0] * b[1] - a[1] * b[0]
    bend = 0.12 if directed and a > b else 0.25
    curve = FancyArrowPatch(
        a,
        b,
        connectionstyle=f"arc3,rad={-math.copysign(bend, turn)}",
        arrowstyle="-|>" if directed else "-",
        mutation_scale=14,
        shrinkA=7,
        shrinkB=7,
        color=EXCITATORY if weight > 0 else INHIBITORY,
        linewidth=width,
        alpha=0.85,
    )
    ax.add_patch(curve)


def _draw_nodes(
    ax: Axes, layout: Layout, places: dict[int, tuple[float, float]], angles: dict[int, float]
) -> dict[int, Line2D]:
    """A mark for each neuron, its name pointing outwards."""
    attributes = sorted({int(layout.attribute[node]) for node in places})
    marks = {}
    for node, (x, y) in places.items():
        kind = attributes.index(int(layout.attribute[node]))
        (marks[node],) = ax.plot(
            x,
            y,
            marker=_SHAPES[kind % len(_SHAPES)],
            color=_COLOURS[kind % len(_COLOURS)],
            markeredgecolor=INK,
            markersize=11,
            zorder=3,
        )
        left = math.cos(angles[node]) < 0
        ax.text(
            1.06 * x,
            1.06 * y,
            layout.names[node],
            rotation=math.degrees(angles[node]) + 180 * left,
            rotation_mode="anchor",
            ha="right" if left else "left",
            va="center",
            fontsize=11,
        )
    return marks


def _key(connections: nx.Graph, name: str, verbs: tuple[str, str]) -> list[Line2D]:
    """What colours and widths mean: the strongest and weakest connection of each sign, and how many are as weak."""
    weights = np.array([weight for _, _, weight in connections.edges(data="weight")])
    handles = []
    for sign, colour, verb in zip((1, -1), (EXCITATORY, INHIBITORY), verbs, strict=True):
        mine = np.sort(np.abs(weights[sign * weights > 0]))
        if len(mine) == 0:
            continue
        ends = list(dict.fromkeys(readable(sign * size, "+.1f") for size in (mine[-1], mine[0])))
        text = f"{len(mine)} {verb}: {' to '.join(ends)} {name}"
        if (equal := connections.graph[sign]) > (drawn := int((mine == mine[0]).sum())):
            text += f" ({drawn} of {equal:,} at {ends[-1]})"
        handles.append(Line2D([], [], color=colour, linewidth=WIDEST * mine[-1] / np.abs(weights).max(), label=text))
    return handles
