import pandas as pd
import pytest
import strategies
from hypothesis import given, settings
from oracles import decoded

from bnn.csvfile import read_csv
from bnn.errors import FileError
from bnn.records import Records


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        ("1 2 3", [1, 2, 3]),
        ("1.50 2 -1e3", [1.5, 2.0, -1000.0]),
        ("007 1", ["007", "1"]),
        ("0x10 1", ["0x10", "1"]),
        ("0 0.5 -0.5", [0.0, 0.5, -0.5]),
        ("nan 1", ["nan", "1"]),
        ("inf 1", ["inf", "1"]),
        ("1e999 1", ["1e999", "1"]),
        ("NA null ? N/A", ["NA", "null", "?", "N/A"]),
        ("true false", ["true", "false"]),
        ("yes no", ["yes", "no"]),
        ("2020-01-01 12:30", ["2020-01-01", "12:30"]),
        ('"a""b" "c,d"', ['a"b', "c,d"]),
    ],
)
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fields_are_integers_floats_or_the_source_s_own_text(tmp_path, fields, values, start, end):
    rows = [f"{field},x" for field in [*fields.split(), "", "  "]]
    path = tmp_path / "some.csv"
    path.write_bytes(start + end.join(["first, second ", *rows, ""]).encode())
    table = read_csv(path)
    assert table.column_names == ["first", "second"]
    assert table["first"].to_pylist() == [*values, None, None]
    assert table["second"].to_pylist() == ["x"] * len(rows)
    assert decoded(Records.from_table(table))[: len(values)] == [[v, "x"] for v in values]


def test_quoted_newlines_spaces_and_blank_lines(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text('\n"a\nb",c\n\n"x\ny", 2 \n,\n')
    assert read_csv(path).to_pydict() == {"a\nb": ["x\ny", None], "c": [2, None]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "'.*' is empty; needed is a header row"),
        (b"\n\n", "is empty"),
        (b"a,b", "has a header but no rows"),
        (b"a,b\n\n", "has a header but no rows"),
        (b"a,b\n1,2\n3\n", r"line 3: got 1 fields where the header names 2 columns"),
        (b"a,b\n1,2,3\n", r"line 2: got 3 fields where the header names 2 columns"),
        (b'a,b\n"x\ny",2\n\n1,2,3\n', r"line 5: got 3 fields"),
        (b"a,b,a\n1,2,3\n", "'a' names two columns; rename one"),
        (b"a,,b\n1,2,3\n", "column 2 of the header has no name"),
        (b"a,b\n1,2\n1,\xe9\n", "line 3: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        (b"PAR1\x15\x04\xff", "is a Parquet file; needed is CSV"),
        ("a,b\n1,2\n".encode("utf-16"), "line 1: byte 0xff is not UTF-8"),
    ],
)
def test_csv_files_refused(tmp_path, content, message):
    path = tmp_path / "some.csv"
    path.write_bytes(content)
    with pytest.raises(FileError, match=message):
        read_csv(path)


def test_paths_refused(tmp_path):
    with pytest.raises(FileError, match=r"read_csv: '.*none.csv' does not exist; check the path"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(FileError, match="is a folder; name a CSV file in it"):
        read_csv(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot be read: Not a directory"):
        read_csv(tmp_path / "file" / "x.csv")


@settings(max_examples=40)
@given(strategies.records(gaps=True))
def test_a_table_survives_a_csv_file(tmp_path_factory, records):
    texts = [[None if v is None else f"v{v!r}" for v in row] for row in decoded(records)]
    frame = pd.DataFrame(texts, columns=[f"c{i}" for i in range(len(records.schema.names))], dtype=object)
    path = tmp_path_factory.mktemp("csv") / "some.csv"
    pd.concat([frame, frame.iloc[:1].fillna("v")]).to_csv(path, index=False)
    assert decoded(Records.from_table(read_csv(path)))[: len(texts)] == [
        [None if v is None else v.strip() for v in row] for row in texts
    ]
