"""`learn_delta`: a worked example, the laws of weighted counts, and what is held out."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import pattern_records, records, row_weights, schemas, unchecked

import bnn
from bnn.errors import DataError
from bnn.repetition import recalled

COUNTED = [name for name, rule in bnn.RULES.items() if rule.source == "counts"]
LOPSIDED = bnn.Records.from_patterns([[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0]])
CLEAN = {"noise": None, "seed": 0}
MODULAR = {"dynamics": bnn.WinnerTakeAll(parallel=True), "input": "prior", "noise": {"flip": 0.1}, "max_sweeps": 15}


def modular(rows, groups=10, size=10, seed=0):
    schema = bnn.Schema(tuple(bnn.Attribute(f"group {a}", tuple(range(size))) for a in range(groups)))
    return bnn.Records(np.random.default_rng(seed).integers(0, size, (rows, groups)), schema)


def weighted(source, weights):
    return bnn.Records(source.codes, source.schema, np.array(weights))


# With B = (1, 1, -1) counted w times against three times A = (1, 1, 1), Hopfield's weights to the third neuron are
# (3 - w)/(3 + w): its field is 2 (3 - w)/(3 + w) in A and in B, so B is stable from w = 3 on and A up to w = 3.


def test_a_pattern_outnumbered_by_its_neighbour_is_counted_until_both_are_at_threshold():
    found = bnn.learn_delta(LOPSIDED, "hopfield", weight=3.0, rounds=5, **CLEAN)
    assert found.weights.tolist() == [1, 1, 1, 3]
    assert found.fixed.tolist() == found.recalled.tolist() == found.held_out.tolist() == [0.75, 1.0]
    assert found.best == 1
    assert found.network.weights.numpy() == pytest.approx(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), rel=1e-5, abs=0)
    assert found.counts.records == 6
    assert repr(found) == "DeltaLearning(round 1 of 1, held out 75.0 % -> 100.0 %)"


def test_added_weights_are_multiples_of_the_first_ones():
    twice = bnn.learn_delta(weighted(LOPSIDED, [2, 2, 2, 2]), "hopfield", weight=2.0, additive=True, rounds=9, **CLEAN)
    assert twice.weights.tolist() == [2, 2, 2, 6]
    assert twice.fixed.tolist() == [0.75, 0.75, 1.0]


def test_too_large_steps_pass_by_and_the_first_round_is_kept():
    found = bnn.learn_delta(LOPSIDED, "hopfield", weight=1.5, rounds=4, **CLEAN)
    # B weighs 1, 1.5, 2.25, 3.375: now A is unstable, and is counted 1.5 times; then B again
    assert found.fixed.tolist() == [0.75, 0.75, 0.75, 0.25, 0.75]
    assert found.best == 0
    assert found.weights.tolist() == [1, 1, 1, 1]


def test_rounds_end_before_counts_would_overflow():
    found = bnn.learn_delta(LOPSIDED, "hopfield", weight=2.0**20, rounds=9, **CLEAN)
    # B weighs 2**20, then so does each A, then B 2**40; with each A at 2**40 there would be 2**42
    assert found.fixed.tolist() == [0.75, 0.25, 0.75, 0.25]
    assert found.best == 0


def test_each_round_may_have_its_own_weight():
    found = bnn.learn_delta(LOPSIDED, "hopfield", weight=[1.5, 2.0], rounds=2, **CLEAN)
    assert found.weights.tolist() == [1, 1, 1, 3]


@pytest.mark.parametrize("rule", COUNTED)
@given(st.data())
@settings(max_examples=6)
def test_no_round_is_plain_learning(rule, data):
    source = data.draw(
        st.one_of(
            schemas(max_attributes=3).flatmap(lambda schema: records(schema, weights=True)), pattern_records(gaps=True)
        )
    )
    if source.weights is not None and not source.weights.any():
        return
    found = bnn.learn_delta(source, rule, rounds=0, seed=0)
    plain = bnn.learn(source, rule)
    assert torch.equal(found.network.weights, plain.weights)
    assert torch.equal(found.network.bias, plain.bias)
    assert found.counts == bnn.Counts.of(source)
    assert found.best == 0


@pytest.mark.parametrize("rule", COUNTED)
@pytest.mark.parametrize("signal", ["both", "cues", "patterns"])
@given(st.data())
@settings(max_examples=6)
def test_the_network_is_that_of_the_weighted_records(rule, signal, data):
    source = data.draw(st.one_of(schemas(max_attributes=3).flatmap(records), pattern_records(gaps=True)))
    source = weighted(source, 0.25 + data.draw(row_weights(source.rows)))
    found = bnn.learn_delta(
        source,
        rule,
        signal=signal,
        weight=1.15,
        rounds=4,
        cues=2,
        noise={"flip": 0.3},
        seed=data.draw(st.integers(0, 9)),
    )
    assert found.counts == bnn.Counts.of(weighted(source, found.weights))
    again = bnn.learn(found.counts, rule)
    assert torch.equal(found.network.weights, again.weights)
    assert found.network.symmetric or not bnn.RULES[rule].symmetric
    assert (found.weights >= source.weights).all()
    assert found.best == found.recalled.argmax()


def test_learned_counts_merge_and_forget_exactly():
    source, other = modular(80), modular(30, seed=1)
    found = bnn.learn_delta(source, weight=1.1, rounds=5, seed=0, **MODULAR)
    assert found.best > 0
    half = weighted(source, found.weights)[40:]
    both = found.counts + bnn.Counts.of(other)
    assert both - bnn.Counts.of(half) - bnn.Counts.of(other) == bnn.Counts.of(weighted(source, found.weights)[:40])
    trace = bnn.recall(bnn.learn(both), source, bnn.WinnerTakeAll(), check="raise")
    assert trace.descent.guaranteed


def test_recall_gains_on_noise_that_neither_learning_nor_choosing_saw():
    source = modular(70)
    found = bnn.learn_delta(source, weight=1.1, rounds=12, seed=0, **MODULAR)
    asked = {"dynamics": MODULAR["dynamics"], "input": "prior", "max_sweeps": 15, "seed": 0}
    before, after = [], []
    for seed in range(6):
        cues = bnn.corrupt(source, flip=0.1, seed=1000 + seed)
        for network, shares in ((bnn.learn(source), before), (found.network, after)):
            shares.append(recalled(bnn.recall(network, cues, **asked), source).mean())
    assert np.mean(after) > np.mean(before) + 0.05
    assert abs(np.mean(after) - found.held_out[found.best]) < 0.05
    assert abs(np.mean(before) - found.held_out[0]) < 0.05


def test_what_choosing_alone_gains_is_not_held_out():
    # A weight so near 1 that the network stays the same: the best of eleven noises looks better
    found = bnn.learn_delta(modular(85), weight=1 + 2.0**-18, rounds=10, seed=0, **MODULAR)
    assert found.recalled[found.best] > found.recalled[0] + 0.02
    assert (found.held_out == found.held_out[0]).all()


def test_held_out_cues_are_others_than_those_learned_by_and_a_seed_repeats_all():
    first, again, other = (bnn.learn_delta(modular(85), rounds=3, seed=seed, **MODULAR) for seed in (0, 0, 1))
    for name in ("fixed", "recalled", "held_out", "weights"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert first.recalled[0] != first.held_out[0]
    assert first.fixed[0] == other.fixed[0]
    assert first.held_out[0] != other.held_out[0]


def test_a_record_that_fails_with_some_cues_is_given_that_share():
    found = bnn.learn_delta(modular(70), signal="cues", weight=1.125, rounds=1, cues=4, seed=1, **MODULAR)
    assert found.best == 1
    assert set(found.weights.tolist()) == {1.0, 1 + 1 / 32, 1 + 2 / 32, 1 + 3 / 32, 1.125}


def test_signals_end_where_nothing_fails():
    source = modular(65)
    patterns, both = (
        bnn.learn_delta(source, signal=signal, weight=1.15, rounds=8, seed=0, **MODULAR)
        for signal in ("patterns", "both")
    )
    assert patterns.fixed[-1] == 1.0
    assert (patterns.fixed[:-1] < 1.0).all()
    assert len(both.fixed) > len(patterns.fixed)
    assert np.array_equal(both.held_out[: len(patterns.fixed)], patterns.held_out)


def test_of_a_record_with_gaps_the_known_values_are_compared():
    gaps = bnn.Records.from_patterns([[1, 1, 0, 0], [1, 1, 0, np.nan], [0, 0, 1, 1]])
    trace = bnn.recall(bnn.learn(gaps, "hopfield"), gaps, seed=0)
    assert recalled(trace, gaps).tolist() == [[True, True, True]]
    twice = bnn.recall(bnn.learn(gaps, "hopfield"), gaps[[0, 1, 2, 2, 1, 0]], seed=0)
    assert recalled(twice, gaps).tolist() == [[True, True, True], [False, True, False]]


def test_a_cycle_through_the_pattern_is_no_recall():
    apart = bnn.Network.of([[0, -1], [-1, 0]], low=-1)
    pattern = bnn.Records.from_patterns([[1, 1]])
    phases = {tuple(bnn.recall(apart, pattern, bnn.Synchronous(), max_sweeps=n).states[0]) for n in (1, 2)}
    assert phases == {(1, 1), (-1, -1)}
    for sweeps in (2, 3, 4):
        trace = bnn.recall(apart, pattern, bnn.Synchronous(), max_sweeps=sweeps)
        assert not recalled(trace, pattern).any()


def test_graded_neurons_are_judged_by_their_nearest_states():
    digits = bnn.datasets.load("mnist-100")[::20]
    found = bnn.learn_delta(digits, "odds", dynamics=bnn.GradientFlow(gain=4.0, solver="descent"), rounds=1, seed=0)
    assert found.fixed[0] == 1.0


def test_what_is_returned_cannot_be_changed_and_what_was_given_is_not():
    weights = np.ones(4)
    given_records = weighted(LOPSIDED, weights)
    told = []
    found = bnn.learn_delta(
        given_records, "hopfield", weight=3.0, rounds=5, progress=lambda *now: told.append(now), **CLEAN
    )
    assert weights.tolist() == [1, 1, 1, 1]
    assert told == [(0, 5), (1, 5)]
    assert found.network.provenance["delta_rounds"] == 1
    assert found.to_frame().to_pydict() == {
        "round": [0, 1],
        "fixed": [0.75, 1.0],
        "recalled": [0.75, 1.0],
        "held_out": [0.75, 1.0],
    }
    for name in ("weights", "fixed", "recalled", "held_out"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(found, name)[0] = 5


FITTED = bnn.rules.base.Rule("mine", lambda *_: None, "", "on", False, source="patterns")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"records": np.eye(3)}, r"learn_delta\.records: got ndarray; give Records, such as bnn\.Records"),
        ({"rule": FITTED}, r"learn_delta\.rule: the rule 'mine' is fitted from the patterns and knows no weights"),
        ({"rule": "ods"}, r"learn\.rule: there is no 'ods'"),
        ({"signal": "cue"}, r"learn_delta\.signal: there is no 'cue'; did you mean 'cues'\?"),
        ({"dynamics": bnn.Glauber(1.0)}, r"learn_delta\.dynamics: Glauber never comes to rest; use another one\."),
        ({"dynamics": "winners"}, r"learn_delta\.dynamics: got 'winners'; give an instance, such as bnn\.Asynch"),
        ({"rounds": -1}, r"learn_delta\.rounds: got -1; give a whole number of at least 0\."),
        ({"cues": 0}, r"learn_delta\.cues: got 0; give a whole number of at least 1\."),
        ({"cues": 1.5}, r"learn_delta\.cues: got 1\.5; give a whole number"),
        ({"weight": 1.0}, r"learn_delta\.weight: got 1\.0; a record that fails must weigh more than before, above 1\."),
        ({"weight": np.inf}, r"learn_delta\.weight: got inf; a record that fails must weigh more"),
        (
            {"weight": [1.1, 1.1], "rounds": 3},
            r"learn_delta\.weight: got \[1\.1, 1\.1\]; give one number .* the 3 rounds",
        ),
        ({"weight": "much"}, r"learn_delta\.weight: got 'much'; give one number above 1"),
        ({"seed": -1}, r"learn_delta\.seed: got -1; use a whole number"),
        ({"noise": {"flip": 2}}, r"corrupt\.flip: a share lies in \[0, 1\]; got 2\."),
        ({"m": 2.0}, r"learn\('hopfield'\)\.option: there is no 'm'"),
    ],
)
def test_arguments_that_cannot_be(arguments, sentence):
    with unchecked(), pytest.raises(DataError, match=sentence):
        bnn.learn_delta(**({"records": LOPSIDED, "rule": "hopfield"} | arguments))
