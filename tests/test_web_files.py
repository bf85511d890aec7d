"""Files that visitors send: tables, models and pictures, within limits; nothing else is read."""

import io
import pickle
import struct
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import bnn
from bnn import datasets
from bnn.errors import DataError, FileError
from bnn.web import uploads
from bnn.web.film import film
from bnn.web.limits import MOST_ROWS
from bnn.web.memory import Memory
from bnn.web.pictures import cells_of
from bnn.web.recall_session import RecallSession
from bnn.web.settings import Settings
from bnn.web.uploads import subject_sent

CSV = b"hair,legs,kind\nyes,4,mammal\nno,2,bird\nyes,2,mammal\n"


def parquet(**columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def png(array, form="PNG", **options):
    file = io.BytesIO()
    Image.fromarray(np.asarray(array, np.uint8)).save(file, form, **options)
    return file.getvalue()


def png_head(width, height):
    """A small file that says it is so large."""
    content = bytearray(png([[0]]))
    content[16:24] = struct.pack(">II", width, height)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    return bytes(content)


def test_a_table_is_learned():
    subject = subject_sent(CSV)
    assert subject.target == "kind"
    assert subject.classifier.classes_.tolist() == ["bird", "mammal"]
    assert subject.classifier.codebook_.schema.names == ("hair", "legs")
    with_class = CSV.replace(b"hair", b"class")
    assert subject_sent(with_class).target == "class"


def test_a_parquet_table_is_learned():
    subject = subject_sent(parquet(hair=["yes", "no", None], legs=[4, 2, 4], kind=["m", "b", "m"]))
    assert subject.classifier.classes_.tolist() == ["b", "m"]
    assert subject.records.to_table().to_pylist() == [
        {"hair": "yes", "legs": 4},
        {"hair": "no", "legs": 2},
        {"hair": None, "legs": 4},
    ]


def test_parts_of_a_parquet_table_are_one_table():
    file = io.BytesIO()
    pq.write_table(pa.table({"a": ["x", "y", "z", "x"], "b": ["p", "q", "p", "p"]}), file, row_group_size=1)
    subject = subject_sent(file.getvalue())
    assert subject.records.to_table()["a"].to_pylist() == ["x", "y", "z", "x"]


def test_a_model_is_loaded(tmp_path):
    path = tmp_path / "model.safetensors"
    classifier = bnn.NaiveBayesClassifier().fit(datasets.load("zoo"))
    classifier.save(path)
    sent = subject_sent(path.read_bytes())
    assert sent.records is None
    np.testing.assert_array_equal(sent.classifier.gains_, classifier.gains_)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file sent is empty"),
        (b"a,b\n", "the file sent has a header but no rows"),
        (b"a\n1\n2\n", "the file sent: has one column"),
        (b"a,b\n1,x\n2,x\n", "'b' holds fewer than two classes"),
        (pickle.dumps({"a": [1, 2]}), "the file sent, line 1: byte 0x80 is not UTF-8"),
        (b"PAR1 and nothing more", "the file sent: is no Parquet file"),
        (parquet(a=[[1], [2]], b=["x", "y"]), "the file sent: column 'a' holds list"),
        (b"\x02\0\0\0\0\0\0\0{}", "the file sent: is a"),
    ],
)
def test_what_cannot_be_read_is_told_without_a_path(content, sentence):
    with pytest.raises((DataError, FileError), match=sentence) as caught:
        subject_sent(content)
    assert "/" not in str(caught.value).replace("and/or", "")


def test_a_damaged_model_is_told_without_a_path(tmp_path):
    path = tmp_path / "model.safetensors"
    bnn.NaiveBayesClassifier().fit(datasets.load("zoo")).save(path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    with pytest.raises(FileError, match="the file sent: is damaged") as caught:
        subject_sent(bytes(content))
    assert "model.safetensors" not in str(caught.value)


def test_large_tables_are_refused():
    with pytest.raises(DataError, match=r"the file sent: has 20,001 rows; at most 20,000 are read"):
        subject_sent(b"a,b\n" + b"1,x\n" * (MOST_ROWS + 1))
    with pytest.raises(DataError, match="20,001 rows"):
        subject_sent(parquet(a=["x" * 1000] * (MOST_ROWS + 1), b=[1] * (MOST_ROWS + 1)))
    names = [f"c{i}" for i in range(401)]
    with pytest.raises(DataError, match="401 columns"):
        subject_sent((",".join(names) + "\n" + ",".join("1" * 401) + "\n").encode())


def test_a_wide_table_is_refused_by_its_header(monkeypatch):
    monkeypatch.setattr(uploads, "read_csv", None)  # would take 20 kB a column
    with pytest.raises((DataError, FileError), match=r"the file sent: has 9,999 columns; at most 400 are read"):
        subject_sent(",".join(f"c{i}" for i in range(9999)).encode() + b"\n")


def test_long_words_of_a_small_parquet_file_stay_small():
    content = parquet(a=["x" * 20_000] * 1000, b=["p", "q"] * 500)
    table = uploads._parquet(content)
    assert table.nbytes < 10 * 20_000


def test_a_picture_becomes_cells():
    square = np.full((56, 56), 255)
    square[14:28, 14:42] = 0
    expected = np.zeros((28, 28), np.bool_)
    expected[7:14, 7:21] = True
    for content in (png(square), png(255 - square), png(square, "JPEG", quality=95)):
        np.testing.assert_array_equal(cells_of(content, (28, 28), 784).reshape(28, 28), expected)


def test_a_picture_keeps_its_proportions_and_transparency_is_paper():
    wide = np.zeros((10, 40, 4))
    wide[:, :20, 3] = 255  # left half black, right half transparent
    wide[:5, :, 3] = 0
    cells = cells_of(png(wide), (8, 8), 64).reshape(8, 8)
    assert cells.any(axis=1).tolist() == [False, False, False, False, True, False, False, False]
    assert cells[4].tolist() == [True] * 4 + [False] * 4


def test_cells_beyond_the_neurons_are_left_out():
    assert cells_of(png([[0, 255], [255, 255]]), (2, 2), 3).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"GIF89a", "picture: is no PNG or JPEG file"),
        (CSV, "picture: is no PNG or JPEG file"),
        (png(np.zeros((9, 9)))[:40], "picture: is no PNG or JPEG file"),
        (png(np.zeros((9, 9)), "GIF"), "picture: is no PNG or JPEG file"),
        (png(np.zeros((4097, 4097))), "picture: has 4097 x 4097 pixels; at most 16,777,216"),
        (png_head(20_000, 20_000), "picture: has far too many pixels; at most 16,777,216 are read"),
    ],
)
def test_other_pictures_are_refused(content, sentence):
    with pytest.raises(DataError, match=sentence):
        cells_of(content, (8, 8), 64)


def test_a_film_shows_start_and_end(monkeypatch):
    monkeypatch.setattr("bnn.web.film.PICTURES", 5)
    patterns = np.random.default_rng(0).random((3, 60)) < 0.4
    memory = Memory.of(patterns, ("a", "b", "c"), (6, 10))
    session = RecallSession(lambda _: memory, Settings(noise=0.3, rules=("odds", "hopfield")))
    session.show(session.recalled())
    drawn = []
    content = film(session.courses, memory.shape, lambda done, of: drawn.append((done, of)))
    moments = 5
    with Image.open(io.BytesIO(content)) as pictures:
        assert (pictures.format, pictures.n_frames) == ("GIF", moments)
        first = np.asarray(pictures.convert("L"), np.int64)
        pictures.seek(moments - 1)
        assert np.abs(np.asarray(pictures.convert("L"), np.int64) - first).max() > 100
    assert drawn == [(k + 1, moments) for k in range(moments)]
