"""Speed of counting on a dask cluster of this machine, against one process of one thread that does the same work.

A Parquet file of 20 dictionary columns of 10 values and a class of 4, a fragment (row group) of a 20th of its rows. The
cluster is two workers, each a process of one thread; one task a fragment, sums in a tree. Schemas are known, files lie
in the page cache, and both count the same to the last bit, or there is no figure. Run with

    python experiments/benchmarks/cluster.py [--json] [--rows 20000000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster
from timing import Figure, medians, report

from bnn.classify.class_counts import ClassCounts
from bnn.counts import Counts
from bnn.kernels.threads import threads
from bnn.schema import Schema
from bnn.sources import Source
from bnn.streaming import find_schema

COLUMNS, VALUES, CLASSES, FRAGMENTS = 20, 10, 4, 20
LEAST = 1 / 1.6
"""The share of one process's time that two workers may take."""


def write(path: Path, rows: int) -> None:
    """Write the file, a fragment at a time."""
    rng, group = np.random.default_rng(0), rows // FRAGMENTS
    names = [*(f"x{i}" for i in range(COLUMNS)), "class"]
    sizes = dict.fromkeys(names, VALUES) | {"class": CLASSES}
    words = {name: pa.array([f"value {v}" for v in range(size)]) for name, size in sizes.items()}
    schema = pa.schema([(name, pa.dictionary(pa.int8(), pa.string())) for name in names])
    with pq.ParquetWriter(path, schema) as file:
        for _ in range(FRAGMENTS):
            codes = {name: pa.array(rng.integers(0, size, group).astype(np.int8)) for name, size in sizes.items()}
            columns = [pa.DictionaryArray.from_arrays(codes[name], words[name]) for name in names]
            file.write_table(pa.table(columns, schema=schema), row_group_size=group)


def counted(found: dict[str, object], way: str, count: Callable[..., object], source: Source, schema: Schema) -> None:
    """Count, and keep what was found."""
    found[way] = count(source, schema=schema)


def figures(path: Path, rows: int, client: Client, repeats: int) -> Iterator[Figure]:
    """Both kinds of counts, here and there."""
    here, there = Source.of(path), Source.of(path, scheduler=client)
    schema = find_schema(there, "class")
    for name, count in {"class counts": ClassCounts.of, "all pairs": Counts.of}.items():
        found: dict[str, object] = {}
        runs = {"one": partial(counted, found, "one", count, here), "two": partial(counted, found, "two", count, there)}
        times = medians({way: partial(run, schema=schema) for way, run in runs.items()}, repeats)
        if found["one"] != found["two"]:
            raise SystemExit(f"{name}: the cluster counts otherwise than one process")
        yield Figure(f"{name}, two workers", times["two"] / times["one"], LEAST, "of one process's time")
        yield Figure(f"{name}, one process", times["one"] / rows * 1e9, None, "s per billion rows")
        yield Figure(f"{name}, two workers", times["two"] / rows * 1e9, None, "s per billion rows")
    yield Figure("Parquet file", path.stat().st_size / rows, None, "GB per billion rows")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rows", type=int, default=20_000_000, help="rows of the file")
    parser.add_argument("--repeats", type=int, default=3, help="runs whose median is taken, by turns")
    options = parser.parse_args()
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder, threads(1):
        path = Path(folder, "rows.parquet")
        write(path, options.rows)
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            report(list(figures(path, options.rows, client, options.repeats)), options.json)


if __name__ == "__main__":
    main()
