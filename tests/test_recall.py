"""What `recall` does around the dynamics: bits, unknown, clamps, input, and what is recorded."""

import cases
import numpy as np
import pytest
import torch
from strategies import unchecked

import bnn
from bnn.errors import DataError, SchemaError
from bnn.kernels.threads import threads

RNG = np.random.default_rng(0)
PATTERNS = bnn.Records.from_patterns(RNG.integers(0, 2, (6, 40)))
ODDS = bnn.learn(PATTERNS, "odds")
CUES = bnn.corrupt(PATTERNS.codes, flip=0.2, seed=1)
PAIR = bnn.Network.of([[0, 1], [1, 0]], names=["left", "right"])


# --- Bits ---------------------------------------------------------------------------------------------------------


def many_neurons(name, dtype):
    """Networks of 69 neurons, three of each attribute: more than one block of any loop."""
    rng = np.random.default_rng(7)
    schema = bnn.Schema(tuple(bnn.Attribute(f"a{i}", ("x", "y", "z")) for i in range(23)))
    if name == "by hand":
        weights = np.triu(rng.normal(size=(69, 69)), 1)
        bias = rng.normal(size=69)
        return bnn.Network.of(weights + weights.T, bias, low=-1, layout=bnn.Layout(schema, "values"), dtype=dtype)
    table = bnn.Records(rng.integers(-1, 3, (15, 23)), schema)
    rule, estimate = name.split()
    return bnn.learn(table, rule, estimate=estimate, dtype=dtype)


def many_cues(network, case):
    """21 cues with unknown attributes and clamps of their own."""
    rng = np.random.default_rng(8)
    owner = network.layout.attribute
    value = rng.integers(0, 3, (21, 23))
    on = network.layout.value == value[:, owner]
    if not case.whole_attributes:
        on ^= rng.random(on.shape) < 0.1
    unknown = (rng.random((21, 23)) < 0.15)[:, owner]
    held = (rng.random((21, 23)) < 0.15)[:, owner]
    return np.where(unknown, np.nan, on), held


FACTS = ("start", "states", "energy", "lyapunov", "log_similarity", "outcome", "flips", "sweeps")


def assert_same(trace, other, rows=slice(None)):
    """Bit for bit, where the series of fewer rows may be shorter: a settled row repeats its last value."""
    for name in FACTS:
        mine, theirs = getattr(trace, name)[rows], getattr(other, name)
        if mine.ndim == 2 and name not in ("start", "states"):
            steps = theirs.shape[1]
            assert np.array_equal(
                mine[:, steps:], np.repeat(theirs[:, -1:], mine.shape[1] - steps, axis=1), equal_nan=True
            )
            mine = mine[:, :steps]
        assert np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"), name
    assert trace.descent.tolerance == other.descent.tolerance == trace.descent.mismatch == other.descent.mismatch == 0.0


SYMMETRIC = {"by hand": True, "probability joint": True, "odds joint": True, "odds conditional": False}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, id=f"{name} - {case.name}")
        for name, symmetric in SYMMETRIC.items()
        for case in cases.DYNAMICS_CASES
        if symmetric or not case.needs_symmetry
    ],
)
def test_a_batch_is_its_rows_on_any_number_of_threads_compiled_or_in_torch(case, name, dtype):
    network, dynamics = many_neurons(name, dtype), case.dynamics
    assert network.symmetric == SYMMETRIC[name]
    if isinstance(dynamics, bnn.KWinners):
        dynamics = bnn.KWinners(20, dynamics.parallel, dynamics.order)
    cues, held = many_cues(network, case)
    size = float(network.weights.abs().mean())
    external = np.random.default_rng(9).normal(size=cues.shape) * size
    asked = {"seed": 3, "max_sweeps": 12, "record": "flips"}
    with threads(1):
        trace = bnn.recall(network, cues, dynamics, clamp=held, input=external, **asked)
    with threads(2):
        assert_same(trace, bnn.recall(network, cues, dynamics, clamp=held, input=external, **asked))
    slow = bnn.recall(network, cues, dynamics, clamp=held, input=external, backend="torch", **asked)
    assert_same(trace, slow)
    for part in ("start", "neuron", "sweep", "energy"):
        assert np.array_equal(getattr(trace.flip_log, part), getattr(slow.flip_log, part))
    for r in [0] if isinstance(dynamics, bnn.Glauber) else [0, 4, 20]:  # a noisy row's noise is its number's
        single = bnn.recall(network, cues[r], dynamics, clamp=held[r], input=external[r], **asked)
        assert_same(trace, single, slice(r, r + 1))
    assert trace.flips.max() > 5


def test_the_same_seed_gives_the_same_trace_and_none_is_drawn_and_told():
    first, second = (
        bnn.recall(ODDS, CUES, bnn.Glauber(), max_sweeps=2),
        bnn.recall(ODDS, CUES, bnn.Glauber(), max_sweeps=2),
    )
    assert first.seed != second.seed
    assert_same(first, bnn.recall(ODDS, CUES, bnn.Glauber(), seed=first.seed, max_sweeps=2))


def test_a_generator_is_asked_for_a_seed():
    first, second = (bnn.recall(ODDS, CUES, bnn.Glauber(), seed=np.random.default_rng(4), max_sweeps=2) for _ in "ab")
    assert_same(first, second)
    drawn = np.random.default_rng(4)
    seeds = [bnn.recall(ODDS, CUES, seed=drawn).seed for _ in range(3)]
    assert seeds[0] == first.seed
    assert len(set(seeds)) == 3


def test_nothing_of_the_callers_is_touched():
    cues, mask = np.where(RNG.random(CUES.shape) < 0.1, np.nan, CUES), RNG.random(CUES.shape) < 0.1
    mask &= ~np.isnan(cues)
    external = RNG.normal(size=40)
    copies = [a.copy() for a in (cues, mask, external)]
    weights, states = ODDS.weights.clone(), (np.random.get_state()[1].copy(), torch.get_rng_state())  # noqa: NPY002
    bnn.recall(ODDS, cues, clamp=mask, input=external, record=("flips", "states"))
    bnn.recall(ODDS, CUES, bnn.KWinners())
    assert all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(copies, (cues, mask, external), strict=True)
    )
    assert torch.equal(weights, ODDS.weights)
    assert np.array_equal(states[0], np.random.get_state()[1])  # noqa: NPY002
    assert torch.equal(states[1], torch.get_rng_state())


def test_float32_networks_descend_exactly():
    network = bnn.learn(PATTERNS, "odds", dtype=torch.float32)
    trace = bnn.recall(network, CUES, seed=0, check="raise")
    assert (trace.descent.tolerance, trace.descent.mismatch, trace.descent.largest_rise) == (0.0, 0.0, 0.0)
    assert network.energy(trace.states).tolist() == trace.energy[:, -1].tolist()


def test_input_beyond_the_room_of_the_grid_has_a_tolerance():
    small = bnn.learn(PATTERNS, "odds", dtype=torch.float32)
    trace = bnn.recall(small, CUES, input=np.linspace(-1e5, 1e5, 40), seed=0, check="raise")
    assert 0.0 < trace.descent.tolerance < 100.0
    assert trace.descent.holds


# --- Unknown and clamped ------------------------------------------------------------------------------------------


def test_what_is_not_known_is_nan_by_another_name():
    known = RNG.random(CUES.shape) < 0.8
    by_mask, by_nan = (
        bnn.recall(ODDS, CUES, known=known, seed=0),
        bnn.recall(ODDS, np.where(known, CUES, np.nan), seed=0),
    )
    assert_same(by_mask, by_nan)
    assert np.array_equal(by_mask.unknown, ~known)
    for_all = bnn.recall(ODDS, CUES, known=known[0], seed=0)
    assert np.array_equal(for_all.unknown, np.broadcast_to(~known[0], CUES.shape))


def test_a_clamped_unknown_is_silent_and_a_free_one_is_filled():
    network = bnn.learn(PATTERNS, "hopfield")
    cue = np.where(np.arange(40) < 10, np.nan, CUES)
    clamp = [f"x{i}" for i in range(5)]
    trace = bnn.recall(network, cue, clamp=clamp, seed=0)
    assert trace.silent[:, :5].all()
    assert not trace.silent[:, 5:].any()
    assert not trace.states[:, :5].any()
    assert (trace.states[:, 5:] != 0).all()
    assert (trace.cues[:, :10] == 0).all()
    assert (
        trace.match(PATTERNS).word.tolist()
        == trace.match(np.where(np.arange(40) < 5, 1 - PATTERNS.codes, PATTERNS.codes)).word.tolist()
    )
    odds = bnn.recall(ODDS, cue, clamp=clamp, seed=0)
    assert np.isnan(odds.log_similarity).all()
    assert odds.descent.holds
    assert np.isfinite(bnn.recall(ODDS, cue, seed=0).log_similarity).all()


def test_clamps_by_name_mask_and_all_that_is_known():
    cue = np.where(np.arange(40) < 10, np.nan, CUES)
    by_name = bnn.recall(ODDS, cue, clamp=tuple(f"x{i}" for i in range(10, 40)), seed=0)
    assert_same(by_name, bnn.recall(ODDS, cue, clamp=np.arange(40) >= 10, seed=0))
    assert_same(by_name, bnn.recall(ODDS, cue, clamp="known", seed=0))
    assert np.array_equal(by_name.states[:, 10:], CUES[:, 10:])
    assert not bnn.recall(ODDS, CUES, clamp="known", seed=0).flips.any()
    assert_same(bnn.recall(ODDS, CUES, clamp=[], seed=0), bnn.recall(ODDS, CUES, seed=0))
    named = bnn.Network.of([[0, 1], [1, 0]], bias=[0.0, -0.5], names=["known", "other"])
    assert bnn.recall(named, [[1, np.nan]], clamp="known").states.tolist() == [[1, 1]]
    assert bnn.recall(named, [[0, 1]], clamp="known").states.tolist() == [[0, 0]]  # the attribute of that name


def test_records_are_cues():
    table = bnn.datasets.load("zoo")
    network = bnn.learn(table)
    trace = bnn.recall(network, table[:5], bnn.WinnerTakeAll(), seed=0, check="raise")
    assert network.decode(trace.states).num_rows == 5
    assert_same(trace, bnn.recall(network, network.encode(table[:5]), bnn.WinnerTakeAll(), seed=0))


# --- Input --------------------------------------------------------------------------------------------------------


def test_input_is_one_number_one_a_neuron_or_one_a_neuron_and_row():
    network = bnn.learn(PATTERNS)
    one = bnn.recall(network, CUES, input=-2.0, seed=0)
    for given in (np.full(40, -2.0), np.full((1, 40), -2.0), np.full(CUES.shape, -2.0), torch.full((40,), -2.0), -2):
        assert_same(one, bnn.recall(network, CUES, input=given, seed=0))
    zero = bnn.recall(network, CUES, seed=0)
    assert_same(zero, bnn.recall(network, CUES, input=np.zeros(40), seed=0))
    assert not np.array_equal(zero.states, one.states)


def test_input_counts_in_the_energy_and_not_in_the_similarity():
    trace = bnn.recall(ODDS, CUES, input=1.5, seed=0, record="states", check="raise")
    for step in range(trace.energy.shape[1]):
        states = trace.history[:, step]
        own = ODDS.energy(states).numpy()
        assert trace.energy[:, step] == pytest.approx(own - 1.5 * states.sum(axis=1))
        assert trace.log_similarity[:, step] == pytest.approx(ODDS.log_similarity(states).numpy())


def test_the_prior_as_input_is_a_neurons_own_frequency():
    network = bnn.learn(PATTERNS)
    trace = bnn.recall(network, PATTERNS, input="prior", seed=0, check="raise")
    assert_same(trace, bnn.recall(network, PATTERNS, input=network.prior_bias, seed=0))
    posterior = network.field(trace.states) + network.prior_bias
    assert np.array_equal(posterior.numpy() > 0, trace.states == 1)


# --- What is recorded ---------------------------------------------------------------------------------------------


def test_only_what_is_asked_for_is_recorded():
    plain, flips, states = (bnn.recall(ODDS, CUES, seed=0, record=r) for r in ("sweeps", "flips", ["states"]))
    assert plain.flip_log is plain.history is flips.history is states.flip_log is None
    assert flips.flip_log.start[-1] == plain.flips.sum() == len(flips.flip_log.neuron)
    assert states.history.shape == (*plain.energy.shape, 40)
    assert np.array_equal(states.history[:, 0], CUES)
    both = bnn.recall(ODDS, CUES, seed=0, record={"flips", "states"})
    assert np.array_equal(both.history, states.history)
    assert np.array_equal(both.flip_log.energy, flips.flip_log.energy)
    assert_same(plain, both)


def test_rows_that_have_not_settled_end_at_the_limit():
    first = bnn.recall(ODDS, CUES, seed=0)
    assert first.sweeps.max() > 1
    stopped = bnn.recall(ODDS, CUES, seed=0, max_sweeps=1)
    assert stopped.outcome.tolist() == ["settled" if sweeps < 2 else "limit" for sweeps in first.sweeps]
    assert stopped.energy.shape[1] == 2
    assert stopped.descent.holds


def test_a_row_that_has_settled_repeats_its_last_value():
    network = bnn.Network.of([[0, 2, 0], [2, 0, 2], [0, 2, 0]])
    trace = bnn.recall(network, [[0, 0, 0], [0, 0, 1]], bnn.Asynchronous(order="fixed"))
    assert trace.energy.tolist() == [[0.0, 0.0, 0.0], [0.0, -2.0, -4.0]]
    assert trace.times.tolist() == [0.0, 1.0, 2.0]
    assert trace.sweeps.tolist() == [0, 2]
    assert trace.flips.tolist() == [0, 2]
    alone = bnn.recall(network, [[0, 0, 0]], bnn.Asynchronous(order="fixed"))
    assert alone.energy.tolist() == [[0.0]]


def test_the_two_step_energy_ends_at_twice_the_energy_alone_or_in_a_batch():
    network = bnn.Network.of([[0, 2, 0], [2, 0, 2], [0, 2, 0]])
    alone = bnn.recall(network, [[1, 0, 1]], bnn.Synchronous())  # 101, 111, 111
    assert alone.energy.tolist() == [[0.0, -4.0, -4.0]]
    assert alone.lyapunov.tolist() == [[0.0, -4.0, -8.0]]  # -s(t)' W s(t-1)
    assert alone.sweeps.tolist() == [1]
    batch = bnn.recall(network, [[1, 0, 1], [0, 0, 1]], bnn.Synchronous())
    assert_same(batch, alone, slice(0, 1))


def test_progress_is_told_of_the_rows_that_have_ended():
    told = []
    trace = bnn.recall(ODDS, CUES, seed=0, progress=lambda done, of: told.append((done, of)))
    assert len(told) == trace.sweeps.max()
    assert told == sorted(told)
    assert told[-1] == (6, 6)


# --- Errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cues", "arguments", "sentence"),
    [
        ([[1, 0, 1]], {}, r"recall\.cues: got shape \(1, 3\); this network wants \[batch, 2\], one column a neuron\."),
        (np.empty((0, 2)), {}, r"recall\.cues: got no rows; give at least one cue\."),
        ([[0, -1]], {}, r"recall\.cues: 0 and -1 both occur"),
        ([[0, 7]], {}, r"recall\.cues: row 0, neuron 'right' is 7"),
        ([[1, 0]], {"known": [1, 0]}, r"recall\.known: got dtype int64; give a mask of True and False\."),
        (
            [[1, 0]],
            {"known": [[True, True]] * 2},
            r"recall\.known: got 2 rows for 1 cues; give one row for all, or one",
        ),
        ([[1, 0]], {"known": [True]}, r"recall\.known: got shape \(1, 1\); this network wants \[batch, 2\]"),
        ([[1, 0]], {"clamp": "rigth"}, r"Schema: there is no 'rigth'; did you mean 'right'\?"),
        ([[1, 0]], {"clamp": ["left", "up"]}, r"Schema: there is no 'up'"),
        ([[1, 0]], {"clamp": [1, 0]}, r"recall\.clamp: got dtype int64; give a mask of True and False\."),
        ([[1, 0]], {"clamp": [[True, True]] * 3}, r"recall\.clamp: got 3 rows for 1 cues"),
        ([[1, 0]], {"input": [1.0]}, r"recall\.input: got shape \(1, 1\); this network wants \[batch, 2\]"),
        (
            [[1, 0]],
            {"input": [[1.0, 1.0]] * 2},
            r"recall\.input: got 2 rows for 1 cues; give one row for all, or one a",
        ),
        ([[1, 0]], {"input": [0.0, np.nan]}, r"recall\.input: got nan at 'right'; give numbers of bits up to 1e\+30"),
        ([[1, 0]], {"input": -np.inf}, r"recall\.input: got -inf at 'left'; .* clamp a neuron to fix its state\."),
        ([[1, 0]], {"input": 1e31}, r"recall\.input: got 1e\+31 at 'left'"),
        ([[1, 0]], {"input": ["a", "b"]}, r"recall\.input: got <U1"),
        ([[1, 0]], {"input": "piror"}, r"recall\.input: there is no 'piror'; did you mean 'prior'\?"),
        (
            [[1, 0]],
            {"input": "prior"},
            r"recall\.input: \"prior\" needs a network that knows its priors in bits; learn",
        ),
        ([[1, 0]], {"record": "flip"}, r"recall\.record: there is no 'flip'; did you mean 'flips'\?"),
        (
            [[1, 0]],
            {"record": ["states", "all"]},
            r"recall\.record: there is no 'all'; Known: 'flips', 'states', 'sweeps'",
        ),
        ([[1, 0]], {"check": "rise"}, r"recall\.check: there is no 'rise'; did you mean 'raise'\?"),
        (
            [[1, 0]],
            {"backend": "numba"},
            r"recall\.backend: there is no 'numba'; .*Known: 'auto', 'compiled', 'torch'\.",
        ),
        ([[1, 0]], {"max_sweeps": 0}, r"recall\.max_sweeps: got 0; give a whole number of at least 1\."),
        ([[1, 0]], {"seed": -1}, r"recall\.seed: got -1; use a whole number of at least 0, or a numpy Generator\."),
    ],
)
def test_arguments_that_cannot_be(cues, arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        bnn.recall(PAIR, cues, **arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([[0]], [[1]]), r"recall\.network: got list; give a Network, such as bnn\.learn\(records\)\."),
        (
            (PAIR, [[1, 0]], bnn.Asynchronous),
            r"recall\.dynamics: got <class .*Asynchronous'>; give an instance, such as",
        ),
    ],
)
def test_things_that_are_something_else(arguments, sentence):
    with unchecked(), pytest.raises(DataError, match=sentence):
        bnn.recall(*arguments)
    for name, value in (("seed", 1.5), ("seed", "a"), ("max_sweeps", 2.0)):
        with unchecked(), pytest.raises(DataError, match=rf"recall\.{name}: got {value!r}; "):
            bnn.recall(PAIR, [[1, 0]], **{name: value})


def test_attributes_are_unknown_and_clamped_as_a_whole():
    network = cases.two_of_two()
    with pytest.raises(
        DataError, match=r"recall\.cues: row 1 leaves 1 of the 2 neurons of 'b' unknown; an attribute is"
    ):
        bnn.recall(network, [[1, 0, 0, 1], [1, 0, 1, np.nan]])
    with pytest.raises(DataError, match=r"recall\.clamp: row 0 leaves 1 of the 2 neurons of 'b' unknown"):
        bnn.recall(network, [[1, 0, np.nan, np.nan]], clamp=[False, False, True, False])
    with pytest.raises(SchemaError, match=r"recall\.cues: the schemas differ: 2 attributes against 40"):
        bnn.recall(network, PATTERNS)
