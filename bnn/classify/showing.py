"""Rows that between them show every value a classifier learned: what a nomogram prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnn.classify.columns import Column
from bnn.classify.reading import Codebook


def every_value(codebook: Codebook, most: int) -> dict[str, list[Any]]:
    """Columns of a table with as many rows as the longest needs; shorter ones repeat their last value.

    An interval is shown by two numbers, so that a gain which changes within it is noticed.
    Attributes with more than ``most`` values are shown as unknown.

    Examples
    --------
    >>> from bnn.schema import Attribute
    >>> wide, cut = Column(Attribute("hair", ("no", "yes"))), Column.binned("age", np.array([30.0, 50.0]), 20.0)
    >>> every_value(Codebook((wide, cut)), most=3)
    {'hair': ['no', 'yes', 'yes', 'yes', 'yes', 'yes'], 'age': [10.0, 29.999999999999996, 30.0, 50.0, 40.0, 70.0]}
    """
    shown = {
        column.attribute.name: _shown(column) if len(column.attribute.values) <= most else []
        for column in codebook.columns
    }
    rows = max(1, *map(len, shown.values()))
    return {name: [*values, *(values[-1:] or [None]) * (rows - len(values))] for name, values in shown.items()}


def _shown(column: Column) -> list[Any]:
    """Each category, or numbers of each interval."""
    if column.bounds is None:
        return list(column.attribute.values)
    if not len(column.bounds):
        return [0.0]
    bounds, most = column.bounds, np.finfo(np.float64).max
    middles = bounds[:-1] / 2 + bounds[1:] / 2
    below, above = bounds[0] - column.width, bounds[-1] + column.width
    shown: list[Any] = np.clip(
        [below, np.nextafter(bounds[0], -np.inf), *bounds, *middles, above], -most, most
    ).tolist()
    return shown
