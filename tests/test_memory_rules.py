"""The rules of other memories: worked examples, what each of them is known for, and what they refuse."""

from fractions import Fraction
from math import log2

import cases
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import pattern_records, records, unchecked

import bnn
from bnn.errors import DataError, SchemaError
from bnn.rules import storkey

FOUR = bnn.Records.from_patterns([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]])  # N = 2, 3, 2 of 4; N(0,1) = 2, 0, 1
SEED = np.random.default_rng


def dense(rows, neurons, seed=0):
    """Patterns of plus and minus one, a coin a neuron."""
    return SEED(seed).integers(0, 2, (rows, neurons))


def sparse(rows, neurons, active, seed=0):
    """Patterns with so many neurons on."""
    keys = SEED(seed).random((rows, neurons))
    return (keys.argsort(axis=1).argsort(axis=1) < active).astype(int)


def learned(patterns, rule, **options):
    return bnn.learn(bnn.Records.from_patterns(patterns), rule, **options)


def recalled(trace, patterns):
    """Share of rows that ended in their own pattern."""
    return ((trace.states == 1) == (patterns == 1)).all(axis=1).mean()


# --- Functions of counts ------------------------------------------------------------------------------------------

BY_HAND = {  # of the pairs (0,1), (0,2), (1,2)
    "hebb": (Fraction(1, 2), 0, Fraction(1, 4)),
    "covariance": (Fraction(1, 8), Fraction(-1, 4), Fraction(-1, 8)),
    "willshaw": (1, 0, 1),
    "bcpnn": (log2(4 / 3), log2(4 / 25), log2(2 / 3)),  # never together: 1/5^2 over 1/2 times 1/2
}


@pytest.mark.parametrize("rule", BY_HAND)
def test_weights_of_four_patterns_by_hand(rule):
    network = bnn.learn(FOUR, rule)
    upper = network.weights.numpy()[np.triu_indices(3, 1)]
    assert upper == pytest.approx([float(w) for w in BY_HAND[rule]], rel=1e-9)
    bias = np.log2([1 / 2, 3 / 4, 1 / 2]) if rule == "bcpnn" else np.zeros(3)
    assert network.bias.numpy() == pytest.approx(bias)
    assert (network.low, network.symmetric) == (0, True)


def test_presynaptic_covariance_of_four_patterns_by_hand():
    weights = bnn.learn(FOUR, "presynaptic-covariance").weights.numpy()
    assert weights[0, 1] == pytest.approx(2 / 3 - 1 / 2)  # P(0 given 1) - P(0)
    assert weights[1, 0] == pytest.approx(1 - 3 / 4)
    assert weights[2, 0] == pytest.approx(0 - 1 / 2)
    rare = learned([[1, 1, 1], [0, 1, 0], [0, 1, 0], [0, 0, 0]], "presynaptic-covariance").weights.numpy()
    assert rare[1, 0] == pytest.approx(1 / 4)  # on once, and as loud as the covariance 1/16 over its share of 1/4
    never = learned([[0, 1, 1], [0, 1, 0]], "presynaptic-covariance", self_connections=True).weights.numpy()
    assert never[:, 0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("rule", ["covariance", "presynaptic-covariance", "bcpnn"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_independent_has_weight_zero_exactly(rule, dtype):
    a = np.array([1] * 3 + [0] * 4)
    both = np.array([[x, y] for x in a for y in a[:5]] * 7)  # 3 of 7 and 3 of 5: neither is a round binary number
    assert learned(both, rule, dtype=dtype).weights.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_gaps_count_where_both_are_known():
    gaps = bnn.Records.from_patterns([[1, 1], [1, 0], [0, 1], [1, np.nan], [np.nan, 1], [np.nan, 0]])
    assert bnn.learn(gaps, "hebb").weights[0, 1].item() == pytest.approx(1 / 3)
    assert bnn.learn(gaps, "covariance").weights[0, 1].item() == pytest.approx(1 / 3 - 4 / 9)
    assert bnn.learn(gaps, "willshaw").weights[0, 1].item() == 1.0
    network = bnn.learn(gaps, "bcpnn")
    assert network.weights[0, 1].item() == pytest.approx(log2((1 / 3) / (4 / 9)))
    assert network.bias.tolist() == pytest.approx([log2(3 / 4), log2(3 / 5)])  # on the rows that know it


def test_covariance_of_balanced_patterns_is_a_quarter_of_hopfields_rule():
    half = dense(50, 30)
    balanced = np.concatenate([half, 1 - half])
    weights = learned(balanced, "covariance").weights
    assert torch.allclose(4 * weights, learned(balanced, "hopfield").weights, rtol=2.0**-15, atol=0)


@pytest.mark.parametrize("rule", ["hebb", "covariance", "willshaw"])
def test_exact_ties_stay_ties(rule):
    patterns, cues = sparse(11, 60, 6), sparse(300, 60, 6, seed=1)
    joint, on = patterns.T @ patterns, patterns.sum(axis=0)
    whole = {"hebb": joint, "covariance": 11 * joint - np.outer(on, on), "willshaw": joint > 0}[rule].astype(int)
    np.fill_diagonal(whole, 0)
    fields = cues @ whole
    found = learned(patterns, rule).field(cues).numpy()
    for mine, theirs in zip(fields, found, strict=True):
        assert len(np.unique(mine)) == len(np.unique(theirs)) < 60
        assert (np.diff(theirs[np.argsort(mine, kind="stable")]) >= 0).all()


def test_bcpnn_is_the_probability_form_with_its_prior_where_nothing_is_zero():
    patterns = np.array([[int(c) for c in f"{i:03b}"] for i in range(8)] + [[1, 1, 0], [1, 1, 1]])
    network, form = learned(patterns, "bcpnn"), learned(patterns, "probability", m=0.0)
    assert torch.allclose(network.weights, form.weights, atol=1e-12)
    assert torch.allclose(network.bias, torch.log2(network.prior), atol=1e-12)
    cue = [[1, 0, np.nan]]
    both = np.log2((patterns[:, 2] == 1).mean()) + form.field(cue)[0, 2].item()
    assert network.field(cue)[0, 2].item() == pytest.approx(both)
    assert network.prior_bias.tolist() == [0.0, 0.0, 0.0]
    plain, asked = bnn.recall(network, patterns, seed=0), bnn.recall(network, patterns, seed=0, input="prior")
    assert np.array_equal(plain.energy, asked.energy)


@settings(max_examples=25)
@given(table=records(gaps=True, weights=True))
def test_self_connections_of_rules_with_states_zero_and_one_are_never_negative(table):
    if table.weights.sum() == 0:
        return
    for rule in ("hebb", "covariance", "presynaptic-covariance", "willshaw", "bcpnn"):
        assert (bnn.learn(table, rule, self_connections=True).diagonal >= 0).all()


# --- What makes them usable ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["hebb", "willshaw"])
def test_where_nothing_inhibits_everything_comes_on_but_winners_recall(rule):
    patterns = sparse(12, 100, 8)
    network = learned(patterns, rule)
    cues = bnn.corrupt(patterns, move=1 / 8, seed=0)
    everything = bnn.recall(network, cues, seed=0, check="raise")
    assert (everything.states[:, patterns.any(axis=0)] == 1).all()
    for dynamics in (bnn.KWinners(), bnn.KWinners(parallel=True)):
        assert recalled(bnn.recall(network, cues, dynamics, seed=0, check="raise"), patterns) == 1.0


def test_covariance_recalls_by_single_thresholds_with_the_threshold_halfway():
    patterns = sparse(15, 200, 20)
    network, f = learned(patterns, "covariance"), 0.1
    fields = network.field(patterns).numpy()
    others = -f * (1 - f) / 199  # of 20 in 200, two are on together less often than by chance
    rest = (1 - 1 / 15) / 15  # the pattern itself is one of those that P(i) comes from
    assert fields[patterns == 1].mean() == pytest.approx(19 * ((1 - f) ** 2 * rest + others), rel=0.02)  # not itself
    assert fields[patterns == 0].mean() == pytest.approx(20 * (-f * (1 - f) * rest + others), rel=0.02)
    cues = bnn.corrupt(patterns, flip=0.02, seed=0)
    threshold = -200 * f * (1 - f) * (0.5 - f) / 15
    halfway = bnn.recall(network, cues, input=threshold, seed=0, check="raise")
    assert recalled(halfway, patterns) == 1.0
    assert recalled(bnn.recall(network, cues, seed=0), patterns) < 0.2


def test_willshaw_completes_a_part_in_one_step_and_a_fixed_threshold_must_not_be_iterated():
    patterns = sparse(180, 200, 8)
    network = learned(patterns, "willshaw", self_connections=True)
    parts = bnn.corrupt(patterns, delete=0.25, seed=0)
    hears_all = 0.5 - parts.sum(axis=1, keepdims=True) + np.zeros(patterns.shape)
    once = bnn.recall(network, parts, bnn.Synchronous(), input=hears_all, max_sweeps=1)
    assert (once.states[patterns == 1] == 1).all()  # whoever is in the pattern hears all of the part
    assert recalled(once, patterns) > 0.9
    again = bnn.recall(network, parts, bnn.Synchronous(), input=hears_all, check="raise")
    assert recalled(again, patterns) < 0.5  # of all 8 that are on by then, 6 are easily found elsewhere
    winners = bnn.recall(network, parts, bnn.KWinners(8), check="raise", seed=0)
    assert recalled(winners, patterns) > 0.9


def test_modular_patterns_rank_the_rules_as_the_benchmarks_do():
    rng = SEED(0)
    codes = rng.integers(0, 12, (120, 12))
    schema = bnn.Schema(tuple(bnn.Attribute(f"g{i}", tuple(range(12))) for i in range(12)))
    patterns = bnn.Records(codes, schema)
    moved = codes.copy()
    moved[np.arange(120), rng.integers(0, 12, 120)] = rng.integers(0, 12, 120)
    shares = []
    for rule in ("hebb", "covariance", "willshaw", "bcpnn"):
        network = bnn.learn(patterns, rule)
        assert not network.weights.numpy()[network.layout.attribute[:, None] == network.layout.attribute].any()
        trace = bnn.recall(network, bnn.Records(moved, schema), bnn.WinnerTakeAll(parallel=True), check="raise")
        shares.append(recalled(trace, network.encode(patterns)))
    assert shares == sorted(shares)
    assert np.diff(shares).min() > 0.05


# --- Storkey ------------------------------------------------------------------------------------------------------


def test_storkey_of_two_patterns_by_hand():
    # x = (+,+,-) leaves 1/3, -1/3, -1/3. Of y = (+,-,-): h01 = h10 = 1/3, h02 = -1/3, h20 = 1/3, h12 = 1/3, h21 = -1/3
    weights = learned([[1, 1, 0], [1, 0, 0]], "storkey").weights.numpy()
    third = Fraction(1, 3)
    expected = [
        third + third * (-1 - third + third),
        -third + third * (-1 - third - third),
        -third + third * (1 - third + third),
    ]
    assert expected == [0, Fraction(-8, 9), 0]
    assert weights[np.triu_indices(3, 1)] == pytest.approx([float(w) for w in expected], abs=1e-12)


def textbook(signs, own=False):
    """The double loop over neurons, a field a pair, in floats."""
    n = signs.shape[1]
    w = np.zeros((n, n))
    for x in signs:
        old = w.copy()
        for i in range(n):
            for j in range(n):
                if own or i != j:
                    hij = sum(old[i, k] * x[k] for k in range(n) if k not in (i, j))
                    hji = sum(old[j, k] * x[k] for k in range(n) if k not in (i, j))
                    w[i, j] += (x[i] * x[j] - x[i] * hji - hij * x[j]) / n
    return w


@pytest.mark.parametrize("block", [1, 3, 64, 1000])
def test_storkey_in_blocks_is_the_textbooks_double_loop(block, monkeypatch):
    monkeypatch.setattr(storkey, "BLOCK", block)
    patterns = dense(80, 16)
    expected = textbook(2 * patterns - 1, own=True)
    network = learned(patterns, "storkey", self_connections=True)
    assert np.allclose(network.weights, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert network.symmetric


def test_storkeys_first_pattern_is_hopfields():
    one = dense(1, 40)
    assert torch.allclose(40 * learned(one, "storkey").weights, learned(one, "hopfield").weights, atol=1e-10)


def test_storkey_depends_on_the_order_and_the_other_rules_do_not():
    patterns = bnn.Records.from_patterns(dense(20, 30))
    for rule in map(bnn.RULES.get, cases.PAIRWISE):
        first, other = bnn.learn(patterns, rule), bnn.learn(patterns[::-1], rule)
        assert torch.allclose(first.weights, other.weights, atol=1e-9) != rule.ordered


def test_storkey_holds_more_than_hopfield_and_the_later_patterns_best():
    patterns = dense(90, 400)
    cues = bnn.corrupt(patterns, flip=0.1, seed=0)
    shares = {
        rule: recalled(bnn.recall(learned(patterns, rule), cues, seed=0, check="raise"), patterns)
        for rule in ("hopfield", "storkey")
    }
    assert shares["hopfield"] < 0.1
    assert shares["storkey"] > 0.9
    many = dense(180, 400)
    stable = (learned(many, "storkey").field(many).numpy() * (2 * many - 1) > 0).all(axis=1)
    assert stable[-45:].mean() > stable[:45].mean() + 0.4


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("own", [False, True])
def test_storkey_goes_on_from_a_network(dtype, own, tmp_path):
    patterns = bnn.Records.from_patterns(dense(150, 60))
    options = {"dtype": dtype, "self_connections": own}
    whole = bnn.learn(patterns, "storkey", **options)
    first = bnn.learn(patterns[:50], "storkey", **options)
    first.save(tmp_path / "first.safetensors")
    begun = bnn.Network.load(tmp_path / "first.safetensors")
    gone_on = bnn.learn(patterns[50:], "storkey", start=begun, **options)
    assert torch.allclose(gone_on.weights, whole.weights, rtol=0, atol=100 * whole.grid)
    assert torch.equal(first.weights, begun.weights)
    assert gone_on.provenance == whole.provenance
    assert torch.allclose(gone_on.prior, whole.prior, atol=1e-12)


def test_what_learning_cannot_go_on_from():
    patterns = bnn.Records.from_patterns(dense(5, 8))
    network = bnn.learn(patterns, "storkey")
    for wrong, sentence in (
        (
            {"rule": "hopfield", "start": network},
            r"learn\.start: the rule 'hopfield' does not go on from a network; .*sum",
        ),
        (
            {"start": bnn.learn(patterns, "hopfield")},
            r"learn\.start: .*learned with rule = 'hopfield', not 'storkey'; go",
        ),
        (
            {"start": network, "self_connections": True},
            r"learn\.start: .* with self_connections = False, not True; go on",
        ),
        ({"start": bnn.Network.of(np.zeros((8, 8)))}, r"learn\.start: that network was learned with rule = None, not"),
        ({"start": "first.safetensors"}, r"learn\.start: got str; give a Network that this rule made, or None\."),
    ):
        with unchecked(), pytest.raises(DataError, match=sentence):
            bnn.learn(patterns, **{"rule": "storkey"} | wrong)
    with pytest.raises(SchemaError, match=r"learn\.start: the schemas differ: 9 attributes against 8"):
        bnn.learn(bnn.Records.from_patterns(dense(5, 9)), "storkey", start=network)


def test_storkey_takes_whole_weights_for_repetitions():
    patterns = bnn.Records.from_patterns(dense(4, 10))
    weighted = bnn.Records(patterns.codes, patterns.schema, np.array([2, 0, 1, 3]))
    assert torch.equal(
        bnn.learn(weighted, "storkey").weights, bnn.learn(patterns[[0, 0, 2, 3, 3, 3]], "storkey").weights
    )
    half = bnn.Records(patterns.codes, patterns.schema, np.array([1, 1, 0.5, 1]))
    with pytest.raises(DataError, match=r"learn\.data: row 2 has the weight 0\.5, .*'storkey' .*whole number of times"):
        bnn.learn(half, "storkey")


def test_storkey_says_when_patterns_are_far_too_many():
    with pytest.raises(
        DataError, match=r"after 20,000 patterns the weights of the rule 'storkey' are beyond .*'hopfield'"
    ):
        learned(dense(20_000, 4), "storkey")


def test_storkeys_neurons_hear_only_whom_they_are_connected_to():
    signs = 2 * dense(6, 5) - 1
    table = bnn.Records.from_patterns(signs)
    layers = bnn.two_layers(table.schema, table.schema.names[:2])
    weights = np.zeros((5, 5))
    for x in signs:
        fields = weights @ x
        change = np.outer(x, x) - np.outer(x, fields) - np.outer(fields, x) + 2 * weights  # h_ij leaves neuron j out
        weights = np.where(layers, weights + change / 5, 0.0)
    assert np.allclose(bnn.learn(table, "storkey", mask=layers).weights, weights, atol=1e-12)


# --- Pseudo-inverse -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("load", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("own", [False, True])
def test_stored_patterns_are_fixed_points_of_the_projection(load, dtype, own):
    patterns = dense(round(200 * load), 200)
    network = learned(patterns, "pseudo-inverse", dtype=dtype, self_connections=own)
    signs = 2 * patterns - 1
    shown = 1.0 if own else 1.0 - np.diag(np.linalg.pinv(signs) @ signs)
    assert np.allclose(network.field(patterns).numpy() * signs, shown, atol=1e-3 if dtype == torch.float32 else 1e-9)
    trace = bnn.recall(network, patterns, seed=0, check="raise")
    assert not trace.flips.any()


@given(patterns=pattern_records(max_rows=5, max_neurons=7))
def test_any_patterns_are_fixed_points_and_global_minima(patterns):
    network = bnn.learn(patterns, "pseudo-inverse")
    trace = bnn.recall(network, patterns, seed=0, check="raise")
    assert not trace.flips.any()
    states = np.arange(2**network.neurons)[:, None] >> np.arange(network.neurons) & 1
    least = network.energy(states).min()
    assert network.energy(patterns) == pytest.approx(least.item(), abs=1e-9)


def test_energy_is_half_the_squared_distance_to_the_patterns_span():
    patterns, states = dense(20, 50), 2 * dense(30, 50, seed=1) - 1
    network = learned(patterns, "pseudo-inverse", self_connections=True)
    signs = (2 * patterns - 1).T.astype(float)
    nearest = signs @ np.linalg.lstsq(signs, states.T, rcond=None)[0]
    distance = ((states.T - nearest) ** 2).sum(axis=0)
    assert network.energy(states).numpy() == pytest.approx((distance - 50) / 2)


def test_repeated_opposite_dependent_and_weightless_patterns_change_nothing():
    base = 2 * dense(10, 40) - 1
    plain = bnn.learn(bnn.Records.from_patterns(base), "pseudo-inverse").weights
    product = base[0] + base[1] - base[2]
    same = np.concatenate([base, base[:3], -base[3:6], product[None] if set(product) <= {-1, 1} else base[:1]])
    assert torch.allclose(learned(same, "pseudo-inverse").weights, plain, atol=1e-10)
    rows = np.concatenate([base, 2 * dense(1, 40, seed=9) - 1])
    weights = np.array([0.25] * 10 + [0.0])
    records_ = bnn.Records.from_patterns(rows)
    weighted = bnn.Records(records_.codes, records_.schema, weights)
    assert torch.allclose(bnn.learn(weighted, "pseudo-inverse").weights, plain, atol=1e-10)


def test_patterns_that_differ_in_one_neuron_are_kept_apart():
    prototype = dense(1, 60)
    patterns = np.repeat(prototype, 9, axis=0)
    patterns[np.arange(8), np.arange(8)] ^= 1
    network = learned(patterns, "pseudo-inverse")
    assert not bnn.recall(network, patterns, seed=0, check="raise").flips.any()
    other = prototype.copy()
    other[0, 40:] ^= 1
    assert (bnn.recall(network, other, seed=0).states[:, 8:] == 2 * prototype[:, 8:] - 1).all()


def test_of_orthogonal_patterns_the_projection_is_hopfields_rule():
    from scipy.linalg import hadamard

    patterns = hadamard(16)[1:6]
    assert torch.allclose(
        learned(patterns, "pseudo-inverse").weights, learned(patterns, "hopfield").weights * 5 / 16, rtol=1e-4
    )


def test_correlated_patterns_are_recalled_where_hopfields_rule_recalls_none():
    patterns = np.where(SEED(1).random((40, 200)) < 0.15, 1 - dense(1, 200), dense(1, 200))
    cues = bnn.corrupt(patterns, flip=0.05, seed=0)
    shares = {
        rule: recalled(bnn.recall(learned(patterns, rule), cues, seed=0, check="raise"), patterns)
        for rule in ("hopfield", "pseudo-inverse")
    }
    assert shares["hopfield"] == 0.0
    assert shares["pseudo-inverse"] > 0.9


def test_basins_are_wider_without_self_connections():
    patterns = dense(80, 200)
    cues = bnn.corrupt(patterns, flip=0.1, seed=0)
    free, held = (
        recalled(bnn.recall(learned(patterns, "pseudo-inverse", self_connections=own), cues, seed=0), patterns)
        for own in (False, True)
    )
    assert free > held + 0.3


def test_as_many_patterns_as_neurons_leave_the_identity_without_a_trace_of_noise():
    patterns = dense(80, 40)
    assert torch.equal(learned(patterns, "pseudo-inverse", self_connections=True).weights, torch.eye(40).double())
    empty = learned(patterns, "pseudo-inverse")
    assert not empty.weights.any()
    assert not bnn.recall(empty, dense(5, 40, seed=3), seed=0).flips.any()


# --- Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["storkey", "pseudo-inverse"])
def test_rules_fitted_from_patterns_need_them_whole(rule):
    gaps = bnn.Records.from_patterns([[1, 0, 1], [1, np.nan, 0]])
    with pytest.raises(
        DataError, match=rf"learn\.data: row 1 does not know 'x1', and the rule '{rule}' .*fill them in"
    ):
        bnn.learn(gaps, rule)
    assert bnn.learn(gaps[:1], rule).neurons == 3


@given(rule=st.sampled_from(sorted(cases.PAIRWISE)), patterns=pattern_records(max_neurons=5))
def test_what_a_rule_says_of_itself_is_true(rule, patterns):
    said = bnn.RULES[rule]
    network = bnn.learn(patterns, rule)
    assert network.symmetric or not said.symmetric
    assert (network.prior_bias is not None) == (said.prior_bias is not None)
    assert said.prior_bias is None or said.in_bits
