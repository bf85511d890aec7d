"""Estimates of naive classifiers: from counts to log2 priors and the gain of each value for each class, in bits.

An estimate sees `Cells`, the counts of one row a value, so that the same function serves the classifier, leaving one
row out, and intervals that borrow from their neighbours. Register a new one in `GAINS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int

from bnn import estimate
from bnn.classify.class_counts import ClassCounts
from bnn.errors import DataError, unknown_name
from bnn.estimate import PairCounts

Table = Float64[np.ndarray, "values classes"]
Prior = Float64[np.ndarray, " classes"]


@dataclass(frozen=True, slots=True)
class Cells:
    """What an estimate sees, float64, in units of ``1 / scale``.

    Attributes
    ----------
    joint
        N(V,C) [values, classes].
    known
        N(C; a) [values, classes]: records of the class with the value's attribute known.
    totals
        N(C) [classes].
    sizes
        Number of values of each value's attribute, [values, 1].
    scale
        Units in one record.
    """

    joint: Table
    known: Table
    totals: Prior
    sizes: Int[np.ndarray, "values 1"]
    scale: float

    @staticmethod
    def of(counts: ClassCounts) -> Cells:
        """The cells of all values."""
        sizes = np.array(counts.schema.sizes, dtype=np.int64)
        known = counts.known.astype(np.float64)[counts.attribute]
        totals = counts.totals.astype(np.float64)
        return Cells(
            counts.joint.astype(np.float64), known, totals, sizes[counts.attribute][:, None], float(counts.scale)
        )

    def without(self, column: int, weight: float) -> Cells:
        """What each value's cells are once one record of class ``column`` that has this value is left out.

        ``weight`` is in units of ``1 / scale``. Cells of fewer than none, of values no such record has, become NaN.
        """
        joint, known, totals = self.joint.copy(), self.known.copy(), self.totals.copy()
        joint[:, column] -= weight
        joint[joint[:, column] < 0, column] = np.nan
        known[:, column] -= weight
        totals[column] -= weight
        return Cells(joint, known, totals, self.sizes, self.scale)


def laplace_prior(cells: Cells) -> Prior:
    """P(C) = (N(C) + 1) / (N + k) by Laplace's law of succession, k classes [S eq 3]."""
    prior: np.ndarray = (cells.totals + cells.scale) / (cells.totals.sum() + len(cells.totals) * cells.scale)
    return prior


def relative_prior(cells: Cells) -> Prior:
    """P(C) = N(C) / N; all alike where there are no records."""
    total = cells.totals.sum()
    return cells.totals / total if total > 0 else np.full(len(cells.totals), 1.0 / len(cells.totals))


def m_gain(cells: Cells, m: float) -> Table:
    """log2 P(C|V)/P(C), P(C|V) = (N(V,C) + m P(C)) / (N(V) + m), P(C) by Laplace [S eq 2, 3; C eq 5]."""
    every = cells.totals.sum() + len(cells.totals) * cells.scale
    return _log2(estimate.conditional(_pairs(cells, (cells.totals + cells.scale)[:, None], np.array([[every]])), m))


def neutral_gain(cells: Cells, m: float) -> Table:
    """The same with P(C) = N(C; a)/N(a) of the rows that know the attribute, numerator and denominator.

    Only so has an attribute that says nothing a gain of exactly 0. A class without such rows: gain 0.
    """
    ratio = estimate.conditional(_pairs(cells, cells.known.T, cells.known.sum(axis=1)[None]), m)
    return _log2(np.where(cells.known.T > 0, ratio, 1.0))


def joint_gain(cells: Cells, m: float) -> Table:
    """log2 Q(C,V) by the joint m-estimate of networks, `bnn.estimate.joint`: one clamped step of the network."""
    return _log2(estimate.joint(_pairs(cells, cells.known.T, cells.known.sum(axis=1)[None]), m))


def relative_gain(cells: Cells, m: float) -> Table:  # noqa: ARG001 - every estimate is called alike
    """log2 P(C|V)/P(C) by relative frequencies: `joint_gain` with m = 0; -infinity for what never came together."""
    return joint_gain(cells, 0.0)


def laplace_gain(cells: Cells, m: float) -> Table:  # noqa: ARG001
    """log2 P(V|C)/P(V), P(V|C) = (N(V,C) + 1) / (N(C; a) + k), k values, P(V) = sum over C of P(C) P(V|C)."""
    return _of_values(cells, cells.scale)


def shrinkage_gain(cells: Cells, m: float) -> Table:  # noqa: ARG001
    """The same with P(V|C) = (N(V,C) + 1/k) / (N(C; a) + 1) [T 9.3]: scikit-learn's CategoricalNB, alpha = 1/k."""
    return _of_values(cells, cells.scale / cells.sizes)


@dataclass(frozen=True, slots=True)
class Gains:
    """A registered estimate: its gain of a value for a class, and the prior in front."""

    gain: Callable[[Cells, float], Table]
    prior: Callable[[Cells], Prior]


GAINS = {
    "m": Gains(m_gain, laplace_prior),
    "neutral": Gains(neutral_gain, laplace_prior),
    "joint": Gains(joint_gain, laplace_prior),
    "relative": Gains(relative_gain, relative_prior),
    "laplace": Gains(laplace_gain, laplace_prior),
    "shrinkage": Gains(shrinkage_gain, laplace_prior),
}


def chosen_gains(name: object, owner: str) -> Gains:
    """The registered estimate of that name; an unknown one is an error naming the nearest."""
    if not isinstance(name, str) or name not in GAINS:
        raise unknown_name(f"{owner}.estimate", name, GAINS)
    return GAINS[name]


def gain_table(cells: Cells, chosen: Gains, m: float) -> Table:
    """Gain of each value for each class, in bits; exactly 0 for a value that no record has: it is no evidence."""
    gain = chosen.gain(cells, m * cells.scale)
    gain[cells.joint.sum(axis=1) == 0] = 0.0
    return gain


def prior_bits(prior: Prior) -> Prior:
    """log2 P(C); -infinity for a class of prior 0."""
    with np.errstate(divide="ignore"):
        bits: np.ndarray = np.log2(prior)
    return bits


def given_priors(priors: object, classes: np.ndarray, owner: str) -> Prior:
    """Priors that a user states instead of those counted: a list in order of the classes, or a dict by class.

    Raises
    ------
    DataError
        Another number of them, a class that is unknown or lacking, or anything that is no probability; their sum is
        brought to 1 from within 1 %.
    """
    known = classes.tolist()
    if isinstance(priors, dict):
        if strange := [c for c in priors if c not in known]:
            raise unknown_name(f"{owner}.priors", strange[0], known)
        if lacking := [c for c in known if c not in priors]:
            raise DataError(f"{owner}.priors: class {lacking[0]!r} has none; give one for each class of classes_.")
        priors = [priors[c] for c in known]
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{owner}.priors: got {priors!r}; give one probability a class.") from error
    if given.shape != (len(known),):
        raise DataError(f"{owner}.priors: got shape {given.shape} for {len(known)} classes; give one probability each.")
    if not (np.isfinite(given) & (given >= 0)).all() or abs(given.sum() - 1) > 0.01:
        raise DataError(f"{owner}.priors: got {given.tolist()}; probabilities are at least 0 and add up to 1.")
    scaled: np.ndarray = given / given.sum()
    return scaled


def _pairs(cells: Cells, to: np.ndarray, known: np.ndarray) -> PairCounts:
    """The cells as pairs of neurons, classes to values."""
    return PairCounts(cells.joint.T, to, cells.joint.sum(axis=1)[None], known)


def _of_values(cells: Cells, added: float | np.ndarray) -> Table:
    """log2 P(V|C)/P(V), with so much added to every count of an attribute's values."""
    likelihood = (cells.joint + added) / (cells.known + added * cells.sizes)
    return _log2(likelihood.T / (likelihood @ laplace_prior(cells)))


def _log2(ratio: Float64[np.ndarray, "classes values"]) -> Table:
    """log2 of a block of ratios, a row a value."""
    with np.errstate(divide="ignore"):
        gain: np.ndarray = np.log2(np.ascontiguousarray(ratio.T))
    return gain
