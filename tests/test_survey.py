"""Schemas found in files that are never in memory as a whole: the same as of all rows at once."""

import itertools
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnn import csvfile, sources
from bnn.csvfile import read_csv
from bnn.errors import MeasurementWarning
from bnn.records import Records
from bnn.sources import Source
from bnn.survey import survey_of

FIELDS = {
    "whole": st.integers(-3, 30).map(str),
    "fractions": st.integers(-9, 9).map(lambda i: f" {i / 4}"),
    "zeros": st.sampled_from(["007", "7", ""]),
    "text": st.sampled_from(["a", " a ", "b,c", 'say "x"', "two\nlines", "é", ""]),
    "nearly": st.sampled_from(["1", "2", "3", "?"]),
    "empty": st.just(""),
}
VALUES = {
    "text": (pa.string(), st.sampled_from(["a", "b", "", None, "é"])),
    "large": (pa.large_string(), st.sampled_from(["a", "b", None])),
    "whole": (pa.int32(), st.integers(-3, 30) | st.none()),
    "fractions": (pa.float64(), st.sampled_from([0.5, 1.0, 2.0, float("nan"), None])),
    "floats": (pa.float32(), st.sampled_from([1.0, 2.0, None])),
    "bools": (pa.bool_(), st.booleans() | st.none()),
    "nothing": (pa.null(), st.none()),
    "declared": (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["z", "y", "x", None])),
}


def quoted(field):
    return '"' + field.replace('"', '""') + '"' if set(field) & set('",\n') else field


def text_of(names, rows):
    return "".join(",".join(map(quoted, row)) + "\n" for row in [names, *rows])


@st.composite
def csv_rows(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(FIELDS)), min_size=2, max_size=4))
    rows = draw(st.lists(st.tuples(*(FIELDS[kind] for kind in kinds)), min_size=1, max_size=40))
    return [f"{kind}{i}" for i, kind in enumerate(kinds)], rows


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))
    number = draw(st.integers(1, 40))
    columns = {}
    for i, kind in enumerate(kinds):
        type_, values = VALUES[kind]
        column = draw(st.lists(values, min_size=number, max_size=number))
        if kind == "declared":  # categories that never occur, too
            columns[f"{kind}{i}"] = pa.array(column).cast(pa.string()).dictionary_encode().cast(type_)
            continue
        columns[f"{kind}{i}"] = pa.array(column, type_, from_pandas=False)
    return pa.table(columns)


@st.composite
def parts_of(draw, number):
    """Cuts of so many rows into parts."""
    cuts = sorted(draw(st.sets(st.integers(1, number - 1), max_size=3))) if number > 1 else []
    return list(itertools.pairwise([0, *cuts, number]))


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


def same_schema(found, table, target, intervals):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeasurementWarning)
        expected = Records.from_table(table, target=target, intervals=intervals).schema
    assert found.schema(target, intervals) == expected
    assert [a.values for a in found.schema(target, intervals).attributes] == [a.values for a in expected.attributes]
    kinds = [[type(v) for v in a.values] for a in found.schema(target, intervals).attributes]
    assert kinds == [[type(v) for v in a.values] for a in expected.attributes]


@given(csv_rows(), st.data())
@settings(max_examples=60)
def test_csv_files_in_any_division(tmp_path_factory, drawn, data):
    folder = tmp_path_factory.mktemp("csv")
    names, rows = drawn
    (folder / "all").write_text(text_of(names, rows))
    files = []
    for begin, end in data.draw(parts_of(len(rows))):
        files.append(folder / f"{begin:03}.csv")
        files[-1].write_text(text_of(names, rows[begin:end]))
    size = data.draw(st.sampled_from([1, 7, 40, 1 << 20]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvfile, "BLOCK", size)
        found = survey_of(Source.of(*files, strict=True).chunks())
    same_schema(found, read_csv(folder / "all"), names[-1], data.draw(st.sampled_from([None, 2, 20])))
    assert found.rows == len(rows)


@given(tables(), st.data())
@settings(max_examples=60)
def test_parquet_files_in_any_division(tmp_path_factory, table, data):
    folder = tmp_path_factory.mktemp("parquet")
    for begin, end in data.draw(parts_of(table.num_rows)):
        part = table.slice(begin, end - begin)
        pq.write_table(part, folder / f"{begin:03}.parquet", row_group_size=data.draw(st.sampled_from([1, 3, 100])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "ROWS", data.draw(st.sampled_from([1, 2, 100])))
        found = survey_of(Source.of(folder / "*.parquet", strict=True).chunks())
    whole = pa.concat_tables([pq.read_table(file) for file in sorted(folder.iterdir())]).combine_chunks()
    same_schema(found, whole, None, data.draw(st.sampled_from([None, 2, 20])))
