"""Outside references: scikit-learn's own classifiers on tables of categories, as a careful user would set them up."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from bnn.errors import SchemaError
from bnn.schema import Value
from bnn.tables import columns_of, encode

UNKNOWN = -1


class Categories(TransformerMixin, BaseEstimator):
    """Cells of a table as numbers: a column's values as `fit` met them, missing one of them, -1 for any other.

    Attributes
    ----------
    positions_
        For each column by name, the number of each value; that of None is the number of "missing".
    """

    def fit(self, X: Any, y: Any = None) -> Categories:  # noqa: ARG002 - scikit-learn's signature
        """Number the values that occur."""
        cells = {name: _cells(name, column) for name, column in columns_of(X).items()}
        self.positions_ = {
            name: {values[i]: place for place, i in enumerate(np.unique(codes).tolist())}
            for name, (codes, values) in cells.items()
        }
        return self

    def transform(self, X: Any) -> Int64[np.ndarray, "rows attributes"]:
        """Number the cells of a table with the same columns."""
        columns = columns_of(X)
        if list(columns) != list(self.positions_):
            raise SchemaError(
                f"Categories.transform: got the columns {', '.join(columns)}; needed are those of fit, in its order: "
                f"{', '.join(self.positions_)}."
            )
        numbered = []
        for name, column in columns.items():
            codes, values = _cells(name, column)
            position = self.positions_[name]
            numbered.append(np.array([position.get(value, UNKNOWN) for value in values])[codes])
        return np.stack(numbered, axis=1)


def _cells(name: str, column: Any) -> tuple[Int64[np.ndarray, " rows"], list[Value | None]]:
    """Codes of a column and what they stand for, the last of them None: missing."""
    coded = encode(name, column)
    values = [*coded.attribute.values, None]
    return coded.codes % np.int64(len(values)), values


class CategoricalReference(ClassifierMixin, BaseEstimator):
    """scikit-learn's `CategoricalNB`: missing is a category like any other, an unseen value says nothing.

    `CategoricalNB` itself refuses unseen values. They are asked as their column's first category, and that one's term
    is taken out of the sum again.

    Parameters
    ----------
    alpha
        Added to each count of a value given a class, as in `CategoricalNB`.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> CategoricalReference:
        """Number the categories and fit."""
        self.categories_ = Categories().fit(X)
        self.model_ = CategoricalNB(alpha=self.alpha).fit(self.categories_.transform(X), y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Float64[np.ndarray, "rows classes"]:
        """Probabilities of the classes."""
        codes = self.categories_.transform(X)
        unknown = codes == UNKNOWN
        first = np.stack([table[:, 0] for table in self.model_.feature_log_prob_])
        joint = self.model_.predict_joint_log_proba(np.where(unknown, 0, codes)) - unknown @ first
        probabilities: np.ndarray = softmax(joint, axis=1)
        return probabilities

    def predict(self, X: Any) -> Any:
        """Most probable classes."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def logistic_reference() -> Pipeline:
    """scikit-learn's `LogisticRegression` on one-hot values: missing is one of them, an unseen value is all zeros."""
    return make_pipeline(Categories(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
