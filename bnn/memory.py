"""How much memory there is, asked before a large table is made."""

from __future__ import annotations

import os
import re
from pathlib import Path

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
