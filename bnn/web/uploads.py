"""Files that visitors send: tables and models, within limits, read from memory and never by a name of theirs."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from bnn.csvfile import read_csv, read_header
from bnn.datasets import CLASS
from bnn.errors import DataError, FileError
from bnn.web.limits import MOST_COLUMNS, MOST_ROWS
from bnn.web.shelf import Subject, saved_subject, subject_of

Result = TypeVar("Result")

PARQUET = b"PAR1"
HEADER = 8
"""Bytes in which a safetensors file says how long its JSON header is, which then begins with a brace."""


def subject_sent(content: bytes, target: str = CLASS) -> Subject:
    """What a file holds to consult: a table is learned, a model is loaded.

    What a file is, its own bytes tell. Tables are CSV or Parquet, their class in the column ``target`` or, where there
    is none of that name, in the last one; models are what ``bnn fit`` writes. No pickle is ever read.

    Raises
    ------
    BnnError
        A file of another kind, damaged, or larger than what is read.
    """
    if content[HEADER : HEADER + 1] == b"{" and int.from_bytes(content[:HEADER], "little") < len(content):
        return _read(content, partial(saved_subject, "the file sent"))
    table = _parquet(content) if content.startswith(PARQUET) else _read(content, _csv)
    _require_small(table.num_rows, table.num_columns)
    if target not in table.column_names:
        target = table.column_names[-1]
    if table.num_columns < 2:
        raise DataError("the file sent: has one column; needed are attributes, and a class to predict.")
    return subject_of("the file sent", table.drop_columns(target), table[target], target)


def _read(content: bytes, reader: Callable[[Path], Result]) -> Result:
    """What a reader makes of a file of these bytes, with a name of ours that no message tells."""
    with tempfile.TemporaryDirectory(prefix="bnn-") as folder:
        path = Path(folder, "sent")
        path.write_bytes(content)
        try:
            return reader(path)
        except (FileError, DataError) as error:
            told = re.sub(rf"^(\w+\.?\w*: )?'?{re.escape(str(path))}'?", "the file sent", str(error))
            raise type(error)(told.replace(str(path), "the file sent")) from None


def _csv(path: Path) -> pa.Table:
    """A table from a CSV file; its header is looked at first, as each column takes far more memory than its name."""
    _require_small(0, len(read_header(path).names))
    return read_csv(path)


def _parquet(content: bytes) -> pa.Table:
    """A table from the bytes of a Parquet file; its size is looked at before anything is unpacked.

    Text stays a dictionary, so that a small file of one long word many times stays small.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        schema = file.schema_arrow
        _require_small(file.metadata.num_rows, len(schema.names))
        strange = [f.name for f in schema if not _plain(f.type)]
        if strange:
            raise DataError(
                f"the file sent: column {strange[0]!r} holds {schema.field(strange[0]).type}; give text, numbers or "
                "bools."
            )
        words = [f.name for f in schema if pa.types.is_string(f.type)]
        return pq.read_table(io.BytesIO(content), read_dictionary=words)
    except pa.ArrowException as error:
        raise FileError(f"the file sent: is no Parquet file that can be read ({str(error).splitlines()[0]}).") from None


def _plain(kind: pa.DataType) -> bool:
    """Whether a column of this type can be an attribute."""
    tests = (pa.types.is_string, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating)
    return any(test(kind) for test in tests) or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))


def _require_small(rows: int, columns: int) -> None:
    """Refuse a table of more rows or columns than are read."""
    for number, most, what in ((rows, MOST_ROWS, "rows"), (columns, MOST_COLUMNS, "columns")):
        if number > most:
            raise DataError(f"the file sent: has {number:,} {what}; at most {most:,} are read.")
