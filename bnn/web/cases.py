"""Cases that a classifier is asked about, from choices of a page and from rows of a program."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from bnn.app.data import as_fitted
from bnn.classify.columns import Column
from bnn.errors import DataError, unknown_name

Value = str | int | float | bool | None


def table_of(classifier: Any, rows: Sequence[Mapping[str, Value]]) -> Any:
    """Rows of attribute and value as a table that a fitted classifier takes; what a row lacks is unknown.

    Raises
    ------
    DataError
        An attribute that was not learned, or text where numbers were.

    Examples
    --------
    >>> import bnn
    >>> classifier = bnn.NaiveBayesClassifier().fit({"legs": [4, 2], "skin": ["hair", "feathers"]}, ["mammal", "bird"])
    >>> classifier.predict(table_of(classifier, [{"skin": "hair"}, {"legs": 2}])).tolist()
    ['mammal', 'bird']
    """
    columns = {column.attribute.name: column for column in classifier.codebook_.columns}
    for row in rows:
        for name in row:
            if name not in columns:
                raise unknown_name("rows", name, columns)
    read = {name: _column(column, [row.get(name) for row in rows]) for name, column in columns.items()}
    return as_fitted(classifier, read)


def representative(column: Column, code: int) -> Value:
    """A value that has this code: the category itself, or a number inside the interval.

    Examples
    --------
    >>> age = Column.binned("age", np.array([30.0, 50.0]), 20.0)
    >>> [representative(age, code) for code in range(3)]
    [10.0, 40.0, 70.0]
    """
    if column.bounds is None:
        chosen: Value = column.attribute.values[code]
        return chosen
    bounds = column.bounds
    if not len(bounds):
        return 0.0
    if code == 0:
        return float(min(bounds[0] - column.width, np.nextafter(bounds[0], -np.inf)))
    if code == len(bounds):
        return float(bounds[-1] + column.width)
    return float(bounds[code - 1] / 2 + bounds[code] / 2)


def _column(column: Column, values: Sequence[Value]) -> pa.Array:
    """Values of one attribute as the kind of column that was learned."""
    name, known = column.attribute.name, column.attribute.values
    if column.bounds is None and (not known or any(isinstance(value, str) for value in known)):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    for value in values:
        if isinstance(value, str) or (value is not None and not math.isfinite(value)):
            raise DataError(
                f"rows: {name!r} held numbers when it was learned, and now {value!r}; give a number or null."
            )
    return pa.array([None if value is None else float(value) for value in values], pa.float64())
