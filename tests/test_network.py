"""The network: fields, energies, unknown neurons, damage, other types, and files."""

from itertools import pairwise

import cases
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

import bnn
from bnn.errors import DataError, FileError, SchemaError
from bnn.files import read_tensors, write_tensors

PATTERNS = bnn.Records.from_patterns(np.random.default_rng(0).integers(0, 2, (12, 9)))
LAYOUT = bnn.Layout(bnn.Records.from_patterns([[0, 1]]).schema, "on")


def tensor(values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)


@pytest.mark.parametrize("networks", cases.NETWORK_CASES, ids=lambda case: case.name)
@settings(max_examples=10)
@given(data=st.data())
def test_field_and_energy_are_their_sums(networks, data):
    network = networks.network(data.draw(networks.sources()))
    n, owner = network.neurons, network.layout.attribute
    on = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    unknown = np.isin(owner, data.draw(st.sets(st.integers(0, owner.max()))))
    state = np.where(unknown, 0, np.where(on, 1, network.low))
    weights, bias = network.table.double().numpy(), network.bias.double().numpy()
    if network.silence is not None:
        bias = bias - network.silence.double().numpy()[:, np.unique(owner[unknown])].sum(axis=1)
    cue = np.where(unknown, np.nan, on)
    expected = [sum(weights[j, i] * state[i] for i in range(n)) + bias[j] for j in range(n)]
    assert network.field(cue)[0].tolist() == expected
    energy = -0.5 * sum(weights[j, i] * state[j] * state[i] for j in range(n) for i in range(n)) - bias @ state
    assert network.energy(cue).item() == energy
    similarity = network.log_similarity(cue).item()
    if unknown.any() and network.silence is not None:
        assert np.isnan(similarity)
    else:
        assert similarity == pytest.approx(network.constant - 2 * energy, abs=1e-12)


def test_unknown_neurons_add_no_evidence_in_any_form():
    full, seen = [1.0, 0.0, 1.0, *[np.nan] * 6], [1.0, 0.0, 1.0]
    first = bnn.Records.from_patterns(PATTERNS.codes[:, :3])
    for rule in [
        name for name, rule in bnn.RULES.items() if rule.source == "counts"
    ]:  # else others count when learning
        large, small = bnn.learn(PATTERNS, rule), bnn.learn(first, rule)
        assert np.allclose(large.field(full)[0, :3], small.field(seen)[0], atol=1e-9)
        assert large.energy(full).item() == pytest.approx(small.energy(seen).item(), abs=1e-9)


def test_networks_written_down():
    weights, bias = np.array([[0, 1], [2, 0]]), np.array([1.0, 2.0])
    network = bnn.Network.of(weights, bias, names=["left", "right"])
    assert network.layout.names == ("left", "right")
    assert not network.symmetric
    assert network.field([[1, 0]]).tolist() == [[1.0, 4.0]]  # W[to, from]
    assert network.columns.tolist() == [[0.0, 2.0], [1.0, 0.0]]
    weights[0, 1], bias[0] = 7, 7
    assert network.weights[0, 1] == network.bias[0] == 1.0
    assert bnn.Network.of([[0]]).bias.tolist() == [0.0]


def test_cut_removes_pairs_with_their_mirror_images():
    network = bnn.learn(PATTERNS, "odds")
    assert bnn.learn(PATTERNS).cut(0.0).weights.tolist() == bnn.learn(PATTERNS).weights.tolist()
    half = network.cut(0.5, seed=1)
    gone = (half.weights == 0) & (network.weights != 0)
    pairs = int((network.weights != 0).sum()) // 2
    assert gone.sum().item() == 2 * round(0.5 * pairs)
    assert torch.equal(half.weights, half.weights.T)
    assert torch.equal(half.bias, half.silence.sum(dim=1))
    assert not half.silence[gone].any()
    assert half.provenance["cut"] == 0.5
    assert bnn.recall(half, PATTERNS, check="raise").descent.holds
    assert half.log_similarity(PATTERNS).isnan().all()  # the constant was that of all connections
    assert network.cut(0.0).log_similarity(PATTERNS).isfinite().all()
    assert not network.cut(1.0).weights.any()
    assert torch.equal(network.cut(0.3, seed=2).weights, network.cut(0.3, seed=2).weights)


def test_cut_refuses_what_it_cannot_do():
    with pytest.raises(DataError, match=r"Network\.cut\.share: got 1\.5; give a share between 0 and 1\."):
        bnn.learn(PATTERNS).cut(1.5)
    table = bnn.Records.from_table({"a": ["x", "y", "z"], "b": [0, 1, 1]})
    with pytest.raises(
        DataError, match=r"Network\.cut: in the odds form .* every attribute owns one neuron; learn with"
    ):
        bnn.learn(table, "odds").cut(0.5)


@pytest.mark.parametrize("rule", cases.PAIRWISE)
def test_another_dtype_is_rounded_to_its_own_grid(rule):
    network = bnn.learn(PATTERNS[:5], rule)
    small = network.to(dtype=torch.float32)
    assert small.weights.dtype == small.bias.dtype == torch.float32
    assert small.grid > network.grid
    assert np.allclose(small.weights, network.weights, atol=small.grid)
    trace = bnn.recall(small, 1 - PATTERNS.codes, check="raise")
    assert (trace.descent.mismatch, trace.descent.tolerance) == (0.0, 0.0)
    assert network.to() is network
    assert network.to(device="cpu") is network


# --- Files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("networks", cases.NETWORK_CASES, ids=lambda case: case.name)
@settings(max_examples=4)
@given(data=st.data())
def test_a_saved_network_comes_back_bit_for_bit(networks, data, tmp_path_factory):
    network = networks.network(data.draw(networks.sources()))
    path = tmp_path_factory.mktemp("network") / "net.safetensors"
    network.save(path)
    back = bnn.Network.load(path)
    assert back.tensors().keys() == network.tensors().keys()
    assert all(torch.equal(tensor, network.tensors()[name]) for name, tensor in back.tensors().items())
    assert back.layout == network.layout
    for name in ("constant", "low", "grid", "provenance", "symmetric"):
        assert getattr(back, name) == getattr(network, name)
    cues = np.ones((2, network.neurons))
    assert bnn.recall(back, cues, seed=1).energy.tolist() == bnn.recall(network, cues, seed=1).energy.tolist()


def test_a_damaged_network_comes_back_too(tmp_path):
    network = bnn.learn(PATTERNS, "odds").cut(0.5, seed=0)
    network.save(tmp_path / "net.safetensors")
    back = bnn.Network.load(tmp_path / "net.safetensors")
    assert np.isnan(back.constant)
    assert torch.equal(back.weights, network.weights)
    assert back.provenance["cut"] == 0.5


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "net.safetensors"
    bnn.learn(PATTERNS, "odds").save(path)
    return path


def rewrite(path, change, **new):
    """Write the file again, whole and of good conscience, with its header changed and other arrays."""
    arrays, header = read_tensors(path, "network")
    change(header)
    write_tensors(path, arrays | new, header, "network")


def said(**changes):
    return lambda header: header.update(changes)


@pytest.mark.parametrize(
    ("change", "arrays", "sentence"),
    [
        (lambda header: header.pop("schema"), {}, r"is damaged: 'schema'"),
        (said(constant="deep"), {}, r"is damaged: could not convert string to float: 'deep'"),
        (said(grid=0.3), {}, r"is damaged: Network\.grid: got 0\.3; the grid is a power of two, 0\.0 or None\."),
        (said(provenance=3), {}, r"is damaged: "),
        (said(low=3), {}, r"is damaged: Network\.low: got 3; the off state is 0 or -1\."),
        (said(coding="offf"), {}, r"is damaged: "),
        (said(schema={"attributes": []}), {}, r"is damaged: Schema\.from_json: malformed schema .*got none"),
        (said(schema=3), {}, r"is damaged: "),
        (said(), {"extra": np.zeros(3)}, r"is damaged: .*'extra'"),
        (said(), {"bias": np.zeros(3)}, r"is damaged: "),
        (said(), {"weights": np.full((9, 9), np.nan)}, r"is damaged: Network\.weights: nan at 'x0' from 'x0'"),
    ],
)
def test_files_that_make_no_network(saved, change, arrays, sentence):
    rewrite(saved, change, **arrays)
    with pytest.raises(FileError, match=rf"net\.safetensors: {sentence}"):
        bnn.Network.load(saved)


def test_files_cut_short_or_of_something_else(saved, tmp_path):
    whole = saved.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:7], b"", b"PK\x03\x04 not this"):
        saved.write_bytes(content)
        with pytest.raises(FileError, match=r"net\.safetensors: is damaged, cut short, or no safetensors file"):
            bnn.Network.load(saved)
    bnn.Counts.of(PATTERNS).save(saved)
    with pytest.raises(FileError, match=r"net\.safetensors: holds counts, not network; load it as what it is\."):
        bnn.Network.load(saved)
    save_file({"weights": np.zeros(2)}, saved)
    with pytest.raises(FileError, match=r"is a safetensors file of another program, not network written by bnn\."):
        bnn.Network.load(saved)
    with pytest.raises(FileError, match=r"there is no such file"):
        bnn.Network.load(tmp_path / "none.safetensors")
    with pytest.raises(FileError, match=r"the folder .* does not exist; make it first\."):
        bnn.learn(PATTERNS).save(tmp_path / "none" / "net.safetensors")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net.safetensors"]


# --- Errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: bnn.Network.of([[0, np.nan], [0, 0]]),
            r"Network\.weights: nan at 'x0' from 'x1'; all must be finite\.",
        ),
        (lambda: bnn.Network.of([[0, 0], [-np.inf, 0]]), r"Network\.weights: -inf at 'x1' from 'x0'; all must be"),
        (lambda: bnn.Network.of([[0]], bias=[np.inf]), r"Network\.bias: inf at 'x0'; all must be finite\."),
        (lambda: bnn.Network.of([[0, 1]]), r"Network\.of\.weights: got shape \(1, 2\); give a square matrix"),
        (lambda: bnn.Network.of([]), r"Network\.of\.weights: got shape \(0,\); give a square matrix"),
        (lambda: bnn.Network.of([[0, 1], [1]]), r"Network\.of\.weights: cannot be read as an array of numbers"),
        (lambda: bnn.Network.of([["a"]]), r"Network\.of\.weights: cannot be read as an array of numbers"),
        (lambda: bnn.Network.of([[0]], bias=["a"]), r"Network\.of\.bias: cannot be read as an array of numbers"),
        (lambda: bnn.Network.of([[0]], bias=[1, 2]), r"Network\.of\.bias: got shape \(2,\); give one number"),
        (lambda: bnn.Network.of([[0]], names=["a", "b"]), r"Network\.of\.names: got 2 for 1 neurons; give one a"),
        (lambda: bnn.Network.of([[0]], low=1), r"Network\.low: got 1; the off state is 0 or -1\."),
        (lambda: bnn.Network.of([[0]], dtype=torch.float16), r"Network\.dtype: got torch\.float16; use torch\.float64"),
        (
            lambda: bnn.Network(tensor([[0, 0], [0, 0]], torch.float16), tensor([0, 0], torch.float16), LAYOUT),
            r"Network\.weights: got torch\.float16; use torch\.float64 or torch\.float32\.",
        ),
        (
            lambda: bnn.Network(tensor([[0.0, 0.0], [0.0, 0.0]]), tensor([0, 0], torch.float32), LAYOUT),
            r"Network\.bias: got torch\.float32 of shape \(2,\); expected torch\.float64 of shape \(2,\)\.",
        ),
    ],
)
def test_networks_that_cannot_be(make, sentence):
    with pytest.raises(DataError, match=sentence):
        make()


def test_weights_that_only_their_sum_makes_infinite_are_finite():
    large = tensor([[1.5e308, 1.5e308], [1.5e308, 1.5e308]])
    assert bnn.Network(large, tensor([0.0, 0.0]), LAYOUT).symmetric


def test_states_speak_for_whom_they_were_given_to():
    network = bnn.learn(bnn.Records.from_table({"a": ["x", "y", "z"], "b": ["p", "q", "q"]}), "odds")
    for method in ("field", "energy", "log_similarity"):
        with pytest.raises(DataError, match=rf"Network\.{method}\.states: got shape \(1, 2\)"):
            getattr(network, method)([[1, 0]])
    with pytest.raises(DataError, match=r"Network\.field\.states: row 0 leaves 1 of the 3 neurons of 'a' unknown"):
        network.field([[np.nan, 0, 1, 1]])
    with pytest.raises(SchemaError, match=r"Network\.encode\.table: the schemas differ"):
        network.encode(PATTERNS)


def test_arithmetic_mixing_is_the_information_of_the_mean():
    """log2 sum of P(v) Q(j,v) over the values of each attribute; the same as the geometric one for certain evidence."""
    zoo = bnn.datasets.load("zoo")
    network = bnn.learn(zoo)
    sure = network.encode(zoo[:3])
    assert network.field(sure, "arithmetic").numpy() == pytest.approx(network.field(sure).numpy(), abs=1e-9)
    rng = np.random.default_rng(0)
    soft, start = np.full((2, network.neurons), np.nan), network.layout.start
    for first, last in pairwise(start[:6]):
        soft[:, first:last] = rng.dirichlet(np.ones(last - first), 2)
    weights = network.weights.tolist()
    for row, fields in zip(soft.tolist(), network.field(soft, "arithmetic").tolist(), strict=True):
        for j in range(network.neurons):
            expected = sum(
                np.log2(sum(row[v] * 2 ** weights[j][v] for v in range(first, last)))
                for first, last in pairwise(start[:6].tolist())
            )
            assert fields[j] == pytest.approx(expected, abs=1e-9)
    assert (network.field(soft, "arithmetic") >= network.field(soft) - 1e-9).all()  # Jensen's inequality


def test_arithmetic_mixing_needs_distributions_over_values():
    patterns = bnn.Records.from_patterns([[1, 0], [0, 1], [1, 1]])
    with pytest.raises(DataError, match=r"Network\.field\.mixing: \"arithmetic\" needs a neuron for each value; learn"):
        bnn.learn(patterns, "odds").field([[0.5, 1]], "arithmetic")
    with pytest.raises(DataError, match=r"Network\.field\.mixing: there is no 'arithmetik'; did you mean 'arithmetic'"):
        bnn.learn(patterns).field([[1, 1]], "arithmetik")
    network = cases.two_of_two()
    with pytest.raises(DataError, match=r"Network\.field\.states: the values of 'b' do not sum to 1; arithmetic"):
        network.field([[1, 0, 0.5, 0.2]], "arithmetic")
