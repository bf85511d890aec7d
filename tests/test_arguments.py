"""Words that commands share: tables from standard input, formats of pictures, what the shell completes."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

import bnn
from bnn import cli
from bnn.app import arguments, capacity_options

FRUIT = """weight,colour,kind
182,red,apple
165,green,apple
150,red,apple
201,green,pear
188,,pear
214,yellow,pear
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()


def bnn_(*words, given=None):
    result = CliRunner().invoke(cli.app, list(words), input=given)
    assert result.exit_code == 0, result.output
    return result.stdout


def same_of_a_file_and_of_standard_input(*words):
    """Whether a command prints the same of both, the name of the file left out; returns what it prints."""
    Path("standard-input.csv").write_text(FRUIT)
    name = str(Path("standard-input.csv").absolute())
    of_file = bnn_(*(name if word == "-" else word for word in words))
    of_stream = bnn_(*words, given=FRUIT)
    assert not list(Path("temporary").iterdir())
    return of_file == of_stream, of_stream


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "-", "--target", "kind", "--json"),
        ("recall", "--data", "-", "--row", "4", "--mask", "colour", "--rule", "odds", "--json"),
        ("associations", "-", "--json"),
        ("compare", "-", "--target", "kind", "--classifier", "naive", "--splits", "2", "--repeats", "1", "--json"),
        ("predict", "model.safetensors", "-"),
        ("explain", "model.safetensors", "-", "--row", "4", "--json"),
    ],
    ids=lambda words: words[0],
)
def test_every_table_can_come_from_standard_input(words):
    if "model.safetensors" in words:
        Path("fruit.csv").write_text(FRUIT)
        bnn_("fit", "fruit.csv", "--target", "kind", "--out", "model.safetensors")
    same, told = same_of_a_file_and_of_standard_input(*words)
    assert same
    assert told


def test_empty_standard_input_is_told_in_a_sentence():
    result = CliRunner().invoke(cli.app, ["fit", "-"], input="")
    assert result.exit_code == 2
    assert "bnn: read_csv: 'standard input' is empty" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "-", "--target", "kind"),
        ("recall", "--data", "-", "--row", "4", "--mask", "colour", "--rule", "odds"),
        ("associations", "-"),
        ("compare", "-", "--target", "kind", "--classifier", "naive", "--splits", "2", "--repeats", "1"),
        ("predict", "model.safetensors", "-", "--out", "."),
        ("explain", "model.safetensors", "-", "--row", "4"),
    ],
    ids=lambda words: words[0],
)
def test_standard_input_is_called_so(words):
    Path("fruit.csv").write_text(FRUIT)
    bnn_("fit", "fruit.csv", "--target", "kind", "--out", "model.safetensors")
    assert bnn_(*words, given=FRUIT).startswith("standard input")


def test_help_has_paragraphs_without_breaks():
    assert arguments.paragraphs("A\n    b.\n\n    C\n    d.\n    ") == "A b.\n\nC d."


@pytest.mark.parametrize("form", arguments.FORMATS)
def test_pictures_come_in_every_format_by_name_or_by_option(form):
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[form]
    Path("fruit.csv").write_text(FRUIT)
    table = ("fruit.csv", "--target", "kind")
    bnn_("fit", *table, "--out", "model.safetensors")
    asked = {
        "recall": ("--data", "fruit.csv", "--rule", "odds", "--out", "."),
        "explain": ("model.safetensors", "fruit.csv", "--out", "."),
        "compare": (*table, "--classifier", "naive", "--splits", "2", "--repeats", "1"),
        "capacity": ("--rule", "hopfield", "--neurons", "20", "--seeds", "1"),
        "associations": ("zoo", "--attribute", "class", "--top", "2", "--out", "."),
    }
    for command, words in asked.items():
        files = json.loads(bnn_(command, *words, "--pictures", form, "--json"))["files"]
        pictures = [file for file in files if not file.endswith(".csv")]
        assert pictures
        assert all(file.endswith(f".{form}") and Path(file).read_bytes().startswith(begins) for file in pictures)
    (named,) = json.loads(
        bnn_("recall", "--data", "fruit.csv", "--rule", "odds", "--out", f"mine.{form}", "--pictures", "png", "--json")
    )["files"]
    assert named == f"mine.{form}"
    assert Path(named).read_bytes().startswith(begins)


def test_unknown_format_is_an_error():
    result = CliRunner().invoke(cli.app, ["compare", "zoo", "--pictures", "jpg"])
    assert result.exit_code == 2
    assert "--pictures: there is no 'jpg'" in " ".join(result.stderr.split())


def test_every_command_that_ends_speaks_json():
    commands = typer.main.get_command(cli.app).commands
    del commands["serve"]  # speaks it under /api
    assert len(commands) >= 8
    for name, command in commands.items():
        assert any("--json" in option.opts for option in command.params), name


def completed(*words):
    """What bash is offered for the last word."""
    asked = {"_BNN_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(("bnn", *words)), "COMP_CWORD": str(len(words))}
    code = "import sys; from bnn.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


def test_shell_completes_commands_rules_and_data_sets():
    assert completed("re") == ["recall"]
    assert completed("recall", "--rule", "h") == ["hopfield", "hebb"]
    assert completed("fit", "lym") == ["lymphography"]


def test_what_is_completed_is_what_there_is():
    names = {
        arguments.rule_names: bnn.RULES,
        arguments.dynamics_names: bnn.DYNAMICS,
        arguments.classifier_names: bnn.CLASSIFIERS,
        arguments.data_names: bnn.datasets.names(),
    }
    for offered, known in names.items():
        assert sorted(offered("")) == sorted(known)
    assert sorted(capacity_options.FAMILIES) == sorted(bnn.study.FAMILIES)


def test_completion_can_be_installed(monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    done = subprocess.run(
        [sys.executable, "-c", "from bnn.cli import main; main()", "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_BNN_COMPLETE=complete_bash" in done.stdout
