import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_class_counts import targeted
from test_naive import quietly
from test_semi_naive import ODD, XOR, parity

import bnn
from bnn import NaiveBayesClassifier, NaiveBayesCombiner, SuccessiveBayesClassifier, TreeBayesClassifier
from bnn.errors import ContradictionWarning, DataError, UnseenValueWarning


def two():
    return [("naive", NaiveBayesClassifier()), ("tree", TreeBayesClassifier())]


@parametrize_with_checks(
    [NaiveBayesCombiner(two()), NaiveBayesCombiner([("logistic", LogisticRegression(max_iter=10_000)), *two()])]
)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@settings(max_examples=15)
@given(targeted(weights=True))
def test_it_is_the_naive_formula_of_the_answers(records):
    weights = np.maximum(records.weights, 0.125)
    labels = records.codes[:, -1]
    combiner = NaiveBayesCombiner(two()).fit(records, labels, weights)
    totals = np.array([weights[labels == c].sum() for c in combiner.classes_])
    prior = (totals + 1) / (totals.sum() + len(totals))
    product = prior * np.prod([one.predict_proba(records) / prior for one in combiner.estimators_], axis=0)
    expected = product / product.sum(axis=1, keepdims=True)
    assert np.allclose(combiner.predict_proba(records), expected, rtol=1e-9, atol=1e-12)
    told = combiner.explain(records)
    assert np.allclose(told.log2_probabilities, combiner.predict_log2_proba(records), rtol=0, atol=1e-9)


def test_two_answers_by_hand():
    # naive Bayes on one column of four rows, classes p p q q, prior 1/2: P(p|u) = (2 + 1)/(2 + 2) = 3/4
    X, y = [["u"], ["u"], ["v"], ["v"]], ["p", "p", "q", "q"]
    combiner = NaiveBayesCombiner([("first", NaiveBayesClassifier()), ("second", NaiveBayesClassifier(m=6))]).fit(X, y)
    # the second: P(p|u) = (2 + 3)/(2 + 6) = 5/8; together 1/2 * 3/2 * 5/4 against 1/2 * 1/2 * 3/4
    p, q = Fraction(15, 16), Fraction(3, 16)
    assert combiner.predict_proba([["u"]])[0] == pytest.approx([float(p / (p + q)), float(q / (p + q))], rel=1e-14)
    told = combiner.explain([["u"]])
    assert told.terms == ("first", "second")
    assert told.values.tolist() == [["p", "p"]]
    assert told.gains[0] == pytest.approx(np.log2([[3 / 2, 1 / 2], [5 / 4, 3 / 4]]))
    assert told.cases.tolist() == [[4, 4]]


def test_one_classifier_alone_is_itself():
    X, y = parity(0)
    alone, combiner = TreeBayesClassifier().fit(X, y), NaiveBayesCombiner([("tree", TreeBayesClassifier())]).fit(X, y)
    assert np.allclose(alone.predict_proba(X), combiner.predict_proba(X), rtol=1e-12)


def test_classifiers_of_different_columns_are_better_together():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = np.where(rng.random((600, 2)) < 0.7, y[:, None], 1 - y[:, None])
    X = np.concatenate([X, rng.integers(0, 2, (600, 1))], axis=1)
    combiner = NaiveBayesCombiner([("stump", DecisionTreeClassifier(max_depth=1)), *two()]).fit(X, y)
    assert combiner.score(X, y) >= 0.7


def test_answers_that_exclude_each_other_give_the_prior_with_a_warning():
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 1]
    near = KNeighborsClassifier(1)
    combiner = NaiveBayesCombiner([("near", near), ("far", DecisionTreeClassifier(random_state=0))]).fit(X, y)
    combiner.estimators_[1].fit(X, [1, 0, 0])
    with pytest.warns(ContradictionWarning, match="for 1 rows each class is excluded by some classifier's answer"):
        assert combiner.predict_proba(X[:1])[0] == pytest.approx([2 / 5, 3 / 5])
    assert np.exp2(combiner.explain(X[:1]).log2_probabilities)[0] == pytest.approx([2 / 5, 3 / 5])


def test_odd_tables():
    one = NaiveBayesCombiner(two()).fit(XOR, ["only"] * 20)
    assert one.predict_proba(XOR).tolist() == [[1.0]] * 20
    table = XOR.assign(constant="c", unknown=[None] * 20, id=[f"row {r}" for r in range(20)])
    combiner = quietly(NaiveBayesCombiner(two()).fit, table, ODD)
    with pytest.warns(UnseenValueWarning, match="'id' 20") as caught:
        combiner.predict(table.assign(id="other"))
    assert len(caught) == 1
    assert combiner.predict_proba(table[:0]).shape == (0, 2)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        combiner.predict(table[table.columns[::-1]])


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], r"NaiveBayesCombiner.estimators: got \[\]; give a list of \(name, classifier\), at least one"),
        ([NaiveBayesClassifier()], r"give a list of \(name, classifier\)"),
        ([("a", NaiveBayesClassifier()), ("a", TreeBayesClassifier())], "got the name 'a'; names are text, distinct"),
        ([("a__b", NaiveBayesClassifier())], "got the name 'a__b'"),
        ([("a", LinearSVC())], r"NaiveBayesCombiner.estimators\['a'\]: LinearSVC gives no probabilities; wrap it"),
        ([("a", 3)], r"estimators\['a'\]: got 3; give a scikit-learn classifier"),
    ],
)
def test_estimators_that_mean_nothing_are_refused(estimators, message):
    with pytest.raises(DataError, match=message):
        NaiveBayesCombiner(estimators).fit([[0], [1]], [0, 1])


def test_weights_need_estimators_that_take_them():
    combiner = NaiveBayesCombiner([("near", KNeighborsClassifier(1))])
    with pytest.raises(DataError, match="KNeighborsClassifier, given as estimator 'near', takes no weights"):
        combiner.fit([[0], [1]], [0, 1], [1, 2])


def test_parameters_by_name():
    combiner = NaiveBayesCombiner(two()).set_params(naive__m=5, tree=SuccessiveBayesClassifier())
    assert combiner.get_params()["naive__m"] == 5
    assert type(clone(combiner).estimators[1][1]) is SuccessiveBayesClassifier


def test_a_saved_combiner_is_the_same(tmp_path):
    combiner = NaiveBayesCombiner([*two(), ("again", SuccessiveBayesClassifier(TreeBayesClassifier(m=3)))])
    table = XOR.assign(n=np.linspace(0, 1, 20))
    combiner.fit(table, ODD)
    combiner.save(tmp_path / "m")
    for other in (NaiveBayesCombiner.load(tmp_path / "m"), pickle.loads(pickle.dumps(combiner))):
        assert np.array_equal(other.predict_proba(table), combiner.predict_proba(table))
        assert repr(other) == repr(combiner)
        assert other.explain(table).terms == ("naive", "tree", "again")
    foreign = NaiveBayesCombiner([("near", KNeighborsClassifier(1))]).fit(pd.DataFrame({"a": [0, 1]}), [0, 1])
    with pytest.raises(DataError, match=r"NaiveBayesCombiner.save: KNeighborsClassifier is not of bnn, and a file"):
        foreign.save(tmp_path / "n")


@pytest.mark.parametrize(
    "classifier",
    [
        NaiveBayesClassifier(),
        bnn.SemiNaiveBayesClassifier(),
        TreeBayesClassifier(),
        SuccessiveBayesClassifier(max_rounds=2),
        bnn.NetworkClassifier(),
        NaiveBayesCombiner(two()),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_records_that_name_their_target_score_without_labels(classifier):
    records = bnn.datasets.load("lymphography")
    classifier = clone(classifier).fit(records[::2])
    labels = np.array(records.schema["class"].values)[records.codes[:, -1]]
    share = (classifier.predict(records) == labels).mean()
    assert classifier.score(records) == classifier.score(records, labels) == share
    weights = np.arange(len(labels)) % 3
    weighted = bnn.Records(records.codes, records.schema, weights)
    assert classifier.score(weighted) == classifier.score(records, sample_weight=weights) != share
    table = bnn.Records(records.codes[:, :-1], bnn.Schema(records.schema.attributes[:-1]))
    with pytest.raises(DataError, match=r"score\.y: got none; give one label a row, or Records with a target\."):
        classifier.score(table)
