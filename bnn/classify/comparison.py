"""Classifiers compared on the same random splits of a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float64, Int64, Shaped
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from bnn import metrics
from bnn.classify.scores import MEASURES, Comparison
from bnn.errors import DataError, UnseenValueWarning
from bnn.records import Records
from bnn.tables import encode

BINS = 10  # of the calibration table


def compare(
    classifiers: Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    splits: int = 10,
    repeats: int = 10,
    train: float = 0.7,
    floor: float = metrics.FLOOR,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Train and test classifiers on the same unstratified random splits of a table.

    ``splits`` random splits as the papers have them, ``repeats`` times. The information score's priors are Laplace's
    over all classes, from the training rows of the split. A class that a split has no training row of gets the
    ``floor`` as its probability, and the others what remains, in proportion.

    Parameters
    ----------
    classifiers
        Estimators with ``fit`` and ``predict_proba`` by name; they are cloned for each split and stay as they are.
    X
        [rows, attributes]: numpy array, or pandas, polars or pyarrow table, handed on to the estimators as it is; or
        `Records`.
    y
        Labels, [rows]; rows without one (None, NaN, empty text) are neither trained nor tested on. None: the target
        of the records.
    splits, repeats
        Numbers of splits in a repeat, and of repeats; at least two splits in all.
    train
        Share of the labelled rows that each split trains on, rounded to whole rows.
    floor
        Probability, above 0, of a class absent from training; no probability counts as less in the log loss.
    seed
        Split s of repeat r depends on (seed, r, s) and the number of rows alone.
    progress
        Called with the number of splits done and of all.

    Raises
    ------
    DataError
        Nothing to compare, fewer than two classes or splits, an impossible share or floor, or a classifier that fails
        or answers with what is no probability; the message names it and the split.

    Notes
    -----
    Values that a split's training rows lack are usual here: `UnseenValueWarning` is silenced.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> found = compare({"majority": DummyClassifier()}, np.zeros((10, 1)), ["a"] * 6 + ["b"] * 4, splits=2, repeats=3)
    >>> found.accuracy.shape, found.to_frame().column_names
    ((1, 6), ['classifier', 'repeat', 'split', 'accuracy', 'information', 'log_loss'])
    """
    number = _checked_rows(X)
    labels, classes, known = _labels(_target(X) if y is None and isinstance(X, Records) else y)
    if number != len(labels):
        raise DataError(f"compare.y: got {len(labels)} labels for {number} rows of X; needed is one a row.")
    _check(classifiers, classes, splits, repeats, floor, seed)
    training = round(train * len(known)) if 0 < train < 1 else 0
    if not 0 < training < len(known):
        raise DataError(
            f"compare.train: got {train} of {len(known)} rows; needed is a share between 0 and 1 that leaves rows on "
            "both sides."
        )
    trained, tested = _splits(known, number, training, splits, repeats, seed)
    measured = np.empty((len(trained), len(classifiers), len(MEASURES)))
    calibration = np.zeros((len(classifiers), BINS, 3))
    # a second BLAS thread costs more than it brings here: logistic regression takes five times as long
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore", UnseenValueWarning)
        for s, (here, there) in enumerate(zip(trained, tested, strict=True)):
            where = f"split {s % splits} of repeat {s // splits}"
            measured[s], sums = _run(
                classifiers, X, labels, classes, np.flatnonzero(here), np.flatnonzero(there), floor, where
            )
            calibration += sums
            if progress is not None:
                progress(s + 1, len(trained))
    accuracy, information, loss = measured.T.copy()
    return Comparison(
        tuple(classifiers), classes, accuracy, information, loss, calibration, trained, tested, repeats, seed, floor
    )


def _splits(
    known: Int64[np.ndarray, " labelled"], number: int, training: int, splits: int, repeats: int, seed: int
) -> tuple[Bool[np.ndarray, "splits rows"], Bool[np.ndarray, "splits rows"]]:
    """Which rows each split trains on and is tested on."""
    trained, tested = np.zeros((2, splits * repeats, number), dtype=np.bool_)
    for s in range(len(trained)):
        order = np.random.default_rng([seed, *divmod(s, splits)]).permutation(known)
        trained[s, order[:training]] = tested[s, order[training:]] = True
    return trained, tested


def _run(
    classifiers: Mapping[str, Any],
    X: Any,
    labels: Shaped[np.ndarray, " rows"],
    classes: tuple[Any, ...],
    here: Int64[np.ndarray, " trained"],
    there: Int64[np.ndarray, " tested"],
    floor: float,
    where: str,
) -> tuple[Float64[np.ndarray, "classifiers measures"], Float64[np.ndarray, "classifiers bins 3"]]:
    """What each classifier reaches on one split, and its calibration sums."""
    y = labels[there]
    prior = metrics.laplace_prior(labels[here], classes)
    X_train, X_test = _rows(X, here), _rows(X, there)
    measured, sums = [], []
    for name, classifier in classifiers.items():
        try:
            table = _answers(classifier, X_train, labels[here], X_test, classes, floor)
            loss = metrics.log_loss(y, table, classes, floor=floor)
            bits = metrics.information_score(y, table, prior, classes)
            measured.append((metrics.accuracy(y, table, classes), bits, loss))
            sums.append(metrics.calibration_sums(y, table, classes, bins=BINS))
        except Exception as error:
            said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise DataError(f"compare.classifiers: {name!r} failed on {where}: {said}.") from error
    return np.array(measured), np.stack(sums)


def _labels(y: Any) -> tuple[Shaped[np.ndarray, " rows"], tuple[Any, ...], Int64[np.ndarray, " labelled"]]:
    """Labels, the classes among them, and the rows that have one; the label of others is any."""
    if getattr(y, "ndim", 1) != 1 or not hasattr(y, "__len__") or len(y) == 0:
        raise DataError(f"compare.y: got {type(y).__name__} of shape {np.shape(y)}; needed are labels, [rows].")
    coded = encode("y", y, None, "compare", None)
    classes = np.array(coded.attribute.values)
    if len(classes) < 2:
        raise DataError(f"compare.y: holds {len(classes)} classes; needed are at least two.")
    return classes[coded.codes], tuple(classes.tolist()), np.flatnonzero(coded.codes >= 0)


def _target(records: Records) -> pa.DictionaryArray:
    """The labels that records carry, with the values their schema declares."""
    schema = records.schema
    if schema.target is None:
        raise DataError("compare.y: got none, and the records have no target; give labels, or name a target.")
    codes = records.codes[:, schema.index(schema.target)]
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(schema[schema.target].values))


def _checked_rows(X: Any) -> int:
    """Number of rows of a table whose rows can be taken by number."""
    if isinstance(X, Records):
        if X.weights is not None:
            raise DataError("compare.X: the records have weights, which tests do not heed; give them without.")
        return len(X)
    if not isinstance(X, np.ndarray):
        try:
            X = nw.from_native(X, eager_only=True)
        except TypeError:
            raise DataError(
                f"compare.X: got {type(X).__name__}; needed is a numpy array, a pandas, polars or pyarrow table, or "
                "Records."
            ) from None
    if X.ndim != 2 if isinstance(X, np.ndarray) else not X.columns:
        raise DataError(f"compare.X: got shape {X.shape}; needed is [rows, attributes].")
    return len(X)


def _rows(X: Any, rows: Int64[np.ndarray, " chosen"]) -> Any:
    """Some rows of a table, as a table of the same kind."""
    return X[rows] if isinstance(X, np.ndarray | Records) else nw.from_native(X, eager_only=True)[rows].to_native()


def _check(
    classifiers: Mapping[str, Any], classes: tuple[Any, ...], splits: int, repeats: int, floor: float, seed: int
) -> None:
    """Refuse what cannot be compared before anything is fitted."""
    if not classifiers:
        raise DataError("compare.classifiers: got none; give at least one estimator by name.")
    for name, classifier in classifiers.items():
        if not hasattr(classifier, "fit") or not hasattr(classifier, "predict_proba"):
            raise DataError(f"compare.classifiers: {name!r} has no fit and predict_proba; wrap it in one that has.")
    if splits < 1 or repeats < 1 or splits * repeats < 2:
        raise DataError(f"compare: got {splits} splits, {repeats} repeats; needed are two splits or more in all.")
    if not 0 < floor < 1 / len(classes):
        raise DataError(
            f"compare.floor: got {floor}; needed is a small probability above 0, for {len(classes)} classes."
        )
    if seed < 0:
        raise DataError(f"compare.seed: got {seed}; needed is a whole number from 0 on.")


def _answers(
    classifier: Any, X_train: Any, y_train: Any, X_test: Any, classes: tuple[Any, ...], floor: float
) -> Float64[np.ndarray, "rows classes"]:
    """Probabilities of all classes by a classifier trained on these rows, absent classes at the floor."""
    seen = np.unique(y_train)
    if len(seen) == 1:  # some cannot be fitted to one class; all would answer it
        own = np.ones((len(X_test), 1))
    else:
        fitted = clone(classifier).fit(X_train, y_train)
        own, seen = np.asarray(fitted.predict_proba(X_test), dtype=np.float64), fitted.classes_
    columns = [classes.index(label) for label in seen.tolist()]
    table = np.full((len(own), len(classes)), floor)
    table[:, columns] = own * (1.0 - floor * (len(classes) - len(columns)))
    return table
