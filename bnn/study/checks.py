"""What several arguments of a study must be, and how they are written down."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from bnn.errors import DataError


def whole(value: Any, least: int, owner: str) -> int:
    """A whole number of at least so much, or a `DataError` that ``owner`` begins."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise DataError(f"{owner}: got {value!r}; give a whole number of at least {least}.")
    return int(value)


def share(value: Any, owner: str) -> float:
    """A share above 0 and below 1, or a `DataError` that ``owner`` begins."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 < value < 1.0:
        raise DataError(f"{owner}: got {value!r}; give a share above 0 and below 1.")
    return float(value)


def parameters_of(thing: Any) -> dict[str, Any]:
    """Name and parameters of a dynamics or a family, as plain JSON types."""
    values = {one.name: getattr(thing, one.name) for one in fields(thing)}
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
    return {"name": thing.name, **plain}
