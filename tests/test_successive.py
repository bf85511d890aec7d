import itertools
import pickle

import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_class_counts import targeted
from test_naive import quietly
from test_semi_naive import ODD, XOR, parity, plain

import bnn
from bnn import NaiveBayesClassifier, SemiNaiveBayesClassifier, SuccessiveBayesClassifier
from bnn.classify.successive import READINGS
from bnn.errors import DataError, FileError, UnseenValueWarning

CELLS = [[a, b] for a in range(3) for b in range(3)]
SUMS = [(a + b) % 3 for a, b in CELLS]


@parametrize_with_checks(
    [
        SuccessiveBayesClassifier(),
        SuccessiveBayesClassifier(LogisticRegression(max_iter=10_000), reading="label", max_rounds=3),
    ]
)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=15)
@given(targeted())
def test_probabilities_are_the_fractions_of_the_definition(reading, records):
    rows, classes = plain(records)
    k = max(classes) + 1
    functions = oracles.successive_naive(rows, classes, k, records.schema.sizes[:-1], reading, 4)
    expected = [[float(p) for p in oracles.successive_posterior(row, functions, k)] for row in rows]
    found = SuccessiveBayesClassifier(reading=reading, max_rounds=4).fit(records)
    # a tie of probabilities is a tie of fractions, which floating-point sums may break: then both part
    close = np.isclose(found.predict_proba(records), expected, rtol=1e-9, atol=1e-12).all(axis=1)
    assert close.all() or oracles.successive_ties(rows, functions, k)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("repeated", range(4))
def test_xor_with_one_repeated_row(reading, repeated):
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    with_one = np.r_[0:4, repeated]
    classifier = SuccessiveBayesClassifier(reading=reading).fit(X[with_one], y[with_one])
    assert classifier.predict(X).tolist() == y.tolist()
    assert NaiveBayesClassifier().fit(X[with_one], y[with_one]).score(X, y) < 1
    if reading != "original":
        assert len(classifier.functions_) == 2  # the second answers C0 to what the first got right
    assert SuccessiveBayesClassifier(reading=reading, max_rounds=1).fit(X, y).score(X, y) == 0.5


@pytest.mark.parametrize("repeated", range(9))
def test_three_valued_parity(repeated):
    # [S] figure 3; no other reading solves it
    X, y = np.array(CELLS), np.array(SUMS)
    with_one = np.r_[0:9, repeated]
    assert SuccessiveBayesClassifier().fit(X[with_one], y[with_one]).score(X, y) == 1.0
    for reading in ("label", "cascade"):
        assert SuccessiveBayesClassifier(reading=reading).fit(X[with_one], y[with_one]).score(X, y) < 1


def test_xor_by_hand():
    # rows 00 01 10 11 and 00 again, classes 0 1 1 0 0: P(0) = 4/7, P(1) = 3/7; the value 0 of either attribute is in
    # three rows, two of class 0: P(0|0) = (2 + 8/7)/5 = 22/35, over 4/7: 1.1; P(1|0) = (1 + 6/7)/5 = 13/35: 13/15;
    # the value 1: P(0|1) = (1 + 8/7)/4 = 15/28: 15/16; P(1|1) = (1 + 6/7)/4 = 13/28: 13/12
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0, 0]
    classifier = SuccessiveBayesClassifier(reading="label").fit(X, y)
    first = classifier.functions_[0].predict_proba([[0, 0], [0, 1], [1, 1]])
    zero, one = np.array([1.1, 13 / 15]), np.array([15 / 16, 13 / 12])
    shares = np.array([4 / 7, 3 / 7]) * np.array([zero * zero, zero * one, one * one])
    assert np.allclose(first, shares / shares.sum(axis=1, keepdims=True), rtol=1e-12)
    # it answers 0, 0, 1: so 00 was right, 01, 10 and 11 were wrong and stay what they were
    assert first.argmax(axis=1).tolist() == [0, 0, 1]
    second = classifier.functions_[1]
    assert second.classes_.tolist() == [0, 1, 2]
    assert second.counts_.totals.tolist() == [1, 2, 2]


def test_the_default_reading_gains_most_on_parities():
    scores = {reading: [] for reading in READINGS} | {"naive": []}
    for seed in range(6):
        X, y = parity(seed)
        for name, some in scores.items():
            classifier = NaiveBayesClassifier() if name == "naive" else SuccessiveBayesClassifier(reading=name)
            some.append(classifier.fit(X[:140], y[:140]).score(X[140:], y[140:]))
    means = {name: np.mean(some) for name, some in scores.items()}
    assert means["original"] > means["naive"] + 0.1
    assert means["original"] > max(means["label"], means["cascade"]) + 0.05


@pytest.mark.parametrize("reading", READINGS)
def test_answers_are_the_largest_probability_of_the_function_that_answers(reading):
    X, y = parity(0)
    labels = np.array(["no", "yes"])[y]
    classifier = SuccessiveBayesClassifier(reading=reading).fit(X, labels)
    P, by = classifier.predict_proba(X), classifier.answered_by(X)
    assert (classifier.predict(X) == np.array(["no", "yes"])[P.argmax(axis=1)]).all()
    assert np.allclose(P.sum(axis=1), 1)
    for number in np.unique(by):
        rows = np.flatnonzero(by == number)
        function = classifier.functions_[number]
        own = np.zeros((len(rows), 3))
        own[:, function.classes_] = function.predict_proba(X[rows])
        assert (own.argmax(axis=1) < 2).all()
        assert np.allclose(P[rows], own[:, :2] / own[:, :2].sum(axis=1, keepdims=True), rtol=1e-12)
        for later in classifier.functions_[number + 1 :]:
            assert (later.classes_[later.predict_proba(X[rows]).argmax(axis=1)] == 2).all()


@pytest.mark.parametrize(
    "estimator", [None, SemiNaiveBayesClassifier(), DecisionTreeClassifier(max_depth=1, random_state=0)]
)
def test_it_takes_any_estimator(estimator):
    X, y = parity(1)
    classifier = SuccessiveBayesClassifier(estimator).fit(X, y, np.ones(200))
    assert classifier.score(X, y) > 0.5
    assert len(classifier.functions_) <= 10
    inside = clone(classifier).get_params()["estimator"]
    assert inside is None or type(inside) is type(estimator)


def test_its_parameters_can_be_searched():
    X, y = parity(2)
    search = GridSearchCV(
        SuccessiveBayesClassifier(NaiveBayesClassifier()), {"estimator__m": [1.0, 2.0], "reading": READINGS}, cv=2
    )
    assert search.fit(X, y).best_params_["reading"] in READINGS


def test_explaining_is_refused_in_words():
    classifier = SuccessiveBayesClassifier().fit(XOR, ODD)
    with pytest.raises(DataError, match=r"SuccessiveBayesClassifier.explain: rows are answered by different functions"):
        classifier.explain(XOR)
    k = classifier.answered_by(XOR[:1])[0]
    assert classifier.functions_[k].explain(XOR[:1]).terms == ("a", "b")


def test_odd_tables():
    one = SuccessiveBayesClassifier().fit(XOR, ["only"] * 20)
    assert one.predict_proba(XOR).tolist() == [[1.0]] * 20
    assert len(one.functions_) == 1
    table = XOR.assign(constant="c", unknown=[None] * 20, gaps=[None, "u"] * 10, id=[f"row {r}" for r in range(20)])
    classifier = quietly(SuccessiveBayesClassifier().fit, table, ODD)
    new = table.assign(id=[f"other {r}" for r in range(20)])
    with pytest.warns(UnseenValueWarning, match="'id' 20") as caught:
        found = classifier.predict_proba(new)
    assert len(caught) == 1
    assert np.allclose(found, classifier.predict_proba(table.assign(id=None)))
    assert classifier.predict_proba(table[:0]).shape == (0, 2)
    assert classifier.answered_by(table[:0]).shape == (0,)
    lone = SuccessiveBayesClassifier().fit(XOR, [*ODD[:-1], "never"], [1.0] * 19 + [0.0])
    assert lone.classes_.tolist() == ["even", "odd"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reading": "lable"}, "SuccessiveBayesClassifier.reading: there is no 'lable'; did you mean 'label'"),
        ({"max_rounds": 0}, "SuccessiveBayesClassifier.max_rounds: got 0; give a whole number of at least 1"),
        ({"estimator": LinearSVC()}, "estimator: LinearSVC gives no probabilities; wrap it in CalibratedClassifierCV"),
        ({"estimator": NaiveBayesClassifier}, "give a scikit-learn classifier, not fitted"),
        ({"estimator": "naive"}, "SuccessiveBayesClassifier.estimator: got 'naive'; give a scikit-learn classifier"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        SuccessiveBayesClassifier(**options).fit([[0], [1]], [0, 1])


def test_weights_need_an_estimator_that_takes_them():
    with pytest.raises(DataError, match=r"sample_weight: KNeighborsClassifier, given as estimator, takes no weights"):
        SuccessiveBayesClassifier(KNeighborsClassifier(1)).fit([[0], [1]], [0, 1], [1, 2])


@pytest.mark.parametrize("estimator", [None, NaiveBayesClassifier(m=3), SemiNaiveBayesClassifier(max_order=2)])
def test_a_saved_classifier_is_the_same(tmp_path, estimator):
    X, y = parity(3)
    classifier = SuccessiveBayesClassifier(estimator, max_rounds=3).fit(pd.DataFrame(X).add_prefix("x"), y)
    classifier.save(tmp_path / "m")
    for other in (SuccessiveBayesClassifier.load(tmp_path / "m"), pickle.loads(pickle.dumps(classifier))):
        table = pd.DataFrame(X).add_prefix("x")
        assert np.array_equal(other.predict_proba(table), classifier.predict_proba(table))
        assert repr(other) == repr(classifier)
        assert other.feature_names_in_.tolist() == list(table)
    other = SuccessiveBayesClassifier(DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(DataError, match=r"SuccessiveBayesClassifier.save: DecisionTreeClassifier is not of bnn, and a"):
        other.save(tmp_path / "n")
    assert not (tmp_path / "n").exists()
    with pytest.raises(FileError, match="holds a SuccessiveBayesClassifier, not a NaiveBayesCombiner"):
        bnn.NaiveBayesCombiner.load(tmp_path / "m")


def test_every_cell_of_a_parity_is_learned_with_other_labels():
    for order in itertools.permutations("abc"):
        y = [order[s] for s in SUMS]
        classifier = SuccessiveBayesClassifier().fit([*CELLS, CELLS[0]], [*y, y[0]])
        assert classifier.score(CELLS, y) == 1.0
