import csv
import io
import json
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import bnn
from bnn import cli
from bnn.csvfile import read_csv
from bnn.errors import DataError, FileError
from bnn.files import read_tensors, write_tensors

MODEL = "bnn-model.safetensors"
TABLE = """size,colour,age,class
1,red,10.5,u
2,red,11.5,u
1,blue,30.5,v
3,blue,,v
2,red,31.5,u
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Each test in its own folder, a terminal of 80 columns, no data folder, a small table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("BNN_DATA", raising=False)
    Path("t.csv").write_text(TABLE)


def here():
    return sorted((file.name, file.read_bytes()) for file in Path().iterdir())


def bnn_(*words):
    return CliRunner().invoke(cli.app, list(words))


def done(*words):
    """What a command that must succeed without a word on standard error prints."""
    result = bnn_(*words)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result.stdout


def refused(*words):
    """The one sentence of a command that must fail, and nothing else; no file is made or changed."""
    before = here()
    result = bnn_(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("bnn: ")
    assert result.stderr.count("\n") == 1
    assert here() == before
    return result.stderr


def answers(text):
    """Predictions and probabilities of the CSV that a command wrote."""
    header, *rows = csv.reader(io.StringIO(text))
    assert header[0] == "prediction"
    return header[1:], [row[0] for row in rows], np.array([[float(cell) for cell in row[1:]] for row in rows])


# ---- fit and predict


@pytest.mark.parametrize("name", ["lymphography", "hepatitis", "house-votes-84"])
def test_answers_are_those_of_python(name):
    done("fit", name, "--out", "m.safetensors")
    columns, predictions, probabilities = answers(done("predict", "m.safetensors", name))
    table = read_csv(bnn.datasets.path(name))
    X, y = table.drop_columns(["class"]), table["class"]
    expected = bnn.NaiveBayesClassifier().fit(X, y)
    assert columns == [f"P({label})" for label in expected.classes_]
    assert predictions == [str(label) for label in expected.predict(X)]
    assert np.array_equal(probabilities, expected.predict_proba(X))
    loaded = bnn.load_classifier("m.safetensors")
    assert type(loaded) is bnn.NaiveBayesClassifier
    assert np.array_equal(loaded.predict_proba(X), probabilities)


def test_options_reach_the_classifier():
    words = ("--estimate", "neutral", "--m", "0", "--intervals", "5", "--fuzzy", "both", "--sig", "0.7", "--pr", "0.2")
    done("fit", "hepatitis", *words, "--discretize", "mdl", "--discretize", "AGE=30,50")
    fitted = bnn.load_classifier(MODEL)
    told = fitted.get_params()
    assert {key: told[key] for key in ("estimate", "m", "intervals", "fuzzy", "SIG", "Pr")} == {
        "estimate": "neutral", "m": 0, "intervals": 5, "fuzzy": "both", "SIG": 0.7, "Pr": 0.2,
    }  # fmt: skip
    assert told["discretize"]["AGE"] == [30.0, 50.0]
    assert {way for name, way in told["discretize"].items() if name != "AGE"} == {"mdl"}
    assert fitted.codebook_.schema["AGE"].values == ("< 30", "30 to 50", ">= 50")


def test_one_way_for_all_columns_and_an_equals_sign_in_a_name():
    Path("t.csv").write_text(TABLE.replace("age", "a=b"))
    done("fit", "t.csv", "--discretize", "information-gain")
    assert bnn.load_classifier(MODEL).codebook_.schema["a=b"].values == ("< 21", ">= 21")
    done("fit", "t.csv", "--discretize", "a=b=11,31")
    assert bnn.load_classifier(MODEL).codebook_.schema["a=b"].values == ("< 11", "11 to 31", ">= 31")


def test_what_was_learned_is_told():
    Path("t.csv").write_text(TABLE + "1,red,9.5,\n")
    assert done("fit", "t.csv") == (
        "t.csv: 5 rows, 3 attributes, class of 2 values: u 3, v 2. 1 rows without a class are left out.\n"
        f"Written: {MODEL}\n"
    )
    told = json.loads(done("fit", "t.csv", "--ignore", "age", "--ignore", "age", "--json"))
    assert told == {
        "classifier": "naive",
        "rows": 5,
        "left_out": 1,
        "damaged": 0,
        "attributes": 2,
        "classes": [{"class": "u", "rows": 3}, {"class": "v", "rows": 2}],
        "files": [MODEL],
    }
    assert bnn.load_classifier(MODEL).codebook_.schema.names == ("size", "colour")
    assert "mammal 41, bird 20, fish 13, invertebrate 10, insect 8, reptile 5 and 1 more." in done("fit", "zoo")


def test_another_target():
    done("fit", "t.csv", "--target", "colour")
    assert bnn.load_classifier(MODEL).classes_.tolist() == ["blue", "red"]
    Path("new.csv").write_text("class,size,age\nv,1,30\n")
    assert answers(done("predict", MODEL, "new.csv"))[1] == ["blue"]


def test_columns_in_another_order_and_others_beside_them():
    done("fit", "t.csv")
    expected = done("predict", MODEL, "t.csv")
    table = pd.read_csv("t.csv")
    table[["age", "class", "colour", "size"]].assign(name="x").to_csv("new.csv", index=False)
    assert done("predict", MODEL, "new.csv") == expected


def test_values_never_learned_are_told_once():
    done("fit", "t.csv")
    Path("new.csv").write_text("size,colour,age\n1,green,10.5\n7,green,10.5\n1,,10.5\n")
    result = bnn_("predict", MODEL, "new.csv")
    assert result.exit_code == 0
    assert result.stderr == (
        "bnn: NaiveBayesClassifier.X: values never learned were taken as missing: "
        "'size' 1 (such as 7), 'colour' 2 (such as 'green').\n"
    )
    _, _, probabilities = answers(result.stdout)
    assert np.array_equal(probabilities[0], probabilities[2])


def test_one_odd_field_does_not_spoil_its_column():
    # alone, a reader of CSV takes the first column for text here, and the second for numbers
    Path("t.csv").write_text("size,code,class\n1,1,u\n2,x,v\n1,1,u\n2,2,v\n")
    bnn_("fit", "t.csv")
    Path("clean.csv").write_text("size,code\n1,1\n,2\n2,1\n")
    Path("odd.csv").write_text("size,code\n1,1\nmany,2\n2.0,1\n")
    assert bnn.load_classifier(MODEL).codebook_.schema.names == ("size", "code")
    result = bnn_("predict", MODEL, "odd.csv")
    assert result.stdout == done("predict", MODEL, "clean.csv")
    assert result.stderr == (
        "bnn: odd.csv: column 'size' held numbers when it was learned; what is none was taken as missing, such as "
        "'many'.\n"
    )
    assert len({*answers(result.stdout)[2][:, 0].tolist()}) == 3  # each row has evidence of its own


def test_models_made_in_python_read_csv_too():
    frame = pd.DataFrame({"wet": [True, False, True, False], "n": [0.5, 1.5, 2.5, 3.5]})
    fitted = bnn.NaiveBayesClassifier(discretize={"n": [2.0]}).fit(frame, ["a", "b", "a", "b"])
    fitted.save(MODEL)
    frame.to_csv("new.csv", index=False)
    assert np.array_equal(answers(done("predict", MODEL, "new.csv"))[2], fitted.predict_proba(frame))
    zoo = bnn.datasets.load("zoo")
    fitted = bnn.NaiveBayesClassifier().fit(zoo)  # without names of features, in scikit-learn's sense
    fitted.save(MODEL)
    assert np.array_equal(answers(done("predict", MODEL, "zoo"))[2], fitted.predict_proba(zoo))
    assert "mammal" in done("explain", MODEL, "zoo")


def test_predictions_go_to_a_file_or_to_programs():
    done("fit", "t.csv")
    printed = done("predict", MODEL, "t.csv")
    assert done("predict", MODEL, "t.csv", "--out", "p.csv") == "t.csv: 5 rows classified.\nWritten: p.csv\n"
    assert Path("p.csv").read_text() == printed
    done("predict", MODEL, "t.csv", "--out", ".")
    assert Path("bnn-predictions.csv").read_text() == printed
    told = json.loads(done("predict", MODEL, "t.csv", "--json", "--out", "p.csv"))
    _, predictions, probabilities = answers(printed)
    assert (told["classes"], told["files"]) == (["u", "v"], ["p.csv"])
    assert [row["prediction"] for row in told["rows"]] == predictions
    assert [row["probabilities"] for row in told["rows"]] == probabilities.tolist()


def test_letters_of_all_kinds_survive():
    rows = "".join(f'{n},"{c}","{k}"\n' for n, c, k in [(1.5, "röt, hell", "ja 🦊"), (2.5, "[red]x[/]", "né")] * 3)
    Path("t.csv").write_text('größe,"farbe\n2",class\n' + rows, encoding="utf-8")
    done("fit", "t.csv")
    columns, predictions, _ = answers(done("predict", MODEL, "t.csv"))
    assert columns == ["P(ja 🦊)", "P(né)"]
    assert predictions == ["ja 🦊", "né"] * 3
    assert "2 = [red]x[/]" in done("explain", MODEL, "t.csv", "--row", "1")


def test_columns_that_are_nearly_numbers_are_told():
    rows = "".join(f'{["?", "1", "2", "3"][i % 4]},"1,{100 + i}",{i}.5,00{i},{"uv"[i % 2]}\n' for i in range(8))
    Path("t.csv").write_text("a,b,c,d,class\n" + rows)
    result = bnn_("fit", "t.csv", "--out", "m.safetensors")
    assert result.exit_code == 0
    assert [line.split("; ")[0] for line in result.stderr.splitlines()] == [
        "bnn: t.csv: most fields of column 'a' are numbers, but '?' makes it text",
        "bnn: t.csv: most fields of column 'b' are numbers, but '1,100' makes it text",
    ]
    assert done("fit", "t.csv", "--ignore", "a", "--ignore", "b")
    assert result.stderr == bnn_("compare", "t.csv", "--classifier", "naive", "--splits", "2", "--repeats", "1").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fit",), "Missing argument"),
        (("fit", "zooo"), "datasets: there is no 'zooo'; did you mean 'zoo'?"),
        (("fit", "none.csv"), "Source.of: 'none.csv' does not exist"),
        (("fit", "t.csv", "--target", "clas"), "--target: there is no 'clas'; did you mean 'class'?"),
        (("fit", "t.csv", "--ignore", "ag"), "--ignore: there is no 'ag'; did you mean 'age'?"),
        (("fit", "t.csv", "--ignore", "class"), "--ignore: 'class' is the target; ignore other columns, or name"),
        (("fit", "t.csv", "--classifier", "naiv"), "--classifier: there is no 'naiv'; did you mean 'naive'?"),
        (("fit", "t.csv", "--classifier", "sklearn-logistic"), "'sklearn-logistic' has no file to be kept in; choose"),
        (("fit", "t.csv", "--estimate", "n"), "NaiveBayesClassifier.estimate: there is no 'n'"),
        (("fit", "t.csv", "--m", "-1"), "NaiveBayesClassifier.m: got -1.0; give a number"),
        (("fit", "t.csv", "--m", "inf"), "cannot hold a Bayesian classifier with infinity or NaN among its options"),
        (("fit", "t.csv", "--discretize", "mdll"), "there is no 'mdll'; did you mean 'mdl'?"),
        (("fit", "t.csv", "--discretize", "agee=mdl"), "--discretize: there is no 'agee'; did you mean 'age'?"),
        (("fit", "hepatitis", "--discretize", "age=30"), "--discretize: there is no 'age'; did you mean 'AGE'?"),
        (("fit", "t.csv", "--discretize", "age=3,1"), "bounds of column 'age' are [3.0, 1.0]; give ascending"),
        (("fit", "t.csv", "--out", "t.csv"), "--out: 't.csv' is no folder and does not end in .safetensors"),
        (("fit", "t.csv", "--out", "no/m.safetensors"), "--out: the folder 'no' does not exist; make it first."),
        (("fit", "t.csv", "--target", "age"), "NaiveBayesClassifier.y: Unknown label type: continuous; got 10.5"),
        (("predict",), "Missing argument"),
        (("predict", "none", "t.csv"), "none: there is no such file."),
        (("predict", ".", "t.csv"), ".: is a folder; give the name of a file in it."),
        (("predict", "t.csv", "t.csv"), "t.csv: is damaged, cut short, or no safetensors file"),
    ],
)
def test_refused(words, message):
    assert message in refused(*words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'t.csv' is empty; needed is a header row"),
        ("a,class\n", "--target: 'class' of t.csv holds no class at all"),
        ("a,a,class\n1,2,u\n", "'a' names two columns; rename one."),
        ("class\nu\nv\n", "--target: t.csv holds nothing but 'class'; there is nothing to predict by."),
        ("a,class\n1,u\n2,u\n", "--target: 'class' of t.csv holds only 'u'; needed are two classes to tell apart."),
        ("a,class\n1\n2\n", "t.csv: no row can be read: 't.csv', line 2: got 1 fields where the header"),
        ('a,class\n"1,u\n2,v\n', "t.csv: no row can be read: 't.csv', line 2: got 1 fields"),
        ("a,class\n1,\n2,\n", "--target: 'class' of t.csv holds no class at all; needed are two classes"),
        ("a;class\n1;u\n", "t.csv: its one column is called 'a;class'; separate columns by commas."),
        ("a\tclass\n1\tu\n", "its one column is called 'a\\tclass'; separate columns by commas."),
    ],
)
def test_tables_that_cannot_be_learned(text, message):
    Path("t.csv").write_text(text)
    assert message in refused("fit", "t.csv")
    assert message.partition(";")[0] in refused("fit", "t.csv", "--classifier", "tree")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'new.csv' is empty"),
        ("size,colour,age\n", "'new.csv' has a header but no rows"),
        ("size,color\n1,red\n", "new.csv: lacks 2 of the 3 columns that were learned, such as 'colour'; give all of"),
        ("size,colour,age\n1,red,old\n", "column 'age' held numbers when it was learned, and now 'old'; mend it."),
        ('size,colour,age\n1,red,"1,000"\n', "column 'age' held numbers when it was learned, and now '1,000'"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "explain"])
def test_rows_that_cannot_be_classified(command, text, message):
    done("fit", "t.csv")
    Path("new.csv").write_text(text)
    assert message in refused(command, MODEL, "new.csv")


def test_what_is_read_is_never_replaced():
    done("fit", "t.csv")
    Path("link.csv").symlink_to("t.csv")
    for out in ("t.csv", "./t.csv", "link.csv"):
        assert "is read by this command and would be replaced" in refused("predict", MODEL, "t.csv", "--out", out)


# ---- files of classifiers


def test_damaged_foreign_and_newer_files_are_refused(tmp_path, monkeypatch):
    done("fit", "t.csv")
    whole = Path(MODEL).read_bytes()
    Path(MODEL).write_bytes(whole[:-8] + b"\0" * 8)
    assert "is damaged: its contents do not match their checksum" in refused("predict", MODEL, "t.csv")
    Path(MODEL).write_bytes(whole[:-8])
    assert "is damaged, cut short, or no safetensors file" in refused("explain", MODEL, "t.csv")
    Path(MODEL).write_bytes(whole.replace(b"__metadata__", b"__metabata__"))
    assert "is damaged, cut short" in refused("predict", MODEL, "t.csv")
    monkeypatch.setattr("bnn.files.VERSION", 0)
    Path(MODEL).write_bytes(whole)
    assert "was written by a newer bnn" in refused("predict", MODEL, "t.csv")
    bnn.Counts.of(bnn.datasets.load("zoo")).save("counts.safetensors")
    assert "counts.safetensors: holds counts, not a Bayesian classifier; load it as what it is." in refused(
        "predict", "counts.safetensors", "t.csv"
    )
    with pytest.raises(FileError, match="holds counts, not a Bayesian classifier"):
        bnn.load_classifier(tmp_path / "counts.safetensors")


def test_a_header_that_json_cannot_hold_is_refused(tmp_path):
    with pytest.raises(DataError, match="x: cannot hold counts with infinity or NaN among its options; choose others"):
        write_tensors("x", {}, {"m": float("nan")}, "counts")
    assert not (tmp_path / "x").exists()


def test_every_classifier_of_ours_is_fitted_kept_and_asked_by_name():
    X, names = pd.read_csv("t.csv").drop(columns="class"), [name for name in bnn.CLASSIFIERS if "sklearn" not in name]
    assert names == ["naive", "semi-naive", "tree", "chain", "successive", "network", "hopfield"]
    for name in names:
        done("fit", "t.csv", "--classifier", name)
        loaded = bnn.load_classifier(MODEL)
        assert type(loaded) is type(bnn.CLASSIFIERS[name])
        assert done("predict", MODEL, "t.csv").splitlines()[1:] == [
            ",".join([f'"{answer}"', *map(repr, shares)])
            for answer, shares in zip(loaded.predict(X), loaded.predict_proba(X).tolist(), strict=True)
        ]
        if name == "successive":
            assert "explain: rows are answered by different functions" in refused("explain", MODEL, "t.csv")
        else:
            assert "sum: log2 of the probability" in done("explain", MODEL, "t.csv")


def test_a_classifier_of_a_later_version_is_refused():
    done("fit", "t.csv")
    arrays, told = read_tensors(MODEL, "a Bayesian classifier")
    write_tensors(MODEL, arrays, {**told, "class": "QuantumClassifier"}, "a Bayesian classifier")
    assert "holds a QuantumClassifier, which this bnn does not know; upgrade bnn." in refused("predict", MODEL, "t.csv")


def test_a_full_disk_leaves_nothing_half(monkeypatch):
    done("fit", "t.csv")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    before = [file.name for file in Path().iterdir()]
    result = bnn_("predict", MODEL, "t.csv", "--out", "p.csv")
    assert (result.exit_code, result.stderr) == (2, "bnn: p.csv: cannot be written: No space left on device.\n")
    assert [file.name for file in Path().iterdir()] == before


def test_a_folder_that_may_not_be_written(monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryDirectory", denied)
    assert f"{MODEL}: cannot be written: Permission denied." in refused("fit", "t.csv")


def test_files_have_the_usual_permissions():
    done("fit", "t.csv")
    assert stat.S_IMODE(Path(MODEL).stat().st_mode) & 0o600 == 0o600


def test_interrupted(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bnn.app.fit_command.fit_classifier", interrupt)
    before = here()
    result = bnn_("fit", "t.csv")
    assert (result.exit_code, result.stderr) == (130, "bnn: interrupted.\n")
    assert here() == before
