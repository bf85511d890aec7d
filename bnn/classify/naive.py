"""NaiveBayesClassifier: gains of independent attribute values added up, learned from target x value counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from jaxtyping import Float64
from sklearn.utils.validation import check_is_fitted

from bnn.classify.base import BayesClassifier, Scores
from bnn.classify.class_counts import ClassCounts
from bnn.classify.explanation import Explanation, standard_errors
from bnn.classify.gains import Cells, chosen_gains, gain_table, given_priors, prior_bits
from bnn.errors import DataError
from bnn.kernels.scores import add_gains, normalise, pad


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What counts and parameters amount to: the classifier's weights.

    Attributes
    ----------
    prior
        log2 P(C) [classes].
    gains
        Gain of each value for each class, in bits.
    table
        The same, laid out for `add_gains`.
    """

    prior: Float64[np.ndarray, " classes"]
    gains: Float64[np.ndarray, "values classes"]
    table: Float64[np.ndarray, "padded lanes"]


class NaiveBayesClassifier(BayesClassifier):
    """Naive Bayes as information gains: log2 P(C|V) = log2 P(C) + sum of log2 P(C|V_i)/P(C), normalised [S eq 4]."""

    counts_: ClassCounts
    _model: Model

    def __init__(
        self, estimate: str = "m", m: float = 2.0, discretize: Any = "auto", intervals: int = 20, priors: Any = None
    ) -> None:
        self.estimate = estimate
        self.m = m
        self.discretize = discretize
        self.intervals = intervals
        self.priors = priors

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table and its labels, forgetting what was learned before."""
        self._check_parameters()
        training = self._read_training(X, y, sample_weight, self.discretize, self.intervals)
        self._set(ClassCounts.of(training.records, training.target, training.classes))
        return self

    def explain(self, X: Any, labels: Mapping[str, Mapping[Any, str]] | None = None) -> Explanation:
        """Say, for each row and class, what speaks for and against it, in bits; see `Explanation`."""
        check_is_fitted(self, "classes_")
        codes = self._read_codes(X)
        model, counts = self._model, self.counts_
        prior = self._prior()
        start = np.concatenate([[0], np.cumsum(counts.schema.sizes)[:-1]]).astype(np.int64)
        known = codes >= 0
        place = np.where(known, codes + start, 0)
        support = counts.joint.sum(axis=1) / counts.scale
        if len(support):
            gains = np.where(known[..., None], model.gains[place], 0.0)
            cases = np.where(known, support[place], 0.0)
        else:
            gains, cases = np.zeros((*codes.shape, len(prior))), np.zeros(codes.shape)
        scores = prior + gains.sum(axis=1)
        values = np.empty(codes.shape, dtype=object)
        for a, attribute in enumerate(counts.schema.attributes):
            readable = np.empty(len(attribute.values) + 1, dtype=object)
            readable[:-1] = attribute.values
            values[:, a] = readable[codes[:, a]]
        told = Explanation(
            self.classes_,
            prior,
            counts.schema.names,
            values,
            gains,
            cases,
            standard_errors(model.prior, gains, cases, float(self.m)),
            normalise(scores),
        )
        return told if labels is None else told.with_labels(labels)

    def _check_parameters(self) -> None:
        """Refuse parameters that mean nothing."""
        chosen_gains(self.estimate, self._owner)
        if isinstance(self.m, bool) or not isinstance(self.m, int | float | np.number) or not 0 <= self.m < np.inf:
            raise DataError(f"{self._owner}.m: got {self.m!r}; it is a number of records, at least 0.")

    def _set(self, counts: ClassCounts) -> None:
        """Keep the counts, and work out what they amount to."""
        chosen = chosen_gains(self.estimate, self._owner)
        cells = Cells.of(counts)
        gains = gain_table(cells, chosen, float(self.m))
        self.counts_ = counts
        self._model = Model(prior_bits(chosen.prior(cells)), gains, pad(gains, self.codebook_.sizes))

    def _prior(self) -> Float64[np.ndarray, " classes"]:
        """log2 of the priors in front: those counted, or those given."""
        if self.priors is None:
            return self._model.prior
        return prior_bits(given_priors(self.priors, self.classes_, self._owner))

    def _log2_scores(self, X: Any) -> Scores:
        codes = self._read_codes(X)
        scores = np.empty((len(codes), len(self.classes_)))
        scores[:] = self._prior()
        add_gains(codes, self.codebook_.sizes, self._model.table, scores)
        return scores
