"""Results as data frames of the library the user likes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import narwhals as nw

from bnn.errors import unknown_name

BACKENDS = ("pyarrow", "pandas", "polars")


def frame_of(columns: Mapping[str, Sequence[Any] | Any], backend: str, owner: str) -> Any:
    """A table of named columns, lists or arrays, as pyarrow, pandas or polars make it; ``owner`` begins the error."""
    if backend not in BACKENDS:
        raise unknown_name(f"{owner}.backend", backend, BACKENDS)
    return nw.from_dict(dict(columns), backend=cast(Any, backend)).to_native()
