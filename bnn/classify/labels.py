"""Class labels of users: sorted classes, and the position of each row's class among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int32, Integer, Shaped, UInt32
from sklearn.utils.validation import column_or_1d

from bnn.errors import CellTypeError, DataError
from bnn.kernels.recode import seen_values
from bnn.kernels.rows import distinct_rows
from bnn.tables import arrow_array

RANGE = 1 << 16
"""Widest range of whole-number labels that is looked up in a table instead of sorted."""


def read_labels(y: Any, owner: str) -> tuple[Shaped[np.ndarray, " classes"], Int32[np.ndarray, " rows"]]:
    """Sorted classes, of the labels' own type, and the position of each row's class.

    Parameters
    ----------
    y
        One label a row: whole numbers, bools, text or categories; a list, numpy array, or column of a frame.
    owner
        Who asks; sentences begin with it.

    Raises
    ------
    DataError
        None, missing labels, numbers with fractions, two columns, or labels of types that have no order.

    Examples
    --------
    >>> classes, codes = read_labels(["no", "yes", "no"], "NaiveBayesClassifier")
    >>> classes.tolist(), codes.tolist()
    (['no', 'yes'], [0, 1, 0])
    """
    if y is None:
        raise DataError(f"{owner}.y: the estimator requires y to be passed, but the target y is None; give labels.")
    if str(getattr(y, "dtype", "")) == "category":
        categorical = getattr(y, "array", y)
        return _sorted(np.asarray(categorical.categories), np.asarray(categorical.codes), owner)
    if not isinstance(y, np.ndarray | list | tuple) and (coded := _text(y)) is not None:
        return _sorted(*coded, owner)
    array = np.asarray(column_or_1d(y, warn=True))
    if array.dtype.kind == "c":
        raise DataError(f"{owner}.y: Complex data not supported; labels are whole numbers or text.")
    if array.dtype.kind in "biu":
        return _whole(array)
    if array.dtype.kind == "f":
        return _floats(array, owner)
    if array.dtype.kind not in "UOT":
        raise CellTypeError(f"{owner}.y: Unknown label type: {array.dtype}; labels are whole numbers, bools or text.")
    if array.dtype.kind == "U" and array.dtype.itemsize and (found := distinct_rows(_words(array))) is not None:
        return _sorted(array[found[0]], found[1], owner)
    try:
        coded = pa.array(array, from_pandas=True).dictionary_encode()
    except (pa.ArrowException, TypeError, ValueError):
        return _mixed(array, owner)
    if coded.null_count:
        raise _missing(owner, int(np.argmax(coded.is_null().to_numpy(zero_copy_only=False))))
    labels = np.empty(len(coded.dictionary), array.dtype)
    labels[:] = coded.dictionary.to_pylist()
    return _sorted(labels, coded.indices.to_numpy(), owner)


def merged_classes(
    old: Shaped[np.ndarray, " classes"], new: Shaped[np.ndarray, " others"], owner: str
) -> Shaped[np.ndarray, " all_classes"]:
    """Old and new classes, sorted; text beside numbers is an error.

    Examples
    --------
    >>> merged_classes(np.array(["b", "c"]), np.array(["aa"]), "NaiveBayesClassifier").tolist()
    ['aa', 'b', 'c']
    """
    texts = {isinstance(c, str) for c in (*old.tolist(), *new.tolist())}
    if len(texts) > 1:
        raise DataError(
            f"{owner}.y: got classes {new.tolist()[:5]} beside the earlier {old.tolist()[:5]}; they have no common "
            "order, so make them all text or all numbers."
        )
    return np.union1d(old, new)


def named_classes(classes: Any, found: Shaped[np.ndarray, " found"], owner: str) -> Shaped[np.ndarray, " classes"]:
    """All classes that a user names, sorted; one that was found beyond them is an error.

    Examples
    --------
    >>> named_classes(["no", "yes"], np.array(["yes"]), "NaiveBayesClassifier").tolist()
    ['no', 'yes']
    """
    named, _ = read_labels(classes, owner)
    if strange := [c for c in found.tolist() if c not in named.tolist()]:
        raise DataError(f"{owner}.y: class {strange[0]!r} is none of the {named.tolist()} named; name all classes.")
    return named


def _words(array: Shaped[np.ndarray, " rows"]) -> UInt32[np.ndarray, "rows width"]:
    """Text of fixed width as its characters."""
    return np.ascontiguousarray(array).view(np.uint32).reshape(len(array), -1)


def _text(column: Any) -> tuple[Shaped[np.ndarray, " labels"], Integer[np.ndarray, " rows"]] | None:
    """Labels and codes of a column of text of pandas, polars or Arrow; None for any other."""
    array = arrow_array(column) if getattr(column, "ndim", 1) == 1 and hasattr(column, "__len__") else None
    if array is None or not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return None
    coded = array.dictionary_encode()
    return np.array(coded.dictionary.to_pylist(), dtype=object), coded.indices.fill_null(-1).to_numpy()


def _whole(array: Shaped[np.ndarray, " rows"]) -> tuple[Shaped[np.ndarray, " classes"], Int32[np.ndarray, " rows"]]:
    """Labels that are integers or bools: by a table where their range is small."""
    if not len(array):
        return array, np.zeros(0, np.int32)
    low, high = int(array.min()), int(array.max())
    if high - low >= RANGE:
        classes, codes = np.unique(array, return_inverse=True)
        return classes, codes.astype(np.int32)
    numbers = array.view(np.uint8) if array.dtype == bool else array
    seen, _ = seen_values(numbers[:, None], np.array([low]), np.array([0, high - low + 1]))
    classes = (np.flatnonzero(seen) + low).astype(array.dtype)
    position = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return classes, position.take(numbers - low if low else numbers)


def _floats(
    array: Shaped[np.ndarray, " rows"], owner: str
) -> tuple[Shaped[np.ndarray, " classes"], Int32[np.ndarray, " rows"]]:
    """Labels that are floats: whole numbers, or else the target is no class."""
    if not np.isfinite(array).all():
        raise _missing(owner, int(np.argmin(np.isfinite(array))))
    classes, codes = np.unique(array, return_inverse=True)
    if (classes != np.floor(classes)).any():
        shown = classes[classes != np.floor(classes)][0]
        raise DataError(
            f"{owner}.y: Unknown label type: continuous; got {shown}, and a class is a whole number, a bool or text."
        )
    return classes, codes.astype(np.int32)


def _mixed(
    array: Shaped[np.ndarray, " rows"], owner: str
) -> tuple[Shaped[np.ndarray, " classes"], Int32[np.ndarray, " rows"]]:
    """Python objects that Arrow has no common type for, such as whole numbers beside text."""
    for row, label in enumerate(array):
        if label is None or label != label:
            raise _missing(owner, row)
        if not isinstance(label, str | bool | int | float | np.generic):
            raise CellTypeError(
                f"{owner}.y: Unknown label type: row {row} has {label!r} ({type(label).__name__}); labels are whole "
                "numbers, bools or text."
            )
    raise CellTypeError(
        f"{owner}.y: Unknown label type: labels of types {sorted({type(v).__name__ for v in array})} have no common "
        "order; make them all text or all numbers."
    )


def _sorted(
    labels: Shaped[np.ndarray, " labels"], codes: Integer[np.ndarray, " rows"], owner: str
) -> tuple[Shaped[np.ndarray, " classes"], Int32[np.ndarray, " rows"]]:
    """Those of the labels that occur, sorted."""
    if len(codes) and codes.min() < 0:
        raise _missing(owner, int(np.argmin(codes)))
    order = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    order = order[np.argsort(labels[order], kind="stable")]
    kinds = labels[order]
    if kinds.dtype.kind == "O" and len(kinds) and isinstance(kinds[0], float):
        _floats(kinds.astype(np.float64), owner)
    position = np.zeros(len(labels), np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    same = np.array_equal(position, np.arange(len(labels)))
    return kinds, codes.astype(np.int32, copy=False) if same else position.take(codes)


def _missing(owner: str, row: int) -> DataError:
    """Error for a row without a class."""
    return DataError(
        f"{owner}.y: Input y contains NaN, infinity or a missing label, first in row {row}; leave out rows whose class "
        "is unknown."
    )
