"""A verdict that can fail: wrong claims, weights changed meanwhile and loops that err are found out."""

import cases
import numpy as np
import pytest
import torch
from strategies import on_off_schema

import bnn
from bnn.errors import DescentError
from bnn.kernels import flips

PATTERNS = bnn.Records.from_patterns(np.random.default_rng(0).integers(0, 2, (6, 40)))
ODDS = bnn.learn(PATTERNS, "odds")
CUES = bnn.corrupt(PATTERNS.codes, flip=0.2, seed=1)
ALL = [case.dynamics for case in cases.DYNAMICS_CASES if case.dynamics.settles]


@pytest.mark.parametrize("dynamics", ALL, ids=[case.name for case in cases.DYNAMICS_CASES if case.dynamics.settles])
@pytest.mark.parametrize("backend", ["compiled", "torch"])
def test_a_network_that_only_claims_to_be_symmetric_is_found_out(dynamics, backend):
    layout = bnn.Layout(on_off_schema(3), "on")
    weights = torch.tensor([[0.0, 2.0, -1.0], [-3.0, 0.0, 1.0], [2.0, -1.0, 0.0]], dtype=torch.float64)
    network = bnn.Network(weights, torch.zeros(3, dtype=torch.float64), layout)
    object.__setattr__(network, "symmetric", True)
    asked = {"seed": 0, "max_sweeps": 5, "backend": backend}
    trace = bnn.recall(network, [[1, 1, 0], [0, 1, 0]], dynamics, **asked)
    assert trace.descent.guaranteed
    assert not trace.descent.holds
    assert trace.descent.mismatch > 1.0  # whether or not anything has risen
    with pytest.raises(
        DescentError,
        match=r"recall: the independent checks of fields and energy differ by .* bits, more than .*, although",
    ):
        bnn.recall(network, [[1, 1, 0], [0, 1, 0]], dynamics, check="raise", **asked)


@pytest.mark.parametrize("asked_before", [False, True])
@pytest.mark.parametrize("backend", ["compiled", "torch"])
@pytest.mark.parametrize("dynamics", ALL[:4:2], ids=["asynchronous", "synchronous"])
def test_weights_changed_while_recall_runs_are_found_out(dynamics, backend, asked_before):
    network = bnn.learn(PATTERNS, "hopfield")
    cues = np.random.default_rng(2).integers(0, 2, (20, 40))
    if asked_before:
        trace = bnn.recall(network, cues, dynamics, seed=0, check="raise")
        assert trace.sweeps.max() > 1  # so that some neurons flip after the change

    def disturb(*_):
        network.weights[20:] *= 2
        network.weights[:, 20:] *= 2

    with pytest.raises(DescentError, match=r"the network was changed while it ran, or the machine erred\."):
        bnn.recall(network, cues, dynamics, seed=0, check="raise", backend=backend, progress=disturb)


@pytest.mark.parametrize("wrong", [None, *range(40)])
def test_a_loop_that_errs_by_the_least_is_found_out(monkeypatch, wrong):
    right = flips.threshold_sweep

    def err(*arguments):
        right(*arguments)
        fields, energy = arguments[5], arguments[12]
        if wrong is None:
            energy[0] -= ODDS.grid  # towards descent, so that no rise betrays it
        else:
            fields[0, wrong] += ODDS.grid

    monkeypatch.setattr(flips, "threshold_sweep", err)
    trace = bnn.recall(ODDS, CUES[:1], max_sweeps=1, seed=0)
    assert trace.descent.largest_rise == 0.0
    assert trace.descent.mismatch >= ODDS.grid / 2
    assert not trace.descent.holds


def test_a_rise_is_no_error_where_nothing_is_promised():
    network = bnn.Network.of([[0, 2], [-3, 0]])
    trace = bnn.recall(network, [[1, 1], [0, 1]], check="raise", seed=0)
    assert not trace.descent.guaranteed
    assert not trace.descent.holds
    assert "asymmetric" in trace.descent.reason
