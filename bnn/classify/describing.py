"""What the columns of a training table mean: categories, or numbers and the bounds of their intervals."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float64, Int32, Real, Shaped

from bnn.classify.columns import RANGE, Column
from bnn.classify.reading import Table
from bnn.discretize import FEW, METHODS, equal_frequency, measured
from bnn.errors import DataError, IdentifierWarning, unknown_name
from bnn.kernels.recode import seen_values
from bnn.records import extremes
from bnn.schema import Attribute, Schema, Value
from bnn.seen import Seen
from bnn.survey import Survey
from bnn.tables import encode, identifies, numbers_of, plain

NAMES = ("auto", "categories", *METHODS)
BY_CLASS = ("information-gain", "mdl")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is known of the training rows beside their table.

    Attributes
    ----------
    classes
        Position of each row's class.
    weights
        Weight of each row, or None: once each.
    heavy
        Rows of weight above 0: the others count for nothing, values and bounds included. None: all.
    """

    classes: Int32[np.ndarray, " rows"]
    weights: Float64[np.ndarray, " rows"] | None
    heavy: Bool[np.ndarray, " rows"] | None


def describe(
    table: Table, rows: Rows, discretize: Any, intervals: int, owner: str, known: Sequence[Column] | None = None
) -> tuple[Column, ...]:
    """Find out what each column means; bounds and kinds that are known already are kept, categories may grow.

    Parameters
    ----------
    table
        The training rows.
    rows
        Their classes and weights.
    discretize
        ``"auto"``, ``"categories"``, a key of `bnn.discretize.METHODS`, or a dict of these or lists of bounds by
        column.
    intervals
        How many intervals equal frequency makes.
    owner
        Who asks.
    known
        Columns of earlier rows.
    """
    names = list(table.columns)
    wanted = _wanted(discretize, names, owner)
    _require_intervals(intervals, owner)
    surveyed = _survey(table.matrix, rows, names, owner)
    out = []
    for a, name in enumerate(names):
        before = None if known is None else known[a]
        if before is not None and not before.attribute.values:  # nothing was known of it so far
            before = None
        if before is not None and before.bounds is not None:
            out.append(before)
            continue
        values = surveyed[a]
        if values is not None and wanted[a] in ("auto", "categories") and len(values) <= FEW:
            column = Column(Attribute(name, tuple(values)))
        else:
            column = _described(table, name, rows, wanted[a] if before is None else "categories", intervals, owner)
        out.append(column if before is None else grown(before, column))
    return tuple(out)


def _require_intervals(intervals: Any, owner: str) -> None:
    """Raise `DataError` unless so many intervals can be made."""
    if not isinstance(intervals, int | np.integer) or intervals < 2:
        raise DataError(f"{owner}.intervals: got {intervals!r}; give a whole number of at least 2.")


def grown(old: Column, new: Column) -> Column:
    """What a column means after more rows: bounds stay, old values keep their place, new ones follow."""
    if old.bounds is not None:
        return old
    if not old.attribute.values:  # nothing was known of it so far
        return new
    renamed = replace(new.attribute, name=old.attribute.name)
    return Column(Schema((old.attribute,)).union(Schema((renamed,))).attributes[0])


def kept_ways(known: Sequence[Column], discretize: Any) -> dict[str, Any]:
    """How to cut columns of more rows, so that bounds and kinds of the earlier ones are kept; see `grown`."""
    by_column = discretize if isinstance(discretize, Mapping) else {}
    ways = {}
    for column in known:
        name = column.attribute.name
        if column.bounds is not None:
            ways[name] = column.bounds.tolist()
        elif column.attribute.values:
            ways[name] = "categories"
        else:
            ways[name] = by_column.get(name, "auto" if isinstance(discretize, Mapping) else discretize)
    return ways


def _wanted(discretize: Any, names: Sequence[str], owner: str) -> list[Any]:
    """What is asked for each column."""
    by_column = discretize if isinstance(discretize, Mapping) else {}
    if strange := [name for name in by_column if name not in names]:
        raise unknown_name(f"{owner}.discretize", strange[0], names)
    wanted = [by_column.get(name, "auto" if isinstance(discretize, Mapping) else discretize) for name in names]
    for w in wanted:
        if isinstance(w, str) and w not in NAMES:
            raise unknown_name(f"{owner}.discretize", w, NAMES)
        if w is None or isinstance(w, bool | int | float):
            raise DataError(f"{owner}.discretize: got {w!r}; give one of {', '.join(map(repr, NAMES))}, or bounds.")
    return wanted


def _survey(
    matrix: Shaped[np.ndarray, "rows columns"] | None, rows: Rows, names: Sequence[str], owner: str
) -> list[list[Value] | None]:
    """Distinct whole numbers of each column, ascending; None for a column that holds others, or a wide range."""
    if matrix is None or matrix.dtype == bool:
        return [None] * len(names)
    heavy = matrix if rows.heavy is None else matrix[rows.heavy]
    if not len(heavy):
        return [[] for _ in names]
    low, high = (e.astype(np.float64) for e in extremes(heavy))
    if np.isinf(low).any() or np.isinf(high).any():
        name = names[int(np.argmax(np.isinf(low) | np.isinf(high)))]
        raise DataError(f"{owner}.X: column {name!r} holds infinity; values are finite, and missing where unknown.")
    small = (high < low + RANGE) & (low == np.floor(low)) & (np.abs(low) < 2**53)
    first = np.where(small, low, 0).astype(np.int64)
    start = np.concatenate([[0], np.cumsum((np.where(small, high, -1) - first).astype(np.int64) + 1)])
    seen, other = seen_values(heavy, first, start)
    empty = np.isnan(low)
    found: list[list[Value] | None] = []
    for a in range(len(names)):
        if empty[a]:
            found.append([])
        elif small[a] and not other[a]:
            found.append((np.flatnonzero(seen[start[a] : start[a + 1]]) + first[a]).tolist())
        else:
            found.append(None)
    return found


def _described(table: Table, name: str, rows: Rows, wanted: Any, intervals: int, owner: str) -> Column:
    """What one column means, looked at by itself."""
    if table.records is not None:
        return Column(table.records.schema[name])
    raw = table.columns[name]
    if isinstance(raw, np.ndarray) and raw.dtype == bool:
        return Column(Attribute(name, (False, True)))
    numbers = numbers_of(raw)
    if numbers is None:
        _require_no_bounds(name, wanted, owner)
        return _categories(name, raw, rows, owner)
    known = ~np.isnan(numbers)
    if rows.heavy is not None:
        known &= rows.heavy
    everything = known.all()
    some = numbers if everything else numbers[known]
    if len(some) and np.isinf(some).any():
        raise DataError(f"{owner}.X: column {name!r} holds infinity; values are finite, and missing where unknown.")
    classes = rows.classes if everything else rows.classes[known]
    weights = rows.weights if rows.weights is None or everything else rows.weights[known]
    if isinstance(wanted, str) and (
        wanted == "categories" or not len(some) or (wanted == "auto" and not measured(some))
    ):
        return _distinct(name, some)
    bounds = _bounds(name, some, classes, weights, wanted, intervals, owner)
    return _binned(name, bounds, float(some.max()) - float(some.min()) if len(some) else 0.0)


def described(survey: Survey, target: Attribute, discretize: Any, intervals: int, owner: str) -> tuple[Column, ...]:
    """Find out what each column of files means, as `describe` does with all their rows in memory.

    Parameters
    ----------
    survey
        Of the rows that have a class, with their labels.
    target
        The column of classes, and what they are.
    discretize, intervals, owner
        As of `describe`. Of more rows than a survey keeps, bounds are those of its sample.
    """
    names = [name for name in survey.columns if name != target.name]
    ways = dict(zip(names, _wanted(discretize, names, owner), strict=True))
    _require_intervals(intervals, owner)
    columns = []
    for name, wanted in ways.items():
        seen = survey.columns[name]
        if not seen.numeric:
            columns.append(_categories_seen(seen, wanted, owner))
            continue
        seen.require_finite(owner)
        known = not np.isnan(seen.low)
        if isinstance(wanted, str) and (
            wanted == "categories" or not known or (wanted == "auto" and not seen.measured)
        ):
            columns.append(_distinct(name, seen.distinct_numbers(owner)))
            continue
        numbers = survey.numbers[name]
        here = ~np.isnan(numbers)
        codes = survey.codes(target)[here] if wanted in BY_CLASS else None
        bounds = _bounds(name, numbers[here], codes, None, wanted, intervals, owner)
        columns.append(_binned(name, bounds, seen.high - seen.low if known else 0.0))
    return tuple(columns)


def _distinct(name: str, numbers: Real[np.ndarray, " rows"]) -> Column:
    """A column of numbers, each a category, as `bnn.tables.plain` reads them."""
    values = plain(name, np.unique(numbers).tolist(), declared=False)
    return Column(Attribute(name, tuple(value for value in values if value is not None)))


def _bounds(
    name: str,
    numbers: Real[np.ndarray, " rows"],
    classes: Int32[np.ndarray, " rows"] | None,
    weights: Float64[np.ndarray, " rows"] | None,
    wanted: Any,
    intervals: int,
    owner: str,
) -> Float[np.ndarray, " bounds"]:
    """Bounds that are given, or found in one of the ways."""
    if not isinstance(wanted, str):
        return _given(wanted, name, owner)
    if wanted in BY_CLASS:
        return METHODS[wanted](numbers, classes, weights)
    return equal_frequency(numbers, weights, intervals)


def _binned(name: str, bounds: Float[np.ndarray, " bounds"], spread: float) -> Column:
    """A column of intervals, of numbers that lie so far apart."""
    return Column.binned(name, bounds, min(spread / (len(bounds) + 1), sys.float_info.max))


def _categories(name: str, raw: Any, rows: Rows, owner: str) -> Column:
    """A column of text, bools, categories or mixed values; its undeclared values are those of rows that count."""
    coded = encode(name, raw, None, f"{owner}.X", None)
    attribute, codes = coded.attribute, coded.codes
    if rows.heavy is not None:
        codes = codes[rows.heavy]
        if not coded.declared:
            occurs = np.bincount(codes[codes >= 0], minlength=len(attribute.values)) > 0
            attribute = Attribute(name, tuple(v for v, o in zip(attribute.values, occurs, strict=True) if o))
    if identifies(int((codes >= 0).sum()), attribute):
        _warn_of_identifier(name, owner)
    return Column(attribute)


def _categories_seen(seen: Seen, wanted: Any, owner: str) -> Column:
    """A column of files that is not one of numbers."""
    _require_no_bounds(seen.name, wanted, owner)
    coded = seen.coded(f"{owner}.X", None)
    if identifies(seen.known, coded.attribute):
        _warn_of_identifier(seen.name, owner)
    return Column(coded.attribute)


def _warn_of_identifier(name: str, owner: str) -> None:
    """Warn of a column that names the rows."""
    warnings.warn(
        f"{owner}.X: every value of column {name!r} occurs once: an identifier tells nothing of new rows; leave it "
        "out.",
        IdentifierWarning,
        stacklevel=7,
    )


def _require_no_bounds(name: str, wanted: Any, owner: str) -> None:
    """Raise `DataError` where bounds are given to what holds no numbers."""
    if not isinstance(wanted, str):
        raise DataError(f"{owner}.discretize: column {name!r} has bounds, but holds no numbers; leave it out.")


def _given(bounds: Any, name: str, owner: str) -> Float[np.ndarray, " bounds"]:
    """Bounds that a user states, checked."""
    try:
        given = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{owner}.discretize: bounds of column {name!r} are {bounds!r}; give numbers.") from error
    if given.ndim != 1 or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
        raise DataError(
            f"{owner}.discretize: bounds of column {name!r} are {given.tolist()}; give ascending, finite numbers."
        )
    return given
