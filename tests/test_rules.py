"""Learning rules against the definition of every entry, and the identities between them that the papers state."""

import importlib
import pkgutil

import cases
import numpy as np
import oracles
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import on_off_schema, pattern_records, records

import bnn
import bnn.rules
from bnn.errors import DataError
from bnn.rules import base
from bnn.rules.pseudo_inverse import NOISE

ROWS = np.random.default_rng(0).integers(0, 2, (12, 9))
PATTERNS = bnn.Records.from_patterns(ROWS)


def states_of(neurons, low=0):
    """All states of so many neurons."""
    on = np.arange(2**neurons)[:, None] >> np.arange(neurons)[::-1] & 1
    return np.where(on == 1, 1, low)


def test_every_rule_has_its_registry_line_and_its_case():
    modules = [importlib.import_module(f"bnn.rules.{m.name}") for m in pkgutil.iter_modules(bnn.rules.__path__)]
    found = [module.RULE for module in modules if hasattr(module, "RULE")]
    assert len(found) >= 3
    assert {rule.name: rule for rule in found} == bnn.RULES
    assert set(cases.PAIRWISE) == set(cases.RULES) == {case.rule for case in cases.RULE_CASES}


@pytest.mark.parametrize("tile", [1, 256])
@pytest.mark.parametrize("case", cases.RULE_CASES, ids=lambda case: case.name)
@settings(max_examples=15)
@given(data=st.data())
def test_every_entry_is_its_definition(case, tile, data):
    source = data.draw(case.sources())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "TILE", tile)
        network = case.network(source)
    weights, bias, silence, constant = case.twin(source, network.layout)
    # A sum over attributes moves by half a step of the grid each; exact ties are kept by moving all weights alike
    scale = {torch.float32: 2.0**-7, torch.float64: 2.0**-17}[network.bias.dtype]
    cleaned = NOISE * (case.rule == "pseudo-inverse")
    near = {"rtol": scale * (case.rule in cases.WHOLE), "atol": network.grid * network.neurons + cleaned + 1e-14}
    assert np.allclose(network.table, weights, **near)
    assert np.allclose(network.bias, bias, **near)
    assert network.constant == pytest.approx(constant, abs=1e-9)
    assert (network.silence is None) == (silence is None)
    if silence is not None:
        assert np.allclose(network.silence, silence, **near)
        assert torch.equal(network.silence.sum(dim=1), network.bias)
    estimate = case.options.get("estimate", "joint")
    assert network.symmetric or not (bnn.ESTIMATES[estimate].symmetric and bnn.RULES[case.rule].symmetric)
    assert network.symmetric == torch.equal(network.table, network.table.T)


BY_COUNTS = sorted(name for name, rule in bnn.RULES.items() if rule.source == "counts")


@given(table=records(weights=True), rule=st.sampled_from(BY_COUNTS))
def test_weighted_records_are_learned_by_their_weight(table, rule):
    if table.weights.sum() == 0:
        with pytest.raises(DataError, match=r"learn\.data: nothing was counted; give at least one record\."):
            bnn.learn(table, rule)
        return
    network = bnn.learn(table, rule)
    weights, bias, *_ = cases.RULES[rule](table, network.layout)
    assert np.allclose(network.weights, weights, atol=1e-9)
    assert np.allclose(network.bias, bias, atol=1e-9)


# --- Equations of the papers --------------------------------------------------------------------------------------


def known_sums(network, logs, states, unknown):
    """Field of each neuron by the four cells [B eq 20]: sum over known i of L(1, V_i) - L(0, V_i)."""
    n = network.neurons
    return [
        sum(logs[True, bool(states[i])][j, i] - logs[False, bool(states[i])][j, i] for i in range(n) if not unknown[i])
        for j in range(n)
    ]


@given(data=st.data())
def test_odds_field_is_the_weights_of_evidence_of_the_known(data):
    table = data.draw(records(gaps=True, max_rows=8))
    network = bnn.learn(table, "odds")
    layout = network.layout
    logs = oracles.log_ratios(table, layout)
    states = np.array(data.draw(st.lists(st.integers(0, 1), min_size=layout.neurons, max_size=layout.neurons)))
    unknown = np.isin(layout.attribute, data.draw(st.sets(st.integers(0, len(layout.schema.names) - 1))))
    field = network.field(np.where(unknown, np.nan, states))[0]
    assert np.allclose(field, known_sums(network, logs, states, unknown), atol=1e-9)


def test_odds_field_plus_prior_is_the_posterior_odds():
    network = bnn.learn(PATTERNS, "odds")
    logs, state = oracles.log_ratios(PATTERNS, network.layout), ROWS[3]
    prior = ROWS.mean(axis=0)
    evidence = known_sums(network, logs, state, np.zeros(9, bool))
    expected = np.log2(prior / (1 - prior)) + evidence  # the logarithm of [B eq 20]
    assert np.allclose(network.field(state)[0] + network.prior_bias, expected)


def test_probability_field_plus_prior_is_the_naive_posterior():
    network = bnn.learn(PATTERNS, "probability")
    state, prior = ROWS[3], ROWS.mean(axis=0)
    ratios = 2.0 ** oracles.log_ratios(PATTERNS, network.layout)[True, True]
    posterior = [prior[j] * np.prod([ratios[j, i] for i in range(9) if state[i] and i != j]) for j in range(9)]
    assert np.allclose(2.0 ** (network.field(state)[0] + network.prior_bias).numpy(), posterior)  # [B eq 1, 3]


@pytest.mark.parametrize("coding", ["on", "values"])
@given(table=pattern_records(gaps=True, max_neurons=4))
def test_similarity_is_the_sum_of_all_cells_and_its_slope_twice_the_field(coding, table):
    """[B eq 22], the constant included; log2 Sim is affine in each neuron, so its slope is a difference."""
    network = bnn.learn(bnn.Counts.of(table, coding), "odds")
    n, logs = network.neurons, oracles.log_ratios(table, network.layout)
    states = states_of(n)
    similarity = [sum(logs[bool(v[j]), bool(v[i])][j, i] for j in range(n) for i in range(n) if j != i) for v in states]
    assert np.allclose(network.log_similarity(states), similarity, atol=1e-8)
    fields = network.field(states).numpy()
    for j in range(n):
        slope = np.array(similarity)[states[:, j] == 1] - np.array(similarity)[states[:, j] == 0]
        assert np.allclose(slope, 2 * fields[states[:, j] == 0, j], atol=1e-8)


def test_probability_similarity_is_the_product_of_the_active_posteriors():
    network = bnn.learn(PATTERNS)
    ratios = 2.0 ** oracles.log_ratios(PATTERNS, network.layout)[True, True]
    active = np.flatnonzero(ROWS[5])
    expected = np.prod([ratios[j, i] for j in active for i in active if i != j])  # [B eq 6]
    assert 2.0 ** network.log_similarity(ROWS[5]).item() == pytest.approx(expected)
    assert network.energy(ROWS[5]).item() == pytest.approx(-0.5 * np.log2(expected))  # [B eq 7]


@pytest.mark.parametrize("self_connections", [False, True])
def test_one_flip_changes_the_similarity_by_twice_the_field_and_the_own_connection(self_connections):
    network = bnn.learn(PATTERNS, self_connections=self_connections)
    trace = bnn.recall(network, 1 - ROWS, record="flips", seed=0)
    assert len(trace.flip_log.neuron) > 10
    for row in range(len(trace)):
        history = trace.replay(row)
        similarity, fields = network.log_similarity(history), network.field(history)
        for t, neuron in enumerate(trace.flip_log.neuron[slice(*trace.flip_log.start[row : row + 2])]):
            change = 2 * abs(fields[t, neuron]) + network.weights[neuron, neuron]
            assert (similarity[t + 1] - similarity[t]).item() == pytest.approx(change.item(), abs=1e-9)


def test_self_connections_follow_the_same_formula_and_the_odds_form_has_none():
    network = bnn.learn(PATTERNS, self_connections=True, m=1e-9)
    assert np.allclose(network.diagonal, -np.log2(ROWS.mean(axis=0)))  # about -log2 P(j) [B 2.2]
    assert np.allclose(bnn.learn(PATTERNS, "hopfield", self_connections=True).diagonal, 1.0)
    with pytest.raises(DataError, match=r"learn\.self_connections: the rule 'odds' has none; leave them off\."):
        bnn.learn(PATTERNS, "odds", self_connections=True)


@given(data=st.data())
def test_odds_form_is_the_probability_form_with_two_neurons_a_bit(data):
    """No connections inside a bit, winner-take-all, gaps when learning, unknown bits in the cue."""
    table = data.draw(pattern_records(gaps=True, max_neurons=5))
    one, two = bnn.learn(table, "odds"), bnn.learn(bnn.Counts.of(table, "values"), "probability")
    n = one.neurons
    bits = states_of(n)[data.draw(st.integers(0, 2**n - 1))]
    cue = np.where(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.nan, bits)
    pairs = np.stack([1 - cue, cue], axis=1).reshape(-1)
    evidence = two.field(pairs)[0].reshape(n, 2)
    assert np.allclose(one.field(cue)[0], evidence[:, 1] - evidence[:, 0], atol=1e-9)
    if not np.isnan(cue).any():
        assert one.log_similarity(cue).item() == pytest.approx(two.log_similarity(pairs).item(), abs=1e-9)
    first, second = bnn.recall(one, cue, seed=1, record="states"), bnn.recall(two, pairs, bnn.WinnerTakeAll(), seed=1)
    doubtful = np.abs(one.field(first.history[0]).numpy()) < 1e-9  # a tie of real numbers, which rounding may break
    if not doubtful.any():
        assert np.array_equal(first.states[0], second.states[0, 1::2])
        assert second.log_similarity[0, -1] == pytest.approx(first.log_similarity[0, -1], abs=1e-9)


@given(data=st.data())
def test_states_of_plus_and_minus_one_are_zero_and_one_with_four_times_the_weights(data):
    table = data.draw(pattern_records(max_neurons=7))
    signed = bnn.learn(table, "hopfield")
    weights = signed.weights.numpy()
    plain = bnn.Network(torch.from_numpy(4 * weights), torch.from_numpy(-2 * weights.sum(axis=1)), signed.layout)
    cues = states_of(signed.neurons)[:: data.draw(st.integers(1, 5))]
    for dynamics in (bnn.Asynchronous(), bnn.Synchronous(), bnn.KWinners()):
        a, b = bnn.recall(signed, cues, dynamics, seed=3), bnn.recall(plain, cues, dynamics, seed=3)
        assert np.array_equal(a.states == 1, b.states == 1)
        assert np.allclose(a.energy, b.energy - 0.5 * weights.sum(), atol=1e-9)


@given(table=pattern_records(max_neurons=6))
def test_hopfield_weights_are_mean_products_and_its_two_clothes_share_them(table):
    signs = 2.0 * table.codes - 1
    expected = signs.T @ signs / len(signs)
    np.fill_diagonal(expected, 0.0)
    signed, plain = bnn.learn(table, "hopfield"), bnn.learn(table, "hopfield", low=0)
    assert np.allclose(signed.weights, expected, atol=1e-12)
    assert torch.equal(signed.weights, plain.weights)
    assert (signed.low, plain.low) == (-1, 0)


@pytest.mark.parametrize(("rows", "weighted"), [(100, False), (100, True), (100_000, False)])
@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 2.0**-17), (torch.float32, 2.0**-7)])
def test_hopfield_weights_keep_their_size_whatever_the_number_of_records(rows, weighted, dtype, near):
    # Every pattern alike: all weights are 1, row sums large, and 1 / rows too fine for the grid of sums
    rng = np.random.default_rng(1)
    patterns = np.repeat(rng.integers(0, 2, (1, 60)), rows, axis=0)
    patterns[: rows // 10] ^= 1 & rng.integers(0, 2, (rows // 10, 60))
    weights = rng.random(rows) if weighted else np.ones(rows)
    table = bnn.Records(patterns, on_off_schema(60), weights if weighted else None)
    signs = (2 * patterns - 1).astype(float)
    expected = (signs * weights[:, None]).T @ signs / weights.sum()
    np.fill_diagonal(expected, 0.0)
    assert np.allclose(bnn.learn(table, "hopfield", dtype=dtype).weights, expected, rtol=0, atol=near)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("number", [3, 10])
def test_exact_ties_of_hopfield_stay_ties(number, dtype):
    rng = np.random.default_rng(number)
    patterns, cues = rng.integers(0, 2, (number, 101)), rng.integers(0, 2, (200, 101))
    network = bnn.learn(bnn.Records.from_patterns(patterns), "hopfield", dtype=dtype)
    whole = (2 * patterns - 1).T @ (2 * patterns - 1)
    np.fill_diagonal(whole, 0)
    fields = (2 * cues - 1) @ whole
    assert (fields == 0).sum() > 50
    assert np.array_equal(np.sign(network.field(cues).numpy()), np.sign(fields))
    still = bnn.recall(network, cues, bnn.Synchronous(), max_sweeps=1)
    assert np.array_equal(still.states[fields == 0] == 1, cues[fields == 0] == 1)
