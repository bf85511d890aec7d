import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from test_fit_cli import MODEL, _elsewhere, bnn_, done, refused  # noqa: F401 - the fixture is used by each test

import bnn
from bnn import plots
from bnn.app import explain_command, explain_report
from bnn.classify.showing import every_value
from bnn.plots.nomograms import nomogram_scales

LYMPH = "lymph.safetensors"


def lymph(*words):
    return bnn_("explain", LYMPH, "lymphography", *words)


@pytest.fixture
def fitted():
    """The classifier that the commands explain."""
    done("fit", "lymphography", "--out", LYMPH)
    return bnn.load_classifier(LYMPH)


def task(row=0, label=None, against=None, labels=None, strongest=20, model=LYMPH, data="lymphography"):
    return explain_command.prepare(explain_command.Request(Path(model), data, row, label, against, labels, strongest))


def cells(table):
    """Rows of a rich table as text."""
    return [[str(cell) for cell in row] for row in zip(*(column.cells for column in table.columns), strict=True)]


def labelled(**labels):
    Path("labels.json").write_text(json.dumps(labels), encoding="utf-8")
    return ("--labels", "labels.json")


def test_numbers_are_those_of_python(fitted):
    told = json.loads(done("explain", LYMPH, "lymphography", "--row", "3", "--json"))
    records = bnn.datasets.load("lymphography")[[3]]
    expected = fitted.explain(records)
    assert list(told) == ["row", "prediction", "normaliser", "classes", "files"]
    assert (told["row"], told["files"]) == (3, [])
    assert told["prediction"] == fitted.predict(records)[0]
    assert told["normaliser"] == expected.normaliser[0]
    for c, one in enumerate(told["classes"]):
        assert list(one) == ["class", "prior_information", "gains", "log2_probability", "probability"]
        assert one["class"] == fitted.classes_[c]
        assert [g["gain"] for g in one["gains"]] == expected.gains[0, :, c].tolist()
        assert [g["cases"] for g in one["gains"]] == expected.cases[0].tolist()
        half = [(g["high"] - g["low"]) / 2 for g in one["gains"]]
        assert half == pytest.approx(1.96 * expected.errors[0, :, c])
        total = -one["prior_information"] + sum(g["gain"] for g in one["gains"]) - told["normaliser"]
        assert total == pytest.approx(math.log2(fitted.predict_proba(records)[0, c]), abs=1e-9)
        assert one["log2_probability"] == pytest.approx(total, abs=1e-9)
        assert one["probability"] == pytest.approx(2**total)


def test_table_for_people_fits_80_columns_and_adds_up(fitted):
    out = done("explain", LYMPH, "lymphography", "--row", "3")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("lymphography, row 3: malign lymph, 99.7 %.")
    shown = cells(explain_report.class_table(task(3)))
    assert [row[0] for row in shown] == ["malign lymph", "metastases", "fibrosis", "normal"]
    for _, prior, gains, normaliser, total, _ in shown:
        assert -float(prior) + float(gains) + float(normaliser) == pytest.approx(float(total), abs=0.03)
    first, *gains, normaliser, total = cells(explain_report.gain_table(task(3)))
    assert (first[0], normaliser[0], total[0]) == ("prior", "normaliser", "sum: log2 of the probability")
    assert len(gains) == len(fitted.codebook_.columns)
    sizes = [abs(float(row[1])) for row in gains]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(float(row[1]) for row in (first, *gains, normaliser)) == pytest.approx(float(total[1]), abs=0.11)
    name, bits, interval, cases = gains[0]
    assert (name, cases) == ("changes_in_node = lac central", "25")
    low, high = map(float, interval.split(" to "))
    assert low < float(bits) < high


def test_one_class_against_another(fitted):
    told = task(3, "fibrosis", "metastases", strongest=5)
    first, *gains, rest, normaliser, total = cells(explain_report.gain_table(told))
    assert rest[0] == "13 weaker together"
    assert first[-1] == "-4.04"
    assert normaliser[-1] == "+0.00"
    sizes = [abs(float(row[-1])) for row in gains]
    assert len(sizes) == 5
    assert sizes == sorted(sizes, reverse=True)
    for row in (first, *gains, rest, total):
        assert float(row[1]) - float(row[-2]) == pytest.approx(float(row[-1]), abs=0.011)
    odds = np.diff(fitted.predict_log2_proba(bnn.datasets.load("lymphography")[[3]])[0, [2, 0]])[0]
    assert float(total[-1]) == pytest.approx(odds, abs=0.006)
    out = lymph("--row", "3", "--class", "fibrosis", "--against", "metastases").stdout
    assert "For fibrosis, against metastases:" in out


def test_colours_say_for_and_against():
    styles = {bits: explain_report._coloured(bits).style for bits in (1.0, -1.0, 0.004, -math.inf)}
    assert styles == {1.0: "green", -1.0: "red", 0.004: "", -math.inf: "red"}
    assert explain_report._bits(math.nan) == "?"
    assert explain_report._bits(-math.inf) == "-∞"


def test_many_classes_show_the_likeliest_and_those_asked_for():
    done("fit", "primary-tumor", "--out", "tumor.safetensors")
    told = task(0, model="tumor.safetensors", data="primary-tumor")
    last = str(told.explained.classes[told.explained.log2_probabilities[0].argmin()])
    rows = cells(explain_report.class_table(task(0, last, model="tumor.safetensors", data="primary-tumor")))
    assert len(rows) == 10
    assert rows[-2][0] == last
    assert rows[-1][0] == f"{len(told.explained.classes) - 9} others"


def test_unknown_attributes_are_named():
    done("fit", "house-votes-84")
    out = " ".join(done("explain", MODEL, "house-votes-84", "--row", "3").split())
    assert "Unknown, and so no evidence: el-salvador-aid." in out
    told = json.loads(done("explain", MODEL, "house-votes-84", "--row", "3", "--json"))
    assert len(told["classes"][0]["gains"]) == 15


def test_infinite_gains_are_told():
    done("fit", "zoo", "--estimate", "relative")
    told = json.loads(done("explain", MODEL, "zoo", "--json"))
    bird = next(one for one in told["classes"] if one["class"] == "bird")
    assert (bird["log2_probability"], bird["probability"]) == (None, 0.0)
    assert None in [g["gain"] for g in bird["gains"]]
    out = done("explain", MODEL, "zoo", "--class", "bird", "--against", "fish")
    assert "-∞" in out
    assert "?" in out
    assert not re.search("nan|inf[^o]", out)


def test_numbers_are_explained_by_their_interval():
    done("fit", "hepatitis", "--discretize", "AGE=30,50")
    assert "AGE = 30 to 50" in done("explain", MODEL, "hepatitis")


# ---- readable labels


def test_labels_are_read_in_table_picture_and_nomogram(fitted, monkeypatch):  # noqa: ARG001
    words = labelled(
        by_pass={"no": "no by-pass", "yes": "a by-pass"},
        lym_nodes_dimin={"1": "one", "2": "two", "3": "three", "9": "never met"},
        **{"class": {"fibrosis": "scarred"}},
    )
    out = lymph(*words, "--row", "3", "--class", "scarred", "--against", "metastases").stdout
    assert "For scarred, against metastases:" in out
    assert "by_pass = no by-pass" in out
    assert "lym_nodes_dimin = one" in out
    assert lymph(*words, "--row", "3", "--class", "fibrosis", "--against", "metastases").stdout == out
    drawn = {}
    for name in ("explanation", "nomogram"):
        draw = getattr(plots, name)

        def kept(*args, _name=name, _draw=draw, **options):
            drawn[_name] = _draw(*args, **options)
            return drawn[_name]

        monkeypatch.setattr(plots, name, kept)
    result = lymph(*words, "--row", "3", "--class", "fibrosis", "--against", "metastases", "--out", "x.png")
    assert result.exit_code == 0
    bars = [label.get_text() for label in drawn["explanation"].axes[0].get_yticklabels()]
    assert any(bar.startswith("by_pass = no by-pass ") for bar in bars)
    assert drawn["explanation"].axes[0].get_title(loc="left").startswith("scarred: ")
    texts = [text.get_text() for text in drawn["nomogram"].axes[0].texts]
    assert {"no by-pass", "a by-pass", "one", "two", "three"} <= set(texts)
    assert drawn["nomogram"].axes[0].get_title(loc="left") == "scarred against metastases"
    told = json.loads(lymph(*words, "--row", "3", "--json").stdout)
    assert told["classes"][0]["class"] == "scarred"
    assert {"attribute": "by_pass", "value": "no by-pass"}.items() <= next(
        g for g in told["classes"][0]["gains"] if g["attribute"] == "by_pass"
    ).items()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "--labels: 'labels.json' is not JSON in UTF-8 (Expecting property name"),
        ("\xff", "--labels: 'labels.json' is not JSON in UTF-8"),
        ("[1]", "--labels: 'labels.json' holds [1]; needed is an object of objects, by attribute."),
        ('{"by_pass": 1}', "--labels: those of 'by_pass' are 1; needed is an object of text, by value."),
        ('{"by_pass": {"no": 1}}', "--labels: those of 'by_pass' are {'no': 1}; needed is an object of text"),
        ('{"bypass": {}}', "--labels: there is no 'bypass'; did you mean 'by_pass'?"),
        ('{"by_pass": {"no": "x", "yes": "x"}}', "--labels: two values of 'by_pass' have the same label"),
    ],
)
def test_labels_that_mean_nothing(fitted, text, message):  # noqa: ARG001 - the file is there
    Path("labels.json").write_text(text, encoding="latin1")
    assert message in refused("explain", LYMPH, "lymphography", "--labels", "labels.json")


# ---- pictures


def test_pictures_go_to_a_folder_or_beside_a_file(fitted):  # noqa: ARG001
    Path("there").mkdir()
    done("explain", LYMPH, "lymphography", "--out", "there")
    assert [file.name for file in Path("there").iterdir()] == ["bnn-explanation.png"]
    assert imread("there/bnn-explanation.png").std() > 0.01
    words = ("--against", "fibrosis", "--out", "x.svg", "--json")
    told = json.loads(done("explain", LYMPH, "lymphography", *words))
    assert told["files"] == ["x.svg", "x-nomogram.svg"]
    assert "</svg>" in Path("x-nomogram.svg").read_text()


def test_two_classes_have_a_nomogram_with_every_value_learned():
    done("fit", "house-votes-84")
    assert "Picture: bnn-explanation-nomogram.png" in done("explain", MODEL, "house-votes-84", "--out", ".")
    fitted = bnn.load_classifier(MODEL)
    shown = fitted.explain(every_value(fitted.codebook_, most=40))
    all_rows = fitted.explain(bnn.datasets.load("house-votes-84"))
    assert nomogram_scales(shown, "democrat") == nomogram_scales(all_rows, "democrat")


def test_a_value_of_each_interval_is_shown():
    done("fit", "hepatitis", "--discretize", "AGE=30,50")
    fitted = bnn.load_classifier(MODEL)
    values = fitted.explain(every_value(fitted.codebook_, most=40)).values
    for column, seen in zip(fitted.codebook_.columns, values.T, strict=True):
        assert set(seen.tolist()) - {None} == set(column.attribute.values)


def test_attributes_with_more_values_than_an_axis_has_room_for_are_told():
    rows = [f"v{i % 50},{'xy'[i % 3 == 0]},{'uv'[i % 2]}" for i in range(200)]
    Path("t.csv").write_text("\n".join(["a,b,class", *rows]) + "\n")
    done("fit", "t.csv")
    result = bnn_("explain", MODEL, "t.csv", "--out", ".")
    assert (result.exit_code, result.stderr) == (0, "bnn: the nomogram has no room for the values of a.\n")
    assert "bnn-explanation-nomogram.png" in result.stdout


@pytest.mark.parametrize(
    ("table", "words", "message"),
    [
        ("a,class\n" + "x,u\ny,u\nx,v\ny,v\n", (), "no attribute of these rows tells 'u' from the other"),
        ("a,class\n" + "x,u\ny,v\n", ("--estimate", "relative"), "is infinite; learn with m above 0"),
        ("a,class\n" + "1.5,u\n2.5,v\n" * 4, ("--fuzzy", "classification", "--intervals", "4"), "differs from row to"),
    ],
)
def test_where_no_nomogram_can_be_drawn_the_rest_is(table, words, message):
    Path("t.csv").write_text(table)
    done("fit", "t.csv", *words)
    result = bnn_("explain", MODEL, "t.csv", "--out", ".")
    assert result.exit_code == 0
    assert result.stderr.startswith("bnn: no nomogram is drawn: ")
    assert message in result.stderr
    assert "Picture: bnn-explanation.png" in result.stdout
    assert not Path("bnn-explanation-nomogram.png").exists()


def test_odd_names_and_long_ones_do_no_harm():
    names, classes = ("$5 to $10", "$10_{to $20"), ("$u_{$", "\\bad$")
    rows = [f"{names[i % 2]},{'w' * 300}{'xyz'[i % 3]},{classes[i % 2 or i % 5 == 0]}{'v' * 200}" for i in range(30)]
    Path("t.csv").write_text("\n".join([f"income $,{'long ' * 40},class", *rows]) + "\n")
    done("fit", "t.csv")
    out = done("explain", MODEL, "t.csv", "--out", ".")
    assert max(map(len, out.splitlines())) <= 80
    assert imread("bnn-explanation.png").shape[1] < 3000
    assert imread("bnn-explanation-nomogram.png").shape[1] < 4000


def test_a_full_disk_leaves_nothing_half(fitted, monkeypatch):  # noqa: ARG001
    def full(_, path, **options):  # noqa: ARG001
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    assert "x.png: cannot be written: No space left on device." in refused(
        "explain", LYMPH, "lymphography", "--out", "x.png"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--row", "148"), "--row: got 148; lymphography has the rows 0 to 147."),
        (("--row", "-1"), "--row: got -1; lymphography has the rows 0 to 147."),
        (("--class", "fibrosi"), "--class: there is no 'fibrosi'; did you mean 'fibrosis'?"),
        (("--against", "fibrosi"), "--against: there is no 'fibrosi'; did you mean 'fibrosis'?"),
        (("--class", "normal", "--against", "normal"), "--against: got 'normal', which is the class itself; name"),
        (("--labels", "none.json"), "--labels: 'none.json' cannot be read: No such file or directory."),
        (("--strongest", "0"), "Invalid value for '--strongest'"),
        (("--out", "x.txt"), "--out: 'x.txt' is no folder and does not end in .png, .pdf, .svg; make or name one."),
        (("--out", "no/x.png"), "--out: the folder 'no' does not exist; make it first."),
    ],
)
def test_refused(fitted, words, message):  # noqa: ARG001
    assert message in refused("explain", LYMPH, "lymphography", *words)


def test_a_classifier_that_does_not_explain_is_named(fitted, monkeypatch):  # noqa: ARG001
    class Silent:
        pass

    monkeypatch.setattr(explain_command, "load_classifier", lambda _: Silent())
    assert f"{LYMPH}: Silent does not explain its answers; use bnn predict." in refused(
        "explain", LYMPH, "lymphography"
    )


def test_joined_values_are_not_called_unknown_and_have_no_nomogram():
    done("fit", "house-votes-84", "--classifier", "semi-naive", "--out", "votes.safetensors")
    result = bnn_("explain", "votes.safetensors", "house-votes-84", "--row", "3", "--out", "v.png")
    assert "no nomogram is drawn: in a SemiNaiveBayesClassifier what a value says depends on other" in result.stderr
    told = " ".join(result.stdout.split())
    assert "no evidence: el-salvador-aid. Picture: v.png" in told
    assert not Path("v-nomogram.png").exists()


def test_no_interval_is_told_where_none_is_given():
    done("fit", "lymphography", "--classifier", "tree", "--out", "tree.safetensors")
    told = json.loads(done("explain", "tree.safetensors", "lymphography", "--row", "3", "--json"))
    assert {(gain["low"], gain["high"]) for gain in told["classes"][0]["gains"]} == {(None, None)}
    assert " to " not in done("explain", "tree.safetensors", "lymphography", "--row", "3").split("For ")[1]
