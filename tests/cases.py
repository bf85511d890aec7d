"""One line a rule, an estimate, a dynamics: what the laws of the tests run over, each with its slow, obvious twin.

A rule, estimate or dynamics without a line here fails the registry tests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import oracles
import torch
from hypothesis import strategies as st
from strategies import pattern_records, records, schemas

import bnn
from bnn.dynamics.base import Dynamics
from bnn.learning import find

ESTIMATES = {"joint": oracles.joint_ratio, "conditional": oracles.conditional_ratio}


@dataclass(frozen=True)
class RuleCase:
    """A rule under some options, and the records it learns from."""

    name: str
    rule: str
    options: Mapping[str, Any] = field(default_factory=dict)
    table: bool = False
    dtype: torch.dtype = torch.float64
    gaps: bool = True

    def sources(self):
        """Strategy for what `network` makes a network of."""
        if self.table:
            small = schemas(max_attributes=3, max_values=3)
            return small.flatmap(lambda schema: records(schema, max_rows=6, gaps=self.gaps))
        return pattern_records(gaps=self.gaps, max_rows=6, max_neurons=6)

    def network(self, source):
        return bnn.learn(source, self.rule, dtype=self.dtype, **self.options)

    def twin(self, data, layout):
        """Weights, bias, silence and constant by the definition of every entry."""
        return RULES[find(self.rule).name](data, layout, **self.options)


RULES: dict[str, Callable[..., Any]] = {
    "probability": oracles.probability,
    "odds": oracles.odds,
    "hopfield": oracles.hopfield,
}
"""The twin of each rule."""

RULE_CASES = (
    RuleCase("probability", "probability", table=True),
    RuleCase("presence", "probability"),
    RuleCase("probability, connected within", "probability", {"within": True}, table=True),
    RuleCase("probability, self-connected", "probability", {"self_connections": True, "m": 0.5}, table=True),
    RuleCase("probability, conditional", "probability", {"estimate": "conditional"}, table=True),
    RuleCase("probability, float32", "probability", {"m": 1.0}, table=True, dtype=torch.float32),
    RuleCase("odds", "odds"),
    RuleCase("odds of a table", "odds", table=True),
    RuleCase("odds, connected within", "odds", {"within": True}, table=True),
    RuleCase("odds, conditional", "odds", {"estimate": "conditional"}),
    RuleCase("odds, float32", "odds", {"m": 0.25}, dtype=torch.float32),
    RuleCase("hopfield", "hopfield"),
    RuleCase("hopfield, states 0 and 1", "hopfield", {"low": 0}),
    RuleCase("hopfield of a table, self-connected", "hopfield", {"self_connections": True, "within": True}, table=True),
    RuleCase("hopfield, float32", "hopfield", dtype=torch.float32, gaps=False),
)


@dataclass(frozen=True)
class HandCase:
    """Networks written down: small whole weights, so that ties are many."""

    name: str
    symmetric: bool = True
    diagonal: tuple[int, int] = (0, 0)
    dtype: torch.dtype = torch.float64

    def sources(self):
        return hand_weights(self.symmetric, self.diagonal)

    def network(self, source):
        weights, bias, low, layout = source
        return bnn.Network.of(weights, bias, low=low, layout=layout, dtype=self.dtype)


@st.composite
def hand_weights(draw, symmetric=True, diagonal=(0, 0), max_neurons=6):
    """Weights, bias, state of being off and layout."""
    n = draw(st.integers(1, max_neurons))
    entries = draw(st.lists(st.integers(-3, 3), min_size=n * n, max_size=n * n))
    weights = np.array(entries).reshape(n, n)
    if symmetric:
        weights = np.triu(weights, 1) + np.triu(weights, 1).T
    np.fill_diagonal(weights, draw(st.lists(st.integers(*diagonal), min_size=n, max_size=n)))
    bias = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    layout = draw(st.sampled_from([layout for layout in LAYOUTS if layout.neurons == n]))
    return weights, bias, draw(st.sampled_from([0, -1])), layout


def _layouts(largest=6):
    """Layouts of 1 to 6 neurons: one neuron an attribute, or attributes of one to three values."""
    for sizes in [(1,) * n for n in range(1, largest + 1)] + [(2,), (3,), (1, 3), (3, 2), (2, 2, 2), (3, 3), (1, 1, 3)]:
        values = [("off", "on") if size == 1 else ("a", "b", "c")[:size] for size in sizes]
        pairs = [size == 2 for size in sizes]
        coding = "values" if any(pairs) else "on"
        if not (any(pairs) and 1 in sizes):
            attributes = tuple(bnn.Attribute(f"x{i}", v) for i, v in enumerate(values))
            yield bnn.Layout(bnn.Schema(attributes), coding)


LAYOUTS = tuple(_layouts())

HAND_CASES = (
    HandCase("by hand"),
    HandCase("by hand, self-connected", diagonal=(0, 3)),
    HandCase("by hand, negative self-connections", diagonal=(-3, 3)),
    HandCase("by hand, asymmetric", symmetric=False, diagonal=(-1, 1)),
    HandCase("by hand, asymmetric, float32", symmetric=False, dtype=torch.float32),
)


@dataclass(frozen=True)
class DynamicsCase:
    """A dynamics, what its cues and clamps may be, and its twin.

    ``twin(row, dynamics, orders, number, seed, max_sweeps)`` runs an `oracles.Row`.
    """

    dynamics: Dynamics
    twin: Callable[..., Any]
    fill: Callable[..., None] = oracles.fill_by_threshold
    whole_attributes: bool = False
    needs_symmetry: bool = False

    @property
    def name(self):
        parts = [self.dynamics.name, *(["parallel"] if getattr(self.dynamics, "parallel", False) else [])]
        return " ".join([*parts, *(["fixed order"] if getattr(self.dynamics, "order", "random") == "fixed" else [])])

    def row(self, network, on, unknown, held, external, dynamics):
        """The row as it starts, its free unknown attributes filled."""
        row = oracles.Row(network, on, unknown, held, external)
        if isinstance(dynamics, bnn.KWinners):
            start_k_winners(row, dynamics.k)
            return row
        for a in range(len(row.start) - 1):
            mine = list(row.neurons(a))
            illegal = self.whole_attributes and len(mine) > 1 and sum(on[mine]) != 1
            if illegal:  # no value, or several: not known
                row.unknown[mine] = True
                row.state[mine] = 0
        for a in range(len(row.start) - 1):
            mine = list(row.neurons(a))
            if mine and row.unknown[mine[0]] and not row.held[mine[0]]:
                self.fill(row, a)
        return row


def start_k_winners(row, k):
    """From the k largest fields, unless the cue knows all and has k neurons on."""
    missing = row.unknown & ~np.array(row.held)
    if missing.any() or (k is not None and sum(row.state == 1) != k):
        row.state = oracles.largest_fields(row, sum(row.state == 1) if k is None else k)
    row.unknown[missing] = False


def _orders(dynamics, seed):
    if getattr(dynamics, "order", "random") == "fixed":
        return lambda number: np.arange
    return lambda number: lambda length: np.random.default_rng([seed, number]).permutation(length).tolist()


def _sequential(sweep):
    def twin(row, dynamics, seed, max_sweeps, index):
        order = _orders(dynamics, seed)
        return oracles.run_sequential(row, lambda number: sweep(row, order(number)), max_sweeps)

    return twin


def _parallel(choose):
    def twin(row, dynamics, seed, max_sweeps, index):
        return oracles.run_parallel(row, lambda: choose(row, dynamics), max_sweeps)

    return twin


def _glauber(row, dynamics, seed, max_sweeps, index):
    order = _orders(dynamics, seed)

    def sweep(number):
        uniform = 1.0 - np.random.default_rng([seed, number, 1 + index]).random(len(row.state))
        return oracles.glauber(row, order(number), uniform, dynamics.temperature)

    return oracles.run_sequential(row, sweep, max_sweeps)


def _largest(row, dynamics):
    return oracles.largest_fields(row, sum(row.state == 1) if dynamics.k is None else dynamics.k)


_WINNERS = {"fill": oracles.fill_by_energy, "whole_attributes": True}

DYNAMICS_CASES = (
    DynamicsCase(bnn.Asynchronous(), _sequential(oracles.asynchronous)),
    DynamicsCase(bnn.Asynchronous(order="fixed"), _sequential(oracles.asynchronous)),
    DynamicsCase(bnn.Synchronous(), _parallel(lambda row, _: oracles.all_thresholds(row))),
    DynamicsCase(bnn.WinnerTakeAll(), _sequential(oracles.winner_take_all), **_WINNERS, needs_symmetry=True),
    DynamicsCase(bnn.WinnerTakeAll(order="fixed"), _sequential(oracles.winner_take_all), **_WINNERS, needs_symmetry=True),
    DynamicsCase(bnn.WinnerTakeAll(parallel=True), _parallel(lambda row, _: oracles.all_winners(row)), **_WINNERS),
    DynamicsCase(bnn.KWinners(), _sequential(oracles.k_winners), needs_symmetry=True),
    DynamicsCase(bnn.KWinners(order="fixed"), _sequential(oracles.k_winners), needs_symmetry=True),
    DynamicsCase(bnn.KWinners(parallel=True), _parallel(_largest)),
    DynamicsCase(bnn.Glauber(temperature=1.0), _glauber),
)

NETWORK_CASES = (*RULE_CASES, *HAND_CASES)


@dataclass(frozen=True)
class Question:
    """One call of `bnn.recall`, and what the cue says in plain arrays."""

    network: bnn.Network
    dynamics: Any
    on: np.ndarray
    unknown: np.ndarray
    held: np.ndarray
    external: np.ndarray
    seed: int
    max_sweeps: int
    cues: np.ndarray
    options: dict[str, Any]

    def ask(self, rows=slice(None), **options):
        """The trace of some rows."""
        told = {name: value if np.ndim(value) < 2 or len(value) == 1 else value[rows] for name, value in self.options.items()}
        return bnn.recall(
            self.network, self.cues[rows], self.dynamics, seed=self.seed, max_sweeps=self.max_sweeps, **told, **options
        )


@st.composite
def questions(draw, network, case, max_rows=4):
    """A call of `bnn.recall` for that dynamics: any cues with unknown attributes, clamps and input that it accepts."""
    layout, n = network.layout, network.neurons
    rows = draw(st.integers(1, max_rows))
    owner = layout.attribute

    def bits(shape, chance=2):
        """Bools, each True once in ``chance`` times."""
        return np.array(draw(st.lists(st.integers(1, chance), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))).reshape(shape) == 1

    on = bits((rows, n))
    attributes = len(layout.schema.names)
    unknown = bits((rows, attributes), 4)[:, owner] if draw(st.booleans()) else np.zeros((rows, n), bool)
    held_rows = draw(st.sampled_from([1, rows]))
    held = bits((held_rows, attributes), 3)[:, owner] if draw(st.booleans()) else np.zeros((held_rows, n), bool)
    if not case.whole_attributes and held.any() and draw(st.booleans()):
        held = held & (bits(held.shape) | unknown.any(axis=0))  # single neurons, but unknown attributes as a whole
    held_full = np.broadcast_to(held, (rows, n))
    if case.whole_attributes:  # a clamped attribute has at most one value
        for r, a in np.ndindex(rows, attributes):
            mine = np.flatnonzero(owner == a)
            if on[r, mine].sum() > 1 and held_full[r, mine[0]]:
                on[r, mine] = mine == mine[on[r, mine]][0]
    on &= ~unknown
    cues = np.where(on, 1.0, draw(st.sampled_from([0.0, -1.0])))
    cues[unknown] = np.nan
    options: dict[str, Any] = {}
    if held.any():
        by_name = len(held) == 1 and draw(st.booleans()) and all(held[0, owner == a].all() or not held[0, owner == a].any() for a in range(attributes))
        options["clamp"] = [layout.schema.names[a] for a in np.unique(owner[held[0]])] if by_name else held
    external = draw(inputs(network, rows))
    if np.any(external) or draw(st.booleans()):
        options["input"] = external
    dynamics = case.dynamics
    if isinstance(dynamics, bnn.KWinners) and (unknown.any() or draw(st.booleans())):
        dynamics = bnn.KWinners(k=draw(st.integers(1, n)), parallel=dynamics.parallel, order=dynamics.order)
    return Question(
        network, dynamics, on, unknown, held_full, np.broadcast_to(external, (rows, n)), draw(st.integers(0, 2**40)),
        draw(st.sampled_from([1, 2, 30] if dynamics.settles else [1, 3])), cues, options,
    )  # fmt: skip


@st.composite
def inputs(draw, network, rows):
    """External input: none, one number, one a neuron, or one a neuron and row; small beside the weights."""
    size = float(network.weights.abs().sum() + network.bias.abs().sum()) / network.neurons
    shape = draw(st.sampled_from([None, (), (network.neurons,), (rows, network.neurons)]))
    if shape is None or size == 0.0:
        return np.array(0.0)
    count = int(np.prod(shape))
    eighths = draw(st.lists(st.integers(-7, 7), min_size=count, max_size=count))
    return np.array(eighths).reshape(shape) / 8 * size
