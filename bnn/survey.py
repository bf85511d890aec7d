"""What the columns of files hold, found in one pass: values, kinds, a sample of numbers. Surveys add as counts do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from jaxtyping import Float64, Int, Int32, UInt64

from bnn.csvfile import typed_as
from bnn.discretize import equal_frequency, interval_names
from bnn.measurements import require_intervals
from bnn.schema import Attribute, Schema
from bnn.seen import Seen, joined, of_one_type, plain_column, seen_in
from bnn.sources import Chunk, Fragment
from bnn.tables import encode

SAMPLE = 1_000_000
"""Rows whose numbers are kept, those of smallest hash: bounds are exact quantiles of them."""
EVERY = np.uint64(2**64 - 1)
"""No hash is larger."""


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
        columns[name], found = seen_in(name, table[name], declared, chunk.declared is None, owner)
        if sampled and name != labels and columns[name].numeric:
            numbers[name] = found
    hashes = row_hashes(chunk.end.fragment, row) if numbers else np.zeros(0, np.uint64)
    kept = np.flatnonzero(hashes < below)
    numbers = {name: some[kept] for name, some in numbers.items()}
    classes = plain_column(table[labels]).take(pa.array(kept)) if labels in columns else None
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
    if not parts:
        return Survey({}, 0, np.zeros(0, np.uint64), {})
    columns = {name: reduce(joined, (part.columns[name] for part in parts)) for name in parts[0].columns}
    hashes = np.concatenate([part.hashes for part in parts])
    kept = np.argpartition(hashes, SAMPLE - 1)[:SAMPLE] if len(hashes) > SAMPLE else np.arange(len(hashes))
    sampled = {name for part in parts for name in part.numbers if columns[name].numeric}
    numbers = {
        name: np.concatenate([_numbers(part, name) for part in parts])[kept] for name in columns if name in sampled
    }
    classes = [part.labels for part in parts if part.labels is not None]
    labels = pa.concat_arrays(of_one_type(classes)).take(pa.array(kept)) if classes else None
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


def _numbers(survey: Survey, name: str) -> Float64[np.ndarray, " sampled"]:
    """Sampled numbers of a column; all missing where nothing of it was known."""
    return survey.numbers.get(name, np.full(len(survey.hashes), np.nan))
