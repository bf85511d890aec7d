"""What the columns of files hold, found in one pass: values, kinds, a sample of numbers. Surveys add as counts do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float64, Int, Int32, Real, UInt64

from bnn.csvfile import typed, typed_as
from bnn.discretize import equal_frequency, interval_names, measured
from bnn.errors import DataError, SchemaError
from bnn.measurements import require_intervals
from bnn.schema import Attribute, Schema
from bnn.sources import Chunk, Fragment
from bnn.tables import MAX_VALUES, CodedColumn, encode, infinite, numbers_of

MOST = 1 << 17
"""Distinct values that are kept of a column."""
SAMPLE = 1_000_000
"""Rows whose numbers are kept, those of smallest hash: bounds are exact quantiles of them."""
EVERY = np.uint64(2**64 - 1)
"""No hash is larger."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What is known of some rows; ``+`` makes it that of more rows, in any division into parts.

    Parts are added in the order of their rows where columns declare their values, whose order is then that of
    appearance; else in any order.

    Attributes
    ----------
    columns
        By name, in order.
    rows
        Number of rows.
    hashes
        uint64: of the sampled rows, all below what any other row has.
    numbers
        float64: the numbers of the sampled rows, by numeric column; NaN where missing.
    labels
        Classes of the sampled rows, where they were asked for.
    """

    columns: Mapping[str, Seen]
    rows: int
    hashes: UInt64[np.ndarray, " sampled"]
    numbers: Mapping[str, Float64[np.ndarray, " sampled"]]
    labels: pa.Array | None = field(default=None)

    def __add__(self, other: Survey) -> Survey:
        """See the rows of both."""
        return merged([self, other]) if isinstance(other, Survey) else NotImplemented

    @property
    def below(self) -> np.uint64:
        """Only rows of a smaller hash can still enter the sample."""
        return self.hashes.max() if len(self.hashes) >= SAMPLE else EVERY

    def codes(self, classes: Attribute) -> Int32[np.ndarray, " sampled"]:
        """Position of the class of each sampled row."""
        assert self.labels is not None
        column = self.labels
        if pa.types.is_string(column.type):
            coded = column.dictionary_encode()
            column = typed_as(classes.name, coded.dictionary, classes.values, False)[0].take(coded.indices)
        return encode(classes.name, column, classes).codes.astype(np.int32)

    def schema(self, target: str | None = None, intervals: int | None = None, owner: str = "survey") -> Schema:
        """The schema that `bnn.Records.from_table` finds in all rows together.

        Of more than `SAMPLE` rows the bounds are those of the sampled ones.

        Parameters
        ----------
        target, intervals
            As there.

        Raises
        ------
        DataError
            As there.
        """
        attributes = []
        if intervals is not None:
            require_intervals(intervals)
        for name, seen in self.columns.items():
            if intervals is not None and name != target and seen.measured:
                seen.require_finite(owner)
                numbers = self.numbers[name]
                bounds = equal_frequency(numbers[~np.isnan(numbers)], None, intervals)
                attributes.append(Attribute(name, interval_names(bounds), bounds=tuple(bounds.tolist())))
            else:
                attributes.append(seen.coded(owner).attribute)
        return Schema(tuple(attributes), target)


def look(
    chunk: Chunk, labels: str | None = None, sampled: bool = True, below: np.uint64 = EVERY, owner: str = "survey"
) -> Survey:
    """See the rows of one chunk.

    Parameters
    ----------
    chunk
        Of a fragment.
    labels
        A column of classes: rows without one are passed over, and its values are those that occur.
    sampled
        Whether numbers are kept, for bounds.
    below
        Rows of larger hash are not kept.

    Examples
    --------
    >>> import bnn
    >>> from bnn.sources import Source
    >>> iris = survey_of(Source.of(bnn.datasets.path("iris")).chunks())
    >>> iris.rows, iris.schema("class", intervals=3)["petal_width"].values
    (150, ('< 0.8', '0.8 to 1.55', '>= 1.55'))
    """
    table, row = chunk.table, np.arange(chunk.row, chunk.row + chunk.table.num_rows)
    if labels is not None and table.num_rows:
        labelled = encode(labels, table[labels], None, owner, None).codes >= 0
        table, row = table.filter(pa.array(labelled)), row[labelled]
    columns, numbers = {}, {}
    for name in table.column_names:
        declared = chunk.declared is not None and name in chunk.declared and name != labels
        columns[name], found = _seen(name, table[name], declared, chunk.declared is None, owner)
        if sampled and name != labels and columns[name].numeric:
            numbers[name] = found
    hashes = row_hashes(chunk.end.fragment, row) if numbers else np.zeros(0, np.uint64)
    kept = np.flatnonzero(hashes < below)
    numbers = {name: some[kept] for name, some in numbers.items()}
    classes = _plain_column(table[labels]).take(pa.array(kept)) if labels in columns else None
    return Survey(columns, table.num_rows, hashes[kept], numbers, classes)


def survey_of(
    chunks: Iterable[Chunk], labels: str | None = None, sampled: bool = True, owner: str = "survey"
) -> Survey:
    """See the rows of all chunks; see `look`. Equal to the sum of what is seen of each."""
    total, parts = merged([]), []
    for chunk in chunks:
        parts.append(look(chunk, labels, sampled, total.below, owner))
        if len(parts) == 64 or sum(len(part.hashes) for part in parts) >= SAMPLE:
            total, parts = merged([total, *parts]), []
    return merged([total, *parts])


def merged(parts: Sequence[Survey]) -> Survey:
    """The sum of several surveys, in one step.

    Raises
    ------
    SchemaError
        A column of text in one and of numbers in another.
    """
    parts = [part for part in parts if part.columns]
    if len(parts) < 2:
        return parts[0] if parts else Survey({}, 0, np.zeros(0, np.uint64), {})
    columns = {name: reduce(_joined, (part.columns[name] for part in parts)) for name in parts[0].columns}
    hashes = np.concatenate([part.hashes for part in parts])
    kept = np.argpartition(hashes, SAMPLE - 1)[:SAMPLE] if len(hashes) > SAMPLE else np.arange(len(hashes))
    sampled = {name for part in parts for name in part.numbers if columns[name].numeric}
    numbers = {
        name: np.concatenate([_numbers(part, name) for part in parts])[kept] for name in columns if name in sampled
    }
    classes = [part.labels for part in parts if part.labels is not None]
    labels = pa.concat_arrays(_of_one_type(classes)).take(pa.array(kept)) if classes else None
    return Survey(columns, sum(part.rows for part in parts), hashes[kept], numbers, labels)


def row_hashes(fragment: Fragment, rows: Int[np.ndarray, " rows"]) -> UInt64[np.ndarray, " rows"]:
    """A hash of each row of a fragment, uniform over 64 bits: the same wherever and in whatever order it is read.

    SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), begun for each fragment by a hash of its name.
    """
    name = f"{fragment.path}\n{fragment.part}".encode()
    begin = np.uint64(int.from_bytes(blake2b(name, digest_size=8).digest(), "little"))
    z = begin + rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashes: np.ndarray = z ^ (z >> np.uint64(31))
    return hashes


def _seen(
    name: str, column: pa.ChunkedArray, declared: bool, fields: bool, owner: str
) -> tuple[Seen, Float64[np.ndarray, " rows"]]:
    """What is known of the column of a chunk, and its numbers; NaN where it has none."""
    encode(name, column[:0], None, owner)  # refuses dates, lists and the like
    array = _plain_column(column, decode=False)
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


def _joined(a: Seen, b: Seen) -> Seen:
    """What is known of a column from two surveys."""
    kind = _joined_kind(a, b)
    values = None
    if a.values is not None and b.values is not None:
        own = pa.string() if a.fields else kind
        values = pa.concat_arrays([a.values.cast(own), b.values.cast(own)]).unique()
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


def _plain_column(column: pa.ChunkedArray, decode: bool = True) -> pa.Array:
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


def _of_one_type(arrays: Sequence[pa.Array]) -> list[pa.Array]:
    """Arrays of numbers, or of text, as one type of them."""
    kinds = {array.type for array in arrays}
    if len(kinds) < 2:
        return list(arrays)
    kind = pa.float64() if all(map(_is_number, kinds)) else pa.string()
    return [array.cast(kind) for array in arrays]


def _numbers(survey: Survey, name: str) -> Float64[np.ndarray, " sampled"]:
    """Sampled numbers of a column; all missing where nothing of it was known."""
    return survey.numbers.get(name, np.full(len(survey.hashes), np.nan))


def _is_number(kind: pa.DataType) -> bool:
    """Whether values of this type are numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
