"""Columns that are of little use as they are: measurements are cut, and what cannot be helped is told in a sentence."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from bnn.discretize import FEW, equal_frequency, interval_names, measured
from bnn.errors import DataError, IdentifierWarning, MeasurementWarning, UnseenValueWarning
from bnn.schema import Attribute
from bnn.tables import OWNER, CodedColumn, identifies, infinite, numbers_of

SHOWN = 5  # names in a sentence


def cut(
    columns: Mapping[str, Any], target: str | None, weights: Float[np.ndarray, " rows"] | None, intervals: int
) -> list[Attribute | None]:
    """An attribute of intervals for each column of measurements but the target, None for the others.

    Parameters
    ----------
    columns
        By name, as `bnn.tables.columns_of` gives them.
    target
        What a classifier predicts stays as it is.
    weights
        Weight of each row; rows of weight 0 count for nothing.
    intervals
        How many of equal weight.

    Raises
    ------
    DataError
        A number of intervals below 2, or infinity in a column.
    """
    require_intervals(intervals)
    return [None if name == target else _cut(name, column, weights, intervals) for name, column in columns.items()]


def require_intervals(intervals: int) -> None:
    """Raise `DataError` unless so many intervals can be made."""
    if isinstance(intervals, bool) or not isinstance(intervals, int | np.integer) or intervals < 2:
        raise DataError(f"{OWNER}.intervals: got {intervals!r}; give a whole number of at least 2.")


def _cut(name: str, column: Any, weights: Float[np.ndarray, " rows"] | None, intervals: int) -> Attribute | None:
    numbers = numbers_of(column)
    if numbers is None:
        return None
    counts = ~np.isnan(numbers) if weights is None else ~np.isnan(numbers) & (weights > 0)
    some = numbers[counts]
    if not measured(some):
        return None
    if np.isinf(some).any():
        raise infinite(name, some[np.isinf(some)][0].item(), OWNER)
    bounds = equal_frequency(some, None if weights is None else weights[counts], intervals)
    return Attribute(name, interval_names(bounds), bounds=tuple(bounds.tolist()))


def warn_of_columns(coded: Sequence[CodedColumn], target: str | None) -> None:
    """Warn of measurements whose every number became a value, and of identifiers, each kind in one sentence."""
    own = [c for c in coded if not c.declared and c.attribute.bounds is None and c.attribute.name != target]
    texts = [c for c in own if c.attribute.values and isinstance(c.attribute.values[-1], str)]
    numbers = [c for c in own if c not in texts and len(c.attribute.values) > FEW]
    if numbers:
        told = _listed([f"{c.attribute.name!r} ({len(c.attribute.values)} distinct)" for c in numbers])
        warnings.warn(
            f"{OWNER}: numbers became values of their own, so that others will be unknown: {told}; cut them into "
            "intervals with intervals=20, or leave them to a classifier, which cuts them itself.",
            MeasurementWarning,
            stacklevel=3,
        )
    if identifiers := [c for c in texts if identifies(int((c.codes >= 0).sum()), c.attribute)]:
        told = _listed([repr(c.attribute.name) for c in identifiers])
        warnings.warn(
            f"{OWNER}: every value occurs once: {told}; an identifier tells nothing of new rows: leave it out.",
            IdentifierWarning,
            stacklevel=3,
        )


def warn_of_unseen(coded: Sequence[CodedColumn]) -> None:
    """Warn of the values that the schema lacks, by attribute, with their number and an example."""
    if unseen := [column for column in coded if column.unseen]:
        told = _listed([f"{c.attribute.name!r} {c.unseen} (such as {c.example!r})" for c in unseen])
        warnings.warn(
            f"{OWNER}: values that the schema lacks were taken as missing: {told}.",
            UnseenValueWarning,
            stacklevel=3,
        )


def _listed(names: Sequence[str]) -> str:
    """The first few of them, and how many more."""
    more = f" and {len(names) - SHOWN} more attributes" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
