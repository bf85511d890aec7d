"""Rows that between them show every value a classifier learned: what a nomogram prints."""

from __future__ import annotations

from typing import Any

from bnn.classify.reading import Codebook, Column


def every_value(codebook: Codebook) -> dict[str, list[Any]]:
    """Columns of a table with as many rows as the widest attribute has values; others repeat their last one.

    Examples
    --------
    >>> import numpy as np
    >>> from bnn.schema import Attribute
    >>> wide, cut = Column(Attribute("hair", ("no", "yes"))), Column.binned("age", np.array([30.0, 50.0]), 20.0)
    >>> every_value(Codebook((wide, cut)))
    {'hair': ['no', 'yes', 'yes'], 'age': [0.0, 40.0, 100.0]}
    """
    rows = max(codebook.schema.sizes)
    shown = {column.attribute.name: _shown(column) for column in codebook.columns}
    return {name: [*values, *values[-1:] * (rows - len(values))] or [None] * rows for name, values in shown.items()}


def _shown(column: Column) -> list[Any]:
    """Each category, or one number of each interval."""
    if column.bounds is None:
        return list(column.attribute.values)
    if not len(column.bounds):
        return [0.0]
    low, high = column.bounds[[0, -1]].tolist()
    # 1 less than a large number may be the same number
    between = (column.bounds[:-1] + column.bounds[1:]) / 2
    return [low - max(1.0, abs(low)), *between.tolist(), high + max(1.0, abs(high))]
