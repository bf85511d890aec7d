import datetime
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import decoded
from strategies import unchecked

from bnn.errors import BnnWarning, DataError, SchemaError, UnseenValueWarning
from bnn.records import Records
from bnn.schema import Attribute, Schema
from bnn.tables import MAX_VALUES

ANIMALS = Schema((Attribute("hair", ("no", "yes")), Attribute("legs", (0, 2, 4))))


def values_of(column, **options):
    """Values of the one attribute of a one-column table."""
    return Records.from_table({"x": column}, **options).schema["x"].values


def codes_of(column, **options):
    """Codes of a one-column table."""
    return Records.from_table({"x": column}, **options).codes[:, 0].tolist()


BACKENDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "lists": dict,
    "numpy": lambda columns: {name: np.array(column, dtype=object) for name, column in columns.items()},
    "arrays": lambda columns: {name: pa.array(column) for name, column in columns.items()},
}


@st.composite
def columns(draw):
    """Columns of plain values with gaps, all of one length."""
    rows = draw(st.integers(1, 12))
    names = draw(st.lists(strategies.NAMES, min_size=1, max_size=4, unique=True))
    made = {}
    for name in names:
        values = draw(strategies.attribute_values())
        made[name] = draw(st.lists(st.sampled_from((*values, None)), min_size=rows, max_size=rows))
    return made


@settings(max_examples=40)
@given(columns())
def test_every_backend_gives_the_same_records_and_they_decode_to_the_values(table):
    made = {name: Records.from_table(make(table)) for name, make in BACKENDS.items()}
    rows = [list(row) for row in zip(*table.values(), strict=True)]
    for records in made.values():
        assert records.schema == made["pandas"].schema
        assert decoded(records) == rows
        assert records.schema.names == tuple(table)
        assert records.codes.flags.f_contiguous
    for name, column in table.items():
        values = made["pandas"].schema[name].values
        seen = {v for v in column if v is not None}
        bools = seen and all(isinstance(v, bool) for v in seen)
        assert values == ((False, True) if bools else tuple(sorted(seen)))
        assert {type(v) for v in values} <= {bool, int, float, str}


@settings(max_examples=40)
@given(strategies.schemas(), st.data())
def test_declared_categories_keep_their_order_and_those_that_never_occur(schema, data):
    codes = data.draw(strategies.codes(schema))
    texts = {a.name: [str(v) for v in a.values] for a in schema.attributes}
    tables = {
        "pandas": pd.DataFrame(
            {n: pd.Categorical.from_codes(c, texts[n]) for n, c in zip(texts, codes.T, strict=True)}
        ),
        "polars": pl.DataFrame(
            {
                n: pl.Series([None if k < 0 else texts[n][k] for k in c], dtype=pl.Enum(texts[n]))
                for n, c in zip(texts, codes.T, strict=True)
            }
        ),
        "pyarrow": pa.table(
            {
                n: pa.DictionaryArray.from_arrays(pa.array(c, mask=c < 0), pa.array(texts[n]))
                for n, c in zip(texts, codes.T, strict=True)
            }
        ),
        "bare": {n: pd.Categorical.from_codes(c, texts[n]) for n, c in zip(texts, codes.T, strict=True)},
    }
    for table in tables.values():
        records = Records.from_table(table)
        assert np.array_equal(records.codes, codes)
        assert {a.name: list(a.values) for a in records.schema.attributes} == texts


def test_dictionaries_that_differ_by_chunk_are_unified():
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()]
    records = Records.from_table(pa.table({"x": pa.chunked_array(chunks)}))
    assert decoded(records) == [["b"], ["a"], ["c"], [None], ["a"]]
    assert records.schema["x"].values == ("b", "a", "c")


def test_a_polars_categorical_has_the_values_that_occur():
    pl.Series(["zebra", "ant"]).cast(pl.Categorical)
    series = pl.Series(["cow", "bee", None, "cow"]).cast(pl.Categorical)
    assert values_of(series) == ("bee", "cow")
    assert codes_of(series) == [1, 0, -1, 1]


def test_unsigned_arrow_indices_with_gaps():
    column = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.uint8()), pa.array(["a", "b"]))
    assert codes_of(column) == [1, -1, 0]


def test_categories_of_other_types():
    assert values_of(pd.Categorical([4.0, 2.0, None], categories=[4.0, 2.0, 8.0])) == (4, 2, 8)
    assert values_of(pd.cut(pd.Series([1, 5, 9]), [0, 3, 10])) == ("(0, 3]", "(3, 10]")
    assert codes_of(pd.Categorical(["", "a"], categories=["", "a"])) == [-1, 0]


@pytest.mark.parametrize(
    ("column", "values", "codes"),
    [
        ([3, 1, 20], (1, 3, 20), [1, 0, 2]),
        (["10", "9", "é", "z"], ("10", "9", "z", "é"), [0, 1, 3, 2]),
        (np.array([2.0, np.nan, 4.0]), (2, 4), [0, -1, 1]),
        (np.array([0.7, 0.2, 1.0]), (0.2, 0.7, 1.0), [1, 0, 2]),
        (np.array([0.7, 0.2], np.float32), (float(np.float32(0.2)), float(np.float32(0.7))), [1, 0]),
        (np.array([-0.0, 0.0]), (0,), [0, 0]),
        (np.array([1.0, 2.0], np.float16), (1, 2), [0, 1]),
        ([1e300, 2.0], (2.0, 1e300), [1, 0]),
        ([True, None, True], (False, True), [1, -1, 1]),
        (np.array([True, False]), (False, True), [1, 0]),
        (["", "a", None], ("a",), [-1, 0, -1]),
        ([None, None], (), [-1, -1]),
        (np.array([2**64 - 1, 0], np.uint64), (0, 2**64 - 1), [1, 0]),
        ([10**30, 1], (1, 10**30), [1, 0]),
        (["b", 2, None, 0.5, "a"], (0.5, 2, "a", "b"), [3, 1, -1, 0, 2]),
        ([True, 0, 3, "a"], (0, 1, 3, "a"), [1, 0, 2, 3]),
        ([np.int8(3), np.str_("a"), float("nan")], (3, "a"), [0, 1, -1]),
        (np.array(["b", "a"]), ("a", "b"), [1, 0]),
        (np.array(["b", ""], np.dtypes.StringDType()), ("b",), [0, -1]),
        (pd.Series([1, pd.NA, 3], dtype="Int64"), (1, 3), [0, -1, 1]),
        (pd.Series([True, pd.NA], dtype="boolean"), (False, True), [1, -1]),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), ("a", "b"), [1, -1, 0]),
        (pd.Series(["b", pd.NaT, pd.NA, None, float("nan"), 1], dtype=object), (1, "b"), [1, -1, -1, -1, -1, 0]),
        (pd.Series(["b", None]), ("b",), [0, -1]),
        (pd.Series([2.0, None]), (2,), [0, -1]),
        (pd.Series(pd.arrays.SparseArray([0, 5, 0])), (0, 5), [0, 1, 0]),
        (pd.Series([1, None], dtype=pd.ArrowDtype(pa.int32())), (1,), [0, -1]),
        (pl.Series([1.5, float("nan"), None]), (1.5,), [0, -1, -1]),
        (pl.Series(["a", 1, None], dtype=pl.Object), (1, "a"), [1, 0, -1]),
        (pa.array(["b", "a"], pa.string_view()), ("a", "b"), [1, 0]),
        (pa.nulls(2), (), [-1, -1]),
    ],
)
def test_what_columns_mean(column, values, codes):
    records = Records.from_table({"x": column})
    assert records.schema["x"].values == values
    assert [type(v) for v in records.schema["x"].values] == [type(v) for v in values]
    assert records.codes[:, 0].tolist() == codes


def test_a_numpy_table_names_its_columns():
    records = Records.from_table(np.array([[1, "a"], [2, None]], dtype=object), target="x1")
    assert records.schema.names == ("x0", "x1")
    assert records.schema.target == "x1"
    assert decoded(records) == [[1, "a"], [2, None]]


def test_names_that_are_no_text_become_text():
    assert Records.from_table(pd.DataFrame({0: [1], "b": [2]})).schema.names == ("0", "b")


def test_weights_go_with_the_rows():
    records = Records.from_table({"x": [1, 2]}, weights=[1, 0.5])
    assert records.weights.tolist() == [1, 0.5]
    with pytest.raises(DataError, match=r"Records.weights: needs one number a row, 2; got shape"):
        Records.from_table({"x": [1, 2]}, weights=[1])


def test_the_caller_s_table_is_not_changed():
    frame = pd.DataFrame({"x": pd.Categorical(["b", "a"]), "y": [1.0, np.nan]})
    before = frame.copy(deep=True)
    Records.from_table(frame)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pl.LazyFrame({"x": [1]}), r"the table is lazy; collect it first, as in table.collect\(\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns have one name; rename one"),
        (pa.table([[1], [2]], names=["a", "a"]), "two columns have one name; rename one"),
        (pd.DataFrame({"1": [1], 1: [2]}), "'1' names two columns; rename one"),
        (pd.DataFrame(index=[0, 1]), "Records.from_table: the table has no columns"),
        ({}, "the table has no columns"),
        (pd.DataFrame({"x": []}), "Records.from_table: the table has no rows"),
        (np.zeros((0, 2)), "the table has no rows"),
        (np.zeros(3), r"needs a 2-D array \[rows, columns\]; got shape \(3,\)"),
        ([[1, 2]], "got list; needed is a pandas, polars or pyarrow table, a dict of columns or a 2-D numpy array"),
        ("animals.csv", "got str; needed is"),
        (pd.Series([1]), "got Series; needed is"),
        ({"x": [1], "y": [1, 2]}, "columns differ in length: 'x' has 1 rows, 'y' 2"),
        ({"x": 3}, "column 'x' is 3; needed is a list or array, one entry a row"),
        ({"x": "abc"}, "column 'x' is 'abc'; needed is a list"),
        ({"x": np.array(1)}, r"column 'x' is array\(1\); needed is a list"),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), r"column 't' is timestamp\[.s\]; values are text"),
        (pl.DataFrame({"t": [datetime.date(2020, 1, 1)]}), r"column 't' is date32\[day\]"),
        ({"t": [datetime.timedelta(1)]}, r"column 't' is duration\[us\]"),
        ({"t": [[1, 2]]}, "column 't' is list<item: int64>"),
        ({"t": [{"a": 1}]}, "column 't' is struct<a: int64>"),
        ({"t": [b"x"]}, "column 't' is binary"),
        ({"t": [Decimal("1.5")]}, "column 't' is decimal128"),
        (
            {"t": [1j, 2]},
            r"column 't' holds 1j \(complex\); a value as argument must be a string, a bool or a number",
        ),
        ({"t": [1, {2}]}, r"column 't' holds \{2\} \(set\)"),
        (
            pd.DataFrame({"t": pd.Series([datetime.date(2020, 1, 1)], dtype=object)}),
            r"column 't' holds datetime.date\(",
        ),
        (pd.DataFrame({"t": pd.Series([[1], [2]], dtype=object)}), "column 't' is list<item: int64>"),
        (pd.DataFrame({"t": [1.0, np.inf]}), "column 't' holds inf; values are finite"),
        (np.array([["2020-01-01"]], "M8[D]"), "column 'x0' is date32"),
    ],
)
def test_tables_refused(table, message):
    with unchecked(), pytest.raises(DataError, match=message):
        Records.from_table(table)


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, np.array])
@pytest.mark.parametrize("kind", [str, float])
def test_too_many_values_are_an_identifier_or_a_number(make, kind):
    column = make([kind(i) for i in range(MAX_VALUES + 1)])
    with pytest.raises(
        DataError, match="column 'id' has 1001 distinct values, more than 1000; leave it out if it is an"
    ):
        Records.from_table({"x": [1] * (MAX_VALUES + 1), "id": column})
    with pytest.warns(BnnWarning, match=r"every value occurs once: 'x'|'x' \(1000 distinct\)"):
        assert len(values_of(column[:MAX_VALUES])) == MAX_VALUES


def test_declared_categories_may_be_many():
    records = Records.from_table({"x": pd.Categorical(range(40_000))})
    assert records.codes.dtype == np.int32
    assert records.codes[:, 0].tolist() == list(range(40_000))


def test_an_unknown_target_is_named():
    with pytest.raises(DataError, match=r"Records.from_table.target: there is no 'leg'; did you mean 'legs'\?"):
        Records.from_table({"legs": [1]}, target="leg")


def test_a_frame_of_categories_is_coded_into_one_array():
    rows = 200_000
    codes = np.zeros((rows, 10), np.int8)
    frame = pd.DataFrame({f"x{i}": pd.Categorical.from_codes(codes[:, i], ["a", "b"]) for i in range(10)})
    Records.from_table(frame)
    tracemalloc.start()
    Records.from_table(frame)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * codes.nbytes


@given(strategies.records(gaps=True), st.randoms(use_true_random=False))
def test_coding_by_a_schema_takes_columns_by_name(records, random):
    columns = dict(zip(records.schema.names, map(list, zip(*decoded(records), strict=True)), strict=True))
    names = list(columns)
    random.shuffle(names)
    again = Records.from_table({name: columns[name] for name in names}, schema=records.schema)
    assert again.schema is records.schema
    assert np.array_equal(again.codes, records.codes)
    assert not again.unseen.any()


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, list])
def test_values_the_schema_lacks_are_missing_counted_and_warned_about(make):
    table = {"legs": make([4, 6, 6, None]), "hair": make(["yes", "no", "blue", "no"])}
    with pytest.warns(UnseenValueWarning) as caught:
        records = Records.from_table(table, schema=ANIMALS)
    assert records.codes.tolist() == [[1, 2], [0, -1], [-1, -1], [0, -1]]
    assert records.unseen.tolist() == [1, 2]
    assert "the schema lacks were taken as missing: 'hair' 1 (such as 'blue'), 'legs' 2 (such as 6)." in str(
        caught[0].message
    )


def test_categories_that_never_occur_are_not_unseen():
    frame = pd.DataFrame({"hair": pd.Categorical(["no"], ["blue", "no"]), "legs": [4]})
    records = Records.from_table(frame, schema=ANIMALS)
    assert records.codes.tolist() == [[0, 2]]


def test_the_unseen_of_many_attributes_are_summed_up():
    schema = Schema(tuple(Attribute(f"x{i}", (0,)) for i in range(7)))
    with pytest.warns(UnseenValueWarning, match=r"'x4' 1 \(such as 1\) and 2 more attributes"):
        Records.from_table(np.ones((1, 7)), schema=schema)


def test_a_fixed_schema_takes_any_number_of_unseen_values():
    with pytest.warns(UnseenValueWarning, match=r"'legs' 1997 \(such as 1\)"):
        records = Records.from_table({"hair": ["no"] * 2000, "legs": np.arange(2000)}, schema=ANIMALS, target="hair")
    assert records.schema.target == "hair"
    assert (records.codes[:, 1] >= 0).sum() == 3


def test_numbers_and_bools_meet_across_types():
    schema = Schema((Attribute("on", (0, 1), "on_off"), Attribute("legs", (0, 2, 4))))
    records = Records.from_table({"on": [True, False], "legs": [4.0, None]}, schema=schema)
    assert records.codes.tolist() == [[1, 2], [0, -1]]


def test_columns_must_be_the_schema_s():
    with pytest.raises(SchemaError, match="the schema has no column 'tail'; leave that out of the table"):
        Records.from_table({"hair": ["no"], "legs": [2], "tail": [1]}, schema=ANIMALS)
    with pytest.raises(DataError, match=r"lacks a column of the schema: there is no 'legs'; did you mean 'leg'\?"):
        Records.from_table({"hair": ["no"]} | {"leg": [2]}, schema=Schema((*ANIMALS.attributes, Attribute("leg", ()))))


def test_an_absent_target_is_unknown():
    schema = Schema(ANIMALS.attributes, target="legs")
    assert Records.from_table({"hair": ["yes"]}, schema=schema).codes.tolist() == [[1, -1]]
    with pytest.raises(DataError, match="lacks a column of the schema: there is no 'hair'"):
        Records.from_table({"legs": [2]}, schema=schema)
