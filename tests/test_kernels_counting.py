"""The compiled loops of counting, their threads, and how their compilation is announced."""

import os
import subprocess
import sys
import time

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bnn.errors import DataError
from bnn.kernels import bits, compiling, pairs, threads


def random_codes(sizes, rows, seed=0):
    """int64 [rows, attributes], a tenth or more missing."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(-1, size, rows) for size in sizes], axis=1)
    codes[rng.random(codes.shape) < 0.1] = -1
    return codes


def by_bincount(codes, sizes, weights=None):
    """All pairs, two attributes at a time; missing is one more value, cut off at the end."""

    def block(a, b):
        left, right = (np.where(codes[:, c] < 0, sizes[c], codes[:, c]) for c in (a, b))
        cells = np.bincount(left * (sizes[b] + 1) + right, weights, minlength=(sizes[a] + 1) * (sizes[b] + 1))
        return cells.reshape(sizes[a] + 1, sizes[b] + 1)[:-1, :-1]  # with weights, float64 is exact below 2**53

    everyone = range(len(sizes))
    return np.block([[block(a, b) for b in everyone] for a in everyone])


# --- pairs of any attributes

SIZES = {
    "groups of two": [10] * 21,
    "mixed": [2, 3, 1, 4, 2, 2, 2, 2, 2, 7, 2, 2, 2, 20],
    "more members than one group takes": [1] * 20,
    "no values": [0, 3, 0],
    "only empty": [0],
    "wide": [300, 2, 300, 5],
    "just too wide to join": [127, 128, 2],
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("rows", [0, 1, 2, 157, 4001])
def test_pairs_equal_bincounts(sizes, rows):
    codes = random_codes(sizes, rows)
    counted = pairs.count_pairs(codes, np.array(sizes))
    assert counted.dtype == np.int64
    np.testing.assert_array_equal(counted, by_bincount(codes, sizes))


@given(st.data(), st.lists(st.integers(0, 40), min_size=1, max_size=9), st.integers(0, 60), st.integers(0, 99))
def test_weighted_pairs_equal_repeated_rows(data, sizes, rows, seed):
    codes = random_codes(sizes, rows, seed)
    weights = data.draw(hnp.arrays(np.int64, rows, elements=st.integers(0, 3)))
    weighted = pairs.count_pairs(codes, np.array(sizes), weights)
    np.testing.assert_array_equal(weighted, pairs.count_pairs(np.repeat(codes, weights, axis=0), np.array(sizes)))


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_do_not_depend_on_tables_groups_chunks_or_threads(monkeypatch, weighted):
    sizes, rows = [3, 60, 60, 9], 66_001
    codes = random_codes(sizes, rows)
    weights = np.random.default_rng(1).integers(0, 1 << 35, rows) if weighted else None
    expected = by_bincount(codes, sizes, weights)
    for name, value in (("TABLE", 0), ("TABLE", 1 << 20), ("GROUP", 1), ("GROUP", 1 << 18), ("CHUNK_BYTES", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(pairs, name, value)
            for number in (1, 2, 5):
                with threads.threads(number):
                    np.testing.assert_array_equal(pairs.count_pairs(codes, np.array(sizes), weights), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_pairs_do_not_depend_on_type_or_memory_order(dtype, order):
    sizes = [10, 3, 2, 5]
    codes = random_codes(sizes, 1000)
    if dtype == np.uint8:
        codes = np.abs(codes)
    given_codes = np.repeat(codes, 2, axis=0)[::2] if order == "strided" else np.array(codes, order=order)
    counted = pairs.count_pairs(given_codes.astype(dtype, order="K"), np.array(sizes))
    np.testing.assert_array_equal(counted, by_bincount(codes, sizes))


def test_pairs_count_exactly_past_2_to_24():
    rows = (1 << 24) + 5  # from here float32 no longer counts, nor do tables of a few bits
    codes = np.zeros((rows, 2), dtype=np.int8, order="F")
    codes[-3:, 1] = 1
    counted = pairs.count_pairs(codes, np.array([1, 2]))
    np.testing.assert_array_equal(counted, [[rows, rows - 3, 3], [rows - 3, rows - 3, 0], [3, 0, 3]])


def test_a_code_outside_its_attribute_counts_as_missing():
    codes = np.array([[0, 99], [5, 1], [-7, 1]], dtype=np.int8)
    counted = pairs.count_pairs(codes, np.array([2, 2]))
    np.testing.assert_array_equal(counted, [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]])


# --- bits


@given(st.integers(0, 2**64 - 1))
def test_ones_are_counted(word):
    assert bits._ones(np.uint64(word)) == word.bit_count()


@given(st.integers(0, 300), st.integers(1, 140), st.integers(0, 99), st.sampled_from([0.0, 0.01, 0.5]))
def test_bits_equal_products(rows, attributes, seed, missing):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (rows, attributes)).astype(np.int8)
    codes[rng.random(codes.shape) < missing] = -1
    on, known = bits.pack(codes)
    is_on, is_known = (codes == 1).astype(np.int64), (codes >= 0).astype(np.int64)
    assert (known is None) == bool(is_known.all())
    np.testing.assert_array_equal(bits.common(on, on, attributes), is_on.T @ is_on)
    if known is not None:
        np.testing.assert_array_equal(bits.common(on, known, attributes), is_on.T @ is_known)
        np.testing.assert_array_equal(bits.common(known, known, attributes), is_known.T @ is_known)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_bits_do_not_depend_on_type_order_or_threads(dtype, order):
    codes = random_codes([2] * 70, 10_000).astype(dtype)
    on, known = bits.pack(codes)
    for number in (1, 2, 5):
        with threads.threads(number):
            again_on, again_known = bits.pack(np.array(codes, order=order))
            np.testing.assert_array_equal(again_on, on)
            np.testing.assert_array_equal(again_known, known)
            np.testing.assert_array_equal(bits.common(again_on, again_known, 70), bits.common(on, known, 70))


# --- threads


@given(st.integers(0, 500), st.integers(1, 60), st.integers(1, 8))
def test_chunks_are_contiguous_and_start_at_multiples_of_the_grain(rows, grain, number):
    with threads.threads(number):
        chunks = threads.run(lambda begin, end: (begin, end), rows, grain)
    assert [row for begin, end in chunks for row in range(begin, end)] == list(range(rows))
    assert len(chunks) <= number
    assert all(begin % grain == 0 and (end % grain == 0 or end == rows) for begin, end in chunks)


@pytest.mark.parametrize("failing", [0, 1])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_a_chunk_raises_arrives_once_all_have_stopped(failing, error):
    done = []

    def work(begin, end):
        if begin == failing:
            raise error("in a chunk")
        time.sleep(0.02)
        done.append(end)

    with threads.threads(3), pytest.raises(error, match="in a chunk"):
        threads.run(work, 3)
    assert len(done) == 2


def test_threads_can_be_set_and_return_to_what_they_were(monkeypatch):
    monkeypatch.delenv("BNN_THREADS", raising=False)
    default = threads.count()
    assert default >= 1
    monkeypatch.setenv("BNN_THREADS", "3")
    assert threads.count() == 3
    with threads.threads(2):
        assert threads.count() == 2
        with threads.threads(None):
            assert threads.count() == 3
        assert threads.count() == 2
    assert threads.count() == 3


@pytest.mark.parametrize("asked", ["0", "two", "-1", ""])
def test_a_wrong_number_of_threads_is_refused(monkeypatch, asked):
    monkeypatch.setenv("BNN_THREADS", asked)
    with pytest.raises(DataError, match=rf"BNN_THREADS: got '{asked}'; set it to a whole number of at least 1"):
        threads.count()
    with pytest.raises(DataError, match=r"set_threads.number: got 0; use at least 1, or None for the default\."):
        threads.set_threads(0)


# --- in processes of their own


def python(script, **environment):
    """Run a script in a fresh process; its outputs."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=os.environ | environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_threads_work_in_a_forked_child():
    script = (
        "import os, signal, threading, time\n"
        "from bnn.kernels import threads\n"
        "threads.set_threads(3)\n"
        "def all_at_once():\n"
        "    together = threading.Barrier(3)\n"
        "    threads.run(lambda begin, end: together.wait(), 3)\n"
        "all_at_once()\n"
        "time.sleep(0.2)  # until the pool's threads are idle: a child that believed in them would wait for ever\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    signal.alarm(20)\n"
        "    all_at_once()\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
    )
    python(script)


def test_the_first_compilation_is_announced_once_and_a_cached_one_not(tmp_path):
    script = (
        "import numba, numpy as np\n"
        "from bnn.kernels import bits\n"
        "numba.njit(lambda x: x + 1)(1)  # a user's own is no concern of ours\n"
        "for dtype in (np.int8, np.int16):\n"
        "    bits.pack(np.array([[0, 1]], dtype=dtype))\n"
    )
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path))[1] == compiling.ANNOUNCEMENT + "\n"
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path))[1] == ""


def test_counting_loads_no_torch():
    script = "import sys, bnn.counts\nassert not {'torch', 'pandas', 'matplotlib'} & set(sys.modules)\n"
    python(script)


def test_loops_compile_where_no_cache_can_be_kept(monkeypatch):
    compile_here = numba.njit

    def nowhere(function, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_here(function, **options)

    monkeypatch.setattr(numba, "njit", nowhere)

    def double(x):
        return 2 * x

    assert compiling.compiled(double)(4) == 8
