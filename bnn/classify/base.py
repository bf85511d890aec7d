"""What all classifiers share: reading tables and labels, holding `classes_`, and turning log2 scores into answers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from jaxtyping import Float64, Int32, Integer, Shaped
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from bnn.classify.describing import Rows, describe
from bnn.classify.labels import read_labels
from bnn.classify.reading import Codebook, Table, read_table
from bnn.errors import DataError
from bnn.kernels.scores import normalise
from bnn.records import Records, checked_weights
from bnn.schema import Attribute

Scores = Float64[np.ndarray, "rows classes"]


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Training rows as codes: what every classifier learns from.

    Attributes
    ----------
    records
        The attributes, without the target; their weights are the sample weights.
    target
        The target: its values are the classes, sorted.
    classes
        int32: position of each row's class among them.
    table
        The table itself, for what needs the numbers behind the codes.
    """

    records: Records
    target: Attribute
    classes: Int32[np.ndarray, " rows"]
    table: Table


class BayesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers: a subclass learns in `fit` and answers with `_log2_scores`.

    In `fit`, ``self._read_training(X, y, sample_weight)`` sets ``classes_``, ``codebook_`` and the names of the
    features, and returns `Training`; later ``self._read_codes(X)`` codes a table in the same way. Everything else,
    probabilities, answers and scikit-learn's tags, follows from ``_log2_scores``.
    """

    classes_: Shaped[np.ndarray, " classes"]
    codebook_: Codebook
    n_features_in_: int

    @property
    def _owner(self) -> str:
        """Beginning of sentences."""
        return type(self).__name__

    @abstractmethod
    def _log2_scores(self, X: Any) -> Scores:
        """log2 P(C) plus the evidence, not normalised, a fresh array; also -infinity, but never NaN."""

    def predict_log2_proba(self, X: Any) -> Scores:
        """log2 of the probability of each class, [rows, classes], in bits."""
        check_is_fitted(self, "classes_")
        scores = self._log2_scores(X)
        normalise(scores)
        return scores

    def predict_proba(self, X: Any) -> Scores:
        """Probability of each class, [rows, classes], in the order of ``classes_``; rows add up to 1.

        Parameters
        ----------
        X
            Any table the classifier could learn from. Missing values, and values never learned, are no evidence.

        Raises
        ------
        ValueError
            Other columns, or columns in another order, than those learned.

        Warns
        -----
        UnseenValueWarning
            Values never learned.
        """
        check_is_fitted(self, "classes_")
        scores = self._log2_scores(X)
        normalise(scores, exponentiate=True)
        return scores

    def predict_log_proba(self, X: Any) -> Scores:
        """Natural logarithm of `predict_proba`, as scikit-learn promises."""
        scores = self.predict_log2_proba(X)
        scores *= np.log(2.0)
        return scores

    def predict(self, X: Any) -> Shaped[np.ndarray, " rows"]:
        """Most probable class of each row; of equals the first in ``classes_``."""
        check_is_fitted(self, "classes_")
        return self.classes_[np.argmax(self._log2_scores(X), axis=1)]

    def decision_function(self, X: Any) -> Float64[np.ndarray, " rows"] | Scores:
        """Score in bits: of two classes log2 of the odds for the second [T eq 22, 23], else log2 P a class.

        For two classes a row is answered ``classes_[1]`` where the score is above 0. For another threshold t wrap the
        classifier in scikit-learn's ``FixedThresholdClassifier(classifier, threshold=t)``.
        """
        scores = self.predict_log2_proba(X)
        if scores.shape[1] != 2:
            return scores
        with np.errstate(invalid="ignore"):
            return scores[:, 1] - scores[:, 0]

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any = None, discretize: Any = "auto", intervals: int = 20
    ) -> Training:
        """Read a training table, and set what is known of it: ``codebook_``, ``classes_``, names of features."""
        table, y, sample_weight = self._read_table(X, y, sample_weight, reset=True)
        classes, codes = read_labels(y, self._owner)
        rows, weights = self._rows(table, codes, sample_weight)
        if rows.heavy is not None:  # classes of rows that count for nothing are none
            kept = np.unique(codes[rows.heavy])
            codes = np.maximum(np.searchsorted(kept, codes), 0).clip(max=len(kept) - 1).astype(np.int32)
            classes, rows = classes[kept], Rows(codes, rows.weights, rows.heavy)
        self.codebook_ = Codebook(describe(table, rows, discretize, intervals, self._owner))
        self.classes_ = classes
        return self._training(table, codes, weights)

    def _read_table(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Table, Any, Any]:
        """Table, labels and weights, with what `Records` say of themselves; features are set or checked."""
        table = read_table(X, self._owner)
        if table.records is not None:
            if y is None and table.records.schema.target is not None:
                schema = table.records.schema
                values = np.array(schema[schema.target].values)
                column = table.records.codes[:, schema.index(schema.target)]
                if (column < 0).any():
                    raise DataError(f"{self._owner}.y: row {int(np.argmin(column))} has no class; leave it out.")
                y = values[column]
            sample_weight = table.records.weights if sample_weight is None else sample_weight
        self._check_features(X, table, reset)
        return table, y, sample_weight

    def _check_features(self, X: Any, table: Table, reset: bool) -> None:
        """Set, or compare, number and names of the features, in scikit-learn's words."""
        if not isinstance(X, np.ndarray):
            _check_feature_names(self, X, reset=reset)
        elif reset:
            self.__dict__.pop("feature_names_in_", None)
        elif hasattr(self, "feature_names_in_"):
            _check_feature_names(self, X, reset=False)
        number = len(table.columns)
        if reset:
            self.n_features_in_ = number
        elif number != self.n_features_in_:
            raise DataError(
                f"X has {number} features, but {self._owner} is expecting {self.n_features_in_} features as input."
            )

    def _rows(
        self, table: Table, codes: Int32[np.ndarray, " rows"], sample_weight: Any
    ) -> tuple[Rows, Float64[np.ndarray, " rows"] | None]:
        """Check that rows, labels and weights belong together."""
        if not table.rows:
            raise DataError(f"{self._owner}.X: Found array with 0 sample(s); give at least one row.")
        if len(codes) != table.rows:
            raise DataError(
                f"{self._owner}.y: inconsistent numbers of samples: {table.rows} rows in X and {len(codes)} labels in "
                "y; give one label a row."
            )
        if sample_weight is None:
            return Rows(codes, None, None), None
        weights = checked_weights(sample_weight, table.rows, f"{self._owner}.sample_weight")
        heavy = weights > 0
        if not heavy.any():
            raise DataError(f"{self._owner}.sample_weight: all weights are zero; give one row a weight above 0.")
        return Rows(codes, weights, None if heavy.all() else heavy), weights

    def _training(
        self, table: Table, codes: Int32[np.ndarray, " rows"], weights: Float64[np.ndarray, " rows"] | None
    ) -> Training:
        """Code the table by the codebook."""
        records = Records(self.codebook_.codes(table, self._owner), self.codebook_.schema, weights)
        return Training(records, Attribute("class", tuple(self.classes_.tolist())), codes, table)

    def _read_codes(self, X: Any) -> Integer[np.ndarray, "rows attributes"]:
        """Code a table as the training table was, -1 where missing or unseen."""
        table = read_table(X, self._owner)
        self._check_features(X, table, reset=False)
        return self.codebook_.codes(table, self._owner)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table and its labels."""
        raise NotImplementedError
