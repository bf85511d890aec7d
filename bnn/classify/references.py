"""Outside references: scikit-learn's own classifiers on tables of categories, as a careful user would set them up."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from bnn.classify.describing import Rows, describe
from bnn.classify.reading import Codebook, Table, read_table
from bnn.errors import SchemaError, UnseenValueWarning
from bnn.tables import encode

OWNER = "Categories"
UNKNOWN = -1
INTERVALS = 20


class Categories(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cells of a table as numbers: categories and intervals as our own classifiers read them, missing one more value.

    Values that `fit` has not seen become -1; so does missing, in a column that had no gap then.

    Attributes
    ----------
    codebook_
        What the columns mean.
    sizes_
        Number of values of each column, missing among them where there were gaps.
    """

    def fit(self, X: Any, y: Any = None) -> Categories:  # noqa: ARG002 - scikit-learn's signature
        """Find out which values there are; numbers are parted as ``discretize="auto"`` does."""
        table = read_table(X, OWNER)
        same = Rows(np.zeros(table.rows, np.int32), None, None)
        self.codebook_ = Codebook(describe(table, same, "auto", INTERVALS, OWNER))
        self.sizes_ = self.codebook_.sizes + _missing(table).any(axis=0)
        return self

    def transform(self, X: Any) -> Int64[np.ndarray, "rows attributes"]:
        """Number the cells of a table with the same columns."""
        table, names = read_table(X, OWNER), self.codebook_.schema.names
        if tuple(table.columns) != names:
            raise SchemaError(
                f"{OWNER}.X: got the columns {', '.join(table.columns)}; needed are those of fit, in its order: "
                f"{', '.join(names)}."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenValueWarning)  # it says "taken as missing", which is not so here
            codes = self.codebook_.codes(table, OWNER).astype(np.int64)
        gap = _missing(table) & (self.sizes_ > self.codebook_.sizes)
        numbered: np.ndarray = np.where(gap, self.sizes_ - 1, codes)
        return numbered


def _missing(table: Table) -> Bool[np.ndarray, "rows attributes"]:
    """Which cells are missing, not merely unseen."""
    if table.records is not None:
        schema = table.records.schema
        return table.records.codes[:, [schema.index(name) for name in table.columns]] < 0
    coded = [encode(name, column, None, OWNER, None).codes for name, column in table.columns.items()]
    return np.stack(coded, axis=1) < 0


class CategoricalReference(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
        known = CategoricalNB(alpha=self.alpha, min_categories=self.categories_.sizes_)
        self.model_ = known.fit(self.categories_.transform(X), y)
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
