"""Files of rows that may be larger than the memory: fragments that can be read alone, chunk by chunk."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from bnn.csvfile import Damage, Place, read_blocks, read_header
from bnn.errors import DataError, FileError, SchemaError
from bnn.kernels import threads

PARQUET = (".parquet", ".pq")
ROWS = 1 << 15
"""Rows of a chunk of a Parquet file, at most."""
CHUNK_BYTES = 1 << 23
"""Its bytes, at four a cell, at most."""
OWNER = "Source.of"
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of the rows that can be read by itself: a row group of a Parquet file, or a whole CSV file.

    Parameters
    ----------
    path
        The file, as it was named.
    part
        Which row group, counted from 0; 0 for a CSV file.
    """

    path: str
    part: int = 0

    def chunks(self, columns: Collection[str] | None = None, begin: Mark | None = None) -> Iterator[Chunk]:
        """Read the rows in order, a chunk at a time; what is damaged is told by the chunks, and ends nothing else.

        Parameters
        ----------
        columns
            Those that are needed; None: all.
        begin
            Where to go on: the ``end`` of an earlier chunk of this fragment.
        """
        begin = begin or Mark(self)
        return self._row_group(columns, begin) if _is_parquet(self.path) else self._blocks(columns, begin)

    def _row_group(self, columns: Collection[str] | None, begin: Mark) -> Iterator[Chunk]:
        """Chunks of a row group; text is read as dictionaries, several times as quickly."""
        row, total = 0, None
        try:
            with pq.ParquetFile(self.path) as file:
                metadata, schema = file.metadata, file.schema_arrow
            total = metadata.row_group(self.part).num_rows
            if 0 < total <= begin.row:  # its damage, if any, has been told
                return
            fields = [field for field in schema if columns is None or field.name in columns]
            declared = frozenset(field.name for field in fields if pa.types.is_dictionary(field.type))
            texts = [field.name for field in fields if field.type in (pa.string(), pa.large_string())]
            rows = max(min(ROWS, CHUNK_BYTES // (4 * max(len(fields), 1))), 1)
            names = [field.name for field in fields]
            divided = threads.count() > 2  # of two, one reads while the other counts
            with pq.ParquetFile(self.path, metadata=metadata, read_dictionary=texts) as file:
                for batch in file.iter_batches(rows, [self.part], names, use_threads=divided):
                    first, row = row, row + len(batch)
                    if row > begin.row:
                        yield Chunk(first, pa.table(batch), declared, (), Mark(self, row))
        except (pa.ArrowException, OSError) as error:
            where = f", row group {self.part} from row {row} on" if total else ""
            damage = Damage(f"{self.path!r}{where}: cannot be read: {_first_line(error)}", (total or row) - row)
            yield Chunk(row, pa.table({}), frozenset(), (damage,), Mark(self, total or row))

    def _blocks(self, columns: Collection[str] | None, begin: Mark) -> Iterator[Chunk]:
        """Chunks of a CSV file."""
        row, place = begin.row, begin.place
        try:
            for block in read_blocks(read_header(self.path), place, columns):
                first, row, place = row, row + block.table.num_rows, block.end
                yield Chunk(first, block.table, None, block.damage, Mark(self, row, place))
        except FileError as error:
            damage = Damage(str(error).rstrip("."), 0)
            yield Chunk(row, pa.table({}), None, (damage,), Mark(self, row, place))


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a fragment has been read: so many rows, and in a CSV file the place behind them."""

    fragment: Fragment
    row: int = 0
    place: Place | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Neighbouring rows of a fragment.

    Attributes
    ----------
    row
        Number of the first one within the fragment.
    table
        The rows; text as dictionaries. Without columns where nothing could be read.
    declared
        Columns whose dictionaries say which categories there are, and in which order; None: a CSV file, where every
        column holds distinct fields of text, whose type only all rows together tell.
    damage
        What was left out.
    end
        Where the next chunk begins.
    """

    row: int
    table: pa.Table
    declared: frozenset[str] | None
    damage: tuple[Damage, ...]
    end: Mark


@dataclass(frozen=True, slots=True)
class Source:
    """Rows of one or several files of the same columns, CSV or Parquet, which are never all in memory.

    Usually made by `Source.of`.

    Parameters
    ----------
    fragments
        What the files consist of, in order.
    names
        The columns.
    strict
        Whether damage stops the work.
    scheduler
        The cluster that reads them, one task a fragment: the address of its scheduler, or a ``distributed.Client``.
        None: this process.

    Examples
    --------
    >>> import bnn
    >>> source = Source.of(bnn.datasets.path("zoo"))
    >>> source.names[-1], sum(chunk.table.num_rows for chunk in source.chunks(["class"]))
    ('class', 101)
    """

    fragments: tuple[Fragment, ...]
    names: tuple[str, ...]
    strict: bool = False
    scheduler: Any = None

    @staticmethod
    def of(*paths: str | Path, strict: bool = False, scheduler: Any = None) -> Source:
        """Look at files, without reading their rows.

        Parameters
        ----------
        *paths
            Files, or patterns such as ``"2026-*.parquet"``, whose files are taken in the order of their names. A file
            whose name ends in ``.parquet`` or ``.pq`` is a Parquet file, any other a CSV file as of
            `bnn.csvfile.read_csv`.
        strict
            Whether a damaged row or file is an error. Otherwise it is left out, counted and told.
        scheduler
            A dask cluster that does the work of `bnn.Counts.of`, `bnn.find_schema` and ``fit``: the address of its
            scheduler, or a ``distributed.Client``. Every worker must find the files where they are found here.

        Raises
        ------
        FileError
            A file that does not exist or is named twice, a pattern without files; no file that can be read.
        DataError
            CSV and Parquet files together.
        SchemaError
            A file that lacks columns of the first, or names two alike.
        """
        files = files_of(*paths)
        if len({_is_parquet(file) for file in files}) > 1:
            raise DataError(f"{OWNER}: some files are CSV and some Parquet, whose columns have types; give one kind.")
        fragments: list[Fragment] = []
        names: tuple[str, ...] | None = None
        for path in files:
            try:
                found, parts = _looked_at(path)
            except (pa.ArrowException, OSError, FileError) as error:
                if strict or len(files) == 1:
                    raise error if isinstance(error, FileError) else _unreadable(path, error) from None
                fragments.append(Fragment(path))  # its damage is told when it is read
                continue
            if twice := [name for name in found if found.count(name) > 1]:
                raise SchemaError(f"{OWNER}: {path!r}: {twice[0]!r} names two columns; rename one.")
            if names is None:
                names, first = found, path
            if lacking := [name for name in names if name not in found]:
                raise SchemaError(f"{OWNER}: {path!r} lacks the column {lacking[0]!r} of {first!r}; give it one.")
            fragments += [Fragment(path, part) for part in range(parts)]
        if names is None:
            raise FileError(f"{OWNER}: none of {len(files)} files can be read, such as {files[0]!r}; check them.")
        return Source(tuple(fragments), names, strict, scheduler)

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in order."""
        return tuple(dict.fromkeys(fragment.path for fragment in self.fragments))

    def chunks(self, columns: Collection[str] | None = None, begin: Mark | None = None) -> Iterator[Chunk]:
        """Read everything in order, one chunk ahead of what is done with it.

        Parameters
        ----------
        columns
            Those that are needed; None: all.
        begin
            Where to go on: the ``end`` of an earlier chunk.

        Raises
        ------
        FileError
            Damage, where it stops the work.
        """
        first = 0 if begin is None else self.fragments.index(begin.fragment)
        marks = [begin, *[None] * (len(self.fragments) - first - 1)]
        pairs = zip(self.fragments[first:], marks, strict=True)
        return ahead(chunk for fragment, mark in pairs for chunk in self._sound(fragment.chunks(columns, mark)))

    def _sound(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks, up to damage that stops the work."""
        for chunk in chunks:
            if self.strict and chunk.damage:
                raise FileError(f"{chunk.damage[0].told}; mend it, or let damage be left out.")
            yield chunk


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The items, each made by another thread while the one before it is worked on, if more than one may run.

    Examples
    --------
    >>> list(ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    if threads.count() == 1:
        yield from items
        return
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="bnn-reader") as pool:
        made = pool.submit(next, items, end)
        while (item := made.result()) is not end:
            made = pool.submit(next, items, end)
            yield item  # type: ignore[misc]  # the end is no item


def files_of(*paths: str | Path) -> tuple[str, ...]:
    """Files that paths and patterns name, in order.

    Raises
    ------
    FileError
        A file that does not exist, a folder, a pattern without files, or a file named twice.
    """
    files: list[str] = []
    for path in map(str, paths):
        found = [path]
        if not Path(path).exists() and glob.has_magic(path):
            found = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - the pattern may be an absolute path
        if not found:
            raise FileError(f"{OWNER}: no file is called {path!r}; check the pattern.")
        files += found
    for path in files:
        if Path(path).is_dir():
            raise FileError(f"{OWNER}: {path!r} is a folder; name the files in it, such as {path}/*.parquet.")
        if not Path(path).exists():
            raise FileError(f"{OWNER}: {path!r} does not exist; check the path.")
    real = [Path(path).resolve() for path in files]
    if twice := [path for path, one in zip(files, real, strict=True) if real.count(one) > 1]:
        raise FileError(f"{OWNER}: {twice[0]!r} is named twice; its rows would count twice.")
    if not files:
        raise DataError(f"{OWNER}: no files are named; give one or more.")
    return tuple(files)


def _is_parquet(path: str) -> bool:
    """Whether a file is a Parquet file, by its name."""
    return path.lower().endswith(PARQUET)


def _looked_at(path: str) -> tuple[tuple[str, ...], int]:
    """Names of the columns, and number of fragments."""
    if not _is_parquet(path):
        return read_header(path).names, 1
    with pq.ParquetFile(path) as file:
        return tuple(file.schema_arrow.names), file.num_row_groups


def _first_line(error: BaseException) -> str:
    """What an error says, briefly."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")


def _unreadable(path: str, error: BaseException) -> FileError:
    """Error for a file that is none."""
    return FileError(f"{OWNER}: {path!r} cannot be read: {_first_line(error)}; take another copy.")
