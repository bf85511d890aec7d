"""NaiveBayesCombiner: the answers of several classifiers, combined as if they were independent evidence [B 3.6]."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from bnn.classify import storing
from bnn.classify.base import Scores
from bnn.classify.explanation import Explanation, explained
from bnn.classify.meta import MetaClassifier
from bnn.errors import ContradictionWarning, DataError


class NaiveBayesCombiner(MetaClassifier, _BaseComposition):  # type: ignore[misc]
    """Several classifiers, whose answers are combined by the naive Bayesian formula [B 3.6].

    P(C | answers) is proportional to P(C) times the product over classifiers k of P(C | answer k)/P(C); P(C | answer k)
    is what classifier k's ``predict_proba`` says, P(C) Laplace's estimate from the training rows [S eq 3]. It takes the
    classifiers as independent: good for such as see different attributes or were made in different ways; several that
    say the same are counted several times, and for those scikit-learn's ``VotingClassifier`` or
    ``StackingClassifier`` is better.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Name and estimator of each; all have ``predict_proba``. They are cloned, and fitted on the same rows.

    Attributes
    ----------
    estimators_ : list
        The fitted classifiers.
    prior_ : ndarray
        P(C), [classes].
    classes_, n_features_in_, feature_names_in_
        As in `NaiveBayesClassifier`.

    Examples
    --------
    >>> from bnn.classify.naive import NaiveBayesClassifier
    >>> from bnn.classify.tree import TreeBayesClassifier
    >>> combiner = NaiveBayesCombiner([("naive", NaiveBayesClassifier()), ("tree", TreeBayesClassifier())])
    >>> X, y = [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]] * 5, ["no", "yes", "yes", "no"] * 5
    >>> combiner.fit(X, y).score(X, y)
    1.0
    """

    estimators_: list[Any]
    prior_: Float64[np.ndarray, " classes"]

    def __init__(self, estimators: Any) -> None:
        self.estimators = estimators

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with ``deep`` those of the estimators too, as ``name__parameter``."""
        return self._get_params("estimators", deep=deep)  # type: ignore[no-any-return]

    def set_params(self, **params: Any) -> NaiveBayesCombiner:
        """Set parameters, estimators by their names, or ``name__parameter``."""
        self._set_params("estimators", **params)
        return self

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NaiveBayesCombiner:
        """Fit every classifier.

        Parameters
        ----------
        X
            Any table that all of them can learn from.
        y, sample_weight
            As in `NaiveBayesClassifier.fit`; weights need classifiers that take them.

        Raises
        ------
        DataError
            Estimators, labels or weights that cannot mean what they should (a ValueError).
        """
        self._require_estimators()
        rows = self._read_labels(X, y, sample_weight)
        number = len(self.classes_)
        totals = np.bincount(rows.classes, rows.weights, minlength=number)
        labels = self.classes_[rows.classes]
        fitted = [self._fitted(one, f"estimator {name!r}", X, labels, rows) for name, one in self.estimators]
        self.prior_ = (totals + 1) / (totals.sum() + number)
        self.rows_ = float(totals.sum())
        self.estimators_ = fitted
        return self

    def explain(self, X: Any, labels: Mapping[str, Mapping[Any, str]] | None = None) -> Explanation:
        """Say, for each row and class, what each classifier's answer adds, in bits; see `Explanation`.

        The terms are the classifiers, the values their answers, the cases all training rows; no standard errors are
        given (0).

        Parameters
        ----------
        X
            Rows, as for `predict_proba`.
        labels
            Readable labels of classes, by name of the classifier that answers them, and class.
        """
        check_is_fitted(self, "classes_")
        self._check_table(X)
        prior, gains = np.log2(self.prior_), self._gains(X)
        answers = self.classes_.astype(object)[np.argmax(gains + prior, axis=2)]
        gains[np.isneginf(gains.sum(axis=1)).all(axis=1)] = 0.0
        cases = np.full(answers.shape, self.rows_)
        names = tuple(name for name, _ in self.estimators)
        return explained(self.classes_, prior, names, answers, gains, cases, np.zeros_like(gains), labels)

    def _inside(self) -> Sequence[Any]:
        return [one for _, one in self.estimators]

    def _inside_fitted(self) -> Sequence[Any]:
        return self.estimators_

    def _require_estimators(self) -> None:
        """Refuse anything but a list of named classifiers."""
        given = self.estimators
        if (
            not isinstance(given, list | tuple)
            or not given
            or any(not isinstance(p, tuple) or len(p) != 2 for p in given)
        ):
            raise DataError(
                f"{self._owner}.estimators: got {given!r}; give a list of (name, classifier), at least one."
            )
        names = [name for name, _ in given]
        for name, one in given:
            if not isinstance(name, str) or "__" in name or names.count(name) > 1 or name == "estimators":
                raise DataError(
                    f"{self._owner}.estimators: got the name {name!r}; names are text, distinct, without '__', and "
                    "not 'estimators'."
                )
            self._require_classifier(one, f"estimators[{name!r}]")

    def _gains(self, X: Any) -> Float64[np.ndarray, "rows terms classes"]:
        """log2 P(C | answer)/P(C) of each classifier."""
        number = len(self.classes_)
        every = np.arange(number, dtype=np.int32)
        asked = [self._ask(one, X, every, number, quiet=k > 0) for k, one in enumerate(self.estimators_)]
        with np.errstate(divide="ignore"):
            gains: np.ndarray = np.log2(np.stack(asked, axis=1) / self.prior_)
        return gains

    def _log2_scores(self, X: Any) -> Scores:
        self._check_table(X)
        prior = np.log2(self.prior_)
        scores: np.ndarray = prior + self._gains(X).sum(axis=1)
        excluded = np.isneginf(scores).all(axis=1)
        if excluded.any():
            scores[excluded] = prior
            warnings.warn(
                f"{self._owner}: for {int(excluded.sum())} rows each class is excluded by some classifier's answer of "
                "probability 0; they are answered by the prior. Give classifiers that are never quite sure.",
                ContradictionWarning,
                stacklevel=3,
            )
        return scores

    def learned(self) -> storing.Learned:
        """What was learned, for a file."""
        return storing.Learned({"prior": self.prior_}, {"rows": self.rows_}, tuple(self.estimators_))

    def learn_again(self, learned: storing.Learned) -> None:
        """Take back what `learned` gave."""
        self.prior_, self.rows_ = learned.arrays["prior"], learned.told["rows"]
        self.estimators_ = list(learned.inside)
