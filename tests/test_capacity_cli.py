import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bnn
from bnn import cli
from bnn.app import capacity_command
from bnn.study import Correlated, Criterion, Dense, Learner, Modular, Noise, Question, Real, held, thresholds, tuned

QUICK = ("capacity", "--neurons", "40", "--seeds", "2", "--rule", "hopfield")
ONE = ("capacity", "--rule", "hopfield")


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


def told(*words):
    result = bnn_(*words, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_one_rule_is_one_object_with_the_numbers_of_the_library():
    found = told("capacity", "--rule", "bcpnn", "--family", "modular", "--groups", "5", "--size", "4", "--moves", "1")
    expected = bnn.capacity("bcpnn", Modular(5, 4), noise=Noise(moves=1), seeds=3)
    assert {key: found[key] for key in ("rule", "neurons", "patterns", "criterion", "seeds")} == {
        "rule": "bcpnn",
        "neurons": 20,
        "patterns": expected.patterns,
        "criterion": "exact >= 0.9",
        "seeds": 3,
    }
    assert found["interval"] == list(expected.interval)
    assert found == json.loads(json.dumps(expected.describe())) | {"files": ["bnn-capacity.png"]}
    assert here() == ["bnn-capacity.png"]
    assert Path("bnn-capacity.png").stat().st_size > 10_000


def test_several_rules_side_by_side():
    found = told(*QUICK, "--rule", "odds", "--seed", "5", "--precision", "0.05", "--cues", "7", "--out", "x.svg")
    question = Question(Dense(40), cues=7)
    assert list(found) == ["rows", "files"]
    for row, rule in zip(found["rows"], ("hopfield", "odds"), strict=True):
        expected = held(question, Learner(rule), seeds=(5, 6), precision=0.05)
        assert row == json.loads(json.dumps(expected.describe()))
    assert found["files"] == here() == ["x.svg"]


def test_table_for_people_fits_80_columns():
    result = bnn_(*QUICK, "--rule", "presynaptic-covariance", "--most", "3", "--wrong", "2", "--contiguous")
    assert (result.exit_code, result.stderr) == (0, "")
    assert max(map(len, result.stdout.splitlines())) <= 80
    said = " ".join(result.stdout.split())
    assert "dense (neurons 40, activity 0.5); cues: 2 wrong, in one piece; asynchronous, at most 100 sweeps;" in said
    assert "a load holds if 90 % of it come back without an error; 2 seeds from 0." in said
    assert "hopfield: the largest load, 3, still holds; raise --most to see where it ends." in said
    assert ">= 3" in said
    assert "one 1 % larger does not; mean over seeds." in said
    assert "Picture: bnn-capacity.png" in said


def test_table_takes_more_room_where_there_is_some(monkeypatch):
    narrow = bnn_(*QUICK).stdout
    monkeypatch.setenv("COLUMNS", "120")
    wide = bnn_(*QUICK).stdout
    assert wide.replace("─", "").split() == narrow.replace("─", "").split()


def test_without_words_three_rules_or_those_that_have_a_prior():
    names = ("capacity", "--neurons", "20", "--seeds", "1")
    assert [row["rule"] for row in told(*names)["rows"]] == ["odds", "probability", "hopfield"]
    assert [row["rule"] for row in told(*names, "--input", "prior")["rows"]] == ["odds", "probability"]


@pytest.mark.parametrize(
    ("words", "question"),
    [
        (("--neurons", "30", "--flips", "3", "--erased", "0.1"), Question(Dense(30), Noise(flips=3, erased=0.1))),
        (("--neurons", "30", "--flips", "0"), Question(Dense(30), Noise())),
        (
            ("--neurons", "20", "--wrong", "0.5", "--scrambled", "--dynamics", "synchronous"),
            Question(Dense(20), Noise(wrong=0.5, wrong_by="values"), bnn.Synchronous()),
        ),
        (
            ("--family", "correlated", "--prototypes", "modular", "--groups", "4", "--size", "3", "--per", "2"),
            Question(Correlated(Modular(4, 3), per=2)),
        ),
        (("--family", "correlated", "--neurons", "20", "--distortion", "0.2"), Question(Correlated(Dense(20), 5, 0.2))),
        (("--family", "real", "--data", "zoo", "--max-sweeps", "3"), Question(Real("zoo"), max_sweeps=3)),
        (
            ("--family", "k-active", "--neurons", "20", "--active", "3", "--winners", "4"),
            Question(bnn.study.KActive(20, 3), dynamics=bnn.KWinners(4)),
        ),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_patterns_and_cues_in_words(words, question):
    found = told(*ONE, "--seeds", "1", *words)
    expected = json.loads(json.dumps(question.describe()))
    assert {key: found[key] for key in expected} == expected


def test_options_of_a_rule_go_to_the_rules_that_have_them():
    learn = ("--learn", "m=0.5", "--learn", "low=0", "--learn", "estimate=joint")
    rows = told(*QUICK, "--rule", "odds", *learn)["rows"]
    assert [row["learning"] for row in rows] == [{"low": 0}, {"m": 0.5, "estimate": "joint"}]
    found = told("capacity", "--rule", "dense", "--neurons", "12", "--seeds", "1", "--most", "9",
                 "--learn", "rectified=true", "--learn", "degree=4")  # fmt: skip
    assert found["learning"] == {"rectified": True, "degree": 4}


def test_criteria_in_words():
    found = told(*QUICK, "--criterion", "wrong", "--bound", "0.05")
    assert found["criterion"] == "wrong <= 0.05"
    assert found["patterns"] == held(Question(Dense(40)), Learner("hopfield"), Criterion("wrong", 0.05), 2).patterns
    said = " ".join(bnn_(*QUICK, "--criterion", "wrong").stdout.split())
    assert "a load holds if at most 1.5 % of the neurons are wrong" in said
    assert "a load holds if the mean overlap is at least 0.95" in " ".join(
        bnn_(*QUICK, "--criterion", "overlap").stdout.split()
    )


def test_a_threshold_is_found_on_other_seeds():
    words = ("capacity", "--rule", "hebb", "--neurons", "60", "--activity", "0.2", "--moves", "1", "--seeds", "1")
    tuning = tuned(Question(Dense(60, 0.2), Noise(moves=1)), thresholds("hebb"), budget=60)
    assert told(*words, "--tune", "60")["input"] == tuning.learner.describe()["input"]
    said = " ".join(bnn_(*words, "--tune", "60").stdout.split())
    assert f"hebb: threshold found on other seeds: {tuning.learner.input}." in said


def test_results_are_kept_and_gone_on_from(monkeypatch):
    first = told(*QUICK, "--results", "r.jsonl")
    lines = Path("r.jsonl").read_text()
    monkeypatch.setattr("bnn.study.capacities.recalled", lambda *_: pytest.fail("recalled again"))
    assert told(*QUICK, "--results", "r.jsonl") == first
    assert Path("r.jsonl").read_text() == lines


@pytest.mark.parametrize("words", [(), ("--results", "r.jsonl")])
def test_interrupted(monkeypatch, words):
    original = capacity_command.held

    def interrupt(question, learner, *others):
        if learner.rule.name == "odds":
            raise KeyboardInterrupt
        return original(question, learner, *others)

    monkeypatch.setattr(capacity_command, "held", interrupt)
    result = bnn_(*QUICK, "--rule", "odds", *words)
    kept = "the same command goes on from r.jsonl" if words else "nothing is kept without --results"
    assert (result.exit_code, result.stderr) == (130, f"bnn: interrupted after 1 of 2 rules; {kept}.\n")
    assert "hopfield" in result.stdout
    first = bnn_("capacity", "--neurons", "40", "--rule", "odds", "--json")
    assert (first.exit_code, json.loads(first.stdout)) == (130, {"rows": [], "files": []})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("capacity", "--rule", "hopfeld"), "--rule: there is no 'hopfeld'; did you mean 'hopfield'?"),
        ((*ONE, "--family", "dens"), "--family: there is no 'dens'; did you mean 'dense'?"),
        ((*ONE, "--groups", "3"), "--groups: 'dense' has no such option; use it with --family modular."),
        ((*ONE, "--family", "modular", "--neurons", "9"), "use it with --family dense or --family k-active."),
        (
            (*ONE, "--family", "correlated", "--size", "9"),
            "use it with --prototypes modular.",
        ),
        (
            (*ONE, "--family", "correlated", "--prototypes", "real"),
            "--prototypes: there is no 'real'; Known: 'dense', 'k",
        ),
        ((*ONE, "--family", "correlated", "--data", "zoo"), "--data: 'dense' has no such option; use it with --family"),
        ((*ONE, "--family", "real", "--data", "zo"), "datasets: there is no 'zo'; did you mean 'zoo'?"),
        ((*ONE, "--neurons", "0"), "Dense.neurons: got 0; give a whole number of at least 1."),
        ((*ONE, "--flips", "some"), "--flips: got 'some'; give a share, such as 0.1, or a whole number, such as 2."),
        ((*ONE, "--flips", "1.5"), "Noise.flips: got 1.5; give a share"),
        ((*ONE, "--moves", "401"), "Noise.moves: got 401, but a pattern has 400 cells."),
        ((*ONE, "--learn", "low"), "--learn: got 'low'; give an option of the rule and its value, such as m=1."),
        ((*ONE, "--learn", "lo=0"), "--learn: there is no 'lo'; did you mean 'low'?"),
        ((*ONE, "--input", "much"), "--input: got 'much'; give a number of bits, or prior."),
        ((*ONE, "--input", "prior"), "Learner.input: the rule 'hopfield' has no prior in the unit of its fields"),
        (
            (*ONE, "--tune", "9"),
            "tuned.budget: got 9, but 12 candidates with 2 seeds need 24 recalls to",
        ),
        ((*ONE, "--tune", "50", "--input", "1"), "--tune: finds what is added to every field; leave --input out"),
        ((*ONE, "--tune", "50", "--family", "modular"), "--tune: a threshold changes nothing where winners take all"),
        ((*ONE, "--dynamics", "asynchron"), "--dynamics: there is no 'asynchron'; did you mean 'asynchronous'?"),
        ((*ONE, "--winners", "2"), "--winners: 'asynchronous' has no such option; use it with --dynamics k-winners."),
        ((*ONE, "--criterion", "exakt"), "Criterion.measure: there is no 'exakt'; did you mean 'exact'?"),
        ((*ONE, "--bound", "90"), "Criterion.bound: got 90.0; give a number above 0 and at most 1."),
        ((*ONE, "--precision", "1"), "capacity.precision: got 1.0; give a share above 0 and below 1."),
        ((*ONE, "--seeds", "0"), "Invalid value for '--seeds'"),
        ((*ONE, "--out", "x.doc"), "--out: 'x.doc' is no folder and does not end in .png, .pdf, .svg"),
        ((*ONE, "--results", "no/r.jsonl"), "the folder 'no' does not exist; make it first."),
    ],
)
def test_refusals(words, message):
    result = bnn_(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("bnn: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert here() == []


def test_a_picture_does_not_replace_the_results():
    Path("r.png").touch()
    assert "--out: 'r.png' is read by this command" in bnn_(*QUICK, "--results", "r.png", "--out", "r.png").stderr
