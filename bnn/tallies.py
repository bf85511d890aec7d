"""Counts of what comes in parts: files, dask tables, records one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from bnn.cluster import divided
from bnn.errors import DataError, unknown_name
from bnn.partitions import names_of, total
from bnn.records import Records, put_together
from bnn.schema import Schema
from bnn.sources import Chunk, Source
from bnn.streaming import Losses, find_schema, named, part_of
from bnn.tables import encode

Tallies = TypeVar("Tallies")


def counted(
    records: Any,
    count: Callable[[Records], Tallies],
    added: Callable[[Iterator[Tallies]], Tallies],
    owner: str,
    schema: Schema | None = None,
    weight: str | None = None,
) -> Tallies:
    """Count anything that comes in parts: files, a dask table, or an iterable of records or tables.

    Parameters
    ----------
    records
        The parts.
    count, added
        The counts of one part, and their sum.
    owner
        Who asks; sentences begin with it.
    schema
        Of files and tables; None: files and dask tables are looked through for it first.
    weight
        Column of weights of files and dask tables.

    Warns
    -----
    DamageWarning, UnseenValueWarning
        What was lost.
    """
    if not isinstance(records, Source) and not divided(records):
        require_no_weight(weight, owner)
        return added(map(count, parts_of(records, schema, f"{owner}.records")))
    extra = named(weight)
    schema = schema or find_schema(records, ignore=extra)
    names = records.names if isinstance(records, Source) else names_of(records, owner)
    if lacking := [name for name in schema.names if name not in names]:
        told = "the files lack" if isinstance(records, Source) else "the table lacks"
        raise unknown_name(f"{owner}: {told} a column of the schema", lacking[0], names)
    if weight is not None and weight not in names:
        raise unknown_name(f"{owner}.weight", weight, names)
    one, several = partial(_counted, count, added, schema, weight), partial(_sum, added)
    found: Tallies
    found, losses = total(one, records, several, (*schema.names, *extra), owner)
    losses.warn()
    return found


def require_no_weight(weight: str | None, owner: str) -> None:
    """Raise `DataError` where a column of weights is named, but records have their weights themselves."""
    if weight is not None:
        raise DataError(f"{owner}.weight: got {weight!r} of records; give them weights, as in Records.from_table.")


def _counted(
    count: Callable[[Records], Tallies],
    added: Callable[[Iterator[Tallies]], Tallies],
    schema: Schema,
    weight: str | None,
    chunks: Iterable[Chunk],
) -> tuple[Tallies, Losses]:
    """Counts of chunks, and what was lost."""
    losses = []

    def tallies() -> Iterator[Tallies]:
        for chunk in chunks:
            part = part_of(chunk, schema, weight=weight)
            losses.append(part.losses)
            yield count(part.records)
        if not losses:
            yield count(put_together([encode(a.name, pa.nulls(0), a) for a in schema.attributes], schema))

    return added(tallies()), sum(losses, Losses())


def _sum(
    added: Callable[[Iterator[Tallies]], Tallies], found: Sequence[tuple[Tallies, Losses]]
) -> tuple[Tallies, Losses]:
    """The sum of what `_counted` found in several parts."""
    return added(tallies for tallies, _ in found), sum((losses for _, losses in found), Losses())


def parts_of(parts: Any, schema: Schema | None, owner: str) -> Iterator[Records]:
    """Records of an iterable of records or tables.

    Raises
    ------
    DataError
        What has no parts, or none at all; tables without a schema.
    """
    whole = isinstance(parts, str | bytes | Mapping | np.ndarray) or hasattr(parts, "columns")
    if whole or not isinstance(parts, Iterable):
        raise DataError(
            f"{owner}: got {type(parts).__name__}; give Records, such as bnn.Records.from_table(table), or parts."
        )
    empty = True
    for part in parts:
        empty = False
        if not isinstance(part, Records) and schema is None:
            raise DataError(f"{owner}: got parts of type {type(part).__name__} without a schema; give schema=...")
        yield part if isinstance(part, Records) else Records.from_table(part, schema=schema)
    if empty:
        raise DataError(f"{owner}: got no part at all; give one or more.")
