import subprocess
import sys

import numpy as np
import oracles
import pytest

from bnn import datasets
from bnn.errors import DataError, FileError, IdentifierWarning, MeasurementWarning
from bnn.records import Records

SHIPPED = {  # rows, attributes with the class, classes, missing cells
    "primary-tumor": (339, 18, 21, 225),
    "breast-cancer": (286, 10, 2, 9),
    "lymphography": (148, 19, 4, 0),
    "hepatitis": (155, 20, 2, 167),
    "house-votes-84": (435, 17, 2, 392),
    "zoo": (101, 17, 7, 0),
    "new-thyroid": (215, 6, 3, 0),
    "hypothyroid-3163": (3163, 26, 2, 5329),
    "pima-diabetes": (768, 9, 2, 0),
    "heart-cleveland": (303, 14, 2, 6),
    "ionosphere": (351, 35, 2, 0),
    "wine": (178, 14, 3, 0),
    "iris": (150, 5, 3, 0),
}
MEASUREMENTS = {  # whole numbers of few values are none
    "hepatitis": "AGE BILIRUBIN ALK_PHOSPHATE SGOT ALBUMIN PROTIME",
    "new-thyroid": "T3_resin_uptake_pct total_serum_thyroxin total_serum_triiodothyronine basal_TSH max_TSH_difference",
    "hypothyroid-3163": "age TSH T3 TT4 T4U FTI TBG",
    "pima-diabetes": "glucose pressure triceps insulin mass pedigree age",
    "iris": "sepal_length sepal_width petal_length petal_width",
}
LICENCES = {"mnist-100": "CC BY-SA 3.0", "pima-diabetes": "CC0"}


@pytest.fixture(autouse=True)
def _without_a_folder_of_the_user_s(monkeypatch):
    monkeypatch.delenv("BNN_DATA", raising=False)


@pytest.mark.parametrize("name", SHIPPED)
def test_tables_that_ship(name):
    rows, attributes, classes, missing = SHIPPED[name]
    records = datasets.load(name)
    assert (records.rows, len(records.schema.names)) == (rows, attributes)
    assert records.schema.target == records.schema.names[-1] == "class"
    assert len(records.schema["class"].values) == classes
    assert (records.codes < 0).sum() == missing
    assert not records.unseen.any()


def test_values_are_the_source_s_own():
    zoo = datasets.load("zoo")
    assert zoo.schema["legs"].values == (0, 2, 4, 5, 6, 8)
    assert zoo.schema["hair"].kind == "nominal"
    with pytest.warns(MeasurementWarning, match=r"numbers became values of their own.*'AGE' \(49 distinct\)"):
        hepatitis = datasets.load("hepatitis", intervals=None)
    assert hepatitis.schema["BILIRUBIN"].values[:3] == (0.3, 0.4, 0.5)
    assert hepatitis.schema["AGE"].values[:3] == (7, 20, 22)
    assert datasets.load("breast-cancer").schema["age"].values[:2] == ("20-29", "30-39")


def test_the_digits_are_pictures_without_their_class():
    digits = datasets.load("mnist-100")
    assert (digits.rows, digits.schema.shape, digits.schema.target) == (100, (28, 28), None)
    assert digits.schema.names[:2] == ("r0c0", "r0c1")
    assert {a.kind for a in digits.schema.attributes} == {"on_off"}
    lines = datasets.path("mnist-100").read_text().splitlines()[1:]
    assert np.array_equal(digits.patterns, [[int(v) for v in line.split(",")[:-1]] for line in lines])


@pytest.mark.parametrize("name", SHIPPED)
def test_measurements_are_cut_and_the_table_holds_their_numbers(name):
    records, table = datasets.load(name), datasets.table(name)
    cut = {a.name: a.bounds for a in records.schema.attributes if a.bounds is not None}
    assert table.column_names == list(records.schema.names)
    if name in MEASUREMENTS:
        assert list(cut) == MEASUREMENTS[name].split()
    assert datasets.describe(name).measurements == len(cut)
    for column, codes in zip(table.column_names, records.codes.T, strict=True):
        values = table[column].to_pylist()
        assert [v is None for v in values] == (codes < 0).tolist()
        if column in cut:
            known = [(v, c) for v, c in zip(values, codes.tolist(), strict=True) if v is not None]
            assert all(c == sum(v >= bound for bound in cut[column]) for v, c in known)
            assert len(cut[column]) <= 19
        else:
            told = records.schema[column].values
            assert values == [None if c < 0 else told[c] for c in codes.tolist()]


def test_zeros_that_stand_for_missing_are_left_as_they_are():
    insulin = datasets.table("pima-diabetes")["insulin"].to_pylist()
    assert insulin.count(0) == 374
    assert "stands for missing" in datasets.describe("pima-diabetes").about.title


def test_every_set_that_ships_says_whose_it_is():
    assert datasets.names() == tuple(sorted([*SHIPPED, "mnist-100"]))
    for name in datasets.names():
        description = datasets.describe(name)
        assert description.name == name
        assert description.rows == datasets.load(name).rows
        assert all([description.about.title, description.about.credit, description.about.source])
        assert description.about.licence == LICENCES.get(name, "CC BY 4.0")
    assert datasets.describe("hepatitis").missing == 167
    assert "LeCun" in datasets.describe("mnist-100").about.credit


def test_an_unknown_name_is_told_the_nearest():
    with pytest.raises(DataError, match=r"datasets: there is no 'zooo'; did you mean 'zoo'\?"):
        datasets.load("zooo")
    with pytest.raises(DataError, match=r"did you mean 'zoo'\?"):
        datasets.load("ZOO")


def test_a_folder_of_the_user_s_adds_its_files(tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text("a,class\nx,1\ny,2\n")
    (tmp_path / "zoo.csv").write_text("hair,class\n2,lion\n")
    (tmp_path / "notes.txt").write_text("no data")
    monkeypatch.setenv("BNN_DATA", str(tmp_path))
    assert set(datasets.names()) == {*SHIPPED, "mnist-100", "mine"}
    assert datasets.load("mine").schema.target == "class"
    assert datasets.path("mine") == tmp_path / "mine.csv"
    assert datasets.load("zoo").rows == 1
    description = datasets.describe("mine")
    assert (description.rows, description.attributes, description.missing) == (2, 2, 0)
    assert (description.about.title, description.about.licence) == ("mine", "")
    assert description.about.source == str(tmp_path / "mine.csv")


def test_a_folder_that_is_none_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("BNN_DATA", str(tmp_path / "none"))
    with pytest.raises(FileError, match=r"BNN_DATA: '.*none' is not a folder; name one that holds CSV files"):
        datasets.names()


def read(tmp_path, text):
    path = tmp_path / "some.csv"
    path.write_text(text)
    return datasets.read(path)


def test_zeros_and_ones_are_patterns_and_the_class_is_left_out(tmp_path):
    records = read(tmp_path, "a,class,b,c,d\n0,x,1,,\n1,y,,,0\n")
    assert records.schema == Records.from_patterns(np.zeros((1, 4)), names=["a", "b", "c", "d"]).schema
    assert records.codes.tolist() == [[0, 1, -1, -1], [1, -1, -1, 0]]


def test_pixels_whose_number_is_a_square_are_a_picture(tmp_path):
    assert read(tmp_path, "px0,px1,px2,px3\n0,1,1,0\n").schema.shape == (2, 2)
    assert read(tmp_path, "px0,px1,px2\n0,1,1\n").schema.shape is None
    assert read(tmp_path, "px0,px1,px3,px2\n0,1,1,0\n").schema.shape is None
    assert read(tmp_path, "a,b,c,d\n0,1,1,0\n").schema.shape is None


@pytest.mark.parametrize(
    "text", ["a,b\n0,2\n", "a,b\n0,-1\n", "a,b\n0,0.5\n", "a,b\n0,yes\n", "a,b\n0,1.0\n", "a,b\n0,00\n"]
)
def test_anything_else_makes_a_table(tmp_path, text):
    records = read(tmp_path, text)
    assert {a.kind for a in records.schema.attributes} == {"nominal"}
    assert records.schema.target is None


def test_a_class_alone_is_a_table(tmp_path):
    records = read(tmp_path, "class\n0\n1\n")
    assert (records.schema.target, records.schema["class"].values) == ("class", (0, 1))


def test_an_identifier_column_is_told_of_or_refused(tmp_path):
    with pytest.warns(IdentifierWarning, match="every value occurs once: 'id'; an identifier tells nothing"):
        read(tmp_path, "id\n" + "\n".join(f"n{i}" for i in range(20)))
    read(tmp_path, "id\n" + "\n".join(f"n{i}" for i in range(19)))
    with pytest.raises(DataError, match="column 'id' has 1001 distinct values"):
        read(tmp_path, "id\n" + "\n".join(f"n{i}" for i in range(1001)))


def test_loading_needs_neither_torch_nor_pandas():
    code = (
        "import sys, bnn.datasets as d; d.load('house-votes-84'); d.load('mnist-100'); "
        "print(sorted({'torch', 'numba', 'pandas', 'polars', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


EVERY = np.indices((8,) * 6).reshape(6, -1).T


def test_illegal_positions_are_those_of_an_independent_look_at_every_one():
    found = datasets.illegal(EVERY)
    assert set(map(tuple, EVERY[found].tolist())) == oracles.illegal_positions()
    assert (~found).sum() == 175_168  # as endgame tables count them


@pytest.mark.parametrize(
    ("position", "illegal"),
    [
        ("e1 a1 e8", False),
        ("e1 e5 e8", True),  # in check
        ("e6 e5 e8", False),  # the white king stands between
        ("e1 e5 a5", True),
        ("c5 e5 a5", False),
        ("e7 a1 e8", True),  # the kings touch
        ("e1 e1 e8", True),
        ("e1 e8 e8", True),
        ("e8 a1 e8", True),
    ],
)
def test_illegal_positions_by_hand(position, illegal):
    squares = [[ord(square[0]) - ord("a"), int(square[1]) - 1] for square in position.split()]
    assert datasets.illegal(np.array(squares).reshape(1, 6)).tolist() == [illegal]


def test_chess_by_coordinates_and_by_relations_are_the_same_positions():
    plain, related = datasets.krk(300, 5), datasets.krk(300, np.random.default_rng(5), relations=True)
    assert plain.schema.sizes == (8,) * 6 + (2,)
    assert related.schema.sizes == (2,) * 19
    assert plain.schema.target == related.schema.target == "class"
    positions = plain.codes[:, :-1]
    assert np.array_equal(plain.codes[:, -1], datasets.illegal(positions))
    assert np.array_equal(plain.codes[:, -1], related.codes[:, -1])
    told = {}
    for (a, first), (b, second) in [((0, "white king"), (1, "white rook")), ((0, "white king"), (2, "black king")),
                                    ((1, "white rook"), (2, "black king"))]:  # fmt: skip
        for axis, name in enumerate(("file", "rank")):
            for row, position in enumerate(positions.tolist()):
                one, other = position[2 * a + axis], position[2 * b + axis]
                relations = {
                    "same": one == other,
                    "neighbouring": other in (one - 1, one + 1),
                    "ascending": one < other,
                }
                for relation, holds in relations.items():
                    told.setdefault(f"{first} and {second}: {relation} {name}", np.zeros(300, int))[row] = holds
    assert list(told) == list(related.schema.names[:-1])
    assert np.array_equal(np.stack(list(told.values()), axis=1), related.codes[:, :-1])
    assert plain.schema["white rook, file"].values == tuple("abcdefgh")
    assert plain.schema["black king, rank"].values == tuple(range(1, 9))


def test_chess_positions_are_drawn_evenly_and_by_seed():
    drawn = datasets.krk(20_000, 1)
    assert np.array_equal(drawn.codes, datasets.krk(20_000, 1).codes)
    assert not np.array_equal(drawn.codes, datasets.krk(20_000, 2).codes)
    for column in drawn.codes[:, :-1].T:
        assert abs(np.bincount(column, minlength=8) - 2500).max() < 5 * np.sqrt(2500)
    share, expected = drawn.codes[:, -1].mean(), 86_976 / 262_144
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 20_000)


def test_chess_positions_cannot_be_drawn_from_nothing():
    with pytest.raises(DataError, match=r"krk\.rows: got 0; needed is a number of positions from 1 on"):
        datasets.krk(0, 1)
    with pytest.raises(DataError, match=r"krk\.seed: needs a whole number from 0 on, or a numpy Generator; got -1"):
        datasets.krk(1, -1)
