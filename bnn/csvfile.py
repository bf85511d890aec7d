"""CSV files to tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from bnn.errors import FileError


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
    owner = f"read_csv: {str(path)!r}"
    try:
        data = Path(path).read_bytes()
    except IsADirectoryError:
        raise FileError(f"{owner} is a folder; name a CSV file in it.") from None
    except FileNotFoundError:
        raise FileError(f"{owner} does not exist; check the path.") from None
    except OSError as error:
        raise FileError(f"{owner} cannot be read: {error.strerror}.") from error
    return parse_csv(data, values, owner)


def parse_csv(
    data: bytes, values: Callable[[str, pa.Array], pa.Array] = typed, owner: str = "parse_csv: the data"
) -> pa.Table:
    r"""Read the bytes of a comma-separated file, as `read_csv` does.

    Parameters
    ----------
    data, values
        The bytes; what the fields of a column mean.
    owner
        First words of messages.

    Raises
    ------
    FileError
        As `read_csv`.

    Examples
    --------
    >>> parse_csv(b"legs,milk\n4,yes\n").to_pylist()
    [{'legs': 4, 'milk': 'yes'}]
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"{owner}, line {line}: byte {error.object[error.start]:#04x} is not UTF-8; save the file as UTF-8."
        ) from None
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    lines = csv.reader(io.StringIO(text, newline=""))
    names = [name.strip() for name in next(filter(None, lines), [])]
    _check_header(names, owner)
    header = lines.line_num
    first = next(filter(None, lines), None)
    if first is None:
        raise FileError(f"{owner} has a header but no rows.")
    try:
        table = pacsv.read_csv(
            pa.BufferReader(data),
            pacsv.ReadOptions(column_names=names, skip_rows=header, block_size=1 << 24),
            pacsv.ParseOptions(newlines_in_values=True),
            pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string()))),
        )
    except pa.ArrowInvalid as error:
        ragged = next((row for row in chain([first], lines) if row and len(row) != len(names)), None)
        if ragged is None:
            raise FileError(f"{owner} is not a CSV file: {' '.join(str(error).split())[:200]}.") from None
        raise FileError(
            f"{owner}, line {lines.line_num}: got {len(ragged)} fields where the header names {len(names)} columns."
        ) from None
    fields = table.combine_chunks()
    columns = [fields[name].chunk(0) for name in names]
    meant = [values(name, _fields(column.dictionary)) for name, column in zip(names, columns, strict=True)]
    return pa.table([some.take(column.indices) for some, column in zip(meant, columns, strict=True)], names)


def _check_header(names: Sequence[str], owner: str) -> None:
    """Raise `FileError` unless there are names, none of them empty or repeated."""
    if not names:
        raise FileError(f"{owner} is empty; needed is a header row of column names, then one line a row.")
    if "" in names:
        raise FileError(f"{owner}: column {names.index('') + 1} of the header has no name.")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileError(f"{owner}: {twice!r} names two columns; rename one.")


def _fields(fields: pa.Array) -> pa.Array:
    """Distinct fields without the spaces around them, empty ones missing."""
    fields = pc.utf8_trim_whitespace(fields)
    # without a Python scalar, for which pyarrow would import pandas: 0.2 s
    return pc.if_else(pc.binary_length(fields).cast(pa.bool_()), fields, pa.nulls(1, pa.string())[0])
