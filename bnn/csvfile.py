"""CSV files to tables: block by block, or whole; what is damaged is told by its line."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from bnn.errors import FileError
from bnn.schema import Value

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""A field that is a number."""
BLOCK = 1 << 24
"""Bytes of a file that are read at a time."""
LONGEST = 1 << 26
"""No record has so many bytes."""
PARQUET_BEGINS = "PAR1"
"""What no CSV file begins with, though a Parquet file may have any name."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record begins: its first byte, and its line, counted from 1."""

    offset: int
    line: int


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a CSV file, and where its records begin."""

    path: str
    names: tuple[str, ...]
    begin: Place


@dataclass(frozen=True, slots=True)
class Damage:
    """What could not be read, in words that begin with file and line, and how many rows are known to be lost."""

    told: str
    rows: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Neighbouring records of a file.

    Attributes
    ----------
    table
        Columns of distinct fields (dictionaries of text), without the spaces around them, null where empty.
    damage
        Records that are left out.
    end
        Where the next block begins.
    """

    table: pa.Table
    damage: tuple[Damage, ...]
    end: Place


def typed(name: str, fields: pa.Array) -> pa.Array:  # noqa: ARG001 - asked column by column
    """Distinct fields of text as integers or finite floats where every one is."""
    if pc.any(pc.match_substring_regex(fields, "^[+-]?0[0-9xX]")).as_py():
        return fields
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = fields.cast(kind)
        except pa.ArrowInvalid:
            continue
        if pc.all(pc.is_finite(numbers)).as_py() is not False:
            return numbers
    return fields


def typed_as(name: str, fields: pa.Array, values: Collection[Value], numeric: bool) -> tuple[pa.Array, Sequence[str]]:
    """Distinct fields of a column as what is known of it: text, numbers or bools.

    Parameters
    ----------
    name, fields
        The column.
    values
        Its categories, where it has some.
    numeric
        Whether it is cut into intervals.

    Returns
    -------
    values
        The meaning of the fields, null where a column of numbers has a field that is none.
    strange
        These fields.

    Examples
    --------
    >>> typed_as("legs", pa.array(["4", "many"]), (2, 4), numeric=False)[1]
    ['many']
    """
    if not numeric and (not values or any(isinstance(value, str) for value in values)):
        return fields, []
    read = typed(name, fields)
    if not pa.types.is_string(read.type):
        return read, []
    if isinstance(next(iter(values), None), bool):
        fields = pc.replace_substring_regex(pc.replace_substring_regex(fields, "(?i)^true$", "1"), "(?i)^false$", "0")
    plain = pc.match_substring_regex(fields, NUMBER)
    strange = fields.filter(pc.invert(plain)).drop_null().to_pylist()
    return pc.if_else(plain, fields, pa.nulls(1, pa.string())[0]).cast(pa.float64()), strange


def read_csv(path: str | Path, values: Callable[[str, pa.Array], pa.Array] = typed) -> pa.Table:
    """Read a comma-separated file with a header row; every column becomes integers, floats or text.

    UTF-8, with or without a byte-order mark. Only an empty field is missing: ``NA``, ``?`` or ``null`` is text like any
    other. Spaces around a field are dropped. A column is integers where every field is one, floats where every field
    is a finite number, else text; numbers with leading zeros, such as ``007``, are text. Dates stay text too.

    Parameters
    ----------
    path
        The file.
    values
        What the fields of a column mean, if not this: called with its name and its distinct fields, null where empty.

    Raises
    ------
    FileError
        No such file, a folder, an empty one, a header without rows or with an empty or repeated name, a row of
        another length (named by its line), or bytes that are not UTF-8.
    """
    header = read_header(path)
    tables = []
    for block in read_blocks(header):
        if block.damage:
            raise FileError(f"read_csv: {block.damage[0].told}.")
        tables.append(block.table)
    table = pa.concat_tables(tables).combine_chunks() if tables else None
    if table is None or not table.num_rows:
        raise FileError(f"read_csv: {str(path)!r} has a header but no rows.")
    columns = [table[name].chunk(0) for name in header.names]
    meant = [values(name, column.dictionary) for name, column in zip(header.names, columns, strict=True)]
    return pa.table([some.take(column.indices) for some, column in zip(meant, columns, strict=True)], header.names)


def read_header(path: str | Path) -> Header:
    """Read the row of column names.

    Raises
    ------
    FileError
        No such file, a folder, an empty one, a Parquet file, bytes that are not UTF-8, or a name that is empty or
        repeated.
    """
    owner = f"read_csv: {str(path)!r}"
    taken: list[str] = []

    def lines(file: Iterable[str]) -> Iterator[str]:
        for line in file:
            taken.append(line)
            yield line.removeprefix("\ufeff") if len(taken) == 1 else line

    try:
        with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            _allow_long_fields(LONGEST)
            names = tuple(name.strip() for name in next(filter(None, csv.reader(lines(file))), []))
    except IsADirectoryError:
        raise FileError(f"{owner} is a folder; name a CSV file in it.") from None
    except FileNotFoundError:
        raise FileError(f"{owner} does not exist; check the path.") from None
    except (OSError, csv.Error) as error:
        raise FileError(f"{owner} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if taken and taken[0].startswith(PARQUET_BEGINS):
        raise FileError(f"{owner} is a Parquet file; needed is CSV: write it so, or let bnn fit read it as .parquet.")
    for line, text in enumerate(taken, start=1):
        if (strange := _no_unicode(text)) is not None:
            raise FileError(f"{owner}, line {line}: {strange}.")
    _check_header(names, owner)
    used = "".join(taken).encode(errors="surrogateescape")
    return Header(str(path), names, Place(len(used), used.count(b"\n") + 1))


def read_blocks(header: Header, begin: Place | None = None, columns: Collection[str] | None = None) -> Iterator[Block]:
    """Read records block by block, so that a file may be larger than the memory.

    Parameters
    ----------
    header
        Of the file.
    begin
        Where to begin: the ``end`` of an earlier block. None: at the first record.
    columns
        Those that are needed; None: all.

    Raises
    ------
    FileError
        A file that the system refuses, or a quote that is never closed.
    """
    begin = begin or header.begin
    names = [name for name in header.names if columns is None or name in columns]
    try:
        with Path(header.path).open("rb") as file:
            file.seek(begin.offset)
            while data := _whole_records(file, header.path, begin.line, BLOCK):
                end = Place(begin.offset + len(data), begin.line + data.count(b"\n"))
                table, damage = _parsed(data, header, begin.line, names)
                yield Block(table, damage, end)
                begin = end
    except OSError as error:
        raise FileError(f"read_csv: {header.path!r} cannot be read: {error.strerror or error}.") from error


def _records_end(data: bytes) -> int:
    """Where the last whole record ends; a compiled loop, not loaded for files of one block."""
    from bnn.kernels.lines import records_end

    return records_end(data)


def _whole_records(file: io.BufferedReader, path: str, line: int, size: int) -> bytes:
    """The next records of a file, about so many bytes; none at its end."""
    data = file.read(size)
    while len(data) < size or (end := _records_end(data)) == 0:
        if len(data) >= LONGEST:
            raise FileError(
                f"read_csv: {path!r}, line {line}: no record ends within {LONGEST >> 20} MB; close the quote that is "
                "open, and end lines with line feeds."
            )
        more = file.read(size)
        if not more:
            return data
        data, size = data + more, 2 * size
    file.seek(end - len(data), io.SEEK_CUR)
    return data[:end]


def _parsed(data: bytes, header: Header, line: int, names: Sequence[str]) -> tuple[pa.Table, tuple[Damage, ...]]:
    """Columns of some records; where one is damaged they are gone through one by one."""
    try:
        return _columns(data, header.names, names), ()
    except pa.ArrowInvalid as error:
        good, damage = _sound_records(data, header, line)
        if not damage:
            reason = f"is not a CSV file: {' '.join(str(error).split())[:200]}"
            raise FileError(f"read_csv: {header.path!r}, line {line}: {reason}.") from None
        return _columns(good, header.names, names), damage


def _columns(data: bytes, all_names: Sequence[str], names: Sequence[str]) -> pa.Table:
    """Columns of sound records, as distinct fields and where they are."""
    text = pa.dictionary(pa.int32(), pa.string())
    if not data.strip(b"\r\n"):
        return pa.table([pa.nulls(0, pa.string()).dictionary_encode()] * len(names), list(names))
    table = pacsv.read_csv(
        pa.BufferReader(data),
        pacsv.ReadOptions(column_names=all_names, block_size=len(data) + 1),
        pacsv.ParseOptions(newlines_in_values=b'"' in data),
        pacsv.ConvertOptions(column_types=dict.fromkeys(all_names, text), include_columns=list(names)),
    ).combine_chunks()
    return pa.table([_trimmed(table[name].chunk(0)) for name in names], list(names))


def _trimmed(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """Distinct fields without the spaces around them, empty ones missing."""
    fields = without_empty(pc.utf8_trim_whitespace(column.dictionary))
    if fields.equals(column.dictionary):
        return column
    distinct = fields.dictionary_encode()
    return pa.DictionaryArray.from_arrays(distinct.indices.take(column.indices), distinct.dictionary)


def without_empty(texts: pa.Array) -> pa.Array:
    """Texts, empty ones missing."""
    # without a Python scalar, for which pyarrow would import pandas: 0.2 s
    return pc.if_else(pc.binary_length(texts).cast(pa.bool_()), texts, pa.nulls(1, texts.type)[0])


def _sound_records(data: bytes, header: Header, line: int) -> tuple[bytes, tuple[Damage, ...]]:
    """The records that can be read, written anew, and the damage of the others."""
    _allow_long_fields(len(data) + 1)
    out = io.StringIO(newline="")
    writer, damage = csv.writer(out), []
    lines = csv.reader(io.StringIO(data.decode(errors="surrogateescape"), newline=""))
    before = 0
    for fields in lines:
        where, before = line + before, lines.line_num
        if not fields:
            continue
        strange = next(filter(None, map(_no_unicode, fields)), None)
        if strange is None and len(fields) != len(header.names):
            strange = f"got {len(fields)} fields where the header names {len(header.names)} columns"
        if strange is None:
            writer.writerow(fields)
        else:
            damage.append(Damage(f"{header.path!r}, line {where}: {strange}"))
    return out.getvalue().encode(), tuple(damage)


def _no_unicode(text: str) -> str | None:
    """What is wrong with text decoded with surrogates; None where nothing is."""
    strange = next((c for c in text if "\udc80" <= c <= "\udcff"), None)
    return None if strange is None else f"byte {ord(strange) - 0xDC00:#04x} is not UTF-8; save the file as UTF-8"


def _allow_long_fields(limit: int) -> None:
    """Raise Python's own limit of a field, which is a global setting of its module, where it is lower."""
    csv.field_size_limit(max(csv.field_size_limit(), limit))


def _check_header(names: Sequence[str], owner: str) -> None:
    """Raise `FileError` unless there are names, none of them empty or repeated."""
    if not names:
        raise FileError(f"{owner} is empty; needed is a header row of column names, then one line a row.")
    if "" in names:
        raise FileError(f"{owner}: column {names.index('') + 1} of the header has no name.")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileError(f"{owner}: {twice!r} names two columns; rename one.")
