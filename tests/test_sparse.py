"""Sparse networks: the same numbers as with all weights written out, from records that are lists of items."""

import json
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import pattern_records, patterns, records, schemas, unchecked
from typer.testing import CliRunner

import bnn
from bnn import cli, memory, representation
from bnn.association import find_associations
from bnn.baskets import read_baskets
from bnn.errors import BnnWarning, DataError, FileError, UnseenValueWarning
from bnn.kernels import flips, threads
from bnn.kernels.baskets import count_baskets
from bnn.records import Baskets
from bnn.sparse import SparseWeights

DYNAMICS = (
    bnn.Asynchronous(),
    bnn.Synchronous(),
    bnn.WinnerTakeAll(),
    bnn.WinnerTakeAll(parallel=True),
    bnn.KWinners(),
    bnn.KWinners(parallel=True),
    bnn.Glauber(),
)
MARKET = [["milk", "bread"], ["beer"], ["bread", "beer", "milk"], ["milk", "eggs"], ["bread", "milk"], ["tea"]]


def market():
    """A small network that is sparse because it was asked to be."""
    return bnn.learn(bnn.Records.from_baskets(MARKET), sparse=True)


def zipf(rows, items, seed=0):
    """A matrix of baskets whose items follow a power law."""
    rng = np.random.default_rng(seed)
    chance = np.minimum(3.0 / np.arange(1, items + 1), 0.5)
    return sparse.csr_array((rng.random((rows, items)) < chance).astype(np.int8))


# --- The same numbers ---------------------------------------------------------------------------------------------


@st.composite
def sources(draw):
    """Complete records: patterns, or tables with a neuron for each value."""
    if draw(st.booleans()):
        return draw(pattern_records(max_rows=8, max_neurons=7))
    return draw(records(draw(schemas(max_attributes=3, max_values=3)), max_rows=8, gaps=False))


def both(source, **options):
    """The same network with all weights, and sparse."""
    return [bnn.learn(source, "probability", sparse=kept, **options) for kept in (False, True)]


@settings(max_examples=30)
@given(source=sources(), within=st.booleans(), itself=st.booleans(), m=st.sampled_from([0.5, 2.0, 3.0]), data=st.data())
def test_sparse_and_dense_agree(source, within, itself, m, data):
    full, kept = both(source, within=within, self_connections=itself, m=m)
    assert kept.is_sparse
    assert not full.is_sparse
    assert kept.background == pytest.approx(np.log2(m / (source.rows + m)), abs=1e-12)
    near = {"rtol": 0.0, "atol": 1e-12}
    assert np.allclose(kept.table, full.weights, **near)
    assert np.allclose(kept.to_dense().weights, full.weights, **near)
    states = data.draw(st.lists(st.lists(st.integers(0, 1), min_size=full.neurons, max_size=full.neurons), min_size=1))
    for ask in ("field", "energy", "log_similarity"):
        assert np.allclose(getattr(kept, ask)(states), getattr(full, ask)(states), **near)
    assert kept.decode(states).equals(full.decode(states))
    assert kept.diagonal.tolist() == kept.table.diagonal().tolist()
    assert kept.largest_row_sum == pytest.approx(full.largest_row_sum, abs=1e-11)


@pytest.mark.parametrize("dynamics", DYNAMICS, ids=repr)
@settings(max_examples=12)
@given(source=sources(), data=st.data())
def test_recall_is_the_same_flip_by_flip(dynamics, source, data):
    full, kept = both(source)
    n = full.neurons
    on = data.draw(st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=3))
    cues = np.array(on, dtype=float)
    hidden = data.draw(st.sets(st.sampled_from(source.schema.names)))
    clamp = data.draw(st.none() | st.just("known"))
    if not isinstance(dynamics, bnn.KWinners):
        cues[:, full.layout.neurons_of(sorted(hidden))] = np.nan
    if clamp and isinstance(dynamics, bnn.WinnerTakeAll):
        clamp = None  # cues of several values an attribute cannot be clamped
    asked = {"clamp": clamp, "input": data.draw(st.sampled_from([0.0, 1.5, "prior"])), "seed": 3, "max_sweeps": 8}
    one, other = (bnn.recall(network, cues, dynamics, record=("flips", "states"), **asked) for network in (full, kept))
    assert np.allclose(other.energy[:, 0], one.energy[:, 0], rtol=0.0, atol=1e-12)
    if kept.grid == full.grid:  # a coarser one, of a few neurons that mostly met, may make and break ties
        for name in ("states", "history", "energy", "outcome"):
            assert getattr(other, name).tolist() == getattr(one, name).tolist()
        assert other.flip_log.neuron.tolist() == one.flip_log.neuron.tolist()
    assert other.descent.mismatch == 0.0
    assert other.descent.tolerance == 0.0 or asked["input"] != 0.0
    assert other.descent.holds or not other.descent.guaranteed


@settings(max_examples=30)
@given(source=pattern_records(max_rows=8, max_neurons=7), dtype=st.sampled_from([torch.float32, torch.float64]))
def test_every_weight_lies_on_the_grid(source, dtype):
    network = bnn.learn(source, "probability", sparse=True, dtype=dtype)
    steps = np.append(network.weights.values.astype(np.float64), network.background) / (network.grid or 1.0)
    assert (steps == np.rint(steps)).all() or network.grid == 0.0
    trace = bnn.recall(network, source, seed=0, check="raise")
    assert trace.descent.holds
    assert trace.descent.tolerance == trace.descent.mismatch == 0.0


def test_a_batch_equals_its_rows_on_any_number_of_threads():
    network = bnn.learn(bnn.Records.from_baskets(zipf(300, 200)), sparse=True)
    cues = zipf(70, 200, seed=1).toarray()
    whole = bnn.recall(network, cues, seed=5)
    with threads.threads(1):
        alone = [bnn.recall(network, cue, seed=5) for cue in cues]
    assert whole.states.tolist() == [trace.states[0].tolist() for trace in alone]
    assert whole.energy[:, -1].tolist() == [trace.energy[0, -1] for trace in alone]


@pytest.mark.parametrize("wrong", ["energy", 0, 150])
def test_a_loop_that_errs_by_the_least_is_found_out(monkeypatch, wrong):
    network, right = bnn.learn(bnn.Records.from_baskets(zipf(300, 200)), sparse=True), flips.threshold_sweep

    def err(*arguments):
        right(*arguments)
        fields, energy = arguments[5], arguments[12]
        if wrong == "energy":
            energy[0] -= network.grid
        else:
            fields[0, wrong] += network.grid

    monkeypatch.setattr(flips, "threshold_sweep", err)
    descent = bnn.recall(network, zipf(1, 200, seed=1).toarray(), max_sweeps=1, seed=0).descent
    assert descent.mismatch >= network.grid / 2
    assert not descent.holds


def test_a_worked_example():
    network = market()  # milk and bread three times of 6; milk 4 times, bread 3
    milk, bread, tea = (network.layout.schema.index(name) for name in ("milk", "bread", "tea"))
    assert network.table[milk, bread].item() == pytest.approx(np.log2((6 * 3 * 6 / (4 * 3) + 2) / (6 + 2)), abs=1e-12)
    assert network.table[milk, tea].item() == network.background == -2.0  # log2 2/(6 + 2)
    assert network.table[tea, tea].item() == 0.0
    assert repr(network) == "Network(5 neurons, probability, sparse, 52.00% of its weights kept, float64)"


# --- Which representation -----------------------------------------------------------------------------------------


def test_learning_keeps_what_is_smaller(monkeypatch):
    few, many = zipf(50, 300), np.ones((4, 30))
    assert not bnn.learn(bnn.Records.from_baskets(few)).is_sparse  # a small table is quicker
    monkeypatch.setattr(representation, "SMALL", 0)
    for source in (bnn.Records.from_baskets(few), bnn.Records.from_patterns(few.toarray())):
        assert bnn.learn(source).is_sparse
        assert not bnn.learn(source, sparse=False).is_sparse
        assert not bnn.learn(source, "odds").is_sparse
        assert bnn.learn(source, dtype=torch.float32).weights.nbytes < 4 * 300**2
    assert not bnn.learn(bnn.Records.from_patterns(many)).is_sparse


def test_gaps_keep_all_weights_and_say_so(monkeypatch):
    monkeypatch.setattr(representation, "SMALL", 0)
    table = zipf(50, 300).toarray().astype(float)
    table[0, 0] = np.nan
    with pytest.warns(BnnWarning, match="all weights are kept: where values are missing, pairs never seen together"):
        assert not bnn.learn(bnn.Records.from_patterns(table)).is_sparse


@pytest.mark.parametrize(
    ("source", "options", "match"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], {}, "learn.sparse: where values are missing"),
        ([[1, 1], [0, 1]], {"estimate": "conditional"}, "learn.sparse: the estimate 'conditional'"),
        ([[1, 1], [0, 1]], {"m": 0.0}, "learn.sparse: with m = 0"),
        ([[1, 1], [0, 1]], {"mask": [[False, False], [False, False]]}, "learn.sparse: the mask leaves"),
        ([[1, 1], [0, 1]], {"rule": "odds"}, "learn.sparse: the rule 'odds'"),
        ([[1, 1], [0, 1]], {"device": "meta"}, "learn.sparse: sparse weights run on the CPU"),
        ([[1, 1], [0, 1]], {"sparse": 1}, "learn.sparse: got 1; give True, False"),
    ],
)
def test_what_cannot_be_sparse_is_refused(source, options, match):
    with unchecked(), pytest.raises(DataError, match=match):
        bnn.learn(bnn.Records.from_patterns(source), **{"sparse": True, **options})


@pytest.mark.parametrize("options", [{}, {"gain": 0.5, "rtol": 1e-6}, {"solver": "rk4", "step": 0.1}], ids=str)
def test_graded_neurons_flow_as_under_all_weights(options):
    network = bnn.learn(bnn.Records.from_baskets(zipf(60, 40)), sparse=True)
    cue = np.random.default_rng(0).random((5, 40)).round(2)
    flow = bnn.GradientFlow(**options)
    found, dense = (bnn.recall(one, cue, flow, input="prior", check="raise") for one in (network, network.to_dense()))
    assert np.abs(found.states - dense.states).max() < 1e-12
    assert found.descent.guaranteed
    assert found.sweeps.tolist() == dense.sweeps.tolist()


def test_what_asks_for_all_weights_gets_them_where_they_fit(monkeypatch):
    network, cue = market(), np.ones((1, 5))
    descent = bnn.GradientFlow(solver="descent")
    assert bnn.recall(network.to_dense(), cue, descent).descent.holds
    assert bnn.plots.weights(network) is not None
    for call, match in (
        (lambda: network.cut(0.5), "Network.cut: of sparse weights"),
        (lambda: network.to(device="meta"), "Network.to.device: got 'meta', and sparse weights run on the CPU"),
        (lambda: bnn.recall(network, cue, descent), 'solver="descent" reads whole columns'),
        (lambda: bnn.recall(network, cue, backend="torch"), "recall.backend: sparse weights are recalled by"),
    ):
        with pytest.raises(DataError, match=match):
            call()
    monkeypatch.setattr(memory, "free_memory", lambda: 100.0)
    monkeypatch.setattr(memory, "LITTLE", 0)
    assert bnn.plots.weights(network, attributes=["milk", "tea"]) is not None  # a part
    assert bnn.recall(network, cue, seed=0).descent.holds
    for call, match in (
        (network.to_dense, "Network.weights: those of 5 neurons are sparse"),
        (lambda: bnn.plots.weights(network), "Network.weights: those of 5 neurons are sparse"),
        (bnn.Counts.of(bnn.Records.from_baskets(MARKET)).to_dense, "Counts: 5 neurons need"),
        (lambda: bnn.Records.from_baskets(MARKET * 9).codes, "Baskets.codes: 54 rows of 5 items"),
    ):
        with pytest.raises(DataError, match=match):
            call()


def test_another_dtype_is_rounded_once_more():
    network = bnn.learn(bnn.Records.from_baskets(zipf(300, 200)), sparse=True)
    narrow = network.to(dtype=torch.float32)
    assert narrow.weights.values.dtype == np.float32
    assert float((narrow.table - network.table).abs().max()) < 2.0**-18
    assert narrow.to_dense().weights.dtype == torch.float32
    assert network.to(device="cpu") is network
    trace = bnn.recall(narrow, zipf(20, 200, seed=1).toarray(), seed=0, check="raise")
    assert trace.descent.tolerance == 0.0


# --- Files --------------------------------------------------------------------------------------------------------


def test_networks_and_counts_come_back_from_files(tmp_path):
    network, counts = market(), bnn.Counts.of(bnn.Records.from_baskets(MARKET))
    network.save(tmp_path / "net.safetensors")
    back = bnn.Network.load(tmp_path / "net.safetensors")
    assert back.is_sparse
    assert back.background == network.background
    assert back.grid == network.grid
    assert torch.equal(back.table, network.table)
    counts.save(tmp_path / "counts.safetensors")
    again = bnn.Counts.load(tmp_path / "counts.safetensors")
    assert again.is_sparse
    assert again == counts


@pytest.mark.parametrize("part", ["start", "index", "values"])
def test_a_damaged_file_is_refused(tmp_path, monkeypatch, part):
    network = market()
    tensors = network.tensors()
    tensors[f"weights.{part}"] = tensors[f"weights.{part}"].flip(0)
    monkeypatch.setattr(bnn.Network, "tensors", lambda _: tensors)
    network.save(tmp_path / "net.safetensors")
    with pytest.raises(FileError, match="is damaged"):
        bnn.Network.load(tmp_path / "net.safetensors")


def test_weights_are_checked():
    start, index = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    for values, places, match in (
        ([0.0, 1.0, 2.0, 0.0], index, "row 0 of the sparse weights"),
        ([0.0, np.nan, np.nan, 0.0], index, "row 0 of the sparse weights"),
        ([0.0, 1.0, 1.0, 0.0], index[[1, 0, 2, 3]], "row 0 of the sparse weights"),
        ([0.0, 1.0, 1.0, 0.0], index + np.int32(1), "row 0 of the sparse weights"),
        ([0.0, 1.0, 1.0], index, "do not fit each other"),
    ):
        with unchecked(), pytest.raises(DataError, match=match):
            SparseWeights(start, places, np.array(values), -1.0)
    without_own = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1.0, 1.0])
    with pytest.raises(DataError, match="without its own entry"):
        SparseWeights(*without_own, -1.0)
    three = SparseWeights(np.arange(4), np.arange(3, dtype=np.int32), np.zeros(3), -1.0)
    with pytest.raises(DataError, match=r"Network.weights: got float64 of 3 neurons"):
        bnn.Network(three, market().bias, market().layout)


# --- Counting -----------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(array=patterns(max_rows=12, max_neurons=9), data=st.data())
def test_baskets_count_as_the_patterns_they_are(array, data):
    weights = data.draw(st.none() | st.lists(st.integers(0, 8).map(float), min_size=len(array), max_size=len(array)))
    plain = bnn.Records.from_patterns(array)
    plain = bnn.Records(plain.codes, plain.schema, None if weights is None else np.array(weights))
    baskets = bnn.Records.from_baskets(sparse.csr_array(array), weights=weights)
    assert baskets.codes.tolist() == plain.codes.tolist()
    assert baskets.rows == len(baskets) == len(array)
    assert [baskets.column(a).tolist() for a in range(array.shape[1])] == plain.codes.T.tolist()
    counts = bnn.Counts.of(baskets)
    assert counts.is_sparse
    assert counts == bnn.Counts.of(plain)
    assert counts.to_dense().joint.tolist() == bnn.Counts.of(plain).joint.tolist()
    assert bnn.Counts.of(plain).to_sparse() == counts
    assert bnn.Counts.of(baskets, "values") == bnn.Counts.of(plain, "values")
    chosen = data.draw(st.lists(st.integers(-len(array), len(array) - 1)))
    assert baskets[chosen].codes.tolist() == plain[chosen].codes.tolist()
    assert baskets[1:].codes.tolist() == plain[1:].codes.tolist()


@settings(max_examples=20)
@given(array=patterns(min_rows=2, max_rows=12, max_neurons=9), share=st.integers(1, 11))
def test_sparse_counts_are_a_group(array, share):
    whole = bnn.Records.from_baskets(sparse.csr_array(array))
    first, second = (
        (bnn.Counts.of(part) for part in (whole[:share], whole[share:])) if share < len(array) else [None] * 2
    )
    counts = bnn.Counts.of(whole)
    if first is not None:
        assert first + second == counts
        assert (counts - second).joint.nnz == first.joint.nnz
        assert counts - second == first
        assert first.to_dense() + second == counts
    assert counts.decay(2.0) == counts.to_dense().decay(2.0)
    assert counts.widen(whole.schema) == counts
    if array.any():
        with pytest.raises(DataError, match="take away only records that were counted"):
            bnn.Counts.of(whole[:1]) - counts


def test_sparse_counts_take_away_what_dense_ones_do():
    def left(a, b):
        try:
            return a - b
        except DataError:
            return None

    rows = list(product([0.0, 1.0, np.nan], repeat=2))
    for first, second, gone in product(rows, rows, rows):
        a, b = (bnn.Counts.of(bnn.Records.from_patterns(some)) for some in ([first, second], [gone]))
        assert left(a.to_sparse(), b.to_sparse()) == left(a, b), (first, second, gone)


def test_taking_away_other_records_is_refused():
    two, other = [[["a", "b"], ["a", "b"]], [["a"], ["b"]]]
    names = ["a", "b", "c"]
    first, second = (bnn.Counts.of(bnn.Records.from_baskets(lists, names=names)) for lists in (two, other))
    with pytest.raises(DataError, match="with only one of 'a' and 'b'"):
        first - second


@pytest.mark.parametrize("number", [1, 2, 5])
def test_pairs_are_those_of_a_product(number):
    matrix = zipf(400, 300)
    weights = np.random.default_rng(0).integers(0, 5, 400)
    with threads.threads(number):
        start, index, joint = count_baskets(matrix.indices, matrix.indptr.astype(np.int64), 300, weights)
    found = sparse.csr_array((joint, index, start), shape=(300, 300))
    wide = matrix.toarray().astype(np.int64)
    assert (found.toarray() == np.triu(wide.T @ (weights[:, None] * wide))).all()
    assert all((np.diff(index[a:b]) > 0).all() for a, b in pairwise(start))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 99), level=st.sampled_from([0.3, 0.5, 0.9, 0.95]), chosen=st.sampled_from([None, "x3"]))
def test_associations_are_those_of_all_pairs(seed, level, chosen):
    rng = np.random.default_rng(seed)
    array = (rng.random((200, 14)) < rng.random(14) * 0.4).astype(np.int8)
    array[:, 1] &= 1 - array[:, 0]
    array[:, 2] |= array[:, 3]
    array[:, 4] = 0
    counts = bnn.Counts.of(bnn.Records.from_patterns(array))
    one, other = (find_associations(c, 12, chosen, level) for c in (counts, counts.to_sparse()))
    assert repr(one) == repr(other)
    assert one.to_frame().equals(other.to_frame())


def test_associations_stand_beside_sparse_weights():
    baskets = bnn.Records.from_baskets(zipf(500, 40))
    counts = bnn.Counts.of(baskets)
    one, other = (network.associations(counts).to_frame() for network in both(baskets))
    assert one.equals(other)
    with pytest.raises(DataError, match="sparse weights"):
        bnn.learn(counts, sparse=True).associations()


# --- Reading ------------------------------------------------------------------------------------------------------


def test_baskets_are_lists_of_items():
    baskets = bnn.Records.from_baskets([[3, 10], (), {10, 3}, [10, 10]])
    assert isinstance(baskets, Baskets)
    assert baskets.schema.names == ("3", "10")
    assert baskets.codes.tolist() == [[1, 1], [0, 0], [1, 1], [0, 1]]
    assert repr(baskets) == "Records(4 rows, 2 attributes)"
    with pytest.warns(UnseenValueWarning, match="2 items that are not among the names were left out, such as 'ham'"):
        some = bnn.Records.from_baskets([["tea", "ham"], ["ham"]], names=["tea", "milk"])
    assert some.codes.tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
def test_baskets_are_sparse_matrices(form):
    array = np.array([[0, 2, 0], [1, 0, 1]])
    matrix = sparse.csr_array(array).asformat(form)
    baskets = bnn.Records.from_baskets(matrix)
    assert baskets.codes.tolist() == (array != 0).astype(int).tolist()
    assert baskets.schema.names == ("x0", "x1", "x2")
    assert (matrix.toarray() == array).all()
    stored_zero = sparse.csr_matrix((np.array([1.0, 0.0]), np.array([1, 2]), np.array([0, 2])), shape=(1, 3))
    assert bnn.Records.from_baskets(stored_zero, names="abc").codes.tolist() == [[0, 1, 0]]
    assert stored_zero.nnz == 2


@pytest.mark.parametrize(
    ("baskets", "names", "match"),
    [
        ([], None, "got no baskets"),
        ([[], []], None, "got no items"),
        ("milk", None, "got str; give lists of items"),
        (["milk", "tea"], None, "basket 0 is 'milk'; give a list"),
        ([["tea"], 3], None, "basket 1 is 3; give a list"),
        (sparse.csr_array([[np.nan, 1.0]]), None, "the matrix holds NaN"),
        (sparse.csr_array([[0, 1]]), ["a"], "got 1 names for a matrix of 2 columns"),
        ([["a"]], ["a", "a"], "'a' appears twice"),
    ],
)
def test_what_is_no_basket_is_refused(baskets, names, match):
    with pytest.raises(DataError, match=match):
        bnn.Records.from_baskets(baskets, names=names)


def test_recall_and_noise_take_baskets():
    baskets = bnn.Records.from_baskets(MARKET)
    network = market()
    assert (
        bnn.recall(network, baskets, seed=0).states.tolist()
        == bnn.recall(network, baskets.codes, seed=0).states.tolist()
    )
    assert bnn.corrupt(baskets, delete=0.5, seed=0).codes.sum() < baskets.codes.sum()
    assert network.encode(baskets).tolist() == baskets.codes.tolist()


def test_files_of_baskets(tmp_path):
    path = tmp_path / "baskets.txt"
    path.write_bytes(b"\xef\xbb\xbfwhole milk, rye bread\n\ntea\n  ,rye bread,\n")
    assert read_baskets(path) == [["whole milk", "rye bread"], ["tea"], ["rye bread"]]
    path.write_text("1 2  3\r\n2\t4\n")
    assert read_baskets(path) == [["1", "2", "3"], ["2", "4"]]
    path.write_text("\n  \n")
    with pytest.raises(FileError, match="holds no items; needed is one basket a line"):
        read_baskets(path)
    path.write_bytes(b"milk \xff")
    with pytest.raises(FileError, match="is not UTF-8"):
        read_baskets(path)
    with pytest.raises(FileError, match="cannot be read"):
        read_baskets(tmp_path)


# --- The command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A file of baskets in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    lines = [", ".join(f"item {i}" for i in np.flatnonzero(row)) for row in zipf(200, 30).toarray() if row.any()]
    (tmp_path / "shop.txt").write_text("\n".join(lines))
    return lines


def test_the_command_line_recalls_baskets(shop):
    result = CliRunner().invoke(cli.app, ["recall", "--data", "shop.txt", "--format", "baskets", "--json"])
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)["rows"]
    assert (row["rule"], row["cues"], row["descent_holds"]) == ("probability", 100, True)
    words = ["recall", "--data", "shop.txt", "--format", "baskets", "--patterns", "3", "--noise", "0.5"]
    told = " ".join(CliRunner().invoke(cli.app, words).stdout.split())
    assert f"{len(shop):,} baskets of 30 items learned; cues: the first 3 with 50 % of their items left out" in told
    words = ["recall", "--data", "shop.txt", "--format", "baskets", "--row", "3", "--mask", "item 1", "--json"]
    (answer,) = json.loads(CliRunner().invoke(cli.app, words).stdout)["answers"]
    assert answer["attribute"] == "item 1"
    assert answer["true"] == int("item 1" in shop[3].split(", "))


@pytest.mark.usefixtures("shop")
def test_the_command_line_finds_associations_of_baskets():
    words = ["associations", "shop.txt", "--format", "baskets", "--ignore", "item 0", "--json"]
    told = json.loads(CliRunner().invoke(cli.app, words).stdout)
    assert told["compared"] == 29 * 28 // 2
    for wrong, match in (("basket", "there is no 'basket'"), ("baskets", "there is no 'ham'")):
        result = CliRunner().invoke(cli.app, ["associations", "shop.txt", "--format", wrong, "--ignore", "ham"])
        assert result.exit_code == 2
        assert match in result.stderr


@pytest.mark.parametrize(
    ("items", "start", "message"),
    [
        ([0, 2, 1], [0, 3], "row 0 do not ascend"),
        ([0, 1, 2, 2], [0, 2, 4], "row 1 do not ascend"),
        ([0, 3], [0, 2], "from 0 to 2; got 0 to 3"),
        ([-1, 2], [0, 2], "got -1 to 2"),
        ([0, 1], [0, 3], "number of items, 2"),
        ([0, 1], [0, 2, 1, 2], "number of items, 2"),
        ([], [], "number of items, 0"),
    ],
)
def test_baskets_made_by_hand_are_checked(items, start, message):
    schema = bnn.Records.from_patterns([[0, 1, 1]]).schema
    with pytest.raises(DataError, match=message):
        Baskets(np.array(items, np.int32), np.array(start, np.int64), schema)
    with unchecked(), pytest.raises(DataError, match="int32"):
        Baskets(np.array([0]), np.array([0, 1]), schema)


def test_rows_of_baskets_may_be_empty_and_begin_with_less():
    schema = bnn.Records.from_patterns([[0, 1, 1]]).schema
    baskets = Baskets(np.array([1, 2, 0, 0, 2], np.int32), np.array([0, 0, 2, 3, 3, 5, 5]), schema)
    assert baskets.codes.tolist() == [[0, 0, 0], [0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0]]
