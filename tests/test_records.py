import datetime
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import strategies
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import unchecked

from bnn.csvfile import read_csv
from bnn.errors import DataError, FileError, SchemaError, UnseenValueWarning
from bnn.patterns import neuron_names
from bnn.records import Records
from bnn.schema import Attribute, Schema
from bnn.tables import MAX_VALUES

ANIMALS = Schema((Attribute("hair", ("no", "yes")), Attribute("legs", (0, 2, 4))))


def decoded(records):
    """Values of each row, None where missing."""
    return [
        [None if c < 0 else a.values[c] for c, a in zip(row, records.schema.attributes, strict=True)]
        for row in records.codes.tolist()
    ]


def values_of(column, **options):
    """Values of the one attribute of a one-column table."""
    return Records.from_table({"x": column}, **options).schema["x"].values


def codes_of(column, **options):
    """Codes of a one-column table."""
    return Records.from_table({"x": column}, **options).codes[:, 0].tolist()


# --- The constructor ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "dtype"), [(1, "int8"), (128, "int8"), (129, "int16"), (32_769, "int32")])
@pytest.mark.parametrize("given_type", [np.int64, np.uint16])
def test_codes_are_kept_in_the_smallest_type_that_holds_the_schema(size, dtype, given_type):
    schema = Schema((Attribute("x", tuple(range(size))),))
    records = Records(np.array([[size - 1]], given_type), schema)
    assert records.codes.dtype == dtype
    assert records.codes[0, 0] == size - 1


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_bytes_are_shared_with_the_caller_but_stay_writable_for_him_alone(order, dtype):
    codes = np.array([[1, 2], [0, 1]], dtype, order=order)
    records = Records(codes, ANIMALS)
    assert np.shares_memory(records.codes, codes)
    assert codes.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        records.codes[0, 0] = 0


@given(strategies.schemas(max_attributes=4), st.integers(0, 3), st.data())
def test_every_code_out_of_range_is_found_wherever_it_hides(schema, spare, data):
    rows = data.draw(st.sampled_from([1, 2000, 5000]))
    codes = np.zeros((rows, len(schema.names)), data.draw(st.sampled_from([np.int8, np.int16, np.int64])))
    codes = np.asarray(codes, order=data.draw(st.sampled_from("CF")))
    row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, len(schema.names) - 1))
    code = data.draw(st.sampled_from([-2 - spare, schema.sizes[column] + spare]))
    codes[row, column] = code
    with pytest.raises(DataError) as caught:
        Records(codes, schema)
    assert f"attribute {schema.names[column]!r} has {schema.sizes[column]} values" in str(caught.value)
    assert f"got {code}" in str(caught.value)


@pytest.mark.parametrize(
    ("codes", "options", "message"),
    [
        (np.zeros(2, int), {}, r"Records.codes: needs integers \[rows, attributes\]; got int64 of shape \(2,\)"),
        (np.zeros((1, 2)), {}, r"got float64 of shape \(1, 2\)"),
        (np.zeros((1, 2), bool), {}, "got bool"),
        (np.zeros((1, 3), int), {}, "Records.codes: got 3 columns for 2 attributes of the schema"),
        (np.array([[0, 255]], np.uint8), {}, "attribute 'legs' has 3 values, so codes from -1 .* to 2; got 255"),
        (np.zeros((2, 2), int), {"weights": np.ones(3)}, r"Records.weights: needs one number a row, 2; got shape \(3"),
        (np.zeros((2, 2), int), {"weights": np.array([1, -0.5])}, r"not negative; row 1 has -0\.5"),
        (np.zeros((2, 2), int), {"weights": np.array([np.nan, 1])}, "finite and not negative; row 0 has nan"),
        (np.zeros((2, 2), int), {"weights": ["a", "b"]}, "Records.weights: cannot be read as numbers"),
        (np.zeros((2, 2), int), {"unseen": np.zeros(3, int)}, r"Records.unseen: needs one number an attribute, 2; got"),
    ],
)
def test_the_constructor_refuses(codes, options, message):
    with unchecked(), pytest.raises(DataError, match=message):
        Records(codes, ANIMALS, **options)


def test_zero_rows_are_records_too():
    records = Records(np.zeros((0, 2), np.int64), ANIMALS)
    assert (records.rows, len(records), records.codes.shape) == (0, 0, (0, 2))


def test_weights_become_float64_and_unseen_int64():
    records = Records(np.zeros((2, 2), int), ANIMALS, np.array([1, 2]), np.array([0, 3], np.int8))
    assert records.weights.dtype == np.float64
    assert records.unseen.dtype == np.int64
    assert records.unseen.tolist() == [0, 3]
    for array in (records.weights, records.unseen):
        assert not array.flags.writeable
    assert Records(np.zeros((2, 2), int), ANIMALS).unseen.tolist() == [0, 0]


@given(strategies.records(weights=True), st.data())
def test_selecting_rows_is_numpy_s_indexing(records, data):
    rows = records.rows
    chosen = data.draw(
        st.one_of(
            st.slices(rows),
            st.lists(st.integers(-rows, rows - 1)),
            hnp.arrays(bool, rows),
            hnp.arrays(np.int16, st.integers(0, 5), elements=st.integers(0, rows - 1)),
        )
    )
    selected = records[chosen]
    index = chosen if isinstance(chosen, slice) or len(chosen) else []
    index = np.array(index, int) if isinstance(index, list) else index
    assert np.array_equal(selected.codes, records.codes[index])
    assert np.array_equal(selected.weights, records.weights[index])
    assert selected.schema is records.schema


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 3], "Records.select: there is no row 3; there are 3, counted from 0"),
        ([-4], "there is no row -4"),
        (np.array([True, False]), "the mask has 2 entries for 3 rows"),
        (1, "Records.select: needs a slice, a list of row numbers or a mask; got 1"),
        ([0.5], r"got \[0\.5\]"),
        ([[0]], r"got \[\[0\]\]"),
    ],
)
def test_selecting_refuses(rows, message):
    with pytest.raises(DataError, match=message):
        Records(np.zeros((3, 2), int), ANIMALS)[rows]


# --- Tables ------------------------------------------------------------------------------------------------------

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
        ({"t": [1j, 2]}, r"column 't' holds 1j \(complex\); values are text, bools or numbers"),
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


# --- Tables under a given schema -----------------------------------------------------------------------------------


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


# --- Patterns ------------------------------------------------------------------------------------------------------


@given(strategies.patterns(gaps=True))
def test_every_coding_of_patterns_gives_the_same_codes(array):
    known = ~np.isnan(array)
    wanted = np.where(known, array == 1, -1)
    filled = np.where(known, array, 0)
    codings = [
        Records.from_patterns(array),
        Records.from_patterns(np.where(array == 0, -1, array)),
        Records.from_patterns(array.astype(np.float32)),
        Records.from_patterns(filled.astype(np.uint8), known=known),
        Records.from_patterns(filled.astype(bool), known=known),
        Records.from_patterns(np.where(known, 2 * filled - 1, 0).astype(int), known=known),
        Records.from_patterns(torch.tensor(array)),
        Records.from_patterns([[None if np.isnan(v) else v for v in row] for row in array.tolist()]),
    ]
    for records in codings:
        assert np.array_equal(records.codes, wanted)
        assert records.codes.dtype == np.int8
        assert {a.values for a in records.schema.attributes} == {(0, 1)}
        assert {a.kind for a in records.schema.attributes} == {"on_off"}
    back = codings[0].patterns
    assert np.array_equal(back, array, equal_nan=True)
    assert back.dtype == (np.int8 if known.all() else np.float32)


def test_a_pattern_of_ones_is_on_and_of_minus_ones_off():
    assert Records.from_patterns([[1, 1]]).codes.tolist() == [[1, 1]]
    assert Records.from_patterns([[-1, -1]]).codes.tolist() == [[0, 0]]
    assert Records.from_patterns([[np.nan, np.nan]]).codes.tolist() == [[-1, -1]]


def test_pictures_keep_their_shape():
    pictures = np.arange(12).reshape(2, 2, 3) % 2
    records = Records.from_patterns(pictures)
    assert records.schema.shape == (2, 3)
    assert records.schema.names == ("r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2")
    assert np.array_equal(records.patterns.reshape(pictures.shape), pictures)
    assert Records.from_patterns(pictures[0]).schema.shape is None
    assert Records.from_patterns(pictures[0]).schema.names == neuron_names((3,)) == ("x0", "x1", "x2")
    assert Records.from_patterns(pictures[0], names=list("abc")).schema.names == ("a", "b", "c")


def test_a_tensor_with_gradient_is_read():
    assert Records.from_patterns(torch.ones(1, 2, requires_grad=True)).codes.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (
            [[1, 0], [1, -1]],
            {},
            "array: 0 and -1 both occur: row 0, neuron 'x1' is 0, row 1, neuron 'x1' is -1; off is",
        ),
        ([[1, 0], [2, 1]], {}, r"array: row 1, neuron 'x0' is 2; patterns hold \{0, 1\}, \{-1, \+1\} or bool"),
        ([[1, 0.5]], {"names": ["a", "b"]}, "row 0, neuron 'b' is 0.5"),
        ([[1, np.inf]], {}, "row 0, neuron 'x1' is inf"),
        (np.full((1, 2, 2), 3), {}, "row 0, neuron 'r0c0' is 3"),
        ([1, 0], {}, r"got shape \(2,\); needed are .* a single pattern as array.reshape\(1, -1\)"),
        (np.zeros((0, 3)), {}, r"got shape \(0, 3\); needed are one or more"),
        (np.zeros((3, 0)), {}, r"got shape \(3, 0\)"),
        (np.zeros((1, 2, 2, 2)), {}, r"got shape \(1, 2, 2, 2\)"),
        ([[1, 0], [1]], {}, "array: cannot be read as an array of numbers"),
        ([["a", "b"]], {}, "array: got <U1; patterns are bools or numbers"),
        ([[1j]], {}, "got complex128"),
        ([[1, object()]], {}, "cannot be read as an array of numbers"),
        ([[1, 0]], {"names": ["a"]}, "names: got 1 names for 2 neurons"),
        ([[1, 0]], {"names": ["a", "a"]}, "'a' appears twice"),
        (
            [[1, 0]],
            {"known": [True, True]},
            r"the mask of known cells must be bool of shape \(1, 2\); got bool of shape",
        ),
        ([[1, 0]], {"known": [[1, 0]]}, "must be bool of shape .*; got int64"),
    ],
)
def test_patterns_refused(array, options, message):
    with pytest.raises(DataError, match=message):
        Records.from_patterns(array, **options)


def test_a_table_has_no_patterns():
    with pytest.raises(
        DataError, match=r"Records.patterns: needs on_off attributes, as from_patterns makes them; 'hair'"
    ):
        _ = Records(np.zeros((1, 2), int), ANIMALS).patterns


# --- CSV files -----------------------------------------------------------------------------------------------------


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
