"""Speed of the semi-naive classifier, as ratios of medians measured by turns in one process.

One pass is one `numpy.bincount` per column of 100,000 rows x 50 attributes x 5 values, each column contiguous, int8.
The data are pure noise. With two classes about 2,400 of 30,625 pairs of values are joined by chance, and 57,000
triples; with more classes fewer. Run with

    python experiments/benchmarks/joins.py [--json] [--repeats 9]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from timing import Figure, medians, report

from bnn import SemiNaiveBayesClassifier

ROWS, ATTRIBUTES, VALUES = 100_000, 50, 5


def fits(classes: int, repeats: int) -> Iterator[Figure]:
    """The whole estimator: pairs only, and joins of three."""
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, VALUES, (ROWS, ATTRIBUTES)).astype(np.int8))
    y = rng.integers(0, classes, ROWS)
    runs = {
        "pass": lambda: [np.bincount(codes[:, a], minlength=VALUES) for a in range(ATTRIBUTES)],
        "first scan, all pairs": lambda: SemiNaiveBayesClassifier(max_order=2).fit(codes, y),
        "whole fit, max_order=3": lambda: SemiNaiveBayesClassifier().fit(codes, y),
    }
    times = medians(runs, repeats)
    for name, target in (("first scan, all pairs", 10), ("whole fit, max_order=3", 30)):
        yield Figure(f"{name}, {classes} classes", times[name] / times["pass"], target, "passes")
    fitted = runs["whole fit, max_order=3"]()
    seconds = medians({"predict": lambda: fitted.predict_proba(codes[:1000])}, 1)["predict"]
    yield Figure(f"predict_proba of 1,000 rows, {classes} classes", 1000 * seconds, None, "ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=9, help="runs whose median is taken, by turns")
    options = parser.parse_args()
    report([f for classes in (2, 3, 5) for f in fits(classes, options.repeats)], options.json)


if __name__ == "__main__":
    main()
