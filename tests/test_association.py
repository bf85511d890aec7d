"""Associations and drift: intervals against scipy's distributions, pairs against a loop, and what is refused."""

import math
from itertools import combinations

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bnn
from bnn.association import counts_behind, credible_interval, find_associations, information_component
from bnn.counts import Counts
from bnn.errors import DataError, SchemaError

NUMBERS = st.lists(st.tuples(st.integers(0, 500), st.floats(0.01, 500.0)), min_size=1, max_size=20)


def zoo():
    return Counts.of(bnn.datasets.load("zoo"))


# --- the measure and its interval


@given(NUMBERS, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_intervals_are_quantiles_of_the_gamma_posterior(numbers, level):
    observed, expected = np.array(numbers, dtype=np.float64).T
    low, high = credible_interval(observed, expected, level)
    posterior = stats.gamma(observed + 0.5, scale=1 / (expected + 0.5))
    np.testing.assert_allclose(np.exp2(low), posterior.ppf((1 - level) / 2), rtol=1e-9)
    np.testing.assert_allclose(np.exp2(high), posterior.ppf((1 + level) / 2), rtol=1e-9)
    component = information_component(observed, expected)
    np.testing.assert_allclose(np.exp2(component), posterior.mean(), rtol=1e-12)


def test_published_approximation_is_near_for_many_records():
    # Noren et al. 2013: IC - 3.3 (O + 1/2)^-1/2 - 2 (O + 1/2)^-3/2, and + 2.4 (..)^-1/2 - 0.5 (..)^-3/2
    observed, expected = np.array([100.0, 1000.0]), np.array([40.0, 900.0])
    low, high = credible_interval(observed, expected)
    component, root = information_component(observed, expected), (observed + 0.5) ** -0.5
    np.testing.assert_allclose(low, component - 3.3 * root - 2 * root**3, atol=0.05)
    np.testing.assert_allclose(high, component + 2.4 * root - 0.5 * root**3, atol=0.05)


# --- the pairs


@settings(deadline=None)
@given(strategies.records(max_rows=20), st.sampled_from([0.5, 0.8, 0.95]), st.integers(1, 5))
def test_pairs_found_are_those_of_a_loop(records, level, top):
    counts = Counts.of(records)
    layout, found = counts.layout, find_associations(counts, top, level=level)
    strong, compared = {1: [], -1: []}, 0
    for i, j in combinations(range(layout.neurons), 2):
        a, b = layout.attribute[i], layout.attribute[j]
        if a == b or counts.known[a, b] == 0 or 0 in (counts.on[i, b], counts.on[j, a]):
            continue
        compared += 1
        observed, expected = counts.joint[i, j], counts.on[i, b] * counts.on[j, a] / counts.known[a, b]
        low, high = (math.log2(stats.gamma.ppf(p, observed + 0.5) / (expected + 0.5)) for p in
                     ((1 - level) / 2, (1 + level) / 2))  # fmt: skip
        if low > 0:
            strong[1].append((-low, i, j))
        if high < 0:
            strong[-1].append((high, i, j))
    assert found.compared == compared
    assert found.found == len(strong[1]) + len(strong[-1])
    for sign in (1, -1):
        mine = sign * found.component > 0
        bounds = np.sort([-s for s, _, _ in strong[sign]])[::-1][:top]
        np.testing.assert_allclose(sign * (found.low if sign > 0 else found.high)[mine], bounds, atol=1e-9)
        assert set(zip(found.first[mine].tolist(), found.second[mine].tolist(), strict=True)) <= {
            (i, j) for _, i, j in strong[sign]
        }


def test_independent_values_are_no_association():
    # every combination once: O = E everywhere
    counts = Counts.of(bnn.Records.from_table({"a": [0, 0, 1, 1], "b": ["x", "y", "x", "y"]}))
    found = find_associations(counts)
    assert (len(found), found.compared, found.found) == (0, 4, 0)
    assert repr(found) == "Associations(0 of 0 pairs found among 4)"


def test_repeats_sharpen_the_interval():
    few = bnn.Records.from_table({"a": [0, 1], "b": [0, 1]})
    assert len(find_associations(Counts.of(few))) == 0
    many = bnn.Records.from_table({"a": [0, 1] * 20, "b": [0, 1] * 20})
    found = find_associations(Counts.of(many))
    assert found.observed.tolist() == [20.0, 20.0, 0.0, 0.0]
    assert found.expected.tolist() == [10.0] * 4


def test_tiles_do_not_matter(monkeypatch):
    whole = find_associations(zoo(), 30)
    monkeypatch.setattr("bnn.association.TILE", 7)
    tiled = find_associations(zoo(), 30)
    for name in ("first", "second", "observed", "low", "high"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(tiled, name))
    assert (whole.compared, whole.found) == (tiled.compared, tiled.found)


# --- of a network


def test_a_network_of_complete_records_tells_its_counts():
    counts = zoo()
    network = bnn.learn(counts, m=0.7)
    apart = counts.layout.attribute[:, None] != counts.layout.attribute
    weights, prior = network.weights.numpy(), network.prior.numpy()
    behind = counts_behind(counts.layout, weights, prior, 101.0, 0.7)
    np.testing.assert_array_equal(behind.joint[apart], counts.joint[apart])
    np.testing.assert_array_equal(behind.on, counts.on)
    told, given_ = network.associations(), network.associations(counts)
    np.testing.assert_array_equal(told.observed, given_.observed)
    np.testing.assert_array_equal(told.weight, weights[told.first, told.second])
    assert told.to_frame().column_names == [
        "first", "second", "observed", "expected", "component", "low", "high", "weight",
    ]  # fmt: skip


def test_only_pairs_of_the_attribute_asked_for():
    found = bnn.learn(zoo()).associations(attribute="class", top=100)
    mine = zoo().layout.neurons_of("class")
    assert (np.isin(found.first, mine) ^ np.isin(found.second, mine)).all()
    assert found.compared == 7 * (zoo().layout.neurons - 7)
    assert "252 pairs were compared and 87 intervals of 95 % leave out 0; were no" in found.caution
    assert "up to about 13 would by chance" in found.caution


@pytest.mark.parametrize(
    "network",
    [
        lambda: bnn.learn(zoo(), "odds"),
        lambda: bnn.learn(bnn.datasets.load("house-votes-84")),
        lambda: bnn.learn(zoo(), estimate="conditional"),
        lambda: bnn.learn(zoo()).cut(0.1, seed=0),
        lambda: bnn.learn(zoo().decay(2.0)),
        lambda: bnn.Network.of([[0, 1], [1, 0]]),
    ],
)
def test_a_network_that_does_not_tell_asks_for_counts(network):
    with pytest.raises(DataError, match=r"give the counts, as in network\.associations\(counts\)"):
        network().associations()


def test_votes_with_gaps_are_compared_by_their_counts():
    votes = Counts.of(bnn.datasets.load("house-votes-84"))
    found = bnn.learn(votes).associations(votes, attribute="class", top=1)
    assert found.low[0] > 0 > found.high[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"top": 0}, r"Network\.associations\.top: got 0; ask for at least one pair"),
        ({"level": 1.0}, r"Network\.associations\.level: got 1\.0; give a probability between 0 and 1"),
        ({"attribute": "leg"}, "leg"),
    ],
)
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(DataError, match=sentence):
        bnn.learn(zoo()).associations(**options)


def test_counts_of_other_neurons_are_refused():
    with pytest.raises(SchemaError, match=r"Network\.associations\.counts"):
        bnn.learn(zoo()).associations(Counts.of(bnn.datasets.load("lymphography")))


# --- drift


def halves():
    records = bnn.datasets.load("zoo")
    return Counts.of(records[:50]), Counts.of(records[50:])


def test_drift_is_a_ratio_of_gamma_variables():
    before, after = halves()
    found = bnn.drift(before, after, top=5, level=0.5)
    rng = np.random.default_rng(0)
    for k in range(len(found)):
        i, j = found.first[k], found.second[k]
        draws = []
        for counts in (before, after):
            n = counts.joint.diagonal()
            observed, expected = counts.joint[i, j], n[i] * n[j] / counts.rows
            draws.append(np.log2(rng.gamma(observed + 0.5, 1 / (expected + 0.5), 200_000)))
        sampled = np.quantile(draws[1] - draws[0], [0.25, 0.75])
        np.testing.assert_allclose([found.low[k], found.high[k]], sampled, atol=0.05)
    assert ((found.low > 0) | (found.high < 0)).all()
    assert found.before.tolist() == bnn.learn(before).weights.numpy()[found.first, found.second].tolist()


def test_drift_turns_round_with_its_windows():
    before, after = halves()
    one, other = bnn.drift(before, after, top=100, level=0.8), bnn.drift(after, before, top=100, level=0.8)
    assert one.found == other.found
    key = {pair: c for *pair, c in zip(one.first, one.second, one.change, strict=True) for pair in [tuple(pair)]}
    for i, j, c in zip(other.first, other.second, other.change, strict=True):
        assert key[i, j] == pytest.approx(-c)


def test_a_window_has_not_drifted_from_itself():
    found = bnn.drift(zoo(), zoo())
    assert len(found) == found.found == 0
    assert repr(found) == f"Drift(0 of 0 changes found among {found.compared:,} pairs)"
    assert found.to_frame().column_names == ["first", "second", "before", "after", "change", "low", "high"]


@pytest.mark.parametrize(("options", "sentence"), [({"top": -1}, "drift.top: got -1"), ({"level": 2.0}, "drift.level")])
def test_drift_refuses(options, sentence):
    with pytest.raises(DataError, match=sentence):
        bnn.drift(*halves(), **options)
