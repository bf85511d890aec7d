"""`learn`: its options, what it says of the result, and what it refuses."""

import cases
import numpy as np
import pytest
import torch
from strategies import on_off_schema, unchecked

import bnn
from bnn.errors import DataError
from bnn.rules import base

PATTERNS = bnn.Records.from_patterns(np.random.default_rng(0).integers(0, 2, (12, 9)))


def test_connections_by_mask_and_within():
    table = bnn.Records.from_table({"a": [0, 1, 2, 0], "b": [0, 1, 0, 1], "c": [1, 1, 0, 0]})
    owner = bnn.Layout(table.schema, "values").attribute
    same = owner[:, None] == owner
    free, within = bnn.learn(table).weights.numpy(), bnn.learn(table, within=True).weights.numpy()
    assert not free[same].any()
    assert within[0, 1] == pytest.approx(np.log2(2 / (4 + 2)))  # values of one attribute never meet
    assert np.array_equal(free[~same], within[~same])
    mask = bnn.two_layers(table.schema, ["a"])
    for rule in set(cases.PAIRWISE) - {"storkey"}:  # what a neuron hears there decides what it learns next
        layered, plain = bnn.learn(table, rule, mask=mask), bnn.learn(table, rule)
        allowed = mask[np.ix_(plain.layout.attribute, plain.layout.attribute)]
        assert np.allclose(layered.weights, np.where(allowed, plain.weights, 0.0), atol=1e-9)
        if plain.silence is not None:
            assert np.allclose(layered.silence, np.where(mask[plain.layout.attribute], plain.silence, 0.0), atol=1e-9)


def test_what_the_network_says_of_its_origin_is_plain():
    network = bnn.learn(PATTERNS, "odds", m=np.int64(3))
    told = {"rule": "odds", "m": 3.0, "estimate": "joint", "within": False, "self_connections": False, "mask": False}
    assert network.provenance == {**told, "records": 12.0, "complete": True}


def test_priors_of_zero_and_one_are_moved_inwards():
    rows = np.array([[0, 1, 1], [0, 1, 0], [0, 1, 0], [0, 1, 1]])
    network = bnn.learn(bnn.Records.from_patterns(rows))
    assert network.prior.tolist() == [1 / 10, 9 / 10, 0.5]  # half a record of N + 1 = 5 from their ends
    assert np.allclose(network.prior_bias, np.log2([1 / 10, 9 / 10, 0.5]))
    assert bnn.learn(bnn.Records.from_patterns(rows), "hopfield").prior_bias is None


@pytest.mark.parametrize("rows", [1, 2, 10, 1000])
def test_a_value_never_seen_stays_rarer_than_one_seen_once(rows):
    patterns = np.zeros((rows, 2), np.int8)
    patterns[0, 1] = 1
    never, once = bnn.learn(bnn.Records.from_patterns(patterns)).prior.tolist()
    assert 0.0 < never < once < 1.0


@pytest.mark.parametrize("rule", bnn.RULES)
def test_counts_teach_what_their_records_teach_or_the_rule_says_that_they_cannot(rule):
    records = bnn.datasets.load("zoo")
    if bnn.RULES[rule].source == "patterns":
        sentence = rf"learn\.data: the rule '{rule}' is fitted from the patterns themselves, .*not keep; give Records\."
        with pytest.raises(DataError, match=sentence):
            bnn.learn(bnn.Counts.of(records), rule)
        return
    from_records, from_counts = bnn.learn(records, rule), bnn.learn(bnn.Counts.of(records), rule)
    assert from_records.layout.coding == from_counts.layout.coding == bnn.RULES[rule].coding
    assert torch.equal(from_records.weights, from_counts.weights)
    assert torch.equal(from_records.bias, from_counts.bias)


def test_weights_of_one_teach_what_no_weights_teach():
    records = bnn.datasets.load("zoo")
    weighted = bnn.Records(records.codes, records.schema, np.ones(records.rows))
    for rule in cases.PAIRWISE:
        for dtype, close in ((torch.float64, 1e-4), (torch.float32, 2e-2)):
            plain, same = bnn.learn(records, rule, dtype=dtype), bnn.learn(weighted, rule, dtype=dtype)
            assert torch.allclose(plain.weights, same.weights, rtol=close, atol=close)


def test_hopfield_weights_stay_within_one_however_many_rows():
    base = np.random.default_rng(0).integers(0, 2, (20_000, 1))
    patterns = bnn.Records.from_patterns(np.repeat(base, 120, axis=1))  # all neurons alike: every weight is 1
    for dtype in (torch.float32, torch.float64):
        weights = bnn.learn(patterns, "hopfield", dtype=dtype).weights
        off = ~torch.eye(120, dtype=torch.bool)
        assert torch.allclose(weights[off], torch.ones((), dtype=dtype), rtol=1e-2)


@pytest.mark.parametrize("rule", sorted(name for name, rule in bnn.RULES.items() if rule.source == "counts"))
def test_a_mask_of_neurons_leaves_single_connections_out(rule):
    table = bnn.Records.from_table({"a": ["x", "y", "z", None, "x"], "b": [0, 1, 2, 0, 1], "c": [0, 1, 1, 1, 0]})
    whole = bnn.learn(table, rule)
    n, by = whole.neurons, whole.layout.attribute
    assert n > len(table.schema.names)
    attributes = bnn.two_layers(table.schema, ["a"])
    same = bnn.learn(table, rule, mask=attributes[np.ix_(by, by)])
    assert torch.equal(same.weights, bnn.learn(table, rule, mask=attributes).weights)
    mask = np.ones((n, n), bool)
    mask[0, -1] = mask[-1, 0] = False
    less = bnn.learn(table, rule, mask=mask)
    assert np.allclose(less.weights, np.where(mask, whole.weights, 0.0), rtol=0, atol=1e-9)
    if whole.silence is not None:  # the evidence of b = 2 being off leaves with its connection to a = x
        alone = bnn.learn(table, rule, mask=~mask)
        assert np.allclose(less.silence, whole.silence - alone.silence, rtol=0, atol=1e-9)
        assert np.allclose(less.bias, whole.bias - alone.bias, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"rule": "ods"}, r"learn\.rule: there is no 'ods'; did you mean 'odds'\?"),
        ({"estimate": "jiont"}, r"learn\.estimate: there is no 'jiont'; did you mean 'joint'\?"),
        ({"rule": "odds", "estimate": "laplace"}, r"learn\.estimate: there is no 'laplace'"),
        ({"rule": "hopfield", "m": 2.0}, r"learn\('hopfield'\)\.option: there is no 'm'; Known: 'low'\."),
        ({"n": 2.0}, r"learn\('probability'\)\.option: there is no 'n'"),
        ({"m": -1}, r"learn\.m: got -1; it is a number of records, 0 or at least 1e-09\."),
        ({"m": float("nan")}, r"learn\.m: got nan; it is a number of records"),
        ({"m": float("inf")}, r"learn\.m: got inf; it is a number of records"),
        ({"m": "2"}, r"learn\.m: got '2'; it is a number of records"),
        ({"rule": "hopfield", "low": 1}, r"learn\.low: got 1; a Hopfield network's off state is -1 or 0\."),
        ({"dtype": torch.bfloat16}, r"learn\.dtype: got torch\.bfloat16; use torch\.float64 or torch\.float32\."),
        ({"mask": np.ones((9, 9))}, r"learn\.mask: got float64; give True or False for each pair of attributes\."),
        ({"mask": [[True]]}, r"learn\.mask: got shape \(1, 1\); give one True or False .* 9 attributes, \[9, 9\], or"),
        (
            {"mask": np.triu(np.ones((9, 9), bool))},
            r"learn\.mask: 'x0' and 'x1' are connected one way only; .*symmetric mask",
        ),
    ],
)
def test_arguments_that_cannot_be(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        bnn.learn(PATTERNS, **arguments)


def test_counts_teach_what_records_teach():
    table = bnn.Records.from_table({"a": ["x", "y", "y", None], "b": [0, 1, 2, 0]})
    for rule in ("odds", "hopfield"):
        by_records = bnn.learn(table, rule)
        for coding in ("values", "on"):
            by_counts = bnn.learn(bnn.Counts.of(table, coding), rule)
            assert by_counts.layout == by_records.layout
            assert torch.equal(by_counts.weights, by_records.weights)
    assert bnn.learn(bnn.Counts.of(table, "on")).layout.coding == "on"


def test_what_is_neither_counts_nor_records():
    sentence = r"learn\.data: got ndarray; give Counts or Records, such as bnn\.Records\.from_patterns"
    with unchecked(), pytest.raises(DataError, match=sentence):
        bnn.learn(np.eye(4))


def test_nothing_to_learn_from():
    empty = bnn.Records(np.empty((0, 2), int), on_off_schema(2))
    with pytest.raises(DataError, match=r"learn\.data: nothing was counted; give at least one record\."):
        bnn.learn(empty)
    with pytest.raises(DataError, match=r"learn\.data: no attribute has a value; give at least one known cell\."):
        bnn.learn(bnn.Records.from_table({"a": [None, None]}))


@pytest.mark.parametrize("rule", cases.PAIRWISE)
def test_one_row_and_one_neuron_are_enough(rule):
    network = bnn.learn(bnn.Records.from_patterns([[1]]), rule)
    assert network.weights.tolist() == [[0.0]]
    trace = bnn.recall(network, [[0]], check="raise")
    assert (trace.states == network.low).all()
    assert trace.outcome.tolist() == ["settled"]


def test_an_attribute_without_values_owns_no_neuron_and_harms_nothing():
    table = bnn.Records.from_table({"a": ["x", "y"], "none": [None, None], "b": ["p", "q"]})
    for rule in cases.PAIRWISE:
        network = bnn.learn(table, rule)
        full = bnn.learn(bnn.Records.from_table({"a": ["x", "y"], "b": ["p", "q"]}), rule)
        assert torch.equal(network.weights, full.weights)
        for dynamics in (bnn.Asynchronous(), bnn.WinnerTakeAll(), bnn.WinnerTakeAll(parallel=True)):
            assert bnn.recall(network, table, dynamics, check="raise").descent.holds
        assert network.decode(network.encode(table)).to_pydict()["none"] == [None, None]


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda _: None, r"learn: the rule 'mine' returned NoneType; a rule returns a bnn\.rules\.base\.Draft\."),
        (lambda n: base.Draft(np.zeros((2, 2)), np.zeros(n)), r"made weights of shape \(2, 2\); this layout needs"),
        (lambda n: base.Draft(np.zeros((n, n)), np.zeros(3)), r"made bias of shape \(3,\); this layout needs"),
        (lambda n: base.Draft(np.full((n, n), np.nan), np.zeros(n)), r"made weights with nan; all must be finite"),
        (lambda n: base.Draft(np.full((n, n), 1e308), np.zeros(n)), r"made weights with 1e\+308; all must be finite"),
    ],
)
def test_rules_of_ones_own_are_looked_at(made, sentence):
    rule = base.Rule("mine", lambda counts, *_: made(counts.layout.neurons), "", "on", False)
    with unchecked(), pytest.raises(DataError, match=sentence):
        bnn.learn(PATTERNS, rule)


def test_a_rule_of_ones_own_may_be_asymmetric_whole_and_in_any_memory_order():
    def lopsided(counts, connections, dtype):  # noqa: ARG001 - as every rule
        return base.Draft(np.asfortranarray(np.triu(counts.joint, 1), float), np.zeros(len(counts.joint)))

    network = bnn.learn(PATTERNS, base.Rule("lopsided", lopsided, "", "on", False))
    assert not network.symmetric
    assert not bnn.Asynchronous().guarantee(network).holds
    assert torch.equal(network.field(PATTERNS), torch.tensor(PATTERNS.codes).double() @ network.weights.T)
    assert not bnn.recall(network, PATTERNS, seed=0, check="raise").descent.guaranteed
