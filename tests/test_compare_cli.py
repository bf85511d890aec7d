import csv
import json
from pathlib import Path

import pytest
from sklearn.dummy import DummyClassifier
from typer.testing import CliRunner

import bnn
from bnn import cli
from bnn.app import compare_command, compare_report
from bnn.classify.paired import Difference
from bnn.csvfile import read_csv

FILES = ["bnn-compare-reliability.png", "bnn-compare-results.csv", "bnn-compare-splits.csv", "bnn-compare.png"]
QUICK = ("compare", "lymphography", "--splits", "2", "--repeats", "2")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Each test in its own folder, a terminal of 80 columns, no data folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("BNN_DATA", raising=False)


def here():
    return sorted(file.name for file in Path().iterdir())


def bnn_(*words):
    return CliRunner().invoke(cli.app, list(words))


def refused(*words):
    """The one sentence of a command that must fail, and nothing else."""
    before = here()
    result = bnn_(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("bnn: ")
    assert result.stderr.count("\n") == 1
    assert here() == before
    return result.stderr


def test_numbers_and_files_are_those_of_the_library(tmp_path):
    (tmp_path / "out").mkdir()
    words = ("--train", "0.6", "--seed", "3", "--out", "out", "--json")
    result = bnn_(*QUICK, *words)
    assert (result.exit_code, result.stderr) == (0, "")
    told = json.loads(result.stdout)
    table = read_csv(bnn.datasets.path("lymphography"))
    X, y = table.drop_columns(["class"]), table["class"]
    expected = bnn.compare(bnn.CLASSIFIERS, X, y, splits=2, repeats=2, train=0.6, seed=3)
    assert list(told) == ["rows", "differences", "files"]
    for row, score in zip(told["rows"], expected.scores, strict=True):
        assert list(row) == ["classifier", "accuracy", "accuracy_sd", "information", "log_loss"]
        assert row == {key: getattr(score, key) for key in row}
    first = told["differences"][0]
    assert first["measure"] == "accuracy"
    assert first["low"] == expected.differences("accuracy")[0].low
    assert {d["measure"] for d in told["differences"]} == {"accuracy", "information", "log_loss"}
    assert sorted(Path(file).name for file in told["files"]) == FILES
    assert all((tmp_path / file).stat().st_size > 1000 for file in told["files"] if file.endswith("png"))
    with (tmp_path / "out" / "bnn-compare-splits.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 4 * 148
    with (tmp_path / "out" / "bnn-compare-results.csv").open() as file:
        assert [float(line["log_loss"]) for line in csv.DictReader(file)] == expected.log_loss.ravel().tolist()
    assert here() == ["out"]


def test_table_for_people_fits_80_columns():
    result = bnn_(*QUICK)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    told = " ".join(result.stdout.split())
    assert "lymphography: 148 rows, 18 attributes, class of 4 values; 4 random splits, 104 rows to train and" in told
    assert f"Difference from {next(iter(bnn.CLASSIFIERS))} on the same splits:" in told
    assert "a class without a training row counts as probability 1e-06" in told
    assert "Written: bnn-compare.png" in told
    assert here() == FILES


def test_table_takes_more_room_where_there_is_some(monkeypatch):
    narrow = bnn_(*QUICK).stdout
    monkeypatch.setenv("COLUMNS", "120")
    wide = bnn_(*QUICK).stdout
    assert wide.replace("─", "").split() == narrow.replace("─", "").split()
    assert max(map(len, wide.splitlines())) <= 120


def test_the_first_classifier_named_is_compared_with():
    names = ("sklearn-logistic", "sklearn-categorical")
    words = [word for name in (*names, names[0]) for word in ("--classifier", name)]
    told = json.loads(bnn_(*QUICK, *words, "--json").stdout)
    assert [row["classifier"] for row in told["rows"]] == list(names)
    assert {(d["classifier"], d["baseline"]) for d in told["differences"]} == {(names[1], names[0])}
    alone = bnn_(*QUICK, *words[:2])
    assert alone.exit_code == 0
    assert "Difference" not in alone.stdout
    assert "Holm" not in alone.stdout


def test_a_file_with_another_target_and_rows_without_one(tmp_path):
    rows = ["x,y,kind"] + ["a,1,u", "b,2,v", "a,1,u", "b,,v", "a,2,"] * 4
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    result = bnn_("compare", "t.csv", "--target", "kind", "--repeats", "1")
    told = " ".join(result.stdout.split())
    assert "t.csv: 16 rows, 2 attributes, kind of 2 values; 10 random splits, 11 rows to train and 5 to test" in told
    assert "4 rows without a kind are left out." in told
    with Path("bnn-compare-splits.csv").open() as file:
        assert {int(line["row"]) % 5 for line in csv.DictReader(file)} == {0, 1, 2, 3}


def test_a_warning_is_told_once(tmp_path):
    rows = ["id,x,class", *(f"person {i},{'ab'[i % 2]},{'uv'[i % 2]}" for i in range(40))]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    result = bnn_("compare", "t.csv", "--classifier", "naive", "--repeats", "1", "--json")
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)["rows"]) == 1
    assert result.stderr.startswith(
        "bnn: NaiveBayesClassifier.X: every value of column 'id' occurs once: an identifier"
    )
    assert result.stderr.count("\n") == 1


def test_colours_follow_what_holds_among_all():
    better = Difference("b", "a", 0.1, 0.05, 0.15, 0.0001, 0.0004)
    worse = Difference("c", "a", -0.1, -0.15, -0.05, 0.001, 0.002)
    same = Difference("d", "a", -0.1, -0.15, -0.05, 0.02, 0.06)
    cells = [compare_report._cells(d, 100.0, "+z.1f") for d in (better, worse, same)]
    assert [cell.style for cell, _ in cells] == ["green", "red", ""]
    assert cells[0][0].plain == "+10.0 [+5.0, +15.0]"
    assert [p.plain for _, p in cells] == ["< 0.001", "0.002", "0.060"]


class Breaks(DummyClassifier):
    def predict_proba(self, X):  # noqa: ARG002 - scikit-learn's signature
        raise KeyError("what")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("compare", "lymphografy"), "datasets: there is no 'lymphografy'; did you mean 'lymphography'?"),
        (("compare", "nowhere.csv"), "read_csv: 'nowhere.csv' does not exist"),
        ((*QUICK, "--target", "clas"), "--target: there is no 'clas'; did you mean 'class'?"),
        ((*QUICK, "--classifier", "sklearn-categoric"), "--classifier: there is no 'sklearn-categoric'; did you mean"),
        ((*QUICK, "--train", "70"), "--train: got 70; give the share of rows to train on, between 0 and 1."),
        ((*QUICK, "--train", "0.001"), "compare.train: got 0.001 of 148 rows"),
        ((*QUICK, "--out", "there"), "--out: 'there' is no folder; make it first."),
        (("compare", "zoo", "--splits", "1", "--repeats", "1"), "--splits: one split shows no spread"),
        (("compare", "zoo", "--splits", "0"), "Invalid value for '--splits'"),
        (("compare",), "Missing argument"),
        (("compare", "zoo", "--target", "milkk"), "did you mean 'milk'?"),
    ],
)
def test_refusals(words, message):
    assert message in refused(*words)


def test_a_table_must_hold_more_than_its_target(tmp_path):
    (tmp_path / "t.csv").write_text("class\na\nb\n")
    assert "--target: t.csv holds nothing but 'class'; there is nothing to predict by." in refused("compare", "t.csv")


def test_a_classifier_that_breaks_is_named(monkeypatch):
    monkeypatch.setattr(compare_command, "CLASSIFIERS", {"mine": Breaks()})
    assert "compare.classifiers: 'mine' failed on split 0 of repeat 0: 'what'." in refused(*QUICK)


def test_interrupted(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare_command, "run", interrupt)
    result = bnn_(*QUICK)
    assert (result.exit_code, result.stderr) == (130, "bnn: interrupted.\n")
    assert here() == []
