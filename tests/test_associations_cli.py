"""The command `bnn associations`, as a user runs it."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bnn
from bnn import cli, plots

FILES = ["bnn-associations-graph.png", "bnn-associations.csv", "bnn-associations.png"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Each test in its own folder, a terminal of 80 columns, no data folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("BNN_DATA", raising=False)


def bnn_(*words):
    return CliRunner().invoke(cli.app, ["associations", *words])


def test_it_prints_a_table_and_a_caution():
    result = bnn_("zoo", "--attribute", "class", "--top", "3")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "legs = 6, class = insect" in result.stdout
    assert "252 pairs were compared and 87 intervals of 95 % leave out 0" in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert list(Path().iterdir()) == []


def test_numbers_are_those_of_the_library_and_files_hold_them():
    result = bnn_("house-votes-84", "--top", "4", "--level", "0.99", "--m", "3", "--json", "--out", ".")
    told = json.loads(result.stdout)
    counts = bnn.Counts.of(bnn.datasets.load("house-votes-84"))
    expected = bnn.learn(counts, m=3.0).associations(counts, top=4, level=0.99)
    assert told["rows"] == expected.to_frame().to_pylist()
    assert (told["compared"], told["found"], told["level"]) == (expected.compared, expected.found, 0.99)
    assert sorted(file.name for file in Path().iterdir()) == FILES
    with Path(FILES[1]).open(encoding="utf-8", newline="") as file:
        assert [row["first"] for row in csv.DictReader(file)] == expected.to_frame()["first"].to_pylist()


def test_nothing_found_is_said_and_not_drawn():
    Path("even.csv").write_text("a,b\n0,x\n0,y\n1,x\n1,y\n", encoding="utf-8")
    result = bnn_("even.csv", "--out", ".")
    assert "even.csv: no pair of values comes together more often, or less, than chance." in result.stdout
    assert sorted(file.name for file in Path().iterdir()) == ["bnn-associations.csv", "even.csv"]


def test_columns_may_be_left_out():
    told = json.loads(bnn_("zoo", "--ignore", "legs", "--top", "50", "--json").stdout)
    assert not any("legs" in row["first"] + row["second"] for row in told["rows"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("zoo", "--attribute", "leg"), "--attribute: there is no 'leg'; did you mean 'legs'?"),
        (("zoo", "--ignore", "leg"), "--ignore: there is no 'leg'; did you mean 'legs'?"),
        (("zoo", "--level", "2"), "associations.level: got 2.0"),
        (("zoo", "--out", "nowhere"), "--out: 'nowhere' is no folder"),
    ],
)
def test_what_does_not_fit_is_one_sentence(words, sentence):
    result = bnn_(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_columns_are_separated_by_commas(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1;2\n")
    result = bnn_(str(tmp_path / "t.csv"))
    assert result.exit_code == 2
    assert "its one column is called 'a;b'; separate columns by commas." in result.stderr


def test_pictures_show_each_pair_with_its_interval_and_its_counts():
    found = bnn.learn(bnn.datasets.load("zoo")).associations(attribute="class", top=3)
    ax = plots.associations(found).axes[0]
    assert next(label.get_text() for label in ax.get_yticklabels()) == "legs = 6,  class = insect"
    counts = ax.child_axes[0]
    assert next(label.get_text() for label in counts.get_yticklabels()) == "8 / 0.8"
    names = {text.get_text() for text in plots.graph(found).axes[0].texts}
    pairs = {*found.first.tolist(), *found.second.tolist()}
    assert names == {found.layout.names[i] for i in pairs}


@pytest.mark.parametrize("draw", [plots.associations, plots.graph])
def test_a_picture_of_nothing_is_refused(draw):
    even = bnn.Records.from_table({"a": [0, 0, 1, 1], "b": ["x", "y", "x", "y"]})
    with pytest.raises(bnn.BnnError, match="no association was found; there is nothing to draw"):
        draw(bnn.learn(even).associations())
