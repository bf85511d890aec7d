"""The results file of a study: interruptions change nothing, and other files are left alone."""

import json
from dataclasses import asdict, replace

import pytest

import bnn
from bnn.errors import FileError
from bnn.study import (
    Criterion,
    Dense,
    Learner,
    Noise,
    Question,
    Shift,
    evaluation,
    held,
)

SMALL = Question(Dense(40), Noise(flips=0.1))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "results.jsonl"


def whole_run(file, **others):
    return held(SMALL, Learner("hopfield"), seeds=2, results=file, **others)


def test_the_file_tells_everything(file):
    found = whole_run(file)
    head, *lines = map(json.loads, file.read_text().splitlines())
    assert head["kind"] == "bnn capacity"
    assert head["question"] == json.loads(json.dumps(SMALL.describe()))
    assert sorted(lines, key=lambda line: (line["seed"], line["patterns"])) == [
        {"rule": "hopfield", "learning": {}, "input": 0.0, **asdict(point)} for point in found.points
    ]


def test_an_interrupted_run_goes_on_to_the_same_result(file, monkeypatch):
    """After every number of evaluated loads, and with the last line cut short."""
    expected = whole_run(file)
    written = file.read_text().splitlines(keepends=True)
    evaluated = []
    original = evaluation.recalled
    monkeypatch.setattr("bnn.study.capacities.recalled", lambda *args: evaluated.append(args[-1]) or original(*args))
    for kept in range(1, len(written) + 1):
        for cut in (0, 9):
            partial = "".join(written[:kept])
            file.write_text(partial[: len(partial) - (cut if kept > 1 else 0)])
            evaluated.clear()
            found = whole_run(file)
            assert found.describe() == expected.describe()
            assert found.points == expected.points
            assert len(evaluated) == len(written) - kept + (cut > 0 and kept > 1)
            assert sorted(file.read_text().splitlines()) == sorted("".join(written).splitlines())


def test_ctrl_c_keeps_every_finished_load(file):
    def interrupt(done, _):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        whole_run(file, progress=interrupt)
    lines = file.read_text().splitlines()
    assert {json.loads(line)["seed"] for line in lines[1:]} == {0, 1}
    assert whole_run(file).describe() == held(SMALL, Learner("hopfield"), seeds=2).describe()


def test_rules_seeds_and_criteria_share_a_file(file):
    whole_run(file)
    before = len(file.read_text().splitlines())
    held(SMALL, Learner("hopfield"), Criterion(bound=0.5), seeds=3, precision=0.1, results=file)
    held(SMALL, Learner("odds", {"m": 1.0}, Shift(0.1)), seeds=1, results=file)
    lines = [json.loads(line) for line in file.read_text().splitlines()[1:]]
    assert len(lines) > before
    assert {json.dumps(line["input"]) for line in lines} == {"0.0", '{"shift": 0.1, "prior": false}'}
    keys = [(line["rule"], json.dumps(line["learning"]), line["seed"], line["patterns"]) for line in lines]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"noise": Noise(flips=0.2)}, r"question\.noise\.flips is 0\.1 there and 0\.2 here"),
        ({"noise": Noise(flips=4)}, r"question\.noise\.flips is 0\.1 there and 4 here"),
        ({"noise": Noise(moves=1)}, r"question\.noise\.moves is null there and 1 here"),
        ({"family": Dense(41)}, r"question\.family\.neurons is 40 there and 41 here"),
        ({"cues": 10}, r"question\.cues is 1000 there and 10 here"),
        ({"dynamics": bnn.Synchronous()}, r'question\.dynamics\.name is "asynchronous" there and "synchronous" here'),
    ],
)
def test_a_file_of_other_settings_is_refused_and_kept(file, other, message):
    whole_run(file)
    before = file.read_bytes()
    with pytest.raises(FileError, match=rf"results\.jsonl: holds results of other settings: {message}; name another"):
        held(replace(SMALL, **other), Learner("hopfield"), results=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("text", ["hello", "hello\nyou\n", "{}\n", "[1]\n", '{"kind": "counts"}\n'])
def test_a_foreign_file_is_refused_and_kept(file, text):
    file.write_text(text)
    with pytest.raises(FileError, match="is no results file of bnn capacity; name another file"):
        whole_run(file)
    assert file.read_text() == text


@pytest.mark.parametrize("line", ["{", "[]", '{"rule": "hopfield"}', "null"])
def test_a_line_damaged_within_is_told(file, line):
    whole_run(file)
    lines = file.read_text().splitlines()
    lines[2] = line
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(FileError, match=r"line 3 is damaged .*; delete it, and its load is evaluated again"):
        whole_run(file)


def test_files_that_cannot_be(tmp_path, file):
    with pytest.raises(FileError, match=r"the folder .* does not exist; make it first"):
        whole_run(tmp_path / "no" / "results.jsonl")
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        whole_run(tmp_path)

    def gone(*_):
        file.unlink(missing_ok=True)

    with pytest.raises(FileError, match="cannot be written: No such file"):
        whole_run(file, progress=gone)


def test_an_empty_file_is_begun(file):
    file.touch()
    assert whole_run(file).values == held(SMALL, Learner("hopfield"), seeds=2).values
