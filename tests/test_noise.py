import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from strategies import unchecked

from bnn.errors import DataError
from bnn.noise import corrupt
from bnn.records import Records
from bnn.schema import Attribute, Schema

SHARES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
SEEDS = st.integers(0, 2**32)


def stated(share, numbers):
    """Cells of each row that a share of so many means."""
    return [round(share * number) for number in numbers.tolist()]


@given(strategies.patterns(gaps=True), SHARES, SEEDS)
def test_flip_changes_exactly_the_stated_number_of_known_cells(patterns, share, seed):
    noisy = corrupt(patterns, flip=share, seed=seed)
    known = ~np.isnan(patterns)
    assert np.array_equal(np.isnan(noisy), ~known)
    assert ((noisy != patterns) & known).sum(axis=1).tolist() == stated(share, known.sum(axis=1))
    assert np.isin(noisy[known], (0, 1)).all()


@given(strategies.patterns(gaps=True), SHARES, SEEDS)
def test_delete_switches_exactly_the_stated_number_of_active_neurons_off(patterns, share, seed):
    noisy = corrupt(patterns, delete=share, seed=seed)
    changed = (noisy != patterns) & ~np.isnan(patterns)
    assert changed.sum(axis=1).tolist() == stated(share, (patterns == 1).sum(axis=1))
    assert (patterns[changed] == 1).all()
    assert (noisy[changed] == 0).all()


@given(strategies.patterns(gaps=True), SHARES, SEEDS)
def test_mask_hides_exactly_the_stated_number_of_known_cells(patterns, share, seed):
    noisy = corrupt(patterns, mask=share, seed=seed)
    hidden = np.isnan(noisy) & ~np.isnan(patterns)
    assert hidden.sum(axis=1).tolist() == stated(share, (~np.isnan(patterns)).sum(axis=1))
    assert np.array_equal(noisy[~np.isnan(noisy)], patterns[~np.isnan(noisy)])
    assert np.isnan(noisy[np.isnan(patterns)]).all()


@given(strategies.patterns(gaps=True), SHARES, SEEDS)
def test_move_keeps_the_number_of_active_neurons(patterns, share, seed):
    noisy = corrupt(patterns, move=share, seed=seed)
    active, inactive = (patterns == 1).sum(axis=1), (patterns == 0).sum(axis=1)
    left = ((patterns == 1) & (noisy == 0)).sum(axis=1)
    arrived = ((patterns == 0) & (noisy == 1)).sum(axis=1)
    assert left.tolist() == arrived.tolist()
    assert left.tolist() == np.minimum(stated(share, active), inactive).tolist()
    assert np.array_equal(np.isnan(noisy), np.isnan(patterns))


@given(strategies.patterns(min_neurons=2), SHARES, SEEDS, st.data())
def test_a_moved_neuron_lands_in_its_own_group(patterns, share, seed, data):
    neurons = patterns.shape[1]
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=neurons, max_size=neurons)))
    noisy = corrupt(patterns, move=share, groups=groups, seed=seed)
    for group in np.unique(groups):
        own = groups == group
        assert np.array_equal(noisy[:, own].sum(axis=1), patterns[:, own].sum(axis=1))
    changed = (noisy != patterns).sum(axis=1)
    assert (changed <= 2 * np.array(stated(share, patterns.sum(axis=1)))).all()


def test_modular_patterns_keep_one_active_neuron_a_group():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(32), 32)
    patterns = np.zeros((50, 1024), np.int8)
    for group in range(32):
        patterns[np.arange(50), 32 * group + rng.integers(0, 32, 50)] = 1
    noisy = corrupt(patterns, move=1 / 32, groups=groups, seed=1)
    assert noisy.dtype == np.int8
    assert (noisy.reshape(50, 32, 32).sum(axis=2) == 1).all()
    assert ((noisy != patterns).sum(axis=1) == 2).all()


@given(strategies.patterns(), st.sampled_from(["flip", "move", "delete"]), SHARES, SEEDS)
def test_every_coding_gets_the_same_noise_in_its_own_coding(patterns, kind, share, seed):
    noisy = corrupt(patterns, **{kind: share}, seed=seed)
    for array, back in [
        (patterns.astype(bool), lambda a: a),
        (patterns.astype(np.uint8), lambda a: a),
        (patterns.astype(np.float32), lambda a: a),
        (patterns.tolist(), lambda a: a),
        (np.where(patterns == 0, -1, 1) if not patterns.all() else patterns.astype(int), lambda a: a == 1),
        (patterns.reshape(len(patterns), 1, -1), lambda a: a.reshape(patterns.shape)),
    ]:
        got = corrupt(array, **{kind: share}, seed=seed)
        assert got.dtype == np.asarray(array).dtype
        assert got.shape == np.shape(array)
        assert np.array_equal(back(got).astype(float), noisy)
    records = Records.from_patterns(patterns)
    assert np.array_equal(corrupt(records, **{kind: share}, seed=seed).patterns, noisy)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
def test_a_mask_needs_floats(dtype):
    noisy = corrupt(np.ones((2, 4), dtype), mask=0.5, seed=0)
    assert noisy.dtype == (np.float64 if dtype is np.float64 else np.float32)
    assert np.isnan(noisy).sum(axis=1).tolist() == [2, 2]
    signed = corrupt(np.array([[1, -1, -1, -1]]), mask=0.5, seed=0)
    assert set(signed[~np.isnan(signed)].tolist()) <= {-1.0, 1.0}


@given(strategies.records(), SHARES, SEEDS)
def test_a_flipped_cell_of_a_table_gets_another_value(records, share, seed):
    noisy = corrupt(records, flip=share, seed=seed)
    can_change = (records.codes >= 0) & (np.array(records.schema.sizes) > 1)
    changed = noisy.codes != records.codes
    assert changed.sum(axis=1).tolist() == stated(share, can_change.sum(axis=1))
    assert can_change[changed].all()
    assert noisy.schema is records.schema


def test_other_values_are_equally_likely():
    records = Records(np.full((30_000, 1), 2), Schema((Attribute("x", tuple("abcd")),)))
    counts = np.bincount(corrupt(records, flip=1.0, seed=0).codes[:, 0], minlength=4)
    assert counts[2] == 0
    # a binomial's standard deviation is 82, so that a fair draw misses 10,000 by 400 once in a million
    assert (abs(counts[[0, 1, 3]] - 10_000) < 400).all()


def test_every_cell_is_drawn_equally_often():
    noisy = corrupt(np.ones((20_000, 7), bool), delete=3 / 7, seed=0)
    # standard deviation 70
    assert (abs((~noisy).sum(axis=0) - 20_000 * 3 / 7) < 350).all()


@given(strategies.records(weights=True), SHARES, SEEDS)
def test_masked_records_stay_records(records, share, seed):
    noisy = corrupt(records, mask=share, seed=seed)
    hidden = (noisy.codes < 0) & (records.codes >= 0)
    assert hidden.sum(axis=1).tolist() == stated(share, (records.codes >= 0).sum(axis=1))
    assert np.array_equal(noisy.weights, records.weights)


def test_kinds_are_applied_in_order():
    rng = np.random.default_rng(3)
    patterns = rng.integers(0, 2, (20, 30))
    one_by_one = np.random.default_rng(5)
    wanted = patterns
    for step in ({"flip": 0.1}, {"move": 0.2}, {"delete": 0.3}, {"mask": 0.1}):
        wanted = corrupt(wanted, **step, seed=one_by_one)
    together = corrupt(patterns, mask=0.1, delete=0.3, move=0.2, flip=0.1, seed=5)
    assert np.array_equal(together, wanted, equal_nan=True)


def test_the_seed_decides_and_nothing_else_is_touched():
    patterns = np.random.default_rng(0).integers(0, 2, (5, 50))
    before, state = patterns.copy(), np.random.get_state()[1].copy()  # noqa: NPY002
    first = corrupt(patterns, flip=0.2, seed=1)
    assert np.array_equal(first, corrupt(patterns, flip=0.2, seed=1))
    assert not np.array_equal(first, corrupt(patterns, flip=0.2, seed=2))
    assert not np.array_equal(corrupt(patterns, flip=0.2), corrupt(patterns, flip=0.2))
    assert np.array_equal(patterns, before)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_zero_rows_stay_zero_rows():
    records = Records(np.zeros((0, 1), int), Schema((Attribute("x", (0, 1), "on_off"),)))
    assert corrupt(records, flip=0.5, move=0.5, delete=0.5, mask=0.5, seed=0).rows == 0


TABLE = Records(np.zeros((1, 1), int), Schema((Attribute("legs", (0, 2)),)))


@pytest.mark.parametrize(
    ("patterns", "options", "message"),
    [
        ([[0, 1]], {}, "corrupt: got no share; name one of flip, move, delete, redraw, mask, such"),
        ([[0, 1]], {"flip": 1.5}, r"corrupt.flip: a share lies in \[0, 1\]; got 1.5"),
        ([[0, 1]], {"mask": -0.1}, r"corrupt.mask: a share lies in \[0, 1\]; got -0.1"),
        ([[0, 1]], {"delete": float("nan")}, r"corrupt.delete: .* got nan"),
        ([0, 1], {"flip": 0.1}, r"corrupt.patterns: got shape \(2,\); needed are .* array.reshape\(1, -1\)"),
        (np.zeros((0, 3)), {"flip": 0.1}, r"corrupt.patterns: got shape \(0, 3\); needed are one or more"),
        ([[0, 1, -1]], {"flip": 0.1}, "corrupt.patterns: 0 and -1 both occur"),
        ([[0, 2]], {"flip": 0.1}, "corrupt.patterns: row 0, neuron 'x1' is 2"),
        (TABLE, {"move": 0.1}, "corrupt.move and delete: needs on_off attributes, .* 'legs' is nominal"),
        (TABLE, {"delete": 0.1}, "corrupt.move and delete: needs on_off attributes"),
        ([[0, 1]], {"flip": 0.1, "groups": [0, 0]}, r"corrupt.groups: only move=\.\.\. heeds groups"),
        ([[0, 1]], {"move": 0.1, "groups": [0]}, "corrupt.groups: needs one integer a neuron, 2; got int64 of 1 ent"),
        ([[0, 1]], {"move": 0.1, "groups": [0, 0.5]}, "needs one integer a neuron, 2; got float64"),
        ([[0, 1]], {"flip": 0.1, "seed": -1}, "corrupt.seed: needs a whole number from 0 on, .* got -1"),
        ([[0, 1]], {"flip": 0.1, "seed": "one"}, "corrupt.seed: .* got 'one'"),
    ],
)
def test_noise_refused(patterns, options, message):
    with unchecked(), pytest.raises(DataError, match=message):
        corrupt(patterns, **options)


@given(strategies.patterns(gaps=True), SHARES, SEEDS)
def test_redrawn_cells_are_no_more_than_stated_and_come_from_the_pool(patterns, share, seed):
    noisy = corrupt(patterns, redraw=share, seed=seed)
    known = ~np.isnan(patterns)
    assert np.array_equal(np.isnan(noisy), ~known)
    changed = (noisy != patterns) & known
    assert (changed.sum(axis=1) <= stated(share, known.sum(axis=1))).all()
    for cell in np.flatnonzero(known.any(axis=0)):
        assert np.isin(noisy[known[:, cell], cell], patterns[known[:, cell], cell]).all()


def test_redrawn_values_are_as_frequent_as_in_the_pool():
    schema = Schema((Attribute("a", ("x", "y", "z")), Attribute("b", (0, 1)), Attribute("c", (0, 1))))
    pool = Records(np.array([[0, 1, -1], [0, -1, -1], [2, 1, -1], [-1, 1, -1]]), schema)
    rows = Records(np.tile([1, 0, 0], (30_000, 1)), schema)
    noisy = corrupt(rows, redraw=1.0, pool=pool, seed=0).codes
    shares = np.bincount(noisy[:, 0], minlength=3) / len(noisy)
    assert shares[1] == 0
    assert abs(shares[0] - 2 / 3) < 4 * np.sqrt(2 / 9 / len(noisy))
    assert (noisy[:, 1] == 1).all()
    assert (noisy[:, 2] == 0).all()  # nothing is known of it: it stays
    half = corrupt(rows, redraw=1 / 3, pool=pool, seed=0).codes
    assert ((half != rows.codes).sum(axis=1) <= 1).all()


@pytest.mark.parametrize(
    ("pool", "sentence"),
    [
        (np.ones((2, 3)), r"corrupt\.pool: got shape \(2, 3\) for patterns of \(1, 2\)"),
        (np.ones((0, 2)), r"corrupt\.pool: got shape \(0, 2\)"),
    ],
)
def test_a_pool_that_does_not_fit_is_refused(pool, sentence):
    with pytest.raises(DataError, match=sentence):
        corrupt([[0, 1]], redraw=0.5, pool=pool)


def test_a_pool_of_records_has_their_schema_and_a_share():
    table, other = (Records(np.array([[0]]), Schema((Attribute(name, (0, 1)),))) for name in "ab")
    with pytest.raises(DataError, match=r"corrupt\.pool: got Records of another schema; give Records of the same"):
        corrupt(table, redraw=0.5, pool=other)
    with pytest.raises(DataError, match=r"corrupt\.pool: got list"):
        corrupt(table, redraw=0.5, pool=[[0]])
    with pytest.raises(DataError, match=r"corrupt\.pool: only redraw=\.\.\. draws from a pool"):
        corrupt(table, flip=0.5, pool=table)
