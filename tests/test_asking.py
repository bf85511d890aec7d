"""What to ask next, against enumeration of the joint distribution."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnn
from bnn.classify.asking import what_to_ask
from bnn.errors import DataError

TABLE = {
    "fever": ["no", "low", "high", "high", "low", "no", "high", None],
    "cough": ["yes", "yes", "no", "no", None, "yes", "no", "yes"],
    "age": [3, 3, 4, 4, 3, 4, 3, 3],
}
LABELS = ["flu", "flu", "cold", "flu", "cold", "none", "cold", "none"]


def entropy(chances):
    return -sum(p * np.log2(p) for p in np.ravel(chances) if p > 0)


def enumerated(classifier, case, attribute):
    """H(C | case) - H(C | case, attribute) from every world: a class and one value of each unknown attribute.

    P(world) = P(c) times, over all attributes, P(v | c) = P(v) 2^gain normalised; the case rules worlds out.
    """
    columns = classifier.codebook_.columns
    values = [column.attribute.values for column in columns]
    starts = np.cumsum([0, *map(len, values)])
    counted = classifier.counts_.joint.sum(axis=1)
    prior = np.exp2(classifier.prior())
    joint = {}
    for c, *world in product(range(len(classifier.classes_)), *map(range, map(len, values))):
        if any(given is not None and values[a][world[a]] != given for a, given in enumerate(case)):
            continue
        chance = prior[c]
        for a, v in enumerate(world):
            if case[a] is not None:  # evidence comes in by its gain, as the classifier has it
                chance *= np.exp2(classifier.gains_[starts[a] + v, c])
                continue
            span = slice(starts[a], starts[a + 1])
            weights = counted[span] * np.exp2(classifier.gains_[span, c])
            chance *= weights[v] / weights.sum()
        key = (c, world[attribute])
        joint[key] = joint.get(key, 0.0) + chance
    table = np.zeros((len(prior), len(values[attribute])))
    for (c, v), chance in joint.items():
        table[c, v] = chance
    table /= table.sum()
    known = table.sum(axis=0)
    after = sum(known[v] * entropy(table[:, v] / known[v]) for v in range(len(known)) if known[v] > 0)
    return entropy(table.sum(axis=1)) - after


@pytest.mark.parametrize("estimate", ["m", "neutral", "laplace", "shrinkage"])
@pytest.mark.parametrize("priors", [None, [0.7, 0.2, 0.1]])
@pytest.mark.parametrize("case", [(None, None, None), ("high", None, None), (None, "yes", 4)])
def test_drop_is_that_of_the_joint_distribution(estimate, priors, case):
    classifier = bnn.NaiveBayesClassifier(estimate=estimate, priors=priors).fit(TABLE, LABELS)
    questions = what_to_ask(classifier, {name: [value] for name, value in zip(TABLE, case, strict=True)})
    for a, value in enumerate(case):
        if value is None:
            assert questions.drops[0, a] == pytest.approx(enumerated(classifier, case, a), abs=1e-12)
        else:
            assert np.isnan(questions.drops[0, a])
    assert questions.entropy[0] == pytest.approx(
        entropy(classifier.predict_proba({name: [value] for name, value in zip(TABLE, case, strict=True)}))
    )


@given(st.lists(st.sampled_from([None, "no", "low", "high"]), min_size=1, max_size=4))
def test_drop_is_never_negative_and_never_more_than_there_is(fevers):
    classifier = bnn.NaiveBayesClassifier().fit(TABLE, LABELS)
    rows = {"fever": fevers, "cough": [None] * len(fevers), "age": [None] * len(fevers)}
    questions = what_to_ask(classifier, rows)
    drops = questions.drops[~np.isnan(questions.drops)]
    assert (drops >= 0).all()
    assert (np.nan_to_num(questions.drops) <= questions.entropy[:, None] + 1e-12).all()


def test_an_attribute_that_tells_the_class_takes_all_entropy():
    classifier = bnn.NaiveBayesClassifier(m=0.0).fit({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, [0, 0, 1, 1])
    questions = what_to_ask(classifier, {"a": [None], "b": [None]})
    assert questions.ranked() == [("a", 1.0), ("b", 0.0)]


def test_a_value_never_learned_leaves_its_attribute_to_ask():
    classifier = bnn.NaiveBayesClassifier().fit(TABLE, LABELS)
    with pytest.warns(bnn.BnnWarning, match="never learned"):
        questions = what_to_ask(classifier, {"fever": ["odd"], "cough": ["yes"], "age": [3]})
    assert [name for name, _ in questions.ranked()] == ["fever"]


def test_other_classifiers_are_refused():
    tree = bnn.TreeBayesClassifier().fit(TABLE, LABELS)
    with pytest.raises(DataError, match=r"what_to_ask\.classifier: got TreeBayesClassifier"):
        what_to_ask(tree, {name: [None] for name in TABLE})
