import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import unchecked

import bnn
from bnn.discretize import codes_of, equal_frequency, interval_names, measured
from bnn.errors import DataError, MeasurementWarning, UnseenValueWarning
from bnn.records import Records
from bnn.schema import Attribute, Schema

ANIMALS = Schema((Attribute("hair", ("no", "yes")), Attribute("legs", (0, 2, 4))))


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


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("dtype", "code"), [(np.int8, -2), (np.int64, -1000), (np.uint8, 2), (np.int16, 3)])
def test_a_code_out_of_range_is_found_wherever_it_hides(order, dtype, code):
    schema = Schema((Attribute("x", (0, 1, 2, 3)), Attribute("y", ("a", "b")), Attribute("z", tuple(range(9)))))
    codes = np.ones((3000, 3), dtype, order=order)
    message = f"attribute 'y' has 2 values, so codes from -1 .missing. to 1; got {code}"
    for row in range(0, 3000, 3 if order == "C" else 1000):
        codes[row, 1] = code
        with pytest.raises(DataError, match=message):
            Records(codes, schema)
        codes[row, 1] = 0
    assert Records(codes, schema).rows == 3000


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


def test_a_table_has_no_patterns():
    with pytest.raises(
        DataError, match=r"Records.patterns: needs on_off attributes, as from_patterns makes them; 'hair'"
    ):
        _ = Records(np.zeros((1, 2), int), ANIMALS).patterns


# ---- measurements


NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-50, 50).map(float))


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.integers(2, 9))
def test_measurements_are_cut_as_a_classifier_cuts_them(column, intervals):
    numbers = np.array([np.nan if v is None else v for v in column])
    known = numbers[~np.isnan(numbers)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeasurementWarning)
        records = Records.from_table({"x": column}, intervals=intervals)
    (attribute,) = records.schema.attributes
    if measured(known):
        bounds = equal_frequency(known, intervals=intervals)
        assert attribute == Attribute("x", interval_names(bounds), bounds=tuple(bounds.tolist()))
        assert records.codes[:, 0].tolist() == codes_of(numbers, bounds).tolist()
    else:
        assert attribute == Attribute("x", tuple(sorted(set(known.astype(int).tolist()))))
    again = Records.from_table(records.to_table(), schema=records.schema)
    assert again.codes.tolist() == records.codes.tolist()


def frames_of(numbers):
    return [
        np.array(numbers)[:, None],
        pd.DataFrame({"x0": numbers}),
        pl.DataFrame({"x0": numbers}),
        pa.table({"x0": numbers}),
        {"x0": numbers},
    ]


@pytest.mark.parametrize("frame", frames_of([0.5, 1.5, float("nan"), 9.0, 12.0]), ids=lambda f: type(f).__module__)
def test_any_table_is_cut(frame):
    records = Records.from_table(frame, intervals=2)
    assert records.schema["x0"].bounds == (5.25,)
    assert records.codes[:, 0].tolist() == [0, 0, -1, 1, 1]
    assert Records.from_table({"x0": [5.25, 5.2, None]}, schema=records.schema).codes.tolist() == [[1], [0], [-1]]


def test_rows_of_no_weight_do_not_move_bounds_and_the_target_stays():
    table = {"x": [0.5, 1.5, 100.5], "y": [0.5, 1.5, 2.5]}
    records = Records.from_table(table, target="y", weights=[1, 1, 0], intervals=2)
    assert records.schema["x"].bounds == (1.0,)
    assert records.schema["y"].values == (0.5, 1.5, 2.5)
    assert records.codes[:, 0].tolist() == [0, 1, 1]


def test_columns_of_few_whole_numbers_and_of_none_are_categories():
    records = Records.from_table({"legs": [0, 4], "none": [None, None]}, intervals=20)
    assert [a.values for a in records.schema.attributes] == [(0, 4), ()]
    assert [a.bounds for a in records.schema.attributes] == [None, None]


def test_more_than_a_thousand_measurements_are_cut():
    records = Records.from_table({"x": np.arange(2000)}, intervals=4)
    assert records.schema["x"].bounds == (499.5, 999.5, 1499.5)


@pytest.mark.parametrize("intervals", [1, 2.5, True, "20"])
def test_numbers_of_intervals_that_cannot_be(intervals):
    message = f"Records.from_table.intervals: got {intervals!r}; give a whole number of at least 2"
    with unchecked(), pytest.raises(DataError, match=message):
        Records.from_table({"x": [0.5]}, intervals=intervals)


def test_what_cannot_be_cut():
    cut = Records.from_table({"x": [0.5, 1.5]}, intervals=2)
    with pytest.raises(DataError, match=r"intervals: the schema says how numbers are cut; leave one out"):
        Records.from_table({"x": [0.5]}, schema=cut.schema, intervals=2)
    for options in ({"intervals": 2}, {"schema": cut.schema}):
        with pytest.raises(DataError, match="column 'x' holds -inf; values are finite, and missing where unknown"):
            Records.from_table({"x": [0.5, float("-inf")]}, **options)
    with pytest.warns(UnseenValueWarning, match=r"'x' 1 \(such as 'hot'\)"):
        assert Records.from_table({"x": ["hot", "< 1"]}, schema=cut.schema).codes.tolist() == [[-1], [0]]


def test_measurements_left_as_they_are_are_told_of():
    table = {"x": np.arange(21), "y": np.arange(21.0) + 0.5, "z": np.arange(21) % 20, "class": np.arange(21)}
    message = r"values of their own, so that others will be unknown: 'x' \(21 distinct\), 'y' \(21 distinct\); cut them"
    with pytest.warns(MeasurementWarning, match=message) as told:
        records = Records.from_table(table, target="class")
    assert len(told) == 1
    Records.from_table(table, schema=records.schema)
    Records.from_table({"x": pd.Categorical(range(21))})


def test_many_columns_of_measurements_are_told_in_short():
    with pytest.warns(MeasurementWarning, match=r"'x4' \(21 distinct\) and 2 more attributes; cut"):
        Records.from_table({f"x{i}": np.arange(21) for i in range(7)})


def test_a_network_of_measurements_reads_new_numbers(tmp_path):
    records = Records.from_table({"fever": [36.5, 37.0, 39.5, 40.5], "ill": ["no", "no", "yes", "yes"]}, intervals=2)
    network = bnn.learn(records, "probability")
    network.save(tmp_path / "n.safetensors")
    loaded = bnn.Network.load(tmp_path / "n.safetensors")
    assert loaded.layout.schema == records.schema
    assert loaded.encode({"fever": [41.0], "ill": [None]}).tolist()[0][:2] == [0.0, 1.0]
    trace = bnn.recall(loaded, Records.from_table({"fever": [41.0], "ill": [None]}, schema=records.schema), seed=0)
    assert trace.decode().to_pylist() == [{"fever": ">= 38.25", "ill": "yes"}]


def test_a_classifier_that_learned_intervals_reads_numbers_too():
    records = Records.from_table({"fever": [36.5, 37.0, 39.5, 40.5], "ill": list("nnyy")}, target="ill", intervals=2)
    classifier = bnn.NaiveBayesClassifier().fit(records)
    assert classifier.predict({"fever": [35.0, 41.0]}).tolist() == ["n", "y"]
    classifier.partial_fit(Records.from_table({"fever": [42.0], "ill": ["y"]}, schema=records.schema))
    assert classifier.counts_.joint.sum() == 5
