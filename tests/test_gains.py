import math
from fractions import Fraction

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from test_class_counts import targeted

import bnn
from bnn.classify.class_counts import ClassCounts
from bnn.classify.gains import GAINS, Cells, chosen_gains, gain_table, given_priors, prior_bits
from bnn.errors import DataError
from bnn.records import Records


def table(records, estimate, m=2.0):
    """log2 priors and gains."""
    cells = Cells.of(ClassCounts.of(records))
    chosen = GAINS[estimate]
    return prior_bits(chosen.prior(cells)), gain_table(cells, chosen, m)


# 4 mammals and 2 birds; 2 legs: one mammal, two birds; 4 legs: 2 mammals; one mammal's legs are unknown
ANIMALS = Records.from_table({"legs": [2, 4, 4, None, 2, 2], "class": ["mammal"] * 4 + ["bird"] * 2}, target="class")
LAPLACE = (Fraction(3, 8), Fraction(5, 8))  # birds (2 + 1)/(6 + 2), mammals (4 + 1)/(6 + 2)


@pytest.mark.parametrize(
    ("estimate", "two_legs"),
    [
        # P(bird | 2) = (2 + 2 * 3/8)/(3 + 2) = 11/20; over 3/8
        ("m", (Fraction(11, 20) / LAPLACE[0], Fraction(9, 20) / LAPLACE[1])),
        # among the 5 with legs known: birds 2/5, mammals 3/5; (2 + 4/5)/5 = 14/25 over 2/5
        ("neutral", (Fraction(14, 25) / Fraction(2, 5), Fraction(11, 25) / Fraction(3, 5))),
        # R = 2/(2/5 * 3/5) = 25/3, (25/3 + 2)/(5 + 2) = 31/21; R = 1/(3/5 * 3/5) = 25/9, (25/9 + 2)/7 = 43/63
        ("joint", (Fraction(31, 21), Fraction(43, 63))),
        # 2/3 over 2/5, 1/3 over 3/5
        ("relative", (Fraction(5, 3), Fraction(5, 9))),
        # P(2 | bird) = 3/4, P(2 | mammal) = 2/5, P(2) = 3/8 * 3/4 + 5/8 * 2/5 = 17/32
        ("laplace", (Fraction(3, 4) / Fraction(17, 32), Fraction(2, 5) / Fraction(17, 32))),
        # P(2 | bird) = 5/6, P(2 | mammal) = (1 + 1/2)/(3 + 1) = 3/8, P(2) = 3/8 * 5/6 + 5/8 * 3/8 = 35/64
        ("shrinkage", (Fraction(5, 6) / Fraction(35, 64), Fraction(3, 8) / Fraction(35, 64))),
    ],
)
def test_by_hand(estimate, two_legs):
    prior, gain = table(ANIMALS, estimate)
    expected = (Fraction(1, 3), Fraction(2, 3)) if estimate == "relative" else LAPLACE
    assert np.exp2(prior) == pytest.approx([float(p) for p in expected], rel=1e-14)
    assert np.exp2(gain[0]) == pytest.approx([float(g) for g in two_legs], rel=1e-14)


@pytest.mark.parametrize("estimate", sorted(GAINS))
@given(targeted())
def test_they_are_the_fractions_of_their_definitions(estimate, records):
    rows = [[None if c < 0 else c for c in codes[:-1]] for codes in records.codes.tolist()]
    sizes = records.schema.sizes
    with np.errstate(divide="ignore"):
        prior, gains = oracles.naive_gains(rows, records.codes[:, -1].tolist(), sizes[-1], sizes[:-1], estimate)
        found_prior, found = table(records, estimate)
        flat = [[float(g) for g in gain] for values in gains for gain in values]
        assert np.allclose(np.exp2(found), np.array(flat).reshape(found.shape), rtol=1e-12, atol=1e-15)
        assert np.allclose(np.exp2(found_prior), [float(p) for p in prior], rtol=1e-14)


def test_only_neutral_and_its_kind_give_an_attribute_that_says_nothing_a_gain_of_exactly_zero():
    # 3 values x 3 classes in proportion 1:2:3 by 5:7:1, so that thirds and sevenths would show any rounding
    rows = [(v, c) for v in range(3) for c in range(3) for _ in range((1, 2, 3)[v] * (5, 7, 1)[c])]
    records = Records.from_table({"x": [v for v, _ in rows], "class": [c for _, c in rows]}, target="class")
    for estimate in ("neutral", "joint", "relative"):
        assert not table(records, estimate)[1].any()
    assert table(records, "m")[1].any()


def test_a_value_never_seen_and_an_attribute_never_known_say_nothing():
    schema = bnn.Schema(
        (bnn.Attribute("x", ("a", "b")), bnn.Attribute("y", ("c",)), bnn.Attribute("k", ("p", "q"))), "k"
    )
    records = Records(np.array([[0, -1, 0], [0, -1, 1], [0, -1, 1]]), schema)
    for estimate in GAINS:
        assert not table(records, estimate)[1][1:].any()


def test_without_smoothing_what_never_came_together_is_excluded():
    assert table(ANIMALS, "relative")[1][1].tolist() == [-math.inf, math.log2(5 / 3)]
    assert np.array_equal(table(ANIMALS, "joint", m=0.0)[1], table(ANIMALS, "relative")[1])


@given(targeted(weights=True), st.sampled_from(sorted(GAINS)))
def test_weights_are_repetitions(records, estimate):
    repeated = records[np.repeat(np.arange(records.rows), np.rint(records.weights * 8).astype(int))]
    if not repeated.rows or estimate not in ("neutral", "joint", "m"):
        return
    # eighths of a record: the counts are 8 times as large, so m must be
    found = gain_table(Cells.of(ClassCounts.of(records)), GAINS["neutral"], 2.0)
    assert np.allclose(found, table(Records(repeated.codes, repeated.schema), "neutral", 16.0)[1], rtol=1e-12)


def test_laplace_on_the_class_given_a_value_is_not_offered():
    assert "laplace-class" not in GAINS
    # 100 rows of classes 60/39/1, ten attributes of two values that say nothing: the 1 % class stays rare
    classes = [0] * 60 + [1] * 39 + [2]
    columns = {f"x{a}": (np.random.default_rng(a).permutation(100) % 2).tolist() for a in range(10)}
    records = Records.from_table({**columns, "class": classes}, target="class")
    for estimate in GAINS:
        prior, gain = table(records, estimate)
        chosen = gain.reshape(10, 2, 3)[:, 0].sum(axis=0) + prior
        share = np.exp2(chosen - np.logaddexp2.reduce(chosen))
        assert share[2] < 0.2


def test_names_and_priors_are_checked():
    with pytest.raises(
        DataError, match=r"NaiveBayesClassifier.estimate: there is no 'shrink'; did you mean 'shrinkage'"
    ):
        chosen_gains("shrink", "NaiveBayesClassifier")
    classes = np.array(["a", "b"])
    assert given_priors({"b": 0.25, "a": 0.75}, classes, "N").tolist() == [0.75, 0.25]
    for priors, message in [
        ([0.5], r"N.priors: got shape \(1,\) for 2 classes"),
        ([0.5, 0.6], r"N.priors: got \[0.5, 0.6\]; probabilities are at least 0 and add up to 1"),
        ([-0.5, 1.5], "probabilities are at least 0"),
        ({"a": 1.0}, "N.priors: class 'b' has none"),
        ({"a": 1.0, "c": 0.0}, "N.priors: there is no 'c'"),
        ("half", "N.priors: got 'half'; give one probability a class"),
    ]:
        with pytest.raises(DataError, match=message):
            given_priors(priors, classes, "N")


@given(strategies.records(weights=False))
def test_cells_without_a_record_are_the_cells_of_the_others(records):
    classes = (np.arange(records.rows) % 2).astype(np.int32)
    target = bnn.Attribute("class", (0, 1))
    cells = Cells.of(ClassCounts.of(records, target, classes))
    left = Cells.of(ClassCounts.of(records[1:], target, classes[1:]))
    without = cells.without(0, 1.0)
    start = np.cumsum((0, *records.schema.sizes))
    for a, code in enumerate(records.codes[0].tolist()):
        if code >= 0:
            here = start[a] + code
            assert without.joint[here].tolist() == left.joint[here].tolist()
            assert without.known[here].tolist() == left.known[here].tolist()
    assert without.totals.tolist() == left.totals.tolist()
