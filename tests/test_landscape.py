"""Fixed points of small networks, by enumeration."""

import cases
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnn
from bnn.errors import DataError
from bnn.landscape import all_states

NO_SELF = [
    case
    for case in cases.NETWORK_CASES + cases.EXACT_MEMORIES
    if not getattr(case, "options", {}).get("self_connections", "self" in case.name)
]


@given(data=st.data())
def test_fixed_points_are_the_minima_under_single_flips_without_self_connections(data):
    case = data.draw(st.sampled_from(NO_SELF))
    network = case.network(data.draw(case.sources()))
    states = oracles.boltzmann(network, 1.0)[0]
    assert all_states(network).tolist() == states.tolist()
    points = bnn.fixed_points(network)
    stable = bnn.recall(network, states, max_sweeps=1).flips == 0
    assert sorted(points.tolist()) == sorted(states[stable].tolist())
    assert (np.diff(network.energy(points)) >= 0).all()
    if network.symmetric:
        energy = {tuple(v): e for v, e in zip(states.tolist(), network.energy(states).tolist(), strict=True)}
        flip = [
            [tuple(w) for w in states.tolist() if sum(a != b for a, b in zip(v, w, strict=True)) == 1] for v in states
        ]
        minima = [list(v) for v, near in zip(energy, flip, strict=True) if all(energy[v] <= energy[w] for w in near)]
        assert sorted(points.tolist()) == sorted(minima)


def test_self_connections_add_fixed_points():
    network, held = bnn.Network.of([[0, -1], [-1, 0]], bias=[-1, -1]), bnn.Network.of([[3, -1], [-1, 3]], bias=[-1, -1])
    assert bnn.fixed_points(network).tolist() == [[0, 0]]
    assert bnn.fixed_points(held).tolist() == [[0, 1], [1, 0], [0, 0], [1, 1]]  # E = -1/2, -1/2, 0, 0


def test_a_network_may_have_no_fixed_point():
    turning = bnn.Network.of([[0, 1], [-1, 0]], low=-1)
    assert bnn.fixed_points(turning).shape == (0, 2)


def test_learned_patterns_are_fixed_points_deeper_than_chance():
    patterns = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0, 0]])
    points = bnn.fixed_points(bnn.learn(bnn.Records.from_patterns(patterns), "odds")).tolist()
    assert all(pattern in points for pattern in patterns.tolist())


def test_large_networks_are_refused():
    with pytest.raises(DataError, match=r"fixed_points\.network: has 21 neurons; enumeration stops at 20\."):
        bnn.fixed_points(bnn.Network.of(np.zeros((21, 21))))
