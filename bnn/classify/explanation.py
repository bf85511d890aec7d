"""Explanation: why a class was answered, as a sum of information gains [S eq 4]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64, Integer, Shaped

from bnn import hypertext
from bnn.errors import DataError, unknown_name
from bnn.frames import frame_of
from bnn.kernels.scores import to_log2_probabilities
from bnn.schema import Schema

INTERVAL = 1.96
"""Standard errors to each side of a gain: a 95 % interval."""
JOINED = " & "
"""Between the attributes in the name of a joined term."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation:
    """For each row and class: the prior, the gain of every term, and the normaliser; in bits.

    ``prior + gains.sum(axis=1) - normaliser[:, None]`` is log2 of the predicted probability: nothing is left over. A
    positive gain speaks for the class, a negative one against it.

    Attributes
    ----------
    classes
        The classes, as in ``classes_``.
    prior
        log2 P(C), [classes]; the prior information of [S eq 4] is its negative, `information`.
    terms
        Names of the terms: attributes, or joined ones.
    values
        Python objects [rows, terms]: the row's value of each term, its interval where the attribute is numeric; None
        where it is no evidence: unknown, or joined with others into a term of theirs; `unknown` tells which.
    gains
        log2 P(C|V)/P(C), [rows, terms, classes].
    cases
        Number of training cases behind each gain, those with the value, [rows, terms].
    errors
        Standard error of each gain, [rows, terms, classes], by the delta method: (1/ln 2) times the root of
        (1 - p) / (p (N(V) + m + 1)), p the estimated P(C|V). 0 where there is no evidence, or none is given.
    normaliser
        log2 Z, [rows].
    """

    classes: Shaped[np.ndarray, " classes"]
    prior: Float64[np.ndarray, " classes"]
    terms: tuple[str, ...]
    values: Shaped[np.ndarray, "rows terms"]
    gains: Float64[np.ndarray, "rows terms classes"]
    cases: Float64[np.ndarray, "rows terms"]
    errors: Float64[np.ndarray, "rows terms classes"]
    normaliser: Float64[np.ndarray, " rows"]

    def __post_init__(self) -> None:
        for name in ("classes", "prior", "values", "gains", "cases", "errors", "normaliser"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.gains)

    def __repr__(self) -> str:
        return f"Explanation({len(self):,} rows, {len(self.terms):,} terms, {len(self.classes):,} classes)"

    def _repr_html_(self) -> str:
        return hypertext.of_explanation(self)

    @property
    def information(self) -> Float64[np.ndarray, " classes"]:
        """Prior information of each class, -log2 P(C), in bits [S eq 4]."""
        return -self.prior

    @property
    def log2_probabilities(self) -> Float64[np.ndarray, "rows classes"]:
        """The sum of the terms: log2 of the predicted probabilities, [rows, classes]."""
        total: np.ndarray = self.prior + self.gains.sum(axis=1) - self.normaliser[:, None]
        return total

    def unknown(self, row: int) -> tuple[str, ...]:
        """Terms that are no evidence in a row: not known, nor a part of one that is joined there."""
        told = [term for term, value in zip(self.terms, self.values[row], strict=True) if value is not None]
        spoken = {*told, *(part for term in told for part in term.split(JOINED))}
        return tuple(term for term in self.terms if term not in spoken and not self._joins(term))

    def _joins(self, term: str) -> bool:
        """Whether a term joins others, which then speak for themselves where it is unknown."""
        return JOINED in term and set(term.split(JOINED)) <= set(self.terms)

    def with_labels(self, labels: Mapping[str, Mapping[Any, str]]) -> Explanation:
        """Replace coded values by readable ones.

        Parameters
        ----------
        labels
            By term, then by value: ``{"sex": {0: "female", 1: "male"}}``. Others stay as they are.

        Raises
        ------
        DataError
            A term that there is not.
        """
        values = self.values.copy()
        for term, readable in labels.items():
            if term not in self.terms:
                raise unknown_name("Explanation.with_labels", term, self.terms)
            if not isinstance(readable, Mapping):
                raise DataError(
                    f"Explanation.with_labels: the labels of {term!r} are {readable!r}; give a dict by value."
                )
            column = values[:, self.terms.index(term)]
            column[:] = [readable.get(value, value) for value in column]
        return replace(self, values=values)

    def to_frame(self, backend: str = "pyarrow") -> Any:
        """One line a row, class and part: the prior, each term, and the normaliser with its sign; they add up.

        Columns: row, class, term, value, cases, gain (bits), error (bits).

        Parameters
        ----------
        backend
            ``"pyarrow"``, ``"pandas"`` or ``"polars"``.
        """
        rows, terms, classes = self.gains.shape
        shape = (rows, classes, terms + 2)
        gain, error, cases = np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)
        gain[..., 0], gain[..., -1] = self.prior, -self.normaliser[:, None]
        gain[..., 1:-1] = self.gains.transpose(0, 2, 1)
        error[..., 1:-1] = self.errors.transpose(0, 2, 1)
        cases[..., 1:-1] = self.cases[:, None]
        value = np.full(shape, None, dtype=object)
        value[..., 1:-1] = self.values[:, None]
        columns = {
            "row": np.repeat(np.arange(rows), classes * (terms + 2)),
            "class": np.tile(np.repeat(self.classes, terms + 2), rows).tolist(),
            "term": ["prior", *self.terms, "normaliser"] * (rows * classes),
            "value": [None if v is None else str(v) for v in value.ravel()],
            "cases": [None if np.isnan(c) else c for c in cases.ravel().tolist()],
            "gain": gain.ravel(),
            "error": error.ravel(),
        }
        return frame_of(columns, backend, "Explanation.to_frame")


def explained(
    classes: Shaped[np.ndarray, " classes"],
    prior: Float64[np.ndarray, " classes"],
    terms: tuple[str, ...],
    values: Shaped[np.ndarray, "rows terms"],
    gains: Float64[np.ndarray, "rows terms classes"],
    cases: Float64[np.ndarray, "rows terms"],
    errors: Float64[np.ndarray, "rows terms classes"],
    labels: Mapping[str, Mapping[Any, str]] | None,
) -> Explanation:
    """Put an explanation together: normalise the sum, and give values their readable labels, if there are any."""
    normaliser = to_log2_probabilities(prior + gains.sum(axis=1))
    told = Explanation(classes, prior, terms, values, gains, cases, errors, normaliser)
    return told if labels is None else told.with_labels(labels)


def values_of(codes: Integer[np.ndarray, "rows attributes"], schema: Schema) -> Shaped[np.ndarray, "rows attributes"]:
    """Values that codes stand for, None where unknown."""
    values = np.empty(codes.shape, dtype=object)
    for a, attribute in enumerate(schema.attributes):
        values[:, a] = np.array([*attribute.values, None], dtype=object)[codes[:, a]]
    return values


def looked_up(
    codes: Integer[np.ndarray, "rows terms"],
    sizes: Int64[np.ndarray, " terms"],
    gains: Float64[np.ndarray, "values classes"],
    cases: Float64[np.ndarray, " values"],
) -> tuple[Float64[np.ndarray, "rows terms classes"], Float64[np.ndarray, "rows terms"]]:
    """Gains of each row's values, and the cases behind them, from tables term by term; 0 where unknown.

    Examples
    --------
    >>> gains, cases = looked_up(
    ...     np.array([[1, 0], [-1, 0]]), np.array([2, 1]), np.array([[0.5], [1.0], [2.0]]), np.array([3.0, 4.0, 7.0])
    ... )
    >>> gains[..., 0].tolist(), cases.tolist()
    ([[1.0, 2.0], [0.0, 2.0]], [[4.0, 7.0], [0.0, 7.0]])
    """
    # a last entry stands for what is unknown
    place = np.where(codes >= 0, codes + np.cumsum(sizes) - sizes, -1)
    return np.concatenate([gains, np.zeros((1, gains.shape[1]))])[place], np.concatenate([cases, [0.0]])[place]


def standard_errors(
    prior: Float64[np.ndarray, " classes"],
    gains: Float64[np.ndarray, "*rows classes"],
    cases: Float64[np.ndarray, "*rows"],
    m: float,
) -> Float64[np.ndarray, "*rows classes"]:
    """Standard error of gains by the delta method, in bits; 0 where no case is behind them or nothing is estimated.

    Examples
    --------
    >>> standard_errors(np.array([-1.0]), np.array([[0.0]]), np.array([1.0]), 2.0).round(4).tolist()  # 0.5/ln 2
    [[0.7213]]
    """
    share = np.clip(np.exp2(prior + gains), 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((1.0 - share) / share / (cases + m + 1.0)[..., None]) / np.log(2.0)
    return np.where((cases[..., None] > 0) & (share > 0), error, 0.0)
