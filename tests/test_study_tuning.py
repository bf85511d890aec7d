"""Thresholds and options found by recall on seeds of their own, within a budget."""

import pytest

from bnn.study import (
    Dense,
    Learner,
    Modular,
    Noise,
    Point,
    Question,
    Shift,
    Threshold,
    evaluation,
    held,
    thresholds,
    tuned,
)

SMALL = Question(Dense(40), Noise(flips=0.1))
SPARSE = Question(Dense(60, activity=0.2), Noise(moves=1))


def test_the_candidate_that_holds_most_is_chosen_and_its_equals_come_first():
    own, *others = thresholds("hopfield", low=0)
    assert own.input == 0.0
    assert {type(one.input) for one in others} == {Shift, Threshold}
    tuning = tuned(SMALL, (Learner("hebb"), Learner("hopfield"), Learner("hopfield", {"low": -1})), budget=60)
    assert tuning.learner == tuning.candidates[1]
    alone = held(SMALL, Learner("hopfield"), seeds=tuning.seeds, precision=0.05)
    assert tuning.patterns == pytest.approx(alone.patterns, rel=0.3)


def test_tuning_beats_the_rules_own_threshold_where_that_is_no_good():
    tuning = tuned(SPARSE, thresholds("hebb"), budget=100)
    assert isinstance(tuning.learner.input, Threshold)
    seeds = (0, 1, 2)
    assert held(SPARSE, thresholds("hebb")[0], seeds=seeds).patterns == 0
    assert held(SPARSE, tuning.learner, seeds=seeds).patterns > 1


def test_who_recalls_a_little_less_at_small_loads_may_hold_most(monkeypatch):
    rules = ("hopfield", "hebb", "willshaw", "covariance", "odds", "bcpnn")
    holds = dict.fromkeys(rules, 20) | {"odds": 60}

    def recalled(_question, store, learner, load):
        exact = 0.0 if load > holds[learner.rule.name] else 0.95 if learner.rule.name == "odds" else 1.0
        seed, neurons = store.stream.seed, 40
        return Point(seed, load, neurons, 100, round(100 * exact), 0, 0, 0, 0, 1, 780)

    monkeypatch.setattr("bnn.study.tuning.recalled", recalled)
    tuning = tuned(SMALL, [Learner(rule) for rule in rules], most=100)
    assert (tuning.learner.rule.name, tuning.patterns) == ("odds", 60)


def test_the_budget_is_kept_and_counted(monkeypatch):
    made, told = [], []
    original = evaluation.recalled
    monkeypatch.setattr("bnn.study.tuning.recalled", lambda *args: made.append(args[-1]) or original(*args))
    for budget in (24, 31, 60):
        made.clear()
        tuning = tuned(SPARSE, thresholds("covariance"), budget=budget, progress=lambda *done: told.append(done))
        assert len(made) == tuning.spent == sum(map(len, tuning.points)) <= budget
        assert told[-1] == (tuning.spent, budget)
    assert len({seed for points in tuning.points for seed in {p.seed for p in points}}) == 2
    assert min(tuning.seeds) >= 1_000_000


def test_tuning_goes_on_from_its_file(tmp_path, monkeypatch):
    file = tmp_path / "results.jsonl"
    first = tuned(SPARSE, thresholds("covariance"), budget=60, results=file)
    monkeypatch.setattr("bnn.study.tuning.recalled", lambda *_: pytest.fail("recalled again"))
    again = tuned(SPARSE, thresholds("covariance"), budget=60, results=file)
    assert (again.learner, again.points, again.spent) == (first.learner, first.points, first.spent)


def test_learning_options_are_candidates_too():
    options = [Learner("probability", {"m": m}) for m in (1000.0, 2.0)]
    tuning = tuned(Question(Modular(6, 5), Noise(moves=1)), options, budget=40, seeds=[7])
    assert tuning.learner in options
    assert tuning.seeds == (7,)
