"""Learning 1,000 patterns of 5,000 neurons, in products X'X of that size.

    python experiments/benchmarks/learning.py [--json]

About twenty seconds. One product is torch's float32 [5000 x 1000][1000 x 5000].
"""

import argparse

import numpy as np
import torch
from timing import Figure, medians, report

import bnn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    patterns = np.random.default_rng(0).integers(0, 2, (1000, 5000), dtype=np.int8)
    records = bnn.Records.from_patterns(patterns)
    dense = torch.from_numpy(patterns).float()
    took = medians(
        {
            "product": lambda: dense.T @ dense,
            "count": lambda: bnn.Counts.of(records),
            "learn float32": lambda: bnn.learn(bnn.Counts.of(records), "odds", dtype=torch.float32),
            "learn float64": lambda: bnn.learn(bnn.Counts.of(records), "odds", dtype=torch.float64),
        },
        repeats=7,
    )
    one = took["product"]
    figures = [
        Figure("counting", took["count"] / one, 1.0, "products"),
        Figure("counting and the odds rule, float32", took["learn float32"] / one, 1.6, "products"),
        Figure("counting and the odds rule, float64", took["learn float64"] / one, 1.6, "products"),
    ]
    report(figures, chosen.json)


if __name__ == "__main__":
    main()
