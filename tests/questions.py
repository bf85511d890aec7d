"""Calls of `bnn.recall` drawn by hypothesis, and what their cues say in plain arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import oracles
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import bnn


@dataclass(frozen=True)
class Question:
    """One call of `bnn.recall`. ``on``, ``unknown``, ``held`` and ``external`` are what it says of every neuron."""

    network: bnn.Network | bnn.PatternMemory
    dynamics: Any
    on: np.ndarray
    unknown: np.ndarray
    held: np.ndarray
    external: np.ndarray
    seed: int
    max_sweeps: int
    cues: np.ndarray
    options: dict[str, Any]

    def ask(self, **options):
        given = {"seed": self.seed, "max_sweeps": self.max_sweeps, **self.options, **options}
        return bnn.recall(self.network, self.cues, self.dynamics, **given)

    def twins(self, case, trace):
        """Each row's oracle at its end, and what became of it."""
        for r in range(len(self.on)):
            row = oracles.row_of(self.network, self.on[r], self.unknown[r], self.held[r], self.external[r])
            run = oracles.Run(self.dynamics, self.seed, self.max_sweeps, r)
            if case.whole_attributes:
                row.forget_illegal()
            case.start(row, run)
            if case.whole_attributes and not self.network.symmetric:  # no energy says how an attribute is filled
                row.state = trace.start[r].astype(object)
            yield row, case.twin(row, run)


def bits(shape, chance=2):
    """Bools, each True once in ``chance`` times."""
    return hnp.arrays(np.int8, shape, elements=st.integers(1, chance)).map(lambda drawn: drawn == 1)


@st.composite
def questions(draw, network, case, max_rows=4):
    """A call for that dynamics: any cues with unknown attributes, clamps and input that it accepts."""
    layout, owner = network.layout, network.layout.attribute
    rows, neurons, attributes = draw(st.integers(1, max_rows)), network.neurons, len(layout.schema.names)
    on = draw(bits((rows, neurons)))
    unknown = draw(st.booleans()) & draw(bits((rows, attributes), 4))[:, owner]
    held = draw(st.booleans()) & draw(bits((draw(st.sampled_from([1, rows])), attributes), 3))[:, owner]
    if not case.whole_attributes and draw(st.booleans()):  # single neurons, but of unknown attributes all
        held = held & (draw(bits(held.shape)) | unknown.any(axis=0))
    dynamics = case.dynamics
    if isinstance(dynamics, bnn.KWinners) and (unknown.any() or draw(st.booleans())):
        fewest, most = winners_allowed(on & ~unknown, held)
        if max(1, fewest) > most:  # the clamps of all rows leave no room for one number
            held = np.zeros_like(held)
            fewest, most = 1, neurons
        dynamics = bnn.KWinners(draw(st.integers(max(1, fewest), most)), dynamics.parallel, dynamics.order)
    options = {"clamp": draw(clamps(layout, held))} if held.any() else {}
    held = np.broadcast_to(held, on.shape)
    if case.whole_attributes:
        keep_one_value(layout, on, held)
    on &= ~unknown
    cues = np.where(unknown, np.nan, np.where(on, 1.0, draw(st.sampled_from([0.0, -1.0]))))
    external = draw(inputs(network, rows))
    if np.any(external) or draw(st.booleans()):
        options["input"] = external
    seed, max_sweeps = draw(st.integers(0, 2**40)), draw(st.sampled_from([1, 2, 30] if dynamics.settles else [1, 3]))
    external = np.broadcast_to(external, on.shape)
    return Question(network, dynamics, on, unknown, held, external, seed, max_sweeps, cues, options)


@st.composite
def clamps(draw, layout, held):
    """That mask, or the names of the attributes where it is of whole ones and the same for all rows."""
    chosen = np.unique(layout.attribute[held[0]])
    names = [layout.schema.names[a] for a in chosen]
    by_name = len(held) == 1 and (np.isin(layout.attribute, chosen) == held[0]).all() and draw(st.booleans())
    return names if by_name else held


def winners_allowed(on, held):
    """Fewest and most neurons that can be on in every row, given what is clamped on and off."""
    return (on & held).sum(axis=1).max(), (on | ~held).sum(axis=1).min()


def keep_one_value(layout, on, held):
    """Leave one neuron on of each clamped attribute that has several."""
    for r, a in np.ndindex(len(on), len(layout.start) - 1):
        mine = np.flatnonzero(layout.attribute == a)
        if len(mine) and held[r, mine[0]] and on[r, mine].sum() > 1:
            on[r, mine] = mine == mine[on[r, mine]][0]


@st.composite
def inputs(draw, network, rows):
    """External input: none, one number, one a neuron, or one a neuron and row; small beside the weights."""
    if network.keeps == "patterns":
        size = float(network.field(np.ones(network.neurons)).abs().mean()) / network.neurons
    else:
        size = float(network.table.abs().sum() + network.bias.abs().sum()) / network.neurons
    shape = draw(st.sampled_from([None, (), (network.neurons,), (rows, network.neurons)]))
    if shape is None:
        return np.float64(0.0)
    return draw(hnp.arrays(np.int8, shape, elements=st.integers(-7, 7))) / 8 * size
