"""Estimates against their definition in exact fractions, and the promises that recall rests on."""

import inspect
from fractions import Fraction

import cases
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import records

import bnn
from bnn import estimate
from bnn.errors import DataError
from bnn.estimate import pair_counts

STATES = ((True, True), (True, False), (False, True), (False, False))
EVERYTHING = slice(0, None)


def test_every_estimate_has_its_registry_line_and_its_case():
    functions = [f for _, f in inspect.getmembers(estimate, inspect.isfunction) if f.__module__ == estimate.__name__]
    found = {f.__name__ for f in functions if list(inspect.signature(f).parameters) == ["pairs", "m"]}
    assert {"joint", "conditional"} <= found
    assert found == set(bnn.ESTIMATES) == set(cases.ESTIMATES)
    assert all(bnn.ESTIMATES[name].ratio.__name__ == name for name in found)


@pytest.mark.parametrize("name", cases.ESTIMATES)
@given(data=st.data())
def test_ratios_are_the_definition_in_fractions(name, data):
    weighted = data.draw(st.booleans())
    table = data.draw(records(weights=weighted, max_rows=8))
    m = data.draw(st.sampled_from([0.0, 0.5, 2.0]))
    counts = bnn.Counts.of(table, data.draw(st.sampled_from(["values", "on"])))
    chosen, pairs = bnn.ESTIMATES[name], pair_counts(counts, EVERYTHING, EVERYTHING)
    for x, y in STATES:
        ratio = np.broadcast_to(chosen.ratio(pairs.cell(x, y), m * counts.scale), counts.joint.shape)
        for j, i in np.ndindex(ratio.shape):
            cells = oracles.four_cells(table, counts.layout, j, i)
            assert ratio[j, i] == pytest.approx(float(cases.ESTIMATES[name](cells, x, y, Fraction(m))), rel=1e-12)
        if chosen.symmetric:
            mirror = np.broadcast_to(chosen.ratio(pairs.cell(y, x), m * counts.scale), counts.joint.shape)
            assert np.array_equal(ratio, mirror.T)


@given(
    rows=st.lists(st.integers(0, 4), min_size=2, max_size=3),
    columns=st.lists(st.integers(0, 4), min_size=2, max_size=3),
    alone=st.lists(st.tuples(st.booleans(), st.integers(0, 1)), max_size=4),
    weighted=st.booleans(),
    m=st.sampled_from([0.25, 2.0, 7.0]),
)
def test_an_independent_attribute_has_gain_zero_exactly_also_with_gaps(rows, columns, alone, weighted, m):
    """Where both are known, value i of one meets value j of the other rows[i] * columns[j] times."""
    product = [(i, j, r * c / 8 if weighted else 1.0) for i, r in enumerate(rows) for j, c in enumerate(columns)]
    cells = [(i, j, w) for i, j, w in product for _ in range(1 if weighted else rows[i] * columns[j])]
    cells += [(value, -1, 3.0) if first else (-1, value, 3.0) for first, value in alone]
    if not any(weight for _, _, weight in cells):
        return
    schema = bnn.Schema((bnn.Attribute("a", tuple(range(len(rows)))), bnn.Attribute("b", tuple(range(len(columns))))))
    weights = np.array([weight for _, _, weight in cells]) if weighted else None
    table = bnn.Records(np.array([(i, j) for i, j, _ in cells]), schema, weights)
    for rule, coding in (("probability", "values"), ("odds", "on"), ("odds", "values")):
        network = bnn.learn(bnn.Counts.of(table, coding), rule, m=m)
        between = network.layout.attribute[:, None] != network.layout.attribute
        if all(rows) and all(columns):
            assert not network.weights.numpy()[between].any()
            assert not network.bias.any()
        else:  # a value that is never seen while the other is known: no evidence, but no meeting either
            assert np.isfinite(network.weights.numpy()).all()


def test_a_table_worked_by_hand():
    # Rows where both are known: (x,p) (x,p) (x,q) (y,q); another knows only a = y, and one only b = r.
    table = bnn.Records.from_table({"a": ["x", "x", "x", "y", "y", None], "b": ["p", "p", "q", "q", None, "r"]})
    weights = bnn.learn(table, m=2.0).weights
    index = {name: k for k, name in enumerate(bnn.Layout(table.schema, "values").names)}

    def gain(to, given):
        return weights[index[to], index[given]].item()

    # N = 4, P(x) = 3/4, P(y) = 1/4, P(p) = P(q) = 2/4, all where both are known; r is never seen with a known
    assert gain("a = x", "b = p") == pytest.approx(np.log2((2 / (3 / 4 * 2 / 4) + 2) / (4 + 2)))
    assert gain("a = x", "b = q") == pytest.approx(np.log2((1 / (3 / 4 * 2 / 4) + 2) / (4 + 2)))
    assert gain("a = y", "b = q") == pytest.approx(np.log2((1 / (1 / 4 * 2 / 4) + 2) / (4 + 2)))
    assert gain("a = y", "b = p") == pytest.approx(np.log2(2 / (4 + 2)))  # never seen together
    assert gain("a = y", "b = r") == pytest.approx(np.log2(2 / (4 + 2)))  # a marginal of 0: R = 0, not 0/0
    assert gain("b = p", "a = x") == gain("a = x", "b = p")
    assert gain("a = x", "a = y") == gain("a = x", "a = x") == 0.0


def test_attributes_never_known_together_say_nothing_of_each_other():
    table = bnn.Records.from_table({"a": ["x", "y", None, None], "b": [None, None, "p", "q"]})
    for m in (0.0, 2.0):
        assert not bnn.learn(table, m=m).weights.any()
    network = bnn.learn(table, "odds", m=2.0)
    assert not network.weights.any()
    assert not network.bias.any()


@pytest.mark.parametrize(
    ("rule", "pair"), [("probability", "'a = x' and 'b = q'"), ("odds", "'b = q' and not 'a = y'")]
)
def test_m_of_zero_refuses_a_pair_that_never_meets_by_both_names(rule, pair):
    # Under odds each attribute owns one neuron, y and q: x is "not y"
    table = bnn.Records.from_table({"a": ["x", "y", "y"], "b": ["p", "p", "q"]})
    with pytest.raises(
        DataError, match=rf"learn\.m: with m = 0 the pair {pair}, never seen together, would .* infinite .*; use m > 0"
    ):
        bnn.learn(table, rule, m=0)


def test_relative_frequencies_where_all_pairs_meet():
    table = bnn.Records.from_table({"a": ["x", "x", "x", "y", "y"], "b": ["p", "p", "q", "p", "q"]})
    weights = bnn.learn(table, m=0).weights  # P(x) = P(p) = 3/5, P(x, p) = 2/5
    assert weights[0, 2].item() == pytest.approx(np.log2((2 / 5) / (3 / 5 * 3 / 5)))
