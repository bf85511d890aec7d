"""Records: what was observed, as integer codes under a schema; made from tables and from patterns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int, Int8, Int32, Int64, Integer, Real, Shaped

from bnn import memory
from bnn.baskets import item_lists
from bnn.errors import DataError, SchemaError, unknown_name
from bnn.measurements import cut, warn_of_columns, warn_of_unseen
from bnn.patterns import as_numbers, pattern_codes, pattern_schema
from bnn.schema import Attribute, Schema
from bnn.tables import CodedColumn, columns_of, encode, smallest_type

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Records:
    """Rows of codes: entry [r, a] is the position of row r's value among attribute a's values, -1 where missing.

    Usually made by `from_table` or `from_patterns`; the constructor takes codes that already are such positions.

    Parameters
    ----------
    codes
        Any integer type, [rows, attributes], any memory order. Kept in the smallest signed type that holds every
        code of the schema (int8, int16 or int32), read-only; shared with the caller's array where the type allows.
    schema
        The attributes, one a column.
    weights
        Weight of each row, [rows], finite and not negative, kept as float64; None: every row counts once.
    unseen
        Cells whose value the schema lacks, so that they became missing, [attributes], kept as int64; None: none.

    Raises
    ------
    DataError
        A wrong shape, a code outside an attribute's values, or weights that are negative or not finite.

    Examples
    --------
    >>> from bnn.schema import Attribute
    >>> schema = Schema((Attribute("hair", ("no", "yes")), Attribute("legs", (0, 2, 4))))
    >>> records = Records(np.array([[1, 2], [0, -1]]), schema)
    >>> records.rows, records.codes.dtype.name
    (2, 'int8')
    """

    codes: Integer[np.ndarray, "rows attributes"]
    schema: Schema
    weights: Real[np.ndarray, " rows"] | None = None
    unseen: Int[np.ndarray, " attributes"] = None  # type: ignore[assignment]  # None only until __post_init__

    def __post_init__(self) -> None:
        codes = _checked_codes(self.codes, self.schema)
        rows, attributes = codes.shape
        object.__setattr__(self, "codes", codes)
        if self.weights is not None:
            object.__setattr__(self, "weights", checked_weights(self.weights, rows))
        unseen = np.asarray(np.zeros(attributes) if self.unseen is None else self.unseen)
        if unseen.shape != (attributes,):
            raise DataError(f"Records.unseen: needs one number an attribute, {attributes}; got shape {unseen.shape}.")
        object.__setattr__(self, "unseen", _read_only(unseen.astype(np.int64)))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def column(self, attribute: int) -> Integer[np.ndarray, " rows"]:
        """Codes of one attribute, by its position."""
        codes: np.ndarray = self.codes[:, attribute]
        return codes

    @property
    def patterns(self) -> Shaped[np.ndarray, "rows attributes"]:
        """The rows as patterns in {0, 1}: int8, or float32 with NaN = unknown where anything is missing.

        Raises
        ------
        DataError
            An attribute that is not on_off: a table has no pattern until a `Layout` gives it neurons.
        """
        require_on_off(self.schema, "Records.patterns")
        missing = self.codes < 0
        if not missing.any():
            return self.codes.astype(np.int8)
        return np.where(missing, np.float32(np.nan), self.codes.astype(np.float32))

    def __repr__(self) -> str:
        target = "" if self.schema.target is None else f", target {self.schema.target!r}"
        return f"Records({self.rows:,} rows, {len(self.schema.names):,} attributes{target})"

    def to_table(self) -> pa.Table:
        """The records as a table (pyarrow), one column an attribute, the target too; null where missing.

        Examples
        --------
        >>> import bnn
        >>> table = bnn.datasets.load("zoo").to_table()
        >>> table.num_rows, table.column_names[-1], table["legs"][0].as_py()
        (101, 'class', 4)
        """
        import pyarrow as pa

        columns = {}
        for attribute, codes in zip(self.schema.attributes, self.codes.T.tolist(), strict=True):
            columns[attribute.name] = pa.array([None if code < 0 else attribute.values[code] for code in codes])
        return pa.table(columns)

    def select(self, rows: Any) -> Records:
        """Keep some rows, with their weights; `records[rows]` is the same.

        Parameters
        ----------
        rows
            A slice, row numbers (repeats and negative numbers as in numpy), or a bool mask of one entry a row.

        Examples
        --------
        >>> patterns = Records.from_patterns([[0, 1], [1, 1], [1, 0]])
        >>> patterns[1:].codes.tolist()
        [[1, 1], [1, 0]]
        """
        rows = rows if isinstance(rows, slice) else _row_numbers(rows, self.rows)
        weights = None if self.weights is None else self.weights[rows]
        return Records(self.codes[rows], self.schema, weights)

    def __getitem__(self, rows: Any) -> Records:
        return self.select(rows)

    @staticmethod
    def from_table(
        table: Any,
        *,
        target: str | None = None,
        schema: Schema | None = None,
        weights: Any = None,
        intervals: int | None = None,
    ) -> Records:
        """Code a table: one attribute a column.

        Values are text, bools, integers or floats. A float column of whole numbers becomes integers; one with
        fractions keeps each distinct value as it is, unless ``intervals`` are asked for. Missing are None, NaN,
        pandas' NA and NaT, and empty text.
        The values of a column are sorted, numbers before text; categories (pandas, polars' Enum, Arrow dictionaries)
        keep their declared order, and those that never occur. polars' Categorical declares no values of its own (all
        such columns share one pool), so its values are those that occur, sorted. A column without any value becomes
        an attribute without values, and so without neurons.

        Parameters
        ----------
        table
            pandas, polars or pyarrow table, 2-D numpy array (columns are called x0, x1, ...), or dict of columns.
        target
            Column that a classifier predicts; it stays in its place.
        schema
            Code by this schema instead: its columns are taken by name in its order, values it lacks become missing,
            are counted in `unseen` and warned about. Its target column may be absent: then it is unknown everywhere.
        weights
            Weight of each row, [rows].
        intervals
            Cut measurements (numbers with fractions, or of more than 20 distinct values; never the target) into so
            many intervals of equal weight. They are named by their bounds, which the schema keeps: later tables coded
            by it are cut alike. None: each distinct number is a value. Classifiers cut tables themselves, in more ways.

        Raises
        ------
        DataError
            No rows or columns, repeated names, a column of dates, lists or the like, or one of more than
            `bnn.tables.MAX_VALUES` distinct values that is not declared as categories.
        SchemaError
            A column that the schema lacks.

        Warns
        -----
        UnseenValueWarning
            Values that the schema lacks.
        MeasurementWarning
            More than 20 distinct numbers in a column, each a value of its own.
        IdentifierWarning
            Text that is different in every row.

        Examples
        --------
        >>> animals = {"hair": ["yes", "no", None], "legs": [4.0, 2.0, 4.0]}
        >>> records = Records.from_table(animals, target="legs")
        >>> records.schema["legs"].values, records.codes.tolist()
        ((2, 4), [[1, 1], [0, 0], [-1, 1]])
        >>> patients = Records.from_table({"fever": [36.6, 37.0, 38.4, 39.8]}, intervals=2)
        >>> patients.schema["fever"].values
        ('< 37.7', '>= 37.7')
        >>> Records.from_table({"fever": [40.1]}, schema=patients.schema).codes.tolist()
        [[1]]
        """
        columns = columns_of(table)
        if schema is not None:
            columns = _in_order_of(schema, columns)
        if target is not None and target not in columns:
            raise unknown_name("Records.from_table.target", target, columns)
        if weights is not None:
            weights = checked_weights(weights, len(next(iter(columns.values()))))
        known: Sequence[Attribute | None] = [None] * len(columns)
        if schema is not None:
            known = schema.attributes
            if intervals is not None:
                raise DataError("Records.from_table.intervals: the schema says how numbers are cut; leave one out.")
        elif intervals is not None:
            known = cut(columns, target, weights, intervals)
        coded = [encode(*column, attribute) for column, attribute in zip(columns.items(), known, strict=True)]
        if schema is None:
            schema = Schema(tuple(column.attribute for column in coded), target)
            warn_of_columns(coded, target)
        elif target is not None:
            schema = replace(schema, target=target)
        warn_of_unseen(coded)
        return put_together(coded, schema, weights)

    @staticmethod
    def from_patterns(array: Any, *, names: Sequence[str] | None = None, known: Any = None) -> Records:
        """Code patterns of neurons that are on or off: {0, 1}, {-1, +1} and bool mean the same.

        Parameters
        ----------
        array
            [patterns, neurons] or [patterns, height, width]; NaN = unknown. The shape of a picture is kept in the
            schema. Anything numpy reads, torch tensors among it.
        names
            One name a neuron; by default x0, x1, ..., in pictures r3c14 for row 3, column 14.
        known
            Bool, shaped as `array`: False = unknown, whatever the array holds there.

        Raises
        ------
        DataError
            Values other than these, 0 and -1 in one array, no patterns, no neurons, or another number of dimensions.

        Examples
        --------
        >>> Records.from_patterns([[-1, 1], [1, float("nan")]]).codes.tolist()
        [[0, 1], [1, -1]]
        """
        owner = "Records.from_patterns"
        array = as_numbers(array, f"{owner}.array")
        if array.ndim not in (2, 3) or 0 in array.shape:
            raise DataError(
                f"{owner}.array: got shape {array.shape}; needed are one or more [patterns, neurons] or "
                "[patterns, height, width], a single pattern as array.reshape(1, -1)."
            )
        shape = array.shape[1:]
        if names is not None and len(names) != math.prod(shape):
            raise DataError(f"{owner}.names: got {len(names)} names for {math.prod(shape)} neurons.")
        schema = pattern_schema(shape, names)
        codes = pattern_codes(array, known, names=lambda: schema.names, owner=f"{owner}.array")
        return Records(codes.reshape(len(codes), -1), schema)

    @staticmethod
    def from_baskets(baskets: Any, *, names: Sequence[str] | None = None, weights: Any = None) -> Baskets:
        """Code baskets: records of few items among many, of which only what is held is kept.

        One neuron an item, on where the basket holds it; what it does not hold is off, never unknown.

        Parameters
        ----------
        baskets
            Lists of items, called by their text; or a scipy sparse matrix [baskets, items], whose stored non-zeros are
            held.
        names
            The items, in the order of their neurons: others are left out and warned about. None: those that occur,
            sorted; of a matrix x0, x1, ....
        weights
            Weight of each basket, [baskets].

        Raises
        ------
        DataError
            No baskets or no items, text in the place of a list, a matrix that holds NaN, names that do not fit.

        Warns
        -----
        UnseenValueWarning
            Items that are not among the names.

        Examples
        --------
        >>> baskets = Records.from_baskets([["milk", "bread"], ["beer"], ["bread", "beer", "milk"]])
        >>> baskets.schema.names, baskets.codes.tolist()
        (('beer', 'bread', 'milk'), [[0, 1, 1], [1, 0, 0], [1, 1, 1]])
        """
        read = item_lists(baskets, names)
        return Baskets(read.items, read.start, pattern_schema((len(read.names),), read.names), weights)


class Baskets(Records):
    """`Records` of which only what is on is kept, for items that are many and mostly off; from `Records.from_baskets`.

    Counting and learning never write them out. Whatever asks for `codes` gets them written out, if they fit the
    memory.

    Parameters
    ----------
    items
        int32 [held], neurons that are on, ascending within a row.
    start
        int64 [rows + 1]: row r holds ``items[start[r]:start[r + 1]]``.
    schema
        On_off attributes, one an item.
    weights
        Weight of each row; None: every row counts once.

    Raises
    ------
    DataError
        Items outside the schema or out of order, starts that do not divide them, weights that do not fit.
    """

    __slots__ = ("items", "start")
    items: Int32[np.ndarray, " held"]
    start: Int64[np.ndarray, " rows_and_one"]

    def __init__(
        self,
        items: Int32[np.ndarray, " held"],
        start: Int64[np.ndarray, " rows_and_one"],
        schema: Schema,
        weights: Any = None,
    ) -> None:
        require_on_off(schema, "Baskets.schema")
        _check_baskets(items, start, len(schema.names))
        kept = {
            "items": _read_only(items),
            "start": _read_only(start),
            "schema": schema,
            "weights": None if weights is None else checked_weights(weights, len(start) - 1),
            "unseen": _read_only(np.zeros(len(schema.names), dtype=np.int64)),
        }
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @property
    def codes(self) -> Int8[np.ndarray, "rows attributes"]:
        """The rows written out, 1 where an item is held.

        Raises
        ------
        DataError
            They would not fit the memory.
        """
        shape = self.rows, len(self.schema.names)
        if not memory.fits(math.prod(shape)):
            raise DataError(
                f"Baskets.codes: {shape[0]:,} rows of {shape[1]:,} items need {math.prod(shape) / 1e9:,.1f} GB written "
                "out, more than the free memory; take fewer rows."
            )
        codes = np.zeros(shape, dtype=np.int8)
        codes[np.repeat(np.arange(self.rows), np.diff(self.start)), self.items] = 1
        return codes

    def column(self, attribute: int) -> Int8[np.ndarray, " rows"]:
        """Codes of one attribute, by its position."""
        codes = np.zeros(self.rows, dtype=np.int8)
        codes[np.searchsorted(self.start, np.flatnonzero(self.items == attribute), side="right") - 1] = 1
        return codes

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.start) - 1

    def __len__(self) -> int:
        return self.rows

    def select(self, rows: Any) -> Baskets:
        """Keep some rows, with their weights; `baskets[rows]` is the same."""
        chosen = np.arange(self.rows)[rows if isinstance(rows, slice) else _row_numbers(rows, self.rows)]
        sizes = np.diff(self.start)[chosen]
        start = np.concatenate([[0], np.cumsum(sizes)])
        items = self.items[np.arange(start[-1]) + np.repeat(self.start[chosen] - start[:-1], sizes)]
        return Baskets(items, start, self.schema, None if self.weights is None else self.weights[chosen])


def put_together(
    coded: Sequence[CodedColumn], schema: Schema, weights: Float[np.ndarray, " rows"] | None = None
) -> Records:
    """Records of columns that are coded by the attributes of a schema, in its order."""
    codes = memory.pooled((len(coded), len(coded[0].codes)), smallest_type(max(schema.sizes)))
    for j, column in enumerate(coded):
        codes[j] = column.codes
    return Records(codes.T, schema, weights, np.array([column.unseen for column in coded]))


def require_on_off(schema: Schema, owner: str) -> None:
    """Raise `DataError` unless every attribute is on_off."""
    for attribute in schema.attributes:
        if attribute.kind != "on_off":
            raise DataError(
                f"{owner}: needs on_off attributes, as from_patterns makes them; "
                f"{attribute.name!r} is {attribute.kind}."
            )


def _in_order_of(schema: Schema, columns: dict[str, Any]) -> dict[str, Any]:
    """Order the columns as the schema does; an absent target column is unknown everywhere."""
    ours = set(schema.names)
    if extra := [name for name in columns if name not in ours]:
        shown = ", ".join(map(repr, extra[:5])) + (f" and {len(extra) - 5} more" if len(extra) > 5 else "")
        raise SchemaError(f"Records.from_table: the schema has no column {shown}; leave that out of the table.")
    if lacking := [name for name in schema.names if name not in columns and name != schema.target]:
        raise unknown_name("Records.from_table: the table lacks a column of the schema", lacking[0], columns)
    unknown = np.full(len(next(iter(columns.values()))), np.nan)
    return {name: columns.get(name, unknown) for name in schema.names}


def _row_numbers(rows: Any, number: int) -> Shaped[np.ndarray, " chosen"]:
    """Check a list of row numbers or a mask over so many rows."""
    chosen = np.asarray(rows)
    if chosen.shape == (0,):
        return chosen.astype(np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise DataError(f"Records.select: needs a slice, a list of row numbers or a mask; got {rows!r}.")
    if chosen.dtype == bool:
        if len(chosen) != number:
            raise DataError(f"Records.select: the mask has {len(chosen)} entries for {number} rows.")
    elif (outside := (chosen < -number) | (chosen >= number)).any():
        raise DataError(f"Records.select: there is no row {chosen[outside][0]}; there are {number}, counted from 0.")
    return chosen


def _checked_codes(codes: Any, schema: Schema) -> Int[np.ndarray, "rows attributes"]:
    """Check that each code is a position among its attribute's values; return them narrow and read-only."""
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise DataError(f"Records.codes: needs integers [rows, attributes]; got {codes.dtype} of shape {codes.shape}.")
    if codes.shape[1] != len(schema.names):
        raise DataError(
            f"Records.codes: got {codes.shape[1]} columns for {len(schema.names)} attributes of the schema."
        )
    if len(codes):
        low, high = extremes(codes)
        outside = (low < -1) | (high >= np.array(schema.sizes))
        if outside.any():
            attribute = int(np.argmax(outside))
            column, size = codes[:, attribute], schema.sizes[attribute]
            code = column[(column < -1) | (column >= size)][0]
            raise DataError(
                f"Records.codes: attribute {schema.names[attribute]!r} has {size} values, so codes from -1 (missing) "
                f"to {size - 1}; got {code}."
            )
    dtype = smallest_type(max(schema.sizes))
    same_bytes = codes.dtype == np.uint8 and dtype == np.int8
    return _read_only(codes.view(np.int8) if same_bytes else codes.astype(dtype, copy=False))


def _check_baskets(items: Any, start: Any, neurons: int) -> None:
    """Check that the starts divide the items into rows, and that these ascend within each."""
    if not all(isinstance(array, np.ndarray) and array.ndim == 1 for array in (items, start)):
        raise DataError("Baskets: items and start are numpy arrays of one dimension; Records.from_baskets makes them.")
    if (items.dtype, start.dtype) != (np.int32, np.int64):
        raise DataError(f"Baskets: needs items as int32 and start as int64; got {items.dtype} and {start.dtype}.")
    if len(start) == 0 or start[0] != 0 or start[-1] != len(items) or (start[1:] < start[:-1]).any():
        raise DataError(f"Baskets.start: rises from 0 to the number of items, {len(items)}, one number more than rows.")
    if len(items) and not 0 <= items.min() <= items.max() < neurons:
        raise DataError(f"Baskets.items: needs neurons from 0 to {neurons - 1}; got {items.min()} to {items.max()}.")
    descends = np.flatnonzero(items[1:] <= items[:-1]) + 1
    within = descends[start[np.searchsorted(start, descends)] != descends]  # not where a row begins
    if len(within):
        row = int(np.searchsorted(start, within[0], side="right")) - 1
        raise DataError(f"Baskets.items: those of row {row} do not ascend, each once; Records.from_baskets sorts them.")


def extremes(
    numbers: Real[np.ndarray, "rows columns"],
) -> tuple[Real[np.ndarray, " columns"], Real[np.ndarray, " columns"]]:
    """Least and largest number of each column of an array that has rows; NaN is passed over."""
    # numpy reduces narrow rows one at a time; folding them into rows of about 4,096 entries is 20 times quicker
    fold = max(1, 4096 // numbers.shape[1])
    whole = len(numbers) // fold * fold
    found = []
    for op in (np.fmin, np.fmax):
        left = numbers
        if numbers.flags.c_contiguous and whole:
            folded = op.reduce(numbers[:whole].reshape(-1, fold * numbers.shape[1]), axis=0)
            left = np.concatenate([folded.reshape(fold, -1), numbers[whole:]])
        found.append(op.reduce(left, axis=0))
    return found[0], found[1]


def checked_weights(weights: Any, rows: int, owner: str = "Records.weights") -> Float[np.ndarray, " rows"]:
    """Check that the weights are finite and not negative; return them as float64, read-only."""
    try:
        weights = np.asarray(weights).astype(np.float64, copy=False)
    except (ValueError, TypeError) as error:
        raise DataError(f"{owner}: cannot be read as numbers ({error}).") from error
    if weights.shape != (rows,):
        raise DataError(f"{owner}: needs one number a row, {rows}; got shape {weights.shape}.")
    if not (good := np.isfinite(weights) & (weights >= 0)).all():
        row = int(np.argmin(good))
        raise DataError(f"{owner}: weights are finite and not negative; row {row} has {weights[row]}.")
    return _read_only(weights)


def _read_only(array: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """View an array so that it cannot be written through; the array itself stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view
