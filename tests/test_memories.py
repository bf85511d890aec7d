"""Memories of patterns: their energies, what they hold, what they are equal to, files, and what they refuse."""

import math
from dataclasses import replace
from fractions import Fraction

import cases
import numpy as np
import oracles
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file
from scipy.stats import chi2
from strategies import on_off_schema, pattern_records, patterns, unchecked

import bnn
from bnn import plots
from bnn.errors import BnnError, DataError, DescentError, FileError
from bnn.files import read_tensors, write_tensors
from bnn.interactions import LogSumExp, Polynomial
from bnn.kernels import overlaps
from bnn.kernels.threads import threads
from bnn.rules import base

RNG = np.random.default_rng(0)
PATTERNS = bnn.Records.from_patterns(RNG.integers(0, 2, (8, 30)))
CUES = bnn.corrupt(PATTERNS.codes, flip=0.2, seed=1)
TABLE = bnn.Records.from_table({"a": ["x", "y", "z", "x"], "b": [0, 1, 1, None], "c": ["p", "q", "p", "q"]})
MEMORIES = {
    "dense": bnn.learn(PATTERNS, "dense"),
    "modern": bnn.learn(PATTERNS, "modern", beta=0.2),
    "inexact": bnn.learn(PATTERNS, "dense", degree=20, rectified=True),
}
DISCRETE = [bnn.Asynchronous(), bnn.WinnerTakeAll(), bnn.KWinners(), bnn.Glauber(temperature=5.0)]


# --- Energies and fields ------------------------------------------------------------------------------------------


def test_energies_by_hand():
    records = bnn.Records.from_patterns([[1, 1, 0, 0], [1, 0, 1, 0]])
    cue = [[1, 1, 0, 1]]  # overlaps 2 and -2
    assert bnn.learn(records, "dense").overlaps(cue).tolist() == [[2.0, -2.0]]
    assert bnn.learn(records, "dense").energy(cue).item() == -(2**3) + 2**3
    assert bnn.learn(records, "dense", degree=2).energy(cue).item() == -(2**2) - 2**2
    assert bnn.learn(records, "dense", rectified=True).energy(cue).item() == -(2**3)
    assert bnn.learn(records, "dense", low=0).energy(cue).item() == -(2**3) - 1**3
    modern = bnn.learn(records, "modern", beta=0.5).energy(cue).item()
    # |V|^2/2 = |pattern|^2/2 = 2
    assert modern == pytest.approx(-2.0 * math.log(math.e**1 + math.e**-1) + 2.0 + 2.0 * math.log(2) + 2.0)


@pytest.mark.parametrize("case", cases.MEMORY_CASES, ids=lambda case: case.name)
@settings(max_examples=15)
@given(data=st.data())
def test_energy_and_field_are_their_definitions(case, data):
    """Also of unknown neurons, and the energy of fractions, which are expected states."""
    memory = case.network(data.draw(case.sources()))
    n, owner = memory.neurons, memory.layout.attribute
    on = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    unknown = np.isin(owner, data.draw(st.sets(st.integers(0, owner.max()))))
    row = oracles.row_of(memory, on & ~unknown, unknown, np.zeros(n, bool), np.zeros(n))
    cue = np.where(unknown, np.nan, on)
    exact = memory.grid is not None
    near = {"rel": 0.0 if exact else 1e-11, "abs": 0.0 if exact else 1e-11}
    assert memory.energy(cue).item() == pytest.approx(float(row.energy()), **near)
    fields = [float(h) / (1 - memory.low) for h in row.field()]
    assert np.allclose(memory.field(cue)[0], fields, rtol=near["rel"], atol=near["abs"])


def test_energy_of_fractions_is_that_of_expected_states():
    memory = MEMORIES["modern"]
    chance = np.random.default_rng(3).random(30)
    state = 2 * chance - 1
    signs = 2 * PATTERNS.codes.astype(float) - 1
    total = sum(math.exp(0.2 * float(pattern @ state)) for pattern in signs)
    expected = -math.log(total) / 0.2 + state @ state / 2 + math.log(8) / 0.2 + 30 / 2
    assert memory.energy(chance).item() == pytest.approx(expected)
    dense = bnn.learn(PATTERNS, "dense", degree=4)
    assert dense.energy(chance).item() == pytest.approx(-sum(float(pattern @ state) ** 4 for pattern in signs))


@given(table=pattern_records(gaps=True, max_neurons=8, max_rows=9), beta=st.sampled_from([1e-3, 0.1, 1.0, 30.0, 1e4]))
def test_the_modern_energy_is_never_negative(table, beta):
    memory = bnn.learn(table, "modern", beta=beta)
    states = np.random.default_rng(0).choice([0.0, 0.3, 0.5, 1.0], (50, memory.neurons))
    assert float(memory.energy(states).min()) >= -memory.tolerance()


def test_energies_are_exact_as_long_as_float64_can_hold_them():
    patterns = bnn.Records.from_patterns(np.random.default_rng(0).integers(0, 2, (16, 64)))  # W N^n = 2^(4 + 6 n)
    exact = bnn.learn(patterns, "dense", degree=7)
    assert exact.grid == 2.0**-5  # 2^(1 + 46 - 52): twice the largest energy has 53 digits
    assert exact.tolerance() == exact.tolerance(0.5) == 0.0
    assert exact.tolerance(2.0**41) > 0.0  # 64 neurons of such input need more digits
    assert bnn.learn(patterns, "dense", degree=8).grid is None
    assert bnn.learn(patterns, "modern").grid is None
    halves = bnn.Records(patterns.codes, patterns.schema, np.full(16, 0.5))
    assert bnn.learn(halves, "dense").grid is not None
    assert bnn.learn(replace(halves, weights=np.full(16, 1 / 3)), "dense").grid is not None  # rounded to 2^-20


@pytest.mark.parametrize("degree", [10, 20, 60])
def test_high_degrees_descend_within_their_stated_rounding(degree):
    memory = bnn.learn(PATTERNS, "dense", degree=degree)
    assert memory.grid is None
    for dynamics in DISCRETE[:3]:
        trace = bnn.recall(memory, CUES, dynamics, seed=0, check="raise")
        assert trace.descent.holds
        assert trace.descent.largest_rise == 0.0
        assert 0.0 <= trace.descent.mismatch <= trace.descent.tolerance < 1e-9 * 30.0**degree
        signs = 2 * PATTERNS.codes.astype(int) - 1
        whole = [[-sum(int(o) ** degree for o in signs @ v)] for v in trace.states]  # Python's whole numbers
        assert np.allclose(trace.energy[:, -1:], np.array(whole, float), rtol=1e-12)


# --- What they are equal to ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["random", "fixed"])
@given(data=st.data())
def test_degree_two_is_hopfields_network(order, data):
    """The same flips, and the same energies up to scale and the self-connections' constant."""
    stored = data.draw(pattern_records(max_neurons=8))
    n, number = len(stored.schema.names), stored.rows
    cues = data.draw(patterns(min_neurons=n, max_neurons=n))
    clamp = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    asked = {"seed": data.draw(st.integers(0, 99)), "record": "flips", "clamp": clamp}
    traces = [
        bnn.recall(bnn.learn(stored, rule, **options), cues, bnn.Asynchronous(order), **asked)
        for rule, options in (("dense", {"degree": 2}), ("hopfield", {}))
    ]
    dense, hopfield = traces
    for name in ("states", "flips", "sweeps", "outcome"):
        assert getattr(dense, name).tolist() == getattr(hopfield, name).tolist()
    assert dense.flip_log.neuron.tolist() == hopfield.flip_log.neuron.tolist()
    assert np.allclose(dense.energy, 2 * number * hopfield.energy - number * n, rtol=1e-4)  # 1/rows is rounded


@given(stored=pattern_records(max_neurons=7), degree=st.sampled_from([2, 3, 4, 5]), rectified=st.booleans())
def test_inverse_states(stored, degree, rectified):
    """Even powers give a state and its inverse one energy, odd ones opposite energies, rectified powers neither."""
    memory = bnn.learn(stored, "dense", degree=degree, rectified=rectified)
    states = np.array([[number >> j & 1 for j in range(memory.neurons)] for number in range(2**memory.neurons)])
    energy, inverse = memory.energy(states).numpy(), memory.energy(1 - states).numpy()
    if rectified:
        whole = bnn.learn(stored, "dense", degree=degree).energy(states).numpy()
        assert np.array_equal(whole, energy + (-1) ** degree * inverse)
    else:
        assert np.array_equal(energy, (-1) ** degree * inverse)


@given(stored=pattern_records(max_neurons=6))
def test_the_modern_network_at_beta_one_has_the_minima_of_the_exponential_memory(stored):
    """E of Demircigil et al. (2017), minus the sum of exp(m): a monotone function of the log-sum-exp."""
    memory = bnn.learn(stored, "modern", beta=1.0)
    states = np.array([[number >> j & 1 for j in range(memory.neurons)] for number in range(2**memory.neurons)])
    signs, spins = 2 * stored.codes.astype(int) - 1, 2 * states - 1
    exponential = [-math.fsum(math.exp(m) for m in overlap) for overlap in (spins @ signs.T).tolist()]
    assert np.allclose(
        np.exp(-memory.energy(states).numpy()) * stored.rows * math.e**memory.neurons, -np.array(exponential)
    )
    points = bnn.fixed_points(memory)

    def stays(number):
        near = [number ^ (1 << j) for j in range(memory.neurons)]
        return all(exponential[number] <= exponential[other] * (1 - 1e-12) for other in near)

    expected = [spins[number].tolist() for number in range(len(states)) if stays(number)]
    assert sorted(points.tolist()) == sorted(expected)


@given(table=pattern_records(gaps=True, max_rows=6), data=st.data())
def test_a_weight_of_two_is_a_record_given_twice(table, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=table.rows, max_size=table.rows)), float)
    weighted = replace(table, weights=weights)
    again = table[np.repeat(np.arange(table.rows), weights.astype(int))]
    for rule in ("dense", "modern"):
        if not weights.any():
            with pytest.raises(DataError, match=r"learn\.data: nothing was counted; give at least one record\."):
                bnn.learn(weighted, rule)
            continue
        one, other = bnn.learn(weighted, rule), bnn.learn(again, rule)
        states = np.random.default_rng(0).integers(0, 2, (20, one.neurons))
        assert np.allclose(one.energy(states), other.energy(states), rtol=1e-13, atol=1e-12)
        assert len(one) == np.count_nonzero(weights)
        assert one.provenance == other.provenance


def test_a_gap_adds_nothing_to_an_overlap():
    gap = np.where(np.arange(30) < 10, np.nan, PATTERNS.codes)
    for low in (-1, 0):
        whole = bnn.learn(bnn.Records.from_patterns(PATTERNS.codes[:, 10:]), "dense", low=low)
        part = bnn.learn(bnn.Records.from_patterns(gap), "dense", low=low)
        assert torch.equal(part.energy(CUES), whole.energy(CUES[:, 10:]))
        unknown_cue = np.where(np.arange(30) < 10, np.nan, CUES)
        full = bnn.learn(PATTERNS, "dense", low=low)
        assert torch.equal(full.energy(unknown_cue), whole.energy(CUES[:, 10:]))
    assert not part.field(CUES)[:, :10].any()


def test_an_overlap_of_a_table_in_states_0_and_1_counts_the_attributes_that_agree():
    memory = bnn.learn(TABLE, "dense", low=0)
    assert memory.layout.coding == "values"
    assert memory.overlaps(TABLE).tolist() == [[3, 0, 1, 1], [0, 3, 1, 1], [1, 1, 3, 0], [1, 1, 0, 2]]


# --- Recall -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamics", DISCRETE, ids=lambda dynamics: dynamics.name)
@pytest.mark.parametrize("name", MEMORIES)
def test_a_batch_is_its_rows_on_any_number_of_threads(name, dynamics):
    memory, cues = MEMORIES[name], np.tile(CUES, (9, 1))  # more rows than one thread takes
    unknown = np.random.default_rng(2).random(cues.shape) < 0.1
    if not isinstance(dynamics, bnn.KWinners):
        cues = np.where(unknown, np.nan, cues)
    asked = {"seed": 3, "max_sweeps": 6, "record": "flips", "clamp": np.arange(30) < 4}
    with threads(1):
        trace = bnn.recall(memory, cues, dynamics, **asked)
    with threads(2):
        other = bnn.recall(memory, cues, dynamics, **asked)
    for field in ("start", "states", "energy", "flips", "sweeps", "outcome"):
        assert np.array_equal(getattr(trace, field), getattr(other, field)), field
    assert np.array_equal(trace.flip_log.energy, other.flip_log.energy)
    for r in [0] if isinstance(dynamics, bnn.Glauber) else [0, 40, 71]:
        alone = bnn.recall(memory, cues[r], dynamics, **asked)
        assert np.array_equal(alone.states[0], trace.states[r])
        steps = alone.energy.shape[1]
        assert np.array_equal(alone.energy[0], trace.energy[r, :steps])
        assert (trace.energy[r, steps:] == alone.energy[0, -1]).all()
    assert (trace.states[:, :4] == trace.start[:, :4]).all()
    assert trace.flips.any()


def test_a_trace_of_a_memory_tells_all_that_a_networks_does():
    memory = MEMORIES["dense"]
    trace = bnn.recall(memory, CUES, seed=0, record=("flips", "states"), check="raise")
    assert trace.match(PATTERNS).word.tolist() == ["stored"] * 8
    assert trace.decode().to_pylist()[0] == bnn.Records(PATTERNS.codes[:1], PATTERNS.schema).to_table().to_pylist()[0]
    assert trace.energy[:, 0].tolist() == memory.energy(CUES).tolist()
    assert trace.energy[:, -1].tolist() == memory.energy(trace.final).tolist()
    for r in range(8):
        path = memory.energy(trace.replay(r)).tolist()
        assert path[1:] == trace.flip_log.energy[slice(*trace.flip_log.start[r : r + 2])].tolist()
        assert np.all(np.diff(path) < 0)
    assert np.isnan(trace.log_similarity).all()
    assert trace.lyapunov is trace.energy
    assert trace.to_frame()["outcome"].to_pylist() == ["settled"] * 8


@pytest.mark.parametrize("name", MEMORIES)
def test_input_counts_in_the_energy(name):
    memory = MEMORIES[name]
    given_input = np.random.default_rng(4).normal(size=(8, 30)) * float(memory.field(CUES).abs().mean())
    trace = bnn.recall(memory, CUES, input=given_input, seed=0, check="raise")
    rounded = given_input if memory.grid is None else np.rint(given_input / memory.grid) * memory.grid
    expected = memory.energy(trace.states).numpy() - (trace.states * rounded).sum(axis=1)
    assert np.allclose(trace.energy[:, -1], expected, rtol=1e-12)
    assert not np.array_equal(trace.states, bnn.recall(memory, CUES, seed=0).states)
    strong = 2.0 * float(memory.field(PATTERNS).abs().max())
    forced = bnn.recall(memory, CUES, input=-strong, seed=0, check="raise")
    assert (forced.states == -1).all()


@pytest.mark.parametrize("low", [0, -1])
@pytest.mark.parametrize("rule", ["dense", "modern"])
def test_glauber_samples_the_boltzmann_distribution(rule, low):
    stored = bnn.Records.from_patterns([[1, 1, 0], [0, 1, 1]])
    memory = bnn.learn(stored, rule, low=low, **({"degree": 2} if rule == "dense" else {}))
    temperature = 4.0 if rule == "dense" else 1.5
    trace = bnn.recall(memory, np.ones((2500, 3)), bnn.Glauber(temperature), seed=7, max_sweeps=12)
    states, probability = oracles.boltzmann(memory, temperature)
    drawn = np.bincount((trace.states == 1) @ (2 ** np.arange(3)[::-1]), minlength=len(states))
    expected = probability * 2500
    assert expected.min() > 5
    assert chi2.sf(((drawn - expected) ** 2 / expected).sum(), len(states) - 1) > 1e-3


def test_a_table_row_is_filled_in_by_winners():
    zoo = bnn.datasets.load("zoo")
    cue = bnn.corrupt(zoo[[3]], mask=0.5, seed=0)
    for rule, options in (("dense", {"low": 0}), ("modern", {"beta": 0.5})):
        trace = bnn.recall(bnn.learn(zoo, rule, **options), cue, bnn.WinnerTakeAll(), clamp="known", check="raise")
        assert trace.decode().select(["milk", "legs", "class"]).to_pylist() == [
            {"milk": 1, "legs": 4, "class": "mammal"}
        ]


def test_a_clamped_unknown_is_silent():
    for memory in MEMORIES.values():
        cue = np.where(np.arange(30) < 10, np.nan, CUES)
        trace = bnn.recall(memory, cue, clamp=np.arange(30) < 10, seed=0, check="raise")
        assert not trace.states[:, :10].any()
        assert trace.silent[:, :10].all()
        assert np.allclose(trace.energy[:, -1], memory.energy(trace.final), rtol=1e-12)


# --- Capacity -----------------------------------------------------------------------------------------------------


def recalled(rule, number, neurons, flip, dynamics, **options):
    """Share of random patterns, of the first hundred, recalled without an error."""
    rng = np.random.default_rng(number)
    stored = bnn.Records.from_patterns(rng.integers(0, 2, (number, neurons)))
    cues = bnn.corrupt(stored[:100], flip=flip, seed=rng)
    trace = bnn.recall(bnn.learn(stored, rule, **options), cues, dynamics, seed=0, max_sweeps=10, check="raise")
    return float(((trace.discrete == 1) == (stored.codes[:100] == 1)).all(axis=1).mean())


def test_degree_three_holds_far_more_than_pairs_can():
    """100 neurons: pairs hold 0.14 N = 14; N^2/(2 (2n - 3)!! ln N) = 362 by [Krotov, Hopfield 2016], n = 3."""
    assert recalled("hopfield", 100, 100, 0.0, bnn.Asynchronous()) == 0.0
    assert recalled("dense", 100, 100, 0.1, bnn.Asynchronous(), degree=2) == 0.0
    assert recalled("dense", 100, 100, 0.1, bnn.Asynchronous()) == 1.0
    assert recalled("dense", 250, 100, 0.0, bnn.Asynchronous()) > 0.9
    assert recalled("dense", 2500, 100, 0.0, bnn.Asynchronous()) == 0.0


def test_the_modern_network_holds_many_more_patterns_than_neurons():
    assert recalled("modern", 2000, 50, 0.1, bnn.Asynchronous(), beta=1.0) > 0.95
    assert recalled("modern", 2000, 50, 0.1, bnn.Attention(), beta=1.0) > 0.95


# --- A verdict that can fail --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEMORIES)
@pytest.mark.parametrize("dynamics", DISCRETE[:3], ids=lambda dynamics: dynamics.name)
def test_patterns_changed_while_recall_runs_are_found_out(name, dynamics):
    memory = replace(MEMORIES[name], patterns=MEMORIES[name].patterns.clone())
    cues = np.random.default_rng(5).integers(0, 2, (6, 30))

    def disturb(*_):
        memory.patterns[:, 3] *= -1

    with pytest.raises(DescentError, match=r"the network was changed while it ran, or the machine erred\."):
        bnn.recall(memory, cues, dynamics, seed=0, check="raise", progress=disturb, max_sweeps=1)


@pytest.mark.parametrize("wrong", ["energy", *range(8)])
def test_a_loop_that_errs_by_the_least_is_found_out(monkeypatch, wrong):
    memory, right = MEMORIES["dense"], overlaps.threshold_sweep

    def err(*arguments):
        right(*arguments)
        if wrong == "energy":
            arguments[-2][0][0] -= memory.grid
        else:
            arguments[1][1][0, wrong] += 1

    monkeypatch.setattr(overlaps, "threshold_sweep", err)
    trace = bnn.recall(memory, CUES[:1], max_sweeps=1, seed=0)
    assert trace.descent.mismatch >= memory.grid
    assert not trace.descent.holds


# --- Learning, files, and what is refused -------------------------------------------------------------------------


def test_what_a_memory_says_of_itself():
    memory = bnn.learn(PATTERNS, "dense", degree=np.int64(5))
    assert repr(memory) == "PatternMemory(8 patterns, 30 neurons, dense, degree=5, rectified=False)"
    assert memory.provenance == {"rule": "dense", "degree": 5, "rectified": False, "low": -1, "records": 8.0}
    assert (len(memory), memory.neurons, memory.parameters, memory.unit) == (8, 30, 240, "overlap⁵")
    assert repr(MEMORIES["modern"]) == "PatternMemory(8 patterns, 30 neurons, modern, beta=0.2)"
    assert MEMORIES["modern"].unit == "overlap"
    assert memory.decode(memory.encode(PATTERNS)).to_pydict() == PATTERNS.to_table().to_pydict()
    network = bnn.learn(PATTERNS, "hopfield")
    assert network.parameters == 30 * 29 // 2
    assert bnn.learn(PATTERNS, "probability", estimate="conditional").parameters == 30 * 29


@pytest.mark.parametrize("case", cases.MEMORY_CASES, ids=lambda case: case.name)
@settings(max_examples=4)
@given(data=st.data())
def test_a_saved_memory_comes_back_bit_for_bit(case, data, tmp_path_factory):
    memory = case.network(data.draw(case.sources()))
    path = tmp_path_factory.mktemp("memory") / "memory.safetensors"
    memory.save(path)
    back = bnn.PatternMemory.load(path)
    assert torch.equal(back.patterns, memory.patterns)
    assert torch.equal(back.weight, memory.weight)
    for name in ("interaction", "layout", "low", "grid", "offset", "provenance"):
        assert getattr(back, name) == getattr(memory, name), name
    cues = np.ones((2, memory.neurons))
    assert bnn.recall(back, cues, seed=1).energy.tolist() == bnn.recall(memory, cues, seed=1).energy.tolist()


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "memory.safetensors"
    bnn.learn(PATTERNS, "odds").save(path)
    with pytest.raises(FileError, match=r"holds network, not patterns; load it as what it is\."):
        bnn.PatternMemory.load(path)
    MEMORIES["modern"].save(path)
    with pytest.raises(FileError, match=r"holds patterns, not network; load it as what it is\."):
        bnn.Network.load(path)
    save_file({"patterns": np.zeros((1, 2), np.int8)}, path)
    with pytest.raises(FileError, match=r"is a safetensors file of another program, not patterns written by bnn\."):
        bnn.PatternMemory.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.update(low=3),
        lambda header: header.update(interaction="cubic"),
        lambda header: header["options"].update(beta=-1.0),
        lambda header: header["options"].update(degree=3),
        lambda header: header.pop("schema"),
        lambda header: header.update(coding="neither"),
    ],
)
def test_damaged_headers(tmp_path, change):
    path = tmp_path / "memory.safetensors"
    MEMORIES["modern"].save(path)
    arrays, header = read_tensors(path, "patterns")
    change(header)
    write_tensors(path, arrays, header, kind="patterns")
    with pytest.raises(FileError, match=r"memory\.safetensors: is damaged: "):
        bnn.PatternMemory.load(path)


@pytest.mark.parametrize(
    ("rule", "options", "sentence"),
    [
        ("dense", {"degree": 1}, r"Polynomial\.degree: got 1; give a whole number of at least 2\."),
        ("dense", {"degree": 2.5}, r"Polynomial\.degree: got 2\.5; give a whole number"),
        ("dense", {"degree": True}, r"Polynomial\.degree: got True; give a whole number"),
        ("dense", {"degree": 250}, r"Polynomial\.degree: got 250, and energies of 30 neurons overflow; use a lower"),
        ("dense", {"rectified": 1}, r"Polynomial\.rectified: got 1; give True or False\."),
        ("dense", {"low": 1}, r"PatternMemory\.low: got 1; the off state is 0 or -1\."),
        (
            "dense",
            {"beta": 1.0},
            r"learn\('dense'\)\.option: there is no 'beta'; .*Known: 'degree', 'low', 'rectified'",
        ),
        ("modern", {"beta": 0.0}, r"LogSumExp\.beta: got 0\.0; give a number from 1e-6 to 1e6\."),
        ("modern", {"beta": math.inf}, r"LogSumExp\.beta: got inf"),
        ("modern", {"beta": "1"}, r"LogSumExp\.beta: got '1'"),
        (
            "modern",
            {"within": True},
            r"learn\.within: the rule 'modern' keeps patterns and has no weights; leave it out",
        ),
        (
            "dense",
            {"mask": np.ones((30, 30), bool)},
            r"learn\.mask: the rule 'dense' keeps patterns and has no weights",
        ),
        ("dense", {"self_connections": True}, r"learn\.self_connections: the rule 'dense' has none; leave them off\."),
        ("dense", {"dtype": torch.float32}, r"learn\.dtype: the rule 'dense' keeps patterns and has no weights; leave"),
    ],
)
def test_options_that_cannot_be(rule, options, sentence):
    with unchecked(), pytest.raises(DataError, match=sentence):
        bnn.learn(PATTERNS, rule, **options)


def test_counts_do_not_keep_patterns():
    with pytest.raises(DataError, match=r"learn\.data: the rule 'dense' is fitted from the patterns themselves"):
        bnn.learn(bnn.Counts.of(PATTERNS), "dense")


def test_nothing_to_store():
    empty = bnn.Records(np.empty((0, 2), int), on_off_schema(2))
    with pytest.raises(DataError, match=r"learn\.data: nothing was counted; give at least one record\."):
        bnn.learn(empty, "modern")
    with pytest.raises(DataError, match=r"learn\.data: no attribute has a value; give at least one known cell\."):
        bnn.learn(bnn.Records.from_table({"a": [None, None]}), "dense")


def test_a_rule_of_ones_own_returns_a_memory():
    def nearest(records, layout, *, low=-1):
        return bnn.PatternMemory.of(records, layout, LogSumExp(50.0), low)

    mine = base.Rule("nearest", nearest, "", "on", False, source="patterns", pairwise=False)
    trace = bnn.recall(bnn.learn(PATTERNS, mine), CUES, seed=0)
    assert trace.match(PATTERNS).word.tolist() == ["stored"] * 8
    wrong = replace(mine, function=lambda *_: None)
    with pytest.raises(
        DataError, match=r"learn: the rule 'nearest' returned NoneType; .* returns a bnn\.PatternMemory"
    ):
        bnn.learn(PATTERNS, wrong)


@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        (
            "patterns",
            torch.zeros((2, 3), dtype=torch.int8),
            r"PatternMemory\.patterns: got torch\.int8 of shape \(2, 3\);",
        ),
        (
            "patterns",
            torch.zeros((0, 30), dtype=torch.int8),
            r"got torch\.int8 of shape \(0, 30\); give .*of 30 neurons\.",
        ),
        ("patterns", torch.zeros((8, 30)), r"PatternMemory\.patterns: got torch\.float32"),
        ("patterns", torch.full((8, 30), 2, dtype=torch.int8), r"PatternMemory\.patterns: states are 1, -1 and, where"),
        (
            "weight",
            torch.zeros(8, dtype=torch.float64),
            r"PatternMemory\.weight: give 8 numbers above 0, float64, one a",
        ),
        ("weight", torch.ones(7, dtype=torch.float64), r"PatternMemory\.weight: give 8 numbers above 0"),
        ("weight", torch.ones(8), r"PatternMemory\.weight: give 8 numbers above 0, float64"),
        ("low", 1, r"PatternMemory\.low: got 1; the off state is 0 or -1\."),
    ],
)
def test_memories_that_cannot_be(part, value, sentence):
    with unchecked(), pytest.raises(DataError, match=sentence):
        replace(MEMORIES["dense"], **{part: value})


@pytest.mark.parametrize(
    ("dynamics", "name"),
    [
        (bnn.Synchronous(), r"Synchronous: Synchronous\(\)"),
        (bnn.WinnerTakeAll(parallel=True), r"WinnerTakeAll: WinnerTakeAll\(parallel=True, order='random'\)"),
        (bnn.KWinners(parallel=True), r"KWinners: KWinners\(k=None, parallel=True, order='random'\)"),
        (bnn.GradientFlow(), r"GradientFlow: GradientFlow\(gain=1\.0, .*\)"),
    ],
)
def test_dynamics_of_weights_refuse_patterns(dynamics, name):
    sentence = rf"{name} works by weights, and this memory keeps patterns; use Asynchronous\(\), WinnerTakeAll\(\), "
    with pytest.raises(DataError, match=sentence):
        bnn.recall(MEMORIES["dense"], CUES, dynamics)
    assert dynamics.refusal(bnn.learn(PATTERNS, "hopfield")) is None


def test_recall_refuses_what_it_cannot_do_for_patterns():
    memory = MEMORIES["modern"]
    for options, sentence in (
        (
            {"backend": "torch"},
            r"recall\.backend: patterns are recalled by compiled loops, on the CPU, .*Attention, which",
        ),
        ({"input": "prior"}, r'recall\.input: "prior" needs a network that knows its priors in bits; learn'),
        ({"dynamics": bnn.KWinners(31)}, r"KWinners: k = 31 exceeds the 30 neurons; use fewer winners\."),
    ):
        with pytest.raises(DataError, match=sentence):
            bnn.recall(memory, CUES, **options)
    with pytest.raises(
        DataError, match=r"recall\.cues: there are fractions, and neurons of Asynchronous are on or off"
    ):
        bnn.recall(memory, np.full(30, 0.5))
    assert memory.to(device="cpu") is memory
    with pytest.raises(BnnError, match=r"PatternMemory\.to\.device: 'nowhere' cannot be used here \(.*\); try 'cpu'\."):
        memory.to(device="nowhere")


def test_interactions_know_their_parameters():
    assert Polynomial().unit == "overlap³"
    assert Polynomial(12).unit == "overlap¹²"
    assert Polynomial(3, True).table(2).tolist() == [0.0, 0.0, 0.0, 1.0, 8.0]
    assert LogSumExp(2).table(1).tolist() == pytest.approx([1.0, math.exp(-2), math.exp(-4)])
    assert Fraction(float(Polynomial(9).power(torch.tensor([7.0], dtype=torch.float64)))) == 7**9


# --- Pictures -----------------------------------------------------------------------------------------------------


def test_pictures_of_memories_name_their_own_units_and_clocks():
    dense = bnn.recall(MEMORIES["dense"], CUES, seed=0, record="flips")
    assert plots.energy(dense).axes[0].get_ylabel() == "energy (overlap³)"
    assert plots.recall(dense, PATTERNS).axes[0].get_yticklabels()[0].get_text() == "cue"
    assert plots.replay(dense, 0).axes[1].get_ylabel() == "energy (overlap³)"
    assert (
        plots.comparison({"dense": dense}, PATTERNS).axes[0].get_title(loc="left") == "dense: 8 of 8 recalled exactly"
    )
    graded = bnn.recall(MEMORIES["modern"], CUES, bnn.Attention(), record="states")
    axes = plots.energy(graded).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("update", "energy (overlap)")
    assert plots.trajectories(graded, 0).axes[0].get_xlabel() == "update"
    pictures = bnn.Records.from_patterns(PATTERNS.codes.reshape(8, 5, 6))
    seen = bnn.recall(bnn.learn(pictures, "modern", beta=0.2), CUES, bnn.Attention(), record="states")
    labels = [label.get_text() for label in plots.replay(seen, 0).axes[0].get_xticklabels()]
    assert labels[:2] == ["start", "1 update"]


def test_pictures_that_need_weights_a_similarity_or_a_free_energy_say_so():
    memory = MEMORIES["modern"]
    graded = bnn.recall(memory, CUES, bnn.Attention(), record="states")
    with unchecked():
        for owner, draw in (
            ("plots.weights", lambda: plots.weights(memory)),
            ("plots.graph", lambda: plots.graph(memory)),
            ("bifurcation", lambda: bnn.bifurcation(memory, [1.0, 2.0])),
            ("plots.phase_portrait", lambda: plots.phase_portrait(memory)),
        ):
            with pytest.raises(DataError, match=rf"{owner}\.network: got PatternMemory; give a Network, "):
                draw()
    with pytest.raises(
        DataError, match=r"plots\.similarity\.trace: a memory of patterns has an energy and no similarity;"
    ):
        plots.similarity(graded)
    with pytest.raises(
        DataError, match=r"plots\.free_energy\.trace: 'attention' has no free energy; draw plots\.energy"
    ):
        plots.free_energy(graded)
