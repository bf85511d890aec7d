"""Which tables the words of the command line mean, and what their columns say."""

from __future__ import annotations

import glob
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bnn import datasets
from bnn.app.arguments import DATA_FORMATS
from bnn.baskets import read_baskets
from bnn.classify.columns import Column
from bnn.csvfile import NUMBER, read_csv, typed, typed_as
from bnn.errors import BnnWarning, DataError, UnseenValueWarning, unknown_name
from bnn.records import Baskets, Records
from bnn.sources import PARQUET

COMMAS = r"^[+-]?\d+(,\d+)+(\.\d+)?$"  # of thousands, or decimal ones


def data_file(data: str) -> Path:
    """The file of a data set by name, or the file itself; an unknown name is an error naming the nearest."""
    file = Path(data)
    named = file.suffix.lower() in (".csv", *PARQUET) or file.name != data or file.exists() or glob.has_magic(data)
    return datasets.path(data) if data in datasets.names() or not named else file


def training_table(data: str, target: str, ignored: Sequence[str]) -> tuple[pa.Table, pa.ChunkedArray]:
    """Attributes and labels of a table to learn from.

    Raises
    ------
    DataError
        Columns that there are not, or nothing to predict by.

    Warns
    -----
    BnnWarning
        Columns of numbers that some fields make text.
    """
    table = read_csv(data_file(data), partial(mostly_numbers, data, ignored))
    return table.select(training_columns(data, table.column_names, target, ignored)), table[target]


def training_columns(data: str, names: Sequence[str], target: str, ignored: Sequence[str]) -> list[str]:
    """Columns to predict by.

    Raises
    ------
    DataError
        Columns that there are not, or nothing to predict by.
    """
    _require_commas(data, names)
    if target not in names:
        raise unknown_name("--target", target, names)
    require_columns(names, ignored)
    if target in ignored:
        raise DataError(f"--ignore: {target!r} is the target; ignore other columns, or name another --target.")
    attributes = [name for name in names if name not in ignored and name != target]
    if not attributes:
        raise DataError(f"--target: {data} holds nothing but {target!r}; there is nothing to predict by.")
    return attributes


def memory_table(data: str, ignored: Sequence[str]) -> tuple[Records, pa.Table]:
    """Records of a table, or patterns, to remember, and the table itself with the class that patterns leave out."""
    table = read_csv(data_file(data), partial(mostly_numbers, data, ignored))
    _require_commas(data, table.column_names)
    table = without(table, ignored)
    return datasets.records_of(table), table


def basket_records(data: str, ignored: Sequence[str]) -> Baskets:
    """Baskets of a text file, without the items to ignore; an unknown one is an error naming the nearest."""
    baskets = read_baskets(data)
    for name in ignored:
        if not any(name in basket for basket in baskets):
            raise unknown_name("--ignore", name, {item for basket in baskets for item in basket})
    return Records.from_baskets([[item for item in basket if item not in ignored] for basket in baskets])


def require_format(form: str) -> None:
    """Refuse a format that there is not."""
    if form not in DATA_FORMATS:
        raise unknown_name("--format", form, DATA_FORMATS)


def without(table: pa.Table, ignored: Sequence[str]) -> pa.Table:
    """A table without these columns; an unknown one is an error naming the nearest."""
    require_columns(table.column_names, ignored)
    return table.drop_columns(list(dict.fromkeys(ignored)))


def _require_commas(data: str, names: Sequence[str]) -> None:
    """Raise `DataError` where the columns were separated otherwise, and so are one."""
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise DataError(f"{data}: its one column is called {names[0]!r}; separate columns by commas.")


def require_columns(names: Sequence[str], ignored: Sequence[str]) -> None:
    """Raise `DataError` unless there are columns of these names."""
    if strange := [name for name in ignored if name not in names]:
        raise unknown_name("--ignore", strange[0], names)


def known_table(data: str, classifier: Any) -> Any:
    """The columns that a classifier learned, in its order, their fields read as they were learned.

    Raises
    ------
    DataError
        Columns that are lacking, or what is no number in a column of numbers.

    Warns
    -----
    UnseenValueWarning
        What is no number where categories are numbers.
    """
    columns = {column.attribute.name: column for column in classifier.codebook_.columns}
    table = read_csv(data_file(data), partial(_as_learned, data, columns))
    held = set(table.column_names)  # asked for each name it would be made anew
    if lacking := [name for name in columns if name not in held]:
        raise DataError(
            f"{data}: lacks {len(lacking)} of the {len(columns)} columns that were learned, such as {lacking[0]!r}; "
            "give all of them, in any order."
        )
    return as_fitted(classifier, {name: table[name] for name in columns})


def as_fitted(classifier: Any, columns: Mapping[str, Any]) -> Any:
    """Columns as the kind of table that scikit-learn expects where names of features were learned, or were not."""
    return pa.table(dict(columns)) if hasattr(classifier, "feature_names_in_") else dict(columns)


def _as_learned(data: str, columns: Mapping[str, Column], name: str, fields: pa.Array) -> pa.Array:
    """Distinct fields of a column as the values that were learned; of others as they are."""
    if name not in columns:
        return typed(name, fields)
    column = columns[name]
    read, strange = typed_as(name, fields, column.attribute.values, column.bounds is not None)
    if strange and column.bounds is not None:
        raise DataError(f"{data}: column {name!r} held numbers when it was learned, and now {strange[0]!r}; mend it.")
    if strange:
        warnings.warn(
            f"{data}: column {name!r} held numbers when it was learned; what is none was taken as missing, such as "
            f"{strange[0]!r}.",
            UnseenValueWarning,
            stacklevel=2,
        )
    return read


def mostly_numbers(data: str, ignored: Sequence[str], name: str, fields: pa.Array) -> pa.Array:
    """Distinct fields as `typed` reads them; text of which most are numbers is warned about, if it is not ignored."""
    read = typed(name, fields)
    if pa.types.is_string(read.type) and name not in ignored:
        plain, commas = (pc.match_substring_regex(fields, form) for form in (NUMBER, COMMAS))
        number = pc.or_(plain, commas)
        others = fields.filter(pc.invert(plain)).drop_null().to_pylist()
        if others and 2 * pc.sum(number).as_py() > len(fields) - fields.null_count:
            warnings.warn(
                f"{data}: most fields of column {name!r} are numbers, but {others[0]!r} makes it text; empty what is "
                "missing, and write numbers without thousands separators.",
                BnnWarning,
                stacklevel=2,
            )
    return read
