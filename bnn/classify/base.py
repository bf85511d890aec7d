"""What all classifiers share: reading tables and labels, holding `classes_`, and turning log2 scores into answers."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from jaxtyping import Float64, Int32, Integer, Shaped
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from bnn.classify import storing
from bnn.classify.describing import Rows, describe
from bnn.classify.labels import named_classes, read_labels
from bnn.classify.reading import Codebook, Table, Unseen, read_table
from bnn.cluster import divided, mapped
from bnn.discretize import INTERVALS
from bnn.errors import DataError, FileError
from bnn.kernels.scores import to_log2_probabilities, to_probabilities
from bnn.records import Records, checked_weights
from bnn.schema import Attribute
from bnn.tables import numbers_of

Scores = Float64[np.ndarray, "rows classes"]
Lazy = Any
"""A dask array, of which nothing is computed yet."""
Classifier = TypeVar("Classifier")


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
    classes: Integer[np.ndarray, " rows"]
    table: Table

    def row(self, row: int) -> Training:
        """One row alone."""
        here = slice(row, row + 1)
        columns = {
            name: numbers[here] if (numbers := numbers_of(column)) is not None else None
            for name, column in self.table.columns.items()
        }
        return Training(self.records[here], self.target, self.classes[here], Table(columns, 1))


class BayesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers: a subclass learns in `fit` and answers with `_log2_scores`.

    In `fit`, ``self._read_training(X, y, sample_weight)`` sets ``classes_``, ``codebook_`` and the names of the
    features, and returns `Training`; later ``self.read_codes(X)`` codes a table in the same way. Everything else,
    probabilities, answers and scikit-learn's tags, follows from ``_log2_scores``.
    """

    APART: ClassVar[bool] = True
    """Whether the gain of a value is the same whatever the others are, as a nomogram needs it."""
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

    def predict_log2_proba(self, X: Any) -> Scores | Lazy:
        """log2 of the probability of each class, [rows, classes], in bits."""
        check_is_fitted(self, "classes_")
        if divided(X):
            return mapped(self.predict_log2_proba, X, self.classes_.shape, np.dtype(np.float64), self._owner)
        scores = self._log2_scores(X)
        to_log2_probabilities(scores)
        return scores

    def predict_proba(self, X: Any) -> Scores | Lazy:
        """Probability of each class, [rows, classes], in the order of ``classes_``; rows add up to 1.

        Parameters
        ----------
        X
            Any table the classifier could learn from. Missing values, and values never learned, are no evidence. A
            dask data frame or array is answered by a dask array, its partitions where and when dask computes them.

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
        if divided(X):
            return mapped(self.predict_proba, X, self.classes_.shape, np.dtype(np.float64), self._owner)
        scores = self._log2_scores(X)
        to_probabilities(scores)
        return scores

    def predict_log_proba(self, X: Any) -> Scores | Lazy:
        """Natural logarithm of `predict_proba`, as scikit-learn promises."""
        scores = self.predict_log2_proba(X)
        scores *= np.log(2.0)
        return scores

    def predict(self, X: Any) -> Shaped[np.ndarray, " rows"] | Lazy:
        """Most probable class of each row; of equals the first in ``classes_``."""
        check_is_fitted(self, "classes_")
        if divided(X):
            return mapped(self.predict, X, (), self.classes_.dtype, self._owner)
        answers: np.ndarray = self.classes_[np.argmax(self._log2_scores(X), axis=1)]
        return answers

    def decision_function(self, X: Any) -> Float64[np.ndarray, " rows"] | Scores | Lazy:
        """Score in bits: of two classes log2 of the odds for the second [T eq 22, 23], else log2 P a class.

        For two classes a row is answered ``classes_[1]`` where the score is above 0. For another threshold t wrap the
        classifier in scikit-learn's ``FixedThresholdClassifier(classifier, threshold=t)``.
        """
        scores = self.predict_log2_proba(X)
        if scores.shape[1] != 2:
            return scores
        odds: np.ndarray = scores[:, 1] - scores[:, 0]
        return odds

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of rows whose most probable class is the true one.

        Parameters
        ----------
        X
            Rows, as for `predict_proba`.
        y
            Their labels, [rows]; None: the target of Records.
        sample_weight
            Weights of the rows; None: those of Records, or all alike.

        Raises
        ------
        DataError
            No labels, and rows that do not have them themselves.
        """
        if isinstance(X, Records):
            y = self._target_of(X) if y is None else y
            sample_weight = X.weights if sample_weight is None else sample_weight
        if y is None:
            raise DataError(f"{self._owner}.score.y: got none; give one label a row, or Records with a target.")
        return float(super().score(X, y, sample_weight))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a safetensors file with a versioned JSON header, exactly; `load` reads it.

        Raises
        ------
        DataError
            A classifier, or a parameter such as a rule or an estimator, that is not of this package.
        FileError
            The folder does not exist, the name is a folder, or the system refuses.
        """
        storing.save(self, path)

    @classmethod
    def load(cls: type[Classifier], path: str | os.PathLike[str]) -> Classifier:
        """Read what `save` wrote; `bnn.load_classifier` reads any class.

        Raises
        ------
        FileError
            A file that is missing, damaged, of something else, or of a newer version.
        """
        found = storing.load_classifier(path)
        if not isinstance(found, cls):
            name = type(found).__name__
            raise FileError(f"{Path(path)}: holds a {name}, not a {cls.__name__}; load it as what it is.")
        return found

    def learned(self) -> storing.Learned:
        """What was learned, for a file; classifiers that files keep say it."""
        raise NotImplementedError

    def learn_again(self, learned: storing.Learned) -> None:
        """Take back what `learned` gave; parameters, ``classes_`` and ``codebook_`` are there by then."""
        raise NotImplementedError

    def _read_training(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        discretize: Any = "auto",
        intervals: int = INTERVALS,
        classes: Any = None,
    ) -> Training:
        """Read a training table, and set what is known of it: ``codebook_``, ``classes_``, names of features."""
        table, y, sample_weight = self._read_table(X, y, sample_weight, reset=True)
        found, rows, weights = self._read_rows(table, y, sample_weight)
        named = found if classes is None else named_classes(classes, found, self._owner)
        codes = rows.classes if named is found else np.searchsorted(named, found).astype(np.int32)[rows.classes]
        codebook = Codebook(describe(table, rows, discretize, intervals, self._owner))
        training = self._training(table, codebook, named, codes, weights)
        self.codebook_, self.classes_ = codebook, named
        return training

    def _read_table(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Table, Any, Any]:
        """Table, labels and weights, with what `Records` say of themselves; features are set or checked."""
        table = read_table(X, self._owner)
        if table.records is not None:
            y = self._target_of(table.records) if y is None else y
            sample_weight = table.records.weights if sample_weight is None else sample_weight
        self._check_features(X, table, reset)
        return table, y, sample_weight

    def _target_of(self, records: Records) -> Shaped[np.ndarray, " rows"] | None:
        """Labels that records have themselves; None where they name no target."""
        target = records.schema.target
        if target is None:
            return None
        column = records.codes[:, records.schema.index(target)]
        if (column < 0).any():
            raise DataError(f"{self._owner}.y: row {int(np.argmin(column))} has no {target!r}; leave it out.")
        labels: np.ndarray = np.array(records.schema[target].values)[column]
        return labels

    def _check_features(self, X: Any, table: Table, reset: bool) -> None:
        """Set, or compare, number and names of the features, in scikit-learn's words."""
        if isinstance(X, Mapping | Records):  # scikit-learn does not see their names
            self._check_names(tuple(table.columns), reset)
        elif not isinstance(X, np.ndarray):
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

    def _check_names(self, names: tuple[str, ...], reset: bool) -> None:
        """Set, or compare, the names of columns that always have names."""
        if reset:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif len(names) == self.n_features_in_ and names != self._names:
            known = set(self._names)
            strange = [name for name in names if name not in known]
            told = f"unseen at fit time: {strange[:5]}" if strange else "must be in the same order as they were in fit"
            raise DataError(
                f"{self._owner}.X: The feature names should match those that were passed during fit. Feature names "
                f"{told}."
            )

    @property
    def _names(self) -> tuple[str, ...]:
        """Names of the columns that were learned."""
        return self.codebook_.schema.names

    def _read_rows(
        self, table: Table, y: Any, sample_weight: Any
    ) -> tuple[Shaped[np.ndarray, " classes"], Rows, Float64[np.ndarray, " rows"] | None]:
        """Classes that occur, the rows' positions among them, and checked weights; rows of weight 0 have no class."""
        owner = self._owner
        if not table.rows:
            raise DataError(f"{owner}.X: Found array with 0 sample(s); give at least one row.")
        classes, codes = read_labels(y, owner)
        if len(codes) != table.rows:
            raise DataError(
                f"{owner}.y: inconsistent numbers of samples: {table.rows} rows in X and {len(codes)} labels in y; "
                "give one label a row."
            )
        if sample_weight is None:
            return classes, Rows(codes, None, None), None
        weights = checked_weights(sample_weight, table.rows, f"{owner}.sample_weight")
        heavy = weights > 0
        if heavy.all():
            return classes, Rows(codes, weights, None), weights
        if not heavy.any():
            raise DataError(f"{owner}.sample_weight: all weights are zero; give one row a weight above 0.")
        kept = np.unique(codes[heavy])
        codes = np.searchsorted(kept, np.where(heavy, codes, kept[0])).astype(np.int32)
        return classes[kept], Rows(codes, weights, heavy), weights

    def _training(
        self,
        table: Table,
        codebook: Codebook,
        classes: Shaped[np.ndarray, " classes"],
        codes: Int32[np.ndarray, " rows"],
        weights: Float64[np.ndarray, " rows"] | None,
        known: bool = False,
    ) -> Training:
        """Code a table by a codebook that was ``known`` before, or else was made for it.

        Then only rows of weight 0 can have values that it lacks.
        """
        unseen: Unseen = "warn" if known else "none" if weights is None else "ignore"
        records = Records(codebook.codes(table, self._owner, unseen), codebook.schema, weights)
        return Training(records, Attribute("class", tuple(classes.tolist())), codes, table)

    def read_codes(self, X: Any) -> Integer[np.ndarray, "rows attributes"]:
        """Code a table as the training table was, -1 where missing or unseen."""
        return self._read_known_columns(X)[1]

    def _read_known_columns(self, X: Any) -> tuple[Table, Integer[np.ndarray, "rows attributes"]]:
        """The table, for what needs the numbers behind the codes, and its codes."""
        table = read_table(X, self._owner)
        self._check_features(X, table, reset=False)
        return table, self.codebook_.codes(table, self._owner)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
