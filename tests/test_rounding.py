"""Rounding once to a dyadic grid: after it, every sum over states is exact, in any order."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import bnn
from bnn import rounding
from bnn.errors import DataError

DTYPES = [np.float32, np.float64]


@st.composite
def matrices(draw, dtype, symmetric):
    """Square weights of any size that sums of 8 survive."""
    n, width = draw(st.integers(1, 8)), 32 if dtype == np.float32 else 64
    numbers = st.floats(-1e6, 1e6, width=width, allow_subnormal=False)
    weights = draw(hnp.arrays(dtype, (n, n), elements=numbers, fill=st.just(0.0)))
    weights = np.triu(weights) + np.triu(weights, 1).T if symmetric else weights
    return weights * dtype(draw(st.sampled_from([1e-12, 1.0, 1e12])))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_sums_of_a_rounded_network_are_exact_in_any_order(dtype, symmetric, data):
    weights = data.draw(matrices(dtype, symmetric))
    n = len(weights)
    bias = weights[data.draw(st.integers(0, n - 1))].copy()
    before = weights.copy()
    grid = rounding.round_network(weights, bias, None)
    if grid == 0.0:
        assert not before.any()
        return
    units = np.concatenate([weights, bias[None]]).astype(np.float64) / grid
    assert np.array_equal(units, np.rint(units))
    assert (np.abs(weights.astype(np.float64) - before) <= grid / 2).all()
    order = data.draw(st.permutations(range(n)))
    states = np.array(data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n)))
    exact = [sum(Fraction(float(w)) * int(s) for w, s in zip(row, states, strict=True)) for row in weights]
    for rows in (weights, weights.T):
        field = bias.copy()
        for i in order:  # in the dtype of the weights, one after the other
            field += rows[:, i] * dtype(states[i])
        total = [sum(Fraction(float(w)) * int(s) for w, s in zip(row, states, strict=True)) for row in rows]
        assert [Fraction(float(h)) for h in field] == [t + Fraction(float(b)) for t, b in zip(total, bias, strict=True)]
    energy = 0.0
    for j in order:  # and energies in float64
        energy += float(states[j]) * (float(weights[j] @ states.astype(dtype)) + 2.0 * float(bias[j]))
    assert Fraction(energy) == sum(
        int(s) * (e + 2 * Fraction(float(b))) for s, e, b in zip(states, exact, bias, strict=True)
    )


@given(
    rows=hnp.arrays(np.float64, st.integers(1, 6), elements=st.floats(0, 1e9, allow_subnormal=False)),
    dtype=st.sampled_from(DTYPES),
)
def test_the_grid_is_the_coarsest_that_the_bound_asks_for(rows, dtype):
    grid = rounding.grid_for(rows, np.dtype(dtype))
    bound = 2 * (rows.max() if dtype == np.float32 else sum(map(Fraction, rows.tolist())))
    if bound == 0 or grid == np.finfo(dtype).tiny:
        return
    bits = rounding.BITS[np.dtype(dtype)]
    assert np.log2(grid) == round(np.log2(grid))
    assert (
        Fraction(grid) * 2**bits * Fraction(1 + 1e-9) >= bound > Fraction(grid) * 2 ** (bits - 1) * Fraction(1 - 1e-9)
    )


def test_columns_of_asymmetric_weights_add_up_exactly_too():
    rng = np.random.default_rng(0)
    weights = np.zeros((200, 200))
    weights[:, 3] = rng.random(200)  # no row is large, one column is
    network = bnn.Network.of(weights, dtype=torch.float32)
    exact = sum(map(Fraction, network.weights[:, 3].tolist()))
    for order in (range(200), rng.permutation(200)):
        total = np.float32(0.0)
        for j in order:
            total += network.weights[j, 3].numpy()
        assert Fraction(float(total)) == exact
    trace = bnn.recall(network, rng.integers(0, 2, (20, 200)), bnn.Glauber(), seed=0, max_sweeps=2)
    assert (trace.descent.mismatch, trace.descent.tolerance) == (0.0, 0.0)


def test_rounding_twice_changes_nothing():
    rng = np.random.default_rng(0)
    network = bnn.Network.of(rng.normal(size=(30, 30)), bias=rng.normal(size=30))
    again = bnn.Network.of(network.weights.numpy(), bias=network.bias.numpy())
    assert torch.equal(network.weights, again.weights)
    assert network.grid == again.grid


def test_weights_move_less_than_they_are_known():
    patterns = np.random.default_rng(0).integers(0, 2, (50, 300))
    first, second = (
        bnn.learn(bnn.Records.from_patterns(patterns), "odds", dtype=d) for d in (torch.float64, torch.float32)
    )
    assert first.grid < 1e-9
    assert np.abs(first.weights.numpy() - second.weights.numpy()).max() <= second.grid


@pytest.mark.parametrize(("dtype", "size"), [(torch.float64, 1e-300), (torch.float32, 1e-35)])
def test_tiny_weights_stay_what_they_are(dtype, size):
    network = bnn.Network.of([[0, size], [size, 0]], dtype=dtype)
    assert network.weights[0, 1].item() == pytest.approx(size, rel=1e-2)
    assert bnn.recall(network, [[1, 0]], check="raise").states.tolist() == [[1, 1]]


@pytest.mark.parametrize(("dtype", "size"), [(torch.float64, 1e308), (torch.float32, 1e39)])
def test_huge_weights_are_refused(dtype, size):
    with pytest.raises(DataError, match=r"Network\.weights: with sizes up to .* sums would overflow torch\.float"):
        bnn.Network.of([[0, size], [size, 0]], dtype=dtype)


def test_a_network_of_zeros_has_grid_zero_and_takes_any_input():
    network = bnn.Network.of(np.zeros((3, 3)))
    assert network.grid == 0.0
    trace = bnn.recall(network, [[0, 0, 1]], input=[0.1, 0.0, -0.1], check="raise")
    assert trace.states.tolist() == [[1, 0, 0]]
    assert trace.descent.holds
