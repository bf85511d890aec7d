"""Parameters of classifiers, checked when they are used."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnn.errors import DataError


def positive(value: Any, owner: str, most: float = np.inf) -> float:
    """A number above 0 and at most ``most``.

    Examples
    --------
    >>> positive(2, "TreeBayesClassifier.m")
    2.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value <= most:
        limit = "" if most == np.inf else f" and at most {most:g}"
        raise DataError(f"{owner}: got {value!r}; give a number above 0{limit}.")
    return float(value)


def whole(value: Any, owner: str) -> int:
    """A whole number of at least 1.

    Examples
    --------
    >>> whole(3, "SemiNaiveBayesClassifier.max_order")
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise DataError(f"{owner}: got {value!r}; give a whole number of at least 1.")
    return int(value)
