import pickle
from dataclasses import replace
from fractions import Fraction
from math import log2

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_naive import quietly

import bnn
from bnn import NaiveBayesClassifier, NetworkClassifier
from bnn.classify.readout import fitted_scale
from bnn.errors import DataError, FileError

TABLE = pd.DataFrame(
    {"fever": ["y", "y", "n", "n", "y", None], "cough": ["n", "y", "n", "y", "y", "n"], "age": [1, 2, 3, 3, 2, 1]}
)
ILL = ["flu", "flu", "well", "cold", "flu", "well"]


@parametrize_with_checks(
    [
        NetworkClassifier(),
        NetworkClassifier("probability", "winner-take-all", evidence="free", unknown="filled"),
        NetworkClassifier("hopfield"),
        NetworkClassifier(dynamics=bnn.GradientFlow(solver="descent"), evidence="free", max_sweeps=3, intervals=4),
    ]
)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["house-votes-84", "lymphography", "primary-tumor", "hepatitis"])
@pytest.mark.parametrize("m", [0.5, 2.0])
def test_one_step_of_the_probability_rule_is_naive_bayes(name, m):
    records = bnn.datasets.load(name)
    noisy = bnn.corrupt(records, mask=0.2, seed=0)
    network = NetworkClassifier("probability", m=m).fit(records)
    naive = NaiveBayesClassifier("joint", m=m).fit(records)
    for rows in (records, noisy):
        assert np.allclose(network.predict_proba(rows), naive.predict_proba(rows), rtol=0, atol=1e-12)


def test_so_it_is_for_measurements_weights_and_unseen_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=80), "c": rng.choice(["a", "b", None], 80), "class": rng.integers(0, 3, 80)})
    y, weights = rng.integers(0, 3, 80), rng.random(80) * (rng.random(80) > 0.2)
    network = NetworkClassifier("probability").fit(X, y, weights)
    naive = NaiveBayesClassifier("joint").fit(X, y, weights)
    X.loc[::7, "c"] = "new"
    answers = [quietly(c.predict_proba, X) for c in (network, naive)]
    assert np.allclose(*answers, rtol=0, atol=1e-12)
    assert network.network_.layout.schema.names == ("x", "c", "class", "class_")


@pytest.mark.parametrize("rule", sorted(name for name, rule in bnn.RULES.items() if rule.source == "counts"))
@pytest.mark.parametrize("dynamics", [*sorted({*bnn.DYNAMICS} - {"k-winners", "attention"}), bnn.KWinners(3)], ids=str)
def test_all_evidence_clamped_iterating_changes_nothing(rule, dynamics):
    iterated = NetworkClassifier(rule, dynamics, g=1.0, max_sweeps=5, random_state=0)
    if not bnn.RULES[rule].symmetric and dynamics in ("winner-take-all", bnn.KWinners(3)):
        with pytest.raises(
            DataError, match=r"asymmetric weights have no energy to \w+( values)? by; use \w+\(parallel="
        ):
            iterated.fit(TABLE, ILL)
        return
    iterated.fit(TABLE, ILL)
    step = NetworkClassifier(rule, g=1.0).fit(TABLE, ILL)
    assert np.allclose(iterated.predict_proba(TABLE), step.predict_proba(TABLE), rtol=0, atol=1e-12)


def test_one_step_of_bcpnn_is_naive_bayes_but_for_zeros_and_counts_the_prior_once():
    X = pd.DataFrame({"a": list("xxxyyyxy"), "b": list("ppqqpqpq")})  # every value with every class
    y = [0, 0, 1, 1, 0, 0, 1, 1]
    found = NetworkClassifier("bcpnn").fit(X, y)
    assert found.g_ == 1.0
    assert np.allclose(found.predict_proba(X), NaiveBayesClassifier("relative").fit(X, y).predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("rule", [name for name, rule in bnn.RULES.items() if rule.source == "patterns"])
def test_rules_fitted_from_patterns_are_refused(rule):
    sentence = rf"NetworkClassifier\.rule: '{rule}' is fitted from patterns, and a classifier learns by counting; use a"
    with pytest.raises(DataError, match=sentence):
        NetworkClassifier(rule).fit(TABLE, ILL)


def test_odds_of_two_classes_are_a_sum_of_weights_of_evidence():
    X, y = [["a"], ["a"], ["b"], ["b"], ["b"]], ["no", "yes", "yes", "yes", "no"]
    # N = 5; of (class, x): (yes, b) 2, (yes, a) 1, (no, b) 1, (no, a) 1; P(yes) = P(b) = 3/5
    cells = {("yes", "b"): 2, ("yes", "a"): 1, ("no", "b"): 1, ("no", "a"): 1}
    share = {"yes": Fraction(3, 5), "no": Fraction(2, 5), "b": Fraction(3, 5), "a": Fraction(2, 5)}
    ratio = {(c, x): (n / (share[c] * share[x]) + 2) / 7 for (c, x), n in cells.items()}
    prior = Fraction(4, 7) / Fraction(3, 7)
    classifier = NetworkClassifier("odds").fit(X, y)
    for x in "ab":
        odds = float(prior * ratio["yes", x] / ratio["no", x])
        assert classifier.decision_function([[x]])[0] == pytest.approx(log2(odds), abs=1e-12)
    assert classifier.decision_function([[None]])[0] == pytest.approx(log2(prior), abs=1e-12)


def test_more_classes_are_binary_neurons_each_against_the_rest():
    classifier = NetworkClassifier("odds").fit(TABLE, ILL)
    network = bnn.learn(bnn.Records.from_table(TABLE.assign(ill=ILL).astype(object), target="ill"), "odds")
    own = network.layout.neurons_of("ill")
    cues = bnn.Records.from_table(TABLE.assign(ill=None).astype(object), schema=network.layout.schema)
    prior = np.array([2, 4, 3]) / 9  # cold, flu, well by Laplace's law
    names = [network.layout.names[j] for j in own]
    order = [names.index(f"ill = {c}") for c in classifier.classes_]
    expected = prior * np.exp2(network.field(cues).numpy()[:, own][:, order])
    assert np.allclose(classifier.predict_proba(TABLE), expected / expected.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("rule", ["odds", "probability", "hopfield"])
def test_what_is_free_answers_by_its_final_state(rule):
    dynamics = bnn.WinnerTakeAll(order="fixed")
    found = NetworkClassifier(rule, dynamics, evidence="free", unknown="filled", g=0.7).fit(TABLE, ILL)
    network = found.network_
    records = found._training(*_coded(found)).records
    codes = np.column_stack([records.codes, np.full(len(TABLE), -1)])
    trace = bnn.recall(network, bnn.Records(codes, network.layout.schema), dynamics, seed=0)
    final = ((trace.states - network.low) / (1 - network.low)).astype(float)
    own = network.layout.neurons_of("class")
    final[:, own] = np.nan  # silent in their own field
    expected = np.array([2, 4, 3]) / 9 * np.exp2(0.7 * network.field(final).numpy()[:, own])
    assert np.allclose(found.predict_proba(TABLE), expected / expected.sum(axis=1, keepdims=True), atol=1e-9)


def _coded(classifier):
    table, _ = classifier._read_known_columns(TABLE)
    return table, classifier.codebook_, classifier.classes_, np.zeros(len(TABLE), np.int32), None


@pytest.mark.parametrize("rule", ["odds", "probability", "hopfield"])
@pytest.mark.parametrize("dynamics", [None, "winner-take-all"])
def test_other_priors_stand_in_front_and_change_nothing_else(rule, dynamics):
    counted = NetworkClassifier(rule, dynamics, g=1.0, random_state=0).fit(TABLE, ILL)
    flat = NetworkClassifier(rule, dynamics, g=1.0, random_state=0, priors=[1 / 3] * 3).fit(TABLE, ILL)
    expected = counted.predict_proba(TABLE) / np.array([2, 4, 3])  # Laplace's, times 9
    assert np.allclose(flat.predict_proba(TABLE), expected / expected.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)
    later = counted.set_params(priors=dict.fromkeys(counted.classes_.tolist(), 1 / 3))
    assert np.array_equal(later.predict_proba(TABLE), flat.predict_proba(TABLE))
    assert np.allclose(flat.prior(), -log2(3))
    if dynamics is None:
        why = flat.explain(TABLE)
        assert np.allclose(why.prior, -log2(3))
        assert np.allclose(
            np.exp2(why.prior + why.gains.sum(axis=1) - why.normaliser[:, None]), flat.predict_proba(TABLE)
        )


@pytest.mark.parametrize("rule", ["odds", "probability", "hopfield"])
def test_with_a_threshold_of_one_no_class_is_heard_more_than_another_on_the_average(rule):
    table = TABLE.fillna({"fever": "n"})
    for threshold, even in ((1.0, True), (0.5, False)):
        found = NetworkClassifier(rule, g=1.0, threshold=threshold).fit(table, ILL)
        heard = found.predict_log2_proba(table) - found.prior()
        mean = (heard - heard[:, :1]).mean(axis=0)
        assert np.allclose(mean, 0.0, rtol=0, atol=1e-12) == even


def test_the_settling_network_has_the_threshold_too():
    records = bnn.datasets.load("lymphography")
    found = NetworkClassifier(
        "hopfield", bnn.Asynchronous("fixed"), evidence="free", options={"low": 0}, g=1.0, threshold=0.5
    ).fit(records)
    network, k = found.network_, len(found.classes_)
    codes = np.column_stack([found.read_codes(records), records.codes[:, -1]]).astype(int)
    mean_states = network.encode(bnn.Records(codes, network.layout.schema)).astype(np.float64).mean(axis=0)
    codes[:, -1] = -1
    threshold = 0.5 * network.weights.numpy() @ mean_states
    cues = bnn.Records(codes, network.layout.schema)
    states = bnn.recall(network, cues, bnn.Asynchronous("fixed"), input=-threshold, seed=0).states[:, :-k]
    assert not np.array_equal(states, bnn.recall(network, cues, bnn.Asynchronous("fixed"), seed=0).states[:, :-k])
    weights = network.weights.numpy()[-k:, :-k]
    scores = found.prior() + states @ weights.T - 0.5 * weights @ mean_states[:-k]
    scores -= np.log2(np.exp2(scores).sum(axis=1, keepdims=True))
    assert np.allclose(found.predict_log2_proba(records), scores, rtol=0, atol=1e-9)


def test_unknown_attributes_are_silent_or_filled():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 200)
    X = np.where(rng.random((200, 4)) < 0.05, 1 - hidden[:, None], hidden[:, None])
    cue = [[1.0, np.nan, np.nan, np.nan]]
    answers = {
        unknown: NetworkClassifier("odds", "winner-take-all", unknown=unknown, random_state=0)
        .fit(X, hidden)
        .predict_proba(cue)[0, 1]
        for unknown in ("silent", "filled")
    }
    assert answers["silent"] == pytest.approx(NetworkClassifier().fit(X, hidden).predict_proba(cue)[0, 1], abs=1e-12)
    full = NetworkClassifier().fit(X, hidden).predict_proba([[1, 1, 1, 1]])[0, 1]
    assert answers["filled"] == pytest.approx(full, abs=1e-12)
    assert answers["filled"] > answers["silent"]


def test_free_evidence_mends_a_wrong_value():
    hidden = np.array([0, 1] * 20)
    X = np.repeat(hidden[:, None], 5, axis=1)
    wrong = [[0, 1, 1, 1, 1]]
    fixed = NetworkClassifier("odds").fit(X, hidden)
    free = NetworkClassifier("odds", "asynchronous", evidence="free", random_state=0).fit(X, hidden)
    assert free.predict_proba(wrong)[0, 1] == pytest.approx(fixed.predict_proba([[1] * 5])[0, 1], abs=1e-12)
    assert free.predict_proba(wrong)[0, 1] > fixed.predict_proba(wrong)[0, 1]


def test_limited_sweeps_self_connections_and_prior_input_reach_the_network():
    records = bnn.datasets.load("breast-cancer")
    plain = NetworkClassifier("probability", "synchronous", evidence="free", random_state=0).fit(records)
    answer = plain.predict_proba(records)
    for changed in ({"max_sweeps": 1}, {"self_connections": True}, {"input": "prior"}, {"input": -1.0}):
        other = clone(plain).set_params(**changed).fit(records)
        assert not np.allclose(other.predict_proba(records), answer)
    assert (clone(plain).set_params(self_connections=True).fit(records).network_.diagonal > 0).any()
    assert not plain.network_.diagonal.any()


def test_a_scale_is_fitted_where_the_unit_of_weights_is_none():
    records = bnn.datasets.load("lymphography")
    plus, zero = (NetworkClassifier("hopfield", options={"low": low}, random_state=0).fit(records) for low in (-1, 0))
    assert plus.g_ > 0
    assert plus.network_.low == -1
    assert zero.network_.low == 0
    assert NetworkClassifier("probability").fit(records).g_ == 1.0
    assert NetworkClassifier("odds", g="fitted", random_state=0).fit(records).g_ < 1.0
    again = NetworkClassifier("hopfield", random_state=0).fit(records)
    assert again.g_ == plus.g_
    halved = NetworkClassifier("hopfield", g=plus.g_ / 2).fit(records)
    assert np.allclose(halved.decision_function(records[:0]), plus.decision_function(records[:0]))
    assert np.array_equal(halved._gains * 2, plus._gains)


def test_a_row_given_twice_is_a_row_of_weight_two():
    records = bnn.datasets.load("lymphography")
    X, y = records.codes[:, :-1], records.codes[:, -1]
    twice = np.arange(len(y)) % 3 == 0
    repeated = NetworkClassifier("hopfield", random_state=0).fit(np.r_[X, X[twice]], np.r_[y, y[twice]])
    weighted = NetworkClassifier("hopfield", random_state=0).fit(X, y, 1.0 + twice)
    assert repeated.g_ == pytest.approx(weighted.g_, rel=1e-4)


def test_the_scale_has_the_least_loss():
    rng = np.random.default_rng(0)
    fields, classes = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    fields[np.arange(50), classes] += 1.0
    prior, weights = np.log2([0.2, 0.3, 0.5]), rng.random(50)

    def loss(g):
        scores = prior + g * fields
        answers = scores - np.log2(np.exp2(scores).sum(axis=1, keepdims=True))
        right = answers[np.arange(50), classes]
        return -(weights * (right * weights.sum() + answers.mean(axis=1)) / (weights.sum() + 1)).sum()

    g = fitted_scale(prior, fields, classes, weights)
    assert loss(g) <= min(loss(g * 1.01), loss(g / 1.01))
    assert fitted_scale(prior, -fields, classes, weights) < 1e-4  # evidence that misleads is not listened to


@pytest.mark.parametrize("rule", ["odds", "probability", "hopfield"])
def test_an_explanation_adds_up(rule):
    records = bnn.datasets.load("hepatitis")
    classifier = NetworkClassifier(rule, random_state=0).fit(records)
    told = classifier.explain(records)
    assert np.allclose(told.log2_probabilities, classifier.predict_log2_proba(records), rtol=0, atol=1e-9)
    if rule == "probability":
        naive = NaiveBayesClassifier("joint").fit(records).explain(records)
        for name in ("prior", "gains", "cases", "errors", "normaliser"):
            assert np.allclose(getattr(told, name), getattr(naive, name), atol=1e-12)
        assert (told.values == naive.values).all()
        labelled = classifier.explain(records[:1], {"SEX": {1: "male"}} if "SEX" in told.terms else {})
        assert labelled.terms == told.terms


def test_what_iterates_says_why_it_does_not_add_up():
    with pytest.raises(DataError, match=r"the network iterates.*use dynamics=None"):
        NetworkClassifier(dynamics="asynchronous", random_state=0).fit(TABLE, ILL).explain(TABLE)


def test_answers_depend_on_random_state_alone():
    records = bnn.datasets.load("house-votes-84")
    free = NetworkClassifier("odds", "asynchronous", evidence="free", max_sweeps=1, random_state=3)
    answer = free.fit(records).predict_proba(records)
    assert np.array_equal(clone(free).fit(records).predict_proba(records), answer)
    assert np.array_equal(pickle.loads(pickle.dumps(free)).predict_proba(records), answer)
    assert np.allclose(free.predict_proba(records[7:9]), answer[7:9], rtol=1e-12, atol=0)  # sums in another order
    others = [free.set_params(random_state=s).fit(records).predict_proba(records) for s in range(5)]
    assert any(not np.array_equal(other, answer) for other in others)


@pytest.mark.parametrize(
    "classifier",
    [
        NetworkClassifier("hopfield", options={"low": 0}),
        NetworkClassifier("probability", bnn.GradientFlow((0.1, 1.0), anneal=2.0), evidence="free", max_sweeps=9),
        NetworkClassifier(dynamics="asynchronous", evidence="free", unknown="filled", random_state=5),
    ],
    ids=["hopfield", "flow", "odds"],
)
def test_it_is_kept_in_a_file(classifier, tmp_path):
    table = TABLE.assign(size=np.linspace(0, 1, 6))
    classifier = clone(classifier).fit(table, ILL, [1, 2, 0.5, 1, 1, 1])
    classifier.save(tmp_path / "network")
    again = NetworkClassifier.load(tmp_path / "network")
    assert repr(again) == repr(classifier)
    assert again.counts_ == classifier.counts_
    assert np.array_equal(again.predict_proba(table), classifier.predict_proba(table))
    if classifier.dynamics is None:
        assert np.array_equal(again.explain(table).gains, classifier.explain(table).gains)


def test_what_no_file_holds_is_refused(tmp_path):
    rule = replace(bnn.RULES["odds"], name="mine")
    with pytest.raises(DataError, match="save: the parameter rule is Rule"):
        NetworkClassifier(rule).fit(TABLE, ILL).save(tmp_path / "network")
    bnn.NaiveBayesClassifier().fit(TABLE, ILL).save(tmp_path / "naive")
    with pytest.raises(FileError):
        NetworkClassifier.load(tmp_path / "naive")


def test_edges():
    one = NetworkClassifier().fit([["a"], ["b"]], ["x", "x"])
    assert one.predict_proba([["a"]]).tolist() == [[1.0]]
    empty = NetworkClassifier("hopfield", "winner-take-all").fit([[None, 1], [None, 2]], [0, 1])
    assert empty.predict_proba(np.empty((0, 2))).shape == (0, 2)
    alike = NetworkClassifier("hopfield").fit([["a"], ["a"]], [0, 1])
    assert alike.g_ == 1.0
    assert alike.predict_proba([["a"]]).tolist() == [[0.5, 0.5]]


def test_scikit_learn_s_searches_and_folds():
    records = bnn.datasets.load("house-votes-84")
    X, y = records.codes[:, :-1].astype(float), records.codes[:, -1]
    X[X < 0] = np.nan
    grid = {"rule": ["odds", "hopfield"], "dynamics": [None, "winner-take-all"], "m": [1.0, 4.0]}
    search = GridSearchCV(NetworkClassifier(random_state=0), grid, cv=2).fit(X, y)
    assert search.best_params_["rule"] == "odds"
    folds = cross_val_predict(NetworkClassifier(), X, y, cv=3, method="predict_proba")
    assert (folds.argmax(axis=1) == y).mean() > 0.85


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"rule": "ods"}, "learn.rule: there is no 'ods'; did you mean 'odds'"),
        ({"dynamics": "asinchronous"}, "NetworkClassifier.dynamics: there is no .*did you mean 'asynchronous'"),
        ({"dynamics": bnn.Asynchronous}, "NetworkClassifier.dynamics: got <class.*an instance"),
        ({"evidence": "loose"}, "NetworkClassifier.evidence: there is no 'loose'"),
        ({"unknown": "fill"}, "NetworkClassifier.unknown: there is no 'fill'; did you mean 'filled'"),
        ({"evidence": "free"}, "NetworkClassifier.evidence: got 'free', but one step neither iterates"),
        ({"evidence": np.ones(2)}, "NetworkClassifier.evidence: there is no"),
        ({"input": [1.0, 2.0]}, r"NetworkClassifier.input: got \[1.0, 2.0\]; give a number of bits, or 'prior'"),
        ({"max_sweeps": 3}, "NetworkClassifier.max_sweeps: got 3, but one step"),
        ({"dynamics": "asynchronous", "max_sweeps": 0}, "recall.max_sweeps: got 0"),
        ({"self_connections": True}, "the rule 'odds' has none"),
        ({"m": -1.0}, "learn.m: got -1.0"),
        ({"g": 0}, "NetworkClassifier.g: got 0; give 'auto', 'fitted' or a number above 0"),
        ({"g": "auto "}, "NetworkClassifier.g: got 'auto '"),
        ({"g": float("nan")}, "NetworkClassifier.g: got nan"),
        ({"threshold": "mean"}, "NetworkClassifier.threshold: got 'mean'; give a number of mean fields"),
        ({"threshold": float("inf")}, "NetworkClassifier.threshold: got inf"),
        ({"priors": [0.5, 0.5]}, r"NetworkClassifier.priors: got shape \(2,\) for 3 classes"),
        ({"priors": {"flu": 1.0}}, "NetworkClassifier.priors: class 'cold' has none"),
        ({"options": 3}, "NetworkClassifier.options: got 3; give a dict"),
        ({"options": {"law": 0}}, "there is no 'law'"),
        ({"rule": "hopfield", "dynamics": "flow", "input": "prior"}, "recall.input"),
        ({"dynamics": bnn.GradientFlow(activation="tanh")}, "GradientFlow: the activation 'tanh'"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_say_so_in_fit(parameters, sentence):
    with pytest.raises(DataError, match=sentence):
        NetworkClassifier(**parameters).fit(TABLE, ILL)
