"""Arrays of neurons that are on, off or unknown to codes, whichever of the usual codings they use."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int8, Shaped

from bnn.errors import DataError
from bnn.schema import Attribute, Schema


def pattern_codes(
    array: Any, known: Any = None, *, names: Callable[[], Sequence[str]] | None = None, owner: str
) -> Int8[np.ndarray, "..."]:
    """Read patterns in {0, 1}, {-1, +1} or bool as codes: 1 = on, 0 = off, -1 = unknown.

    Parameters
    ----------
    array
        Patterns first, then one or more dimensions of neurons; NaN = unknown. Whatever numpy reads, torch tensors too.
    known
        Bool, shaped as `array`: False = unknown, whatever the array holds there. None: only NaN is.
    names
        Asked for one name a neuron when a message needs them; by default those of `neuron_names`.
    owner
        Function and argument, the first words of messages.

    Returns
    -------
    Shaped as `array`.

    Raises
    ------
    DataError
        Not an array of numbers, any other value, or 0 and -1 in one array.

    Examples
    --------
    >>> pattern_codes([[-1, 1], [1, float("nan")]], owner="cues").tolist()
    [[0, 1], [1, -1]]
    """
    array = as_numbers(array, owner)
    unknown = np.isnan(array) if array.dtype.kind == "f" else None
    if known is not None:
        known = np.asarray(known)
        if known.dtype != bool or known.shape != array.shape:
            raise DataError(
                f"{owner}: the mask of known cells must be bool of shape {array.shape}; "
                f"got {known.dtype} of shape {known.shape}."
            )
        unknown = ~known if unknown is None else unknown | ~known
    on, off = array == 1, array == 0
    if unknown is not None:
        on &= ~unknown
        off &= ~unknown
    rest = array.size - sum(np.count_nonzero(cells) for cells in (on, off, unknown) if cells is not None)
    minus = array == -1 if rest else np.zeros_like(off)  # most arrays need not be looked through for -1
    if unknown is not None:
        minus &= ~unknown
    if np.count_nonzero(minus) != rest:
        bad = ~(on | off | minus) if unknown is None else ~(on | off | minus | unknown)
        raise DataError(
            f"{owner}: {_place(bad, names)} is {array[bad][0]}; "
            "patterns hold {0, 1}, {-1, +1} or bool, with NaN where unknown."
        )
    if rest and off.any():
        raise DataError(
            f"{owner}: 0 and -1 both occur: {_place(off, names)} is 0, {_place(minus, names)} is -1; "
            "off is either 0 or -1 throughout, and an unknown cell is NaN."
        )
    codes: np.ndarray = on.view(np.int8)
    if unknown is not None:
        codes[unknown] = -1
    return codes


def neuron_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Name the neurons of patterns of that shape: x0, x1, ..., in pictures r3c14 for row 3, column 14.

    Examples
    --------
    >>> neuron_names((2, 2))
    ('r0c0', 'r0c1', 'r1c0', 'r1c1')
    """
    if len(shape) == 2:
        return tuple(f"r{r}c{c}" for r in range(shape[0]) for c in range(shape[1]))
    return tuple(f"x{i}" for i in range(math.prod(shape)))


def pattern_schema(shape: tuple[int, ...], names: Sequence[str] | None = None) -> Schema:
    """Build the schema of patterns of that shape: one on_off attribute a neuron, called as in `neuron_names`."""
    attributes = tuple(Attribute(name, (0, 1), "on_off") for name in (neuron_names(shape) if names is None else names))
    return Schema(attributes, shape=shape if len(shape) > 1 else None)


def as_numbers(array: Any, owner: str) -> Shaped[np.ndarray, "..."]:
    """Make a numpy array of bools or numbers of it, None as NaN; `DataError` where that cannot be."""
    if hasattr(array, "columns") or hasattr(array, "column_names"):
        raise DataError(
            f"{owner}: got a table, whose columns have names; use network.encode(table) for cues, "
            "Records.from_table(table) for records, or table.to_numpy() if their order is that of the neurons."
        )
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    try:
        array = np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise DataError(f"{owner}: cannot be read as an array of numbers ({error}).") from error
    if array.dtype.kind not in "biuf":
        raise DataError(f"{owner}: got {array.dtype}; patterns are bools or numbers.")
    checked: np.ndarray = array
    return checked


def _place(cells: Bool[np.ndarray, "..."], names: Callable[[], Sequence[str]] | None) -> str:
    """Say where the first of the cells lies."""
    row, neuron = divmod(int(np.argmax(cells)), max(1, math.prod(cells.shape[1:])))
    return f"row {row}, neuron {(neuron_names(cells.shape[1:]) if names is None else names())[neuron]!r}"
