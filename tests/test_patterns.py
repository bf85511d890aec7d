import numpy as np
import pytest
import strategies
import torch
from hypothesis import given

from bnn.errors import DataError
from bnn.patterns import neuron_names
from bnn.records import Records


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
        Records.from_patterns(np.where(known, array, -1), known=known),
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
