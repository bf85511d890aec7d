import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import unchecked

from bnn.errors import DataError
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
