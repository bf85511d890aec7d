import pickle
from fractions import Fraction

import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_class_counts import targeted
from test_naive import quietly

import bnn
from bnn import NaiveBayesClassifier, SemiNaiveBayesClassifier
from bnn.errors import BnnWarning, DataError, FileError, IdentifierWarning, UnseenValueWarning
from bnn.kernels import threads
from bnn.kernels.within import Listing, count_within

XOR = pd.DataFrame({"a": list("0011") * 5, "b": list("0101") * 5})
ODD = ["even", "odd", "odd", "even"] * 5


def parity(seed, rows=200):
    """THEORY's artificial data [S 4]: parity of two attributes, five random, five informative ones, 5 % noise."""
    rng = np.random.default_rng(seed)
    pair = (rng.random((rows, 2)) < 0.4).astype(int)
    truth = pair.sum(axis=1) % 2
    informative = np.where(rng.random((rows, 5)) < 0.56, truth[:, None], 1 - truth[:, None])
    X = np.hstack([pair, rng.integers(0, 2, (rows, 5)), informative])
    return X, np.where(rng.random(rows) < 0.05, 1 - truth, truth)


def plain(records):
    """Rows with None where missing, and positions of the classes that occur."""
    rows = [[None if c < 0 else c for c in codes[:-1]] for codes in records.codes.tolist()]
    return rows, np.unique(records.codes[:, -1], return_inverse=True)[1].tolist()


@parametrize_with_checks([SemiNaiveBayesClassifier(), SemiNaiveBayesClassifier(max_order=2, threshold=0.9, m=1)])
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@given(targeted(), st.sampled_from([2, 3]), st.sampled_from([Fraction(1, 4), Fraction(1, 2)]))
def test_joins_are_those_of_the_definition(records, max_order, threshold):
    rows, classes = plain(records)
    k = max(classes) + 1
    expected, tests = oracles.semi_naive_joins(rows, classes, k, max_order, threshold)
    classifier = SemiNaiveBayesClassifier(max_order, float(threshold)).fit(records)
    schema = classifier.codebook_.schema
    found = {
        tuple((schema.index(a), schema[a].code(v)) for a, v in zip(j.attributes, j.values, strict=True)): j
        for j in classifier.joins_
    }
    assert set(found) == set(expected)
    assert [len(j) for j in found] == sorted((len(j) for j in found), reverse=True)
    assert classifier.tests_ == tests
    for members, (n, eps) in expected.items():
        assert found[members].n == n
        assert found[members].reliability > threshold
        # several ways to a join of three may be equally reliable, by different eps only if n differs
        assert found[members].eps == pytest.approx(float(eps), rel=1e-9)


@given(targeted())
def test_probabilities_are_the_fractions_of_the_formula(records):
    rows, classes = plain(records)
    k = max(classes) + 1
    classifier = SemiNaiveBayesClassifier().fit(records)
    schema = classifier.codebook_.schema
    joins = [
        tuple((schema.index(a), schema[a].code(v)) for a, v in zip(j.attributes, j.values, strict=True))
        for j in classifier.joins_
    ]
    expected = [[float(p) for p in oracles.semi_naive_posterior(row, rows, classes, k, joins)] for row in rows]
    assert np.allclose(classifier.predict_proba(records), expected, rtol=1e-9, atol=1e-12)


def test_xor_by_hand():
    classifier = SemiNaiveBayesClassifier().fit(XOR, ODD)
    # P(C) = P(C|v) = 1/2; P(odd|0,0) = 0: eps = 1/2 |1 - 1/2| + 1/2 |0 - 1/2| = 1/2; n = 5: 1 - 1/(4 * 1/4 * 5) = 4/5
    assert [str(join) for join in classifier.joins_] == [
        "a=0 & b=0, n = 5, eps = 0.50",
        "a=0 & b=1, n = 5, eps = 0.50",
        "a=1 & b=0, n = 5, eps = 0.50",
        "a=1 & b=1, n = 5, eps = 0.50",
    ]
    assert {join.reliability for join in classifier.joins_} == {0.8}
    assert classifier.tests_ == 4
    # P(even|0,0) = (5 + 2/2)/(5 + 2)
    assert classifier.predict_proba(XOR[:1])[0] == pytest.approx([6 / 7, 1 / 7], rel=1e-14)
    assert classifier.predict_proba(pd.DataFrame({"a": ["0"], "b": [None]}))[0] == pytest.approx([0.5, 0.5])
    assert NaiveBayesClassifier().fit(XOR, ODD).score(XOR, ODD) == 0.5


def test_two_rows_of_one_class_in_balanced_data_tie_at_one_half_and_are_not_joined():
    # n = 2, eps = 1/2: 1 - 1/(4 * 1/4 * 2) = 1/2, not greater
    assert SemiNaiveBayesClassifier().fit(XOR[:8], ODD[:8]).joins_ == ()
    assert len(SemiNaiveBayesClassifier(threshold=0.499).fit(XOR[:8], ODD[:8]).joins_) == 4
    assert len(SemiNaiveBayesClassifier().fit(XOR[:12], ODD[:12]).joins_) == 4


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_the_parity_and_says_so(seed):
    X, y = parity(seed)
    classifier = SemiNaiveBayesClassifier().fit(X[:140], y[:140])
    assert {j.name for j in classifier.joins_} >= {f"x0={a} & x1={b}" for a in (0, 1) for b in (0, 1)}
    naive = NaiveBayesClassifier().fit(X[:140], y[:140])
    assert classifier.score(X[140:], y[140:]) > max(0.8, naive.score(X[140:], y[140:]))


def test_what_three_values_say_together_needs_joins_of_three():
    X = np.repeat([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], 10, axis=0)
    y = (X[:, 1] == X[:, 2]) & (X[:, 0] != X[:, 1])  # 011 and 100
    assert SemiNaiveBayesClassifier(max_order=2).fit(X, y).score(X, y) == 0.75
    found = SemiNaiveBayesClassifier().fit(X, y)
    assert len(found.joins_[0].attributes) == 3
    assert found.score(X, y) == 1.0
    # of a parity no pair tells anything, so that nothing is joined, and nothing joined again
    assert SemiNaiveBayesClassifier().fit(X, X.sum(axis=1) % 2).joins_ == ()


@given(targeted(weights=True))
def test_order_one_is_naive_bayes(records):
    records = bnn.Records(records.codes, records.schema, np.maximum(records.weights, 0.125))
    naive, semi = NaiveBayesClassifier().fit(records), SemiNaiveBayesClassifier(max_order=1).fit(records)
    assert semi.joins_ == ()
    assert semi.tests_ == 0
    assert np.array_equal(naive.predict_proba(records), semi.predict_proba(records))


@given(targeted(), st.randoms(use_true_random=False))
def test_weights_are_repetitions_and_the_order_of_rows_says_nothing(records, random):
    weights = np.array([random.choice([1, 2, 3]) for _ in range(records.rows)])
    many = np.repeat(np.arange(records.rows), weights)
    random.shuffle(many)
    weighted = SemiNaiveBayesClassifier().fit(bnn.Records(records.codes, records.schema, weights))
    repeated = SemiNaiveBayesClassifier().fit(records[many])
    assert weighted.joins_ == repeated.joins_
    assert weighted.tests_ == repeated.tests_
    assert np.allclose(weighted.predict_proba(records), repeated.predict_proba(records), rtol=1e-12)


@given(targeted())
def test_explanations_add_up_and_name_joins_as_one_term(records):
    classifier = SemiNaiveBayesClassifier(threshold=0.3).fit(records)
    told = classifier.explain(records)
    assert np.allclose(told.log2_probabilities, classifier.predict_log2_proba(records), rtol=0, atol=1e-9)
    names = classifier.codebook_.schema.names
    assert told.terms[: len(names)] == names
    used = {j for j, v in zip(told.terms[len(names) :], told.values.T[len(names) :], strict=True) if any(v != None)}  # noqa: E711
    assert used == set(told.terms[len(names) :]) <= {" & ".join(j.attributes) for j in classifier.joins_}


def test_a_joined_value_is_one_term():
    classifier = SemiNaiveBayesClassifier().fit(XOR, ODD)
    told = classifier.explain(pd.DataFrame({"a": ["0", "1"], "b": ["1", None]}))
    assert told.terms == ("a", "b", "a & b")
    assert told.values.tolist() == [[None, None, "0 & 1"], ["1", None, None]]
    assert told.gains[0, 2] == pytest.approx(np.log2([2 / 7, 12 / 7]))
    assert told.cases.tolist() == [[0, 0, 5], [10, 0, 0]]
    assert classifier.explain(XOR[:1], {"a & b": {"0 & 0": "neither"}}).values[0, 2] == "neither"


def test_missing_and_unseen_values_are_no_evidence():
    table = XOR.assign(c=[None, "u", "v", None] * 5)
    classifier = SemiNaiveBayesClassifier().fit(table, ODD)
    with pytest.warns(UnseenValueWarning, match=r"SemiNaiveBayesClassifier.X: .*'c' 1 \(such as 'w'\)"):
        found = classifier.predict_proba(pd.DataFrame({"a": ["0"], "b": ["1"], "c": ["w"]}))
    gap = classifier.predict_proba(pd.DataFrame({"a": ["0"], "b": ["1"], "c": [None]}))
    assert np.array_equal(found, gap)


def test_odd_tables():
    one = SemiNaiveBayesClassifier().fit(XOR, ["only"] * 20)
    assert one.predict_proba(XOR).tolist() == [[1.0]] * 20
    assert one.joins_ == ()
    table = XOR.assign(constant="c", unknown=[None] * 20, id=[f"row {r}" for r in range(20)])
    with pytest.warns(IdentifierWarning, match="every value of column 'id' occurs once"):
        classifier = SemiNaiveBayesClassifier().fit(table, ODD)
    assert classifier.score(table, ODD) == 1.0
    new = table.assign(id=[f"other {r}" for r in range(20)])
    assert quietly(classifier.score, new, ODD) == 1.0
    assert classifier.predict_proba(table[:0]).shape == (0, 2)
    nothing = SemiNaiveBayesClassifier().fit(table[["unknown"]], ODD)
    assert nothing.predict_proba(table[["unknown"]][:1])[0] == pytest.approx([0.5, 0.5])


def test_ten_thousand_values_in_one_attribute():
    values = np.arange(30_000) % 10_000
    table, y = pd.DataFrame({"x": [f"v{v}" for v in values], "z": values % 2}), values % 3
    classifier = SemiNaiveBayesClassifier().fit(table, y)
    assert classifier.score(table, y) == 1.0
    assert classifier.tests_ == 10_000


def test_counting_within_is_the_same_on_any_number_of_threads_and_in_chunks(monkeypatch):
    rng = np.random.default_rng(0)
    codes, classes = rng.integers(-1, 7, (700, 20)).astype(np.int8), rng.integers(0, 3, 700).astype(np.int32)
    sizes = np.full(20, 7)
    X, y = np.where(codes < 0, np.nan, codes), classes
    with threads.threads(1):
        alone = SemiNaiveBayesClassifier().fit(X, y)
    with threads.threads(3):
        together = SemiNaiveBayesClassifier().fit(X, y)
    assert alone.joins_ == together.joins_
    assert len(alone.joins_) > 100
    monkeypatch.setattr("bnn.kernels.within.MEMORY", 1)
    assert SemiNaiveBayesClassifier().fit(X, y).joins_ == alone.joins_
    assert np.array_equal(alone.predict_proba(X), together.predict_proba(X))
    items, every = np.array([[0, 8], [13, 15]]), np.ones((1, 3), bool)
    plainly = count_within(Listing.of(codes, sizes, classes, 3), items, every)
    weighted = count_within(Listing.of(codes, sizes, classes, 3, np.full(700, 2)), items, every)
    assert np.array_equal(2 * plainly, weighted)
    one = (codes[:, 0] == 0) & (codes[:, 1] == 1)
    assert plainly[1, 0, 2 * 7 + 3] == np.count_nonzero(one & (codes[:, 2] == 3) & (classes == 1))


@pytest.mark.parametrize("memory", [1, 1 << 22])
def test_of_very_many_joins_the_most_reliable_are_kept(monkeypatch, memory):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (400, 24)), rng.integers(0, 2, 400)
    options = {"max_order": 2, "threshold": 0.1}
    every = SemiNaiveBayesClassifier(**options).fit(X, y)
    assert len(every.joins_) > 400
    monkeypatch.setattr("bnn.classify.joins.MOST", 9)
    monkeypatch.setattr("bnn.kernels.within.MEMORY", memory)
    with pytest.warns(BnnWarning, match="more than 9 joins of 2 values pass the test; only the most reliable are kept"):
        some = SemiNaiveBayesClassifier(**options).fit(X, y)
    assert some.joins_ == every.joins_[:9]
    assert some.tests_ == every.tests_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_order": 0}, "SemiNaiveBayesClassifier.max_order: got 0; give a whole number of at least 1"),
        ({"max_order": 2.5}, "max_order: got 2.5"),
        ({"threshold": 0}, "SemiNaiveBayesClassifier.threshold: got 0; give a number above 0 and at most 1"),
        ({"threshold": "a"}, "threshold: got 'a'"),
        ({"m": 0}, r"SemiNaiveBayesClassifier.m: got 0; give a number above 0\."),
        ({"discretize": "auot"}, "did you mean 'auto'"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        SemiNaiveBayesClassifier(**options).fit(XOR, ODD)


def test_a_saved_classifier_is_the_same(tmp_path):
    table = XOR.assign(n=np.linspace(0, 1, 20))
    classifier = SemiNaiveBayesClassifier(discretize={"n": np.array([0.5])}).fit(table, ODD, np.linspace(0.5, 2, 20))
    classifier.save(tmp_path / "m")
    for other in (SemiNaiveBayesClassifier.load(tmp_path / "m"), pickle.loads(pickle.dumps(classifier))):
        assert other.joins_ == classifier.joins_
        assert other.tests_ == classifier.tests_
        assert np.array_equal(other.predict_proba(table), classifier.predict_proba(table))
        assert other.feature_names_in_.tolist() == ["a", "b", "n"]
    assert repr(clone(SemiNaiveBayesClassifier.load(tmp_path / "m")).get_params()["discretize"]) == "{'n': [0.5]}"
    with pytest.raises(FileError, match="holds a SemiNaiveBayesClassifier, not a TreeBayesClassifier; load it as"):
        bnn.TreeBayesClassifier.load(tmp_path / "m")
