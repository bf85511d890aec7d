"""What classifiers made of other classifiers share: reading labels only, fitting and asking what is inside."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64, Int32, Shaped
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import has_fit_parameter

from bnn.classify.base import BayesClassifier
from bnn.classify.describing import Rows
from bnn.classify.reading import Codebook, read_table
from bnn.errors import BnnWarning, DataError


class MetaClassifier(BayesClassifier):
    """Base of classifiers over other estimators: they read the table themselves, each in its own way."""

    def _inside(self) -> Sequence[Any]:
        """The estimators inside, as the user gave them."""
        raise NotImplementedError

    @property
    def _names(self) -> tuple[str, ...]:
        """Names of the columns that were learned."""
        names = getattr(self, "feature_names_in_", None)
        return tuple(f"x{a}" for a in range(self.n_features_in_)) if names is None else tuple(names.tolist())

    @property
    def codebook_(self) -> Codebook:  # type: ignore[override]
        """What the columns mean to the first classifier inside; its own, so that files do not keep it twice."""
        codebook: Codebook = self._inside_fitted()[0].codebook_
        return codebook

    def _inside_fitted(self) -> Sequence[Any]:
        """The fitted classifiers inside."""
        raise NotImplementedError

    def _read_labels(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Set ``classes_`` and the names of features; positions of the rows' classes, and weights."""
        table, y, sample_weight = self._read_table(X, y, sample_weight, reset=True)
        self.classes_, rows, _ = self._read_rows(table, y, sample_weight)
        return rows

    def _require_classifier(self, estimator: Any, name: str) -> None:
        """Refuse what cannot be fitted, cloned or asked for probabilities."""
        if isinstance(estimator, type) or not isinstance(estimator, BaseEstimator):
            raise DataError(f"{self._owner}.{name}: got {estimator!r}; give a scikit-learn classifier, not fitted.")
        if not hasattr(estimator, "predict_proba"):
            raise DataError(
                f"{self._owner}.{name}: {type(estimator).__name__} gives no probabilities; wrap it in "
                "CalibratedClassifierCV, or give another classifier."
            )

    def _fitted(self, estimator: Any, name: str, X: Any, labels: Shaped[np.ndarray, " rows"], rows: Rows) -> Any:
        """A fitted copy of an estimator."""
        copy = clone(estimator)
        if rows.weights is None:
            return copy.fit(X, labels)
        if not has_fit_parameter(copy, "sample_weight"):
            raise DataError(
                f"{self._owner}.sample_weight: {type(copy).__name__}, given as {name}, takes no weights; give none."
            )
        return copy.fit(X, labels, sample_weight=rows.weights)

    def _ask(
        self, fitted: Any, X: Any, positions: Int32[np.ndarray, " known"], columns: int, quiet: bool
    ) -> Float64[np.ndarray, "rows columns"]:
        """Probabilities of an estimator in our columns; 0 for classes that it does not know.

        ``quiet`` keeps warnings of ours back that another estimator has given for the same table.
        """
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", BnnWarning)
            known = np.asarray(fitted.predict_proba(X), dtype=np.float64)
        out = np.zeros((len(known), columns))
        out[:, positions] = known
        return out

    def _check_table(self, X: Any) -> None:
        """Refuse a table of other columns than those learned."""
        self._check_features(X, read_table(X, self._owner), reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inside = [get_tags(one).input_tags for one in self._inside() if isinstance(one, BaseEstimator)]
        tags.input_tags.allow_nan = all(one.allow_nan for one in inside)
        tags.input_tags.categorical = all(one.categorical for one in inside)
        return tags
