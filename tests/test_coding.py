"""States from users' arrays and tables, and back."""

import cases
import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import records

import bnn
from bnn.coding import NeuronStates, read_states
from bnn.errors import DataError, SchemaError

PAIR = bnn.Network.of([[0, 1], [1, 0]])
PICTURES = bnn.learn(bnn.Records.from_patterns(np.eye(6).reshape(6, 2, 3)))


@pytest.mark.parametrize(
    "array",
    [
        [[1, 0], [0, 1]],
        [[True, False], [False, True]],
        [[1, -1], [-1, 1]],
        [[1.0, 0.0], [0.0, 1.0]],
        np.array([[1, 0], [0, 1]], np.uint8),
        np.array([[1, -1], [-1, 1]], np.float16),
        torch.tensor([[1, 0], [0, 1]]),
        torch.eye(2, requires_grad=True),
        np.asfortranarray([[1, 0], [0, 1]]),
    ],
)
def test_all_codings_of_states_mean_the_same(array):
    read = read_states(PAIR.layout, array, "cues")
    assert read.on.tolist() == [[1, 0], [0, 1]]
    assert read.on.flags.c_contiguous
    assert read.unknown is None


def test_nan_is_unknown_in_either_coding():
    for off in (0.0, -1.0):
        read = read_states(PAIR.layout, [[np.nan, 1.0], [off, np.nan]], "cues")
        assert read.on.tolist() == [[0, 1], [0, 0]]
        assert read.unknown.tolist() == [[True, False], [False, True]]
        assert np.array_equal(read.signed(-1), [[np.nan, 1.0], [-1.0, np.nan]], equal_nan=True)


def test_one_row_a_batch_and_pictures():
    assert read_states(PAIR.layout, [1, 0], "cues").on.shape == (1, 2)
    for array in (np.eye(6)[0], np.eye(6).reshape(6, 2, 3), np.eye(6)[0].reshape(2, 3)):
        assert read_states(PICTURES.layout, array, "cues").on.shape == (array.size // 6, 6)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        ([[1, 0, 1]], r"cues: got shape \(1, 3\); this network wants \[batch, 2\], one column a neuron\."),
        ([[[1, 0]]], r"cues: got shape \(1, 1, 2\); this network wants \[batch, 2\]"),
        (1, r"cues: got shape \(\); this network wants"),
        ([[1, 2]], r"cues: row 0, neuron 'x1' is 2; patterns hold \{0, 1\}, \{-1, \+1\} or bool, with NaN"),
        ([[0, 1], [0.5, 1]], r"cues: row 1, neuron 'x0' is 0\.5"),
        ([[np.inf, 1]], r"cues: row 0, neuron 'x0' is inf"),
        ([[0, -1]], r"cues: 0 and -1 both occur: row 0, neuron 'x0' is 0, row 0, neuron 'x1' is -1; .* NaN\."),
        ([["a", "b"]], r"cues: got <U1"),
        ([[1, 0], [1]], r"cues: cannot be read as an array of numbers"),
        ([[1j, 0]], r"cues: got complex128"),
    ],
)
def test_states_that_cannot_be(array, sentence):
    with pytest.raises(DataError, match=sentence):
        read_states(PAIR.layout, array, "cues")


def test_pictures_of_another_shape():
    with pytest.raises(
        DataError, match=r"cues: got shape \(1, 3, 2\); this network wants \[batch, 6\] or \[batch, 2, 3\]"
    ):
        read_states(PICTURES.layout, np.zeros((1, 3, 2)), "cues")


def test_records_of_another_schema():
    with pytest.raises(SchemaError, match=r"cues: the schemas differ: 2 attributes against 1"):
        read_states(PAIR.layout, bnn.Records.from_patterns([[1]]), "cues")


@pytest.mark.parametrize("coding", ["values", "on"])
@given(data=st.data())
def test_tables_survive_encoding_and_decoding(coding, data):
    table = data.draw(records())
    network = bnn.learn(bnn.Counts.of(table, coding))
    encoded = network.encode(table)
    assert encoded.dtype == np.float32
    read = read_states(network.layout, encoded, "cues")
    assert np.array_equal(read.on, read_states(network.layout, table, "cues").on)
    assert np.array_equal(np.isnan(encoded), (table.codes < 0)[:, network.layout.attribute])
    for a, column in zip(table.schema.attributes, network.decode(encoded).columns, strict=True):
        values = [None if c < 0 else a.values[c] for c in table.codes[:, table.schema.index(a.name)].tolist()]
        assert column.to_pylist() == values


def test_decoding_takes_the_value_of_the_largest_field_and_null_where_none_is_on():
    table = bnn.Records.from_table({"a": ["x", "y", "z"], "b": [1, 2, 2]})
    network = bnn.learn(table)
    names = network.layout.names
    both = [name in ("a = x", "a = z", "b = 1") for name in names]
    assert network.field([both])[0, names.index("a = x")] > network.field([both])[0, names.index("a = z")]
    assert network.decode([both]).to_pydict() == {"a": ["x"], "b": [1]}
    assert network.decode([[False] * 5]).to_pydict() == {"a": [None], "b": [None]}


def test_decoding_mixed_values_makes_text():
    table = bnn.Records.from_table({"a": ["x", 1, "x"], "b": [1.5, 2, 3]})
    network = bnn.learn(table)
    decoded = network.decode(table)
    assert decoded["a"].to_pylist() == ["x", "1", "x"]
    assert decoded["b"].type == pa.float64()


def test_an_unknown_network_state_decodes_to_null():
    network = bnn.learn(bnn.Records.from_patterns([[1, 0], [0, 1]]), "hopfield")
    assert network.decode([[np.nan, 1]]).to_pydict() == {"x0": [None], "x1": [1]}


def test_states_without_an_unknown_neuron_have_no_mask():
    assert NeuronStates(np.zeros((1, 2), np.int8), np.zeros((1, 2), bool)).unknown is None
    assert cases.two_of_two().encode({"a": [0], "b": [None]}).tolist()[0][:2] == [1.0, 0.0]
