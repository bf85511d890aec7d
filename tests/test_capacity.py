"""How many patterns a memory holds: values, intervals, bits, published figures, and what is refused."""

import math
import pickle

import numpy as np
import pytest
from strategies import unchecked

import bnn
from bnn.errors import DataError
from bnn.study import (
    Correlated,
    Criterion,
    Dense,
    KActive,
    Learner,
    Modular,
    Noise,
    Question,
    Real,
    Shift,
    Threshold,
    evaluate,
    evaluation,
    held,
    thresholds,
    tuned,
)
from bnn.study.intervals import half_width
from bnn.study.search import loads_up_to

SMALL = Question(Dense(40), Noise(flips=0.1))


def test_values_interval_curve_and_bits():
    found = held(SMALL, Learner("hopfield"), seeds=[3, 0, 8])
    assert found.seeds == (3, 0, 8)
    by_seed = {seed: held(SMALL, Learner("hopfield"), seeds=[seed]) for seed in found.seeds}
    assert found.values == tuple(one.values[0] for one in by_seed.values())
    assert by_seed[3].interval is None
    values = np.array(found.values)
    reach = 4.302652729911275 * values.std(ddof=1) / math.sqrt(3)  # Student's t, 2 degrees of freedom
    assert found.patterns == values.mean()
    assert found.interval == pytest.approx((values.mean() - reach, values.mean() + reach))
    assert found.bits_per_parameter == pytest.approx(values.mean() * 40 / (40 * 39 / 2))
    assert found.load == values.mean() / 40
    for point in found.points:
        assert point == evaluate(SMALL, Learner("hopfield"), point.patterns, point.seed)
    loads = loads_up_to(640, 0.01)
    for seed, value in zip(found.seeds, found.values, strict=True):
        shares = {point.patterns: point.exact for point in found.points if point.seed == seed}
        assert shares[value] >= 0.9 > shares[loads[loads.index(value) + 1]]
    frame = found.to_frame()
    assert frame.column_names == [
        "rule", "seed", "patterns", "cues", "recalled", "exact", "overlap", "wrong", "overlap_before", "mean_sweeps",
        "parameters",
    ]  # fmt: skip
    assert frame["exact"].to_pylist() == [point.exact for point in found.points]
    assert repr(by_seed[0]) == "Capacity(hopfield, dense, 40 neurons: 5 patterns, exact >= 0.9, 1 seed)"


def test_a_capacity_can_be_sent_between_processes():
    found = held(SMALL, Learner("probability", {"m": 1.0}, Threshold(0.5)), seeds=range(2))
    sent = pickle.loads(pickle.dumps(found))
    assert (sent.describe(), sent.points, sent.learner) == (found.describe(), found.points, found.learner)


def test_interval_by_hand():
    assert half_width(np.array([9.0, 10.0, 11.0])) == pytest.approx(4.302652729911275 / math.sqrt(3))
    assert half_width(np.array([[9.0, 1.0], [10.0, 1.0], [11.0, 1.0]])).tolist() == [half_width(np.arange(3.0)), 0.0]


def test_every_rule_has_the_same_patterns_and_cues(monkeypatch):
    asked = {}
    original = evaluation.recall

    def spy(network, cues, *args, **options):
        asked.setdefault((network.provenance["rule"], cues.rows), cues.codes.tolist())
        return original(network, cues, *args, **options)

    monkeypatch.setattr(evaluation, "recall", spy)
    for rule in ("odds", "hopfield"):
        held(SMALL, Learner(rule), seeds=[4])
    common = {load for rule, load in asked if rule == "odds"} & {load for rule, load in asked if rule == "hopfield"}
    assert len(common) >= 3
    assert all(asked["odds", load] == asked["hopfield", load] for load in common)


def test_the_order_of_rules_and_seeds_does_not_matter():
    first = [held(SMALL, Learner(rule), seeds=2).values for rule in ("odds", "hopfield")]
    second = [held(SMALL, Learner(rule), seeds=[1, 0]).values for rule in ("hopfield", "odds")]
    assert first == [values[::-1] for values in second[::-1]]


def test_bounds_of_the_search():
    found = bnn.capacity("pseudo-inverse", Dense(30), noise=Noise(flips=1), most=11, seeds=2)
    assert (found.values, found.limited) == ((11, 11), (True, True))
    assert "at least 11 [11, 11] patterns" in repr(found)
    found = bnn.capacity("odds", Real("zoo"), seeds=1)
    assert found.most == Real("zoo").most
    assert found.bits_per_parameter is None
    nothing = bnn.capacity("probability", Dense(30), noise=Noise(flips=0.2), seeds=2)  # one pattern tells nothing
    assert nothing.values == (0, 0)
    assert nothing.patterns == nothing.bits_per_parameter == 0.0
    assert nothing.points[0].patterns == 1


def test_cues_may_be_fewer_than_patterns():
    found = bnn.capacity("hopfield", SMALL.family, cues=4, seeds=1)
    assert {min(point.patterns, 4) - point.cues for point in found.points} == {0}


def test_defaults_follow_the_family():
    assert Question(Modular(3, 4)).dynamics == bnn.WinnerTakeAll(parallel=True)
    assert Question(Modular(3, 4)).max_sweeps == 15
    assert Question(KActive(10, 3)).dynamics == bnn.KWinners(3, parallel=True)
    assert (Question(Dense(9)).dynamics, Question(Dense(9)).max_sweeps) == (bnn.Asynchronous(), 100)
    assert Question(Correlated(Modular(3, 4))).dynamics == bnn.WinnerTakeAll(parallel=True)
    assert Question(Real("zoo")).dynamics == bnn.WinnerTakeAll(parallel=True)
    assert Question(Real()).dynamics == bnn.Asynchronous()
    assert Question("k-active").family == KActive()
    assert Question("dense").noise == Question(Real("zoo")).noise == Noise(flips=0.1)
    assert Question(Modular(3, 4)).noise == Question(Correlated(KActive(8, 2))).noise == Noise(moves=1)
    assert Question(Dense(10, activity=0.9)).noise.flips == pytest.approx(0.02)
    assert Question("dense", Noise()).noise == Noise()


def test_without_noise_a_network_that_never_moves_holds_everything():
    """From as many patterns as neurons on the pseudo-inverse is the identity: no field, no basin, nothing recalled."""
    clean = bnn.capacity("pseudo-inverse", Dense(24), noise=Noise(), seeds=2)
    assert (clean.values, clean.limited) == ((384, 384), (True, True))
    one_flipped = bnn.capacity("pseudo-inverse", Dense(24), noise=Noise(flips=1), seeds=2)
    assert all(value < 24 for value in one_flipped.values)


def test_published_capacity_of_bcpnn():
    """502 +- 3 % of 20 groups of 20, one active unit moved, winners in parallel, at most 15 steps."""
    found = bnn.capacity("bcpnn", Modular(20, 20), seeds=4)
    assert found.patterns == pytest.approx(502, rel=0.03)
    assert found.rises == ()
    same = bnn.capacity("probability", Modular(20, 20), input="prior", seeds=4)
    assert same.patterns == pytest.approx(found.patterns, rel=0.01)


def test_published_load_of_hopfields_rule():
    """0.080 of 400 neurons, a tenth of the cue flipped; Hopfield's 0.138 under its own criterion, for few neurons."""
    found = bnn.capacity("hopfield", Dense(400), seeds=4)
    assert found.load == pytest.approx(0.080, abs=0.006)
    clean = bnn.capacity("hopfield", Dense(400), noise=Noise(), criterion=Criterion("wrong", 0.016), seeds=3)
    assert 0.12 < clean.load < 0.16


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bnn.capacity("hopfield", "dens"), r"Question\.family: there is no 'dens'; did you mean 'dense'"),
        (lambda: bnn.capacity("hopfield", 3), r"Question\.family: there is no '3'"),
        (lambda: bnn.capacity("hopfeld"), r"learn\.rule: there is no 'hopfeld'; did you mean 'hopfield'"),
        (lambda: bnn.capacity("hopfield", noise=0.1), r"Question\.noise: got 0\.1; give a bnn\.study\.Noise"),
        (
            lambda: bnn.capacity("hopfield", Modular(4, 3), noise=Noise(moves=5)),
            r"Noise\.moves: got 5, but a pattern has 4 cells",
        ),
        (lambda: bnn.capacity("hopfield", dynamics="asynchronous"), r"Question\.dynamics: got 'asynchronous'; give an"),
        (lambda: bnn.capacity("hopfield", max_sweeps=0), r"Question\.max_sweeps: got 0"),
        (lambda: bnn.capacity("hopfield", cues=0), r"Question\.cues: got 0"),
        (
            lambda: bnn.capacity("hopfield", criterion=0.9),
            r"capacity\.criterion: got 0\.9; give a bnn\.study",
        ),
        (lambda: bnn.capacity("hopfield", seeds=0), r"capacity\.seeds: got 0; give a whole number of at least 1"),
        (
            lambda: bnn.capacity("hopfield", seeds=[1, 1]),
            r"capacity\.seeds: got \[1, 1\]; give different whole numbers",
        ),
        (lambda: bnn.capacity("hopfield", seeds=[]), r"capacity\.seeds: got \[\]"),
        (lambda: bnn.capacity("hopfield", seeds=[-1]), r"capacity\.seeds: got -1"),
        (lambda: bnn.capacity("hopfield", precision=1.0), r"capacity\.precision: got 1\.0; give a share above 0"),
        (lambda: bnn.capacity("hopfield", most=0), r"capacity\.most: got 0"),
        (lambda: bnn.capacity("hopfield", learning={"m": 2}), r"Learner\.learning of 'hopfield': there is no 'm'"),
        (
            lambda: bnn.capacity("probability", learning={"m": [2]}),
            r"Learner\.learning: 'm' is \[2\]; give plain numbers, words, True or False",
        ),
        (lambda: bnn.capacity("hopfield", input="prio"), r'Learner\.input: got \'prio\'; give a number, "prior", or a'),
        (lambda: bnn.capacity("hopfield", input=np.inf), r"Learner\.input: got inf"),
        (
            lambda: bnn.capacity("hopfield", input="prior"),
            r"Learner\.input: the rule 'hopfield' has no prior in the unit of its fields; probability, odds, bcpnn",
        ),
        (lambda: Learner("hebb", {}, Threshold(prior=True)), r"Learner\.input: the rule 'hebb' has no prior"),
        (lambda: Threshold(0.0), r"Threshold\.ratio: got 0\.0; give a number above 0"),
        (lambda: Threshold(np.nan), r"Threshold\.ratio: got nan"),
        (lambda: Threshold(1.0, "yes"), r"Threshold\.prior: got 'yes'; give True or False"),
        (lambda: Shift("half"), r"Shift\.by: got 'half'; give a share of the distance"),
        (lambda: Shift(0.1, 2), r"Shift\.prior: got 2"),
        (lambda: Criterion("exakt"), r"Criterion\.measure: there is no 'exakt'; did you mean 'exact'"),
        (lambda: Criterion("exact", 0), r"Criterion\.bound: got 0; give a number above 0 and at most 1"),
        (lambda: Criterion("exact", 1.1), r"Criterion\.bound: got 1\.1"),
        (lambda: Criterion("exact", True), r"Criterion\.bound: got True"),
        (lambda: evaluate(SMALL, Learner("hopfield"), 0, 0), r"evaluate\.patterns: got 0"),
        (lambda: evaluate(SMALL, Learner("hopfield"), 1, -1), r"evaluate\.seed: got -1"),
        (lambda: tuned(SMALL, []), r"tuned\.candidates: got none; give at least one bnn\.study\.Learner"),
        (
            lambda: tuned(SMALL, thresholds("hopfield"), budget=23),
            r"tuned\.budget: got 23, but 12 candidates with 2 seeds need 24 recalls to be asked once",
        ),
        (lambda: tuned(SMALL, thresholds("hopfield"), seeds=[2, 2]), r"tuned\.seeds: got \[2, 2\]"),
        (
            lambda: bnn.capacity("presynaptic-covariance", Modular(4, 3), dynamics=bnn.WinnerTakeAll()),
            r"WinnerTakeAll: asymmetric weights have no energy to choose values by",
        ),
    ],
)
def test_refusals(make, message):
    with unchecked(), pytest.raises(DataError, match=message):
        make()
