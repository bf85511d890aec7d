"""What counts and parameters amount to: the weights of a naive classifier, and the terms they give a row."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Integer

from bnn.classify.class_counts import ClassCounts
from bnn.classify.explanation import looked_up, standard_errors
from bnn.classify.fuzzy import CHUNK, fuzzy_gains, numeric, reliable
from bnn.classify.gains import Cells, Gains, chosen_gains, gain_table, prior_bits
from bnn.classify.reading import Codebook, Table
from bnn.errors import ContradictionWarning, DataError, unknown_name
from bnn.kernels.scores import pad, sum_gains

Scores = Float64[np.ndarray, "rows classes"]
Codes = Integer[np.ndarray, "rows attributes"]


FUZZY = {None: (False, False), "learning": (True, False), "classification": (False, True), "both": (True, True)}
"""Parameter ``fuzzy``: is learning fuzzy, is classification."""


@dataclass(frozen=True, slots=True)
class Options:
    """Parameters of a naive classifier that turn counts into gains; as in `NaiveBayesClassifier`."""

    gains: Gains
    m: float
    learning: bool
    classification: bool
    SIG: float
    Pr: float
    borrow: float

    @staticmethod
    def read(parameters: Mapping[str, Any], owner: str) -> Options:
        """Check parameters as users give them."""
        fuzzy = parameters["fuzzy"]
        if not isinstance(fuzzy, str | None) or fuzzy not in FUZZY:
            raise unknown_name(f"{owner}.fuzzy", fuzzy, FUZZY)
        for name, low, high in (("m", 0, np.inf), ("SIG", 0, np.inf), ("Pr", 0, 1), ("borrow", 1e-3, 1)):
            value = parameters[name]
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not low <= value <= high:
                raise DataError(f"{owner}.{name}: got {value!r}; give a number from {low} to {high}.")
        m, SIG, Pr, borrow = (float(parameters[name]) for name in ("m", "SIG", "Pr", "borrow"))
        return Options(chosen_gains(parameters["estimate"], owner), m, *FUZZY[fuzzy], SIG, Pr, borrow)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """The weights of a naive classifier.

    Attributes
    ----------
    codebook, options
        What the codes of a row mean; what was asked for.
    prior
        log2 P(C) [classes].
    gains
        Gain of each value for each class, in bits.
    cases
        Records behind each gain, [values].
    table
        The gains laid out for `sum_gains`; zeros where an attribute is classified fuzzily.
    """

    codebook: Codebook
    options: Options
    prior: Float64[np.ndarray, " classes"]
    gains: Float64[np.ndarray, "values classes"]
    cases: Float64[np.ndarray, " values"]
    table: Float64[np.ndarray, "padded lanes"]

    @staticmethod
    def of(counts: ClassCounts, codebook: Codebook, options: Options) -> Model:
        """Work out the weights."""
        cells = Cells.of(counts)
        prior = prior_bits(options.gains.prior(cells))
        if options.Pr > 0:
            cells = reliable(cells, options.gains, options.m, codebook, options.Pr, options.borrow)
        gains = gain_table(cells, options.gains, options.m)
        crisp = gains.copy()
        if options.classification:
            for span in numeric(codebook).values():
                crisp[span] = 0.0
        return Model(codebook, options, prior, gains, cases_of(cells), pad(crisp, codebook.sizes))

    def scores(self, table: Table, codes: Codes, prior: Float64[np.ndarray, " classes"], owner: str) -> Scores:
        """log2 P(C) plus the gains of each row, not normalised."""
        scores = sum_gains(codes, self.codebook.sizes, self.table, prior[None])
        if self.options.classification:
            for a, span in numeric(self.codebook).items():
                numbers = table.numbers(a)
                for begin in range(0, table.rows, CHUNK):
                    rows = slice(begin, begin + CHUNK)
                    scores[rows] += self._fuzzy(a, span, numbers[rows])[0]
        certain = np.isfinite(self.table).all() and not self.options.classification
        return scores if certain else answerable(scores, prior, owner)

    def terms(
        self, table: Table, codes: Codes, prior: Float64[np.ndarray, " classes"]
    ) -> tuple[
        Float64[np.ndarray, "rows attributes classes"],
        Float64[np.ndarray, "rows attributes"],
        Float64[np.ndarray, "rows attributes classes"],
    ]:
        """Gain of each row's value of each attribute, the cases behind it, and its standard error."""
        gains, cases = looked_up(codes, self.codebook.sizes, self.gains, self.cases)
        if self.options.classification:
            for a, span in numeric(self.codebook).items():
                gains[:, a], cases[:, a] = self._fuzzy(a, span, table.numbers(a))
        gains[np.isneginf(prior + gains.sum(axis=1)).all(axis=1)] = 0.0
        return gains, cases, standard_errors(self.prior, gains, cases, self.options.m)

    def _fuzzy(
        self, a: int, span: slice, numbers: Float64[np.ndarray, " rows"]
    ) -> tuple[Scores, Float64[np.ndarray, " rows"]]:
        """Gains of one numeric attribute, weighed by membership."""
        column = self.codebook.columns[a]
        sigma = self.options.SIG * column.width
        return fuzzy_gains(numbers, column.inner, sigma, self.gains[span], self.cases[span])


def answerable(scores: Scores, prior: Float64[np.ndarray, "*rows classes"], owner: str) -> Scores:
    """Give the prior to rows whose evidence excludes every class, with a warning."""
    excluded = np.flatnonzero(np.isneginf(scores).all(axis=1))
    if len(excluded):
        scores[excluded] = np.broadcast_to(prior, scores.shape)[excluded]
        warnings.warn(
            f"{owner}: the evidence of {len(excluded)} rows excludes every class, because counts of zero are not "
            "smoothed; they are answered by the prior. Choose m above 0, or another estimate.",
            ContradictionWarning,
            stacklevel=5,
        )
    return scores


def cases_of(cells: Cells) -> Float64[np.ndarray, " values"]:
    """Records that have each value."""
    cases: np.ndarray = cells.joint.sum(axis=1) / cells.scale
    return cases
