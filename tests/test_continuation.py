from math import log

import numpy as np
import pytest
import torch

import bnn
from bnn.continuation import margin_of, steepest_of
from bnn.errors import DataError

LN2 = log(2.0)
W = 2.0
PAIR = bnn.Network.of([[0, W], [W, 0]], bias=[-W / 2, -W / 2])
CRITICAL = 4 / (LN2 * W)  # gain ln2 w/4 = 1
TABLE = bnn.Records.from_table({"milk": ["yes", "yes", "no", "no"], "legs": [4, 2, 2, 6], "kind": ["a", "a", "b", "c"]})


def logistic(x):
    return 1 / (1 + 2.0**-x)


def roots(slope, bias, gain):
    """Where x = g(gain (slope x + bias)) on [0, 1], and whether the left side then grows faster (stable)."""
    x = np.linspace(0, 1, 400_001)
    above = logistic(gain * (slope * x + bias)) - x
    crossing = np.flatnonzero(np.diff(np.sign(above)) != 0)
    return [(x[i], above[i + 1] < above[i]) for i in crossing]


def test_two_neurons_part_in_a_pitchfork_at_the_exact_gain():
    found = bnn.bifurcation(PAIR, CRITICAL * np.array([0.5, 0.9, 0.99, 1.01, 1.1, 4.0]))
    for k, gain in enumerate(found.gains):
        states, margin = found.states[found.of(k)], found.margin[found.of(k)]
        if gain < CRITICAL:
            np.testing.assert_allclose(states, [[0.5, 0.5]], atol=1e-6)
            np.testing.assert_allclose(margin, 1 - gain / CRITICAL, rtol=1e-6)
            assert found.lead[k] == found.of(k).start
        else:
            x = states[:, 0]
            np.testing.assert_allclose(states[:, 1], x, atol=1e-6)
            np.testing.assert_allclose(x, logistic(gain * (W * x - W / 2)), atol=1e-7)
            np.testing.assert_allclose(x, 1 - x[::-1], atol=1e-5)
            np.testing.assert_allclose(margin, 1 - gain * LN2 * W * x * (1 - x), atol=1e-5)
            assert len(x) == 2
            assert found.lead[k] == -1  # the blurred state is now a saddle


def test_hopfields_graded_neurons_part_at_half_that_gain():
    pair = bnn.Network.of([[0, W], [W, 0]], low=-1)
    found = bnn.bifurcation(pair, [0.49 * CRITICAL, 0.51 * CRITICAL])
    assert found.at.tolist() == [0, 1, 1]
    np.testing.assert_allclose(found.states[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(found.states[1], -found.states[2], atol=1e-6)
    np.testing.assert_allclose(found.margin[0], 0.02, rtol=1e-5)


def test_every_stable_state_of_two_neurons_is_found_from_above_and_below():
    # A saddle and a state meet at a gain between these; the start leads to the lower state only at high gains, where
    # the saddle lies right of it
    lopsided = bnn.Network.of([[0, 2], [2, 0]], bias=[-0.9, -0.9])
    found = bnn.bifurcation(lopsided, np.geomspace(2, 40, 25), [0.4, 0.4])
    number = []
    for k, gain in enumerate(found.gains):
        stable = sorted(x for x, falls in roots(2, -0.9, gain) if falls)
        np.testing.assert_allclose(np.sort(found.states[found.of(k), 0]), stable, atol=1e-5)
        number.append(len(stable))
    assert {1, 2} == set(number)
    assert any(
        n == 2 and found.states[lead[0], 0] > 0.5 for n, lead in zip(number, found.lead, strict=True)
    )  # found from its neighbour alone


@pytest.mark.parametrize(
    "network",
    [
        bnn.Network.of([[0, 1, -2], [1, 1, 0.5], [-2, 0.5, 0]], bias=[0.3, -1, 0.2]),
        bnn.Network.of([[0, 1, -2], [1, 0, 0.5], [-2, 0.5, 0]], bias=[0.3, -1, 0.2], low=-1),
        bnn.learn(TABLE, "probability"),
    ],
    ids=["logistic", "tanh", "softmax"],
)
def test_margin_is_the_slowest_rate_of_the_flow(network):
    gain = 0.8
    found = bnn.bifurcation(network, [gain])
    assert len(found) == 1
    states = torch.tensor(found.states)
    dynamics = bnn.GradientFlow(gain=gain)
    activation = dynamics.activation_of(network)

    def velocity(levels):
        return (
            activation.states(levels, torch.tensor([[gain]], dtype=torch.float64)) @ network.weights
            + network.bias
            - levels
        )

    levels = states @ network.weights + network.bias
    nudged = levels + 1e-6 * torch.eye(network.neurons, dtype=torch.float64)
    jacobian = ((velocity(nudged) - velocity(levels)) / 1e-6).numpy().T
    rates = np.linalg.eigvals(jacobian)
    assert found.margin[0] == pytest.approx(-rates.real.max(), abs=1e-5)
    margin, steepest = (f(network, dynamics, found.states[0]) for f in (margin_of, steepest_of))
    assert margin == found.margin[0]
    # in V the slowest disturbance is carried on by V -> g(gain (W V + b)), shrunk by 1 - margin
    nudged = states + 1e-6 * torch.tensor(steepest)
    answers = [
        activation.states(value @ network.weights + network.bias, torch.tensor([[gain]], dtype=torch.float64))
        for value in (states, nudged)
    ]
    np.testing.assert_allclose(((answers[1] - answers[0]) / 1e-6)[0], (1 - margin) * steepest, atol=1e-5)


def test_memories_are_reached_at_high_gain_and_one_blurred_state_at_low():
    patterns = bnn.Records.from_patterns(np.random.default_rng(0).random((3, 40)) < 0.5)
    network = bnn.learn(patterns, "odds")
    found = bnn.bifurcation(network, np.geomspace(0.01, 4.0, 9), patterns)
    assert found.of(0) == slice(0, 1)
    last = found.lead[-1, :3]
    np.testing.assert_array_equal(found.states[last].round(), patterns.codes)
    assert (found.margin > 0).all()
    for k in range(len(found.gains)):
        assert (np.diff(found.free_energy[found.of(k)]) >= 0).all()
        assert (found.at[found.lead[k][found.lead[k] >= 0]] == k).all()
        recalled = bnn.recall(network, patterns, bnn.GradientFlow(gain=found.gains[k], solver="descent", settle=1e-8))
        np.testing.assert_allclose(found.states[found.lead[k, :3]], recalled.states, atol=2e-3)
        np.testing.assert_allclose(found.free_energy[found.lead[k, :3]], recalled.lyapunov[:, -1], atol=1e-4)


def test_certain_neurons_do_not_move():
    found = bnn.bifurcation(bnn.Network.of(np.zeros((2, 2)), bias=[500.0, -500.0]), [1.0])
    assert found.margin.tolist() == [1.0]


def test_starts_may_be_unknown_input_is_added_and_gains_are_sorted():
    found = bnn.bifurcation(PAIR, [5.0, 4.0, 5.0], [[np.nan, np.nan], [1, 1]], input=0.5, activation="logistic")
    assert found.gains.tolist() == [4.0, 5.0]
    x = found.states[found.lead[0, 1], 0]
    assert x == pytest.approx(logistic(4.0 * (W * x - W / 2 + 0.5)))
    assert found.lead.shape == (2, 3)


def test_float32_networks_are_followed_in_float64():
    single = bnn.Network.of([[0, W], [W, 0]], bias=[-W / 2, -W / 2], dtype=torch.float32)
    found = bnn.bifurcation(single, [4.0])
    np.testing.assert_array_equal(found.states, bnn.bifurcation(PAIR, [4.0]).states)


@pytest.mark.parametrize("backend", ["pyarrow", "pandas", "polars"])
def test_frame(backend):
    found = bnn.bifurcation(PAIR, [1.0, 4.0], [[1, 1], [1, 1], [0, 0]])
    frame = found.to_frame(backend)
    columns = {name: np.asarray(frame[name]) for name in ("gain", "free_energy", "margin", "starts")}
    np.testing.assert_array_equal(columns["gain"], [1.0, 4.0, 4.0])
    np.testing.assert_array_equal(columns["margin"], found.margin)
    assert columns["starts"].tolist()[0] == 4
    assert sorted(columns["starts"].tolist()[1:]) == [1, 2]
    assert len(found) == 3


def test_arrays_are_read_only():
    found = bnn.bifurcation(PAIR, [1.0])
    with pytest.raises(ValueError, match="read-only"):
        found.states[0, 0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((bnn.Network.of([[0, 1], [2, 0]]), [1.0]), {}, "bifurcation.network: the weights are asymmetric, so there is"),
        ((PAIR, []), {}, r"bifurcation.gains: got \[\]; give a line of numbers above 0"),
        ((PAIR, [1.0, -1.0]), {}, r"bifurcation.gains: got \[1.0, -1.0\]; give a line of numbers above 0"),
        ((PAIR, [np.nan]), {}, r"bifurcation.gains: got \[nan\]"),
        ((PAIR, [[1.0]]), {}, r"bifurcation.gains: got \[\[1.0\]\]"),
        ((PAIR, ["much"]), {}, r"bifurcation.gains: got \['much'\]; give a line of numbers"),
        ((PAIR, [1.0], [[1, 0, 1]]), {}, r"bifurcation.starts: got shape \(1, 3\)"),
        ((PAIR, [1.0]), {"merge": 0.7}, "bifurcation.merge: got 0.7; give a share of a neuron's range"),
        ((PAIR, [1.0]), {"merge": float("nan")}, "bifurcation.merge: got nan; give a share of a neuron's range"),
        ((PAIR, [1.0]), {"activation": "tanh"}, "the activation 'tanh' has states from -1 to 1"),
        ((PAIR, [1.0]), {"settle": 2.0}, "GradientFlow.settle: got 2.0"),
    ],
)
def test_refused(arguments, options, sentence):
    with pytest.raises(DataError, match=sentence):
        bnn.bifurcation(*arguments, **options)


def test_frames_of_unknown_libraries_are_refused():
    with pytest.raises(DataError, match=r"Bifurcation\.to_frame\.backend: there is no 'pands'; did you mean 'pandas'"):
        bnn.bifurcation(PAIR, [1.0]).to_frame("pands")
