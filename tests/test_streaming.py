"""Counts of files that are never in memory as a whole: those of all rows at once, to the last one."""

import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_survey import csv_rows, parts_of, tables, text_of

from bnn import csvfile, sources
from bnn.counts import Counts
from bnn.csvfile import read_csv
from bnn.errors import BnnWarning
from bnn.records import Records
from bnn.sources import Source
from bnn.streaming import find_schema


def counted_at_once(table, intervals):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BnnWarning)
        return Counts.of(Records.from_table(table, intervals=intervals))


@given(csv_rows(), st.data())
@settings(max_examples=25)
def test_csv_files_count_as_one_table(tmp_path_factory, drawn, data):
    folder = tmp_path_factory.mktemp("csv")
    names, rows = drawn
    (folder / "all").write_text(text_of(names, rows))
    for begin, end in data.draw(parts_of(len(rows))):
        (folder / f"{begin:03}.csv").write_text(text_of(names, rows[begin:end]))
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
    for begin, end in data.draw(parts_of(table.num_rows)):
        part = table.slice(begin, end - begin)
        pq.write_table(part, folder / f"{begin:03}.parquet", row_group_size=data.draw(st.sampled_from([2, 100])))
    whole = pa.concat_tables([pq.read_table(file) for file in sorted(folder.iterdir())]).combine_chunks()
    source, intervals = Source.of(folder / "*.parquet"), data.draw(st.sampled_from([None, 3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "ROWS", data.draw(st.sampled_from([1, 3, 100])))
        found = Counts.of(source, schema=find_schema(source, intervals=intervals))
    assert found == counted_at_once(whole, intervals)
