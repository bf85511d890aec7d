"""What the benchmarks share: medians of alternating runs, and figures printed beside their targets."""

from __future__ import annotations

import json
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

PAUSE = 0.02  # seconds, so that the threads of the last run have stopped spinning and do not slow this one


@dataclass(frozen=True)
class Figure:
    """One measured figure: usually a ratio of two times of the same process, and the most it may be."""

    name: str
    value: float
    target: float | None
    unit: str

    @property
    def met(self) -> bool:
        """Whether the value is within its target; one without a target always is."""
        return self.target is None or self.value <= self.target


def medians(runs: Mapping[str, Callable[[], object]], repeats: int = 9) -> dict[str, float]:
    """Median seconds of each run: called once to warm up, then by turns, so that a busy moment hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(repeats):
        for name, run in runs.items():
            time.sleep(PAUSE if len(runs) > 1 else 0.0)
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def peak_bytes(run: Callable[[], object]) -> int:
    """Most memory that Python and numpy held at once during a run, beyond what they held before."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def report(figures: list[Figure], as_json: bool) -> None:
    """Print a table for people, or one JSON object for programs."""
    if as_json:
        print(json.dumps({"rows": [asdict(f) | {"met": f.met} for f in figures]}))
        return
    table = Table("figure", "measured", "target", "unit", "met")
    for f in figures:
        target = "" if f.target is None else f"{f.target:g}"
        table.add_row(f.name, f"{f.value:.2f}", target, f.unit, "yes" if f.met else "NO")
    Console(width=120).print(table)
