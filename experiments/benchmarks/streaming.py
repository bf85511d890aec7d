"""Speed and memory of counting files that need not fit the memory, as ratios of one process.

One reading is what pyarrow alone takes to read and decode a Parquet file of 20 columns of text, 10 values each, as
dictionaries, chunk by chunk: the least that any counting of it costs. Memory is the peak of a process of its own, less
what it held once everything was imported. Files are made in a temporary folder and removed. Run with

    python experiments/benchmarks/streaming.py [--json] [--repeats 5] [--gigabytes 0.1 0.5]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from timing import Figure, medians, report

from bnn.classify.class_counts import ClassCounts
from bnn.counts import Counts
from bnn.sources import ROWS, Source
from bnn.streaming import find_schema

COLUMNS, VALUES, GROUP = 20, 10, 1 << 20
ALONE = """
import re, sys
from pathlib import Path
from bnn.classify.class_counts import ClassCounts
from bnn.counts import Counts
from bnn.schema import Schema
from bnn.sources import Source
def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
kind = {"class": ClassCounts, "pairs": Counts}[sys.argv[1]]
schema = Schema.load(sys.argv[3])
kind.of(Source.of(sys.argv[4]), schema=schema)  # a file of a few rows: loads the machine code
Path("/proc/self/clear_refs").write_text("5")  # begins the peak anew
before = kilobytes("VmRSS")
kind.of(Source.of(sys.argv[2]), schema=schema)
assert "torch" not in sys.modules
print(kilobytes("VmHWM") - before)
"""


def made(path: Path, gigabytes: float) -> None:
    """Write a file of about this size, of random row groups that take turns."""
    rng = np.random.default_rng(0)
    labels = pa.array([f"value {v}" for v in range(VALUES)])
    groups = [
        pa.table({f"x{a}": labels.take(pa.array(rng.integers(0, VALUES, GROUP))) for a in range(COLUMNS)})
        for _ in range(2)
    ]
    with pq.ParquetWriter(path, groups[0].schema) as writer:
        number = 0
        while number < 1 or path.stat().st_size < gigabytes * 1e9:
            writer.write_table(groups[number % 2], row_group_size=GROUP)
            number += 1


def read(path: Path) -> int:
    """Read and decode a file by pyarrow alone."""
    with pq.ParquetFile(path, read_dictionary=[f"x{a}" for a in range(COLUMNS)]) as file:
        return sum(len(batch) for batch in file.iter_batches(ROWS))


def peak(kind: str, path: Path, few: Path) -> float:
    """Most megabytes that counting a file needs beyond the imports."""
    words = [sys.executable, "-c", ALONE, kind, path, path.with_name("schema.json"), few]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout) / 1024


def figures(folder: Path, repeats: int, gigabytes: Sequence[float]) -> Iterator[Figure]:
    """Time against reading, time against size, and memory."""
    path, few = folder / "some.parquet", folder / "few.parquet"
    made(path, gigabytes[0])
    with pq.ParquetFile(path) as file:
        pq.write_table(file.read_row_group(0).slice(0, 1000), few)
    source = Source.of(path)
    schema = find_schema(source, target=f"x{COLUMNS - 1}")
    schema.save(folder / "schema.json")
    runs = {
        "one reading": lambda: read(path),
        "class counts": lambda: ClassCounts.of(source, schema=schema),
        "all pairs": lambda: Counts.of(source, schema=schema),
        "finding the schema": lambda: find_schema(source),
    }
    times = medians(runs, repeats)
    for (name, seconds), target in zip(times.items(), (None, 2.0, 4.0, None), strict=True):
        if name != "one reading":
            yield Figure(name, seconds / times["one reading"], target, "readings")
    for kind in ("class", "pairs"):
        yield Figure(f"memory beyond imports, {kind}", peak(kind, path, few), 150.0, "MB")
    first = times["class counts"] / path.stat().st_size
    for size in gigabytes[1:]:
        made(path, size)
        larger = Source.of(path)
        start = time.perf_counter()
        counts = ClassCounts.of(larger, schema=schema)
        seconds = time.perf_counter() - start
        told = f"{size:g} GB, {counts.rows / 1e6:.0f} million rows, a byte against {gigabytes[0]:g} GB"
        yield Figure(told, seconds / path.stat().st_size / first, 1.2, "times as long")
        yield Figure(f"{size:g} GB, memory beyond imports, class", peak("class", path, few), 150.0, "MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=5, help="runs whose median is taken, by turns")
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.1, 0.5], help="sizes of the file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report(list(figures(Path(folder), options.repeats, options.gigabytes)), options.json)


if __name__ == "__main__":
    main()
