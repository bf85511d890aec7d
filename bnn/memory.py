"""Memory: how much there is, asked before a large table is made; and arrays that every chunk of rows needs anew."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
from jaxtyping import Shaped
from numpy.typing import DTypeLike

SHARE = 0.8  # of the free memory that one table may take


def free_memory() -> float:
    """Bytes to be had without swapping; all of the machine's where the system does not tell."""
    table = Path("/proc/meminfo")
    found = re.search(r"MemAvailable: +(\d+) kB", table.read_text()) if table.exists() else None
    return 1024.0 * int(found[1]) if found else float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def fits(needed: int | float) -> bool:
    """Whether a table of so many bytes can be made.

    Examples
    --------
    >>> fits(8), fits(1e18)
    (True, False)
    """
    return needed <= SHARE * free_memory()


def pooled(shape: tuple[int, ...], dtype: DTypeLike) -> Shaped[np.ndarray, "..."]:
    """An array of anything, as of ``numpy.empty``, whose memory the next one of its size takes over.

    It comes from Arrow's pool. The C library may give every large array back to the machine at once, as dask has it do
    in its workers, and zeroing the pages of the next one then takes longer than filling it.

    Examples
    --------
    >>> pooled((2, 3), np.int16).shape
    (2, 3)
    """
    dtype = np.dtype(dtype)
    buffer = pa.allocate_buffer(math.prod(shape) * dtype.itemsize)
    return np.frombuffer(buffer, dtype).reshape(shape)
