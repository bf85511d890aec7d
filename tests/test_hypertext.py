"""How results show themselves: tables in notebooks, in which names are text, and reprs of one short line."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import bnn
from bnn import hypertext

ZOO = bnn.datasets.load("zoo")
EVIL = "<script>alert(1)</script>&\"'"
TAGS = {"div", "code", "table", "thead", "tbody", "tr", "th", "td", "small", "svg", "polyline"}


class Page(HTMLParser):
    """Elements that are open and never closed, all tags, and the rows of all tables."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.rows, self.text = set(), [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def shown(thing):
    page = Page(thing._repr_html_())
    assert page.open == []
    assert page.tags <= TAGS
    assert repr(thing) in page.text
    return page


@pytest.fixture(scope="module")
def evil():
    """A table whose names, values and classes are markup."""
    frame = pd.DataFrame({EVIL: [EVIL, "a", "a", EVIL], "b": ["x", "y", "y", EVIL]})
    labels = [EVIL, "no", "no", EVIL]
    return frame, labels


def test_names_are_text(evil):
    frame, labels = evil
    records = bnn.Records.from_table(frame)
    network = bnn.learn(records, "probability")
    assert f"{EVIL} = {EVIL}" in shown(network).text
    assert f"{EVIL} = {EVIL}" in shown(bnn.Counts.of(records)).text
    shown(bnn.recall(network, records, bnn.WinnerTakeAll(), seed=0))
    explained = shown(bnn.NaiveBayesClassifier().fit(frame, labels).explain(frame))
    assert explained.rows[0][2:] == [EVIL, "no"]
    assert f"{EVIL} = {EVIL}" in explained.text


def test_network_shows_its_strongest_connections():
    network = bnn.learn(ZOO, "probability")
    rows = shown(network).rows
    assert ["rule", "probability"] in rows
    weights = [float(row[2]) for row in rows if len(row) == 3 and row[2] != "weight"]
    largest = np.sort(np.tril(network.weights.numpy(), -1).ravel())[::-1][: len(weights)]
    np.testing.assert_allclose(weights, largest, atol=0.005)
    assert ["legs = 6", "class = insect", "+3.31"] in rows


def test_asymmetric_network_says_from_which_neuron_to_which():
    network = bnn.Network.of([[0, 5], [1, 0]], names=["a", "b"])
    assert shown(network).rows[-2:] == [["b", "a", "+5.00"], ["a", "b", "+1.00"]]


def test_large_network_is_not_searched(monkeypatch):
    monkeypatch.setattr(hypertext, "SEARCHED", 10)
    assert all(len(row) == 2 for row in shown(bnn.learn(ZOO, "probability")).rows)


def test_counts_show_the_most_frequent_values():
    rows = shown(bnn.Counts.of(ZOO)).rows
    assert rows[1] == ["venomous = 0", "93", "92.1 %"]
    assert len(rows) == 1 + hypertext.ROWS
    weighted = bnn.Counts.of(bnn.Records.from_table({"a": ["x", "y", None]}, weights=[0.5, 1.5, 4.0]))
    assert shown(weighted).rows[1:] == [["a = y", "1.5", "75.0 %"], ["a = x", "0.5", "25.0 %"]]


def test_trace_shows_each_row_and_the_verdict():
    digits = bnn.datasets.load("mnist-100")[:12]
    trace = bnn.recall(bnn.learn(digits, "odds"), digits, seed=0)
    page = shown(trace)
    assert len(page.rows) == 1 + hypertext.ROWS
    assert page.rows[1][0] == trace.outcome[0]
    assert page.rows[1][3] == f"{trace.energy[0, 0]:,.1f}"
    assert "and 2 more rows" in page.text
    assert trace.descent.reason in page.text


def test_explanation_adds_up_as_shown():
    patients = bnn.datasets.load("lymphography")
    why = bnn.NaiveBayesClassifier().fit(patients).explain(patients[[3]])
    header, *rows = shown(why).rows
    assert header[2] == why.classes[why.log2_probabilities[0].argmax()]
    numbers = np.array([[float(cell) for cell in row[2:]] for row in rows[:-1]])
    np.testing.assert_allclose(numbers[:-1].sum(axis=0), numbers[-1], atol=0.005 * len(numbers))
    np.testing.assert_allclose(numbers[-1], np.sort(why.log2_probabilities[0])[::-1], atol=0.005)
    assert sum(float(cell.removesuffix(" %")) for cell in rows[-1][2:]) == pytest.approx(100, abs=0.2)


def test_explanation_says_what_is_unknown():
    frame = pd.DataFrame({"a": ["x", "y", "x", "y"], "b": ["u", "u", "v", "v"]})
    classifier = bnn.NaiveBayesClassifier().fit(frame, [0, 1, 0, 1])
    assert "a = unknown" in shown(classifier.explain(pd.DataFrame({"a": [None], "b": ["u"]}))).text
    assert "and 3 more rows" in shown(classifier.explain(frame)).text


def test_curve_falls_as_the_series_does():
    drawn = hypertext.curve([3.0, 1.0, 1.0], width=80, height=18)
    assert 'points="0.0,1.0 40.0,17.0 80.0,17.0"' in drawn
    assert 'points="0.0,1.0"' in hypertext.curve([2.0])


def results():
    """One of each kind of result."""
    network = bnn.learn(ZOO, "probability")
    counts = bnn.Counts.of(ZOO)
    trace = bnn.recall(network, ZOO[:5], bnn.WinnerTakeAll(), seed=0, record="flips")
    pair = bnn.Network.of([[0, 1], [1, 0]])
    patients = bnn.datasets.load("lymphography")
    classifiers = {name: bnn.CLASSIFIERS[name] for name in ("naive", "tree")}
    comparison = bnn.compare(classifiers, patients, splits=2, repeats=1)
    question, learner = bnn.study.Question(bnn.study.Dense(20)), bnn.study.Learner("odds")
    return [
        ZOO, ZOO.schema, network.layout, counts, network, trace, trace.flip_log, trace.descent, trace.match(ZOO),
        network.associations(), bnn.drift(counts, counts), bnn.learn_delta(ZOO[:5], rounds=1),
        bnn.bifurcation(pair, [0.5, 8.0]), bnn.NaiveBayesClassifier().fit(patients).explain(patients[:2]), comparison,
        comparison.scores[0], comparison.differences("accuracy")[0], bnn.RULES["odds"], bnn.WinnerTakeAll(), question,
        learner, bnn.study.evaluate(question, learner, 2, 0), bnn.capacity("odds", bnn.study.Dense(20), seeds=1),
    ]  # fmt: skip


def test_reprs_are_one_short_line():
    for thing in results():
        assert repr(thing).startswith(type(thing).__name__)
        assert "\n" not in repr(thing)
        assert len(repr(thing)) <= 250, repr(thing)


def test_reprs_tell_the_truth():
    network = bnn.learn(ZOO, "probability")
    trace = bnn.recall(network, ZOO[:5], bnn.WinnerTakeAll(), seed=0, record="flips")
    assert repr(ZOO.schema) == "Schema(17 attributes, 43 values, target 'class')"
    assert repr(trace.flip_log) == f"FlipLog({trace.flips.sum():,} flips of 5 rows)"
    match = trace.match(ZOO)
    assert repr(match).startswith(
        f"Match({(match.word == 'spurious').sum()} spurious, {(match.word == 'stored').sum()} s"
    )
    assert repr(bnn.bifurcation(bnn.Network.of([[0, 1], [1, 0]]), [0.5, 8.0])) == (
        "Bifurcation(2 stable points at 2 gains from 0.5 to 8)"
    )
    assert repr(bnn.RULES["hebb"]) == f"Rule(hebb: {bnn.RULES['hebb'].summary})"
