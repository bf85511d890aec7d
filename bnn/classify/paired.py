"""Paired differences over random splits whose training rows overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from bnn.errors import DataError


@dataclass(frozen=True, slots=True)
class Difference:
    """How one classifier differs from another on the same splits.

    Attributes
    ----------
    classifier, baseline
        The difference is the first's value minus the second's.
    mean, low, high
        Mean over the splits and its interval, in the measure's unit.
    p, p_holm
        Two-sided p-value of "no difference", and the same adjusted by Holm for all comparisons made together.
    """

    classifier: str
    baseline: str
    mean: float
    low: float
    high: float
    p: float
    p_holm: float


def paired_differences(
    values: Mapping[str, Float64[np.ndarray, " splits"]], baseline: str, ratio: float, confidence: float = 0.95
) -> tuple[Difference, ...]:
    """Differences from the baseline with the corrected resampled t-test of Nadeau and Bengio (2003).

    Training sets of random splits overlap, so that the J differences are not independent and their plain variance is
    far too small. The variance of their mean is taken as (1/J + tests/trained) times their sample variance, with J - 1
    degrees of freedom.

    Parameters
    ----------
    values
        One number a split, by classifier.
    baseline
        One of these names.
    ratio
        Number of test rows over number of training rows.
    confidence
        Of each interval by itself.

    Examples
    --------
    >>> a, b = np.array([0.5, 0.6, 0.7]), np.array([0.6, 0.8, 0.8])
    >>> (found,) = paired_differences({"a": a, "b": b}, "a", 0.5)
    >>> round(found.mean, 4), round(found.low, 4), round(found.high, 4)
    (0.1333, -0.0934, 0.3601)
    """
    from scipy.special import stdtr, stdtrit  # here, so that pictures of networks do not load scipy

    if not 0 < confidence < 1:
        raise DataError(f"paired_differences.confidence: got {confidence}; needed is a share such as 0.95.")
    others = [name for name in values if name != baseline]
    found = []
    for name in others:
        difference = values[name] - values[baseline]
        J = len(difference)
        mean = float(difference.mean())
        error = corrected_error(difference, ratio)
        reach = float(stdtrit(J - 1, 0.5 + confidence / 2)) * error
        same = 1.0 if mean == 0.0 else 0.0
        found.append((mean, reach, float(2.0 * stdtr(J - 1, -abs(mean) / error)) if error > 0 else same))
    adjusted = holm([p for _, _, p in found])
    return tuple(
        Difference(name, baseline, mean, mean - reach, mean + reach, p, p_holm)
        for name, (mean, reach, p), p_holm in zip(others, found, adjusted, strict=True)
    )


def corrected_error(differences: Float64[np.ndarray, " splits"], ratio: float) -> float:
    """Standard error of the mean of paired differences over random splits [Nadeau and Bengio 2003].

    Parameters
    ----------
    differences
        One a split.
    ratio
        Number of test rows over number of training rows.

    Examples
    --------
    >>> round(corrected_error(np.array([0.1, 0.2, 0.1]), 0.5), 4)  # the square root of (1/3 + 1/2)/300
    0.0527
    """
    return float(np.sqrt((1.0 / len(differences) + ratio) * differences.var(ddof=1)))


def holm(p: list[float]) -> list[float]:
    """Adjust p-values of several comparisons so that together they err as seldom as one (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted
