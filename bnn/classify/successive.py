"""SuccessiveBayesClassifier: rounds of learning, each on what the ones before it left over [S 3]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Float64, Int32, Int64
from sklearn.utils.validation import check_is_fitted

from bnn.classify import storing
from bnn.classify.base import Scores
from bnn.classify.meta import MetaClassifier
from bnn.classify.naive import NaiveBayesClassifier
from bnn.classify.parameters import whole
from bnn.errors import DataError, unknown_name

READINGS = ("original", "label", "cascade")


class SuccessiveBayesClassifier(MetaClassifier):
    """Naive Bayes, or any classifier, applied again to what it got wrong [S 3].

    Each round learns from all rows. Rows that are answered rightly get an additional class C0 for the next round, the
    others their original class; it ends when every row is answered C0, or after ``max_rounds``. A new row is asked of
    the last function first; C0 hands it to the one before; the first knows no C0. The probabilities are those of the
    function that answers, C0 left out, so that the answer is their maximum.

    It learns parities that naive Bayes cannot (XOR if its symmetry is broken, by one repeated row), at the price of
    explanations. **When not to use it**: where naive Bayes already does well. On real tables the default reading can
    cost much (congressional votes 90 % to 73 %, breast cancer 72 to 68, lymphography 83 to 81); ``"label"``
    costs less and gains less, and no reading beats plain naive Bayes there. Use `SemiNaiveBayesClassifier` for
    interactions of few attributes: it explains itself.

    Parameters
    ----------
    estimator : classifier, optional
        Anything with ``fit`` and ``predict_proba``; None: `NaiveBayesClassifier`.
    reading : {"original", "label", "cascade"}
        The text leaves open which rows are "correctly classified". ``"original"``: those whose original class this
        round's function answers; it alone reaches the printed gain on parities. ``"label"``: those whose label of this
        round, C0 among them, it answers. ``"cascade"``: those whose original class all functions so far answer
        together.
    max_rounds : int
        Most rounds; [S] took ten.

    Attributes
    ----------
    functions_ : list
        The fitted functions, round by round. Their classes are positions in ``classes_``; ``len(classes_)`` is C0.
    classes_, n_features_in_, feature_names_in_
        As in `NaiveBayesClassifier`.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 1, 1, 0, 0]
    >>> NaiveBayesClassifier().fit(X, y).score(X, y), SuccessiveBayesClassifier().fit(X, y).score(X, y)
    (0.4, 1.0)
    """

    functions_: list[Any]

    def __init__(self, estimator: Any = None, reading: Any = "original", max_rounds: Any = 10) -> None:
        self.estimator = estimator
        self.reading = reading
        self.max_rounds = max_rounds

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SuccessiveBayesClassifier:
        """Learn from a table and its labels, in rounds.

        Parameters
        ----------
        X
            Any table that the estimator can learn from.
        y, sample_weight
            As in `NaiveBayesClassifier.fit`; weights need an estimator that takes them. Rows of weight 0 count for
            nothing.

        Raises
        ------
        DataError
            A parameter, label or weight that cannot mean what it should (a ValueError).
        """
        if self.reading not in READINGS:
            raise unknown_name(f"{self._owner}.reading", self.reading, READINGS)
        rounds = whole(self.max_rounds, f"{self._owner}.max_rounds")
        (estimator,) = self._inside()
        self._require_classifier(estimator, "estimator")
        rows = self._read_labels(X, y, sample_weight)
        own, left_over = rows.classes, len(self.classes_)
        heavy = slice(None) if rows.heavy is None else rows.heavy
        self.functions_, labels, together = [], own, np.full(len(own), left_over)
        for number in range(rounds):
            function = self._fitted(estimator, "estimator", X, labels, rows)
            self.functions_.append(function)
            answers = np.argmax(self._shares(function, X, quiet=number > 0), axis=1)
            together = np.where(answers == left_over, together, answers)
            right = {"original": answers == own, "label": answers == labels, "cascade": together == own}[self.reading]
            labels = np.where(right, left_over, own)
            # a function learned from C0 alone would answer nothing else
            if (answers[heavy] == left_over).all() or (labels[heavy] == left_over).all():
                break
        return self

    def answered_by(self, X: Any) -> Int64[np.ndarray, " rows"]:
        """Position in ``functions_`` of the function that answers each row."""
        check_is_fitted(self, "classes_")
        self._check_table(X)
        by = np.zeros(0, np.int64)
        for number, _, answers in self._asked(X):
            by = np.full(len(answers), -1) if len(by) != len(answers) else by
            by[(by < 0) & answers] = number
        return by

    def explain(self, X: Any, labels: Any = None) -> NoReturn:  # noqa: ARG002 - called like the others
        """Refuse: there is no one sum of gains behind these answers.

        Raises
        ------
        DataError
            Always.
        """
        raise DataError(
            f"{self._owner}.explain: rows are answered by different functions, each with priors of its own and after "
            "others have passed on, so no sum of gains says why; look at functions_[k].explain(X), k = answered_by(X)."
        )

    def _inside(self) -> Sequence[Any]:
        return (NaiveBayesClassifier() if self.estimator is None else self.estimator,)

    def _inside_fitted(self) -> Sequence[Any]:
        return self.functions_

    def _shares(self, function: Any, X: Any, quiet: bool) -> Float64[np.ndarray, "rows classes_and_c0"]:
        """Probabilities of the classes and, last, of C0."""
        positions: Int32[np.ndarray, " known"] = np.asarray(function.classes_, dtype=np.int32)
        return self._ask(function, X, positions, len(self.classes_) + 1, quiet)

    def _asked(self, X: Any) -> Iterator[tuple[int, Scores, np.ndarray]]:
        """Ask the functions, last one first: its number, probabilities, and whether it answers a class."""
        for number in reversed(range(len(self.functions_))):
            shares = self._shares(self.functions_[number], X, quiet=number < len(self.functions_) - 1)
            yield number, shares[:, :-1], np.argmax(shares, axis=1) < len(self.classes_)

    def _log2_scores(self, X: Any) -> Scores:
        self._check_table(X)
        scores, open_ = np.zeros((0, 0)), np.zeros(0, bool)
        for _, shares, answers in self._asked(X):
            if not scores.size:
                scores, open_ = shares.copy(), np.ones(len(shares), bool)
            taken = open_ & answers
            scores[taken] = shares[taken]
            open_ &= ~answers
        with np.errstate(divide="ignore"):
            np.log2(scores, out=scores)
        return scores

    def learned(self) -> storing.Learned:
        """What was learned, for a file."""
        return storing.Learned(inside=tuple(self.functions_))

    def learn_again(self, learned: storing.Learned) -> None:
        """Take back what `learned` gave."""
        self.functions_ = list(learned.inside)
