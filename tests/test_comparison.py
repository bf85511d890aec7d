import csv
import warnings

import numpy as np
import oracles
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB

import bnn
from bnn import compare, metrics
from bnn.classify.paired import holm, paired_differences
from bnn.classify.references import CategoricalReference, Categories, logistic_reference
from bnn.csvfile import read_csv
from bnn.errors import DataError, FileError, SchemaError, UnseenValueWarning

RNG = np.random.default_rng(5)
Y = np.array(["no"] * 14 + ["yes"] * 9 + ["rare"])  # half the splits have no "rare" to train on
X = (RNG.random((24, 4)) < np.where(Y == "yes", 0.8, 0.3)[:, None]).astype(int)
TWO = {"bernoulli": BernoulliNB(), "majority": DummyClassifier()}


@pytest.fixture(scope="module")
def found():
    return compare(TWO, X, Y, splits=4, repeats=3, train=0.6, floor=1e-3, seed=7)


def table(name):
    """Attributes and class of a data set that ships."""
    whole = read_csv(bnn.datasets.path(name))
    return whole.drop_columns(["class"]), whole["class"]


# ---- splits


def test_splits_are_random_disjoint_and_complete(found):
    assert found.trained.shape == (12, 24)
    assert (found.trained ^ found.tested).all()
    assert (found.trained.sum(axis=1) == 14).all()  # 0.6 of 24 is 14.4
    assert len({row.tobytes() for row in found.trained}) == 12
    assert len(set(found.trained[:, Y == "yes"].sum(axis=1).tolist())) > 1  # not stratified


def test_more_splits_or_repeats_leave_the_earlier_ones_as_they_are(found):
    more = compare({"majority": DummyClassifier()}, X, Y, splits=5, repeats=4, train=0.6, seed=7)
    assert (more.trained.reshape(4, 5, 24)[:3, :4] == found.trained.reshape(3, 4, 24)).all()
    other = compare({"majority": DummyClassifier()}, X, Y, splits=4, repeats=3, train=0.6, seed=8)
    assert not (other.trained == found.trained).all()


def test_training_rows_of_one_class_answer_it_whatever_the_classifier():
    # LogisticRegression cannot be fitted to one class; two rows leave one to train on and one of the other class
    found = compare(
        {"logistic": LogisticRegression()}, X[[0, -2]], Y[[0, -2]], splits=3, repeats=1, train=0.5, floor=1e-3
    )
    assert found.accuracy.tolist() == [[0.0] * 3]
    assert found.log_loss == pytest.approx(np.full((1, 3), -np.log2(1e-3)))


def test_numpy_s_global_state_is_not_touched():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002 - that is the question
    compare(TWO, X, Y, splits=2, repeats=1)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_rows_without_a_label_are_left_out():
    y = np.array(Y, dtype=object)
    y[[2, 20]] = None, ""
    found = compare(TWO, X, y, splits=3, repeats=2, train=0.5)
    assert not (found.trained | found.tested)[:, [2, 20]].any()
    assert (found.trained.sum(axis=1) == 11).all()
    assert (found.tested.sum(axis=1) == 11).all()


# ---- measures


def test_measures_are_those_of_the_definitions(found):
    assert any("rare" not in Y[trained] for trained in found.trained)
    for c, (name, classifier) in enumerate(TWO.items()):
        for s in range(12):
            expected = oracles.split_measures(classifier, X, Y, found.trained[s], found.tested[s], 1e-3)
            got = found.accuracy[c, s], found.information[c, s], found.log_loss[c, s]
            assert got == pytest.approx(expected), (name, s)


def test_scores_are_means_and_deviations(found):
    assert found.classifiers == ("bernoulli", "majority")
    assert found.classes == ("no", "rare", "yes")
    for c, score in enumerate(found.scores):
        assert score.classifier == found.classifiers[c]
        for name in ("accuracy", "information", "log_loss"):
            values = getattr(found, name)[c].tolist()
            mean = sum(values) / 12
            assert getattr(score, name) == pytest.approx(mean)
            assert getattr(score, f"{name}_sd") == pytest.approx((sum((v - mean) ** 2 for v in values) / 11) ** 0.5)


def test_calibration_sums_over_all_test_rows(found):
    lines = found.calibration_table("bernoulli").to_pylist()
    assert sum(line["count"] for line in lines) == found.tested.sum()
    came_true = sum(line["count"] * (line["observed_frequency"] or 0.0) for line in lines)
    assert came_true == pytest.approx(found.accuracy[0].sum() * 10)  # ten test rows a split


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda a: pl.DataFrame(a).to_arrow(), np.asarray])
def test_tables_of_every_kind_give_the_same(kind):
    names = {f"x{i}": X[:, i] for i in range(4)}
    given_ = X if kind is np.asarray else kind(names)
    found = compare({"reference": CategoricalReference()}, given_, list(Y), splits=2, repeats=1)
    expected = compare({"reference": CategoricalReference()}, X, pd.Series(Y), splits=2, repeats=1)
    assert (found.accuracy == expected.accuracy).all()
    assert (found.log_loss == expected.log_loss).all()


def test_labels_of_other_types():
    for y in (Y == "yes", (Y == "yes").astype(int), pd.Series(Y).astype("category")):
        assert compare(TWO, X, y, splits=2, repeats=1).accuracy.min() >= 0
    declared = pd.Series(pd.Categorical(Y, categories=["yes", "no", "rare", "never"]))
    found = compare({"majority": DummyClassifier()}, X, declared, splits=2, repeats=1, train=0.5)
    assert found.classes == ("yes", "no", "rare", "never")
    mixed = np.where(Y == "yes", 1, Y.astype(object))
    assert compare(TWO, X, mixed, splits=2, repeats=1).classes == ("1", "no", "rare")


def test_estimators_and_arguments_stay_as_they_are():
    X_, y = X.copy(), Y.copy()
    for array in (X_, y):
        array.flags.writeable = False
    model = BernoulliNB()
    compare({"b": model}, X_, y, splits=2, repeats=1)
    assert not hasattr(model, "classes_")


def test_what_was_found_cannot_be_changed(found):
    with pytest.raises(ValueError, match=r"read-only"):
        found.accuracy[0, 0] = 1.0
    with pytest.raises(AttributeError):
        found.seed = 3
    assert repr(found) == "Comparison(bernoulli, majority; 12 splits, seed 7)"


def test_progress_counts_the_splits():
    told = []
    compare(TWO, X, Y, splits=2, repeats=2, progress=lambda *now: told.append(now))
    assert told == [(i, 4) for i in range(1, 5)]


class Warns(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):  # noqa: ARG002 - scikit-learn's signature
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        warnings.warn("seen none of it", UnseenValueWarning, stacklevel=1)
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_unseen_values_are_usual_here():
    assert compare({"w": Warns()}, X, Y, splits=2, repeats=1).information.shape == (1, 2)


# ---- differences


def test_corrected_t_test_worked_out_by_hand():
    # differences 0.1, 0.2, 0.1, 0.4: mean 0.2, variance 0.06/3 = 0.02; (1/4 + 3/7) * 0.02 = 0.0135714
    a = np.zeros(4)
    (found,) = paired_differences({"a": a, "b": np.array([0.1, 0.2, 0.1, 0.4])}, "a", 3 / 7)
    error = 0.0135714286**0.5
    assert (found.classifier, found.baseline) == ("b", "a")
    assert found.mean == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - stats.t.ppf(0.975, 3) * error)
    assert found.high == pytest.approx(0.2 + stats.t.ppf(0.975, 3) * error)
    assert found.p == pytest.approx(2 * stats.t.sf(0.2 / error, 3))
    assert found.p_holm == found.p


def test_no_correction_is_the_plain_paired_t_test():
    a, b = RNG.normal(size=(2, 9))
    (found,) = paired_differences({"a": a, "b": b}, "a", 0.0)
    plain = stats.ttest_rel(b, a)
    assert found.p == pytest.approx(plain.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(plain.confidence_interval()))


def test_the_same_twice_does_not_differ_and_a_constant_lead_is_sure():
    a = RNG.random(5).round(2)
    same, ahead = paired_differences({"a": a, "same": a, "ahead": a + 1.0}, "a", 0.4)
    assert (same.mean, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert ahead.mean == pytest.approx(1)
    assert ahead.p < 1e-6


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_step_down_of_its_paper(p):
    # rejected at level a while p(1) <= a/k, p(2) <= a/(k - 1), ...: the adjusted value is where rejection begins
    adjusted = holm(p)
    for level in (0.01, 0.05, 0.3, *adjusted):
        rejected = set()
        for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
            if (len(p) - rank) * p[i] > level:
                break
            rejected.add(i)
        if level < 1:
            assert rejected == {i for i in range(len(p)) if adjusted[i] <= level}


def test_differences_of_a_comparison(found):
    (difference,) = found.differences("information", baseline="majority")
    values = dict(zip(found.classifiers, found.information, strict=True))
    assert (difference,) == paired_differences(values, "majority", 10 / 14)
    assert difference.mean == pytest.approx(found.scores[0].information - found.scores[1].information)
    assert found.differences()[0].baseline == "bernoulli"
    narrow, wide = (found.differences(confidence=c)[0] for c in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


# ---- tables and files


def test_one_line_a_classifier_and_split(found):
    frame = found.to_frame("pandas")
    assert frame.columns.tolist() == ["classifier", "repeat", "split", "accuracy", "information", "log_loss"]
    assert len(frame) == 24
    line = frame[(frame.classifier == "majority") & (frame.repeat == 2) & (frame.split == 1)]
    assert line.log_loss.item() == found.log_loss[1, 9]
    assert found.to_frame("polars").height == 24


def test_files_hold_results_and_splits(found, tmp_path):
    found.write(tmp_path / "results.csv", tmp_path / "splits.csv")
    with (tmp_path / "results.csv").open() as file:
        results = list(csv.DictReader(file))
    with (tmp_path / "splits.csv").open() as file:
        splits = list(csv.DictReader(file))
    assert [float(line["accuracy"]) for line in results] == found.accuracy.ravel().tolist()
    assert len(splits) == 12 * 24
    again = {line["row"] for line in splits if (line["repeat"], line["split"], line["part"]) == ("1", "2", "test")}
    assert {int(row) for row in again} == set(np.flatnonzero(found.tested[6]).tolist())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.csv", "splits.csv"]


def test_files_need_a_folder(found, tmp_path):
    with pytest.raises(FileError, match=r"the folder .*nowhere.* does not exist"):
        found.write(tmp_path / "nowhere" / "results.csv", tmp_path / "splits.csv")


# ---- references


def test_categorical_reference_is_categorical_nb_where_nothing_is_unseen():
    codes = RNG.integers(0, 3, (40, 5))
    codes[:3] = [[0] * 5, [1] * 5, [2] * 5]
    y = RNG.integers(0, 3, 40)
    expected = CategoricalNB().fit(codes, y).predict_proba(codes)
    mine = CategoricalReference().fit(np.array(["b", "a", "c"])[codes], y)
    np.testing.assert_allclose(mine.predict_proba(np.array(["b", "a", "c"])[codes]), expected)
    assert (mine.predict(np.array(["b", "a", "c"])[codes]) == expected.argmax(axis=1)).all()


def test_an_unseen_value_says_nothing_and_missing_is_a_value():
    X_train = np.array([["a", "x"], ["a", None], ["b", None], ["b", "y"]], dtype=object)
    y = np.array([0, 0, 1, 1])
    reference = CategoricalReference().fit(X_train, y)
    both, left, prior = reference.predict_proba(np.array([["a", "x"], ["a", "new"], ["new", "new"]], dtype=object))
    assert prior == pytest.approx([0.5, 0.5])
    # P(a|0) = 3/4 and P(a|1) = 1/4 with alpha = 1; P(x|0) = 2/5, P(x|1) = 1/5 among x, y and missing
    assert left == pytest.approx([3 / 4, 1 / 4])
    assert both == pytest.approx([6 / 7, 1 / 7])
    (missing,) = reference.predict_proba(np.array([["new", None]], dtype=object))
    assert missing == pytest.approx([0.5, 0.5])
    never = CategoricalReference().fit(X_train[:, :1], y).predict_proba(np.array([[None]], dtype=object))
    assert never[0] == pytest.approx([0.5, 0.5])


def test_logistic_reference_is_one_hot():
    X_train = pd.DataFrame({"u": ["a", "b", None, "a", "b", "c"], "v": [1, 2, 2, 1, 1, 2]})
    y = np.array([0, 1, 1, 0, 1, 0])
    hot = pd.get_dummies(X_train.astype(object).fillna("missing")).to_numpy(float)
    expected = LogisticRegression(max_iter=1000).fit(hot, y).predict_proba(hot)
    reference = logistic_reference().fit(X_train, y)
    np.testing.assert_allclose(reference.predict_proba(X_train), expected, atol=1e-3)
    unseen = reference.predict_proba(pd.DataFrame({"u": ["z"], "v": [9]}))
    assert unseen[0, 1] == pytest.approx(1 / (1 + np.exp(-reference[-1].intercept_[0])))


def test_numbers_are_the_same_value_whatever_their_type_and_many_become_intervals():
    categories = Categories().fit({"x": [1, 2, None], "y": [0.5, 1.5, 2.5]})
    assert categories.transform({"x": [2.0, 3.0, None], "y": [-9, 9, None]}).tolist() == [[1, 0], [-1, 2], [2, -1]]
    with pytest.raises(SchemaError, match=r"got the columns y; needed are those of fit, in its order: x, y"):
        categories.transform({"y": [2]})


def test_records_carry_their_labels():
    records = bnn.datasets.load("breast-cancer")
    of_table = compare(bnn.CLASSIFIERS, *table("breast-cancer"), splits=2, repeats=1)
    found = compare(bnn.CLASSIFIERS, records, splits=2, repeats=1)
    assert found.classes == records.schema["class"].values
    assert (found.tested == of_table.tested).all()
    # the records' schema knows the values of all rows, the table's training rows only their own
    np.testing.assert_allclose(found.accuracy, of_table.accuracy, atol=0.05)
    with pytest.raises(DataError, match=r"compare.y: got none, and the records have no target; give labels"):
        compare(bnn.CLASSIFIERS, bnn.Records.from_table({"a": [1, 2]}))
    with pytest.raises(DataError, match=r"compare.X: the records have weights, which tests do not heed"):
        compare(bnn.CLASSIFIERS, bnn.Records.from_table({"a": [1, 2]}, target="a", weights=[1.0, 2.0]))


def test_registry_is_read_only_and_runs_on_every_data_set():
    with pytest.raises(TypeError):
        bnn.CLASSIFIERS["mine"] = BernoulliNB()
    for name in ("lymphography", "primary-tumor", "breast-cancer", "house-votes-84"):
        found = compare(bnn.CLASSIFIERS, *table(name), splits=2, repeats=1)
        assert found.classifiers == tuple(bnn.CLASSIFIERS)
        assert (found.information > 0).all()


# ---- what it refuses


class Fails(DummyClassifier):
    def fit(self, X, y):  # noqa: ARG002 - scikit-learn's signature
        raise RuntimeError("no\nluck.")


class Lies(DummyClassifier):
    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classifiers": {}}, "compare.classifiers: got none; give at least one estimator by name"),
        ({"classifiers": {"x": 3}}, "compare.classifiers: 'x' has no fit and predict_proba"),
        (
            {"classifiers": {"x": Fails()}},
            r"compare.classifiers: 'x' failed on split 0 of repeat 0: no luck\.$",
        ),
        ({"classifiers": {"x": Lies()}}, "'x' failed on split 0 of .*probabilities: row 0 is .nan, nan"),
        ({"X": X[:-1]}, "compare.y: got 24 labels for 23 rows of X; needed is one a row"),
        (
            {"X": X.tolist()},
            "compare.X: got list; needed is a numpy array, a pandas, polars or pyarrow table, or Records",
        ),
        ({"X": X[:, 0]}, r"compare.X: got shape \(24,\); needed is \[rows, attributes\]"),
        ({"X": pd.DataFrame(index=range(24))}, r"compare.X: got shape \(24, 0\)"),
        ({"y": ["a"] * 24}, "compare.y: holds 1 classes; needed are at least two"),
        ({"y": X}, r"compare.y: got ndarray of shape \(24, 4\); needed are labels"),
        ({"y": []}, r"compare.y: got list of shape \(0,\)"),
        ({"splits": 1, "repeats": 1}, "compare: got 1 splits, 1 repeats; needed are two splits or more in all"),
        ({"splits": 0}, "compare: got 0 splits"),
        ({"train": 1.0}, "compare.train: got 1.0 of 24 rows; needed is a share between 0 and 1 that leaves rows on"),
        ({"train": 0.01}, "compare.train: got 0.01 of 24 rows"),
        ({"train": float("nan")}, "compare.train: got nan"),
        ({"floor": 0.0}, "compare.floor: got 0.0; needed is a small probability above 0, for 3 classes"),
        ({"floor": 0.4}, "compare.floor: got 0.4"),
        ({"seed": -1}, "compare.seed: got -1; needed is a whole number from 0 on"),
    ],
)
def test_refusals(options, message):
    classifiers, X_, y = (options.pop(k, d) for k, d in (("classifiers", TWO), ("X", X), ("y", Y)))
    with pytest.raises(DataError, match=message):
        compare(classifiers, X_, y, **{"splits": 2, "repeats": 1, **options})


def test_names_that_are_not_there(found):
    with pytest.raises(DataError, match=r"Comparison.differences.measure: there is no 'precision'; Known: 'accuracy'"):
        found.differences("precision")
    with pytest.raises(DataError, match=r"Comparison.differences.baseline: there is no 'bernouli'"):
        found.differences(baseline="bernouli")
    with pytest.raises(DataError, match=r"Comparison.calibration_table.classifier: there is no 'm'"):
        found.calibration_table("m")
    with pytest.raises(DataError, match=r"Comparison.to_frame.backend: there is no 'panda'"):
        found.to_frame("panda")
    with pytest.raises(DataError, match=r"paired_differences.confidence: got 95.0; needed is a share such as 0.95"):
        found.differences(confidence=95.0)


# ---- the papers' domains


@pytest.mark.parametrize("name", ["lymphography", "primary-tumor", "breast-cancer", "house-votes-84"])
def test_means_over_a_hundred_splits_are_those_of_a_slow_twin(name):
    records = bnn.datasets.load(name)
    found = compare({"naive": bnn.NaiveBayesClassifier()}, records)
    assert len(found.tested) == 100
    X = np.where(records.codes < 0, None, records.codes.astype(object))[:, :-1]
    y = np.array(records.schema["class"].values)[records.codes[:, -1]]
    measured = [
        oracles.split_measures(oracles.SlowNaive(), X, y, trained, tested, metrics.FLOOR)
        for trained, tested in zip(found.trained, found.tested, strict=True)
    ]
    (score,) = found.scores
    assert (score.accuracy, score.information, score.log_loss) == pytest.approx(tuple(np.mean(measured, axis=0)))
