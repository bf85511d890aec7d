"""Rows that lie in parts: partitions of a dask table, or fragments of files; both are read as chunks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from bnn import cluster
from bnn.errors import CellTypeError, DataError, FileError
from bnn.sources import Chunk, Fragment, Mark, Source
from bnn.tables import arrow_array

Result = TypeVar("Result")


def total(
    function: Callable[[Iterator[Chunk]], Result],
    table: Any,
    merged: Callable[[Sequence[Result]], Result],
    columns: Collection[str] | None = None,
    owner: str = "partitions",
) -> Result:
    """A function of all chunks, or the merged results of it for every part, each a task; see `bnn.cluster.total`.

    Parameters
    ----------
    function
        Of chunks in their order.
    table
        A dask data frame or array; or a `Source`, which is read in this process unless it names a scheduler.
    merged
        The sum of several results, in order.
    columns
        Those that are needed; None: all.
    owner
        Who asks; sentences begin with it.
    """
    if isinstance(table, Source):
        if table.scheduler is None:
            return function(table.chunks(columns))
        here = str(Path.cwd())
        parts = [(fragment, here, table.strict) for fragment in table.fragments]
        return cluster.total(partial(_of_fragment, function, columns), parts, merged, table.scheduler)
    names = names_of(table, owner)
    if columns is not None:  # of the others nothing is read
        places = [place for place, name in enumerate(names) if name in columns]
        table = table[[table.columns[place] for place in places]] if hasattr(table, "columns") else table[:, places]
        names = tuple(names[place] for place in places)
    numbered = [(part, number) for number, part in enumerate(cluster.partitions(table, owner))]
    return cluster.total(partial(_of_partition, function, names, owner), numbered, merged)


def names_of(table: Any, owner: str) -> tuple[str, ...]:
    """Names of the columns of a dask table; those of an array are x0, x1, ...

    Raises
    ------
    DataError
        No columns, or two of one name.
    """
    if hasattr(table, "columns"):
        names = tuple(map(str, table.columns))
    else:
        names = tuple(f"x{i}" for i in range(table.shape[1] if table.ndim == 2 else 0))
    if not names:
        raise DataError(f"{owner}: the table has no columns; an array needs the shape [rows, columns].")
    if len(set(names)) < len(names):
        raise DataError(f"{owner}: {next(n for n in names if names.count(n) > 1)!r} names two columns; rename one.")
    return names


def chunk_of(columns: dict[str, Any], number: int, owner: str) -> Chunk:
    """The columns of a partition, of pandas or numpy, as a chunk.

    Examples
    --------
    >>> chunk_of({"legs": np.array([4.0, np.nan])}, 0, "Counts.of").table["legs"].to_pylist()
    [4.0, None]
    """
    arrays = {name: arrow_array(column) for name, column in columns.items()}
    for name, array in arrays.items():
        if array is None:
            raise CellTypeError(f"{owner}: column {name!r} mixes types; make it all text or all numbers.")
    table = pa.table(arrays)
    declared = frozenset(name for name, column in columns.items() if str(column.dtype) == "category")
    return Chunk(0, table, declared, (), Mark(Fragment("partition", number), table.num_rows))


def _of_partition(
    function: Callable[[Iterator[Chunk]], Result], names: Sequence[str], owner: str, table: Any, number: int
) -> Result:
    """A function of the one chunk of a partition."""
    columns = table.T if isinstance(table, np.ndarray) else (column for _, column in table.items())
    return function(iter([chunk_of(dict(zip(names, columns, strict=True)), number, owner)]))


def _of_fragment(
    function: Callable[[Iterator[Chunk]], Result],
    columns: Collection[str] | None,
    fragment: Fragment,
    here: str,
    strict: bool,
) -> Result:
    """A function of the chunks of a fragment, which was named in the folder ``here``."""
    path = Path(here, fragment.path)
    if not path.exists():  # which is no damage: other workers may well find it
        raise FileError(f"cluster: a worker does not find {str(path)!r}; put files where all of them see them.")
    there = Source((Fragment(str(path), fragment.part),), (), strict)
    # The sample of a survey hangs on the name of the fragment, which must be that of one process
    return function(replace(chunk, end=replace(chunk.end, fragment=fragment)) for chunk in there.chunks(columns))
