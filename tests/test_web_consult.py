"""The consulting room without a page: a case, its explanation, what recall fills in, and what is kept of it."""

import json
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import bnn
from bnn import datasets
from bnn.errors import DataError
from bnn.web.cases import representative, table_of
from bnn.web.consult_session import LEAST, ConsultSession
from bnn.web.reports import as_html, as_json, finite, lines_of, view_of
from bnn.web.shelf import Subject, shelf_of, subject_of

SHELF = shelf_of()
HOSTILE = "<img src=x onerror=alert(1)>"


def lymph(**case):
    return ConsultSession(SHELF.subject("lymphography"), case)


def hostile():
    table = pa.table({HOSTILE: [HOSTILE, "b", HOSTILE, "b"], "other": ["x", "y", "y", "x"]})
    return subject_of(HOSTILE, table, pa.chunked_array([[HOSTILE, "no", HOSTILE, "no"]]), "class")


def test_the_shelf_holds_what_ships():
    assert (SHELF.memories, SHELF.subjects[0]) == (("mnist-100",), "lymphography")
    assert set(SHELF.memories) | set(SHELF.subjects) == set(datasets.names())
    assert SHELF.memory("mnist-100").shape == (28, 28)
    assert SHELF.memory("mnist-100").neurons == 784
    with pytest.raises(DataError, match="data: there is no 'zo'; did you mean 'zoo'"):
        SHELF.subject("zo")
    for path in ("../zoo", "/etc/passwd", "zoo.csv"):
        with pytest.raises(DataError, match="data: there is no"):
            SHELF.subject(path)
        with pytest.raises(DataError, match="data: there is no"):
            SHELF.memory(path)


def test_what_the_server_is_started_with_comes_first(tmp_path):
    assert shelf_of("zoo").subjects[0] == "zoo"
    file = tmp_path / "mine.csv"
    file.write_text("a,b,kind\n1,x,p\n0,y,q\n1,x,p\n", encoding="utf-8")
    shelf = shelf_of(str(file), "kind")
    assert shelf.subjects[0] == "mine"
    assert ConsultSession(shelf.subject("mine"), {"b": "y"}).answer()[0] == "q"
    file.write_text("a,b,c\n1,0,1\n0,1,1\n", encoding="utf-8")
    assert shelf_of(str(file)).memories[0] == "mine"
    assert shelf_of(str(file)).memory("mine").patterns.tolist() == [[True, False, True], [False, True, True]]
    model = tmp_path / "model.safetensors"
    bnn.NaiveBayesClassifier().fit(datasets.load("zoo")).save(model)
    shelf = shelf_of(str(model))
    assert shelf.subjects[0] == "model"
    assert ConsultSession(shelf.subject("model"), {"milk": "1"}).answer() == ("mammal", 0.97)


def test_a_case_is_answered_as_by_the_classifier():
    records = datasets.load("lymphography")[[3]]
    row = records.to_table().drop_columns("class").to_pylist()[0]
    session = lymph(**{name: str(value) for name, value in row.items()})
    assert session.subject.records.rows == 148
    expected = session.subject.classifier.predict_proba(records)[0]
    np.testing.assert_allclose(session.probabilities(), expected, rtol=1e-12)


def test_terms_add_up_to_the_probability():
    session = lymph(changes_in_node="lac central", special_forms="vesicles")
    for place, label in enumerate(session.classes):
        lines = lines_of(session, label)
        total = sum(line["size"] for line in lines[:-1])
        assert lines[-1]["size"] == pytest.approx(total, abs=1e-9)
        assert 2**total == pytest.approx(session.probabilities()[place])
    assert [line["name"] for line in lines][:3] == ["prior", "special_forms", "changes_in_node"]
    assert [line["cases"] for line in lines][1:3] == ["77", "25"]


def test_unknown_again_is_as_if_never_known():
    session = lymph()
    before = session.probabilities()
    session.choose("by_pass", "yes")
    assert (session.probabilities() != before).any()
    session.choose("by_pass", None)
    np.testing.assert_array_equal(session.probabilities(), before)


@pytest.mark.parametrize(
    ("attribute", "value", "sentence"),
    [
        ("bypass", "yes", "case: there is no 'bypass'; did you mean 'by_pass'"),
        ("by_pass", "perhaps", r"case\.by_pass: there is no 'perhaps'"),
    ],
)
def test_what_was_not_learned_is_told(attribute, value, sentence):
    with pytest.raises(DataError, match=sentence):
        lymph().choose(attribute, value)


def test_another_prior_is_bayes_rule():
    session = lymph(changes_in_node="lac central")
    learned, before = session.priors(), session.probabilities()
    session.suppose("metastases", 0.9)
    supposed = session.priors()
    assert supposed.sum() == pytest.approx(1.0)
    assert supposed[2] == 0.9
    others = [0, 1, 3]
    np.testing.assert_allclose(supposed[others] / supposed[0], learned[others] / learned[0])
    after = before * supposed / learned
    np.testing.assert_allclose(session.probabilities(), after / after.sum())
    assert lines_of(session, "metastases")[0]["size"] == pytest.approx(np.log2(0.9))
    session.suppose("metastases", None)
    np.testing.assert_array_equal(session.probabilities(), before)
    session.suppose("metastases", 0.0)
    assert session.priors()[2] == LEAST
    with pytest.raises(DataError, match="prior: there is no 'metastasis'"):
        session.suppose("metastasis", 0.5)


def test_recall_fills_in_the_value_of_largest_posterior():
    """By hand: log2 P(v) plus, over what is known, log2 P(v,w) / P(v) P(w), each estimated as the network's weights."""
    session = lymph(changes_in_node="lac central", by_pass="yes")
    network = session.subject.network()
    names = network.layout.names
    known = [names.index("changes_in_node = lac central"), names.index("by_pass = yes")]
    place = network.layout.schema.index("special_forms")
    span = slice(*network.layout.start[place : place + 2].tolist())
    scores = network.prior_bias[span] + network.bias[span] + network.weights[span][:, known].sum(dim=1)
    expected = session.values("special_forms")[int(scores.argmax())]
    assert session.recalled("special_forms") == expected
    assert "special_forms" not in session.codes
    with pytest.raises(DataError, match="by_pass: is 'yes'; make it unknown"):
        session.recalled("by_pass")


def test_recall_fills_in_with_nothing_known_and_with_all_else_known():
    assert lymph().recalled("by_pass") == "no"
    row = datasets.load("lymphography")[[3]].to_table().drop_columns(["class", "by_pass"]).to_pylist()[0]
    session = lymph(**{name: str(value) for name, value in row.items()})
    assert session.recalled("by_pass") in session.values("by_pass")


def test_a_saved_model_has_nothing_to_recall_by():
    subject = Subject("mine", SHELF.subject("zoo").classifier, "class")
    with pytest.raises(DataError, match="mine: a saved model holds no pairs"):
        ConsultSession(subject).recalled("milk")


def test_questions_are_those_of_the_library_and_end_when_all_is_known():
    session = lymph()
    names = [name for name, _ in session.to_ask()]
    assert set(names) == set(session.attributes)
    for name in session.attributes:
        session.choose(name, session.values(name)[0])
    assert session.to_ask() == []


def test_intervals_are_chosen_like_values():
    session = ConsultSession(SHELF.subject("iris"))
    for column in session.subject.classifier.codebook_.columns:
        rows = [{column.attribute.name: representative(column, code)} for code in range(len(column.attribute.values))]
        codes = session.subject.classifier.read_codes(table_of(session.subject.classifier, rows))
        place = session.attributes.index(column.attribute.name)
        assert codes[:, place].tolist() == list(range(len(rows)))


def test_a_classifier_that_has_no_priors_has_no_slider():
    subject = Subject("tree", bnn.TreeBayesClassifier().fit(datasets.load("zoo")), "class")
    session = ConsultSession(subject, {"milk": "1"})
    assert session.answers_to_priors == ("priors" in subject.classifier.get_params())
    assert session.to_ask() == []
    assert session.answer()[0] == "mammal"


def test_a_view_is_of_the_most_probable_class_or_of_the_one_asked_for():
    session = lymph(changes_in_node="lac central")
    view = view_of(session.copy())
    assert (view.shown, view.reasons) == ("malign lymph", lines_of(session, "malign lymph"))
    assert view.chances == session.probabilities().tolist()
    assert view.asked == session.to_ask()
    assert view.prior == session.priors()[1]
    assert view_of(session, "normal").reasons == lines_of(session, "normal")


def test_a_copy_goes_its_own_way():
    session = lymph(changes_in_node="lac central")
    session.suppose("normal", 0.5)
    copy = session.copy()
    copy.choose("by_pass", "yes")
    copy.suppose("normal", None)
    assert session.case == {"changes_in_node": "lac central"}
    assert session.priors()[3] == 0.5


def test_json_holds_the_case_and_adds_up():
    session = lymph(changes_in_node="lac central", special_forms="vesicles")
    told = json.loads(as_json(session))
    assert told["case"] == {"changes_in_node": "lac central", "special_forms": "vesicles"}
    for c, label in enumerate(told["classes"]):
        total = told["prior"][c] + sum(term["gains"][c] for term in told["terms"]) - told["normaliser"]
        assert 2**total == pytest.approx(told["probabilities"][label])
    assert [term["cases"] for term in told["terms"]] == [25, 77]


class Reader(HTMLParser):
    """Elements and words of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.words = set(), []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the library's name
        self.tags.add(tag)

    def handle_data(self, data):
        self.words.append(data)


def test_html_shows_markup_as_text():
    session = ConsultSession(hostile(), {HOSTILE: HOSTILE})
    page = as_html(session)
    reader = Reader()
    reader.feed(page)
    assert "img" not in reader.tags
    assert "script" not in reader.tags
    assert reader.words.count(HOSTILE) >= 4  # its name, the attribute, the value, the class
    assert "not a medical device" in page


def test_html_of_a_class_that_is_excluded():
    classifier = bnn.NaiveBayesClassifier(m=0.0).fit({"a": [0, 0, 1, 1]}, ["p", "p", "q", "q"])
    session = ConsultSession(Subject("sure", classifier, "class"), {"a": "0"})
    assert session.answer() == ("p", 1.0)
    assert [line["told"] for line in lines_of(session, "q")][1] == "\N{MINUS SIGN}inf"
    assert json.loads(as_json(session))["terms"][0]["gains"] == [1.0, None]
    assert "100.0 %" in as_html(session)


def test_finite_numbers_stay():
    assert finite([1.0, [float("inf"), float("nan"), 2]]) == [1.0, [None, None, 2]]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"legz": 4}], "rows: there is no 'legz'; did you mean 'legs'"),
        ([{"legs": "four"}], "rows: 'legs' held numbers when it was learned, and now 'four'"),
        ([{"legs": float("inf")}], "rows: 'legs' held numbers when it was learned, and now inf"),
    ],
)
def test_rows_that_cannot_be_read_are_told(rows, sentence):
    with pytest.raises(DataError, match=sentence):
        table_of(SHELF.subject("zoo").classifier, rows)
