"""What a learning rule is: a pure function of counts to weights, evaluated tile by tile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Float64

from bnn.coding import read_states
from bnn.counts import Counts
from bnn.errors import DataError
from bnn.estimate import Block, PairCounts, pair_counts
from bnn.kernels import sparse as loops
from bnn.kernels import threads
from bnn.records import Records
from bnn.schema import Coding, Layout, Schema
from bnn.sparse import SparseWeights

TILE = 256
RUN = 1 << 16  # pairs that are weighed at a time where only those that occur are


@dataclass(frozen=True, slots=True)
class Connections:
    """Which neurons are connected: never two of one attribute unless asked, and only attributes the mask joins.

    Parameters
    ----------
    layout
        The neurons.
    within
        Connect different values of one attribute, as in the paper (values that exclude each other inhibit).
    itself
        Connect a neuron to itself (self-connections, optional in [B 2.2]).
    mask
        True where attributes a and b, or neurons j and i, may be connected, by its shape; None for all. ``itself``
        alone decides over self-connections.
    """

    layout: Layout
    within: bool = False
    itself: bool = False
    mask: Bool[np.ndarray, "joined joined"] | None = None

    def __post_init__(self) -> None:
        if self.mask is None:
            return
        attributes, neurons = len(self.layout.schema.names), self.layout.neurons
        if self.mask.shape not in ((attributes, attributes), (neurons, neurons)):
            raise DataError(
                f"learn.mask: got shape {self.mask.shape}; give one True or False for each pair of the "
                f"{attributes} attributes, [{attributes}, {attributes}], or of the {neurons} neurons."
            )
        if not np.array_equal(self.mask, self.mask.T):
            a, b = np.argwhere(self.mask != self.mask.T)[0]
            names = self.layout.schema.names if len(self.mask) == attributes else self.layout.names
            raise DataError(
                f"learn.mask: {names[a]!r} and {names[b]!r} are connected one way only; "
                "connections go both ways, so give a symmetric mask."
            )

    def disconnect(self, block: Float[np.ndarray, "to from"], to: slice, given: slice, value: float) -> None:
        """Write ``value`` in place wherever neurons of this block are not connected."""
        to_attribute, from_attribute = self.layout.attribute[to], self.layout.attribute[given]
        same_neuron = np.arange(to.start, to.stop)[:, None] == np.arange(given.start, given.stop)
        if self.mask is not None:
            by_attribute = len(self.mask) == len(self.layout.schema.names)
            joined = self.mask[np.ix_(to_attribute, from_attribute)] if by_attribute else self.mask[to, given]
            block[~joined & ~same_neuron] = value
        if to_attribute[0] > from_attribute[-1] or from_attribute[0] > to_attribute[-1]:
            return
        if not self.within:
            block[(to_attribute[:, None] == from_attribute) & ~same_neuron] = value
        if not self.itself:
            block[same_neuron] = value


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """What a rule makes; `learn` takes its arrays over, rounds them once in place and makes them a `Network`.

    Attributes
    ----------
    weights
        [neurons, neurons], W[to, from], in the dtype the network will have; `SparseWeights` of sparse counts.
    bias
        float64 [neurons]; where `silence` is given, its sum over attributes.
    low
        State of a neuron that is off: 0 or -1.
    silence
        [neurons, attributes]: part of the bias that leaves while an attribute is unknown; None where nothing leaves.
    constant
        log2 Sim = -2 E + constant.
    unit
        If given, `weights` are whole numbers of this unit, such as 1 / rows: rounding the unit alone keeps exact ties.
    """

    weights: Float[np.ndarray, "neurons neurons"] | SparseWeights
    bias: Float[np.ndarray, " neurons"]
    low: int = 0
    silence: Float[np.ndarray, "neurons attributes"] | None = None
    constant: float = 0.0
    unit: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """A registered learning rule.

    Attributes
    ----------
    name
        Its key in `bnn.RULES`.
    function
        ``function(counts, connections, dtype, **options) -> Draft``; its keyword-only arguments are the options.
        Where `source` is ``"patterns"`` the first argument is `Records` instead; where it is `ordered`, a fourth one is
        the `Network` of earlier records to go on from, or None.
    summary
        One line for people.
    coding
        How a table becomes neurons under this rule: ``"values"`` (one a value) or ``"on"`` (binary attributes).
    self_connections
        Whether the rule allows them.
    prior_bias
        The prior of a neuron in the unit of the rule's field, from P(j); None where it has none.
    source
        ``"counts"``: a function of counts, so that networks merge, forget and stream; ``"patterns"``: counts do not
        tell enough, it is fitted from `Records`.
    ordered
        Whether another order of the same records makes another network: it learns one record after another, and can
        go on from a network.
    symmetric
        Whether W(j,i) = W(i,j) by its defaults; where not, nothing promises descent.
    in_bits
        Whether weights, fields and energies are in bits; else they have no unit.
    pairwise
        Whether it makes weights; where not, ``function(records, layout, **options) -> PatternMemory``.
    sparse
        ``sparse(counts, connections, **options)`` says why the weights of pairs never seen together differ, None where
        all have one; the function is then also called with sparse counts, and makes `SparseWeights` of them. Without
        it the rule is given tables of all pairs only.
    """

    name: str
    function: Callable[..., Any]
    summary: str
    coding: Coding
    self_connections: bool
    prior_bias: Callable[[Float64[np.ndarray, " neurons"]], Float64[np.ndarray, " neurons"]] | None = None
    source: Literal["counts", "patterns"] = "counts"
    ordered: bool = False
    symmetric: bool = True
    in_bits: bool = True
    pairwise: bool = True
    sparse: Callable[..., str | None] | None = None

    def __repr__(self) -> str:
        return f"Rule({self.name}: {self.summary})"


def two_layers(schema: Schema, first: Iterable[str]) -> Bool[np.ndarray, "attributes attributes"]:
    """Connection mask of two layers: every attribute named in ``first`` with every other one, none inside a layer.

    This is Kosko's bidirectional associative memory.

    Examples
    --------
    >>> from bnn.schema import Attribute
    >>> schema = Schema(tuple(Attribute(name, (0, 1)) for name in "abc"))
    >>> two_layers(schema, ["a"]).astype(int).tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    """
    chosen = np.zeros(len(schema.names), dtype=bool)
    chosen[[schema.index(name) for name in first]] = True
    return np.not_equal.outer(chosen, chosen)


def tiles(layout: Layout, symmetric: bool) -> list[tuple[slice, slice]]:
    """Pairs of runs of neurons that cover the table of all pairs, or its upper triangle, cut between attributes."""
    edges = [0]
    for end in layout.start[1:].tolist():
        if end - edges[-1] >= TILE or end == layout.neurons:
            edges.append(end)
    runs = [slice(a, b) for a, b in pairwise(edges) if b > a]
    return [(to, given) for i, to in enumerate(runs) for given in (runs[i:] if symmetric else runs)]


def fill_tiles(layout: Layout, symmetric: bool, fill: Callable[[slice, slice], float]) -> float:
    """Call ``fill`` on every tile, over threads, and add up what it returns in an order that threads cannot change."""
    todo = tiles(layout, symmetric)

    def several(begin: int, end: int) -> list[float]:
        return [fill(*tile) for tile in todo[begin:end]]

    return math.fsum(value for part in threads.run(several, len(todo)) for value in part)


def weigh_pairs(
    counts: Counts,
    connections: Connections,
    dtype: np.dtype,
    weigh: Callable[[PairCounts], Block],
    symmetric: bool = True,
) -> Float[np.ndarray, "neurons neurons"]:
    """Weights of all pairs by a function of the counts of a block, 0 where not connected; half of it if symmetric."""
    layout = counts.layout
    weights = np.empty((layout.neurons, layout.neurons), dtype)

    def fill(to: slice, given: slice) -> float:
        block = weigh(pair_counts(counts, to, given))
        connections.disconnect(block, to, given, 0.0)
        weights[to, given] = block
        if symmetric:
            weights[given, to] = block.T
        return 0.0

    fill_tiles(layout, symmetric, fill)
    return weights


def weigh_occurring(
    counts: Counts, connections: Connections, dtype: np.dtype, weigh: Callable[[PairCounts], Block]
) -> SparseWeights:
    """Weights by a function of the counts of a block that is one constant for all pairs never seen together.

    Only pairs that occur in sparse counts of complete records are weighed. Beside them each neuron keeps what it has
    with its own attribute, where nothing is ever seen together, but other weights hold.
    """
    start, index, number = counts.joint.indptr.astype(np.int64), counts.joint.indices, counts.joint.data
    alone, known = counts.on[:, 0].astype(np.float64), counts.known[:1, :1].astype(np.float64)
    upper = np.empty(len(index), dtype)

    def some(begin: int, end: int) -> None:
        for first in range(begin, end, RUN):
            run = slice(first, min(first + RUN, end))
            rows = slice(int(np.searchsorted(start, run.start, "right")) - 1, int(np.searchsorted(start, run.stop)))
            held = np.diff(start[rows.start : rows.stop + 1].clip(run.start, run.stop))
            to, given = np.repeat(alone[rows], held), alone[index[run]]
            upper[run] = weigh(PairCounts(number[None, run].astype(np.float64), to[None], given[None], known))[0]

    threads.run(some, len(index), RUN)
    never = weigh(PairCounts(np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1)), known))
    background = float(never[0, 0])
    diagonal = np.zeros(len(alone))
    if connections.itself:
        diagonal = weigh(PairCounts(alone[None].copy(), alone[None], alone[None], known))[0]
    layout = counts.layout
    first, last = layout.start[layout.attribute], layout.start[layout.attribute + 1]
    kept = np.zeros(len(alone), dtype=np.int64)
    loops.lengths(start, index, first, last, kept)
    begins = np.concatenate([[0], np.cumsum(kept)])
    entries, values = np.empty(begins[-1], np.int32), np.empty(begins[-1], dtype)
    within = background if connections.within else 0.0
    loops.mirror(start, index, upper, first, last, within, diagonal, begins[:-1].copy(), entries, values)
    return SparseWeights(begins, entries, values, background)


def known_patterns(records: Records, layout: Layout, rule: str) -> Float64[np.ndarray, "rows neurons"]:
    """Rows as states -1 and +1, for a rule that nothing may be unknown to."""
    states = read_states(layout, records, "learn.data")
    if states.unknown is not None:
        row, j = np.argwhere(states.unknown)[0]
        name = layout.schema.names[layout.attribute[j]]
        raise DataError(
            f"learn.data: row {row} does not know {name!r}, and the rule {rule!r} is defined for patterns known in "
            "full; leave such rows out, or fill them in."
        )
    return 2.0 * states.on - 1.0


def require_positive(
    ratio: Float[np.ndarray, "to from"],
    to: slice,
    given: slice,
    layout: Layout,
    states: tuple[bool, bool] = (True, True),
) -> None:
    """Refuse log2 of zero: m = 0 and neurons never seen together in these states, named by attribute = value."""
    if ratio.min() > 0.0:
        return
    j, i = np.argwhere(ratio <= 0.0)[0]
    names = (layout.names[to.start + j], layout.names[given.start + i])
    pair = " and ".join(repr(name) if on else f"not {name!r}" for name, on in zip(names, states, strict=True))
    raise DataError(
        f"learn.m: with m = 0 the pair {pair}, never seen together, would have an infinite weight; "
        "use m > 0, such as m = 2."
    )
