"""The same bits on a CUDA device."""

import numpy as np
import pytest
import torch

import bnn

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rule", list(bnn.RULES))
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
    here = bnn.recall(network, cues, dynamics, seed=2, max_sweeps=20)
    there = bnn.recall(network.to(device="cuda"), cues, dynamics, seed=2, max_sweeps=20)
    np.testing.assert_array_equal(there.states, here.states)
    np.testing.assert_array_equal(there.energy, here.energy)
    assert there.descent == here.descent
