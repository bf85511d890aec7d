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
        options = {name: value for name, value in self.options.items() if name != "sparse"}
        return RULES[find(self.rule).name](data, layout, **options)


RULES: dict[str, Callable[..., Any]] = {
    "probability": oracles.probability,
    "odds": oracles.odds,
    "hopfield": oracles.hopfield,
    "hebb": oracles.hebb,
    "covariance": oracles.covariance,
    "presynaptic-covariance": oracles.presynaptic_covariance,
    "willshaw": oracles.willshaw,
    "bcpnn": oracles.bcpnn,
    "storkey": oracles.storkey,
    "pseudo-inverse": oracles.pseudo_inverse,
}
"""The twin of each rule that makes weights."""

PAIRWISE = tuple(name for name, rule in bnn.RULES.items() if rule.pairwise)
"""Rules that make weights; the others keep patterns (`tests/test_memories.py`)."""

RULE_CASES = (
    RuleCase("probability", "probability", table=True),
    RuleCase("presence", "probability"),
    RuleCase("probability, connected within", "probability", {"within": True}, table=True),
    RuleCase("probability, self-connected", "probability", {"self_connections": True, "m": 0.5}, table=True),
    RuleCase("probability, conditional", "probability", {"estimate": "conditional"}, table=True),
    RuleCase("probability, float32", "probability", {"m": 1.0}, table=True, dtype=torch.float32),
    RuleCase("presence, sparse", "probability", {"sparse": True, "self_connections": True}, gaps=False),
    RuleCase("probability, sparse", "probability", {"sparse": True, "within": True}, table=True, gaps=False),
    RuleCase("presence, sparse, float32", "probability", {"sparse": True}, dtype=torch.float32, gaps=False),
    RuleCase("odds", "odds"),
    RuleCase("odds of a table", "odds", table=True),
    RuleCase("odds, connected within", "odds", {"within": True}, table=True),
    RuleCase("odds, conditional", "odds", {"estimate": "conditional"}),
    RuleCase("odds, float32", "odds", {"m": 0.25}, dtype=torch.float32),
    RuleCase("hopfield", "hopfield"),
    RuleCase("hopfield, states 0 and 1", "hopfield", {"low": 0}),
    RuleCase("hopfield of a table, self-connected", "hopfield", {"self_connections": True, "within": True}, table=True),
    RuleCase("hopfield, float32", "hopfield", dtype=torch.float32, gaps=False),
    RuleCase("hebb", "hebb"),
    RuleCase("hebb of a table, self-connected", "hebb", {"self_connections": True}, table=True),
    RuleCase("hebb, float32", "hebb", dtype=torch.float32, gaps=False),
    RuleCase("covariance", "covariance"),
    RuleCase("covariance of a table", "covariance", {"within": True, "self_connections": True}, table=True, gaps=False),
    RuleCase("covariance, float32", "covariance", dtype=torch.float32, gaps=False),
    RuleCase("presynaptic covariance", "presynaptic-covariance"),
    RuleCase("presynaptic covariance of a table", "presynaptic-covariance", {"self_connections": True}, table=True),
    RuleCase("willshaw", "willshaw", {"self_connections": True}),
    RuleCase("willshaw of a table, float32", "willshaw", table=True, dtype=torch.float32),
    RuleCase("bcpnn", "bcpnn"),
    RuleCase("bcpnn of a table, self-connected", "bcpnn", {"self_connections": True, "within": True}, table=True),
    RuleCase("bcpnn, float32", "bcpnn", dtype=torch.float32),
    RuleCase("storkey", "storkey", gaps=False),
    RuleCase("storkey of a table, self-connected", "storkey", {"self_connections": True}, table=True, gaps=False),
    RuleCase("storkey, float32", "storkey", {"self_connections": True}, dtype=torch.float32, gaps=False),
    RuleCase("pseudo-inverse", "pseudo-inverse", gaps=False),
    RuleCase("pseudo-inverse of a table", "pseudo-inverse", {"self_connections": True}, table=True, gaps=False),
    RuleCase("pseudo-inverse, float32", "pseudo-inverse", dtype=torch.float32, gaps=False),
)

WHOLE = ("hopfield", "hebb", "covariance")
"""Rules whose weights are whole numbers of a unit that is rounded alone, so that all move by one factor."""


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


def two_of_two():
    """Two attributes of two values that want to differ: a = 0 with b = 1, a = 1 with b = 0."""
    schema = bnn.Schema((bnn.Attribute("a", (0, 1)), bnn.Attribute("b", (0, 1))))
    weights = [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    return bnn.Network.of(weights, layout=bnn.Layout(schema, "values"))


HAND_CASES = (
    HandCase("by hand"),
    HandCase("by hand, self-connected", diagonal=(0, 3)),
    HandCase("by hand, negative self-connections", diagonal=(-3, 3)),
    HandCase("by hand, asymmetric", symmetric=False, diagonal=(-1, 1)),
    HandCase("by hand, asymmetric, float32", symmetric=False, dtype=torch.float32),
)


_BY_THRESHOLD = oracles.fill_attributes(oracles.fill_by_threshold)


@dataclass(frozen=True)
class DynamicsCase:
    """A dynamics, what its cues and clamps may be, and its twin.

    ``start(row, run)`` brings an `oracles.Row` from its cue to the start of the series, ``twin(row, run)`` to its end.
    """

    dynamics: Dynamics
    twin: Callable[..., oracles.Recalled]
    start: Callable[..., None] = _BY_THRESHOLD
    whole_attributes: bool = False
    needs_symmetry: bool = False

    @property
    def name(self):
        parallel = ["parallel"] * getattr(self.dynamics, "parallel", False)
        fixed = ["in fixed order"] * (getattr(self.dynamics, "order", "random") == "fixed")
        return " ".join([self.dynamics.name, *parallel, *fixed])


_THRESHOLD = oracles.sequential(oracles.asynchronous)
_WINNER = {"start": oracles.fill_attributes(oracles.fill_by_energy), "whole_attributes": True}
_ONE_BY_ONE = _WINNER | {"twin": oracles.sequential(oracles.winner_take_all), "needs_symmetry": True}
_LARGEST = {"start": oracles.start_with_winners}
_SWAPS = _LARGEST | {"twin": oracles.sequential(oracles.k_winners), "needs_symmetry": True}

DYNAMICS_CASES = (
    DynamicsCase(bnn.Asynchronous(), _THRESHOLD),
    DynamicsCase(bnn.Asynchronous(order="fixed"), _THRESHOLD),
    DynamicsCase(bnn.Synchronous(), oracles.parallel(oracles.all_thresholds)),
    DynamicsCase(bnn.WinnerTakeAll(), **_ONE_BY_ONE),
    DynamicsCase(bnn.WinnerTakeAll(order="fixed"), **_ONE_BY_ONE),
    DynamicsCase(bnn.WinnerTakeAll(parallel=True), oracles.parallel(oracles.all_winners), **_WINNER),
    DynamicsCase(bnn.KWinners(), **_SWAPS),
    DynamicsCase(bnn.KWinners(order="fixed"), **_SWAPS),
    DynamicsCase(bnn.KWinners(parallel=True), oracles.parallel(oracles.all_largest), **_LARGEST),
    DynamicsCase(bnn.Glauber(temperature=1.0), oracles.run_glauber),
)

FLOW_CASES = tuple(bnn.GradientFlow(solver=solver) for solver in ("dopri5", "rk4", "euler", "descent"))
"""Graded neurons: their twin computes the free energy of every recorded state, by `oracles.free_energy`."""

NETWORK_CASES = (*RULE_CASES, *HAND_CASES)


@dataclass(frozen=True)
class MemoryCase:
    """A memory of patterns under some options, and the records it keeps."""

    name: str
    rule: str
    options: Mapping[str, Any] = field(default_factory=dict)
    table: bool = False
    weighted: bool = False

    def sources(self):
        """Strategy for what `network` makes a memory of."""
        if not self.table:
            return pattern_records(gaps=True, max_rows=6, max_neurons=6)
        small = schemas(max_attributes=3, max_values=3)
        drawn = small.flatmap(lambda schema: records(schema, max_rows=6, weights=self.weighted))
        return drawn.filter(lambda table: table.weights is None or table.weights.sum() > 0)

    def network(self, source):
        return bnn.learn(source, self.rule, **self.options)


EXACT_MEMORIES = (
    MemoryCase("dense", "dense"),
    MemoryCase("dense, degree 2", "dense", {"degree": 2}),
    MemoryCase("dense, rectified", "dense", {"degree": 4, "rectified": True}),
    MemoryCase("dense, states 0 and 1", "dense", {"degree": 2, "low": 0}),
    MemoryCase("dense of a table", "dense", {"degree": 5}, table=True),
    MemoryCase("dense of a weighted table, states 0 and 1", "dense", {"low": 0}, table=True, weighted=True),
)
MEMORY_CASES = (
    *EXACT_MEMORIES,
    MemoryCase("modern", "modern"),
    MemoryCase("modern, states 0 and 1", "modern", {"beta": 0.5, "low": 0}),
    MemoryCase("modern of a table", "modern", {"beta": 0.25}, table=True),
    MemoryCase("modern of a weighted table, states 0 and 1", "modern", {"low": 0}, table=True, weighted=True),
)
MEMORY_DYNAMICS = (bnn.Attention(),)
"""Dynamics of patterns alone; their twins are in `tests/test_attention.py`."""
