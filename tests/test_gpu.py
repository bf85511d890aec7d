"""The same bits on a CUDA device; of graded neurons, the same states."""

import cases
import numpy as np
import pytest
import torch

import bnn

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rule", cases.PAIRWISE)
@pytest.mark.parametrize(
    "dynamics",
    [
        bnn.Asynchronous(),
        bnn.Synchronous(),
        bnn.WinnerTakeAll(),
        bnn.WinnerTakeAll(parallel=True),
        bnn.KWinners(),
        bnn.KWinners(parallel=True),
        bnn.Glauber(temperature=2.0),
    ],
    ids=str,
)
def test_device_gives_the_bits_of_the_cpu(rule, dynamics, dtype):
    rng = np.random.default_rng(0)
    patterns = bnn.Records.from_patterns(rng.integers(0, 2, (12, 150)))
    cues = bnn.corrupt(patterns, flip=0.1, seed=1)
    network = bnn.learn(patterns, rule, dtype=dtype)
    if dynamics.refusal(network) is not None:
        pytest.skip("asymmetric weights have no energy to choose by")
    here = bnn.recall(network, cues, dynamics, seed=2, max_sweeps=20)
    there = bnn.recall(network.to(device="cuda"), cues, dynamics, seed=2, max_sweeps=20)
    np.testing.assert_array_equal(there.states, here.states)
    np.testing.assert_array_equal(there.energy, here.energy)
    assert there.descent == here.descent


@pytest.mark.parametrize("rule", cases.PAIRWISE)
@pytest.mark.parametrize("solver", ["dopri5", "rk4", "euler", "descent"])
def test_graded_neurons_end_where_they_do_on_the_cpu(rule, solver):
    rng = np.random.default_rng(0)
    patterns = bnn.Records.from_patterns(rng.integers(0, 2, (12, 150)))
    cues = bnn.corrupt(patterns, flip=0.1, seed=1)
    network = bnn.learn(patterns, rule)
    flow = bnn.GradientFlow(gain=2.0, solver=solver)
    here = bnn.recall(network, cues, flow, check="raise")
    there = bnn.recall(network.to(device="cuda"), cues, flow, check="raise")
    np.testing.assert_allclose(there.states, here.states, atol=1e-4)
    np.testing.assert_allclose(there.lyapunov[:, -1], here.lyapunov[:, -1], rtol=1e-6)
