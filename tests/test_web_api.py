"""The interface for programs: the library's own answers, clear refusals, and fuzzing from its own schema."""

import json

import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS
from starlette.testclient import TestClient

import bnn
from bnn import datasets
from bnn.web.api import api_of
from bnn.web.questions import MOST_CUES
from bnn.web.shelf import shelf_of
from bnn.web.work import Pool

pytestmark = pytest.mark.filterwarnings("ignore::bnn.errors.BnnWarning")  # the server tells them in its answers
API = api_of(shelf_of(), Pool())
CLIENT = TestClient(API, base_url="http://127.0.0.1")
PATTERNS = [[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0, 0]]


def asked(path, status=200, /, **question):
    answer = CLIENT.post(path, json=question)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_names_are_those_of_the_shelf():
    told = CLIENT.get("/names").json()
    assert told["recall"] == ["mnist-100"]
    assert set(told["consult"]) | {"mnist-100"} == set(datasets.names())


def test_probabilities_are_those_of_the_library():
    zoo = datasets.load("zoo")
    rows = zoo.to_table().drop_columns("class").to_pylist()[:20]
    told = asked("/predict", data="zoo", rows=rows)
    classifier = bnn.NaiveBayesClassifier().fit(zoo)
    assert told["classes"] == classifier.classes_.tolist()
    assert told["predictions"] == classifier.predict(zoo[:20]).tolist()
    np.testing.assert_allclose(told["probabilities"], classifier.predict_proba(zoo[:20]), rtol=1e-12)
    assert told["notes"] == []


def test_numbers_are_cut_as_they_were_learned():
    iris = datasets.table("iris")
    rows = iris.drop_columns("class").to_pylist()[::10]
    told = asked("/predict", data="iris", rows=rows)
    classifier = bnn.NaiveBayesClassifier().fit(iris.drop_columns("class"), iris["class"])
    assert told["predictions"] == classifier.predict(iris.drop_columns("class").take(list(range(0, 150, 10)))).tolist()


def test_missing_and_never_learned_are_no_evidence():
    told = asked("/predict", rows=[{}, {"by_pass": None}, {"by_pass": "sideways"}])
    assert told["probabilities"][0] == told["probabilities"][1] == told["probabilities"][2]
    assert told["notes"] == ["by_pass: 'sideways' was never learned, and is no evidence."]


def test_terms_add_up():
    told = asked("/explain", rows=[{"changes_in_node": "lac central", "special_forms": "vesicles"}, {}])
    chances = asked("/predict", rows=[{"changes_in_node": "lac central", "special_forms": "vesicles"}])
    first, second = told["rows"]
    for c, chance in enumerate(chances["probabilities"][0]):
        total = first["prior"][c] + sum(term["gains"][c] for term in first["terms"]) - first["normaliser"]
        assert total == pytest.approx(np.log2(chance))
        assert first["log2_probabilities"][c] == pytest.approx(total)
    assert [(term["attribute"], term["cases"]) for term in first["terms"]] == [
        ("changes_in_node", 25),
        ("special_forms", 77),
    ]
    assert second["terms"] == []


def test_recall_is_that_of_the_library():
    cue = [1, 1, 1, 1, 0, 0, 0, 1]
    told = asked("/recall", patterns=PATTERNS, cues=[cue], rule="odds", seed=3)
    trace = bnn.recall(bnn.learn(bnn.Records.from_patterns(PATTERNS), "odds"), [cue], seed=3)
    (row,) = told["rows"]
    assert row["state"] == PATTERNS[0]
    assert row["falling"] == trace.lyapunov[0].tolist()
    assert (row["nearest"], row["overlap"], row["match"], row["outcome"]) == (0, 1.0, "stored", "settled")
    assert (told["falls"], told["unit"], told["descent_holds"], told["guaranteed"]) == ("energy", "bits", True, True)


@pytest.mark.parametrize("dynamics", sorted(set(bnn.DYNAMICS) - {"attention"}))
@pytest.mark.parametrize("rule", ["odds", "hopfield"])
def test_states_are_on_off_or_between(rule, dynamics):
    told = asked("/recall", patterns=PATTERNS, cues=[[1, 0, 1, 1, 0, 0, 0, 0]], rule=rule, dynamics=dynamics)
    state = told["rows"][0]["state"]
    assert all(0.0 <= on <= 1.0 for on in state)
    assert dynamics == "flow" or set(state) <= {0.0, 1.0}


def test_an_unknown_cell_is_filled_in():
    told = asked("/recall", patterns=PATTERNS, cues=[[1, None, 1, 1, 0, 0, 0, 0]])
    assert told["rows"][0]["state"] == PATTERNS[0]


def test_digits_are_recalled():
    digits = datasets.load("mnist-100")[::10]
    cues = bnn.corrupt(digits, flip=0.1, seed=0).patterns.tolist()
    told = asked("/recall", data="mnist-100", cues=cues)
    assert [row["nearest"] for row in told["rows"]] == list(range(10))
    assert {row["match"] for row in told["rows"]} == {"stored"}


@pytest.mark.parametrize(
    ("path", "question", "sentence"),
    [
        ("/predict", {"data": "zo", "rows": [{}]}, "data: there is no 'zo'; did you mean 'zoo'"),
        ("/predict", {"data": "../../etc/passwd", "rows": [{}]}, "data: there is no '../../etc/passwd'"),
        ("/predict", {"data": "mnist-100", "rows": [{}]}, "data: there is no 'mnist-100'"),
        ("/predict", {"rows": [{"bypass": "yes"}]}, "rows: there is no 'bypass'; did you mean 'by_pass'"),
        ("/predict", {"data": "iris", "rows": [{"petal_width": "wide"}]}, "'petal_width' held numbers"),
        ("/predict", {"rows": []}, "at least 1 item"),
        ("/predict", {"rows": [{}] * 1001}, "at most 1000 items"),
        ("/predict", {"rows": [{}], "path": "x"}, "Extra inputs are not permitted"),
        ("/explain", {"rows": [{"by_pass": ["yes"]}]}, "valid string"),
        ("/recall", {"cues": [[1, 0]]}, "cues: have 2 neurons, and the patterns 784"),
        ("/recall", {"patterns": PATTERNS, "cues": [[1] * 8, [1]]}, "cues: the rows differ in length"),
        ("/recall", {"patterns": [[1], [1, 0]], "cues": [[1]]}, "patterns: the rows differ in length"),
        ("/recall", {"patterns": PATTERNS, "data": "mnist-100", "cues": [[1] * 8]}, "both data and patterns"),
        ("/recall", {"patterns": PATTERNS, "cues": [[2] * 8]}, "less than or equal to 1"),
        ("/recall", {"patterns": PATTERNS, "cues": [[True] * 8]}, "valid integer"),
        ("/recall", {"patterns": PATTERNS, "cues": [[1] * 8], "rule": "oods"}, "did you mean 'odds'"),
        ("/recall", {"patterns": PATTERNS, "cues": [[1] * 8], "dynamics": "attention"}, "works by patterns"),
        ("/recall", {"patterns": PATTERNS, "cues": [[1] * 8] * (MOST_CUES + 1)}, "at most 50 items"),
        ("/recall", {"patterns": PATTERNS, "cues": [[1] * 8], "max_sweeps": 10**6}, "less than or equal to 200"),
    ],
)
def test_what_cannot_be_is_told(path, question, sentence):
    assert sentence in json.dumps(asked(path, 422, **question)["detail"], ensure_ascii=False)


def test_no_answer_is_broken_json():
    answer = CLIENT.post("/predict", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert CLIENT.post("/predict", content=b'{"rows": [{}]}', headers={"content-type": "text/plain"}).status_code == 422
    assert CLIENT.get("/predict").status_code == 405
    assert CLIENT.get("/nowhere").status_code == 404


SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", API)
# what a name or a length must agree with, the schema cannot say
EXCLUDED = list(CHECKS.get_by_names(["positive_data_acceptance"]))


@SCHEMA.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_the_interface_is_what_its_schema_says(case):
    case.call_and_validate(excluded_checks=EXCLUDED)
