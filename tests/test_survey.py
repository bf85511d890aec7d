"""Schemas found in files that are never in memory as a whole: the same as of all rows at once."""

import itertools
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnn import csvfile, seen, sources, survey
from bnn.csvfile import read_csv
from bnn.discretize import equal_frequency
from bnn.errors import DataError, MeasurementWarning, SchemaError
from bnn.records import Records
from bnn.sources import Fragment, Source
from bnn.survey import Survey, look, merged, row_hashes, survey_of

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


def write_csv(folder, names, rows, parts):
    """One file of everything, and one a part."""
    (folder / "all").write_text(text_of(names, rows))
    for begin, end in parts:
        (folder / f"{begin:03}.csv").write_text(text_of(names, rows[begin:end]))


def write_parquet(folder, table, parts, group):
    """One file a part; what pyarrow reads from all of them at once."""
    for begin, end in parts:
        pq.write_table(table.slice(begin, end - begin), folder / f"{begin:03}.parquet", row_group_size=group)
    return pa.concat_tables([pq.read_table(file) for file in sorted(folder.iterdir())]).combine_chunks()


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
    write_csv(folder, names, rows, data.draw(parts_of(len(rows))))
    size = data.draw(st.sampled_from([1, 7, 40, 1 << 20]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvfile, "BLOCK", size)
        found = survey_of(Source.of(folder / "*.csv", strict=True).chunks())
    same_schema(found, read_csv(folder / "all"), names[-1], data.draw(st.sampled_from([None, 2, 20])))
    assert found.rows == len(rows)


@given(tables(), st.data())
@settings(max_examples=60)
def test_parquet_files_in_any_division(tmp_path_factory, table, data):
    folder = tmp_path_factory.mktemp("parquet")
    parts, group = data.draw(parts_of(table.num_rows)), data.draw(st.sampled_from([1, 3, 100]))
    whole = write_parquet(folder, table, parts, group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "ROWS", data.draw(st.sampled_from([1, 2, 100])))
        found = survey_of(Source.of(folder / "*.parquet", strict=True).chunks())
    same_schema(found, whole, None, data.draw(st.sampled_from([None, 2, 20])))


@given(st.integers(1, 60), st.integers(1, 60), st.data())
@settings(max_examples=30)
def test_the_sample_is_that_of_the_rows_of_smallest_hash_in_any_order(tmp_path_factory, rows, size, data):
    path = tmp_path_factory.mktemp("sample") / "some.parquet"
    numbers = np.random.default_rng(rows).random(rows).round(1)
    pq.write_table(pa.table({"x": numbers, "y": [str(i % 3) for i in range(rows)]}), path, row_group_size=9)
    fragments = Source.of(path).fragments
    hashes = np.concatenate([row_hashes(f, np.arange(min(9, rows - 9 * f.part))) for f in fragments])
    kept = np.sort(hashes)[:size]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "SAMPLE", size)
        patch.setattr(sources, "ROWS", data.draw(st.sampled_from([1, 4, 100])))
        parts = [look(chunk, "y") for fragment in data.draw(st.permutations(fragments)) for chunk in fragment.chunks()]
        while len(parts) > 1:  # any tree of sums
            place = data.draw(st.integers(0, len(parts) - 2))
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        one_pass = survey_of(Source.of(path).chunks(), "y")
        bounds = one_pass.schema(intervals=4)["x"].bounds
    order = np.argsort(hashes)[:size]
    for found in (merged(parts), one_pass):
        placed = np.argsort(found.hashes)
        assert np.array_equal(found.hashes[placed], kept)
        assert np.array_equal(found.numbers["x"][placed], numbers[order])
        assert [found.labels[i].as_py() for i in placed] == [str(i % 3) for i in order]
        assert (found.rows, found.columns["x"].low, found.columns["x"].high) == (rows, numbers.min(), numbers.max())
    assert parts[0].schema(intervals=4) == one_pass.schema(intervals=4)
    if one_pass.columns["x"].measured:
        assert bounds == tuple(equal_frequency(numbers[order], intervals=4).tolist())


def test_hashes_are_spread_evenly_and_differ_between_fragments():
    hashes = [row_hashes(Fragment("a.csv", part), np.arange(10_000)) for part in range(2)]
    assert len(np.unique(np.concatenate(hashes))) == 20_000
    for some in hashes:
        shares = np.bincount((some >> np.uint64(60)).astype(np.int64), minlength=16) / 10_000
        assert abs(shares - 1 / 16).max() < 0.01


def test_columns_of_more_values_than_are_kept(tmp_path, monkeypatch):
    (tmp_path / "some.csv").write_text(
        "name,age,late\n" + "".join(f"n{i},{i}.5,{i}\n" for i in range(30)) + "m,1.5,?\n"
    )
    monkeypatch.setattr(seen, "MOST", 25)
    monkeypatch.setattr(csvfile, "BLOCK", 60)
    found = survey_of(Source.of(tmp_path / "some.csv").chunks())
    assert found.columns["age"].measured
    assert not found.columns["late"].numeric
    with pytest.raises(DataError, match=r"survey: column 'name' has more than 25 distinct values; leave it out if"):
        found.schema(intervals=3)
    without = Survey({"age": found.columns["age"]}, found.rows, found.hashes, found.numbers)
    ages = np.array([*np.arange(30) + 0.5, 1.5])
    assert without.schema(intervals=2)["age"].bounds == tuple(equal_frequency(ages, intervals=2).tolist())


def test_columns_that_differ_between_files(tmp_path):
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": ["1", "2"]}), tmp_path / "b.parquet")
    with pytest.raises(SchemaError, match=r"column 'x' is int64 in some files and string in others; write it alike"):
        survey_of(Source.of(tmp_path / "*.parquet").chunks())
    pq.write_table(pa.table({"x": [0.5, 2.0]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"x": [2, 2**60 + 1]}), tmp_path / "a.parquet")  # no float is the second
    assert survey_of(Source.of(tmp_path / "*.parquet").chunks()).schema()["x"].values == (0.5, 2.0, 2.0**60)
    pq.write_table(pa.table({"x": [[1], [2]]}), tmp_path / "c.parquet")
    with pytest.raises(DataError, match=r"column 'x' is list<.*>; values are text, bools or numbers"):
        survey_of(Source.of(tmp_path / "c.parquet").chunks())
    pq.write_table(pa.table({"x": [1.5, float("inf")]}), tmp_path / "d.parquet")
    with pytest.raises(DataError, match=r"column 'x' holds inf"):
        survey_of(Source.of(tmp_path / "d.parquet").chunks()).schema(intervals=2)
