"""Counts of files that are never in memory as a whole: those of all rows at once, to the last one."""

import itertools
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import strategies
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_survey import csv_rows, parts_of, tables, write_csv, write_parquet

from bnn import csvfile, sources
from bnn.classify.class_counts import ClassCounts
from bnn.counts import Counts
from bnn.csvfile import read_csv
from bnn.errors import BnnWarning, DamageWarning, DataError, FileError, UnseenValueWarning
from bnn.records import Records
from bnn.sources import Source
from bnn.streaming import find_schema, records_of


def counted_at_once(table, intervals):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BnnWarning)
        return Counts.of(Records.from_table(table, intervals=intervals))


@given(csv_rows(), st.data())
@settings(max_examples=25)
def test_csv_files_count_as_one_table(tmp_path_factory, drawn, data):
    folder = tmp_path_factory.mktemp("csv")
    names, rows = drawn
    write_csv(folder, names, rows, data.draw(parts_of(len(rows))))
    source, intervals = Source.of(folder / "*.csv"), data.draw(st.sampled_from([None, 3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvfile, "BLOCK", data.draw(st.sampled_from([1, 20, 1 << 20])))
        found = Counts.of(source, schema=find_schema(source, intervals=intervals))
    assert found == counted_at_once(read_csv(folder / "all"), intervals)


@given(tables(), st.data())
@settings(max_examples=25)
def test_parquet_files_count_as_one_table(tmp_path_factory, table, data):
    assume(any(column.null_count < table.num_rows for column in table.columns))
    folder = tmp_path_factory.mktemp("parquet")
    parts, group = data.draw(parts_of(table.num_rows)), data.draw(st.sampled_from([2, 100]))
    whole = write_parquet(folder, table, parts, group)
    source, intervals = Source.of(folder / "*.parquet"), data.draw(st.sampled_from([None, 3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "ROWS", data.draw(st.sampled_from([1, 3, 100])))
        found = Counts.of(source, schema=find_schema(source, intervals=intervals))
    assert found == counted_at_once(whole, intervals)


@given(strategies.records(weights=True), st.lists(st.integers(0, 20), max_size=4), st.sampled_from([None, "values"]))
@settings(max_examples=30)
def test_parts_count_as_the_whole(records, cuts, coding):
    parts = [records[begin:end] for begin, end in itertools.pairwise([0, *sorted(cuts), len(records)])]
    whole = Counts.of(records, coding)
    assert Counts.of(iter(parts), coding) == whole
    first = Counts.of(parts[0], coding)
    assert Counts.of(parts) == Counts.of(records)
    assert Counts.of(parts[0], coding) == first  # adding up in place has changed none of them


def test_tables_in_parts_need_a_schema():
    table = {"legs": [4, 2, 4], "class": ["mammal", "bird", "mammal"]}
    whole = Records.from_table(table, target="class")
    parts = [{name: column[rows] for name, column in table.items()} for rows in (slice(0, 2), slice(2, 3))]
    assert Counts.of(parts, schema=whole.schema) == Counts.of(whole)
    assert ClassCounts.of(parts, schema=whole.schema) == ClassCounts.of(whole)
    with pytest.raises(DataError, match=r"Counts\.of\.records: got parts of type dict without a schema; give schema="):
        Counts.of(parts)
    for empty in ([], iter(())):
        with pytest.raises(DataError, match=r"Counts\.of\.records: got no part at all; give one or more\."):
            Counts.of(empty)
        with pytest.raises(DataError, match=r"ClassCounts\.of\.records: got no part at all"):
            ClassCounts.of(empty)
    for no_parts in (table, pa.table(table), "table.csv", 3):
        with pytest.raises(DataError, match=r"Counts\.of\.records: got .*; give Records, such as"):
            Counts.of(no_parts)


def test_what_files_lose_is_told_once(tmp_path):
    lines = ["legs,class", "4,mammal", "2", "many,bird", "2,fish", "", "6,"] * 4
    (tmp_path / "a.csv").write_text("\n".join(lines[:7] + lines[8:]))
    source = Source.of(tmp_path / "a.csv")
    schema = Records.from_table({"legs": [2, 4], "class": ["bird", "mammal"]}).schema
    with pytest.warns(BnnWarning) as told:
        counts = Counts.of(source, schema=schema)
    assert [str(one.message).replace(str(tmp_path), "") for one in told] == [
        "4 damaged rows were left out: '/a.csv', line 3: got 1 fields where the header names 2 columns; '/a.csv', line "
        "9: got 1 fields where the header names 2 columns; '/a.csv', line 16: got 1 fields where the header names 2 "
        "columns, and 1 more places.",
        "values that the schema lacks were taken as missing: 'legs' 10 (such as 'many'), 'class' 6 (such as 'fish').",
    ]
    assert [one.category for one in told] == [DamageWarning, UnseenValueWarning]
    assert (counts.records, counts.joint.diagonal().tolist()) == (18.0, [4, 4, 4, 4])
    with pytest.raises(FileError, match=r"line 3: got 1 fields where the header names 2 columns; mend it, or let"):
        Counts.of(Source.of(tmp_path / "a.csv", strict=True), schema=schema)
    with pytest.raises(
        DataError, match="the files lack a column of the schema: there is no 'lgs'; did you mean 'legs'"
    ):
        Counts.of(source, schema=Records.from_table({"lgs": [2]}).schema)


def test_files_without_rows(tmp_path):
    (tmp_path / "a.csv").write_text("legs,class\n")
    with pytest.raises(DataError, match=r"find_schema: .*a\.csv hold no rows; name files that do\."):
        Counts.of(Source.of(tmp_path / "a.csv"))


def test_reading_may_begin_at_any_part(tmp_path, monkeypatch):
    monkeypatch.setattr(csvfile, "BLOCK", 20)
    monkeypatch.setattr(sources, "ROWS", 2)
    table = pa.table({"x": [str(i % 7) for i in range(23)], "y": [i % 2 for i in range(23)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=5)
    (tmp_path / "b.csv").write_text("x,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(23)))
    for path in ("a.parquet", "b.csv"):
        source = Source.of(tmp_path / path)
        schema = find_schema(source)
        parts = list(records_of(source, schema))
        assert len(parts) > 4
        for place, part in enumerate(parts):
            rest = [later.records.codes.tolist() for later in records_of(source, schema, part.end)]
            assert rest == [later.records.codes.tolist() for later in parts[place + 1 :]]
