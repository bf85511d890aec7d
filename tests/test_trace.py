"""The record of a recall: what was recalled, playing it back, and tables of it."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bnn
from bnn.errors import DataError

STORED = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0, 0]])
NETWORK = bnn.learn(bnn.Records.from_patterns(STORED), "hopfield")


def held(states):
    """A trace that ends in just these states."""
    return bnn.recall(NETWORK, states, clamp=np.ones(8, bool), seed=0)


def test_match_names_what_was_recalled():
    spurious = [1, 0, 1, 1, 0, 0, 0, 0]
    match = held([STORED[1], 1 - STORED[0], spurious]).match(STORED)
    assert match.word.tolist() == ["stored", "inverse", "spurious"]
    assert match.nearest.tolist() == [1, 1, 0]
    assert match.overlap.tolist() == [1.0, 0.0, 0.75]  # 1 - 2 * differing / 8


def test_match_takes_records_and_signs_and_the_first_of_equals():
    trace = held([STORED[0]])
    for patterns in (
        bnn.Records.from_patterns(STORED),
        2 * STORED - 1,
        STORED.astype(bool),
        STORED[:, None, :].squeeze(),
    ):
        assert trace.match(patterns).word.tolist() == ["stored"]
    both = trace.match(np.concatenate([1 - STORED[:1], STORED[:1], STORED[:1]]))
    assert (both.word.tolist(), both.nearest.tolist()) == (["stored"], [1])  # a pattern goes before an inverse
    assert trace.match(STORED[0]).word.tolist() == ["stored"]


def test_match_does_not_compare_silent_neurons():
    trace = bnn.recall(NETWORK, [[np.nan, *STORED[0, 1:]]], clamp=np.ones(8, bool))
    assert trace.silent.tolist() == [[True] + [False] * 7]
    other = STORED[:1].copy()
    other[0, 0] = 0
    match = trace.match(other)
    assert (match.word.tolist(), match.overlap.tolist()) == (["stored"], [1.0])


@pytest.mark.parametrize(
    ("patterns", "sentence"),
    [
        ([[1, 0]], r"Trace\.match\.patterns: got shape \(1, 2\); this network wants \[batch, 8\]"),
        (np.full((1, 8), np.nan), r"Trace\.match\.patterns: some values are unknown; compare with complete patterns\."),
        (np.empty((0, 8)), r"Trace\.match\.patterns: got none; give at least one pattern\."),
    ],
)
def test_patterns_that_cannot_be_matched(patterns, sentence):
    with pytest.raises(DataError, match=sentence):
        held([STORED[0]]).match(patterns)


def test_replay_goes_flip_by_flip_from_start_to_end():
    cues = np.random.default_rng(0).integers(0, 2, (5, 8))
    trace = bnn.recall(NETWORK, cues, seed=1, record="flips")
    for row in (*range(5), -1):
        states = trace.replay(row)
        assert states.shape == (trace.flips[row] + 1, 8)
        assert np.array_equal(states[0], trace.start[row])
        assert np.array_equal(states[-1], trace.states[row])
        assert (np.abs(np.diff(states, axis=0)).sum(axis=1) == 2).all()
        energy = NETWORK.energy(states).tolist()
        mine = slice(*trace.flip_log.start[row % 5 : row % 5 + 2])
        assert energy == [trace.energy[row, 0], *trace.flip_log.energy[mine]]


def test_replay_of_what_is_not_there():
    with pytest.raises(
        DataError, match=r"Trace\.replay: the flips were not recorded; call recall\(\.\.\., record=\"flips\"\)\."
    ):
        held([STORED[0]]).replay(0)
    trace = bnn.recall(NETWORK, STORED, record="flips")
    for row in (2, -3):
        with pytest.raises(DataError, match=rf"Trace\.replay\.row: got {row}; the trace has rows 0 to 1\."):
            trace.replay(row)


@pytest.mark.parametrize(
    ("backend", "kind"), [("pyarrow", pa.Table), ("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_tables_of_a_trace(backend, kind):
    trace = bnn.recall(NETWORK, 1 - STORED, seed=0)
    frame = trace.to_frame(backend)
    assert isinstance(frame, kind)
    columns = {name: list(frame[name].to_pylist() if backend == "pyarrow" else frame[name]) for name in (
        "outcome", "flips", "sweeps", "energy_before", "energy_after", "log_similarity_before", "log_similarity_after",
    )}  # fmt: skip
    assert columns["outcome"] == trace.outcome.tolist()
    assert columns["flips"] == trace.flips.tolist()
    assert columns["energy_before"] == trace.energy[:, 0].tolist()
    assert columns["energy_after"] == trace.energy[:, -1].tolist()
    assert columns["log_similarity_after"] == trace.log_similarity[:, -1].tolist()
    assert isinstance(trace.to_frame(), pa.Table)


def test_tables_for_someone_else():
    with pytest.raises(DataError, match=r"Trace\.to_frame\.backend: there is no 'panda'; did you mean 'pandas'\?"):
        held([STORED[0]]).to_frame("panda")


def test_a_trace_says_what_ran_and_cannot_be_changed():
    cue = [[np.nan, *STORED[0, 1:]]]
    trace = bnn.recall(NETWORK, cue, bnn.Asynchronous(order="fixed"), seed=5, record=("flips", "states"))
    assert (trace.network, trace.dynamics, trace.seed) == (NETWORK, bnn.Asynchronous(order="fixed"), 5)
    assert len(trace) == 1
    assert trace.cues.tolist() == [[0, 1, 1, 1, -1, -1, -1, -1]]
    assert trace.unknown.tolist() == [[True] + [False] * 7]
    assert trace.silent is trace.other_phase is None
    assert trace.lyapunov_name == "energy"
    assert trace.start[0, 1:].tolist() == trace.cues[0, 1:].tolist()
    arrays = [getattr(trace, name) for name in trace.__slots__] + [
        getattr(trace.flip_log, n) for n in trace.flip_log.__slots__
    ]
    for array in arrays:
        assert not isinstance(array, np.ndarray) or not array.flags.writeable
    assert bnn.recall(NETWORK, STORED, bnn.Synchronous()).lyapunov_name == "two-step energy"


def test_descent_tells_why():
    descent = held([STORED[0]]).descent
    assert descent.guaranteed
    assert descent.holds
    assert descent.reason.startswith("symmetric weights: each flip lowers E")


def test_things_are_told_in_a_line():
    records = bnn.datasets.load("zoo")
    network = bnn.learn(records)
    trace = bnn.recall(network, records[:3], bnn.WinnerTakeAll(), seed=0)
    assert repr(records) == "Records(101 rows, 17 attributes, target 'class')"
    assert repr(network) == "Network(43 neurons, probability, symmetric, float64)"
    assert repr(trace) == "Trace(winner-take-all, 3 rows: 3 settled; descent holds)"
    assert records[:2].to_table().to_pylist()[0]["class"] == records.schema["class"].values[records.codes[0, -1]]
