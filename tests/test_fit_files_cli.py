"""bnn fit on files: divided in any way, damaged, interrupted, killed and changed."""

import json
import os
import re
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_fit_cli import bnn_, done

import bnn
from bnn import csvfile, sources
from bnn.app import fit_command
from bnn.app.progress import Bar
from bnn.classify.storing import load_classifier
from bnn.csvfile import read_csv
from bnn.files import exclusively

MODEL = "bnn-model.safetensors"
ROWS = 60


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BNN_DATA", raising=False)
    rng = np.random.default_rng(0)
    whole = pa.table({
        "size": rng.integers(0, 4, ROWS),
        "age": rng.integers(0, 400, ROWS) / 4,
        "colour": rng.choice(["red", "blue", ""], ROWS),
        "class": rng.choice(["u", "v", ""], ROWS),
    })  # fmt: skip
    for part in range(3):
        rows = whole.slice(20 * part, 20)
        pq.write_table(rows, f"{part}.parquet", row_group_size=7)
        lines = [
            ",".join(map(str, row.values()))
            for row in [dict(zip(whole.column_names, whole.column_names, strict=True)), *rows.to_pylist()]
        ]
        Path(f"{part}.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(csvfile, "BLOCK", 100)
    monkeypatch.setattr(sources, "ROWS", 3)


def refused(*words):
    result = bnn_(*words)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    return result.stderr


def interrupted_after(number, monkeypatch, error=KeyboardInterrupt):
    """Let Ctrl-C arrive after so many chunks have been counted."""
    whole = fit_command.counted

    def cut(*arguments):
        yield from islice(whole(*arguments), number)
        raise error

    monkeypatch.setattr(fit_command, "counted", cut)


@pytest.fixture(params=["csv", "parquet"])
def files(request):
    return [f"{part}.{request.param}" for part in range(3)]


# ---- one table in several files


@pytest.mark.parametrize("options", [(), ("--discretize", "mdl"), ("--fuzzy", "both"), ("--classifier", "tree")])
def test_many_files_are_one_table(files, options):
    if files[0].endswith("csv"):
        whole = pa.concat_tables([read_csv(file) for file in files])
    else:
        whole = pa.concat_tables([pq.read_table(file) for file in files])
    known = pa.array([label not in ("", None) for label in whole["class"].to_pylist()])
    X, y = whole.drop_columns("class").filter(known), whole["class"].filter(known)
    told = dict(zip(options[::2], options[1::2], strict=True))
    if told.get("--classifier"):
        expected = bnn.TreeBayesClassifier()
    else:
        expected = bnn.NaiveBayesClassifier(discretize=told.get("--discretize", "auto"), fuzzy=told.get("--fuzzy"))
    if told.get("--discretize"):
        expected.set_params(discretize=dict.fromkeys(X.column_names, "mdl"))
    expected.fit(X, y).save("expected.safetensors")
    done("fit", *files, *options)
    assert Path(MODEL).read_bytes() == Path("expected.safetensors").read_bytes()
    done("fit", f"[0-9]{Path(files[0]).suffix}", *options, "--out", "pattern.safetensors")
    assert Path("pattern.safetensors").read_bytes() == Path(MODEL).read_bytes()


def test_python_learns_files_alike(files):
    done("fit", *files)
    bnn.NaiveBayesClassifier().fit(bnn.Source.of(*files), "class").save("python.safetensors")
    assert Path("python.safetensors").read_bytes() == Path(MODEL).read_bytes()


def test_a_schema_is_written_and_spares_a_pass(files, monkeypatch):
    assert "Written: bnn-model.safetensors, s.json\n" in done("fit", *files, "--schema", "s.json")
    monkeypatch.setattr(fit_command, "survey_of", None)
    done("fit", *files, "--schema", "s.json", "--out", "given.safetensors")
    given, found = load_classifier("given.safetensors"), load_classifier(MODEL)
    assert given.counts_ == found.counts_
    assert given.codebook_.schema == found.codebook_.schema
    assert json.loads(Path("s.json").read_text())["target"] == "class"
    assert bnn.Schema.load("s.json")["age"].bounds is not None
    for word in (("--intervals", "5"), ("--discretize", "mdl"), ("--fuzzy", "both")):
        assert f"{word[0]}: the schema 's.json' says how numbers are cut" in refused(
            "fit", *files, "--schema", "s.json", *word
        )
    assert "--schema: 'tree' learns from all rows at once" in refused(
        "fit", *files, "--schema", "s.json", "--classifier", "tree"
    )
    assert "or ignore, a column of 's.json': there is no 'age'" in refused(
        "fit", *files, "--schema", "s.json", "--ignore", "age"
    )


def test_values_that_a_schema_lacks_are_told_once():
    done("fit", "0.csv", "--schema", "s.json")
    Path("new.csv").write_text("size,age,colour,class\n" + "many,10,green,u\n" * 9 + "2,old,red,v\n")
    result = bnn_("fit", "0.csv", "new.csv", "--schema", "s.json", "--out", "new.safetensors")
    assert result.exit_code == 0
    assert result.stderr == (
        "bnn: values that the schema lacks were taken as missing: 'size' 9 (such as 'many'), 'colour' 9 (such as "
        "'green'), 'age' 1 (such as 'old').\n"
    )


# ---- damage


def test_damaged_rows_are_told_by_line_and_counted():
    text = Path("1.csv").read_bytes().splitlines()
    text[3] += b",1"
    text[9] = b"1,2,r\xe9d,u"
    text[12] = b"1"
    Path("1.csv").write_bytes(b"\n".join(text))
    told = "'1.csv', line 4: got 5 fields where the header names 4 columns"
    result = bnn_("fit", "0.csv", "1.csv", "2.csv", "--json")
    assert result.exit_code == 0
    assert result.stderr == (
        f"bnn: 3 damaged rows were left out: {told}; '1.csv', line 10: byte 0xe9 is not UTF-8; save the file as UTF-8; "
        "'1.csv', line 13: got 1 fields where the header names 4 columns.\n"
    )
    found = json.loads(result.stdout)
    assert (found["damaged"], found["rows"] + found["left_out"]) == (3, ROWS - 3)
    assert f"bnn: {told}; mend it" in refused("fit", "0.csv", "1.csv", "2.csv", "--strict", "--out", "x.safetensors")
    assert not Path("x.safetensors").exists()


def test_damage_is_told_in_the_right_number():
    Path("1.csv").write_text("size,age,colour,class\n1,2,red,u\n1\n")
    Path("2.csv").write_text("")
    told = bnn_("fit", "0.csv", "1.csv").stderr
    assert told == "bnn: 1 damaged row was left out: '1.csv', line 3: got 1 fields where the header names 4 columns.\n"
    told = bnn_("fit", "0.csv", "2.csv").stderr
    assert told.startswith("bnn: damage, of how many rows is not known, was left out: read_csv: '2.csv' is empty; ")


def damage(path, part):
    """Make a column of a row group unreadable."""
    content = bytearray(Path(path).read_bytes())
    group = pq.ParquetFile(path).metadata.row_group(part).column(2)
    start = group.dictionary_page_offset
    content[start : start + group.total_compressed_size] = b"\xff" * group.total_compressed_size
    Path(path).write_bytes(content)


def test_damaged_parquet_files():
    damage("1.parquet", 1)
    Path("2.parquet").write_bytes(b"no parquet at all")
    result = bnn_("fit", "0.parquet", "1.parquet", "2.parquet", "--json")
    assert result.exit_code == 0
    assert "bnn: 7 damaged rows were left out: '1.parquet', row group 1 from row 0 on: cannot be read:" in result.stderr
    assert "'2.parquet': cannot be read:" in result.stderr
    found = json.loads(result.stdout)
    assert (found["damaged"], found["rows"] + found["left_out"]) == (7, 40 - 7)
    assert "row group 1" in refused("fit", "0.parquet", "1.parquet", "--strict")
    assert "'2.parquet' cannot be read" in refused("fit", "0.parquet", "2.parquet", "--strict")
    assert "'2.parquet' cannot be read" in refused("fit", "2.parquet")


def test_damage_is_told_as_often_as_it_is_there():
    damage("1.parquet", 2)  # the last that is read, where a finished run would go on
    told = [bnn_("fit", "0.parquet", "1.parquet", "--resume").stderr for _ in range(3)]
    assert told[0].startswith("bnn: 6 damaged rows were left out: '1.parquet', row group 2 from row 0 on")
    assert told == [told[0]] * 3


def test_damage_of_unknown_size_is_no_damage_of_no_rows():
    Path("1.parquet").write_bytes(b"no parquet at all")
    told = bnn_("fit", "0.parquet", "1.parquet").stderr
    assert told.startswith("bnn: damage, of how many rows is not known, was left out: '1.parquet': cannot be read:")


# ---- interruption


@pytest.mark.parametrize("number", [1, 8])
def test_an_interrupted_run_goes_on_and_ends_with_the_same_bits(files, number, monkeypatch):
    done("fit", *files, "--resume", "--out", "whole.safetensors")
    with monkeypatch.context() as patch:
        interrupted_after(number, patch)
        result = bnn_("fit", *files, "--resume")
    assert result.exit_code == 130
    assert "rows; bnn-model.safetensors holds them: the same words go on from there.\n" in result.stderr
    assert Path(MODEL).read_bytes() != Path("whole.safetensors").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(fit_command, "survey_of", None)  # what columns mean is known
        done("fit", *files, "--resume")
    assert Path(MODEL).read_bytes() == Path("whole.safetensors").read_bytes()
    done("fit", *files, "--resume")  # nothing is left to do
    assert Path(MODEL).read_bytes() == Path("whole.safetensors").read_bytes()


def test_a_run_that_is_not_kept_leaves_nothing(files, monkeypatch):
    interrupted_after(2, monkeypatch)
    assert bnn_("fit", *files).stderr == "bnn: interrupted.\n"
    assert not Path(MODEL).exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from bnn import cli, csvfile, sources
from bnn.app import fit_command, resuming
csvfile.BLOCK, sources.ROWS, fit_command.SAVE_EVERY = 100, 3, 0.0
saves, place = int(sys.argv[1]), sys.argv[2]
owner, name = (resuming.Saved, "write") if place == "between" else (Path, "replace")
original, calls = getattr(owner, name), []
def deadly(*arguments):
    calls.append(1)
    if len(calls) > saves:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments)
setattr(owner, name, deadly)
sys.argv = ["bnn", "fit", *sys.argv[3:], "--resume"]
cli.main()
"""


@pytest.mark.parametrize("place", ["between", "in the middle of a save"])
def test_a_killed_run_goes_on_from_its_last_save(files, place, monkeypatch):
    done("fit", *files, "--resume", "--out", "whole.safetensors")
    killed = subprocess.run([sys.executable, "-c", KILLED, "3", place, *files], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    old = load_classifier(MODEL)  # the third save, whole
    assert 0 < old.counts_.rows < load_classifier("whole.safetensors").counts_.rows
    with monkeypatch.context() as patch:
        patch.setattr(fit_command, "survey_of", None)
        done("fit", *files, "--resume")
    assert Path(MODEL).read_bytes() == Path("whole.safetensors").read_bytes()


def test_what_is_said_to_be_written_is_there_though_no_row_was_read():
    bnn.find_schema(bnn.Source.of("0.csv"), "class", ignore=["age"]).save("schema.json")
    Path("none.csv").write_text("size,colour,class\n")
    result = bnn_("fit", "none.csv", "--schema", "schema.json", "--resume")
    assert (result.exit_code, Path(MODEL).exists()) == (0, f"Written: {MODEL}" in result.stdout)
    assert load_classifier(MODEL).counts_.rows == 0


def test_more_files_behind_the_first_ones():
    for words in (("0.csv",), ("0.csv", "1.csv"), ("0.csv", "1.csv", "2.csv")):
        done("fit", *words, "--resume", "--ignore", "age", "--ignore", "size")
    done("fit", "0.csv", "1.csv", "2.csv", "--ignore", "age", "--ignore", "size", "--out", "whole.safetensors")
    assert load_classifier(MODEL).counts_ == load_classifier("whole.safetensors").counts_


def test_what_a_run_cannot_go_on_from(files, monkeypatch):
    with monkeypatch.context() as patch:
        interrupted_after(8 if files[0] == "0.csv" else 12, patch)
        assert bnn_("fit", *files, "--resume").exit_code == 130
    kept = Path(MODEL).read_bytes()
    assert "was begun otherwise: m is 2.0 there and 1.0 here" in refused("fit", *files, "--resume", "--m", "1")
    assert "ignore is [] there and ['age'] here" in refused("fit", *files, "--resume", "--ignore", "age")
    assert f"holds rows of {files[0]!r}, but here is {files[1]!r}" in refused("fit", *files[1:], "--resume")
    assert f"holds rows of {files[1]!r}, but here is None" in refused("fit", files[0], "--resume")
    os.utime(files[0], ns=(0, 0))
    assert f"{files[0]!r} has changed since its rows were counted; name another --out" in refused(
        "fit", *files, "--resume"
    )
    assert Path(MODEL).read_bytes() == kept
    done("fit", *files)  # without --resume it is replaced
    assert "does not say which rows are in it" in refused("fit", *files, "--resume")
    Path(MODEL).write_bytes(kept[:-9] + b"\1" * 9)
    assert "is damaged" in refused("fit", *files, "--resume")


def test_one_of_two_runs_on_one_file_wins(files):
    with exclusively(MODEL):
        assert "another process is changing it and will win" in refused("fit", *files, "--resume")
    done("fit", *files, "--resume")


def test_a_bar_tells_rows_and_rows_a_second():
    with Bar(delay=60.0) as bar:
        bar.say("looking at columns")
        chunks = list(bar.passing(bnn.Source.of("0.csv", "1.csv").chunks()))
        (task,) = bar._progress.tasks
        told = re.fullmatch(r"40 rows, [\d,]+ rows/s", task.fields["speed"])
    assert sum(chunk.table.num_rows for chunk in chunks) == 40
    assert told
