"""Kept counter-examples: what happens where a guarantee's hypothesis is missing, or the other function is looked at."""

import numpy as np
import oracles
import pytest
from cases import two_of_two

import bnn


def test_conditional_estimate_lets_similarity_fall_though_every_run_ends():
    patterns = bnn.Records.from_patterns([[0, 0, 0], [1, 1, 0], [0, 1, 0]])
    joint, conditional = (bnn.learn(patterns, estimate=estimate) for estimate in ("joint", "conditional"))
    weights = conditional.weights.tolist()
    # N(0) = 1, N(1) = 2, N(0,1) = 1 of 3: Q(0,1) = (1 / (1/3) + 2) / (2 + 2), Q(1,0) = (1 / (2/3) + 2) / (1 + 2)
    assert (weights[0][1], weights[1][0]) == pytest.approx((np.log2(5 / 4), np.log2(3.5 / 3)))
    cues = oracles.boltzmann(joint, 1.0)[0]
    trace = bnn.recall(conditional, cues, bnn.Asynchronous(order="fixed"), record="flips")
    assert set(trace.outcome) == {"settled"}
    assert not trace.descent.guaranteed
    assert not trace.descent.holds
    matrix = conditional.weights.numpy()
    similarity = [np.array([v @ matrix @ v for v in trace.replay(r).astype(float)]) for r in range(len(trace))]
    deepest = min(np.diff(values).min(initial=0.0) for values in similarity)
    assert deepest == pytest.approx(-2 * trace.descent.largest_rise)
    assert deepest == pytest.approx(-0.4557, abs=1e-4)
    assert bnn.recall(joint, cues, check="raise").descent.holds


def test_presynaptic_covariance_lets_the_energy_rise_though_every_run_ends():
    patterns = bnn.Records.from_patterns([[0, 0, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1], [1, 0, 1, 0]])
    network = bnn.learn(patterns, "presynaptic-covariance")
    # N(1) = 1, N(3) = 2, both 1 of 4: P(1 given 3) - P(1) and P(3 given 1) - P(3)
    assert (network.weights[1, 3].item(), network.weights[3, 1].item()) == pytest.approx((1 / 2 - 1 / 4, 1 - 1 / 2))
    cues = oracles.boltzmann(network, 1.0)[0]
    trace = bnn.recall(network, cues, bnn.Asynchronous(order="fixed"), check="raise")
    assert set(trace.outcome) == {"settled"}
    assert not trace.descent.guaranteed
    assert trace.descent.largest_rise == pytest.approx(1 / 24)
    covariance = bnn.learn(patterns, "covariance")
    assert bnn.recall(covariance, cues, check="raise").descent.holds


def test_presynaptic_covariance_lets_the_two_step_energy_rise():
    patterns = bnn.Records.from_patterns([[1, 1, 0], [0, 0, 0], [1, 1, 1]])
    cues = [[0, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 0, 0]]
    network = bnn.learn(patterns, "presynaptic-covariance")
    trace = bnn.recall(network, cues, bnn.KWinners(parallel=True), check="raise")
    assert trace.descent.largest_rise == pytest.approx(1 / 3)
    assert not trace.descent.guaranteed


def test_synchronous_updates_may_cycle_and_both_phases_are_kept():
    network = bnn.Network.of([[0, -1], [-1, 0]], low=-1)
    trace = bnn.recall(network, [[1, 1], [1, -1]], bnn.Synchronous(), check="raise")
    assert trace.outcome.tolist() == ["cycle", "settled"]
    assert sorted([trace.states[0].tolist(), trace.other_phase[0].tolist()]) == [[-1, -1], [1, 1]]
    assert trace.other_phase[1].tolist() == trace.states[1].tolist() == [1, -1]
    assert trace.lyapunov[0].tolist() == [2.0, -2.0, -2.0]  # the two-step energy: 2 E, then -s(t)' W s(t-1)
    assert trace.descent.guaranteed


def test_synchronous_updates_may_raise_the_energy_but_not_the_two_step_energy():
    network = bnn.Network.of([[0, -3], [-3, 0]], bias=[1, 1])
    trace = bnn.recall(network, [[0, 0]], bnn.Synchronous(), check="raise", max_sweeps=1)
    assert trace.energy.tolist() == [[0.0, 1.0]]  # both neurons turn on: 3 - 1 - 1
    assert trace.lyapunov.tolist() == [[0.0, -2.0]]
    assert trace.descent.holds


def test_a_negative_self_connection_raises_the_energy():
    network = bnn.Network.of([[-3]], bias=[1])
    trace = bnn.recall(network, [[0]], max_sweeps=3)  # on: h = 1, but E = 3/2 - 1; then off again, for ever
    assert trace.energy.tolist() == [[0.0, 0.5, 0.0, 0.5]]
    assert trace.outcome.tolist() == ["limit"]
    assert trace.descent.largest_rise == 0.5
    assert not trace.descent.guaranteed
    assert "self-connection of 'x0' is negative" in trace.descent.reason


def test_parallel_k_winners_may_raise_the_energy():
    network = bnn.Network.of([[0, 0, -1], [0, 0, 2], [-1, 2, 0]])
    trace = bnn.recall(network, [[1, 0, 1]], bnn.KWinners(parallel=True), check="raise")
    assert np.diff(trace.energy).max() == 1.0
    assert np.diff(trace.lyapunov).max() <= 0.0
    assert not bnn.recall(network, [[1, 0, 1]], bnn.KWinners(), check="raise").descent.largest_rise


def test_parallel_k_winners_may_cycle():
    network = bnn.Network.of([[0, -1, -1], [-1, 0, 1], [-1, 1, 0]])
    trace = bnn.recall(network, [[0, 0, 1]], bnn.KWinners(k=1, parallel=True), check="raise")
    assert trace.outcome.tolist() == ["cycle"]
    assert sorted([trace.states[0].tolist(), trace.other_phase[0].tolist()]) == [[0, 0, 1], [0, 1, 0]]


def test_parallel_winner_take_all_may_cycle():
    trace = bnn.recall(two_of_two(), [[1, 0, 1, 0]], bnn.WinnerTakeAll(parallel=True), check="raise")
    assert trace.outcome.tolist() == ["cycle"]
    assert sorted([trace.states[0].tolist(), trace.other_phase[0].tolist()]) == [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert bnn.recall(two_of_two(), [[1, 0, 1, 0]], bnn.WinnerTakeAll()).outcome.tolist() == ["settled"]


def test_a_swap_by_plain_fields_would_raise_the_energy():
    network = bnn.Network.of([[0, 3], [3, 0]], bias=[0, -2])
    trace = bnn.recall(network, [[1, 0]], bnn.KWinners(), check="raise")
    h = network.field([[1, 0]])[0].tolist()
    assert h[1] - h[0] == 1.0  # the neuron that is off has the larger field, but only while the other is on
    assert (network.energy([[0, 1]]) - network.energy([[1, 0]])).item() == 2.0
    assert trace.states.tolist() == [[1, 0]]


def test_filling_an_unknown_attribute_may_raise_the_energy_and_the_series_starts_after():
    network = bnn.Network.of(-np.ones((4, 4)) + np.eye(4), layout=two_of_two().layout)
    cue = [[1, 0, np.nan, np.nan]]
    trace = bnn.recall(network, cue, bnn.WinnerTakeAll(), check="raise")
    assert network.energy(cue).tolist() == [0.0]
    assert trace.energy[:, 0].tolist() == [1.0]  # whatever b says, it disagrees with a
