"""Users' tables for estimators: any table as columns, what each column means, and columns to codes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int, Integer, Real, Shaped

from bnn.classify.columns import Column, lookup_of
from bnn.errors import DataError, UnseenValueWarning
from bnn.kernels.recode import BY_TABLE, Lookup, recode, subtract
from bnn.records import Records, extremes
from bnn.schema import Attribute, Schema, Value
from bnn.tables import columns_of, encode, numbers_of, plain, plain_numbers, smallest_type

Unseen = Literal["warn", "ignore", "none"]

FEW_ROWS = 16
"""So many rows of text are coded label by label."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A user's table: its columns by name, and its matrix where it is one of numbers.

    Attributes
    ----------
    columns
        By name, each an array, series or list of the table's own library.
    rows
        Number of rows.
    matrix
        The table itself where it is a numpy array of numbers or bools.
    records
        The table itself where it is `Records`.
    """

    columns: Mapping[str, Any]
    rows: int
    matrix: Shaped[np.ndarray, "rows columns"] | None = None
    records: Records | None = None

    def numbers(self, place: int) -> Float[np.ndarray, " rows"]:
        """Numbers of one column as float64, NaN where missing; it holds nothing else."""
        numbers = numbers_of(list(self.columns.values())[place])
        assert numbers is not None
        return numbers.astype(np.float64, copy=False)


def read_table(X: Any, owner: str) -> Table:
    """Take any table apart into columns, without copying.

    Parameters
    ----------
    X
        numpy array [rows, columns], list of rows, pandas, polars or pyarrow table, dict of columns, or `Records`,
        whose target is left out.
    owner
        Who asks; sentences begin with it.

    Raises
    ------
    DataError
        No table, a sparse or complex one, one of another number of dimensions, without columns, or with two of one
        name.
    """
    if isinstance(X, Records):
        names = [name for name in X.schema.names if name != X.schema.target]
        return Table(dict.fromkeys(names), X.rows, records=X)
    if hasattr(X, "tocsr"):
        raise DataError(f"{owner}.X: sparse tables are not supported; give X.toarray().")
    if isinstance(X, list | tuple):
        X = _array_of_rows(X, owner)
    elif not hasattr(X, "__len__") and hasattr(X, "__array__"):
        X = np.asarray(X)
    if not isinstance(X, np.ndarray):
        return _of_frame(X, owner)
    if X.ndim != 2:
        raise DataError(
            f"{owner}.X: Expected 2D array, got {X.ndim}D array instead, of shape {X.shape}. Reshape your data, one "
            "row as X.reshape(1, -1), one column as X.reshape(-1, 1)."
        )
    if X.shape[1] == 0:
        raise _no_columns(X.shape, owner)
    if X.dtype.kind == "c":
        raise DataError(f"{owner}.X: Complex data not supported; give real and imaginary parts as two columns.")
    columns = {f"x{a}": X[:, a] for a in range(X.shape[1])}
    if X.dtype.kind not in "biuf":
        return Table(columns, len(X))
    return Table(columns, len(X), matrix=X if X.dtype == bool else plain_numbers(X))


def _of_frame(frame: Any, owner: str) -> Table:
    """A frame, or a dict of columns; `columns_of` refuses one without rows, which may still be asked about."""
    if hasattr(frame, "__len__") and hasattr(frame, "columns"):  # a lazy frame is refused below, in words
        if 0 in frame.shape[1:]:
            raise _no_columns(frame.shape, owner)
        if len(frame) == 0:
            return Table({str(name): frame[name] for name in getattr(frame, "column_names", frame.columns)}, 0)
    columns = columns_of(frame, f"{owner}.X")
    return Table(columns, len(next(iter(columns.values()))))


def _array_of_rows(rows: list[Any] | tuple[Any, ...], owner: str) -> np.ndarray:
    """Turn rows into an array of numbers, or of objects where a cell is none."""
    try:
        array = np.asarray(rows)
        return array if array.dtype.kind in "biufc" else np.array(rows, dtype=object)
    except ValueError as error:
        raise DataError(f"{owner}.X: its rows differ in length ({error}); give every row one cell a column.") from error


def _no_columns(shape: tuple[int, ...], owner: str) -> DataError:
    """Error in the words that scikit-learn's users know."""
    return DataError(
        f"{owner}.X: Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required; give columns."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Codebook:
    """Columns of a fitted estimator, laid out so that tables are coded quickly.

    Parameters
    ----------
    columns
        One a column of the table, in order.

    Attributes
    ----------
    schema
        The attributes.
    sizes
        int64: number of values of each.
    """

    columns: tuple[Column, ...]
    schema: Schema = field(init=False)
    sizes: Int[np.ndarray, " attributes"] = field(init=False)
    _dense: bool = field(init=False)
    _lookup: Lookup = field(init=False)
    _places: tuple[dict[Value | None, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        schema = Schema(tuple(column.attribute for column in self.columns))
        parts = [lookup_of(column) for column in self.columns]
        # whole numbers without holes, in order: the code is the number less the least one
        dense = all(kind == BY_TABLE and np.array_equal(table, np.arange(len(table))) for kind, _, table, _ in parts)
        table_start = np.cumsum([0, *(len(p[2]) for p in parts)])
        key_start = np.cumsum([0, *(len(p[3]) for p in parts)])
        lookup = Lookup(
            np.array([p[0] for p in parts], np.int64),
            np.array([p[1] for p in parts], np.int64),
            table_start,
            np.concatenate([p[2] for p in parts]),
            key_start,
            np.concatenate([p[3] for p in parts]),
        )
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "sizes", np.array(schema.sizes, dtype=np.int64))
        object.__setattr__(self, "_dense", dense)
        object.__setattr__(self, "_lookup", lookup)
        places = tuple({v: i for i, v in enumerate(attribute.values)} for attribute in schema.attributes)
        object.__setattr__(self, "_places", places)

    def codes(self, table: Table, owner: str, unseen: Unseen = "warn") -> Integer[np.ndarray, "rows attributes"]:
        """Code a table, -1 where missing or unseen; values that were never learned are warned about.

        Parameters
        ----------
        table, owner
            The table; who asks.
        unseen
            What to do about values never learned: ``"warn"``; ``"ignore"``; ``"none"``: there are none, since the
            codebook was made for this table.

        Warns
        -----
        UnseenValueWarning
            Values outside the categories, taken as missing: they are no evidence.
        """
        matrix = table.matrix
        narrow = matrix is not None and matrix.dtype in (np.uint8, np.int8) and table.rows > 0
        if matrix is not None and narrow and self._dense and not self._lookup.low.any():
            if unseen == "none":
                return matrix
            low, high = extremes(matrix)
            if (low >= 0).all() and (high < self.sizes).all():
                return matrix
        order: Literal["C", "F"] = "F" if matrix is None else "C"
        out = np.empty((table.rows, len(self.columns)), smallest_type(max(self.schema.sizes)), order=order)
        if matrix is not None:
            numbers = matrix.view(np.uint8) if matrix.dtype == bool else matrix
            if self._dense and numbers.flags.c_contiguous and subtract(numbers, self._lookup.low, self.sizes, out):
                return out
            strange = recode(numbers, self._lookup, out)
            if unseen == "warn" and strange.any():
                places = np.flatnonzero(strange).tolist()
                self._warn({a: self._example(numbers[:, a], out[:, a]) for a in places}, strange, owner)
            return out
        strange, told = np.zeros(len(self.columns), np.int64), {}
        for a, name in enumerate(table.columns):
            strange[a], told[a] = self._code_column(table, a, name, out[:, a : a + 1], owner)
        if unseen == "warn" and strange.any():
            self._warn(told, strange, owner)
        return out

    def _code_column(
        self, table: Table, a: int, name: str, out: Int[np.ndarray, "rows one"], owner: str
    ) -> tuple[int, Any]:
        """Code one column; how many values were unseen, and one of them."""
        column = self.columns[a]
        texts = column.bounds is None and isinstance(next(iter(column.attribute.values), None), str)
        numbers = None if texts or table.records is not None else numbers_of(table.columns[name])
        if numbers is not None:
            unseen = int(recode(numbers[:, None], self._lookup.of_column(a), out)[0])
            return unseen, self._example(numbers, out[:, 0]) if unseen else None
        if column.bounds is not None:
            raise DataError(
                f"{owner}.X: column {name!r} held numbers when it was learned, and now other values; give numbers."
            )
        if texts and table.rows <= FEW_ROWS and str(getattr(table.columns[name], "dtype", "")) in ("str", "object"):
            return self._code_few(a, plain(name, table.columns[name].tolist(), False, f"{owner}.X"), out)
        if table.records is not None:
            coded = _recorded(table.records, name, column.attribute)
        else:
            coded = encode(name, table.columns[name], column.attribute, f"{owner}.X", None)
        out[:, 0] = coded.codes
        return coded.unseen, coded.example

    def _code_few(self, a: int, labels: list[Value | None], out: Int[np.ndarray, "rows one"]) -> tuple[int, Any]:
        """Code a few labels one by one: the machinery for many would take most of the time."""
        codes = [self._places[a].get(label, -1) for label in labels]
        out[:, 0] = codes
        strange = [v for v, code in zip(labels, codes, strict=True) if code < 0 and v is not None]
        return len(strange), strange[0] if strange else None

    def _example(self, numbers: Real[np.ndarray, " rows"], codes: Int[np.ndarray, " rows"]) -> Any:
        """A value of a column that has no code."""
        return numbers[(codes < 0) & (numbers == numbers)][0].item()

    def _warn(self, examples: Mapping[int, Any], unseen: Int[np.ndarray, " attributes"], owner: str) -> None:
        """Warn of the values never learned, by attribute, with their number and an example."""
        places = np.flatnonzero(unseen).tolist()
        told = ", ".join(f"{self.schema.names[a]!r} {unseen[a]} (such as {examples[a]!r})" for a in places[:5])
        more = f" and {len(places) - 5} more attributes" if len(places) > 5 else ""
        warnings.warn(
            f"{owner}.X: values never learned were taken as missing: {told}{more}.", UnseenValueWarning, stacklevel=5
        )


def _recorded(records: Records, name: str, attribute: Attribute) -> Any:
    """Code a column of records by another attribute."""
    source = records.schema[name]
    declared = pa.DictionaryArray.from_arrays(
        pa.array(codes := records.codes[:, records.schema.index(name)], mask=codes < 0),
        pa.array(list(source.values)),
    )
    return encode(name, declared, attribute)
