import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import unchecked
from test_class_counts import targeted

import bnn
from bnn import NaiveBayesClassifier
from bnn.classify.explanation import standard_errors
from bnn.classify.gains import GAINS
from bnn.errors import BnnWarning, DataError

ANIMALS = pd.DataFrame({"legs": [2, 2, 4, 4, None], "hair": ["no", "no", "yes", None, "yes"]})
KINDS = ["bird", "bird", "mammal", "mammal", "mammal"]


@given(targeted(), st.sampled_from(sorted(GAINS)))
def test_nothing_is_left_over(records, estimate):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BnnWarning)
        classifier = NaiveBayesClassifier(estimate).fit(records)
        told, expected = classifier.explain(records), classifier.predict_log2_proba(records)
    excluded = np.isneginf(expected)
    assert np.array_equal(np.isneginf(told.log2_probabilities), excluded)
    assert np.allclose(told.log2_probabilities[~excluded], expected[~excluded], atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    "options",
    [{}, {"fuzzy": "learning"}, {"fuzzy": "classification"}, {"fuzzy": "both", "Pr": 0.3}, {"priors": [0.1, 0.2, 0.7]}],
)
def test_nothing_is_left_over_with_numbers_gaps_and_unseen_values(options):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["u", "v", None], 90)})
    X.loc[::7, "a"] = np.nan
    classifier = NaiveBayesClassifier(**options).fit(X, rng.integers(0, 3, 90))
    told = classifier.explain(X)
    assert np.allclose(told.log2_probabilities, np.log2(classifier.predict_proba(X)), atol=1e-9, rtol=0)
    assert not told.gains[X["a"].isna(), 0].any()
    assert not told.cases[X["b"].isna(), 1].any()
    assert not told.errors[X["b"].isna(), 1].any()


def test_by_hand():
    told = NaiveBayesClassifier().fit(ANIMALS, KINDS).explain(ANIMALS[:1])
    # P(bird) = (2 + 1)/(5 + 2) = 3/7; 2 legs: (2 + 2 * 3/7)/(2 + 2) = 5/7 over 3/7; no hair the same
    prior, gain = (Fraction(3, 7), Fraction(4, 7)), (Fraction(5, 3), Fraction(1, 2))
    assert told.classes.tolist() == ["bird", "mammal"]
    assert np.exp2(told.prior) == pytest.approx([float(p) for p in prior])
    assert told.information == pytest.approx(-np.log2([float(p) for p in prior]))
    assert told.terms == ("legs", "hair")
    assert told.values.tolist() == [[2, "no"]]
    assert np.exp2(told.gains[0]) == pytest.approx(np.array([[float(g) for g in gain]] * 2))
    assert told.cases.tolist() == [[2, 2]]
    z = sum(p * g * g for p, g in zip(prior, gain, strict=True))
    assert told.normaliser[0] == pytest.approx(np.log2(float(z)))
    assert np.exp2(told.log2_probabilities)[0, 0] == pytest.approx(float(prior[0] * gain[0] ** 2 / z))


def test_errors_shrink_with_cases():
    # p = 5/7 of 2 cases and m = 2: (1/ln 2) sqrt((2/7)/(5/7)/5)
    told = NaiveBayesClassifier().fit(ANIMALS, KINDS).explain(ANIMALS[:1])
    assert told.errors[0, 0, 0] == pytest.approx(np.sqrt(2 / 5 / 5) / np.log(2))
    prior, gain = np.array([-1.0]), np.zeros((2, 1))
    few, many = standard_errors(prior, gain, np.array([1.0, 100.0]), 2.0)[:, 0]
    assert few > many > 0
    # the posterior whose mean is the m-estimate is a Beta distribution of variance p (1 - p)/(n + m + 1)
    draws = np.random.default_rng(0).beta(0.5 * 102, 0.5 * 102, 20_000)
    assert many == pytest.approx(np.log2(draws).std(), rel=0.05)


def test_a_frame_of_parts_adds_up():
    classifier = NaiveBayesClassifier().fit(ANIMALS, KINDS)
    told = classifier.explain(ANIMALS)
    frame = told.to_frame("pandas")
    assert list(frame.columns) == ["row", "class", "term", "value", "cases", "gain", "error"]
    sums = frame.groupby(["row", "class"])["gain"].sum().unstack()
    assert np.allclose(np.exp2(sums), classifier.predict_proba(ANIMALS))
    line = frame[(frame.row == 4) & (frame["class"] == "bird") & (frame.term == "legs")].iloc[0]
    assert line["gain"] == 0
    assert pd.isna(line["value"])
    assert frame[frame.term == "prior"].cases.isna().all()
    assert told.to_frame().num_rows == len(told.to_frame("polars")) == 5 * 2 * 4
    with pytest.raises(DataError, match=r"Explanation.to_frame.backend: there is no 'dask'"):
        told.to_frame("dask")


def test_coded_values_can_be_given_readable_labels():
    classifier = NaiveBayesClassifier().fit(ANIMALS, KINDS)
    labels = {"hair": {"no": "hairless"}}
    told = classifier.explain(ANIMALS, labels)
    assert told.values[:, 1].tolist() == ["hairless", "hairless", "yes", None, "yes"]
    assert classifier.explain(ANIMALS).values[0, 1] == "no"
    with pytest.raises(DataError, match=r"Explanation.with_labels: there is no 'hiar'; did you mean 'hair'"):
        classifier.explain(ANIMALS, {"hiar": {}})
    with unchecked(), pytest.raises(DataError, match=r"the labels of 'hair' are 5; give a dict by value"):
        classifier.explain(ANIMALS, {"hair": 5})


def test_numbers_show_their_interval():
    X = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.5]})
    told = NaiveBayesClassifier(discretize={"age": [25, 45]}).fit(X, [0, 1, 1, 0]).explain(X)
    assert told.values[:, 0].tolist() == ["< 25", "25 to 45", "25 to 45", ">= 45"]
    assert told.cases[:, 0].tolist() == [1, 2, 2, 1]


def test_an_explanation_cannot_be_changed():
    told = NaiveBayesClassifier().fit(ANIMALS, KINDS).explain(ANIMALS)
    for name in ("prior", "gains", "cases", "errors", "normaliser", "values"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(told, name)[0] = 0
    with pytest.raises(AttributeError):
        told.terms = ()
    assert len(told) == 5


def test_real_votes_explain_themselves():
    votes = bnn.datasets.load("house-votes-84")
    classifier = NaiveBayesClassifier("neutral").fit(votes)
    told = classifier.explain(votes)
    assert (
        told.log2_probabilities.argmax(axis=1) == np.searchsorted(classifier.classes_, classifier.predict(votes))
    ).all()
    strongest = np.abs(told.gains).max(axis=(0, 2))
    assert told.terms[int(strongest.argmax())] == "physician-fee-freeze"
