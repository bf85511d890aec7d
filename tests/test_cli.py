import errno
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table
from typer.testing import CliRunner

import bnn
from bnn import cli
from bnn.app import arguments, commands, recall_command, report
from bnn.app.findings import Answer, Summary, answers, summarise
from bnn.app.progress import Bar
from bnn.app.recall_command import Request, prepare, run
from bnn.dynamics.flow import SOLVERS
from bnn.trace import Descent

ROW_KEYS = [
    "rule", "cues", "recalled", "overlap_before", "overlap_after", "flips", "sweeps", "energy_before", "energy_after",
    "descent_holds", "largest_rise",
]  # fmt: skip
ANSWER_KEYS = ["rule", "attribute", "recalled", "true", "next", "lead", "prior", "posterior"]


DRAW = cli.draw


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Each test in its own folder, a terminal of 80 columns, no data folder, and no pictures, which take long."""
    monkeypatch.setattr(cli, "draw", lambda _task, _traces, picture: str(picture))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("BNN_DATA", raising=False)


@pytest.fixture
def pictures(monkeypatch):
    """Draw after all."""
    monkeypatch.setattr(cli, "draw", DRAW)


@pytest.fixture
def patterns_csv(tmp_path):
    """Eight neurons, three patterns, two classes."""
    lines = ["a,b,c,d,e,f,g,h,class", "1,1,1,1,0,0,0,0,x", "0,0,0,0,1,1,1,1,x", "1,0,1,0,1,0,1,0,y"]
    (tmp_path / "patterns.csv").write_text("\n".join(lines) + "\n")
    return "patterns.csv"


@pytest.fixture
def measured_csv(tmp_path):
    """Thirty patients: their names, a measurement, and their kind."""
    rows = [f"n{i},{0.5 + 7 * i % 31},{'yes' if 7 * i % 31 > 15 else 'no'}" for i in range(30)]
    (tmp_path / "measured.csv").write_text("name,temperature,ill\n" + "\n".join(rows) + "\n")
    return "measured.csv"


def here(folder="."):
    """Names of the files in a folder, by default the test's own."""
    return sorted(file.name for file in Path(folder).iterdir())


def bnn_(*words):
    """Run the command line in this process."""
    return CliRunner().invoke(cli.app, list(words))


def found(*words):
    """JSON of a command that must succeed."""
    result = bnn_(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def refused(*words):
    """The one sentence of a command that must fail, and nothing else."""
    result = bnn_(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("bnn: ")
    assert result.stderr.count("\n") == 1
    assert here() in ([], ["patterns.csv"])
    return result.stderr


# ---- what it does


@pytest.mark.usefixtures("pictures")
def test_ten_digits_side_by_side(tmp_path):
    told = found("recall")
    assert list(told) == ["rows", "files"]
    assert [list(row) for row in told["rows"]] == [ROW_KEYS] * 3
    odds, probability, hopfield = told["rows"]
    assert [row["rule"] for row in told["rows"]] == ["odds", "probability", "hopfield"]
    assert [row["recalled"] for row in (odds, hopfield)] == [10, 0]
    assert 0 <= probability["recalled"] < 10
    for row in told["rows"]:
        assert row["cues"] == 10
        assert row["overlap_before"] == pytest.approx(1 - 2 * 78 / 784)
        assert row["energy_after"] < row["energy_before"]
        assert (row["descent_holds"], row["largest_rise"]) == (True, 0.0)
    assert odds["overlap_after"] == 1.0
    assert told["files"] == ["bnn-recall.png"]
    assert (tmp_path / "bnn-recall.png").read_bytes().startswith(b"\x89PNG")
    assert here() == ["bnn-recall.png"]


def test_default_patterns_are_the_first_of_each_class():
    task = prepare(Request())
    mnist = bnn.datasets.load("mnist-100")
    assert (task.learned.codes == mnist.codes[::10]).all()
    more = prepare(Request(patterns=12)).learned
    assert (more.codes == mnist.codes[[*range(0, 100, 10), 1, 11]]).all()


def test_numbers_are_those_of_the_library(patterns_csv):
    told = found("recall", "--data", patterns_csv, "--patterns", "3", "--noise", "0.25", "--seed", "7", "--m", "1")
    learned = bnn.datasets.read(patterns_csv)[[0, 2, 1]]
    cues = bnn.corrupt(learned, flip=0.25, seed=7)
    for row in told["rows"]:
        options = {} if row["rule"] == "hopfield" else {"m": 1.0}
        trace = bnn.recall(bnn.learn(learned, row["rule"], **options), cues, seed=7)
        equal = (trace.states == 1) == (learned.codes == 1)
        assert row["recalled"] == equal.all(axis=1).sum()
        assert row["overlap_after"] == pytest.approx(2 * equal.mean() - 1)
        assert row["overlap_before"] == pytest.approx(0.5)
        assert row["flips"] == trace.flips.mean()
        assert row["sweeps"] == trace.sweeps.mean()
        assert row["energy_before"] == trace.energy[:, 0].mean()
        assert row["energy_after"] == trace.energy[:, -1].mean()


def test_table_for_people_fits_80_columns_and_says_what_is_seen():
    result = bnn_("recall")
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    told = " ".join(result.stdout.split())
    assert "mnist-100: 10 patterns learned; cues: the same with 10 % of their pixels flipped; asynchronous" in told
    assert "odds 10 of 10 0.80 1.00" in told
    assert "Odds brought back 10 of 10, probability" in told
    assert "hopfield 0. No change raised the energy: verified over" in told
    assert lines[-1] == "Picture: bnn-recall.png"
    assert "\x1b" not in result.stdout


def test_table_takes_more_room_where_there_is_some(monkeypatch, patterns_csv):
    narrow = bnn_("recall", "--data", patterns_csv).stdout
    monkeypatch.setenv("COLUMNS", "120")
    wide = bnn_("recall", "--data", patterns_csv).stdout
    assert wide.replace("─", "").split() == narrow.replace("─", "").split()
    assert len(wide.splitlines()[4]) > len(narrow.splitlines()[5])
    assert max(map(len, wide.splitlines())) <= 120


def test_seed_decides():
    words = ("recall", "--data", "zoo", "--rule", "probability")
    assert found(*words, "--seed", "3") == found(*words, "--seed", "3") != found(*words, "--seed", "4")


def test_row_of_a_table_is_answered_in_words():
    result = bnn_("recall", "--data", "zoo", "--row", "3", "--mask", "legs")
    told = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert "zoo, row 3: legs hidden, the other 16 attributes kept; learned from 101 rows, this one among them" in told
    assert "odds: legs = 4 (right)" in told
    assert "bits ahead of legs = 2; 37.6 % of the rows, over 99.9 % given the others." in told
    assert "Nothing more changed" in told
    assert here() == []


def test_answers_are_those_of_the_library():
    told = found("recall", "--data", "zoo", "--row", "62", "--mask", "class", "--mask", "class", "--mask", "hair")
    assert list(told) == ["rows", "files", "answers"]
    assert [list(answer) for answer in told["answers"]] == [ANSWER_KEYS] * 6
    assert told["files"] == []
    records = bnn.datasets.load("zoo")
    for answer in told["answers"]:
        network = bnn.learn(records, answer["rule"])
        codes = records.codes[[62]].copy()
        hidden = [records.schema.index(name) for name in ("class", "hair")]
        codes[:, hidden] = -1
        kept = [name for i, name in enumerate(records.schema.names) if i not in hidden]
        trace = bnn.recall(network, bnn.Records(codes, records.schema), bnn.WinnerTakeAll(), clamp=kept, seed=0)
        assert answer["recalled"] == network.decode(trace.states)[answer["attribute"]][0].as_py()
        true = records.codes[62, records.schema.index(answer["attribute"])]
        assert answer["true"] == records.schema[answer["attribute"]].values[true]
        # a lead is how much energy the best other value would cost, whatever the coding
        costs = [energy_with(network, trace.states[0], answer["attribute"], value) - trace.energy[0, -1]
                 for value in records.schema[answer["attribute"]].values if value != answer["recalled"]]  # fmt: skip
        scale = 1 if network.low == 0 else 2
        assert scale * answer["lead"] == pytest.approx(min(costs))


def energy_with(network, states, name, value):
    """Energy of the states with one attribute changed to another value."""
    layout = network.layout
    changed = states.copy()
    for j in layout.neurons_of(name):
        changed[j] = 1 if layout.schema[name].values[layout.value[j]] == value else network.low
    return float(network.energy(changed)[0])


@pytest.mark.parametrize("rule", ["odds", "probability"])
def test_posterior_is_naive_bayes(rule):
    records = bnn.datasets.load("zoo")
    (answer,) = found("recall", "--data", "zoo", "--row", "9", "--mask", "class", "--rule", rule)["answers"]
    network = bnn.learn(records, rule)
    mine = network.layout.neurons_of("class")
    states = network.encode({n: [records.schema[n].values[c]] for n, c in zip(records.schema.names, records.codes[9])})  # noqa: B905
    others = states.copy()
    others[:, mine] = np.nan if rule == "probability" else others[:, mine]
    support = (network.field(others)[0].numpy() + network.prior_bias.numpy())[mine]
    code = records.codes[9, records.schema.index("class")]
    odds = 2.0**support
    expected = odds[code] / (1 + odds[code]) if rule == "odds" else odds[code] / odds.sum()
    assert answer["posterior"] == pytest.approx(expected)
    assert answer["prior"] == pytest.approx((records.codes[:, -1] == code).mean())


def test_prior_as_input_leaves_out_rules_without_one():
    told = found("recall", "--data", "zoo", "--row", "3", "--mask", "legs", "--input", "prior")
    assert [row["rule"] for row in told["rows"]] == ["odds", "probability"]
    plain = found("recall", "--data", "zoo", "--row", "3", "--mask", "legs")["answers"]
    shift = {a["rule"]: a["lead"] for a in told["answers"]}
    assert all(a["lead"] != shift[a["rule"]] for a in plain if a["rule"] in shift)


def test_number_as_input_is_a_threshold(patterns_csv):
    quiet = found("recall", "--data", patterns_csv, "--rule", "probability", "--input", "-64")["rows"][0]
    assert quiet["energy_after"] == pytest.approx(0.0, abs=1e-9)  # nobody is on


def test_row_that_was_not_learned(patterns_csv):
    result = bnn_("recall", "--data", patterns_csv, "--row", "1", "--mask", "a", "--rule", "odds")
    assert "learned from 2 rows, this one not among them" in " ".join(result.stdout.split())


def test_free_lets_the_other_attributes_move():
    words = ("recall", "--data", "zoo", "--row", "62", "--mask", "class")
    kept, freed = found(*words)["rows"], found(*words, "--free")["rows"]
    assert all(row["flips"] == 0 for row in kept)
    assert any(row["flips"] > 0 for row in freed)
    assert "recalled overlap" in " ".join(bnn_(*words, "--free").stdout.split())


def test_unknown_value_of_the_row_itself():
    records = bnn.datasets.load("house-votes-84")
    row = int(np.flatnonzero(records.codes[:, 0] < 0)[0])
    name = records.schema.names[0]
    result = bnn_("recall", "--data", "house-votes-84", "--row", str(row), "--mask", name)
    assert f"{name} = " in result.stdout
    assert "(the row does not say)" in result.stdout
    (answer,) = found("recall", "--data", "house-votes-84", "--row", str(row), "--mask", name, "--rule", "odds")[
        "answers"
    ]
    assert answer["true"] is None
    assert answer["recalled"] in ("n", "y")


def test_threshold_may_leave_an_attribute_without_a_value():
    task = prepare(Request(data="zoo", row=3, mask=("legs",), dynamics="asynchronous", input="-1000"))
    (answer,) = answers("odds", run(task, "odds", lambda *_: None), task.learned, task.truth, ("legs",), task.input)
    assert answer == Answer("odds", "legs", None, 4)
    assert report.answer(answer).plain == "odds: no value of legs came on (the row says 4)."


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ((), bnn.Asynchronous()),
        (("--data", "zoo"), bnn.WinnerTakeAll()),
        (("--dynamics", "synchronous"), bnn.Synchronous()),
        (("--dynamics", "winner-take-all", "--parallel"), bnn.WinnerTakeAll(parallel=True)),
        (("--dynamics", "k-winners", "--winners", "3"), bnn.KWinners(k=3)),
        (("--dynamics", "glauber", "--temperature", "2.5", "--max-sweeps", "2"), bnn.Glauber(2.5)),
        (("--dynamics", "flow", "--gain", "4"), bnn.GradientFlow(gain=4.0)),
        (("--dynamics", "flow", "--solver", "descent"), bnn.GradientFlow(solver="descent")),
    ],
)
def test_dynamics(words, kind, monkeypatch, patterns_csv):
    used = []

    def spy(network, cues, dynamics, **options):
        used.append((dynamics, options["max_sweeps"]))
        return bnn.recall(network, cues, dynamics, **options)

    monkeypatch.setattr(recall_command, "recall", spy)
    data = () if "--data" in words else ("--data", patterns_csv)
    assert found("recall", *words, *data, "--rule", "odds")["rows"][0]["cues"] > 0
    assert used == [(kind, 2 if "--max-sweeps" in words else None)]


def test_flow_is_told_in_its_own_words(patterns_csv):
    words = ("recall", "--data", patterns_csv, "--dynamics", "flow", "--gain", "4", "--solver", "descent")
    result = bnn_(*words)
    assert max(map(len, result.stdout.splitlines())) <= 80
    told = " ".join(result.stdout.split())
    assert "; flow at gain 4 by descent, seed 0." in told
    assert "free energy" in told.split("odds")[0]
    assert "steps" in told.split("odds")[0]
    learned = bnn.datasets.read(patterns_csv)[[0, 2]]
    cues = bnn.corrupt(learned, flip=0.1, seed=0)
    kind, steps = bnn.GradientFlow(gain=4.0, solver="descent"), 0
    for row in found(*words)["rows"]:
        trace = bnn.recall(bnn.learn(learned, row["rule"]), cues, kind, seed=0)
        assert row["energy_before"] == trace.lyapunov[:, 0].mean() != trace.energy[:, 0].mean()
        assert row["energy_after"] == trace.lyapunov[:, -1].mean()
        assert (row["flips"], row["sweeps"]) == (trace.flips.mean(), trace.sweeps.mean())
        assert row["recalled"] == (trace.discrete == np.where(learned.codes == 1, 1, trace.network.low)).all(1).sum()
        steps += int(trace.sweeps.sum())
    assert f"No step raised the free energy: verified over {steps} steps, and anew from the final states." in told
    assert "flips: neurons that crossed the middle" in told


@pytest.mark.usefixtures("pictures")
def test_flow_is_drawn(patterns_csv, tmp_path):
    words = ("recall", "--data", patterns_csv, "--dynamics", "flow", "--out", "flow.png")
    assert found(*words)["files"] == ["flow.png"]
    assert (tmp_path / "flow.png").read_bytes().startswith(b"\x89PNG")


def test_row_of_a_table_relaxes():
    told = found("recall", "--data", "zoo", "--row", "3", "--mask", "legs", "--dynamics", "flow", "--rule", "odds")
    assert [(a["recalled"], a["true"]) for a in told["answers"]] == [(4, 4)]
    assert told["rows"][0]["recalled"] == 1


def test_flow_that_ran_out_of_steps_or_got_stuck_is_told(patterns_csv):
    task = prepare(Request(data=patterns_csv, dynamics="flow", max_sweeps=1))
    trace = run(task, "odds", lambda *_: None)
    summaries = [summarise("odds", trace, task.truth)]
    told = report.seen(task, {"odds": trace}, summaries)
    assert "Ended still changing when their steps or their time ran out: 2 of odds." in told
    stuck = replace(trace, outcome=np.array(["stalled", "settled"]))
    assert "Ended stuck, for their steps shrank to nothing (take --solver descent): 1 of odds." in report.seen(
        task, {"odds": stuck}, summaries
    )


def test_rises_of_a_flow_are_held_against_their_own_steps_error(patterns_csv):
    task = prepare(Request(data=patterns_csv, dynamics="flow"))
    trace = run(task, "odds", lambda *_: None)
    summaries = [summarise("odds", trace, task.truth)]
    within = replace(trace, descent=replace(trace.descent, largest_rise=0.02, tolerance=0.5))
    told = report.seen(task, {"odds": within}, summaries)
    assert "No step raised the free energy by more than its own error (0.02 bits at most): verified over" in told
    beyond = replace(trace, descent=replace(trace.descent, holds=False, largest_rise=0.3, tolerance=0.5))
    assert "The free energy rose: odds by up to 0.3." in report.seen(task, {"odds": beyond}, summaries)


def test_rules_without_a_unit_say_so(patterns_csv):
    for rules, told in (
        (("hebb", "willshaw"), "Energy without unit."),
        (("bcpnn", "storkey", "covariance"), "Energy in bits (storkey and covariance: no unit)."),
        (("bcpnn",), "Energy in bits."),
    ):
        words = [word for rule in rules for word in ("--rule", rule)]
        assert told in " ".join(bnn_("recall", "--data", patterns_csv, *words).stdout.split())


def test_what_cannot_turn_a_neuron_off_is_told_what_to_take(patterns_csv):
    asked = ("recall", "--data", patterns_csv, "--rule", "hebb", "--rule", "covariance")
    sentence = (
        "No weight of hebb is negative, so that nothing turns a neuron off: take --dynamics k-winners, or --input"
    )
    assert sentence in " ".join(bnn_(*asked).stdout.split())
    for remedy in (("--dynamics", "k-winners"), ("--input", "-0.5")):
        assert "No weight" not in bnn_(*asked, *remedy).stdout


def test_winners_by_asymmetric_weights_need_to_be_parallel():
    asked = ("recall", "--data", "zoo", "--row", "3", "--mask", "legs", "--rule", "presynaptic-covariance")
    assert "asymmetric weights, so no energy that winner-take-all could choose by; add --parallel." in refused(*asked)
    told = " ".join(bnn_(*asked, "--parallel").stdout.split())
    assert "presynaptic-covariance: legs = 4 (right)" in told
    assert "a factor of two" not in told  # nothing here is in bits


def test_every_rule_s_table_fits_80_columns(patterns_csv):
    words = [word for rule in bnn.RULES for word in ("--rule", rule)]
    lines = bnn_("recall", "--data", patterns_csv, *words).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    rows = found("recall", "--data", patterns_csv, *words)["rows"]
    assert [row["rule"] for row in rows] == list(bnn.RULES)


def test_a_tie_between_values_is_called_one():
    told = bnn_("recall", "--data", "zoo", "--row", "3", "--mask", "legs", "--rule", "willshaw").stdout
    assert "willshaw: legs = 0 (wrong, the row says 4), level with legs = 2." in told


def test_bcpnn_holds_its_prior_already():
    asked = ("recall", "--data", "zoo", "--row", "3", "--mask", "legs", "--rule", "bcpnn")
    plain, again = found(*asked), found(*asked, "--input", "prior")
    assert plain == again
    (answer,) = plain["answers"]
    assert (answer["recalled"], round(answer["prior"], 3)) == (4, 0.376)
    assert answer["posterior"] > 0.99


def test_noise_is_seen_to_raise_the_energy(patterns_csv):
    glauber = ("--dynamics", "glauber", "--temperature", "5", "--max-sweeps", "9")
    told = " ".join(bnn_("recall", "--data", patterns_csv, "--rule", "hopfield", *glauber).stdout.split())
    assert "The energy rose: hopfield by up to" in told
    assert "Nothing promises that it falls for hopfield: noise raises the energy now and then" in told
    assert " no " in told


def test_cycles_are_told(tmp_path):
    (tmp_path / "two.csv").write_text("a,b\n1,0\n0,1\n")
    told = bnn_(
        "recall", "--data", "two.csv", "--rule", "hopfield", "--dynamics", "synchronous", "--noise", "0.5"
    ).stdout
    assert "Ended in a cycle of two: 2 of hopfield." in " ".join(told.split())


def test_unsettled_rows_are_told():
    told = bnn_("recall", "--rule", "hopfield", "--max-sweeps", "1").stdout
    assert "Ended still changing after 1 sweeps: 10 of hopfield." in " ".join(told.split())


def test_missing_cells_are_not_compared():
    records = bnn.Records.from_patterns([[1, 1, 0, 0], [0, 1, 1, float("nan")]])
    trace = bnn.recall(bnn.learn(records, "odds"), records, seed=0, clamp="known")
    summary = summarise("odds", trace, records)
    assert (summary.cues, summary.recalled, summary.overlap_before) == (2, 2, 1.0)


def test_failed_checks_are_told(patterns_csv):
    task = prepare(Request(data=patterns_csv))
    trace = run(task, "odds", lambda *_: None)
    broken = replace_descent(trace, Descent(False, 0.0, 3.0, 0.0, 0.0, True, "symmetric weights"))
    told = report.seen(task, {"odds": broken}, [summarise("odds", broken, task.truth)])
    assert told.endswith("The independent checks of the energy differ: odds by 3.0.")


def replace_descent(trace, descent):
    """The trace of a machine that erred."""
    given = {f.name: getattr(trace, f.name) for f in fields(trace) if f.init}
    return bnn.Trace(**{**given, "descent": descent})


# ---- where the picture goes


@pytest.mark.usefixtures("pictures")
def test_out_is_a_folder_or_a_file(tmp_path, patterns_csv):
    (tmp_path / "talk").mkdir()
    assert found("recall", "--data", patterns_csv, "--out", "talk")["files"] == [str(Path("talk", "bnn-recall.png"))]
    assert found("recall", "--data", patterns_csv, "--out", "talk/a.svg")["files"] == ["talk/a.svg"]
    assert here("talk") == ["a.svg", "bnn-recall.png"]
    words = ("recall", "--data", "zoo", "--row", "3", "--mask", "legs", "--out", "talk/row.png")
    assert found(*words)["files"] == ["talk/row.png"]


@pytest.mark.usefixtures("pictures")
def test_full_disk_keeps_the_numbers_and_leaves_no_half_picture(monkeypatch, tmp_path, patterns_csv):
    from matplotlib.figure import Figure

    def full(_figure, path, **_options):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    (tmp_path / "out").mkdir()
    result = bnn_("recall", "--data", patterns_csv, "--out", "out")
    assert result.exit_code == 2
    assert "Odds brought back" in result.stdout
    assert "Picture" not in result.stdout
    assert result.stderr == f"bnn: {Path('out', 'bnn-recall.png')}: cannot be written: No space left on device.\n"
    assert here("out") == []


# ---- interrupted


def interrupted_at(call, monkeypatch):
    calls = []

    def recall(*arguments, **options):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return bnn.recall(*arguments, **options)

    monkeypatch.setattr(recall_command, "recall", recall)


@pytest.mark.usefixtures("pictures")
def test_interrupted_keeps_what_was_done(monkeypatch, patterns_csv, tmp_path):
    interrupted_at(2, monkeypatch)
    result = bnn_("recall", "--data", patterns_csv)
    assert result.exit_code == 130
    assert "Odds brought back" in result.stdout
    assert "hopfield" not in result.stdout
    assert "Picture: bnn-recall.png" in result.stdout
    assert result.stderr == "bnn: interrupted after 1 of 3 rules.\n"
    assert (tmp_path / "bnn-recall.png").exists()


def test_interrupted_json_is_whole(monkeypatch, patterns_csv):
    interrupted_at(3, monkeypatch)
    result = bnn_("recall", "--data", patterns_csv, "--json")
    assert result.exit_code == 130
    assert [row["rule"] for row in json.loads(result.stdout)["rows"]] == ["odds", "probability"]


def test_interrupted_before_anything_was_done(monkeypatch, patterns_csv):
    interrupted_at(1, monkeypatch)
    result = bnn_("recall", "--data", patterns_csv)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "bnn: interrupted after 0 of 3 rules.\n"
    assert here() == ["patterns.csv"]


def test_interrupted_while_reading(monkeypatch):
    def interrupt(_request):
        raise KeyboardInterrupt

    monkeypatch.setattr(recall_command, "prepare", interrupt)
    result = bnn_("recall")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "bnn: interrupted.\n")


def test_interrupted_while_drawing(monkeypatch, patterns_csv):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "draw", interrupt)
    result = bnn_("recall", "--data", patterns_csv)
    assert result.exit_code == 130
    assert "Odds brought back" in result.stdout
    assert result.stderr == "bnn: interrupted after 3 of 3 rules.\n"


# ---- refused, in one sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("recalls",), "did you mean 'recall'|Did you mean 'recall'"),
        (("recall", "--nois", "0.1"), "No such option: --nois.*--noise"),
        (("recall", "--noise", "much"), "--noise.*much|--noise.*number"),
        (("recall", "--noise", "1.5"), r"--noise: got 1.5; give the share of cells to change, between 0 and 1\."),
        (("recall", "--noise", "nan"), "--noise: got nan"),
        (("recall", "--rule", "ods"), "--rule: there is no 'ods'; did you mean 'odds'"),
        (("recall", "--dynamics", "glouber"), "--dynamics: there is no 'glouber'; did you mean 'glauber'"),
        (("recall", "--data", "zoos"), "there is no 'zoos'; did you mean 'zoo'"),
        (("recall", "--data", "zoo", "--row", "3", "--mask", "leg"), "--mask: there is no 'leg'; did you mean 'legs'"),
        (("recall", "--data", "zoo", "--row", "101", "--mask", "legs"), "--row: got 101; zoo has the rows 0 to 100"),
        (("recall", "--data", "zoo", "--row", "-1", "--mask", "legs"), "--row: got -1; zoo has the rows 0 to 100"),
        (("recall", "--data", "zoo", "--mask", "legs"), "--mask: hides attributes of one row; name that row"),
        (("recall", "--data", "zoo", "--row", "3"), "--row: nothing is hidden; name what to recall with --mask"),
        (("recall", "--data", "zoo", "--free"), "--free: frees the attributes that --row keeps"),
        (
            ("recall", "--data", "zoo", "--row", "3", "--mask", "legs", "--noise", "0.1"),
            "--noise: changes cells of every cue, while --row asks about one row",
        ),
        (("recall", "--patterns", "4"), "--patterns: got 4; patterns.csv has 3 rows"),
        (("recall", "--patterns", "0"), "--patterns"),
        (("recall", "--seed", "-1"), "--seed"),
        (("recall", "--max-sweeps", "0"), "--max-sweeps"),
        (("recall", "--m", "-1"), "learn.m: got -1.0"),
        (("recall", "--m", "1", "--rule", "hopfield"), "--m: hopfield has no such option; it belongs to probability"),
        (("recall", "--degree", "3"), "--degree: odds and probability and hopfield have no such option; .* to dense"),
        (("recall", "--beta", "1", "--rule", "dense"), "--beta: dense has no such option; it belongs to modern"),
        (("recall", "--degree", "1", "--rule", "dense"), "--degree"),
        (("recall", "--beta", "0", "--rule", "modern"), r"LogSumExp\.beta: got 0\.0; give a number from 1e-6 to 1e6"),
        (("recall", "--rule", "dense", "--dynamics", "flow"), "--dynamics: flow as asked for works by weights, and the "
         "rule dense keeps patterns; take asynchronous, winner-take-all or k-winners without --parallel, or glauber"),
        (("recall", "--dynamics", "attention"), "--dynamics: attention as asked for works by patterns, and the rule "
         "odds keeps weights; take --rule modern, or another dynamics"),
        (("recall", "--input", "much"), "--input: got 'much'; give a number of bits, or prior"),
        (("recall", "--input", "nan"), "recall.input: got nan"),
        (("recall", "--input", "prior", "--rule", "hopfield"), "recall.input: \"prior\" needs a network that knows"),
        (("recall", "--parallel"), "--parallel: 'asynchronous' has no such option; use it with --dynamics winner"),
        (("recall", "--winners", "3"), "--winners: 'asynchronous' has no such option; use it with --dynamics k-"),
        (("recall", "--temperature", "3"), "--temperature: 'asynchronous' has no such option; use it with .* glauber"),
        (("recall", "--dynamics", "glauber", "--temperature", "0"), "Glauber.temperature: got 0.0"),
        (("recall", "--gain", "3"), "--gain: 'asynchronous' has no such option; use it with --dynamics flow"),
        (("recall", "--solver", "euler"), "--solver: 'asynchronous' has no such option; use it with --dynamics flow"),
        (("recall", "--dynamics", "flow", "--gain", "0"), "GradientFlow.gain: got 0.0; give a number above 0"),
        (("recall", "--dynamics", "flow", "--solver", "descend"), "GradientFlow.solver: .* did you mean 'descent'"),
        (("recall", "--dynamics", "k-winners", "--winners", "9"), "KWinners: k = 9 exceeds the 8 neurons"),
        (("recall", "--out", "nowhere/a.png"), "--out: the folder 'nowhere' does not exist; make it first"),
        (("recall", "--out", "nowhere"), "--out: 'nowhere' is no folder and does not end in .png, .pdf, .svg"),
        (("recall", "--data", "nowhere.csv"), "'nowhere.csv' does not exist; check the path"),
        (("recall", "--data", "nowhere/zoo"), "'nowhere/zoo' does not exist; check the path"),
        (("recall", "--data", "."), "."),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("patterns_csv")
def test_refused(words, sentence):
    data = () if "--data" in words or words[0] != "recall" else ("--data", "patterns.csv")
    assert re.search(sentence, refused(*words, *data))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,b\n1,0\n1\n", "line 3: got 1 fields where the header names 2 columns"),
        (b"a,b\n1,\xff\n", "line 2: byte 0xff is not UTF-8"),
    ],
)
def test_damaged_csv(content, sentence, tmp_path):
    (tmp_path / "patterns.csv").write_bytes(content)
    assert sentence in refused("recall", "--data", "patterns.csv")


def test_file_without_suffix_is_read(tmp_path, patterns_csv):
    (tmp_path / patterns_csv).rename(tmp_path / "mine")
    assert found("recall", "--data", "mine", "--rule", "odds")["rows"][0]["cues"] == 2


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "a.csv"), "bnn: a.csv: Permission denied.\n"),
        (OSError("strange"), "bnn: output: strange.\n"),
        (MemoryError(), "bnn: there is not enough memory for this; take fewer --patterns or a smaller table.\n"),
    ],
)
def test_what_the_system_refuses(error, sentence, monkeypatch):
    def fails(_request):
        raise error

    monkeypatch.setattr(recall_command, "prepare", fails)
    result = bnn_("recall")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", sentence)


def test_memories_of_patterns_are_recalled_and_told_of_without_bits(patterns_csv):
    rows = found("recall", "--data", patterns_csv, "--rule", "dense", "--degree", "12", "--rule", "modern")["rows"]
    assert [(row["rule"], row["descent_holds"]) for row in rows] == [("dense", True), ("modern", True)]
    assert rows[0]["energy_after"] <= -(8.0**12)  # at a pattern of 8 neurons
    told = bnn_("recall", "--data", patterns_csv, "--rule", "dense", "--degree", "12").stdout
    assert "e+10" in told
    assert "Energy without unit." in " ".join(told.split())
    graded = bnn_("recall", "--data", patterns_csv, "--rule", "modern", "--beta", "8", "--dynamics", "attention").stdout
    assert "updates" in graded
    assert "Energy without unit; flips: neurons that crossed the middle." in " ".join(graded.split())


def test_a_memory_of_patterns_answers_about_a_row():
    row = ("recall", "--data", "zoo", "--row", "3", "--mask", "legs")
    answers = found(*row, "--rule", "dense", "--rule", "modern", "--beta", "0.5")["answers"]
    assert [(a["rule"], a["recalled"], a["posterior"]) for a in answers] == [("dense", 4, None), ("modern", 4, None)]


# ---- data sets, help, start


def test_datasets():
    told = found("datasets")["datasets"]
    assert [d["name"] for d in told] == list(bnn.datasets.names())
    mnist = next(d for d in told if d["name"] == "mnist-100")
    keys = "name rows attributes measurements missing title credit licence source"
    assert list(mnist) == keys.split()
    assert (mnist["rows"], mnist["attributes"], mnist["licence"]) == (100, 784, "CC BY-SA 3.0")
    table = bnn_("datasets").stdout
    assert max(map(len, table.splitlines())) <= 80
    assert all(d["name"] in table and d["licence"] in table for d in told)


def test_version_and_help():
    assert bnn_("--version").stdout == f"bnn {bnn.__version__}\n"
    assert bnn_().stdout == bnn_("--help").stdout
    told = " ".join(bnn_("recall", "--help").stdout.split())
    assert "means over the cues" in told


def test_help_names_all_there_is():
    assert sorted(arguments.RULES) == sorted(bnn.RULES)
    assert sorted(arguments.DYNAMICS) == sorted(bnn.DYNAMICS)
    assert set(recall_command.SIDE_BY_SIDE) <= set(bnn.RULES)
    told = bnn_("recall", "--help").stdout
    assert all(solver in told for solver in SOLVERS)
    assert [f.name for f in fields(Summary)] == ROW_KEYS
    assert [f.name for f in fields(Answer)] == ANSWER_KEYS


QUICK = """
import sys
import bnn
from bnn.cli import main
helps = [[name, "--help"] for name in ("recall", "compare", "fit", "predict", "explain")]
for words in (["--help"], *helps, ["--version"], ["datasets"]):
    sys.argv = ["bnn", *words]
    try:
        main()
    except SystemExit as end:
        assert end.code == 0
    slow = {"torch", "numba", "sklearn", "matplotlib", "pandas", "polars", "networkx"}
    slow |= set() if words == ["datasets"] else {"pyarrow"}
    assert not slow & set(sys.modules), words
"""


def outside(*words, **options):
    """Run Python in a process of its own."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, **options)


def test_help_loads_nothing_slow():
    ended = outside("-c", QUICK)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_module_runs_and_letters_a_terminal_lacks_do_no_harm(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "grün.csv").write_text("a,b\n1,0\n")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "BNN_DATA": "data"}
    ended = outside("-m", "bnn", "datasets", env=environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "gr?n" in ended.stdout


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_nobody_reads(word):
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([sys.executable, "-m", "bnn", word], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_full_output_is_told():
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "bnn", "--version"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (process.returncode, process.stderr) == (2, b"bnn: output: No space left on device.\n")


# ---- the progress bar


def test_bar_shows_after_its_delay_on_a_terminal_and_leaves_nothing(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Bar(delay=0.0) as bar:
        bar.say("odds")
        bar.advance(1, 4)
        bar._timer.join()
        bar._progress.refresh()
    shown = capsys.readouterr()
    assert "odds" in shown.err
    assert shown.err.endswith("\x1b[2K")
    assert shown.out == ""


def test_bar_is_silent_before_its_delay_and_off_a_terminal(monkeypatch, capsys):
    with Bar(delay=0.0) as bar:
        bar.say("odds")
        bar._timer.join()
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Bar(delay=3600.0) as bar:
        bar.say("odds")
    assert capsys.readouterr().err == ""


def test_verdict_is_coloured_only_where_colours_are():
    summary = Summary("odds", 1, 1, 0.8, 1.0, 1.0, 1.0, 2.0, 1.0, True, 0.0)
    table = report.summary_table([summary], 80)
    assert isinstance(table, Table)

    def drawn(**options):
        console = Console(file=io.StringIO(), width=80, force_terminal=True, **options)
        console.print(table)
        return console.file.getvalue()

    assert "\x1b[32m" in drawn(no_color=False, color_system="standard")
    assert "\x1b[32m" not in drawn(no_color=True)


def test_errors_are_red_only_where_colours_are(monkeypatch):
    def told():
        return CliRunner().invoke(cli.app, ["recall", "--noise", "7"], color=True).stderr

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert told().startswith("\x1b[31mbnn: --noise")
    monkeypatch.setenv("NO_COLOR", "1")
    assert told().startswith("bnn: --noise")


def test_exit_codes_are_the_usual_ones():
    assert (commands.IMPOSSIBLE, commands.INTERRUPTED) == (2, 130)


@pytest.mark.usefixtures("pictures")
def test_noise_of_a_narrow_table_changes_one_cell(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,class\nx,p,u\ny,q,v\nx,q,u\n")
    task = prepare(Request(str(tmp_path / "t.csv"), noise=0.01))
    assert ((task.cues.codes != task.truth.codes).sum(axis=1) == 1).all()
    assert "the same with 33.3 % of their cells changed" in bnn_("recall", "--data", str(tmp_path / "t.csv")).stdout
    assert not (prepare(Request(str(tmp_path / "t.csv"), noise=0.0)).cues.codes != task.truth.codes).any()


@pytest.mark.usefixtures("pictures")
def test_noise_that_can_change_nothing_is_told(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,class\nx,p,u\nx,p,u\n")
    told = " ".join(bnn_("recall", "--data", str(tmp_path / "t.csv")).stdout.split())
    assert "cues: the same, as too few of their cells could change" in told


def test_the_share_of_the_rows_is_their_share(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,same\ny,same\nx,same\n")
    told = found("recall", "--data", str(tmp_path / "t.csv"), "--row", "0", "--mask", "b", "--rule", "odds")
    assert told["answers"][0]["prior"] == 1.0


def test_measurements_are_cut_and_identifiers_told_of_once(measured_csv):
    result = bnn_("recall", "--data", measured_csv, "--row", "3", "--mask", "ill")
    assert result.exit_code == 0
    assert "this one among them, 1 measurement cut into intervals;" in " ".join(result.stdout.split())
    assert result.stderr == (
        "bnn: Records.from_table: every value occurs once: 'name'; an identifier tells nothing of new rows: leave it "
        "out.\n"
    )


def test_what_is_ignored_is_not_learned(measured_csv):
    result = bnn_("recall", "--data", measured_csv, "--ignore", "name", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    task = prepare(Request(measured_csv, ignored=("name",)))
    assert task.learned.schema.names == ("temperature", "ill")
    assert json.loads(result.stdout)["rows"][0]["cues"] == 30
    with pytest.raises(bnn.BnnError, match=r"--ignore: there is no 'nam'; did you mean 'name'\?"):
        prepare(Request(measured_csv, ignored=("nam",)))


def test_patterns_without_their_class(patterns_csv):
    assert prepare(Request(patterns_csv)).learned.rows == 2
    assert prepare(Request(patterns_csv, ignored=("class",))).learned.rows == 3
    without = prepare(Request(patterns_csv, ignored=("a",))).learned.schema
    assert {attribute.kind for attribute in without.attributes} == {"on_off"}
    assert without.names == tuple("bcdefgh")


def test_a_word_among_numbers_is_told_of(tmp_path):
    (tmp_path / "some.csv").write_text("a,b\n1,x\nNA,y\n2.5,x\n3,y\n")
    result = bnn_("recall", "--data", "some.csv", "--row", "1", "--mask", "b")
    assert "most fields of column 'a' are numbers, but 'NA' makes it text" in result.stderr
