"""What a column of a table means: categories, or the bounds of intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from bnn.discretize import interval_names
from bnn.errors import DataError
from bnn.kernels.recode import BY_BOUNDS, BY_SEARCH, BY_TABLE
from bnn.schema import Attribute

RANGE = 1 << 16
"""Widest range of whole numbers that is looked up in a table instead of searched for."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """What a column of a table means.

    Parameters
    ----------
    attribute
        Name, and categories or names of intervals.
    bounds
        Ascending inner bounds of the intervals of a numeric attribute; a number on a bound lies above it. None:
        categories.
    width
        (largest - smallest) / intervals of the training rows: sigma of [C] is SIG times this.

    Examples
    --------
    >>> Column.binned("age", np.array([30.0, 50.0]), 20.0).attribute.values
    ('< 30', '30 to 50', '>= 50')
    """

    attribute: Attribute
    bounds: Float[np.ndarray, " bounds"] | None = None
    width: float = 0.0

    @property
    def inner(self) -> Float[np.ndarray, " bounds"]:
        """The bounds of a numeric column."""
        assert self.bounds is not None
        return self.bounds

    @staticmethod
    def binned(name: str, bounds: Float[np.ndarray, " bounds"], width: float) -> Column:
        """A numeric column, its intervals named by their bounds."""
        return Column(Attribute(name, interval_names(bounds)), bounds, width)


def lookup_of(column: Column) -> tuple[int, int, Int[np.ndarray, " entries"], Float[np.ndarray, " keys"]]:
    """How the numbers of a column are coded: the kind, and its table and keys; see `bnn.kernels.recode.recode`.

    Raises
    ------
    DataError
        Whole numbers that are the same as doubles, by which they are looked up.
    """
    none = np.zeros(0, np.int32)
    if column.bounds is not None:
        return BY_BOUNDS, 0, none, column.bounds
    numbers = {v: code for code, v in enumerate(column.attribute.values) if not isinstance(v, str)}
    if not numbers:
        return BY_TABLE, 0, none, np.zeros(0)
    low, high = min(numbers), max(numbers)
    if len({float(v) for v in numbers}) < len(numbers):
        raise DataError(
            f"fit.X: column {column.attribute.name!r} holds whole numbers beyond 2**53 that floats do not tell apart, "
            f"up to {max(low, high, key=abs)}; give them as text."
        )
    if high - low < RANGE and all(float(v).is_integer() for v in numbers):
        table = np.full(int(high - low) + 1, -1, np.int32)
        table[[int(v - low) for v in numbers]] = list(numbers.values())
        return BY_TABLE, int(low), table, np.zeros(0)
    ordered = sorted(numbers.items())
    return BY_SEARCH, 0, np.array([c for _, c in ordered], np.int32), np.array([float(v) for v, _ in ordered])
