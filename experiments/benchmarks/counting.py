"""Speed of counting, as ratios of medians measured by turns in one process.

One pass is one `numpy.bincount` per column of 1,000,000 rows x 21 attributes x 10 values, each column contiguous, int8:
the least that any counting of single values costs. One product is X'X of 1,000 patterns of 5,000 neurons, float32, in
torch. Run with

    python experiments/benchmarks/counting.py [--json] [--repeats 9]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from timing import Figure, medians, peak_bytes, report

from bnn.counts import Counts
from bnn.records import Records
from bnn.schema import Attribute, Schema

ROWS, ATTRIBUTES, VALUES = 1_000_000, 21, 10


def tables(repeats: int) -> Iterator[Figure]:
    """All pairs of a table, from codes and from a frame."""
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, VALUES, (ROWS, ATTRIBUTES)).astype(np.int8))
    gaps = codes.copy(order="F")
    gaps[rng.random(codes.shape) < 0.1] = -1
    by_rows = np.ascontiguousarray(codes).astype(np.uint8)
    weights = rng.random(ROWS)
    labels = [f"value {v}" for v in range(VALUES)]
    schema = Schema(tuple(Attribute(f"x{a}", tuple(labels)) for a in range(ATTRIBUTES)))
    frame = pd.DataFrame({f"x{a}": pd.Categorical.from_codes(codes[:, a], labels) for a in range(ATTRIBUTES)})
    constant = np.zeros_like(codes)
    runs = {
        "pass": lambda: [np.bincount(codes[:, a], minlength=VALUES) for a in range(ATTRIBUTES)],
        "uint8 codes, columns contiguous": lambda: Counts.of(Records(codes.view(np.uint8), schema)),
        "uint8 codes, rows contiguous": lambda: Counts.of(Records(by_rows, schema)),
        "10 % missing": lambda: Counts.of(Records(gaps, schema)),
        "every row the same": lambda: Counts.of(Records(constant, schema)),
        "weighted": lambda: Counts.of(Records(codes, schema, weights)),
        "pandas frame of categories": lambda: Counts.of(Records.from_table(frame)),
        "a quarter of the rows": lambda: Counts.of(Records(codes[: ROWS // 4], schema)),
    }
    targets = dict(zip(runs, (None, 2.0, 2.0, 2.2, 2.0, None, 3.0, None), strict=True))
    times = medians(runs, repeats)
    for name in list(runs)[1:-1]:
        yield Figure(name, times[name] / times["pass"], targets[name], "passes")
    whole = "uint8 codes, columns contiguous"
    yield Figure("all rows against a quarter", times[whole] / times["a quarter of the rows"], 4.5, "times as long")
    yield Figure("extra memory, complete", peak_bytes(runs[whole]) / 1e6, 30, "MB")
    yield Figure("extra memory, 10 % missing", peak_bytes(runs["10 % missing"]) / 1e6, 30, "MB")


def patterns(repeats: int) -> Iterator[Figure]:
    """One neuron a bit."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (1000, 5000)).astype(np.int8)
    dense = torch.from_numpy(bits).float()
    records = Records.from_patterns(bits)
    gaps = Records.from_patterns(np.where(rng.random(bits.shape) < 0.1, np.nan, bits))
    whole, few = Counts.of(records), Counts.of(records[:100])
    runs = {
        "product": lambda: dense.T @ dense,
        "1,000 patterns of 5,000 neurons": lambda: Counts.of(records),
        "10 % unknown": lambda: Counts.of(gaps),
        "forgetting 100 of them": lambda: whole - few,
    }
    targets = dict(zip(runs, (None, 1.0, None, None), strict=True))
    times = medians(runs, repeats)
    for name in list(runs)[1:]:
        yield Figure(name, times[name] / times["product"], targets[name], "products")
    beyond = peak_bytes(runs["1,000 patterns of 5,000 neurons"]) - whole.joint.nbytes
    yield Figure("memory beyond the result", beyond / 1e6, whole.joint.nbytes / 1e6, "MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=9, help="runs whose median is taken, by turns")
    options = parser.parse_args()
    report([*tables(options.repeats), *patterns(options.repeats)], options.json)


if __name__ == "__main__":
    main()
