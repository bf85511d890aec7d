import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bnn.discretize import (
    METHODS,
    codes_of,
    equal_frequency,
    information_gain,
    memberships,
    minimum_description_length,
)

NUMBERS = st.lists(st.integers(-20, 20).map(lambda i: i / 4), min_size=1, max_size=30)


@given(NUMBERS, st.integers(2, 8), st.data())
def test_equal_frequency_puts_each_bound_where_the_running_weight_is_nearest_to_its_share(numbers, intervals, data):
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(numbers), max_size=len(numbers)))
    distinct = sorted(set(numbers))
    running = [sum(w for x, w in zip(numbers, weights, strict=True) if x <= d) for d in distinct]
    cuts = set()
    for share in range(1, intervals):
        wanted = Fraction(share * running[-1], intervals)
        if len(distinct) > 1:
            cuts.add(min(range(len(distinct) - 1), key=lambda i: (abs(running[i] - wanted), i)))
    expected = [(distinct[i] + distinct[i + 1]) / 2 for i in sorted(cuts)]
    assert equal_frequency(np.array(numbers), np.array(weights), intervals).tolist() == expected


@pytest.mark.parametrize("method", sorted(METHODS))
@given(NUMBERS, st.data())
def test_weights_are_repetitions_and_order_does_not_matter(method, numbers, data):
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(numbers), max_size=len(numbers)))
    classes = data.draw(st.lists(st.integers(0, 2), min_size=len(numbers), max_size=len(numbers)))
    numbers, classes, weights = np.array(numbers), np.array(classes), np.array(weights)
    order = np.random.default_rng(0).permutation(weights.sum())
    more, of_more = np.repeat(numbers, weights)[order], np.repeat(classes, weights)[order]
    find = METHODS[method]
    if method == "equal-frequency":
        assert np.array_equal(find(numbers, weights), find(more))
    else:
        assert np.array_equal(find(numbers, classes, weights), find(more, of_more))


def entropy(labels):
    shares = [labels.count(c) / len(labels) for c in set(labels)]
    return -sum(p * math.log2(p) for p in shares)


@given(NUMBERS, st.data())
def test_binarisation_takes_the_most_informative_of_all_bounds(numbers, data):
    classes = data.draw(st.lists(st.integers(0, 2), min_size=len(numbers), max_size=len(numbers)))
    pairs = list(zip(numbers, classes, strict=True))
    rests = {}
    for below, above in zip(sorted(set(numbers)), sorted(set(numbers))[1:], strict=False):
        sides = [c for x, c in pairs if x <= below], [c for x, c in pairs if x > below]
        rests[(below + above) / 2] = sum(len(side) * entropy(side) for side in sides) / len(pairs)
    found = information_gain(np.array(numbers), np.array(classes)).tolist()
    assert len(found) == (len(rests) > 0)
    if found:
        assert rests[found[0]] == pytest.approx(min(rests.values()), abs=1e-12)


def test_the_shortest_description_by_hand():
    # 8 of class 0 below 8 of class 1: gain 1; the price is (log2(15) + log2(3^2 - 2) - 2)/16 = 0.29
    numbers, classes = np.arange(16.0), np.repeat([0, 1], 8)
    assert minimum_description_length(numbers, classes).tolist() == [7.5]
    # 2 below 2: gain 1, price (log2(3) + log2(7) - 2)/4 = 0.598: still kept; 1 below 1: (0 + log2(7) - 2)/2 = 0.40
    assert minimum_description_length(numbers[:4], np.array([0, 0, 1, 1])).tolist() == [1.5]
    # 1 of 3 apart: gain 0.918, price (log2(2) + log2(7) - 2 * 0.918)/3 = 0.657
    assert minimum_description_length(numbers[:3], np.array([0, 1, 1])).tolist() == [0.5]
    # alternating classes: the best gain is that of one row at the end, far below the price
    assert minimum_description_length(numbers, np.arange(16) % 2).tolist() == []
    # three runs make two bounds
    assert minimum_description_length(np.arange(60.0), np.repeat([0, 1, 0], 20)).tolist() == [19.5, 39.5]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_equal_numbers_and_none_have_no_bound(method):
    options = () if method == "equal-frequency" else (np.zeros(3, int),)
    assert METHODS[method](np.ones(3), *options).tolist() == []
    assert METHODS[method](np.zeros(0), *(o[:0] for o in options)).tolist() == []


def test_bounds_lie_above_the_lower_number_even_of_neighbouring_floats():
    low = 1.0
    high = np.nextafter(low, 2.0)
    bounds = equal_frequency(np.array([low, high]), intervals=2)
    assert codes_of(np.array([low, high]), bounds).tolist() == [0, 1]
    wide = equal_frequency(np.array([-1e308, 1e308]), intervals=2)
    assert np.isfinite(wide).all()


def test_one_frequent_number_takes_the_place_of_several_intervals():
    # 0 has half of the weight: of the bounds at 4, 8, ..., 16 of 20 only those outside remain
    numbers = np.concatenate([np.zeros(10), np.arange(1, 11)])
    assert equal_frequency(numbers, intervals=5).tolist() == [0.5, 2.5, 6.5]


# --- Membership -----------------------------------------------------------------------------------------------------


@example([0.0], [0.5], 2.3e-309)
@given(NUMBERS, st.lists(st.integers(-20, 20).map(lambda i: i / 2), unique=True, max_size=5), st.floats(0, 10))
def test_memberships_are_the_masses_of_the_normal_distribution(numbers, bounds, sigma):
    bounds = np.array(sorted(bounds), dtype=float)
    found = memberships(np.array([*numbers, np.nan]), bounds, sigma)
    assert not found[-1].any()
    assert np.allclose(found[:-1].sum(axis=1), 1)
    for row, v in zip(found, numbers, strict=False):
        if sigma < 1e-3:
            continue
        edges = [-math.inf, *bounds, math.inf]
        masses = [0.5 * (1 + math.erf((edge - v) / sigma / math.sqrt(2))) for edge in edges]
        assert np.allclose(row, np.diff(masses), atol=1e-12)


def test_without_fuzziness_a_number_belongs_to_its_own_interval():
    found = memberships(np.array([0.5, 1.0, np.nan]), np.array([1.0]), 0.0)
    assert found.tolist() == [[1, 0], [0, 1], [0, 0]]


def test_more_fuzziness_moves_mass_outwards():
    own = [memberships(np.array([0.5]), np.array([0.0, 1.0]), s)[0, 1] for s in (0.0, 0.1, 1.0, 10.0)]
    assert all(a > b for a, b in combinations(own, 2) if a != b)
    assert own == sorted(own, reverse=True)
