"""Records of files, coded chunk by chunk by a schema; what was lost on the way is counted and told once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from bnn.csvfile import typed, typed_as, without_empty
from bnn.errors import DamageWarning, DataError, UnseenValueWarning, unknown_name
from bnn.partitions import names_of, total
from bnn.records import Records, checked_weights, put_together
from bnn.schema import Attribute, Schema
from bnn.sources import Chunk, Mark, Source
from bnn.survey import merged, survey_of
from bnn.tables import CodedColumn, encode, numbers_of

SHOWN = 3  # examples that are told


@dataclass(frozen=True, slots=True)
class Losses:
    """What could not be read, or had values that a schema lacks; losses add.

    Attributes
    ----------
    rows
        Rows known to be lost.
    places
        Number of damaged places.
    damage
        The first few of them, in words.
    unseen
        By attribute: cells whose value the schema lacks, and one of these values.
    """

    rows: int = 0
    places: int = 0
    damage: tuple[str, ...] = ()
    unseen: Mapping[str, tuple[int, Any]] = field(default_factory=dict)

    def __add__(self, other: Losses) -> Losses:
        """Losses of both."""
        unseen = dict(self.unseen)
        for name, (cells, example) in other.unseen.items():
            before, first = unseen.get(name, (0, example))
            unseen[name] = before + cells, first
        damage = (*self.damage, *other.damage)[:SHOWN]
        return Losses(self.rows + other.rows, self.places + other.places, damage, unseen)

    def warn(self) -> None:
        """Tell what there is to tell, in one sentence each.

        Warns
        -----
        DamageWarning
            Rows or files that were left out.
        UnseenValueWarning
            Values that the schema lacks.
        """
        if self.places:
            others = self.places - len(self.damage)
            more = f", and {others:,} more places" if others else ""
            lost = "damage, of how many rows is not known, was"
            if self.rows:
                lost = f"{self.rows:,} damaged row{' was' if self.rows == 1 else 's were'}"
            warnings.warn(f"{lost} left out: {'; '.join(self.damage)}{more}.", DamageWarning, stacklevel=3)
        if self.unseen:
            names = [f"{name!r} {cells:,} (such as {one!r})" for name, (cells, one) in self.unseen.items()]
            more = f" and {len(names) - SHOWN} more attributes" if len(names) > SHOWN else ""
            told = f"values that the schema lacks were taken as missing: {', '.join(names[:SHOWN])}{more}."
            warnings.warn(told, UnseenValueWarning, stacklevel=3)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The records of a chunk.

    Attributes
    ----------
    records
        Coded by the schema.
    columns
        Their columns, typed, by name: for what needs the numbers behind the codes.
    left_out
        Rows without a class, where they are not wanted.
    losses
        What is missing beside them.
    end
        Where the next part begins.
    """

    records: Records
    columns: Mapping[str, pa.Array]
    left_out: int
    losses: Losses
    end: Mark


def find_schema(
    source: Any,
    target: str | None = None,
    intervals: int | None = None,
    *,
    ignore: Collection[str] = (),
) -> Schema:
    """Find the schema of files in one pass: that of `bnn.Records.from_table` on all rows at once.

    Save it with `Schema.save`, and later passes need not look for it again.

    Parameters
    ----------
    source
        The files, or a dask data frame or array, whose partitions are looked through where they are.
    target, intervals
        As of `bnn.Records.from_table`. Of more than a million rows the bounds are exact quantiles of a million of
        them, the same in whatever order or parts the files are read.
    ignore
        Columns that the schema leaves out.

    Raises
    ------
    DataError, SchemaError
        Columns that cannot be values, or that differ between files.

    Examples
    --------
    >>> import bnn
    >>> source = bnn.Source.of(bnn.datasets.path("iris"))
    >>> find_schema(source, target="class", intervals=3)["petal_width"].values
    ('< 0.8', '0.8 to 1.55', '>= 1.55')
    """
    owner = "find_schema"
    names = source.names if isinstance(source, Source) else names_of(source, owner)
    if strange := [name for name in ignore if name not in names]:
        raise unknown_name(f"{owner}.ignore", strange[0], names)
    wanted = [name for name in names if name not in ignore]
    look = partial(survey_of, sampled=intervals is not None, owner=owner)
    found = total(look, source, merged, wanted, owner)
    if not found.rows:
        told = ", ".join(source.files[:SHOWN]) if isinstance(source, Source) else "its partitions"
        raise DataError(f"{owner}: {told} hold no rows; name files that do.")
    return found.schema(target, intervals, owner)


def records_of(source: Source, schema: Schema, begin: Mark | None = None, labelled: bool = False) -> Iterator[Part]:
    """Code the rows of files, a chunk at a time.

    Parameters
    ----------
    source
        The files; columns that the schema lacks are not read.
    schema
        As `find_schema` finds it, or any other.
    begin
        Where to go on: the ``end`` of an earlier part.
    labelled
        Whether rows without a value of the schema's target are left out.

    Raises
    ------
    DataError
        Files that lack a column of the schema.
    """
    if lacking := [name for name in schema.names if name not in source.names]:
        raise unknown_name("Source: the files lack a column of the schema", lacking[0], source.names)
    for chunk in source.chunks(schema.names, begin):
        yield part_of(chunk, schema, labelled)


def part_of(chunk: Chunk, schema: Schema, labelled: bool = False, weight: str | None = None) -> Part:
    """Code the rows of a chunk by a schema, with their weights from a column; see `records_of`."""
    table, losses, left_out = chunk.table, _damage(chunk), 0
    if not table.num_columns:
        table = pa.table({name: pa.nulls(0) for name in (*schema.names, *named(weight))})
    fields = chunk.declared is None and table.num_rows > 0
    if labelled:
        target = schema[str(schema.target)]
        column, strange = _typed(target, table[target.name], fields)
        coded = encode(target.name, column, target)
        known = coded.codes >= 0
        losses += strange + _unseen([coded])
        left_out = len(known) - int(known.sum())
        table = table.filter(pa.array(known)) if left_out else table
    columns = {}
    for attribute in schema.attributes:
        columns[attribute.name], strange = _typed(attribute, table[attribute.name], fields)
        losses += strange
    every = [encode(a.name, columns[a.name], a) for a in schema.attributes]
    weights = None if weight is None else _weights(table[weight], weight, fields)
    return Part(put_together(every, schema, weights), columns, left_out, losses + _unseen(every), chunk.end)


def table_of(
    source: Source, names: Sequence[str], values: Callable[[str, pa.Array], pa.Array] = typed
) -> tuple[pa.Table, Losses]:
    """All rows of files as one table, for what cannot learn from counts.

    Parameters
    ----------
    source
        The files.
    names
        The columns.
    values
        What the fields of CSV files mean, as of `bnn.csvfile.read_csv`.
    """
    chunks = list(source.chunks(names))
    tables = [chunk.table.select(names) for chunk in chunks if chunk.table.num_columns]
    losses = sum((_damage(chunk) for chunk in chunks), Losses())
    if not tables:
        return pa.table({name: pa.nulls(0) for name in names}), losses
    whole = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    declared = chunks[0].declared
    columns = {name: whole[name].combine_chunks() for name in names}
    for name, column in columns.items():
        if declared is None:
            columns[name] = values(name, column.dictionary).take(column.indices)
        elif name not in declared and pa.types.is_dictionary(column.type):
            columns[name] = without_empty(column.dictionary).take(column.indices)
    return pa.table(columns), losses


def named(column: str | None) -> tuple[str, ...]:
    """The name of a column, if there is one."""
    return () if column is None else (column,)


def heavy(chunk: Chunk, weight: str | None) -> Chunk:
    """The rows of a chunk that have a weight above 0; all of them where there is no column of weights."""
    if weight is None or not chunk.table.num_rows:
        return chunk
    weights = _weights(chunk.table[weight], weight, chunk.declared is None)
    return chunk if weights.all() else replace(chunk, table=chunk.table.filter(pa.array(weights > 0)))


def _weights(chunked: pa.ChunkedArray, name: str, fields: bool) -> Float[np.ndarray, " rows"]:
    """Weights of rows, from a column as of `_typed`."""
    column = chunked.combine_chunks()
    column = typed(name, column.dictionary).take(column.indices) if fields else column
    numbers = numbers_of(column)
    if numbers is None:
        raise DataError(f"column {name!r}: holds {column.type}; weights are numbers.")
    return checked_weights(numbers, len(numbers), f"column {name!r}")


def _typed(attribute: Attribute, chunked: pa.ChunkedArray, fields: bool) -> tuple[pa.Array, Losses]:
    """A column as one array; fields of a CSV file as the attribute means them."""
    column, numeric = chunked.combine_chunks(), attribute.bounds is not None
    if not fields:
        return column, Losses()
    values, strange = typed_as(attribute.name, column.dictionary, attribute.values, numeric)
    losses = Losses()
    if strange:
        odd = np.isin(column.dictionary.to_pylist(), strange)
        cells = int(odd[column.indices.drop_null().to_numpy()].sum())
        losses = Losses(unseen={attribute.name: (cells, strange[0])} if cells else {})
    return values.take(column.indices) if numeric else pa.DictionaryArray.from_arrays(column.indices, values), losses


def _unseen(columns: Sequence[CodedColumn]) -> Losses:
    """Values that a schema lacks."""
    return Losses(unseen={c.attribute.name: (c.unseen, c.example) for c in columns if c.unseen})


def _damage(chunk: Chunk) -> Losses:
    """What of a chunk cannot be read."""
    told = tuple(one.told for one in chunk.damage[:SHOWN])
    return Losses(sum(one.rows for one in chunk.damage), len(chunk.damage), told)
