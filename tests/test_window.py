import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from bnn.counts import Counts
from bnn.errors import DataError, SchemaError
from bnn.records import Records
from bnn.window import Window


@given(st.booleans().flatmap(lambda weights: strategies.records(weights=weights)), st.data())
@settings(max_examples=30)
def test_its_counts_are_those_of_the_newest_records(records, data):
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    size = data.draw(st.integers(1, 12))
    by_rows, by_chunks = Window(rows=size), Window(chunks=size)
    chunks, begin = [], 0
    for length in lengths:
        chunk = records[begin : begin + length]
        if not len(chunk):
            break
        begin += length
        chunks.append(chunk)
        by_rows, by_chunks = by_rows.add(chunk), by_chunks.add(chunk)
        end = min(begin, len(records))
        assert by_rows.counts == Counts.of(records[max(end - size, 0) : end])
        assert by_chunks.counts == sum(map(Counts.of, chunks[-size:]))
        assert sum(map(len, by_rows._parts)) == min(size, end)
        assert len(by_chunks._parts) == min(size, len(chunks))


def test_a_window_stays_as_it_was_when_it_is_moved_on():
    first = Window(rows=2, coding="values").add(Records.from_patterns([[1, 0], [1, 1]]))
    second = first.add(Records.from_patterns([[0, 0]]))
    assert first.counts == Counts.of(Records.from_patterns([[1, 0], [1, 1]]), "values")
    assert second.counts == Counts.of(Records.from_patterns([[1, 1], [0, 0]]), "values")
    assert repr(second) == "Window(rows=2: 2 records in 2 chunks)"
    assert repr(Window(chunks=3)) == "Window(chunks=3: 0 records in 0 chunks)"


def test_windows_refused():
    for words in ({}, {"rows": 0}, {"chunks": -1}, {"rows": 1, "chunks": 1}, {"rows": 2.5}):
        with (
            strategies.unchecked(),
            pytest.raises(DataError, match=r"Window: got rows .*; give one, a whole number from 1 on\."),
        ):
            Window(**words)
    with pytest.raises(DataError, match=r"Window\.counts: there are no records yet; add some\."):
        _ = Window(rows=1).counts
    with pytest.raises(SchemaError, match="the schemas differ"):
        Window(rows=9).add(Records.from_patterns([[1, 0]])).add(Records.from_patterns([[1]]))
