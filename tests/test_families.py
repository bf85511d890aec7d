"""Families of patterns and noise of cues: what is drawn, that loads are nested, and how much information there is."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import unchecked

import bnn
from bnn.errors import DataError
from bnn.study import FAMILIES, Correlated, Dense, Family, KActive, Modular, Noise, Real
from bnn.study.cues import corrupted
from bnn.study.family import binary_entropy
from bnn.study.stream import BLOCK, Stream

DRAWN = (
    Dense(7),
    Dense(5, activity=0.1),
    KActive(9, 3),
    Modular(4, 3),
    Correlated(Dense(6), per=3, distortion=0.2),
    Correlated(KActive(8, 2), per=2, distortion=0.5),
    Correlated(Modular(3, 4), per=4, distortion=0.3),
    Real("zoo"),
)
NOISES = (
    Noise(),
    Noise(flips=0.3),
    Noise(moves=1),
    Noise(wrong=0.5),
    Noise(wrong=2, wrong_by="values", contiguous=True),
    Noise(flips=1, erased=0.5, contiguous=True),
)
families, noises = st.sampled_from(DRAWN), st.sampled_from(NOISES)
loads = st.integers(1, 40)


def draw(family, number, seed=0):
    return family.draw(number, np.random.default_rng(seed))


def test_every_family_has_its_registry_line():
    assert {family.name for family in DRAWN} == set(FAMILIES)
    for name, kind in FAMILIES.items():
        assert kind.name == name
        assert isinstance(kind(), Family)


@given(families, loads, loads, st.integers(0, 100))
def test_more_patterns_begin_with_the_same(family, one, another, seed):
    few, many = sorted((one, another))
    assert np.array_equal(draw(family, few, seed), draw(family, many, seed)[:few])


@given(families, st.integers(0, 100))
def test_patterns_are_legal(family, seed):
    records = bnn.Records(draw(family, 10, seed), family.schema)
    assert records.rows == 10
    assert (records.codes >= 0).all() or family.name == "real"


def test_dense_is_a_coin_a_neuron():
    codes = draw(Dense(400, activity=0.3), 500)
    assert codes.mean() == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / codes.size))
    assert codes.sum(axis=1).std() > 5


@given(st.integers(0, 100))
def test_k_active_has_so_many_on_and_stays_so_when_distorted(seed):
    family = KActive(11, 4)
    codes = draw(family, 20, seed)
    moved = family.distort(codes, 0.7, np.random.default_rng(seed))
    assert (codes.sum(axis=1) == 4).all()
    assert (moved.sum(axis=1) == 4).all()
    assert set(np.unique(moved)) <= {0, 1}


def test_every_pattern_is_equally_likely():
    counts = np.unique(draw(KActive(5, 2), 10_000), axis=0, return_counts=True)[1]
    assert len(counts) == math.comb(5, 2)
    assert counts.max() - counts.min() < 8 * math.sqrt(1000)
    counts = np.unique(draw(Modular(2, 3), 9_000), axis=0, return_counts=True)[1]
    assert len(counts) == 9
    assert counts.max() - counts.min() < 8 * math.sqrt(1000)


@pytest.mark.parametrize("family", [Dense(300), KActive(300, 60), Modular(150, 5)], ids=lambda f: f.name)
def test_distortion_changes_its_share(family):
    codes = draw(family, 400)
    distorted = family.distort(codes, 0.2, np.random.default_rng(1))
    changed = (codes != distorted) & (codes == 1) if family.name == "k-active" else codes != distorted
    units = (codes == 1).sum() if family.name == "k-active" else codes.size
    assert changed.sum() / units == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / units))


def test_classes_are_runs_of_patterns_near_each_other():
    codes = draw(Correlated(Dense(1000), per=4, distortion=0.05), 12)
    differ = (codes[:, None] != codes).mean(axis=2)
    same = np.equal.outer(np.arange(12) // 4, np.arange(12) // 4) & ~np.eye(12, dtype=bool)
    assert differ[same].max() < 0.15  # 2 x 0.05 x 0.95, and chance
    assert differ[~np.equal.outer(np.arange(12) // 4, np.arange(12) // 4)].min() > 0.4


def test_real_rows_come_once_each_in_an_order_of_the_seed(monkeypatch, tmp_path):
    monkeypatch.setenv("BNN_DATA", str(tmp_path))
    file = tmp_path / "few.csv"
    file.write_text("a,b\n1,0\n0,1\n1,0\n1,1\n")
    few = Real("few")
    assert few.most == 3
    assert sorted(draw(few, 9).tolist()) == [[0, 1], [1, 0], [1, 1]]
    assert len({str(draw(few, 3, seed).tolist()) for seed in range(20)}) > 1
    before = few.describe()
    file.write_text("a,b\n1,0\n0,1\n")
    assert few.most == 2
    assert few.describe()["sha256"] != before["sha256"]


def test_information_of_a_pattern():
    assert Dense(10).entropy == 10
    assert Dense(10, activity=0.1).entropy == pytest.approx(10 * (-0.1 * math.log2(0.1) - 0.9 * math.log2(0.9)))
    assert KActive(5, 2).entropy == pytest.approx(math.log2(10))
    assert Modular(3, 4).entropy == 6
    assert Real("zoo").entropy is None
    assert binary_entropy(0.25) == pytest.approx(0.811278)


def entropy(chances):
    assert sum(chances) == pytest.approx(1)
    return -sum(p * math.log2(p) for p in chances if p > 0)


def test_information_of_a_distortion_by_enumeration():
    p = 0.3
    flips = [math.prod(p if f else 1 - p for f in word) for word in itertools.product((0, 1), repeat=4)]
    assert Dense(4).distortion_entropy(p) == pytest.approx(entropy(flips))
    changes = [math.prod(p / 2 if c else 1 - p for c in word) for word in itertools.product((0, 1, 2), repeat=3)]
    assert Modular(3, 3).distortion_entropy(p) == pytest.approx(entropy(changes))
    moves = [
        p ** len(leave) * (1 - p) ** (2 - len(leave)) / math.comb(4, len(leave))
        for left in range(3)
        for leave in itertools.combinations(range(2), left)
        for _ in itertools.combinations(range(4), left)
    ]
    assert KActive(6, 2).distortion_entropy(p) == pytest.approx(entropy(moves))


def test_information_of_correlated_patterns_is_shared_by_their_class():
    assert Correlated(Dense(100), per=5, distortion=0.1).entropy == pytest.approx(20 + 100 * binary_entropy(0.1))
    assert Correlated(Dense(100), per=5, distortion=0.5).entropy == 100  # no class is left, and no more than a pattern


@given(families, noises, st.integers(0, 50), st.permutations([1, 3, 70, 5]))
def test_patterns_and_cues_of_a_load_are_the_first_of_the_stream(family, noise, seed, order):
    """Whatever was asked before, in whatever order, a pattern and its cue are the same at every load."""
    stream = Stream(family, noise, seed)
    for load in order:
        load = min(load, family.most or load)
        fresh = Stream(family, noise, seed)
        for one in (stream, fresh):
            patterns, cues = one.asked(load, load)
            assert np.array_equal(patterns.codes, one.patterns(load).codes)
            assert np.array_equal(patterns.codes, draw_of(seed, family, 128)[:load])
            assert np.array_equal(cues.codes, fresh.asked(load, load)[1].codes)


def draw_of(seed, family, number):
    stream = Stream(family, Noise(), seed)
    return stream.patterns(min(number, family.most or number)).codes


@given(families, st.lists(st.integers(1, 60), min_size=1, max_size=8))
def test_counts_of_a_load_are_those_of_its_patterns(family, wanted):
    stream = Stream(family, Noise(), 3)
    for load in wanted:
        assert stream.counts(load) == bnn.Counts.of(stream.patterns(load))


def test_those_asked_for_are_drawn_and_mostly_stay():
    stream = Stream(Dense(20), Noise(), 0)
    everything = stream.patterns(200).codes.tolist()
    small, large = ({everything.index(row) for row in stream.asked(load, 30)[0].codes.tolist()} for load in (100, 150))
    assert len(small) == len(large) == 30
    assert max(small) < 100
    assert len(small & large) > 10
    assert small != set(range(30))


def test_a_family_has_no_more_than_it_has():
    with pytest.raises(DataError, match=r"Stream\.load: got 102, but the family 'real' has \d+ patterns"):
        Stream(Real("zoo"), Noise(), 0).patterns(102)


# --- Noise --------------------------------------------------------------------------------------------------------


def cues_of(noise, codes, family, seed=0):
    codes = np.array(codes)
    return corrupted(noise, codes, slice(0, len(codes)), family.schema, np.random.default_rng(seed))


@given(st.integers(0, 8), st.integers(0, 100))
def test_whole_numbers_and_shares_of_flips(number, seed):
    codes = draw(Dense(8), 6, seed)
    assert ((cues_of(Noise(flips=number), codes, Dense(8), seed) != codes).sum(axis=1) == number).all()
    share = cues_of(Noise(flips=number / 8), codes, Dense(8), seed)
    assert ((share != codes).sum(axis=1) == number).all()


@given(st.integers(0, 4), st.integers(0, 100))
def test_moves_are_of_active_units_and_stay_in_their_group(number, seed):
    modular, active = Modular(4, 5), KActive(12, 4)
    codes = draw(modular, 6, seed)
    moved = cues_of(Noise(moves=number), codes, modular, seed)
    assert ((moved != codes).sum(axis=1) == number).all()
    assert ((moved >= 0) & (moved < 5)).all()
    codes = draw(active, 6, seed)
    moved = cues_of(Noise(moves=number), codes, active, seed)
    assert ((moved < codes).sum(axis=1) == number).all()
    assert ((moved > codes).sum(axis=1) == number).all()


def test_more_moves_than_active_neurons_move_them_all():
    codes = np.array([[1, 1, 0, 0, 0], [1, 0, 0, 0, 0]])
    assert (cues_of(Noise(moves=2), codes, Dense(5)) < codes).sum(axis=1).tolist() == [2, 1]


@given(st.integers(0, 6), st.booleans(), st.integers(0, 100))
def test_erased_cells_are_unknown(number, contiguous, seed):
    codes = draw(Dense(6), 5, seed)
    noisy = cues_of(Noise(erased=number, contiguous=contiguous), codes, Dense(6), seed)
    assert ((noisy < 0).sum(axis=1) == number).all()
    assert np.array_equal(noisy[noisy >= 0], codes[noisy >= 0])
    if contiguous and 0 < number < 6:  # on a ring one run begins and ends once
        hidden = noisy < 0
        assert ((hidden & ~np.roll(hidden, 1, axis=1)).sum(axis=1) == 1).all()


@given(st.sampled_from(["pattern", "values"]), st.booleans(), st.integers(0, 100))
def test_wrong_cells_are_those_of_earlier_patterns(wrong_by, contiguous, seed):
    codes = np.arange(40).reshape(8, 5)  # every value tells where it comes from
    family = Modular(5, 40)
    noise = Noise(wrong=3, wrong_by=wrong_by, contiguous=contiguous)
    noisy = cues_of(noise, codes, family, seed)
    wrong = noisy != codes
    assert (wrong.sum(axis=1) == 3).all()
    source = noisy // 5
    assert (noisy % 5 == np.arange(5)).all()
    assert (source[0][wrong[0]] == 1).all()
    for row in range(1, 8):
        assert (source[row][wrong[row]] < row).all()
        if wrong_by == "pattern":
            assert len(set(source[row][wrong[row]])) == 1


def test_missing_cells_are_left_alone():
    codes = np.array([[-1, 0, 1, 1], [1, -1, 0, 0]])
    noisy = cues_of(Noise(flips=1.0), codes, Dense(4))
    assert noisy.tolist() == [[-1, 1, 0, 0], [0, -1, 1, 1]]
    assert cues_of(Noise(wrong=1.0), codes, Dense(4))[:, :2].tolist() == [[-1, -1], [-1, -1]]


def test_only_what_is_asked_for_is_told():
    with unchecked():
        assert Noise(moves=np.int64(2), erased=np.float32(0.5)).describe() == {"moves": 2, "erased": 0.5}
    assert repr(Noise(flips=0.0)) == "Noise()"
    assert Noise(flips=0.1, contiguous=True).describe() == {"flips": 0.1, "contiguous": True}


def test_amounts_of_corrupt_are_shares_still():
    assert bnn.corrupt([[1, 1, 1, 1]], flip=1.0, seed=0).sum() == 0
    with unchecked():
        assert bnn.corrupt([[1, 1, 1, 1]], flip=1, seed=0).sum() == 0


def test_cues_are_drawn_in_blocks():
    """A cue lies in the same block at every load, so that the draws before it are the same."""
    noise = Noise(flips=0.5)
    many = Stream(Dense(9), noise, 1)
    many.patterns(BLOCK * 4)
    few = Stream(Dense(9), noise, 1)
    assert np.array_equal(many.asked(5, 5)[1].codes, few.asked(5, 5)[1].codes)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dense(0), r"Dense\.neurons: got 0; give a whole number of at least 1"),
        (lambda: Dense(10, activity=1.0), r"Dense\.activity: got 1\.0; give a share above 0 and below 1"),
        (lambda: Dense(True), r"Dense\.neurons: got True"),
        (lambda: KActive(10, 6), r"KActive\.active: got 6 of 10 neurons; give at most half of them"),
        (lambda: KActive(1), r"KActive\.neurons: got 1; give a whole number of at least 2"),
        (lambda: KActive(10, 0), r"KActive\.active: got 0"),
        (lambda: Modular(3, 1), r"Modular\.size: got 1; give a whole number of at least 2"),
        (lambda: Modular(0, 2), r"Modular\.groups: got 0"),
        (lambda: Modular("x", 2), r"Modular\.groups: got 'x'"),
        (lambda: Correlated(Real("zoo")), r"Correlated\.prototypes: got Real\(data='zoo'\); give Dense"),
        (lambda: Correlated(per=0), r"Correlated\.per: got 0"),
        (lambda: Correlated(distortion=0.0), r"Correlated\.distortion: got 0\.0"),
        (lambda: Real("zo"), r"datasets: there is no 'zo'; did you mean 'zoo'"),
        (lambda: Noise(flips=1.5), r"Noise\.flips: got 1\.5; give a share, such as 0\.1, or a whole number"),
        (lambda: Noise(moves=-1), r"Noise\.moves: got -1"),
        (lambda: Noise(wrong="half"), r"Noise\.wrong: got 'half'"),
        (lambda: Noise(erased=True), r"Noise\.erased: got True"),
        (lambda: Noise(erased=float("nan")), r"Noise\.erased: got nan"),
        (lambda: Noise(contiguous=1), r"Noise\.contiguous: got 1; give True or False"),
        (lambda: Noise(wrong_by="patern"), r"Noise\.wrong_by: there is no 'patern'; did you mean 'pattern'"),
    ],
)
def test_refusals(make, message):
    with unchecked(), pytest.raises(DataError, match=message):
        make()
