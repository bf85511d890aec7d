"""Baskets: records that are lists of the few items they hold among many, from lists, sparse matrices and files."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int32, Int64

from bnn.errors import DataError, FileError, UnseenValueWarning
from bnn.patterns import neuron_names

OWNER = "Records.from_baskets"


@dataclass(frozen=True, slots=True)
class ItemLists:
    """What each basket holds.

    Attributes
    ----------
    names
        One a neuron: the items.
    items
        int32 [held]: neurons that are on, ascending within a basket, each once.
    start
        int64 [baskets + 1]: basket r holds ``items[start[r]:start[r + 1]]``.
    """

    names: tuple[str, ...]
    items: Int32[np.ndarray, " held"]
    start: Int64[np.ndarray, " baskets_and_one"]


def item_lists(baskets: Any, names: Sequence[str] | None) -> ItemLists:
    """Read baskets as `bnn.Records.from_baskets` takes them.

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
    >>> read = item_lists([["milk", "bread"], [], ["milk", "milk"]], None)
    >>> read.names, read.items.tolist(), read.start.tolist()
    (('bread', 'milk'), [0, 1, 1], [0, 2, 2, 3])
    """
    if names is not None:
        names = tuple(map(str, names))
    read = _of_matrix(baskets, names) if hasattr(baskets, "tocsr") else _of_lists(baskets, names)
    if len(read.start) == 1 or not read.names:
        lacking = "baskets" if len(read.start) == 1 else "items"
        raise DataError(f"{OWNER}.baskets: got no {lacking}; give at least one basket that holds something.")
    return read


def _of_matrix(matrix: Any, names: tuple[str, ...] | None) -> ItemLists:
    """Rows of a scipy sparse matrix or array: what is stored and not zero is on."""
    columns = matrix.shape[1]
    if names is not None and len(names) != columns:
        raise DataError(f"{OWNER}.names: got {len(names)} names for a matrix of {columns} columns; give one a column.")
    kept = matrix.tocsr(copy=True)  # the caller's stays as it is
    kept.sum_duplicates()
    kept.eliminate_zeros()
    if kept.data.dtype.kind not in "biuf" or bool(np.isnan(kept.data).any()):
        raise DataError(
            f"{OWNER}.baskets: the matrix holds NaN or no numbers ({kept.data.dtype}); what is stored is on and all "
            "else off, so that nothing can be unknown; use Records.from_patterns for patterns with gaps."
        )
    named = neuron_names((columns,)) if names is None else names
    return ItemLists(named, kept.indices.astype(np.int32), kept.indptr.astype(np.int64))


def _of_lists(baskets: Any, names: tuple[str, ...] | None) -> ItemLists:
    """Lists of items, each called by its text."""
    if isinstance(baskets, str) or not isinstance(baskets, Iterable):
        raise DataError(
            f"{OWNER}.baskets: got {type(baskets).__name__}; give lists of items, or a scipy sparse matrix."
        )
    sizes, labels = [], []
    for row, basket in enumerate(baskets):
        if isinstance(basket, str) or not isinstance(basket, Iterable):
            raise DataError(f"{OWNER}.baskets: basket {row} is {basket!r}; give a list of items.")
        held = [str(item) for item in basket]
        sizes.append(len(held))
        labels += held
    if names is None:
        found = set(labels)
        numbers = all(map(str.isdecimal, found))
        names = tuple(sorted(found, key=lambda label: (int(label) if numbers else 0, label)))
    known = {name: i for i, name in enumerate(names)}
    items = np.fromiter((known.get(label, -1) for label in labels), np.int64, len(labels))
    if strange := int((items < 0).sum()):
        warnings.warn(
            f"{OWNER}: {strange:,} items that are not among the names were left out, such as "
            f"{labels[int(np.argmin(items))]!r}.",
            UnseenValueWarning,
            stacklevel=4,
        )
    basket_of = np.repeat(np.arange(len(sizes)), sizes)
    # One number an item of a basket, so that sorting them puts each basket in order
    held_once = np.unique(basket_of[items >= 0] * len(names) + items[items >= 0])
    rows, kept = np.divmod(held_once, max(len(names), 1))
    start = np.searchsorted(rows, np.arange(len(sizes) + 1))
    return ItemLists(names, kept.astype(np.int32), start.astype(np.int64))


def read_baskets(path: str | Path) -> list[list[str]]:
    """Read a text file of baskets, one a line.

    Items are separated by commas where the file holds any, else by spaces; spaces around an item are dropped, empty
    lines passed over. UTF-8, with or without a byte-order mark.

    Raises
    ------
    FileError
        No such file, a folder, one that holds no item, or bytes that are not UTF-8.
    """
    owner = f"read_baskets: {str(path)!r}"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{owner} is not UTF-8 (byte {error.start}); save the file as UTF-8.") from None
    except OSError as error:
        raise FileError(f"{owner} cannot be read: {error.strerror}; name a file of one basket a line.") from error
    separator = "," if "," in text else None
    split = ([item.strip() for item in line.split(separator)] for line in text.splitlines() if line.strip())
    baskets = [[item for item in basket if item] for basket in split]
    if not any(baskets):
        raise FileError(f"{owner} holds no items; needed is one basket a line, items separated by spaces or commas.")
    return baskets
