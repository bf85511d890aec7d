"""Recall: the public call, exactly sequential, energy recorded and verified, in products of its own size.

One product is torch's float32 matrix product [cues x neurons][neurons x neurons]. Run it on a quiet machine:

    python experiments/benchmarks/recall.py [--json] [--quick]

About a minute; `--quick` leaves out 5,000 neurons and the torch path.
"""

import argparse
import subprocess
import sys

import numpy as np
import torch
from timing import Figure, medians, report

import bnn

CUES = 1000


def product(rows, neurons):
    left, right = torch.rand(rows, neurons), torch.rand(neurons, neurons)
    return lambda: left @ right


def memory(neurons, patterns, dtype, seed=0):
    """An odds network of random dense patterns, and noisy cues with a tenth of the neurons flipped."""
    rng = np.random.default_rng(seed)
    stored = rng.integers(0, 2, (patterns, neurons), dtype=np.int8)
    network = bnn.learn(bnn.Records.from_patterns(stored), "odds", dtype=dtype)
    cues = bnn.corrupt(stored[rng.integers(0, patterns, CUES)], flip=0.1, seed=rng)
    return network, cues


def asynchronous(neurons, patterns, dtype, target, one_target=None):
    network, cues = memory(neurons, patterns, dtype)
    one = cues[:1].copy()
    took = medians(
        {
            "product": product(CUES, neurons),
            "recall": lambda: bnn.recall(network, cues, seed=0, check="raise"),
        },
        repeats=15 if neurons <= 1000 else 5,
    )
    kind = str(dtype).removeprefix("torch.")
    name = f"asynchronous, {neurons:,} neurons, {patterns} patterns, {kind}"
    yield Figure(name, took["recall"] / took["product"], target, "products")
    if one_target is not None:
        repeats = 1001 if neurons <= 1000 else 101
        took = medians({"one": lambda: bnn.recall(network, one, seed=0, check="raise")}, repeats)
        yield Figure(f"one cue, {neurons:,} neurons, {patterns} patterns, {kind}", took["one"] * 1e3, one_target, "ms")


def torch_path():
    network, cues = memory(1000, 50, torch.float32)
    took = medians(
        {
            "product": product(CUES, 1000),
            "recall": lambda: bnn.recall(network, cues, seed=0, backend="torch", check="raise"),
        },
        repeats=5,
    )
    yield Figure("asynchronous without compiled loops, 50 patterns", took["recall"] / took["product"], 15, "products")


def winner_take_all(patterns=1775, groups=32, size=32, seed=0):
    """One active unit a group; in each cue one of them is moved within its group."""
    rng = np.random.default_rng(seed)
    schema = bnn.Schema(tuple(bnn.Attribute(f"g{i}", tuple(range(size))) for i in range(groups)))
    stored = bnn.Records(rng.integers(0, size, (patterns, groups), dtype=np.int8), schema)
    network = bnn.learn(stored, "probability", dtype=torch.float32)
    cues = bnn.corrupt(stored, flip=1 / groups, seed=rng)
    states = network.encode(cues).astype(np.int8)
    took = medians(
        {
            "product": product(patterns, groups * size),
            "parallel": lambda: bnn.recall(network, states, bnn.WinnerTakeAll(parallel=True), input="prior", seed=0),
            "sequential": lambda: bnn.recall(network, states, bnn.WinnerTakeAll(), input="prior", seed=0),
        },
        repeats=15,
    )
    yield Figure("parallel winner-take-all, 1,775 patterns, 32 x 32", took["parallel"] / took["product"], 1, "products")
    yield Figure("sequential winner-take-all, the same", took["sequential"] / took["product"], None, "products")


def first_recall():
    """A first recall in a new process, loops cached on disk, beyond the imports."""
    code = (
        "import time, numpy as np, bnn, torch, numba, bnn.driver, bnn.learning\n"
        "p = np.random.default_rng(0).integers(0, 2, (10, 200))\n"
        "start = time.perf_counter()\n"
        "bnn.recall(bnn.learn(bnn.Records.from_patterns(p), 'odds'), p, seed=0)\n"
        "print(time.perf_counter() - start)\n"
    )
    seconds = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(6)][1:]
    yield Figure("first learn and recall of a process, loops cached", float(np.median(seconds)), 0.6, "s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    figures = [
        *asynchronous(1000, 50, torch.float32, 3.0, 0.5),
        *asynchronous(1000, 100, torch.float32, 3.5),
        *asynchronous(1000, 50, torch.float64, 4.5),
        *asynchronous(1000, 100, torch.float64, 5.0),
        *winner_take_all(),
        *first_recall(),
    ]
    if not chosen.quick:
        figures += [*asynchronous(5000, 250, torch.float32, 3.5, 10.0), *torch_path()]
    report(figures, chosen.json)


if __name__ == "__main__":
    main()
