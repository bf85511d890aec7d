"""Speed of the naive Bayes classifier, as ratios of medians measured by turns in one process.

One pass is one `numpy.bincount` of class x value per column of 1,000,000 rows x 20 attributes x 10 values, 5 classes,
each column contiguous: the least that any counting within classes costs. scikit-learn's CategoricalNB is the other
measure. Run with

    python experiments/benchmarks/classify.py [--json] [--repeats 9]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.naive_bayes import CategoricalNB
from timing import Figure, medians, peak_bytes, report

from bnn import NaiveBayesClassifier

ROWS, ATTRIBUTES, VALUES, CLASSES = 1_000_000, 20, 10, 5


def fits(repeats: int) -> Iterator[Figure]:
    """The whole estimator, from codes and from a frame, labels of every kind."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, VALUES, (ROWS, ATTRIBUTES)).astype(np.uint8)
    columns = np.asfortranarray(codes)
    whole = rng.integers(0, CLASSES, ROWS)
    names = [f"class {c}" for c in range(CLASSES)]
    texts = np.array(names)[whole]
    objects, series = texts.astype(object), pd.Series(texts)
    category = pd.Series(pd.Categorical.from_codes(whole, names))
    labels = [f"value {v}" for v in range(VALUES)]
    frame = pd.DataFrame(
        {f"x{a}": pd.Categorical.from_codes(codes[:, a].astype(np.int8), labels) for a in range(ATTRIBUTES)}
    )
    runs = {
        "pass": lambda: [
            np.bincount(whole * VALUES + columns[:, a], minlength=VALUES * CLASSES) for a in range(ATTRIBUTES)
        ],
        "fit of uint8 codes, integer labels": lambda: NaiveBayesClassifier().fit(codes, whole),
        "the same, columns contiguous": lambda: NaiveBayesClassifier().fit(columns, whole),
        "category labels": lambda: NaiveBayesClassifier().fit(codes, category),
        "string labels": lambda: NaiveBayesClassifier().fit(codes, texts),
        "string labels, Python objects": lambda: NaiveBayesClassifier().fit(codes, objects),
        "frame of categories, category labels": lambda: NaiveBayesClassifier().fit(frame, category),
        "frame of categories, string labels": lambda: NaiveBayesClassifier().fit(frame, series),
    }
    targets = dict(zip(runs, (None, 0.8, 0.8, 0.8, 2.5, None, 1.2, 3.0), strict=True))
    times = medians(runs, repeats)
    for name in list(runs)[1:]:
        yield Figure(name, times[name] / times["pass"], targets[name], "passes")
    sklearn = medians({"fit": lambda: CategoricalNB().fit(codes, whole)}, 1)["fit"]
    yield Figure("scikit-learn's fit", sklearn / times["pass"], None, "passes")
    yield Figure("extra memory", peak_bytes(runs["fit of uint8 codes, integer labels"]) / 1e6, 30, "MB")


def predictions(repeats: int) -> Iterator[Figure]:
    """Many rows, one row, and each row left out."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, VALUES, (ROWS, ATTRIBUTES)).astype(np.uint8)
    y = rng.integers(0, CLASSES, ROWS)
    gaps = codes.astype(np.float32)
    gaps[rng.random(codes.shape) < 0.1] = np.nan
    ours, theirs = NaiveBayesClassifier().fit(codes, y), CategoricalNB().fit(codes[:100_000], y[:100_000])
    runs = {
        "theirs": lambda: theirs.predict_proba(codes),
        "predict_proba": lambda: ours.predict_proba(codes),
        "predict_proba, 10 % missing": lambda: ours.predict_proba(gaps),
    }
    times = medians(runs, max(3, repeats // 3))
    for name in list(runs)[1:]:
        yield Figure(name, times[name] / times["theirs"], 1 / 8, "of CategoricalNB's")

    one, frame = codes[:1], pd.DataFrame(codes[:1000]).astype(str).add_prefix("x")
    of_frame = NaiveBayesClassifier().fit(frame, y[:1000])
    row = frame[:1]
    times = medians(
        {
            "theirs": lambda: [theirs.predict_proba(one) for _ in range(100)],
            "ours": lambda: [ours.predict_proba(one) for _ in range(100)],
            "pandas": lambda: [of_frame.predict_proba(row) for _ in range(100)],
        },
        repeats,
    )
    yield Figure("one numpy row", times["ours"] / times["theirs"], 0.8, "of CategoricalNB's")
    yield Figure("one pandas row of 20 columns", times["pandas"] * 10, 3, "ms")

    some, labels = codes[:100_000], y[:100_000]
    classifier = NaiveBayesClassifier().fit(some, labels)
    times = medians(
        {
            "predict": lambda: classifier.predict_proba(some),
            "leave": lambda: classifier.leave_one_out_proba(some, labels),
        },
        repeats,
    )
    yield Figure("leave-one-out of 100,000 rows", times["leave"] / times["predict"], 2, "predict_proba")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=9, help="runs whose median is taken, by turns")
    options = parser.parse_args()
    report([*fits(options.repeats), *predictions(options.repeats)], options.json)


if __name__ == "__main__":
    main()
