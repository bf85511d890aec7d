"""Columns of users' tables to numbers and to integer codes."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from jaxtyping import Int, Integer, Real, Shaped

from bnn.discretize import codes_of
from bnn.errors import CellTypeError, DataError
from bnn.schema import Attribute, Value

OWNER = "Records.from_table"

VALUE_TYPES = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_null,
)

IDENTIFIER = 20
"""Fewer rows than this do not make an identifier of a column whose values all differ."""
MAX_VALUES = 1000
"""Distinct values a column may have unless it declares them as categories: beyond, it is a number or an identifier."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """One column as codes of its attribute, -1 = missing, and how many values the attribute lacked.

    ``declared``: whether the column itself says which values there are, and their order.
    """

    codes: Int[np.ndarray, " rows"]
    attribute: Attribute
    unseen: int
    example: Value | None
    declared: bool


def smallest_type(values: int) -> np.dtype[np.signedinteger[Any]]:
    """Smallest signed integer type that holds the codes of so many values, and -1."""
    return np.dtype(np.int8 if values <= 2**7 else np.int16 if values <= 2**15 else np.int32)


def columns_of(table: Any, owner: str = OWNER) -> dict[str, Any]:
    """Columns by name, each a series, array or list of the table's own library, all of one length.

    Raises
    ------
    DataError
        What is no table, a lazy one, or one with repeated names, no columns or no rows.
    """
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise DataError(f"{owner}: needs a 2-D array [rows, columns]; got shape {table.shape}.")
        named = [(f"x{i}", table[:, i]) for i in range(table.shape[1])]
    elif isinstance(table, dict):
        named = [(str(name), column) for name, column in table.items()]
        for name, column in named:
            if (
                isinstance(column, str | bytes | dict | set | frozenset)
                or not hasattr(column, "__len__")
                or getattr(column, "ndim", 1) == 0
            ):
                raise DataError(f"{owner}: column {name!r} is {column!r}; needed is a list or array, one entry a row.")
    else:
        named = _frame_columns(table, owner)
    columns = dict(named)
    if len(columns) != len(named):
        names = [name for name, _ in named]
        raise DataError(f"{owner}: {next(n for n in names if names.count(n) > 1)!r} names two columns; rename one.")
    if not columns:
        raise DataError(f"{owner}: the table has no columns.")
    lengths = {name: len(column) for name, column in named}
    shortest, longest = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
    if lengths[shortest] != lengths[longest]:
        raise DataError(
            f"{owner}: columns differ in length: {shortest!r} has {lengths[shortest]} rows, "
            f"{longest!r} {lengths[longest]}."
        )
    if not lengths[shortest]:
        raise DataError(f"{owner}: the table has no rows.")
    return columns


def _frame_columns(table: Any, owner: str) -> list[tuple[str, Any]]:
    """Names and native columns of a pandas, polars or pyarrow table, or of another that narwhals knows."""
    try:
        frame = nw.from_native(table, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise DataError(f"{owner}: the table is lazy; collect it first, as in table.collect().")
        if not isinstance(frame, nw.DataFrame):
            raise DataError(
                f"{owner}: got {type(table).__name__}; needed is a pandas, polars or pyarrow table, "
                "a dict of columns or a 2-D numpy array."
            )
        native: Any = frame.to_native()
        # pandas' own way through its columns is quicker than asking for one after the other
        named = native.items() if hasattr(native, "items") else ((name, native[name]) for name in frame.columns)
        return [(str(name), column) for name, column in named]
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"{owner}: two columns have one name; rename one ({' '.join(str(error).split())}).") from error


def encode(
    name: str,
    column: Any,
    attribute: Attribute | None = None,
    owner: str = OWNER,
    max_values: int | None = MAX_VALUES,
) -> CodedColumn:
    """Code one column of `columns_of` by its own values, or by those of a given attribute.

    Numbers are coded by their interval where the attribute has bounds.

    Raises
    ------
    DataError
        Values that are not text, bools or numbers, infinity, or more undeclared ones than ``max_values`` (None: any).
    """
    if attribute is not None and attribute.bounds is not None and (numbers := numbers_of(column)) is not None:
        if np.isinf(numbers).any():
            raise infinite(name, numbers[np.isinf(numbers)][0].item(), owner)
        places = codes_of(numbers, np.array(attribute.bounds))
        return CodedColumn(places.astype(smallest_type(len(attribute.values))), attribute, 0, None, False)
    codes, labels, declared = _factorised(name, column, owner)
    labels = plain(name, labels, declared, owner)
    attribute = attribute or Attribute(name, _values(name, labels, declared, owner, max_values))
    position: dict[Value | None, int] = {v: i for i, v in enumerate(attribute.values)}
    # one entry more, for codes of -1, which index from the end
    recode = np.array([position.get(v, -1) for v in labels] + [-1], smallest_type(len(attribute.values)))
    lacking = np.array([v is not None and v not in position for v in labels] + [False])
    unseen = np.flatnonzero(lacking[codes]) if lacking.any() else codes[:0]
    example = labels[codes[unseen[0]]] if len(unseen) else None
    same = np.array_equal(recode[:-1], np.arange(len(labels)))
    codes = codes.astype(recode.dtype, copy=False) if same else recode.take(codes)
    return CodedColumn(codes, attribute, len(unseen), example, declared)


def _values(
    name: str, labels: Sequence[Value | None], declared: bool, owner: str, max_values: int | None
) -> tuple[Value, ...]:
    """Values of an attribute from the labels of its column."""
    values = tuple(dict.fromkeys(v for v in labels if v is not None))
    if declared:
        return values
    if max_values is not None and len(values) > max_values:
        raise DataError(
            f"{owner}: column {name!r} has {len(values)} distinct values, more than {max_values}; leave it out if it "
            "is an identifier, give intervals=20 if it is a number, or pass it as a categorical column."
        )
    if values and all(isinstance(v, bool) for v in values):
        return (False, True)
    return tuple(sorted(values, key=lambda v: (isinstance(v, str), v)))


def _factorised(name: str, column: Any, owner: str) -> tuple[Integer[np.ndarray, " rows"], Sequence[Any], bool]:
    """Positions in a list of labels, -1 = missing; the labels; whether the column declares them and their order."""
    dtype = str(getattr(column, "dtype", ""))
    if dtype == "category":
        categorical = getattr(column, "array", column)
        return np.asarray(categorical.codes), categorical.categories.tolist(), True
    if dtype == "object" and hasattr(column, "factorize"):  # pandas: twice as quick as by way of Arrow
        with contextlib.suppress(TypeError):  # lists and the like, refused below
            codes, uniques = column.factorize()
            return codes, uniques.tolist(), False
    array = None if dtype == "Object" else arrow_array(column)  # of polars' objects Arrow would get the addresses
    if array is None:
        return *_factorised_objects(name, column, owner), False
    declared = pa.types.is_dictionary(array.type)
    if not declared:
        if not any(holds(array.type) for holds in VALUE_TYPES):
            raise DataError(
                f"{owner}: column {name!r} is {array.type}; values are text, bools or numbers: leave it out, or turn "
                "it into one of these."
            )
        array = array.dictionary_encode("encode")  # None is one more label
    # polars' Categorical is a dictionary too, but in order of appearance over all such columns: nobody declared it
    return _indices(array.indices), array.dictionary.to_pylist(), declared and dtype != "Categorical"


def arrow_array(column: Any) -> pa.Array | None:
    """Turn a column into one Arrow array; None where Arrow has no type for such Python objects."""
    try:
        if hasattr(column, "to_arrow"):
            column = column.to_arrow()
        array = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def identifies(known: int, attribute: Attribute) -> bool:
    """Whether so many known cells have each value once, and are enough to call it an identifier."""
    return len(attribute.values) >= IDENTIFIER and known == len(attribute.values)


def plain_numbers(array: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """Numbers in a type that compiled loops know."""
    exotic = array.dtype.itemsize > 8 or array.dtype == np.float16 or not array.dtype.isnative
    return array.astype(np.float64) if exotic else array


def numbers_of(column: Any) -> Real[np.ndarray, " rows"] | None:
    """Numbers of a column, NaN where missing; None where it holds anything else. Bools are no numbers."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return plain_numbers(column)
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return plain_numbers(column.to_numpy())
    if str(dtype) in ("category", "Categorical", "Object") or getattr(dtype, "kind", "") in ("b", "U"):
        return None
    array = arrow_array(column)
    if array is None:
        return None
    if not (pa.types.is_null(array.type) or pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return None
    if array.null_count == len(array):
        return np.full(len(array), np.nan)
    if not array.null_count:
        return plain_numbers(np.from_dlpack(array))
    # neither to_numpy nor a scalar made in Python, for which pyarrow would import pandas: 0.2 s
    whole = array.cast(pa.float64(), safe=False).fill_null(array.drop_null().cast(pa.float64(), safe=False)[0])
    missing = np.from_dlpack(array.is_null().cast(pa.int8())) == 1
    return np.where(missing, np.nan, np.from_dlpack(whole))


def _indices(array: pa.Array) -> Integer[np.ndarray, " rows"]:
    """Turn an Arrow array of integers into a numpy array, -1 = missing."""
    if array.null_count:
        array = (array.cast(pa.int64()) if pa.types.is_unsigned_integer(array.type) else array).fill_null(-1)
    return np.from_dlpack(array)


def _factorised_objects(name: str, column: Any, owner: str) -> tuple[Integer[np.ndarray, " rows"], list[Any]]:
    """Codes and labels, in order of appearance, of Python objects of mixed types."""
    index: dict[Any, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for row, value in enumerate(column):
        try:
            codes[row] = index.setdefault(value, len(index))
        except TypeError:
            raise _no_value(name, value, owner) from None
    return codes, list(index)


def plain(name: str, labels: Sequence[Any], declared: bool, owner: str = OWNER) -> list[Value | None]:
    """Labels as values of an attribute, None = missing; whole floats are integers, bools among numbers are 0 and 1."""
    plain = [_value(name, label, declared, owner) for label in labels]
    types = {type(v) for v in plain}
    if all(v.is_integer() and abs(v) <= 2**53 for v in plain if isinstance(v, float)):
        plain = [int(v) if isinstance(v, float) else v for v in plain]
    if bool in types and types & {int, float}:
        plain = [int(v) if isinstance(v, bool) else v for v in plain]
    return plain


def _value(name: str, label: Any, declared: bool, owner: str) -> Value | None:
    """One label as text, bool, int or float, None = missing; declared ones of other types by their text."""
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or type(label).__name__ in ("NAType", "NaTType") or label != label or label == "":
        return None
    if isinstance(label, float) and math.isinf(label):
        raise infinite(name, label, owner)
    if isinstance(label, str | bool | int | float):
        return label
    if not declared:
        raise _no_value(name, label, owner)
    return str(label)


def infinite(name: str, number: float, owner: str) -> DataError:
    """Error for infinity in a column."""
    return DataError(f"{owner}: column {name!r} holds {number}; values are finite, and missing where unknown.")


def _no_value(name: str, value: object, owner: str) -> CellTypeError:
    """Error for a cell that cannot be a value."""
    return CellTypeError(
        f"{owner}: column {name!r} holds {value!r} ({type(value).__name__}); a value as argument must be a "
        "string, a bool or a number: leave the column out, or turn it into one of these."
    )
