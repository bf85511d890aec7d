"""How good answers in probabilities are: information score, log loss, accuracy, calibration. In bits.

All functions take the true labels, one probability a row and class, and the classes in the order of the columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float64, Int

from bnn.errors import DataError, unknown_name
from bnn.frames import frame_of

FLOOR = 1e-6
"""Probability that no answer goes below in `log_loss`: at most 20 bits a row."""
_SUM_TOLERANCE = 1e-5  # of probabilities, which may be float32


def laplace_prior(y: Any, classes: Any) -> Float64[np.ndarray, " classes"]:
    """Estimate the prior probability of each class by Laplace's law, (N(c) + 1) / (N + k) [S eq 3].

    Parameters
    ----------
    y
        Labels of the **training** rows, [rows].
    classes
        All labels that can occur, [classes]; one without a row still gets 1 / (N + k).

    Raises
    ------
    DataError
        A label that is not among the classes, or fewer than two classes.

    Examples
    --------
    >>> laplace_prior(["no", "no", "yes"], ["no", "yes"]).tolist()
    [0.6, 0.4]
    """
    owner = "laplace_prior"
    names = _classes(classes, owner)
    counts = np.bincount(_codes(y, names, f"{owner}.y"), minlength=len(names)).astype(np.float64)
    prior: np.ndarray = (counts + 1.0) / (counts.sum() + len(names))
    return prior


def information_scores(y_true: Any, probabilities: Any, prior: Any, classes: Any) -> Float64[np.ndarray, " rows"]:
    """Bits that each answer is worth: `information_score` row by row.

    Examples
    --------
    >>> scores = information_scores(["a", "b"], [[0.9, 0.1], [0.9, 0.1]], [0.3, 0.7], classes=["a", "b"])
    >>> scores.round(5).tolist()
    [1.58496, -1.58496]
    """
    owner = "information_score"
    names = _classes(classes, owner)
    codes = _codes(y_true, names, f"{owner}.y_true")
    table = _table(probabilities, len(codes), names, owner)
    priors = _prior(prior, names, owner)
    P, answer = priors[codes], np.clip(table[np.arange(len(codes)), codes], 0.0, 1.0)
    # inside the other branch the argument may be 0; what comes of it is not taken
    with np.errstate(divide="ignore"):
        useful = np.log2(answer) - np.log2(P)
        misleading = np.log2(1.0 - P) - np.log2(1.0 - answer)
    scores: np.ndarray = np.where(answer > P, useful, np.where(answer < P, misleading, 0.0))
    return scores


def information_score(y_true: Any, probabilities: Any, prior: Any, classes: Any) -> float:
    """Average information score of the answers, in bits a row [B 2.4, S eq 9].

    For a row of class C with prior P and answered probability P': -log2 P + log2 P' where P' > P, 0 where P' = P, and
    -(-log2(1 - P) + log2(1 - P')) where P' < P. Unlike accuracy it counts how much an answer adds to what the prior
    already says, so that domains of different difficulty compare. It is no proper score: whoever always answers the
    majority class with certainty earns bits, so read `log_loss` beside it.

    Parameters
    ----------
    y_true
        True labels, [rows].
    probabilities
        [rows, classes], rows summing to one.
    prior
        [classes], strictly between 0 and 1, of the **training** rows: `laplace_prior`.
    classes
        Labels of the columns, [classes], such as ``classifier.classes_``.

    Raises
    ------
    DataError
        No rows, a label that is not among the classes, NaN, rows that do not sum to one, or a prior of 0 or 1.

    Examples
    --------
    >>> information_score(["a"], [[1.0, 0.0]], [0.5, 0.5], classes=["a", "b"])
    1.0
    """
    return float(information_scores(y_true, probabilities, prior, classes).mean())


def relative_information_score(y_true: Any, probabilities: Any, prior: Any, classes: Any) -> float:
    """Average information score in per cent of the entropy of the priors [B 2.4, S eq 10].

    100 % is what always being certain and right would earn if the classes occurred as the priors say. (WEKA divides
    by the mean of -log2 P over the test rows instead of the entropy.) Arguments and errors as for `information_score`.

    Examples
    --------
    >>> relative_information_score(["a", "b"], [[1, 0], [0.5, 0.5]], [0.5, 0.5], classes=["a", "b"])
    50.0
    """
    average = information_score(y_true, probabilities, prior, classes)
    P = np.asarray(prior, dtype=np.float64)
    return float(100.0 * average / -(P * np.log2(P)).sum())


def log_loss(y_true: Any, probabilities: Any, classes: Any, *, floor: float | int = FLOOR) -> float:
    """Average -log2 of the probability of the true class, in **bits** a row (scikit-learn's is in nats).

    A proper score: least in expectation for the true probabilities. Better than `information_score` to choose between
    models; it has no common zero for domains of different difficulty.

    Parameters
    ----------
    y_true, probabilities, classes
        As for `information_score`.
    floor
        Smaller probabilities count as this one, so that one certain error does not make the average infinite;
        0 leaves them as they are.

    Raises
    ------
    DataError
        As for `information_score`, or a floor outside [0, 1).

    Examples
    --------
    >>> log_loss(["a", "b"], [[0.5, 0.5], [0.75, 0.25]], classes=["a", "b"])
    1.5
    """
    owner = "log_loss"
    if not 0.0 <= floor < 1.0:
        raise DataError(f"{owner}.floor: got {floor}; needed is a small probability, from 0 to below 1.")
    names = _classes(classes, owner)
    codes = _codes(y_true, names, f"{owner}.y_true")
    answer = _table(probabilities, len(codes), names, owner)[np.arange(len(codes)), codes]
    with np.errstate(divide="ignore"):
        return float(-np.log2(np.clip(answer, floor, 1.0)).mean() + 0.0)


def accuracy(y_true: Any, probabilities: Any, classes: Any) -> float:
    """Share of rows whose most probable class is the true one; of equally probable ones the first counts.

    Examples
    --------
    >>> accuracy(["a", "b"], [[0.6, 0.4], [0.7, 0.3]], classes=["a", "b"])
    0.5
    """
    owner = "accuracy"
    names = _classes(classes, owner)
    codes = _codes(y_true, names, f"{owner}.y_true")
    return float((_table(probabilities, len(codes), names, owner).argmax(axis=1) == codes).mean())


def calibration_table(
    y_true: Any, probabilities: Any, classes: Any, *, label: Any = None, bins: int = 10, backend: str = "pyarrow"
) -> Any:
    """Compare probabilities with how often they came true, in bins of equal width.

    Parameters
    ----------
    y_true, probabilities, classes
        As for `information_score`.
    label
        The class whose probability is looked at; None: of each row the most probable one.
    bins
        Number of bins between 0 and 1; a border belongs to the bin above it, 1 to the last.
    backend
        ``"pyarrow"``, ``"pandas"`` or ``"polars"``.

    Returns
    -------
    One line a bin: ``low``, ``high``, ``mean_probability`` and ``observed_frequency`` (missing in an empty bin), and
    ``count``.

    Raises
    ------
    DataError
        As for `information_score`, an unknown label or backend, or fewer than one bin.

    Examples
    --------
    >>> table = calibration_table(["a", "b"], [[0.5, 0.5], [0.75, 0.25]], classes=["a", "b"], bins=2)
    >>> table.to_pylist()[1]
    {'low': 0.5, 'high': 1.0, 'mean_probability': 0.625, 'observed_frequency': 0.5, 'count': 2}
    """
    return calibration_frame(calibration_sums(y_true, probabilities, classes, label=label, bins=bins), backend)


def calibration_sums(
    y_true: Any, probabilities: Any, classes: Any, *, label: Any = None, bins: int = 10
) -> Float64[np.ndarray, "bins 3"]:
    """Per bin the sum of probabilities, how many came true, and how many there are; these add over splits."""
    owner = "calibration_table"
    if bins < 1:
        raise DataError(f"{owner}.bins: got {bins}; needed is at least 1.")
    names = _classes(classes, owner)
    codes = _codes(y_true, names, f"{owner}.y_true")
    table = _table(probabilities, len(codes), names, owner)
    of_label = None if label is None else _codes([label], names, f"{owner}.label")
    chosen = table.argmax(axis=1) if of_label is None else of_label.repeat(len(codes))
    answer = table[np.arange(len(codes)), chosen]
    place = np.clip((answer * bins).astype(np.int64), 0, bins - 1)
    parts = (answer, (chosen == codes).astype(np.float64), np.ones(len(codes)))
    return np.stack([np.bincount(place, part, minlength=bins) for part in parts], axis=1)


def calibration_frame(sums: Float64[np.ndarray, "bins 3"], backend: str = "pyarrow") -> Any:
    """Turn sums of `calibration_sums` into the table of `calibration_table`."""
    borders = np.linspace(0.0, 1.0, len(sums) + 1)
    probability, came_true, count = sums.T.tolist()
    columns = {
        "low": borders[:-1],
        "high": borders[1:],
        "mean_probability": [p / n if n else None for p, n in zip(probability, count, strict=True)],
        "observed_frequency": [t / n if n else None for t, n in zip(came_true, count, strict=True)],
        "count": sums[:, 2].astype(np.int64),
    }
    return frame_of(columns, backend, "calibration_table")


def _classes(classes: Any, owner: str) -> list[Any]:
    """Labels of the columns as Python objects, distinct, at least two."""
    names = np.asarray(classes).tolist()
    if not isinstance(names, list) or len(names) < 2:
        raise DataError(f"{owner}.classes: got {names!r}; needed are at least two labels, one a column.")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{owner}.classes: {twice!r} names two columns; labels must be distinct.")
    return names


def _codes(y: Any, names: list[Any], owner: str) -> Int[np.ndarray, " rows"]:
    """Position of each label among the classes."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"{owner}: got shape {labels.shape}; needed are labels of one or more rows, [rows].")
    position = {name: i for i, name in enumerate(names)}
    listed = labels.tolist()
    if (strange := next((label for label in listed if label not in position), position)) is not position:
        raise unknown_name(owner, strange, names)
    return np.array([position[label] for label in listed], dtype=np.int64)


def _table(probabilities: Any, rows: int, names: list[Any], owner: str) -> Float64[np.ndarray, "rows classes"]:
    """Probabilities of so many rows, each row summing to one."""
    table = _numbers(probabilities, f"{owner}.probabilities")
    if table.shape != (rows, len(names)):
        raise DataError(
            f"{owner}.probabilities: got shape {table.shape}; needed is {(rows, len(names))}, one row a label and one "
            "column a class."
        )
    wrong = ~np.isfinite(table).all(axis=1) | (table < 0.0).any(axis=1)
    wrong |= ~(np.abs(table.sum(axis=1) - 1.0) <= _SUM_TOLERANCE)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"{owner}.probabilities: row {row} is {table[row].tolist()}; needed are numbers from 0 to 1 that sum to 1."
        )
    return table


def _prior(prior: Any, names: list[Any], owner: str) -> Float64[np.ndarray, " classes"]:
    """Prior probabilities, one a class, strictly between 0 and 1."""
    table = _numbers(prior, f"{owner}.prior")
    if table.shape != (len(names),):
        raise DataError(f"{owner}.prior: got shape {table.shape}; needed is one probability a class, {(len(names),)}.")
    outside = ~((table > 0.0) & (table < 1.0))
    if outside.any():
        at = int(outside.argmax())
        raise DataError(
            f"{owner}.prior: class {names[at]!r} has {table[at]}; a prior lies strictly between 0 and 1, as those of "
            "laplace_prior do."
        )
    if abs(table.sum() - 1.0) > _SUM_TOLERANCE:
        raise DataError(f"{owner}.prior: the priors sum to {table.sum():.6g}; they must sum to 1.")
    return table


def _numbers(values: Any, owner: str) -> Float64[np.ndarray, "..."]:
    """An array of float64."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{owner}: cannot be read as numbers ({error}).") from error
