"""The graded update of the modern Hopfield network: its states, its energy, where it rests, and what it refuses."""

import cases
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax
from strategies import pattern_records, unchecked

import bnn
from bnn.errors import DataError, DescentError
from bnn.memories import PatternMemory

RNG = np.random.default_rng(0)
PATTERNS = bnn.Records.from_patterns(RNG.integers(0, 2, (12, 40)))
CUES = bnn.corrupt(PATTERNS.codes, flip=0.2, seed=1)
MODERN = [case for case in cases.MEMORY_CASES if case.rule == "modern"]


def plain_updates(memory, states, free, settle, most):
    """States and energies of one row, update by update, by the formulas of Ramsauer et al. (2021)."""
    X, beta = memory.patterns.double().numpy().T, memory.interaction.beta
    weights = memory.weight.numpy()
    path, energies = [states], []
    for _ in range(most + 1):
        overlaps = X.T @ path[-1]
        lse = logsumexp(beta * overlaps, b=weights) / beta
        norm = max(float(x @ x) for x in X.T)
        energies.append(-lse + path[-1] @ path[-1] / 2 + np.log(weights.sum()) / beta + norm / 2)
        if len(path) > 1 and np.abs(path[-1] - path[-2]).max() <= settle:
            break
        path.append(np.where(free, X @ softmax(beta * overlaps + np.log(weights)), path[-1]))
    return path[: len(energies)], energies


@pytest.mark.parametrize("case", MODERN, ids=lambda case: case.name)
@settings(max_examples=25)
@given(data=st.data())
def test_every_update_is_its_formula_and_descends(case, data):
    memory = case.network(data.draw(case.sources()))
    n, owner, low = memory.neurons, memory.layout.attribute, memory.low
    chance = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n, max_size=n)))
    unknown = np.isin(owner, data.draw(st.sets(st.integers(0, owner.max()))))
    held = np.isin(owner, data.draw(st.sets(st.integers(0, owner.max()))))
    asked = {"clamp": held, "max_sweeps": 20, "record": "states", "check": "raise"}
    trace = bnn.recall(memory, np.where(unknown, np.nan, chance), bnn.Attention(), **asked)
    start = np.where(unknown, 0.0, low + (1 - low) * chance)
    path, energies = plain_updates(memory, start, ~held, 1e-6, 20)
    steps = len(energies)
    assert np.allclose(trace.history[0][:steps], path, atol=1e-9)
    assert np.allclose(trace.energy[0][:steps], energies, atol=1e-9)
    assert trace.times[0].tolist() == list(range(trace.energy.shape[1]))
    assert trace.descent.holds
    assert trace.descent.guaranteed
    assert trace.descent.largest_rise <= trace.descent.tolerance
    assert (trace.states[0][held] == start[held]).all()


def test_rows_settle_each_by_its_own_clock_and_a_batch_is_its_rows():
    memory = bnn.learn(PATTERNS, "modern", beta=0.12)
    trace = bnn.recall(memory, CUES, bnn.Attention(), check="raise")
    assert set(trace.outcome) == {"settled"}
    updates = trace.times[:, -1]
    assert updates.min() < updates.max()
    assert (np.diff(trace.energy, axis=1) <= trace.descent.tolerance).all()
    for r in range(len(trace)):
        alone = bnn.recall(memory, CUES[r], bnn.Attention())
        assert np.allclose(alone.states[0], trace.states[r], atol=1e-12)
        assert alone.times[0, -1] == updates[r]
    stopped = bnn.recall(memory, CUES, bnn.Attention(), max_sweeps=1)
    assert set(stopped.outcome) == {"limit"}
    assert stopped.energy.shape == (12, 2)


def test_where_it_rests_is_a_fixed_point_of_the_update():
    memory = bnn.learn(PATTERNS, "modern", beta=0.12)
    trace = bnn.recall(memory, CUES, bnn.Attention(settle=1e-12), check="raise")
    again = bnn.recall(memory, trace.final, bnn.Attention(settle=1e-12), max_sweeps=1)
    assert np.allclose(again.states, trace.states, atol=1e-6)  # the cue's float32
    assert not trace.flips[trace.sweeps == 0].any()


@pytest.mark.parametrize("beta", [8.0, 1e3, 1e6])
def test_at_a_large_beta_one_update_gives_the_nearest_pattern(beta):
    memory = bnn.learn(PATTERNS, "modern", beta=beta)
    cues = np.random.default_rng(5).integers(0, 2, (50, 40))
    overlaps = memory.overlaps(cues).numpy()
    first = np.sort(overlaps, axis=1)
    alone = first[:, -1] > first[:, -2]  # of two as near the update gives the mean
    assert alone.sum() > 20
    trace = bnn.recall(memory, cues, bnn.Attention(), max_sweeps=1, check="raise")
    nearest = 2 * PATTERNS.codes[overlaps.argmax(axis=1)] - 1
    assert np.array_equal(trace.discrete[alone], nearest[alone])
    assert np.allclose(trace.states[alone], nearest[alone], atol=1e-5)
    # as asynchronous recall does from the same cues in the end, or another minimum nearer by single flips
    slow = bnn.recall(memory, PATTERNS, seed=0, check="raise")
    assert np.array_equal(slow.states, 2 * PATTERNS.codes - 1)


def test_at_a_small_beta_everything_blends_into_the_mean():
    memory = bnn.learn(PATTERNS, "modern", beta=1e-6)
    trace = bnn.recall(memory, CUES, bnn.Attention(), check="raise")
    assert np.allclose(trace.states, 2 * PATTERNS.codes.mean(axis=0) - 1, atol=1e-3)


@given(stored=pattern_records(gaps=True, max_neurons=8), beta=st.sampled_from([0.1, 1.0]))
def test_both_dynamics_know_one_energy(stored, beta):
    memory = bnn.learn(stored, "modern", beta=beta)
    states = np.random.default_rng(0).integers(0, 2, (10, memory.neurons))
    graded, discrete = (bnn.recall(memory, states, d, seed=0) for d in (bnn.Attention(), bnn.Asynchronous()))
    assert np.allclose(graded.energy[:, 0], discrete.energy[:, 0], atol=1e-9)


def test_unknown_attributes_of_a_table_are_answered_by_the_likeliest_value():
    zoo = bnn.datasets.load("zoo")
    cue = bnn.corrupt(zoo[[3]], mask=0.5, seed=0)
    for low in (-1, 0):
        memory = bnn.learn(zoo, "modern", beta=0.5, low=low)
        trace = bnn.recall(memory, cue, bnn.Attention(), clamp="known", check="raise")
        told = trace.decode().select(["milk", "legs", "class"]).to_pylist()
        assert told == [{"milk": 1, "legs": 4, "class": "mammal"}]
        layout = memory.layout
        on = np.add.reduceat(trace.discrete[0] == 1, layout.start[:-1])
        assert (on[~layout.single] == 1).all()


def test_a_wrong_update_is_found_out(monkeypatch):
    memory = bnn.learn(PATTERNS, "modern", beta=0.12)
    right = PatternMemory.energy_of
    monkeypatch.setattr(PatternMemory, "energy_of", lambda *given: right(*given) + 1e-9)
    with pytest.raises(DescentError, match=r"recall: the independent checks of fields and energy differ by 1e-09"):
        bnn.recall(memory, CUES, bnn.Attention(), check="raise")
    monkeypatch.undo()
    memory = bnn.learn(PATTERNS, "modern", beta=2.0)
    wrong = bnn.recall(memory, CUES, Upwards(), max_sweeps=1)
    assert wrong.descent.largest_rise > 1.0
    assert not wrong.descent.holds
    with pytest.raises(DescentError, match=r"recall: the energy rose by .* more than the error of its step, although"):
        bnn.recall(memory, CUES, Upwards(), max_sweeps=1, check="raise")


class Upwards(bnn.Attention):
    """Away from the patterns."""

    __slots__ = ()

    def sweep(self, work, number):
        work.share *= -1.0
        bnn.Attention.sweep(self, work, number)


def test_networks_of_weights_and_polynomials_are_refused():
    sentence = r"Attention: Attention\(settle=1e-06\) works by patterns, and this memory keeps weights; learn patterns "
    with pytest.raises(DataError, match=sentence):
        bnn.recall(bnn.learn(PATTERNS, "hopfield"), CUES, bnn.Attention())
    with pytest.raises(
        DataError, match=r'Attention: its update lowers the energy of the rule "modern", not of a polyn'
    ):
        bnn.recall(bnn.learn(PATTERNS, "dense"), CUES, bnn.Attention())


def test_arguments_that_cannot_be():
    memory = bnn.learn(PATTERNS, "modern")
    for options, sentence in (
        (
            {"input": 0.5},
            r"recall\.input: the states of Attention are means of patterns, and input would move them out",
        ),
        ({"record": "flips"}, r'recall\.record: graded neurons have no single flips; record="states" keeps their path'),
        ({"backend": "compiled"}, r"recall\.backend: graded neurons have no compiled twin"),
    ):
        with pytest.raises(DataError, match=sentence):
            bnn.recall(memory, CUES, bnn.Attention(), **options)
    for settle in (-1.0, 2.0, float("nan"), "0", True):
        with unchecked(), pytest.raises(DataError, match=r"Attention\.settle: got .*; give a number from 0 to 1\."):
            bnn.Attention(settle)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_device_comes_to_the_same_states():
    memory = bnn.learn(PATTERNS, "modern", beta=0.12)
    here, there = (bnn.recall(m, CUES, bnn.Attention(), check="raise") for m in (memory, memory.to(device="cuda")))
    np.testing.assert_allclose(there.states, here.states, atol=1e-9)
    np.testing.assert_allclose(there.energy, here.energy, atol=1e-9)
    with pytest.raises(
        DataError, match=r"recall\.backend: patterns are recalled by compiled loops, on the CPU, and this"
    ):
        bnn.recall(memory.to(device="cuda"), CUES)
