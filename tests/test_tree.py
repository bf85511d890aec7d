import pickle
from itertools import combinations

import networkx as nx
import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_class_counts import targeted
from test_naive import quietly
from test_semi_naive import ODD, XOR, plain

import bnn
from bnn import NaiveBayesClassifier, TreeBayesClassifier
from bnn.classify import storing
from bnn.classify.dependence import best_tree
from bnn.errors import DataError, FileError, IdentifierWarning, UnseenValueWarning
from bnn.files import read_tensors, write_tensors
from bnn.kernels import threads


@parametrize_with_checks([TreeBayesClassifier(), TreeBayesClassifier("chain", m=1)])
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("structure", ["tree", "chain"])
@given(targeted())
def test_probabilities_are_the_fractions_of_the_formula(structure, records):
    rows, classes = plain(records)
    classifier = TreeBayesClassifier(structure).fit(records)
    k = max(classes) + 1
    expected = [[float(p) for p in oracles.tree_posterior(row, rows, classes, k, classifier.parents_)] for row in rows]
    assert np.allclose(classifier.predict_proba(records), expected, rtol=1e-9, atol=1e-12)


@given(targeted())
def test_information_is_that_of_the_definition_and_the_tree_holds_most_of_it(records):
    rows, classes = plain(records)
    classifier = TreeBayesClassifier().fit(records)
    number = len(records.schema.names) - 1
    columns = [[row[a] for row in rows if row[a] is not None] for a in range(number)]
    names_rows = [len(column) > 1 and len(set(column)) == len(column) for column in columns]
    graph = nx.Graph()
    graph.add_nodes_from(range(number))
    for a, b in combinations(range(number), 2):
        expected = 0.0 if names_rows[a] or names_rows[b] else oracles.conditional_information(rows, classes, a, b)
        assert classifier.information_[a, b] == pytest.approx(expected, abs=1e-12)
        assert classifier.information_[a, b] == classifier.information_[b, a]
        graph.add_edge(a, b, weight=expected)
    best = nx.maximum_spanning_tree(graph).size(weight="weight")
    ours = [(a, p) for a, p in enumerate(classifier.parents_) if p >= 0]
    assert classifier.parents_[0] == -1
    assert nx.is_tree(nx.Graph(ours) if ours else graph)
    assert sum(classifier.information_[edge] for edge in ours) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_attributes_of_many_values_are_looked_at_pair_by_pair(monkeypatch, weighted):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (200, 4)).astype(float), rng.integers(0, 3, 200)
    X[rng.random(X.shape) < 0.2] = np.nan
    weights = rng.integers(0, 3, 200) / 2 if weighted else None
    expected = TreeBayesClassifier().fit(X, y, weights).information_
    for wide in (0, 3):
        monkeypatch.setattr("bnn.classify.dependence.WIDE", wide)
        assert np.allclose(TreeBayesClassifier().fit(X, y, weights).information_, expected, rtol=1e-12, atol=1e-15)


def test_xor_by_hand():
    classifier = TreeBayesClassifier().fit(XOR, ODD)
    # given the class, each attribute tells the other: one bit
    assert classifier.information_.tolist() == [[0, 1], [1, 0]]
    assert classifier.parents_ == (-1, 0)
    # P(b=0|even) = (5 + 2/2)/(10 + 2) = 1/2; P(b=0|a=0,even) = (5 + 2/2)/(5 + 2) = 6/7, P(b=0|a=0,odd) = 1/7
    row = pd.DataFrame({"a": ["0"], "b": ["0"]})
    assert classifier.predict_proba(row)[0] == pytest.approx([6 / 7, 1 / 7], rel=1e-14)
    told = classifier.explain(row)
    assert told.gains[0, 1] == pytest.approx(np.log2([12 / 7, 2 / 7]))
    assert told.cases.tolist() == [[10, 5]]
    # an unknown parent: P(b|C), which tells nothing
    assert classifier.predict_proba(pd.DataFrame({"a": [None], "b": ["0"]}))[0] == pytest.approx([0.5, 0.5])
    edges = classifier.graph_.edges(data=True)
    assert list(edges) == [("a", "b", {"information": 1.0})]


def test_a_chain_hangs_on_the_column_before():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)), rng.integers(0, 2, 60)
    assert TreeBayesClassifier("chain").fit(X, y).parents_ == (-1, 0, 1, 2)
    steps = np.cumsum(rng.integers(0, 2, (400, 5)), axis=1) % 3  # each column a step from the one before it
    tree = TreeBayesClassifier().fit(steps[:, [0, 2, 1, 3, 4]], rng.integers(0, 2, 400))
    assert tree.parents_ == (-1, 2, 0, 1, 3)


def test_ties_go_by_order():
    assert best_tree(np.ones((4, 4)) - np.eye(4)) == (-1, 0, 0, 0)
    assert best_tree(np.zeros((3, 3))) == (-1, 0, 0)


@given(targeted())
def test_explanations_add_up(records):
    classifier = TreeBayesClassifier().fit(records)
    told = classifier.explain(records)
    assert np.allclose(told.log2_probabilities, classifier.predict_log2_proba(records), rtol=0, atol=1e-9)
    assert told.terms == classifier.codebook_.schema.names


@given(targeted(), st.randoms(use_true_random=False))
def test_weights_are_repetitions(records, random):
    weights = np.array([random.choice([1, 2, 3]) for _ in range(records.rows)])
    weighted = TreeBayesClassifier("chain").fit(bnn.Records(records.codes, records.schema, weights))
    repeated = TreeBayesClassifier("chain").fit(records[np.repeat(np.arange(records.rows), weights)])
    assert np.allclose(weighted.predict_proba(records), repeated.predict_proba(records), rtol=1e-12)


def test_one_attribute_is_a_tree_and_what_says_nothing_has_gain_0():
    X, y = pd.DataFrame({"a": ["u", "v"] * 6}), ["p", "p", "q", "q"] * 3
    classifier = TreeBayesClassifier().fit(X, y)
    assert classifier.parents_ == (-1,)
    assert not classifier.explain(X).gains.any()


def test_real_votes_depend_on_each_other():
    records = bnn.datasets.load("house-votes-84")
    train, test = records[::2], records[1::2]
    truth = np.array(records.schema["class"].values)[test.codes[:, records.schema.index("class")]]
    answers = {c: (c.fit(train).predict(test) == truth).mean() for c in (TreeBayesClassifier(), NaiveBayesClassifier())}
    tree, naive = answers.values()
    assert tree > naive + 0.02


def test_missing_and_unseen_values_are_no_evidence():
    table = XOR.assign(c=[None, "u", "v", None] * 5)
    classifier = TreeBayesClassifier().fit(table, ODD)
    with pytest.warns(UnseenValueWarning, match=r"TreeBayesClassifier.X: .*'a' 1 \(such as 'w'\)"):
        found = classifier.predict_proba(pd.DataFrame({"a": ["w"], "b": ["1"], "c": ["u"]}))
    gap = classifier.predict_proba(pd.DataFrame({"a": [None], "b": ["1"], "c": ["u"]}))
    assert np.array_equal(found, gap)
    nothing = classifier.predict_proba(pd.DataFrame({"a": [None], "b": [None], "c": [None]}))
    assert nothing[0] == pytest.approx([0.5, 0.5])


def test_odd_tables():
    one = TreeBayesClassifier().fit(XOR, ["only"] * 20)
    assert one.predict_proba(XOR).tolist() == [[1.0]] * 20
    table = XOR.assign(constant="c", unknown=[None] * 20)
    table.insert(0, "id", [f"row {r}" for r in range(20)])
    with pytest.warns(IdentifierWarning, match="every value of column 'id' occurs once"):
        classifier = TreeBayesClassifier().fit(table, ODD)
    # what names the rows seems to tell everything; it does not win a place between a and b
    assert classifier.parents_[2] == 1
    assert not classifier.information_[0].any()
    new = table.assign(id=[f"other {r}" for r in range(20)])
    assert quietly(classifier.score, new, ODD) == 1.0
    assert classifier.predict_proba(table[:0]).shape == (0, 2)
    assert len(classifier.explain(table[:0])) == 0
    nothing = TreeBayesClassifier().fit(table[["unknown"]], ODD)
    assert nothing.predict_proba(table[["unknown"]][:1])[0] == pytest.approx([0.5, 0.5])


def test_many_values_and_many_attributes():
    values = np.arange(30_000) % 10_000
    table, y = pd.DataFrame({"x": [f"v{v}" for v in values], "z": values % 2}), values % 3
    assert TreeBayesClassifier("chain").fit(table, y).score(table, y) == 1.0
    with pytest.raises(DataError, match="columns 'x' and 'w' have 10000 and 10000 values, too many pairs; drop or"):
        TreeBayesClassifier("chain").fit(table[["x"]].assign(w=table["x"]), y)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.where(rng.random((60, 2000)) < 0.9, y[:, None], 1 - y[:, None])
    assert TreeBayesClassifier("chain").fit(X, y).score(X, y) == 1.0
    assert len(TreeBayesClassifier().fit(X[:, :300], y).parents_) == 300


def test_a_batch_is_its_single_rows_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (5000, 5)), rng.integers(0, 3, 5000)
    with threads.threads(1):
        alone = TreeBayesClassifier().fit(X, y).predict_proba(X)
    with threads.threads(3):
        classifier = TreeBayesClassifier().fit(X, y)
    assert np.array_equal(alone, classifier.predict_proba(X))
    assert np.array_equal(classifier.predict_proba(X[7:8])[0], alone[7])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "forest"}, "TreeBayesClassifier.structure: there is no 'forest'"),
        ({"m": 0}, "TreeBayesClassifier.m: got 0; give a number above 0"),
        ({"m": True}, "TreeBayesClassifier.m: got True"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        TreeBayesClassifier(**options).fit(XOR, ODD)


def test_a_saved_classifier_is_the_same(tmp_path):
    table = XOR.assign(n=np.linspace(0, 1, 20))
    classifier = TreeBayesClassifier(intervals=3).fit(table, ODD, np.linspace(0.5, 2, 20))
    classifier.save(tmp_path / "m")
    for other in (TreeBayesClassifier.load(tmp_path / "m"), pickle.loads(pickle.dumps(classifier))):
        assert other.parents_ == classifier.parents_
        assert np.array_equal(other.predict_proba(table), classifier.predict_proba(table))
        assert other.explain(table).terms == ("a", "b", "n")
    arrays, told = read_tensors(tmp_path / "m", storing.KIND)
    write_tensors(tmp_path / "lacking", {k: v for k, v in arrays.items() if k != "pairs"}, told, storing.KIND)
    with pytest.raises(FileError, match=r"lacking: its classifier is damaged \('pairs'\); save it again"):
        TreeBayesClassifier.load(tmp_path / "lacking")
    with pytest.raises(NotFittedError):
        TreeBayesClassifier().save(tmp_path / "n")
    bnn.Counts.of(bnn.datasets.load("zoo")).save(tmp_path / "counts")
    with pytest.raises(FileError, match="holds counts, not a Bayesian classifier; load it as what it is"):
        TreeBayesClassifier.load(tmp_path / "counts")
