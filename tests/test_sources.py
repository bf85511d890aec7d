import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnn import csvfile
from bnn.csvfile import read_blocks, read_header
from bnn.errors import DataError, FileError, SchemaError
from bnn.kernels.lines import records_end
from bnn.sources import Source, ahead


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b", "a"):
        (tmp_path / f"{name}.csv").write_text(f"x,y\n1,{name}\n2,{name}\n")
        pq.write_table(pa.table({"x": [1, 2, 3], "y": [name] * 3}), f"{name}.parquet", row_group_size=2)


def test_fragments_are_files_and_row_groups_in_order():
    source = Source.of("*.csv")
    assert ([(f.path, f.part) for f in source.fragments], source.names) == ([("a.csv", 0), ("b.csv", 0)], ("x", "y"))
    source = Source.of("b.parquet", "a.parquet")
    assert source.files == ("b.parquet", "a.parquet")
    assert [(f.path, f.part) for f in source.fragments] == [(f"{n}.parquet", part) for n in "ba" for part in (0, 1)]
    assert [chunk.table.num_rows for chunk in source.chunks(["y"])] == [2, 1, 2, 1]
    assert {name for chunk in source.chunks(["y"]) for name in chunk.table.column_names} == {"y"}


@pytest.mark.parametrize(
    ("paths", "error", "message"),
    [
        ((), DataError, "Source.of: no files are named; give one or more"),
        (("c.csv",), FileError, r"Source.of: 'c\.csv' does not exist; check the path"),
        (("c*.csv",), FileError, r"Source.of: no file is called 'c\*\.csv'; check the pattern"),
        ((".",), FileError, r"'\.' is a folder; name the files in it, such as \./\*\.parquet"),
        (("a.csv", "*.csv"), FileError, r"'a\.csv' is named twice; its rows would count twice"),
        (("a.csv", "./a.csv"), FileError, r"is named twice"),
        (("a.csv", "a.parquet"), DataError, "some files are CSV and some Parquet"),
        (("a.csv", "z.csv"), SchemaError, r"'z\.csv' lacks the column 'y' of 'a\.csv'; give it one"),
        (("twice.parquet",), SchemaError, r"'twice\.parquet': 'x' names two columns; rename one"),
        (("a.parquet", "twice.parquet"), SchemaError, r"'twice\.parquet': 'x' names two columns; rename one"),
        (("empty.csv", "b.csv", "z.csv"), SchemaError, r"'z\.csv' lacks the column 'y' of 'b\.csv'; give it one"),
        (("bad.parquet",), FileError, r"'bad\.parquet' cannot be read: .*; take another copy"),
        (("bad*.parquet",), FileError, r"none of 2 files can be read, such as 'bad\.parquet'; check them"),
    ],
)
def test_sources_refused(paths, error, message, tmp_path):
    (tmp_path / "z.csv").write_text("x,z\n1,2\n")
    pq.write_table(pa.table([[1], [2], [3]], names=["x", "x", "y"]), tmp_path / "twice.parquet")
    (tmp_path / "empty.csv").touch()
    for name in ("bad.parquet", "bad2.parquet"):
        (tmp_path / name).write_text("PAR1")
    with pytest.raises(error, match=message):
        Source.of(*paths)


def test_one_item_is_made_ahead_and_errors_arrive():
    made = []

    def items():
        for number in range(4):
            made.append(number)
            yield number
        raise ValueError("the end is damaged")

    found = []
    with pytest.raises(ValueError, match="damaged"):
        found.extend(ahead(items()))
    assert found == made == [0, 1, 2, 3]
    some = ahead(iter(range(9)))
    assert next(some) == 0
    some.close()  # whoever stops early leaves no thread behind


FIELD = st.text(alphabet='ab",\n é', max_size=6)


@given(st.lists(st.lists(FIELD, min_size=2, max_size=2), min_size=1, max_size=12), st.integers(0, 90))
def test_records_end_where_lines_end_outside_of_quotes(rows, cut):
    lines = [",".join('"' + field.replace('"', '""') + '"' for field in row) + "\n" for row in rows]
    data = "".join(lines).encode()
    ends = [0, *np.cumsum([len(line.encode()) for line in lines]).tolist()]
    assert records_end(data[:cut]) == max(end for end in ends if end <= min(cut, len(data)))


def test_a_quote_that_is_never_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(csvfile, "BLOCK", 8)
    monkeypatch.setattr(csvfile, "LONGEST", 64)
    (tmp_path / "open.csv").write_text("x,y\n1,2\n" + '3,"' + "4,5\n" * 40)
    with pytest.raises(FileError, match=r"'open\.csv', line 3: no record ends within 0 MB; close the quote"):
        list(read_blocks(read_header("open.csv")))
    (lost,) = [damage for chunk in Source.of("open.csv").chunks() for damage in chunk.damage]
    assert "line 3: no record ends" in lost.told
