"""Every rule under every dynamics, against twins that compute every field and energy anew; guarantees and their limits."""

import cases
import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnn
from bnn.errors import DataError, DescentError

PAIRS = [
    pytest.param(network, dynamics, id=f"{network.name} - {dynamics.name}")
    for network in cases.NETWORK_CASES
    for dynamics in cases.DYNAMICS_CASES
]


def twins_of(case, question, trace):
    """What became of each row, by the twin."""
    q = question
    for r in range(len(q.on)):
        row = case.row(q.network, q.on[r], q.unknown[r].copy(), q.held[r], q.external[r], q.dynamics)
        if case.whole_attributes and not q.network.symmetric:  # no energy says how an attribute is to be filled
            row.state = trace.start[r].astype(object)
        yield row, case.twin(row, q.dynamics, q.seed, q.max_sweeps, r)


def padded(series, length, unit):
    return [float(value) * unit for value in (*series, *[series[-1]] * (length - len(series)))][:length]


@pytest.mark.parametrize(("networks", "case"), PAIRS)
@settings(max_examples=12)
@given(data=st.data())
def test_recall_is_its_twin(networks, case, data):
    network = networks.network(data.draw(networks.sources()))
    question = data.draw(cases.questions(network, case))
    if case.needs_symmetry and not network.symmetric:
        with pytest.raises(DataError, match="asymmetric weights have no energy to (choose values|swap) by; use .*parallel"):
            question.ask()
        return
    trace = question.ask(record=("flips", "states"))
    assert trace.descent.tolerance == 0.0
    assert trace.descent.mismatch == 0.0
    length = trace.energy.shape[1]
    for r, (row, twin) in enumerate(twins_of(case, question, trace)):
        assert trace.start[r].tolist() == twin.start.tolist()
        assert trace.states[r].tolist() == row.state.tolist()
        assert trace.energy[r].tolist() == padded(twin.energies, length, row.unit / 2)
        assert trace.outcome[r] == twin.outcome
        assert (trace.sweeps[r], trace.flips[r]) == (twin.sweeps, len(twin.flips))
        mine = slice(*trace.flip_log.start[r : r + 2])
        logged = zip(trace.flip_log.sweep[mine], trace.flip_log.neuron[mine], trace.flip_log.energy[mine], strict=True)
        assert [tuple(entry) for entry in logged] == [(s, j, float(e) * row.unit / 2) for s, j, e in twin.flips]
        states = [*twin.states, *[twin.states[-1]] * length][:length]
        assert trace.history[r].tolist() == [state.tolist() for state in states]
        if trace.lyapunov_name == "two-step energy":
            assert trace.lyapunov[r].tolist() == padded(twin.two_steps, length, row.unit / 2)
        if twin.other_phase is not None:
            assert trace.other_phase[r].tolist() == twin.other_phase.tolist()
