import pickle
import warnings
from fractions import Fraction

import numpy as np
import oracles
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, cross_val_predict
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_class_counts import targeted

import bnn
from bnn import NaiveBayesClassifier
from bnn.classify.class_counts import ClassCounts
from bnn.classify.gains import GAINS
from bnn.errors import (
    BnnWarning,
    ContradictionWarning,
    DataError,
    FileError,
    IdentifierWarning,
    NewClassWarning,
    UnseenValueWarning,
)
from bnn.kernels import threads
from bnn.rules.base import Connections

FRUIT = pd.DataFrame({"colour": ["red", "red", "blue", None], "size": [4.5, 3.5, 0.5, np.nan], "ripe": [1, 0, 1, 1]})
KIND = ["apple", "apple", "plum", "plum"]


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BnnWarning)
        return function(*args, **options)


def voting():
    return bnn.datasets.load("house-votes-84")


@parametrize_with_checks([NaiveBayesClassifier(), NaiveBayesClassifier(fuzzy="both", Pr=0.3, estimate="neutral")])
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimate", sorted(GAINS))
@given(targeted())
def test_probabilities_are_the_fractions_of_the_formula(estimate, records):
    rows = [[None if c < 0 else c for c in codes[:-1]] for codes in records.codes.tolist()]
    labels = records.codes[:, -1]
    classes = np.unique(labels)
    places = np.searchsorted(classes, labels).tolist()
    prior, gains = oracles.naive_gains(rows, places, len(classes), records.schema.sizes[:-1], estimate)
    found = quietly(lambda: NaiveBayesClassifier(estimate).fit(records).predict_proba(records))
    expected = [[float(p) for p in oracles.naive_posterior(row, prior, gains)] for row in rows]
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimate", ["m", "joint", "neutral"])
def test_a_real_split_equals_the_slow_twin(estimate):
    records = bnn.datasets.load("lymphography")
    order = np.random.default_rng(0).permutation(records.rows)
    train, test = records[order[:104]], records[order[104:]]
    rows, unknown = ([[None if c < 0 else c for c in codes[:-1]] for codes in r.codes.tolist()] for r in (train, test))
    kept = np.unique(train.codes[:, -1])
    labels = np.searchsorted(kept, train.codes[:, -1]).tolist()
    prior, gains = oracles.naive_gains(rows, labels, len(kept), records.schema.sizes[:-1], estimate)
    expected = [[float(p) for p in oracles.naive_posterior(row, prior, gains)] for row in unknown]
    found = NaiveBayesClassifier(estimate).fit(train).predict_proba(test)
    assert np.allclose(found, expected, rtol=1e-9)


def test_shrinkage_is_scikit_learn_s_categorical_naive_bayes():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (300, 6)), rng.integers(0, 3, 300)
    theirs = CategoricalNB(alpha=1 / 4).fit(X, y)
    ours = NaiveBayesClassifier("shrinkage", priors=np.exp(theirs.class_log_prior_)).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=0)
    theirs = CategoricalNB(alpha=1).fit(X, y)
    ours = NaiveBayesClassifier("laplace", priors=np.exp(theirs.class_log_prior_)).fit(X, y)
    assert np.allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["house-votes-84", "lymphography", "primary-tumor"])
def test_joint_is_one_clamped_step_of_the_network(name):
    records = bnn.datasets.load(name)
    counts = bnn.Counts.of(records)
    network, layout = bnn.learn(counts, "probability", m=2.0), counts.layout
    own = layout.neurons_of(records.schema.target)
    states = (records.codes[:, layout.attribute] == layout.value).astype(np.float64)
    states[:, own] = 0
    number = np.bincount(records.codes[:, records.schema.index(records.schema.target)], minlength=len(own))
    prior = np.log2((number + 1) / (records.rows + len(own)))
    # the network's weights are rounded once, to multiples of its grid; those of its rule are not
    weights = bnn.RULES["probability"].function(counts, Connections(layout), np.dtype(np.float64)).weights
    for field, tolerance in (
        (states @ weights[own].T, 1e-12),
        (network.field(states).numpy()[:, own], len(records.schema.names) * network.grid),
    ):
        scores = field + prior
        expected = np.exp2(scores - np.logaddexp2.reduce(scores, axis=1, keepdims=True))
        assert np.allclose(all_classes("joint", records).predict_proba(records), expected, rtol=0, atol=tolerance)


def all_classes(estimate, records):
    """A classifier of every class that the schema declares."""
    values = np.array(records.schema[records.schema.target].values)
    assert (np.sort(values) == values).all()
    return NaiveBayesClassifier(estimate).partial_fit(records, classes=values)


def test_it_is_the_same_whatever_holds_the_table():
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 4, (60, 3)), rng.choice(["n", "y"], 60)
    texts = np.array(["a", "b", "c", "d"])[codes]
    columns = {f"x{a}": texts[:, a] for a in range(3)}
    plain = {name: column.tolist() for name, column in columns.items()}
    expected = NaiveBayesClassifier().fit(codes, y).predict_proba(codes)
    for table in (
        codes.astype(np.uint8),
        codes.astype(float),
        np.asfortranarray(codes.astype(np.int8)),
        codes.astype(object),
        codes.tolist(),
        texts,
        texts.astype(object),
        texts.tolist(),
        pd.DataFrame(columns),
        pd.DataFrame(columns).astype("category"),
        pd.DataFrame(codes, columns=list("xyz")).astype("Int64"),
        pl.DataFrame(plain),
        pl.DataFrame(plain).cast(pl.Categorical),
        pa.table(plain),
        plain,
        bnn.Records.from_table(plain),
    ):
        for labels in (y, y.astype(object), y.tolist(), pd.Series(y), pd.Series(y, dtype="category"), pl.Series(y)):
            found = NaiveBayesClassifier().fit(table, labels)
            assert found.classes_.tolist() == ["n", "y"]
            assert np.allclose(found.predict_proba(table), expected, rtol=1e-13)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 1, 3], np.int16),
        np.array([True, False, False, True]),
        np.array([2.0, -1.0, -1.0, 2.0]),
        np.array(["b", "a", "a", "b"]),
        np.array(["b", "a", "a", "b"], object),
        np.array([10**12, 5, 5, 10**12]),
        np.array([7, 5, 5, 7], object),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_classes_are_sorted_and_answers_have_the_labels_type(labels):
    classifier = NaiveBayesClassifier().fit([[0], [1], [1], [0]], labels)
    assert classifier.classes_.dtype == labels.dtype
    assert classifier.classes_.tolist() == sorted(set(labels.tolist()))
    assert classifier.predict([[0], [1]]).tolist() == [labels[0], labels[1]]


def test_mixed_tables_by_hand():
    classifier = NaiveBayesClassifier(discretize={"size": [2.0]}).fit(FRUIT, KIND)
    assert [c.attribute.values for c in classifier.codebook_.columns] == [("blue", "red"), ("< 2", ">= 2"), (0, 1)]
    # P(apple) = 3/6; red: (2 + 1)/(2 + 2) over 1/2; above 2 the same; ripe = 1: (1 + 1)/(3 + 2) over 1/2
    apple = Fraction(1, 2) * Fraction(3, 2) * Fraction(3, 2) * Fraction(4, 5)
    plum = Fraction(1, 2) * Fraction(1, 2) * Fraction(1, 2) * Fraction(6, 5)
    found = classifier.predict_proba(pd.DataFrame({"colour": ["red"], "size": [9.0], "ripe": [1]}))
    assert found[0] == pytest.approx([float(apple / (apple + plum)), float(plum / (apple + plum))], rel=1e-14)
    assert classifier.gains_.shape == (6, 2)
    assert classifier.log2_prior_.tolist() == [-1.0, -1.0]


# --- Missing and unseen values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""])
def test_missing_values_are_no_evidence_and_no_category(missing):
    table = pd.DataFrame({"x": ["a", "b", missing, "a"], "y": [1, 2, 2, 1]})
    classifier = NaiveBayesClassifier().fit(table, KIND)
    assert classifier.codebook_.schema["x"].values == ("a", "b")
    both = pd.DataFrame({"x": [missing, missing], "y": [1, 2]})
    alone = NaiveBayesClassifier().fit(table[["y"]], KIND)
    assert np.allclose(classifier.predict_proba(both), alone.predict_proba(both[["y"]]), rtol=1e-14)


def test_a_value_never_learned_answers_like_a_missing_one_and_can_be_made_an_error():
    classifier = NaiveBayesClassifier().fit(FRUIT, KIND)
    new = pd.DataFrame({"colour": ["green", "green"], "size": [4.0, 0.1], "ripe": [7, 1]})
    message = r"never learned were taken as missing: 'colour' 2 \(such as 'green'\), 'ripe' 1 \(such as 7\)"
    with pytest.warns(UnseenValueWarning, match=message):
        found = classifier.predict_proba(new)
    gaps = pd.DataFrame({"colour": [None, None], "size": [4.0, 0.1], "ripe": [np.nan, 1]})
    assert np.array_equal(found, classifier.predict_proba(gaps))
    with pytest.raises(UnseenValueWarning):  # under "error", as all warnings are in these tests
        classifier.predict(new)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, float])
def test_numbers_never_learned_are_unseen_and_fractions_are_never_cut_off(dtype):
    classifier = NaiveBayesClassifier().fit(np.array([[0], [1], [0]], dtype), [0, 1, 0])
    with pytest.warns(UnseenValueWarning, match=r"'x0' 1 \(such as [29]"):
        found = classifier.predict_proba(np.array([[9]], dtype))
    assert np.array_equal(found, classifier.predict_proba([[None]]))
    with pytest.warns(UnseenValueWarning, match=r"such as 0\.7"):
        assert np.array_equal(classifier.predict_proba([[0.7]]), found)


@pytest.mark.parametrize("numbers", [[3.0, 1e29, 1e28, 1e300], np.array([3, 2**63, 2**64 - 1, 1], np.uint64)])
def test_whole_numbers_beyond_64_bits_stay_what_they_are(numbers):
    classifier = NaiveBayesClassifier().fit({"a": np.array(numbers)}, ["u", "v", "u", "v"])
    assert classifier.codebook_.schema.attributes[0].values == tuple(sorted(np.array(numbers).tolist()))
    assert classifier.read_codes({"a": np.array(numbers)}).ravel().tolist() == np.argsort(np.argsort(numbers)).tolist()


def test_real_votes_with_gaps_just_work():
    records = voting()
    assert (records.codes < 0).sum() == 392
    classifier = NaiveBayesClassifier().fit(records)
    answers = classifier.predict(records)
    truth = np.array(records.schema["class"].values if "class" in records.schema.names else ())[records.codes[:, -1]]
    assert (answers == truth).mean() > 0.88


def test_without_smoothing_contradictory_evidence_is_answered_by_the_prior_with_a_warning():
    X, y = [["a", "c"], ["a", "c"], ["b", "d"]], [0, 0, 1]
    classifier = NaiveBayesClassifier("relative").fit(X, y)
    with pytest.warns(
        ContradictionWarning, match="the evidence of 1 rows excludes every class, because counts of zero"
    ):
        found = classifier.predict_proba([["a", "d"], ["a", "c"]])
    assert found == pytest.approx(np.array([[2 / 3, 1 / 3], [1, 0]]), rel=1e-14)
    told = classifier.explain([["a", "d"]])
    assert np.exp2(told.log2_probabilities)[0] == pytest.approx([2 / 3, 1 / 3])


def test_two_thousand_attributes_do_not_underflow():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = np.where(rng.random((100, 2000)) < 0.9, y[:, None], 1 - y[:, None])
    classifier = NaiveBayesClassifier().fit(X, y)
    assert np.isfinite(classifier.predict_log_proba(X)[np.arange(100), y]).all()
    assert (classifier.predict(X) == y).all()
    assert classifier.counts_.joint.size == 8000


def test_an_identifier_is_warned_about_and_does_not_win():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    table = pd.DataFrame({"id": [f"row {r}" for r in range(200)], "x": np.where(rng.random(200) < 0.9, y, 1 - y)})
    with pytest.warns(IdentifierWarning, match="every value of column 'id' occurs once: an identifier tells nothing"):
        classifier = NaiveBayesClassifier().fit(table[:100], y[:100])
    with pytest.warns(UnseenValueWarning):
        answers = classifier.predict(table[100:])
    assert (answers == NaiveBayesClassifier().fit(table[["x"]][:100], y[:100]).predict(table[["x"]][100:])).all()


def test_ten_thousand_values_in_one_attribute():
    values = np.arange(30_000) % 10_000
    table, y = pd.DataFrame({"x": [f"v{v}" for v in values]}), values % 3
    classifier = NaiveBayesClassifier().fit(table, y)
    assert (classifier.predict(table) == y).all()
    assert len(classifier.gains_) == 10_000


# --- Growing, forgetting, weights, priors ---------------------------------------------------------------------------


@given(targeted(weights=True), st.integers(1, 19))
def test_learning_in_parts_is_learning_at_once(records, cut):
    records = bnn.Records(records.codes, records.schema, np.maximum(records.weights, 0.125))
    parts = [part for part in (records[:cut], records[cut:]) if part.rows]
    whole = NaiveBayesClassifier().fit(records)
    grown = NaiveBayesClassifier()
    for part in parts:
        quietly(grown.partial_fit, part)
    assert grown.classes_.tolist() == whole.classes_.tolist()
    assert grown.counts_ == whole.counts_
    assert np.array_equal(grown.predict_proba(records), whole.predict_proba(records))


def test_values_and_classes_grow_with_one_warning():
    first = pd.DataFrame({"colour": ["red", "blue"], "n": [1, 2]})
    classifier = NaiveBayesClassifier().partial_fit(first, ["b", "c"])
    more = pd.DataFrame({"colour": ["green", "red"], "n": [7, 1]})
    with pytest.warns(NewClassWarning, match=r"new classes \['a'\]; classes_ is now \['a', 'b', 'c'\]") as caught:
        classifier.partial_fit(more, ["a", "b"])
    assert len(caught) == 1
    assert classifier.codebook_.schema["colour"].values == ("blue", "red", "green")
    assert classifier.codebook_.schema["n"].values == (1, 2, 7)
    everything = NaiveBayesClassifier().fit(pd.concat([first, more]), ["b", "c", "a", "b"])
    assert np.allclose(classifier.predict_proba(more), everything.predict_proba(more), rtol=1e-14)
    assert classifier.counts_.totals.tolist() == [1, 2, 1]


def test_classes_that_the_user_named_stay():
    classifier = NaiveBayesClassifier().partial_fit([[0], [1]], [0, 1], classes=[0, 1, 2])
    assert classifier.classes_.tolist() == [0, 1, 2]
    # a class without rows keeps its Laplace prior, (0 + 1)/(2 + 3)
    assert np.exp2(classifier.log2_prior_) == pytest.approx([0.4, 0.4, 0.2])
    assert np.isfinite(classifier.predict_log_proba([[0]])).all()
    for labels, message in [([0, 3], r"class 3 is none of the \[0, 1, 2\] named in the first call")]:
        with pytest.raises(DataError, match=message):
            classifier.partial_fit([[0], [1]], labels)
    with pytest.raises(DataError, match=r"NaiveBayesClassifier.classes: got \[0, 9\], other classes than the first"):
        classifier.partial_fit([[0]], [0], classes=[0, 9])
    with pytest.raises(DataError, match=r"class 5 is none of the \[0, 1\] named"):
        NaiveBayesClassifier().partial_fit([[0]], [5], classes=[0, 1])
    assert classifier.counts_.rows == 2


def test_text_beside_numbers_has_no_order():
    classifier = NaiveBayesClassifier().partial_fit([[0], [1]], [0, 1])
    with pytest.raises(DataError, match=r"got classes \['a'\] beside the earlier \[0, 1\]; they have no common order"):
        classifier.partial_fit([[0]], ["a"])


def test_bounds_stay_as_the_first_rows_made_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 1)), rng.integers(0, 2, 100)
    classifier = NaiveBayesClassifier().partial_fit(X, y)
    bounds = classifier.codebook_.columns[0].bounds
    classifier.partial_fit(X * 10, y)
    assert np.array_equal(classifier.codebook_.columns[0].bounds, bounds)
    assert classifier.counts_.rows == 200
    with pytest.raises(DataError, match="column 'x0' held numbers when it was learned, and now other values"):
        classifier.partial_fit([["a"]], [0])


@pytest.mark.parametrize("options", [{}, {"fuzzy": "learning"}, {"estimate": "relative"}])
def test_what_is_forgotten_was_never_there(options):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=50), "b": rng.choice(["u", "v"], 50)})
    y, weights = rng.integers(0, 3, 50), rng.random(50)
    classifier = NaiveBayesClassifier(**options).fit(X, y, weights)
    before = classifier.counts_
    classifier.partial_fit(X[:20], y[:20], sample_weight=weights[:20])
    classifier.forget(X[:20], y[:20], weights[:20])
    assert classifier.counts_ == before
    classifier.forget(X, y, weights)
    assert classifier.counts_.rows == 0
    assert classifier.predict_proba(X[:1]) == pytest.approx(np.full((1, 3), 1 / 3))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([["a"]], [2], "NaiveBayesClassifier.forget: class 2 was never learned"),
        ([["c"]], [0], r"NaiveBayesClassifier.forget: .*'x0' 1 \(such as 'c'\).* Give rows that were learned"),
        ([["b"]], [0], r"ClassCounts: 0 - 1 records of class 0 would be left with 'x0 = b'"),
    ],
)
def test_what_was_never_learned_cannot_be_forgotten(X, y, message):
    classifier = NaiveBayesClassifier().fit([["a"], ["b"], ["a"]], [0, 1, 0])
    with pytest.raises(DataError, match=message):
        classifier.forget(X, y)
    assert classifier.counts_.rows == 3


def test_a_weight_is_a_repetition_and_a_weight_of_zero_is_no_row():
    X = pd.DataFrame({"a": ["x", "y", "z", "x"], "b": [0.5, 1.5, 2.5, 99.5]})
    weighted = NaiveBayesClassifier().fit(X, ["p", "q", "p", "r"], [2, 1, 1, 0])
    plain = NaiveBayesClassifier().fit(X.iloc[[0, 0, 1, 2]], ["p", "p", "q", "p"])
    assert weighted.classes_.tolist() == ["p", "q"]
    assert weighted.counts_ == plain.counts_
    assert weighted.codebook_.columns[1].bounds.tolist() == plain.codebook_.columns[1].bounds.tolist()
    lone = NaiveBayesClassifier().fit(X, ["p", "q", "p", "r"], [0, 1, 1, 0])
    assert lone.codebook_.schema["a"].values == ("y", "z")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1], "NaiveBayesClassifier.sample_weight: weights are finite and not negative; row 1 has -1.0"),
        ([1, np.nan, 1, 1], "row 1 has nan"),
        ([0, 0, 0, 0], "all weights are zero"),
        ([1, 1], r"NaiveBayesClassifier.sample_weight: needs one number a row, 4; got shape \(2,\)"),
        (["a"] * 4, "NaiveBayesClassifier.sample_weight: cannot be read as numbers"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        NaiveBayesClassifier().fit(FRUIT, KIND, weights)


def test_another_prevalence_moves_the_odds_by_its_own():
    classifier = NaiveBayesClassifier().fit(FRUIT, KIND)
    before = classifier.decision_function(FRUIT)
    after = classifier.set_params(priors={"apple": 0.9, "plum": 0.1}).decision_function(FRUIT)
    assert np.allclose(after - before, np.log2(0.1 / 0.9), rtol=1e-12)
    with pytest.raises(DataError, match=r"NaiveBayesClassifier.priors: class 'plum' has none"):
        NaiveBayesClassifier(priors={"apple": 1.0}).fit(FRUIT, KIND)


def test_the_score_of_two_classes_is_the_log_odds_with_a_threshold():
    records = voting()
    classifier = NaiveBayesClassifier().fit(records)
    P = classifier.predict_proba(records)
    score = classifier.decision_function(records)
    assert np.allclose(score, np.log2(P[:, 1]) - np.log2(P[:, 0]), atol=1e-6)
    # k + sum of w, by the gains themselves [T eq 22, 23]
    told = classifier.explain(records)
    k, w = told.prior[1] - told.prior[0], told.gains[..., 1] - told.gains[..., 0]
    assert np.allclose(score, k + w.sum(axis=1), atol=1e-9)
    X, y = records.codes[:, :-1], records.codes[:, -1]
    cautious = FixedThresholdClassifier(NaiveBayesClassifier(), threshold=3.0, response_method="decision_function")
    cautious.fit(X, y)
    assert ((cautious.predict(X) == 1) == (cautious.estimator_.decision_function(X) >= 3.0)).all()
    three = NaiveBayesClassifier().fit([[0], [1], [2]], [0, 1, 2])
    assert np.array_equal(three.decision_function([[0]]), three.predict_log2_proba([[0]]))


# --- Leaving one out ------------------------------------------------------------------------------------------------


def left_out(classifier, X, y, weights=None):
    """Probabilities by forgetting each row in turn."""
    out = []
    for row in range(len(y)):
        other, here = pickle.loads(pickle.dumps(classifier)), slice(row, row + 1)
        other.forget(X[here], y[here], None if weights is None else weights[here])
        out.append(quietly(other.predict_proba, X[here])[0])
    return np.array(out)


@pytest.mark.parametrize("estimate", sorted(GAINS))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_leaving_one_out_is_forgetting_it(estimate, weighted, priors):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=20), "b": rng.choice(["u", "v", None], 20), "c": rng.integers(0, 9, 20)})
    y = rng.integers(0, 3, 20)
    weights = rng.integers(1, 4, 20) / 2 if weighted else None
    classifier = NaiveBayesClassifier(estimate, intervals=4, priors=priors).fit(X, y, weights)
    found = quietly(classifier.leave_one_out_proba, X, y, weights)
    assert np.allclose(found, left_out(classifier, X, y, weights), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", [{"fuzzy": "learning"}, {"fuzzy": "both", "Pr": 0.2}, {"Pr": 0.5}])
def test_leaving_one_out_of_fuzzy_intervals(options):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 2)), np.arange(15) % 2
    classifier = NaiveBayesClassifier(intervals=4, **options).fit(X, y)
    assert np.allclose(classifier.leave_one_out_proba(X, y), left_out(classifier, X, y), rtol=1e-12)


def test_leaving_out_the_only_record_that_a_value_and_class_share():
    # without smoothing, and without the first row, a was never seen with class 0, nor b with class 1
    X, y = [["a", "b"], ["a", "c"], ["d", "b"]], [0, 1, 0]
    classifier = NaiveBayesClassifier(m=0).fit(X, y)
    with pytest.warns(ContradictionWarning):
        found = classifier.leave_one_out_proba(X, y)
    assert np.allclose(found, left_out(classifier, np.array(X, object), y))


def test_only_learned_rows_can_be_left_out():
    classifier = NaiveBayesClassifier().fit([["a"], ["b"]], [0, 1])
    with pytest.raises(DataError, match=r"NaiveBayesClassifier.leave_one_out_proba: row 0 was never counted"):
        classifier.leave_one_out_proba([["b"], ["a"]], [0, 0])
    assert classifier.leave_one_out_proba([["a"]], [0]).shape == (1, 2)


# --- Numbers --------------------------------------------------------------------------------------------------------


def test_auto_decides_by_whole_numbers_and_their_number():
    rows = np.arange(210)
    X = np.stack([rows % 20, rows % 21, rows % 2 + 0.5, rows % 3 * 1e9], axis=1)
    classifier = NaiveBayesClassifier().fit(X, rows % 2)
    bounds = [column.bounds for column in classifier.codebook_.columns]
    assert bounds[0] is None
    assert len(bounds[1]) == 19
    assert bounds[2].tolist() == [1.0]
    assert bounds[3] is None
    assert classifier.codebook_.columns[3].attribute.values == (0, 10**9, 2 * 10**9)
    frame = pd.DataFrame(X, columns=list("abcd")).astype({"a": "Int64", "b": int})
    other = NaiveBayesClassifier().fit(frame, rows % 2)
    assert np.array_equal(other.predict_proba(frame), classifier.predict_proba(X))


@pytest.mark.parametrize(
    ("discretize", "sizes"),
    [
        ("auto", (3, 20)),
        ("equal-frequency", (3, 20)),
        ("information-gain", (2, 2)),
        ("mdl", (1, 2)),
        ("categories", (3, 200)),
        ({"x1": "mdl"}, (3, 2)),
        ({"x0": [0.5, 1.5], "x1": [3]}, (3, 2)),
    ],
)
def test_every_way_of_cutting_numbers(discretize, sizes):
    rows = np.arange(200)
    X = np.stack([rows % 3, rows / 7], axis=1)
    classifier = NaiveBayesClassifier(discretize=discretize).fit(X, rows >= 60)
    assert classifier.codebook_.schema.sizes == sizes
    assert classifier.score(X, rows >= 60) > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discretize": "auot"}, "NaiveBayesClassifier.discretize: there is no 'auot'; did you mean 'auto'"),
        ({"discretize": 5}, "NaiveBayesClassifier.discretize: got 5; give one of 'auto'"),
        ({"discretize": {"z": "mdl"}}, "NaiveBayesClassifier.discretize: there is no 'z'"),
        ({"discretize": {"size": [2, 1]}}, r"bounds of column 'size' are \[2.0, 1.0\]; give ascending, finite"),
        ({"discretize": {"size": ["a"]}}, r"bounds of column 'size' are \['a'\]; give numbers"),
        ({"discretize": {"colour": [1.0]}}, "column 'colour' has bounds, but holds no numbers"),
        ({"intervals": 1}, "NaiveBayesClassifier.intervals: got 1; give a whole number of at least 2"),
        ({"estimate": "laplas"}, "did you mean 'laplace'"),
        ({"m": -1}, "NaiveBayesClassifier.m: got -1; give a number from 0 to inf"),
        ({"SIG": "a"}, "NaiveBayesClassifier.SIG: got 'a'"),
        ({"Pr": 2}, "NaiveBayesClassifier.Pr: got 2; give a number from 0 to 1"),
        ({"borrow": 0}, "NaiveBayesClassifier.borrow: got 0"),
        ({"fuzzy": "yes"}, "NaiveBayesClassifier.fuzzy: there is no 'yes'"),
        ({"fuzzy": ["both"]}, "NaiveBayesClassifier.fuzzy: there is no"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        NaiveBayesClassifier(**options).fit(FRUIT, KIND)


def test_fuzzy_with_sigma_zero_and_reliable_with_pr_zero_are_plain():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    X[rng.random(X.shape) < 0.1] = np.nan
    plain = NaiveBayesClassifier(intervals=5).fit(X, y).predict_proba(X)
    for fuzzy in ("learning", "classification", "both"):
        found = NaiveBayesClassifier(intervals=5, fuzzy=fuzzy, SIG=0).fit(X, y).predict_proba(X)
        assert np.allclose(found, plain, rtol=1e-12)
    assert not np.allclose(NaiveBayesClassifier(intervals=5, fuzzy="both").fit(X, y).predict_proba(X), plain)
    assert not np.allclose(NaiveBayesClassifier(intervals=5, Pr=0.5).fit(X, y).predict_proba(X), plain)


def test_fuzzy_learning_counts_by_membership_and_loses_nobody():
    X, y = np.array([[0.0], [1.0], [3.0], [np.nan]]), [0, 0, 1, 1]
    classifier = NaiveBayesClassifier(discretize={"x0": [1.0]}, fuzzy="learning", SIG=1.0).fit(X, y)
    # sigma = (3 - 0)/2; the masses below 1 are Phi(2/3), Phi(0), Phi(-4/3)
    below = np.array([0.747507462, 0.5, 0.091211220])
    found = classifier.counts_.joint / classifier.counts_.scale
    assert found[0] == pytest.approx([below[0] + below[1], below[2]], abs=1e-6)
    assert classifier.counts_.known.tolist() == [[2 << 20, 1 << 20]]


def test_fuzzy_classification_is_the_mean_of_ratios():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    classifier = NaiveBayesClassifier(discretize={"x0": [2.0]}, fuzzy="classification", SIG=0.5).fit(X, y)
    # sigma = 1/2 * 4/2 = 1; at 2 half and half: (3/2 + 1/2)/2 for both classes
    assert classifier.predict_proba([[2.0]])[0] == pytest.approx([0.5, 0.5])
    below = 0.8413447460685429  # Phi(1)
    ratio = [1.5 * below + 0.5 * (1 - below), 0.5 * below + 1.5 * (1 - below)]
    assert classifier.predict_proba([[1.0]])[0] == pytest.approx(np.array(ratio) / 2, rel=1e-12)
    assert classifier.predict_proba([[np.nan]])[0] == pytest.approx([0.5, 0.5])


def test_unreliable_intervals_borrow_until_they_are_reliable_or_all_is_in():
    # four intervals of two rows each, classes 00 01 01 11: the outer ones say something, the inner ones nothing
    X, y = np.repeat(np.arange(4.0), 2)[:, None], np.array([0, 0, 0, 1, 0, 1, 1, 1])
    plain = NaiveBayesClassifier(discretize={"x0": [0.5, 1.5, 2.5]}).fit(X, y)
    sure = NaiveBayesClassifier(discretize={"x0": [0.5, 1.5, 2.5]}, Pr=1.0).fit(X, y)
    assert not sure.gains_.any()  # everybody has taken in everything
    # eps of the first interval: P(0|J) = (2 + 1)/4, so 1/2 * 1/4 * 2 = 1/4, n = 2: 1 - 1/(4 * 2/16) < 0, unreliable;
    # with its neighbour 3 of 4: P = (3 + 1)/6, eps = 1/6, 1 - 36/16 < 0; and so on to the end, where eps = 0
    some = NaiveBayesClassifier(discretize={"x0": [0.5, 1.5, 2.5]}, Pr=0.1).fit(X, y)
    assert not some.gains_.any()
    many = NaiveBayesClassifier(discretize={"x0": [0.5, 1.5, 2.5]}, Pr=0.1).fit(np.tile(X, (20, 1)), np.tile(y, 20))
    # 40 rows: P(0|J) = 41/42, eps = 0.476, 1 - 1/(4 * 0.2268 * 40) = 0.97: reliable as it is
    assert many.gains_[0, 0] == pytest.approx(np.log2(41 / 42 * 2))
    # the second says nothing, so it takes in both neighbours: 80 of 120 are class 0, P = (80 + 1)/122, eps = 0.164,
    # 1 - 1/(4 * 0.0269 * 120) = 0.92
    assert many.gains_[1, 0] == pytest.approx(np.log2(81 / 122 * 2))
    half = NaiveBayesClassifier(discretize={"x0": [0.5, 1.5, 2.5]}, Pr=0.1, borrow=0.5).fit(
        np.tile(X, (20, 1)), np.tile(y, 20)
    )
    # half of each neighbour: 50 of 80, P = 51/82, eps = 0.122, 1 - 1/(4 * 0.0149 * 80) = 0.79
    assert half.gains_[1, 0] == pytest.approx(np.log2(51 / 82 * 2))
    assert plain.gains_.any()


def test_numbers_whose_range_is_no_number_have_a_width_that_is():
    X = np.array([[-1e308], [1e308], [5.5]] * 8)
    fitted = NaiveBayesClassifier().fit(X, [0, 1, 0] * 8)
    assert np.isfinite(fitted.codebook_.columns[0].width)
    assert fitted.predict(X[:3]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_no_rows_have_no_answers_whatever_holds_them(library):
    fitted = NaiveBayesClassifier().fit(library({"a": ["x", "y"], "b": [1.5, 2.5]}), ["u", "v"])
    empty = library({"a": ["x"], "b": [1.5]})[:0]
    assert fitted.predict_proba(empty).shape == (0, 2)


def test_infinity_is_no_value():
    with pytest.raises(DataError, match=r"NaiveBayesClassifier.X: column 'x0' holds infinity; values are finite"):
        NaiveBayesClassifier().fit([[np.inf], [0.5]], [0, 1])
    with pytest.raises(DataError, match="column 'a' holds infinity"):
        NaiveBayesClassifier().fit({"a": [np.inf, 0.5]}, [0, 1])


# --- Odd cases ------------------------------------------------------------------------------------------------------


def test_odd_tables():
    one = NaiveBayesClassifier().fit(FRUIT, ["apple"] * 4)
    assert one.predict_proba(FRUIT).tolist() == [[1.0]] * 4
    assert one.predict(FRUIT).tolist() == ["apple"] * 4
    X = pd.DataFrame({"constant": ["c"] * 4, "unknown": [None] * 4, "gaps": [np.nan] * 4, "x": [0, 0, 1, 1]})
    classifier = NaiveBayesClassifier("neutral").fit(X, KIND)
    assert classifier.codebook_.schema.sizes == (1, 0, 0, 2)
    assert not classifier.gains_[0].any()
    assert classifier.predict(X).tolist() == KIND
    assert classifier.predict_proba(X[:0]).shape == (0, 2)
    assert classifier.predict(X[:0]).shape == (0,)
    assert len(classifier.explain(X[:0])) == 0
    later = classifier.partial_fit(X.assign(unknown=["a", "b", "a", "b"], gaps=[0.25, 0.5, 0.75, 0.875]), KIND)
    assert later.codebook_.schema.sizes[1] == 2
    assert len(later.codebook_.columns[2].bounds) == 3


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((0, 2)), [], "Found array with 0 sample"),
        (np.zeros((2, 0)), [0, 1], r"Found array with 0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1"),
        (np.zeros(3), [0, 1, 1], "Expected 2D array, got 1D array instead"),
        ([[0], [1, 2]], [0, 1], "its rows differ in length"),
        (np.zeros((2, 1)), [0, 1, 1], "inconsistent numbers of samples: 2 rows in X and 3 labels in y"),
        (np.zeros((2, 1)), None, "requires y to be passed, but the target y is None"),
        (np.zeros((2, 1)), [0.5, 1.5], "Unknown label type: continuous; got 0.5"),
        (np.zeros((2, 1)), [0.0, np.nan], "Input y contains NaN, infinity or a missing label, first in row 1"),
        (np.zeros((2, 1)), ["a", None], "missing label, first in row 1"),
        (np.zeros((2, 1)), pd.Series(["a", None]), "missing label, first in row 1"),
        (np.zeros((2, 1)), pd.Series(["a", None], dtype="category"), "missing label, first in row 1"),
        (np.zeros((2, 1)), np.array(["a", 1], object), "have no common order"),
        (np.zeros((2, 1)), np.array([[0, 1], [1, 0]]), "y should be a 1d array"),
        ({"a": [1, 2], "b": [1]}, [0, 1], "NaiveBayesClassifier.X: columns differ in length"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], "two columns|'a' names two columns"),
        (pl.LazyFrame({"a": [1, 2]}), [0, 1], "NaiveBayesClassifier.X: the table is lazy"),
        ([[{"a": 1}], ["b"]], [0, 1], "argument must be a string, a bool or a number"),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2020-01-02"])}), [0, 1], "column 'when' is timestamp"),
    ],
)
def test_tables_that_cannot_be_learned_are_refused_in_words(X, y, message):
    with pytest.raises((DataError, ValueError), match=message):
        NaiveBayesClassifier().fit(X, y)


def test_columns_are_known_by_name_and_order():
    classifier = NaiveBayesClassifier().fit(FRUIT, KIND)
    assert classifier.feature_names_in_.tolist() == ["colour", "size", "ripe"]
    assert classifier.n_features_in_ == 3
    for table in (FRUIT[["size", "colour", "ripe"]], pl.DataFrame({"size": [1.0], "colour": ["red"], "ripe": [1]})):
        with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
            classifier.predict(table)
    named = {"colour": ["red"], "size": [1.0], "ripe": [1]}
    swapped = {"size": [1.0], "colour": ["red"], "ripe": [1]}
    assert np.array_equal(classifier.predict_proba(named), classifier.predict_proba(pd.DataFrame(named)))
    for of_dict, table in ((named, swapped), (swapped, named)):
        with pytest.raises(DataError, match="Feature names must be in the same order as they were in fit"):
            NaiveBayesClassifier().fit(of_dict, ["a"]).predict(bnn.Records.from_table(table))
    with pytest.raises(DataError, match=r"Feature names unseen at fit time: \['weight'\]"):
        classifier.predict({"colour": ["red"], "weight": [1.0], "ripe": [1]})
    with pytest.raises(ValueError, match=r"Feature names unseen at fit time"):
        classifier.predict(FRUIT.rename(columns={"size": "weight"}))
    with pytest.raises(ValueError, match="X has 2 features, but NaiveBayesClassifier is expecting 3 features"):
        NaiveBayesClassifier().fit(np.zeros((3, 3)), [0, 1, 1]).predict(np.zeros((1, 2)))
    with pytest.raises(NotFittedError):
        NaiveBayesClassifier().predict(FRUIT)


def test_users_tables_are_never_changed():
    X = np.array([[0, 3], [1, 4], [0, 3]], np.uint8)
    y, weights = np.array([0, 1, 0]), np.array([1.0, 2.0, 0.5])
    copies = [a.copy() for a in (X, y, weights)]
    classifier = NaiveBayesClassifier().fit(X, y, weights)
    classifier.predict_proba(X), classifier.explain(X), classifier.leave_one_out_proba(X, y, weights)
    assert all(np.array_equal(a, b) and a.flags.writeable for a, b in zip((X, y, weights), copies, strict=True))


def test_a_batch_is_its_single_rows_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (9000, 4)).astype(np.int8), rng.integers(0, 11, 9000)
    classifier = NaiveBayesClassifier().fit(X, y)
    with threads.threads(1):
        alone = classifier.predict_proba(X)
    with threads.threads(3):
        together = classifier.predict_proba(X)
    assert np.array_equal(alone, together)
    assert all(np.array_equal(classifier.predict_proba(X[r : r + 1])[0], together[r]) for r in range(0, 9000, 999))
    assert np.allclose(together.sum(axis=1), 1, rtol=1e-14)
    assert np.allclose(np.log(together), classifier.predict_log_proba(X), rtol=1e-9, atol=1e-12)


def test_it_works_inside_scikit_learn():
    records = voting()
    table, y = pd.DataFrame(records.codes[:, :-1]).astype(object), records.codes[:, -1]
    table = table.where(table >= 0, None)
    table.columns = table.columns.astype(str)
    assert (cross_val_predict(NaiveBayesClassifier(), table, y, cv=3) == y).mean() > 0.85
    search = GridSearchCV(NaiveBayesClassifier(), {"m": [0.5, 2.0], "estimate": ["m", "joint"]}, cv=2).fit(table, y)
    assert search.best_params_["m"] in (0.5, 2.0)
    calibrated = CalibratedClassifierCV(NaiveBayesClassifier(), cv=2).fit(table, y)
    assert calibrated.predict_proba(table).shape == (435, 2)
    piped = make_pipeline(FunctionTransformer(), NaiveBayesClassifier()).fit(table, y)
    assert piped.score(table, y) > 0.85
    assert clone(NaiveBayesClassifier(m=3, priors=[0.5, 0.5])).get_params()["m"] == 3


# --- Files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"discretize": {"size": np.array([2.0])}, "priors": {"apple": 0.25, "plum": 0.75}},
        {"estimate": "joint", "m": np.float64(1.5), "fuzzy": "both", "Pr": 0.1},
        {"priors": [0.5, 0.5]},
    ],
)
def test_a_saved_classifier_is_the_same(tmp_path, options):
    classifier = NaiveBayesClassifier(**options).fit(FRUIT, KIND)
    classifier.save(tmp_path / "fruit.safetensors")
    loaded = NaiveBayesClassifier.load(tmp_path / "fruit.safetensors")
    for other in (loaded, pickle.loads(pickle.dumps(classifier))):
        assert np.array_equal(other.predict_proba(FRUIT), classifier.predict_proba(FRUIT))
        assert other.counts_ == classifier.counts_
        assert other.classes_.dtype == classifier.classes_.dtype
        assert other.feature_names_in_.tolist() == ["colour", "size", "ripe"]
        assert other.partial_fit(FRUIT, KIND).counts_.rows == 8
    assert repr(loaded.get_params()["priors"]) == repr(options.get("priors"))


def test_labels_of_any_type_survive_a_file(tmp_path):
    for labels in (np.array([1, 2], np.int8), np.array([True, False]), np.array(["a", "b"], object), [1.0, 2.0]):
        NaiveBayesClassifier().fit([[0], [1]], labels).save(tmp_path / "m")
        loaded = NaiveBayesClassifier.load(tmp_path / "m")
        assert loaded.classes_.dtype == np.asarray(labels).dtype
        assert loaded.predict([[0], [1]]).tolist() == np.asarray(labels).tolist()


def test_other_files_are_refused(tmp_path):
    bnn.Counts.of(bnn.datasets.load("zoo")).save(tmp_path / "counts")
    with pytest.raises(FileError, match="holds counts, not a Bayesian classifier; load it as what it is"):
        NaiveBayesClassifier.load(tmp_path / "counts")
    with pytest.raises(NotFittedError):
        NaiveBayesClassifier().save(tmp_path / "m")
    classifier = NaiveBayesClassifier().fit([[0], [1]], [0, 1]).set_params(priors=range(2))
    with pytest.raises(DataError, match="save: the parameter priors is"):
        classifier.save(tmp_path / "m")


def test_counts_are_what_class_counts_says():
    records = bnn.datasets.load("lymphography")
    classifier = NaiveBayesClassifier().fit(records)
    assert classifier.counts_.joint.sum() == ClassCounts.of(records).joint.sum()


def test_whole_numbers_that_floats_do_not_tell_apart_are_refused():
    classifier, labels = bnn.NaiveBayesClassifier(discretize="categories"), ["a", "b", "c"]
    with pytest.raises(
        DataError, match=r"'x0' holds whole numbers beyond 2\*\*53 .* up to 4611686018427387906; give them"
    ):
        classifier.fit(2**62 + np.arange(3)[:, None], labels)
    apart = 2**62 + 1024 * np.arange(3)[:, None]
    assert classifier.fit(apart, labels).predict(apart).tolist() == labels
