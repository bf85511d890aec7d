"""One load of a memory: what is counted, what is learned from, and what is added to the fields."""

from dataclasses import replace

import numpy as np
import oracles
import pytest

import bnn
from bnn.rules.base import Draft, Rule
from bnn.study import (
    Correlated,
    Dense,
    KActive,
    Learner,
    Modular,
    Noise,
    Point,
    Question,
    Real,
    Shift,
    Threshold,
    evaluate,
    evaluation,
)
from bnn.study.evaluation import Store
from bnn.study.inputs import input_for
from bnn.study.stream import Stream

SMALL = Question(Dense(40), Noise(flips=0.1))
POINT = Point(0, 10, 20, 4, 3, missed=2, extra=6, differing=8, unknown=4, sweeps=6, parameters=190)


def seeded(question, seed=0):
    return Stream(question.family, question.noise, seed)


CASES = (
    (Question(Dense(15), Noise(flips=0.2)), "hopfield", {}),
    (Question(Dense(15, activity=0.3), Noise(moves=1)), "odds", {"m": 0.5}),
    (Question(Dense(12), Noise(erased=0.4)), "storkey", {}),
    (Question(Modular(5, 3), Noise(moves=1)), "bcpnn", {}),
    (Question(Modular(5, 3), Noise(erased=2), dynamics=bnn.WinnerTakeAll()), "probability", {}),
    (Question(KActive(14, 3), Noise(wrong=0.5)), "willshaw", {}),
    (Question(Correlated(Dense(15)), Noise(flips=1)), "pseudo-inverse", {}),
    (Question(Real("house-votes-84"), Noise(flips=0.3)), "probability", {}),  # with gaps
    (Question(Dense(12), Noise(flips=0.2)), "dense", {"degree": 2}),
    (Question(Dense(12), Noise(flips=0.2)), "modern", {"beta": 0.5}),
)


@pytest.mark.parametrize("load", [1, 4, 11])
@pytest.mark.parametrize(("question", "rule", "options"), CASES, ids=lambda one: one if isinstance(one, str) else "")
def test_a_point_is_what_single_recalls_say(question, rule, options, load):
    point = evaluate(question, Learner(rule, options), load, seed=5)
    patterns, cues = seeded(question, 5).asked(load, load)
    expected = oracles.recalled(question, rule, patterns, cues, 5, **options)
    assert {name: getattr(point, name) for name in expected} == expected
    assert (point.seed, point.patterns) == (5, load)
    assert expected["cues"] == load


def test_measures_of_a_point():
    assert POINT.exact == 0.75
    assert POINT.wrong == 8 / 80
    assert POINT.overlap == pytest.approx(1 - 2 * 8 / 80)
    assert POINT.overlap_before == pytest.approx(1 - (2 * 8 + 4) / 80)
    assert POINT.mean_sweeps == 1.5


def test_one_pattern_comes_back_from_any_cue_that_is_nearer_to_it_than_to_its_inverse():
    for flips in (0, 5, 19):
        assert evaluate(replace(SMALL, noise=Noise(flips=flips)), Learner("hopfield"), 1, 0).exact == 1.0
    assert evaluate(replace(SMALL, noise=Noise(flips=21)), Learner("hopfield"), 1, 0).extra > 0


@pytest.mark.parametrize("rule", ["hopfield", "storkey", "pseudo-inverse", "dense"])
def test_what_was_asked_before_changes_nothing(rule):
    learner = Learner(rule)
    store = Store(seeded(SMALL), learner)
    for load in (9, 3, 20, 7, 9):
        assert evaluation.recalled(SMALL, store, learner, load) == evaluate(SMALL, learner, load, 0)


def test_an_ordered_rule_goes_on_from_a_smaller_network():
    learned = []

    def spy(records, connections, dtype, start=None):
        learned.append((records.rows, None if start is None else start.provenance["records"]))
        n = connections.layout.neurons
        return Draft(np.zeros((n, n), dtype), np.zeros(n))

    rule = Rule("spy", spy, "", "on", False, source="patterns", ordered=True)
    store = Store(seeded(SMALL), Learner(rule))
    assert store.network(13).provenance["records"] == 13
    assert learned == [(1, None), (1, 1), (2, 2), (4, 4), (5, 8)]
    learned.clear()
    store.network(15)
    store.network(8)
    store.network(8)
    assert learned == [(7, 8), (4, 4)]


def test_counts_grow_with_the_load(monkeypatch):
    counted = []
    original = bnn.Counts.of
    monkeypatch.setattr(
        bnn.Counts, "of", staticmethod(lambda records: counted.append(records.rows) or original(records))
    )
    stream = seeded(SMALL)
    for load in (10, 20, 40, 30, 25):
        stream.counts(load)
    assert counted == [10, 10, 20, 10, 5]


def test_a_threshold_lies_where_the_fields_say():
    """Four neurons, two on: fields by hand."""
    network = bnn.Network.of(np.zeros((4, 4)), bias=[1.0, 3.0, 11.0, 15.0])
    patterns = bnn.Records.from_patterns([[0, 0, 1, 1]])
    least = 0.01 * 11
    off, on = 1 + least, 2 + least  # standard deviations about 2 and 13
    added = input_for(network, Threshold(2.0), patterns)
    assert added == pytest.approx(np.full((1, 4), -(2 + 11 * 2 * off / (2 * off + on))))
    assert input_for(network, Shift(-0.5), patterns) == pytest.approx(np.full((1, 4), -5.5))
    assert input_for(network, 2.5, patterns) == 2.5
    assert input_for(network, "prior", patterns) == "prior"


def test_nothing_is_between_what_is_all_on_or_all_off():
    network = bnn.Network.of(np.zeros((2, 2)), bias=[1.0, 2.0])
    for rows in ([[1, 1]], [[0, 0]]):
        for value in (Threshold(), Shift(0.5)):
            assert input_for(network, value, bnn.Records.from_patterns(rows)).tolist() == [[0.0, 0.0]]


def test_equal_fields_have_a_threshold_at_them():
    network = bnn.Network.of(np.zeros((2, 2)))
    assert input_for(network, Threshold(3.0), bnn.Records.from_patterns([[0, 1]])).tolist() == [[0.0, 0.0]]


def test_the_prior_is_added_before_the_fields_are_measured():
    patterns = Stream(Dense(30, activity=0.2), Noise(), 0).patterns(9)
    network = bnn.learn(patterns, "probability")
    shifted = input_for(network, Shift(0.0, prior=True), patterns)
    assert shifted == pytest.approx(network.prior_bias.numpy()[None])
    fields = network.field(patterns).numpy() + shifted
    on = patterns.patterns == 1
    moved = input_for(network, Threshold(1.0, prior=True), patterns) - shifted
    assert np.ptp(moved) < 1e-9
    place = -moved[0, 0]
    above, below = place - fields[~on].mean(), fields[on].mean() - place
    gap = 0.01 * (fields[on].mean() - fields[~on].mean())
    assert above / (fields[~on].std() + gap) == pytest.approx(below / (fields[on].std() + gap))


def test_a_threshold_is_recalled_with():
    question = Question(Dense(60, activity=0.2), Noise(moves=1))
    own, moved = (evaluate(question, Learner("hebb", {}, value), 3, 0) for value in (0.0, Threshold(1.5)))
    assert own.recalled == own.missed == 0  # no weight is negative, so that neurons only come on
    assert moved.recalled == 3
