"""Bounds of numeric attributes, and how far a number belongs to each interval between them [C 3.1, 3.2].

Every method answers with the inner bounds, ascending, as float64; a number on a bound lies in the interval above it.
Numbers are given without the missing ones, each with its weight (in any unit; a weight of 2 is the row twice).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int, Integer, Real

INTERVALS = 20
"""How many intervals [C] would have: deliberately many, since neighbours can help each other out."""
FEW = 20
"""Whole numbers of at most so many distinct values are categories, where nobody says what they are."""

Numbers = Real[np.ndarray, " rows"]
Weights = Real[np.ndarray, " rows"]
Bounds = Float[np.ndarray, " bounds"]


def equal_frequency(numbers: Numbers, weights: Weights | None = None, intervals: int = INTERVALS) -> Bounds:
    """Intervals of as equal weight as whole distinct numbers allow; fewer where one number has the weight of several.

    Each of the ``intervals - 1`` bounds lies midway between the two distinct numbers between which the running weight
    is nearest to its share, the lower place where two are equally near.

    Examples
    --------
    >>> equal_frequency(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), intervals=3).tolist()
    [2.5, 4.5]
    """
    distinct, mass = _masses(numbers, weights)
    if len(distinct) < 2:
        return np.zeros(0)
    running = np.cumsum(mass)
    inner = running[:-1] * intervals  # compared with whole shares of the total: exact for whole weights
    wanted = np.arange(1, intervals) * running[-1]
    above = np.minimum(np.searchsorted(inner, wanted), len(inner) - 1)
    below = np.maximum(above - 1, 0)
    nearer = np.where(wanted - inner[below] <= inner[above] - wanted, below, above)
    return _midway(distinct, np.unique(nearer))


def information_gain(numbers: Numbers, classes: Integer[np.ndarray, " rows"], weights: Weights | None = None) -> Bounds:
    """One bound: two intervals that tell most about the class, as [C] mentions; none where all numbers are equal.

    Examples
    --------
    >>> information_gain(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1])).tolist()
    [2.5]
    """
    distinct, table = _class_masses(numbers, classes, weights)
    if len(distinct) < 2:
        return np.zeros(0)
    cut, _ = _best_cut(table)
    return _midway(distinct, np.array([cut]))


def minimum_description_length(
    numbers: Numbers, classes: Integer[np.ndarray, " rows"], weights: Weights | None = None
) -> Bounds:
    """Fayyad and Irani's method (IJCAI 1993): split at the best bound while that shortens the description.

    A split of N rows of k classes into two parts of k1 and k2 classes is kept where its information gain exceeds
    (log2(N - 1) + log2(3^k - 2) - (k H - k1 H1 - k2 H2)) / N, H the entropies. Weights count as rows.

    Examples
    --------
    >>> numbers = np.arange(30.0)
    >>> minimum_description_length(numbers, (numbers >= 10).astype(int)).tolist()
    [9.5]
    >>> minimum_description_length(numbers, (numbers % 2).astype(int)).tolist()
    []
    """
    distinct, table = _class_masses(numbers, classes, weights)
    cuts, parts = [], [(0, len(distinct))]
    while parts:
        begin, end = parts.pop()
        if end - begin < 2:
            continue
        cut, gain = _best_cut(table[begin:end])
        if gain > _description(table[begin:end], cut):
            cuts.append(begin + cut)
            parts += [(begin, begin + cut + 1), (begin + cut + 1, end)]
    return _midway(distinct, np.array(sorted(cuts), dtype=np.int64))


METHODS: dict[str, Callable[..., Bounds]] = {
    "equal-frequency": equal_frequency,
    "information-gain": information_gain,
    "mdl": minimum_description_length,
}


def measured(numbers: Numbers) -> bool:
    """Whether these numbers are measurements: there are fractions, or more than `FEW` distinct ones.

    Examples
    --------
    >>> measured(np.array([0.0, 2.0, 4.0])), measured(np.array([0.5, 2.0])), measured(np.arange(21.0))
    (False, True, True)
    """
    parts = (numbers[:1000], numbers)  # a first few rows mostly tell
    return any(not (some == np.floor(some)).all() or len(np.unique(some)) > FEW for some in parts)


def interval_names(bounds: Bounds) -> tuple[str, ...]:
    """Names of the intervals, with as few digits of the bounds as tell them apart.

    Examples
    --------
    >>> interval_names(np.array([30.0, 50.0])), interval_names(np.zeros(0))
    (('< 30', '30 to 50', '>= 50'), ('any',))
    """
    texts: list[str] = []
    for digits in range(4, 18):
        texts = [format(bound, f".{digits}g") for bound in bounds.tolist()]
        if len(set(texts)) == len(texts):
            break
    if not texts:
        return ("any",)
    return (f"< {texts[0]}", *(f"{low} to {high}" for low, high in pairwise(texts)), f">= {texts[-1]}")


def codes_of(numbers: Real[np.ndarray, "*rows"], bounds: Bounds) -> Int[np.ndarray, "*rows"]:
    """Interval of each number, counted from 0; -1 where it is NaN.

    Examples
    --------
    >>> codes_of(np.array([1.0, 2.5, float("nan")]), np.array([2.5])).tolist()
    [0, 1, -1]
    """
    return np.where(np.isnan(numbers), -1, np.searchsorted(bounds, numbers, side="right"))


def memberships(numbers: Numbers, bounds: Bounds, sigma: float) -> Float[np.ndarray, "rows intervals"]:
    """How far each number belongs to each interval: the mass there of a normal distribution around it [C 3.1, 3.2].

    The outer intervals reach to infinity, so that a row's memberships add up to 1. A missing number belongs nowhere.

    Parameters
    ----------
    numbers
        NaN where missing.
    bounds
        Inner bounds.
    sigma
        Standard deviation: of [C], SIG times (largest - smallest) / intervals of the training rows. 0: the interval
        that the number is in, alone.

    Examples
    --------
    >>> memberships(np.array([1.0, 0.5]), np.array([1.0]), 0.5).round(4).tolist()
    [[0.5, 0.5], [0.8413, 0.1587]]
    """
    out = np.zeros((len(numbers), len(bounds) + 1))
    known = np.flatnonzero(~np.isnan(numbers))
    if sigma <= 0:
        out[known, codes_of(numbers[known], bounds)] = 1.0
        return out
    from scipy.special import ndtr

    below = np.zeros((len(known), len(bounds) + 2))
    below[:, -1] = 1.0
    with np.errstate(over="ignore"):  # of a sigma near 0: infinitely many deviations away
        below[:, 1:-1] = ndtr((bounds - numbers[known, None]) / sigma)
    out[known] = np.diff(below, axis=1)
    return out


def _masses(
    numbers: Numbers, weights: Weights | None
) -> tuple[Real[np.ndarray, " distinct"], Float[np.ndarray, " distinct"]]:
    """Distinct numbers, ascending, and the weight of each."""
    if weights is None:
        distinct, mass = np.unique(numbers, return_counts=True)
        return distinct, mass.astype(np.float64)
    distinct, place = np.unique(numbers, return_inverse=True)
    return distinct, np.bincount(place, weights, minlength=len(distinct))


def _class_masses(
    numbers: Numbers, classes: Integer[np.ndarray, " rows"], weights: Weights | None
) -> tuple[Real[np.ndarray, " distinct"], Float[np.ndarray, "distinct classes"]]:
    """Distinct numbers, ascending, and their weight in each class."""
    distinct, place = np.unique(numbers, return_inverse=True)
    k = int(classes.max(initial=0)) + 1
    table = np.bincount(place * k + classes, weights, minlength=len(distinct) * k)
    return distinct, table.reshape(-1, k).astype(np.float64)


def _midway(distinct: Real[np.ndarray, " distinct"], cuts: Int[np.ndarray, " cuts"]) -> Bounds:
    """Bounds between the distinct numbers at these places and the next ones."""
    low, high = distinct[cuts].astype(np.float64), distinct[cuts + 1].astype(np.float64)
    middle = low / 2 + high / 2  # the sum itself may be too large
    bounds: np.ndarray = np.where(middle > low, middle, high)  # neighbouring floats have no middle
    return bounds


def _entropy(table: Float[np.ndarray, "parts classes"]) -> Float[np.ndarray, " parts"]:
    """Entropy in bits of the class weights of each part; 0 for an empty one."""
    total = table.sum(axis=-1, keepdims=True)
    share = table / np.where(total > 0, total, 1.0)
    entropy: np.ndarray = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=-1)
    return entropy


def _best_cut(table: Float[np.ndarray, "distinct classes"]) -> tuple[int, float]:
    """Place of the distinct number below the best bound, the first of equals, and its information gain in bits."""
    total = table.sum(axis=0)
    left = np.cumsum(table, axis=0)[:-1]
    right = total - left
    number = total.sum()
    rest = (left.sum(axis=1) * _entropy(left) + right.sum(axis=1) * _entropy(right)) / number
    cut = int(np.argmin(rest))
    return cut, float(_entropy(total[None])[0] - rest[cut])


def _description(table: Float[np.ndarray, "distinct classes"], cut: int) -> float:
    """Information gain that a split must exceed, in bits."""
    whole, left, right = table.sum(axis=0), table[: cut + 1].sum(axis=0), table[cut + 1 :].sum(axis=0)
    number = float(whole.sum())
    k, k_left, k_right = (int((part > 0).sum()) for part in (whole, left, right))
    entropies = _entropy(np.stack([whole, left, right]))
    terms = np.array([k, -k_left, -k_right]) @ entropies
    if number <= 1:
        return math.inf
    return (math.log2(number - 1) + math.log2(3**k - 2) - float(terms)) / number
