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
LITTLE = 1 << 24  # bytes for which nobody need ask: asking takes longer than counting a small table
GROUPS = Path("/sys/fs/cgroup")  # where Linux tells what a container, or any group of processes, may take


def free_memory() -> float:
    """Bytes to be had without swapping, inside a container of its own share; all where the system does not tell."""
    table = Path("/proc/meminfo")
    found = re.search(r"MemAvailable: +(\d+) kB", table.read_text()) if table.exists() else None
    free = 1024.0 * int(found[1]) if found else float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    groups = _groups(Path("/proc/self/cgroup"))
    return min(free, *(_left_to(folder) for group in groups for folder in (group, *group.parents)))


def _groups(table: Path) -> tuple[Path, Path]:
    """Where the system may tell the limits of this process: by version 2 of its control groups, and by version 1."""
    told = table.read_text() if table.exists() else ""
    new, old = (re.search(kind, told, re.MULTILINE) for kind in (r"^0::/(.*)$", r"^\d+:memory:/(.*)$"))
    return GROUPS / (new[1] if new else ""), GROUPS / "memory" / (old[1] if old else "")


def _left_to(group: Path) -> float:
    """Bytes that a control group of Linux may still take, files it can drop among them; no limit where none is told."""
    old = (group / "memory.limit_in_bytes").exists()
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if old else ("memory.max", "memory.current")
    try:
        most, used = (int((group / name).read_text()) for name in names)
        dropped = re.search(r"^(?:total_)?inactive_file (\d+)$", (group / "memory.stat").read_text(), re.MULTILINE)
    except (OSError, ValueError):  # no such group, or "max"
        return math.inf
    return float(max(0, most - used + (int(dropped[1]) if dropped else 0)))


def fits(needed: int | float) -> bool:
    """Whether a table of so many bytes can be made; a little one can always.

    Examples
    --------
    >>> fits(8), fits(1e18)
    (True, False)
    """
    return needed <= LITTLE or needed <= SHARE * free_memory()


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
