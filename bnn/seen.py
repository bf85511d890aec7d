"""What is known of one column of files: its values, their kind, the extremes of its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float64, Real

from bnn.csvfile import typed
from bnn.discretize import measured
from bnn.errors import DataError, SchemaError
from bnn.tables import MAX_VALUES, CodedColumn, encode, infinite, numbers_of

MOST = 1 << 17
"""Distinct values that are kept of a column."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What is known of one column.

    Attributes
    ----------
    name
        Of the column.
    values
        Distinct values in order of appearance, of one Arrow type; None: more than `MOST`.
    declared
        Whether the column itself said which values there are, and their order.
    fields
        Whether it is of CSV files, whose values are text until all of them are known.
    kind
        Arrow type of the values: of fields, that which all of them have.
    known
        Number of rows that have a value.
    low, high
        Extremes of the numbers, NaN where there are none.
    """

    name: str
    values: pa.Array | None
    declared: bool
    fields: bool
    kind: pa.DataType
    known: int
    low: float
    high: float

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers and nothing else, as far as is known."""
        return not self.declared and (pa.types.is_null(self.kind) or _is_number(self.kind))

    @property
    def measured(self) -> bool:
        """Whether these are measurements: fractions, or more than `bnn.discretize.FEW` distinct numbers."""
        if not self.numeric or self.values is None:
            return self.numeric
        return measured(self.distinct_numbers("survey"))

    def distinct_numbers(self, owner: str) -> Real[np.ndarray, " distinct"]:
        """Distinct numbers of a numeric column, without missing ones."""
        self.require_few(owner)
        numbers = numbers_of(self.column)
        assert numbers is not None
        known: np.ndarray = numbers[~np.isnan(numbers)]
        return known

    @property
    def column(self) -> pa.Array:
        """The distinct values as a column like the whole one."""
        if self.declared:
            return pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), self.values)
        return typed(self.name, self.values) if self.fields else self.values

    def coded(self, owner: str, most: int | None = MAX_VALUES) -> CodedColumn:
        """The attribute of the distinct values, as if they were the column; see `bnn.tables.encode`."""
        self.require_few(owner)
        return encode(self.name, self.column, None, owner, most)

    def require_few(self, owner: str) -> None:
        """Raise `DataError` where there are more distinct values than are kept."""
        if self.values is None:
            raise DataError(
                f"{owner}: column {self.name!r} has more than {MOST:,} distinct values; leave it out if it is an "
                "identifier, or cut it into intervals if it is a number."
            )

    def require_finite(self, owner: str) -> None:
        """Raise `DataError` where there is infinity among the numbers."""
        for number in (self.low, self.high):
            if np.isinf(number):
                raise infinite(self.name, number, owner)


def seen_in(
    name: str, column: pa.ChunkedArray, declared: bool, fields: bool, owner: str
) -> tuple[Seen, Float64[np.ndarray, " rows"]]:
    """What is known of the column of a chunk, and its numbers; NaN where it has none."""
    encode(name, column[:0], None, owner)  # refuses dates, lists and the like
    array = plain_column(column, decode=False)
    if pa.types.is_dictionary(array.type):
        places = pc.unique(array.indices).drop_null()
        values = array.dictionary if declared else array.dictionary.take(places)
        kind = typed(name, values) if fields else values
        numbers = np.full(len(array), np.nan)
        if fields and _is_number(kind.type):
            by_place = np.full(len(array.dictionary) + 1, np.nan)  # the last one, of place -1, is missing
            by_place[places.to_numpy()] = numbers_of(kind)
            numbers = by_place[array.indices.fill_null(-1).to_numpy()]
        distinct, kind = values, kind.type
    else:
        distinct, kind = pc.unique(array), array.type
        found = numbers_of(array)
        numbers = np.full(len(array), np.nan) if found is None else found.astype(np.float64, copy=False)
    distinct = distinct.drop_null()
    known = ~np.isnan(numbers)
    low, high = (numbers[known].min(), numbers[known].max()) if known.any() else (np.nan, np.nan)
    kept = distinct if len(distinct) <= MOST else None
    return Seen(name, kept, declared, fields, kind, len(array) - array.null_count, float(low), float(high)), numbers


def joined(a: Seen, b: Seen) -> Seen:
    """What is known of a column from two surveys."""
    kind = _joined_kind(a, b)
    values = None
    if a.values is not None and b.values is not None:
        own = pa.string() if a.fields else kind
        # not safe: whole numbers beyond 2**53 become the nearest floats, as in one table of both
        values = pa.concat_arrays([some.cast(own, safe=False) for some in (a.values, b.values)]).unique()
        values = values if len(values) <= MOST else None
    low, high = np.fmin(a.low, b.low), np.fmax(a.high, b.high)
    return Seen(a.name, values, a.declared and b.declared, a.fields, kind, a.known + b.known, float(low), float(high))


def _joined_kind(a: Seen, b: Seen) -> pa.DataType:
    """The type that holds the values of both."""
    kinds = [seen.kind for seen in (a, b) if not pa.types.is_null(seen.kind)]
    if len(set(kinds)) < 2:
        return (kinds or [a.kind])[0]
    if all(map(_is_number, kinds)):
        return pa.float64()
    if a.fields:
        return pa.string()
    raise SchemaError(
        f"survey: column {a.name!r} is {kinds[0]} in some files and {kinds[1]} in others; write it alike in all."
    )


def plain_column(column: pa.ChunkedArray, decode: bool = True) -> pa.Array:
    """A column as one array of text, bools, int64 or float64, or a dictionary of these where it may stay one."""
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        values = _plain_array(array.dictionary)
        return values.take(array.indices) if decode else pa.DictionaryArray.from_arrays(array.indices, values)
    return _plain_array(array)


def _plain_array(array: pa.Array) -> pa.Array:
    """Values of a few types only, so that they can be put together."""
    kind = array.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.string())
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return array.cast(pa.int64())
    return array.cast(pa.float64()) if pa.types.is_floating(kind) else array


def of_one_type(arrays: Sequence[pa.Array]) -> list[pa.Array]:
    """Arrays of numbers, or of text, as one type of them."""
    kinds = {array.type for array in arrays}
    if len(kinds) < 2:
        return list(arrays)
    kind = pa.float64() if all(map(_is_number, kinds)) else pa.string()
    return [array.cast(kind, safe=False) for array in arrays]


def _is_number(kind: pa.DataType) -> bool:
    """Whether values of this type are numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
