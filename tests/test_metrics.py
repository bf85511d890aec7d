from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss as nats

import bnn
from bnn import metrics
from bnn.errors import BnnError, DataError

AB = ["a", "b"]


@st.composite
def answered(draw):
    """True labels, answers and a prior for two to five classes."""
    classes = [f"c{i}" for i in range(draw(st.integers(2, 5)))]
    y = draw(st.lists(st.sampled_from(classes), min_size=1, max_size=12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.dirichlet(np.full(len(classes), 0.3), len(y))
    return y, table, rng.dirichlet(np.ones(len(classes))) * 0.98 + 0.02 / len(classes), classes


# ---- information score


@pytest.mark.parametrize(
    ("answer", "prior", "bits"),
    [(1, 0.5, 1), (0, 0.5, -1), (0.9, 0.3, 1.58496), (0.1, 0.3, -0.36257), (0, 0.99, -6.64386), (0.3, 0.3, 0.0)],
)
def test_values_worked_out_by_hand(answer, prior, bits):
    score = metrics.information_score(["a"], [[answer, 1 - answer]], [prior, 1 - prior], classes=AB)
    assert score == pytest.approx(bits, abs=5e-6)


def test_rows_and_their_average():
    # prior 1/4: certain and right log2(4) = 2; 1/2 given a prior of 3/4: -(log2 4 - log2 2) = -1; 3/4 given 3/4: 0
    y, table = ["a", "b", "b"], [[1, 0], [0.5, 0.5], [0.25, 0.75]]
    scores = metrics.information_scores(y, table, [0.25, 0.75], classes=AB)
    assert scores.tolist() == [2.0, -1.0, 0.0]
    assert metrics.information_score(y, table, [0.25, 0.75], classes=AB) == pytest.approx(1 / 3)


def test_weka_printed_the_same():
    # WEKA, IBk with k = 1 on iris (120 rows to train, 30 to test; output kept in the README of
    # github.com/bpdot/wekaSample): order 0 48.56 bits, K&B 39.24 bits, relative 80.8071 %, scheme 28.385 bits, 26 of 30
    # right. IBk adds 1/120 to each class, so it answers (1 + 1/120)/(1 + 3/120) where right, (1/120)/(1 + 3/120) else.
    # Training rows 37, 39, 44 of the classes are the only ones that give the order 0; the errors are in the second.
    trained, tested, wrong = np.array([37, 39, 44]), [13, 11, 6], [0, 4, 0]
    classes = ["x", "y", "z"]
    prior = metrics.laplace_prior(np.repeat(classes, trained), classes)
    y, table = [], []
    for c, (rows, errors) in enumerate(zip(tested, wrong, strict=True)):
        for row in range(rows):
            answer = np.full(3, 1 / 120)
            answer[(c + 1) % 3 if row < errors else c] += 1
            y.append(classes[c])
            table.append(answer / answer.sum())
    order0 = -np.log2(prior[np.searchsorted(classes, y)]).sum()
    score = metrics.information_score(y, table, prior, classes)
    assert round(order0, 4) == 48.56
    assert round(30 * score, 4) == 39.24
    assert round(100 * 30 * score / order0, 4) == 80.8071  # WEKA's denominator, not the entropy of the priors
    assert round(30 * metrics.log_loss(y, table, classes, floor=0), 4) == 28.385
    assert metrics.accuracy(y, table, classes) == 26 / 30


@given(answered())
def test_always_finite_and_the_prior_earns_nothing(given_):
    y, table, prior, classes = given_
    certain = np.eye(len(classes))[table.argmax(axis=1)]
    for answer in (table, certain):
        assert np.isfinite(metrics.information_scores(y, answer, prior, classes)).all()
    assert (metrics.information_scores(y, np.tile(prior, (len(y), 1)), prior, classes) == 0).all()


@given(answered(), st.randoms(use_true_random=False))
def test_names_and_order_of_the_classes_do_not_matter(given_, random):
    y, table, prior, classes = given_
    order = list(range(len(classes)))
    random.shuffle(order)
    renamed = dict(zip(classes, range(len(classes)), strict=True))
    told = [renamed[classes[i]] for i in order]
    again = metrics.information_score([renamed[label] for label in y], table[:, order], prior[order], told)
    assert again == pytest.approx(metrics.information_score(y, table, prior, classes))


@given(answered())
def test_more_for_the_true_class_never_earns_less(given_):
    y, table, prior, classes = given_
    truth = np.eye(len(classes))[[classes.index(label) for label in y]]
    before = metrics.information_scores(y, table, prior, classes)
    assert (metrics.information_scores(y, (table + truth) / 2, prior, classes) >= before - 1e-9).all()


def test_it_is_no_proper_score():
    # the majority of 90 % with certainty: 0.9 * log2(1/0.9) - 0.1 * log2(1/0.9) > 0, while the prior itself earns 0
    y, sure = ["a"] * 9 + ["b"], [[1.0, 0.0]] * 10
    assert metrics.information_score(y, sure, [0.9, 0.1], AB) == pytest.approx(0.8 * log2(1 / 0.9))
    assert metrics.log_loss(y, sure, AB) > metrics.log_loss(y, [[0.9, 0.1]] * 10, AB)


def test_relative_score_is_per_cent_of_the_entropy():
    prior = [0.25, 0.75]
    entropy = 0.25 * 2 + 0.75 * log2(4 / 3)
    table = [[1, 0], [0.5, 0.5], [0.25, 0.75]]
    assert metrics.relative_information_score(["a", "b", "b"], table, prior, AB) == pytest.approx(100 / 3 / entropy)
    # right and certain, classes as the priors say
    sure = [[1, 0], [0, 1], [0, 1], [0, 1]]
    assert metrics.relative_information_score(["a", "b", "b", "b"], sure, prior, AB) == pytest.approx(100)


# ---- priors, log loss, accuracy


def test_laplace_prior_of_a_class_without_rows():
    assert metrics.laplace_prior([3, 1, 3], [1, 2, 3]) == pytest.approx([2 / 6, 1 / 6, 3 / 6])


@given(answered())
def test_log_loss_is_scikit_learns_in_bits(given_):
    y, table, _, classes = given_
    table = (table + 1e-3) / (table + 1e-3).sum(axis=1, keepdims=True)
    codes = [classes.index(label) for label in y]
    expected = nats(codes, table, labels=list(range(len(classes)))) / np.log(2)
    assert metrics.log_loss(y, table, classes) == pytest.approx(expected)


def test_floor_of_the_log_loss():
    table = [[0.0, 1.0], [0.5, 0.5]]
    assert metrics.log_loss(AB, table, AB, floor=2**-9) == (9 + 1) / 2
    assert metrics.log_loss(AB, table, AB) == pytest.approx((log2(1e6) + 1) / 2)
    assert metrics.log_loss(AB, table, AB, floor=0) == np.inf
    assert str(metrics.log_loss(AB, np.eye(2), AB)) == "0.0"
    with pytest.raises(DataError, match=r"log_loss.floor: got 1; needed is a small probability, from 0 to below 1"):
        metrics.log_loss(AB, table, AB, floor=1)


def test_accuracy_takes_the_first_of_equals():
    assert metrics.accuracy(["a", "a", "b"], [[0.5, 0.5], [0.2, 0.8], [0.5, 0.5]], AB) == pytest.approx(1 / 3)


def test_float32_rows_sum_to_one():
    table = np.random.default_rng(0).dirichlet(np.ones(22), 500).astype(np.float32)
    assert metrics.log_loss(np.zeros(500, int), table, range(22)) > 0


# ---- calibration


def test_calibration_by_hand():
    y = ["a", "a", "b", "b"]
    table = [[1.0, 0.0], [0.6, 0.4], [0.5, 0.5], [0.3, 0.7]]
    # most probable: a 1.0 right, a 0.6 right, a 0.5 wrong, b 0.7 right
    lines = metrics.calibration_table(y, table, AB, bins=4).to_pylist()
    assert [line["count"] for line in lines] == [0, 0, 3, 1]
    assert (lines[2]["low"], lines[2]["high"]) == (0.5, 0.75)
    assert lines[2]["mean_probability"] == pytest.approx((0.6 + 0.5 + 0.7) / 3)
    assert lines[2]["observed_frequency"] == pytest.approx(2 / 3)
    assert lines[3]["observed_frequency"] == 1.0
    assert lines[0]["mean_probability"] is None
    # P(b): 0, 0.4, 0.5, 0.7; true for the last two
    of_b = metrics.calibration_table(y, table, AB, bins=2, label="b").to_pylist()
    assert [line["count"] for line in of_b] == [2, 2]
    assert [line["observed_frequency"] for line in of_b] == [0.0, 1.0]


@given(answered(), st.integers(1, 12))
def test_calibration_keeps_every_row(given_, bins):
    y, table, _, classes = given_
    sums = metrics.calibration_sums(y, table, classes, bins=bins)
    assert sums[:, 2].sum() == len(y)
    assert sums[:, 0].sum() == pytest.approx(table.max(axis=1).sum())
    assert sums[:, 1].sum() / len(y) == pytest.approx(metrics.accuracy(y, table, classes))


@pytest.mark.parametrize("backend", ["pyarrow", "pandas", "polars"])
def test_calibration_as_a_frame(backend):
    frame = metrics.calibration_table(AB, np.eye(2), AB, backend=backend)
    assert type(frame).__module__.startswith(backend)
    assert frame.shape == (10, 5)


# ---- what they refuse

ALL = {
    "information_score": lambda y, p, c: metrics.information_score(y, p, np.full(len(c), 1 / len(c)), c),
    "log_loss": metrics.log_loss,
    "accuracy": metrics.accuracy,
    "calibration_table": metrics.calibration_table,
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("y", "table", "classes", "message"),
    [
        ([], np.zeros((0, 2)), AB, r".y_true: got shape \(0,\); needed are labels of one or more rows"),
        ([["a"]], [[1, 0]], AB, r".y_true: got shape \(1, 1\)"),
        (["c"], [[1, 0]], AB, r".y_true: there is no 'c'; Known: 'a', 'b'"),
        ([None], [[1, 0]], AB, r".y_true: there is no 'None'"),
        (
            ["a"],
            [[1, 0, 0]],
            AB,
            r".probabilities: got shape \(1, 3\); needed is \(1, 2\), one row a label and one col",
        ),
        (["a", "b"], [[1, 0], [np.nan, 1]], AB, r".probabilities: row 1 is \[nan, 1.0\]; needed are numbers from 0 to"),
        (["a"], [[0.5, 0.4]], AB, r"row 0 is \[0.5, 0.4\]; needed are numbers from 0 to 1 that sum to 1"),
        (["a"], [[1.5, -0.5]], AB, r"row 0 is \[1.5, -0.5\]"),
        (["a"], [["x", "y"]], AB, r".probabilities: cannot be read as numbers"),
        (["a"], [[1]], ["a"], r".classes: got \['a'\]; needed are at least two labels, one a column"),
        (["a"], [[1, 0]], ["a", "a"], r".classes: 'a' names two columns; labels must be distinct"),
    ],
)
def test_refusals(name, y, table, classes, message):
    with pytest.raises(DataError, match=f"{name}.*{message}"):
        ALL[name](y, table, classes)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.0, 1.0], r"information_score.prior: class 'a' has 0.0; a prior lies strictly between 0 and 1"),
        ([1.0, 0.0], r"class 'a' has 1.0"),
        ([np.nan, 0.5], r"class 'a' has nan"),
        ([0.5, 0.4], r"information_score.prior: the priors sum to 0.9; they must sum to 1"),
        ([1.0], r"information_score.prior: got shape \(1,\); needed is one probability a class, \(2,\)"),
        (["x", "y"], r"information_score.prior: cannot be read as numbers"),
    ],
)
@pytest.mark.parametrize("score", [metrics.information_score, metrics.relative_information_score])
def test_refused_priors(score, prior, message):
    with pytest.raises(DataError, match=message):
        score(["a"], [[1, 0]], prior, AB)


def test_other_refusals():
    with pytest.raises(DataError, match=r"laplace_prior.y: there is no 'c'"):
        metrics.laplace_prior(["c"], AB)
    with pytest.raises(DataError, match=r"laplace_prior.classes: got \['a'\]"):
        metrics.laplace_prior(["a"], ["a"])
    with pytest.raises(DataError, match=r"calibration_table.bins: got 0; needed is at least 1"):
        metrics.calibration_table(["a"], [[1, 0]], AB, bins=0)
    with pytest.raises(DataError, match=r"calibration_table.label: there is no 'c'"):
        metrics.calibration_table(["a"], [[1, 0]], AB, label="c")
    with pytest.raises(BnnError, match=r"calibration_table.backend: there is no 'panda'; did you mean 'pandas'"):
        metrics.calibration_table(["a"], [[1, 0]], AB, backend="panda")


def test_arguments_stay_as_they_are():
    table, prior = np.array([[0.25, 0.75]]), np.array([0.5, 0.5])
    for array in (table, prior):
        array.flags.writeable = False
    bnn.metrics.relative_information_score(["a"], table, prior, AB)
    bnn.metrics.calibration_table(["a"], table, AB)
