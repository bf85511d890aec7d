"""Wide networks: learning from baskets, and recall beside scipy's sparse products, all in one process.

Generated baskets of 20 items, item k drawn with probability proportional to 1/k. On a quiet machine with 8 GB free:

    python experiments/benchmarks/sparse.py [--json] [--size 1] [--dtype float32]

A few minutes, of which generating and scipy's dense product take most; `--size 0.05`, a twentieth of baskets and items,
takes 15 s.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import csr_array
from timing import Figure, medians, report

import bnn

BASKETS, ITEMS, HELD, CUES = 1_000_000, 100_000, 20, 100
DTYPES = {"float32": torch.float32, "float64": torch.float64}
BLOCK = 20_000


def generate(baskets, items, seed=0):
    """Baskets of 20 different items of a power law: the first 20 that are drawn."""
    rng = np.random.default_rng(seed)
    chance = np.cumsum(1.0 / np.arange(1, items + 1))
    held = np.empty((baskets, HELD), np.int32)
    for first in range(0, baskets, BLOCK):
        rows = held[first : first + BLOCK]
        drawn = np.searchsorted(chance, rng.random((len(rows), 8 * HELD)) * chance[-1])
        order = np.argsort(drawn, axis=1, kind="stable")
        ordered = np.take_along_axis(drawn, order, axis=1)
        new = np.ones(drawn.shape, dtype=bool)
        np.put_along_axis(new, order[:, 1:], ordered[:, 1:] != ordered[:, :-1], axis=1)
        rows[:] = np.sort(drawn[new & (np.cumsum(new, axis=1) <= HELD)].reshape(rows.shape), axis=1)
    ends = np.arange(0, held.size + 1, HELD)
    return csr_array((np.ones(held.size, np.int8), held.ravel(), ends), shape=(baskets, items))


def memory(name):
    """Bytes of this process: VmRSS now, or VmHWM, the most since `clear_refs` was written."""
    status = Path("/proc/self/status").read_text().split()
    return 1024 * int(status[status.index(f"{name}:") + 1])


def learned(records, dtype):
    """The network, seconds, and the most memory beyond what was held before."""
    Path("/proc/self/clear_refs").write_text("5")
    before, start = memory("VmRSS"), time.perf_counter()
    network = bnn.learn(records, "probability", dtype=dtype, sparse=True)
    return network, time.perf_counter() - start, memory("VmHWM") - before


def recalls(network, records):
    """Cues without a quarter of their items, recalled; and scipy's products of the same weights and cues."""
    cues = bnn.corrupt(records[:CUES], delete=0.25, seed=0)
    states = cues.patterns
    kept = network.weights
    weights = csr_array((kept.values, kept.index, kept.start), shape=(network.neurons, network.neurons))
    few = csr_array(states.astype(kept.values.dtype))
    dense = np.ascontiguousarray(states.T.astype(kept.values.dtype))
    runs = {
        "sweep": lambda: bnn.recall(network, states, seed=0, max_sweeps=1, check="raise"),
        "recall": lambda: bnn.recall(network, states, seed=0, check="raise"),
        "sparse": lambda: few @ weights,
    }
    took = medians(runs, repeats=5) | medians({"dense": lambda: weights @ dense}, repeats=1)
    trace = runs["recall"]()
    print(trace, f"{trace.flips.mean():.1f} flips and {trace.sweeps.mean():.1f} sweeps a cue;", took)
    yield Figure("one sweep of 100 cues", took["sweep"] / took["dense"], 1.0, "dense products")
    yield Figure("a whole recall of 100 cues", took["recall"] / took["sparse"], 5.0, "sparse products")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    chosen = parser.parse_args()
    baskets, items = round(BASKETS * chosen.size), round(ITEMS * chosen.size)
    learned(bnn.Records.from_baskets(generate(100, 1000)), DTYPES[chosen.dtype])  # loads or compiles the loops
    records = bnn.Records.from_baskets(generate(baskets, items))
    network, seconds, peak = learned(records, DTYPES[chosen.dtype])
    size, stored = network.weights.nbytes, len(network.weights.index)
    what = f"{baskets:,} baskets of {HELD} among {items:,} items, {chosen.dtype}"
    figures = [
        Figure(f"learned: {what}, {stored / 1e6:.0f} million weights kept", seconds, 60.0, "s"),
        Figure("most memory while learning", peak / size, 3.0, "results"),
        Figure("bytes a kept weight", size / stored, 16.0 if chosen.dtype == "float32" else 24.0, "bytes"),
        *recalls(network, records),
    ]
    report(figures, chosen.json)


if __name__ == "__main__":
    main()
