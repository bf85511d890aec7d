"""SemiNaiveBayesClassifier: naive Bayes over values, some of which are joined [B 2.5]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from bnn.classify import storing
from bnn.classify.base import BayesClassifier, Scores
from bnn.classify.class_counts import ClassCounts
from bnn.classify.explanation import Explanation, explained, standard_errors
from bnn.classify.joined_model import JoinedModel
from bnn.classify.joins import Join, Joins, find_joins
from bnn.classify.parameters import positive, whole
from bnn.discretize import INTERVALS

STORED = ("joins", "counts", "eps", "reliability")


class SemiNaiveBayesClassifier(BayesClassifier):
    """Naive Bayes in which values that influence the class together are joined and speak once [B 2.5].

    Two values v and w are joined where their common influence differs from their separate ones by more than the
    number of cases leaves to chance, by Chebyshev's theorem: 1 - 1/(4 eps^2 n) > threshold [B eq 19], n the cases that
    have both, eps = sum over C of P(C) |P(C|v,w) - P(C|v) P(C|w)/P(C)| [B eq 18], relative frequencies. Joined values
    are joined again, with one more single value each, up to ``max_order``. A row uses its joins of most values first,
    the more reliable before others, no value twice; a join's gain is the m-estimate log2 P(C|v,w)/P(C), like any other
    value's [B eq 15].

    It finds parities and other interactions, which `NaiveBayesClassifier` cannot; where there are none, that one is as
    good and quicker. All pairs of values are tested, so that some of pure noise are joined too: with many attributes
    and few rows raise ``threshold``; of more than 100,000 joins of one order the most reliable are kept, with a
    warning. It learns from rows, not from counts: there is no ``partial_fit``.

    Parameters
    ----------
    max_order : int
        Most values in a join.
    threshold : float
        From 0 to 1. Values are joined where the bound on the probability is greater.
    m : float
        Strength of the prior in the gains, in records [S eq 2].
    discretize, intervals
        As in `NaiveBayesClassifier`.

    Attributes
    ----------
    joins_ : tuple of Join
        The joins, in the order in which rows use them; each prints as ``age=young & bmi=high, n = 41, eps = 0.21``.
    tests_ : int
        How many tests were made to find them: of values that occur together in some row.
    classes_, codebook_, n_features_in_, feature_names_in_
        As in `NaiveBayesClassifier`.

    Examples
    --------
    >>> X, y = [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]] * 5, ["no", "yes", "yes", "no"] * 5
    >>> classifier = SemiNaiveBayesClassifier().fit(X, y)
    >>> print(classifier.joins_[0])
    x0=a & x1=c, n = 5, eps = 0.50
    >>> classifier.score(X, y)
    1.0
    """

    APART = False
    counts_: ClassCounts
    tests_: int
    _model: JoinedModel

    def __init__(
        self,
        max_order: Any = 3,  # checked in fit, as scikit-learn wants it
        threshold: Any = 0.5,
        m: Any = 2.0,
        discretize: Any = "auto",
        intervals: Any = INTERVALS,
    ) -> None:
        self.max_order = max_order
        self.threshold = threshold
        self.m = m
        self.discretize = discretize
        self.intervals = intervals

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SemiNaiveBayesClassifier:
        """Learn from a table and its labels.

        Parameters
        ----------
        X, y, sample_weight
            As in `NaiveBayesClassifier.fit`; a weight is a repetition, also in the test.

        Raises
        ------
        DataError
            A parameter, column, label or weight that cannot mean what it should (a ValueError).

        Warns
        -----
        IdentifierWarning
            A column whose every value occurs once.
        BnnWarning
            More joins than are kept.
        """
        max_order, threshold, m = self._parameters()
        training = self._read_training(X, y, sample_weight, self.discretize, self.intervals)
        counts = ClassCounts.of(training.records, training.target, training.classes)
        self._set(counts, find_joins(training, max_order, threshold), m)
        return self

    def explain(self, X: Any, labels: Mapping[str, Mapping[Any, str]] | None = None) -> Explanation:
        """Say, for each row and class, what speaks for and against it, in bits; see `Explanation`.

        Joined values are one term, called by their attributes, ``"age & bmi"``; the attributes themselves then say
        nothing in that row.

        Parameters
        ----------
        X
            Rows, as for `predict_proba`.
        labels
            Readable labels of coded values, by term and value.
        """
        check_is_fitted(self, "classes_")
        model = self._model
        names, values, gains, cases = model.terms(self.read_codes(X))
        errors = standard_errors(model.prior, gains, cases, float(self.m))
        return explained(self.classes_, model.prior, names, values, gains, cases, errors, labels)

    @property
    def joins_(self) -> tuple[Join, ...]:
        """The joins, in the order in which rows use them."""
        check_is_fitted(self, "classes_")
        return self._model.joins.described(self.codebook_.schema)

    def _parameters(self) -> tuple[int, float, float]:
        """``max_order``, ``threshold`` and ``m``, checked."""
        order = whole(self.max_order, f"{self._owner}.max_order")
        return order, positive(self.threshold, f"{self._owner}.threshold", 1.0), positive(self.m, f"{self._owner}.m")

    def _set(self, counts: ClassCounts, joins: Joins, m: float) -> None:
        """Keep what was learned, and work out the gains."""
        self.counts_, self.tests_ = counts, joins.tests
        self._model = JoinedModel.of(counts, joins, m)

    def _log2_scores(self, X: Any) -> Scores:
        return self._model.scores(self.read_codes(X))

    def learned(self) -> storing.Learned:
        """What was learned, for a file."""
        joins = self._model.joins
        arrays = dict(zip(STORED, joins.arrays, strict=True))
        return storing.of_counts(self.counts_) + storing.Learned(arrays, {"tests": joins.tests})

    def learn_again(self, learned: storing.Learned) -> None:
        """Take back what `learned` gave."""
        counts = storing.to_counts(learned, self.codebook_.schema, self.classes_)
        joins = Joins.of((learned.arrays[name] for name in STORED), counts.scale, learned.told["tests"])
        self._set(counts, joins, self._parameters()[2])
