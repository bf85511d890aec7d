"""Criteria, the grid of loads, the search over it, and rises that it does not expect."""

import math
from dataclasses import replace
from itertools import pairwise

import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnn.study import (
    Criterion,
    Point,
)
from bnn.study.search import largest, loads_up_to, rises

POINT = Point(0, 10, 20, 4, 3, missed=2, extra=6, differing=8, unknown=4, sweeps=6, parameters=190)


@pytest.mark.parametrize(
    ("criterion", "worse", "equal", "better"),
    [
        (Criterion("exact", 0.75), {"recalled": 2}, {}, {"recalled": 4}),
        (Criterion("wrong", 0.1), {"missed": 3}, {}, {"extra": 5}),
        (Criterion("overlap", 0.8), {"missed": 3}, {}, {"extra": 5}),
    ],
    ids=str,
)
def test_a_criterion_holds_from_its_bound_on(criterion, worse, equal, better):
    assert not criterion.holds(replace(POINT, **worse))
    assert criterion.holds(replace(POINT, **equal))
    assert criterion.holds(replace(POINT, **better))
    assert criterion.holds(replace(POINT, **worse), replace(POINT, **better))  # on average
    assert criterion.margin(replace(POINT, **worse)) < 0 < criterion.margin(replace(POINT, **better))


def test_criteria_by_name():
    assert list(map(str, map(Criterion, ("exact", "overlap", "wrong")))) == [
        "exact >= 0.9",
        "overlap >= 0.95",
        "wrong <= 0.015",
    ]
    assert Criterion().holds(replace(POINT, cues=10, recalled=9))
    assert Criterion(bound=1).bound == 1.0


@given(st.integers(1, 3000), st.sampled_from([0.005, 0.01, 0.1, 0.5, 0.9]))
def test_loads_grow_by_the_precision(most, precision):
    loads = loads_up_to(most, precision)
    assert loads == oracles.grid(most, precision)
    assert all(b == a + 1 or b <= a * (1 + precision) for a, b in pairwise(loads))


@given(st.integers(1, 400), st.integers(0, 500), st.integers(1, 600), st.sampled_from([0.01, 0.1, 0.5]))
def test_the_search_finds_the_last_load_that_holds(most, limit, start, precision):
    loads, asked = loads_up_to(most, precision), []
    found = largest(lambda load: asked.append(load) or load <= limit, loads, start)
    assert found == sum(load <= limit for load in loads)
    assert len(set(asked)) == len(asked)
    assert len(asked) <= math.log2(most + start) + math.log(most + start, 4 / 3) + math.log2(len(loads)) + 4


@given(st.data(), st.integers(1, 200), st.integers(1, 300))
def test_what_is_found_holds_and_the_next_load_does_not(data, most, start):
    loads, asked = loads_up_to(most, 0.05), {}
    found = largest(lambda load: asked.setdefault(load, data.draw(st.booleans())), loads, start)
    assert found == 0 or asked[loads[found - 1]]
    assert found == len(loads) or not asked[loads[found]]


def test_a_single_failure_ends_no_doubling():
    loads = loads_up_to(1000, 0.01)
    assert loads[largest(lambda load: load <= 300 and load != 20, loads, 10) - 1] == 300
    assert loads[largest(lambda load: 40 <= load <= 300, loads, 20) - 1] == 300
    assert largest(lambda load: 40 <= load <= 300, loads, 10) == 0  # two loads in a row fail


def test_loads_that_hold_between_a_start_and_its_half_are_found():
    loads = loads_up_to(1000, 0.01)
    assert loads[largest(lambda load: 12 <= load <= 18, loads, 40) - 1] == 18


def test_rises_are_told_where_chance_does_not_explain_them():
    def at(patterns, recalled, seed=0):
        return replace(POINT, seed=seed, patterns=patterns, cues=100, recalled=recalled)

    assert rises([at(10, 100), at(20, 90), at(30, 95)]) == ()
    (rise,) = rises([at(30, 99), at(10, 60, seed=1), at(20, 90, seed=1), at(30, 50, seed=1), at(10, 98)])
    assert str(rise) == "seed 1: 0.6 recalled at 10, 0.9 at 20"
    share = 0.75
    assert (0.9 - 0.6) / math.sqrt(share * (1 - share) * 2 / 100) > 4
    assert rises([at(10, 100), at(20, 100)]) == ()
