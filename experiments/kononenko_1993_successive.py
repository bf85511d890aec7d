"""Learning again what was answered wrongly finds parities that naive Bayes cannot, in one of three readings.

    python experiments/kononenko_1993_successive.py [--quick] [--seed 0] [--out FOLDER]

I. Kononenko, Successive Naive Bayesian Classifier, Informatica 17 (1993) 167-174 [S], sections 3 and 4. The artificial
domain is described in words: 200 rows, two attributes whose parity is the class, five random and five "slightly
informative" binary attributes, 5 % of the class labels wrong; ten random splits, 70 % to train. Printed: naive Bayes
61.8 % and 0.24 bits, successive 78.3 % and 0.57. How often the parity attributes are 1 and how informative the five are
is not printed: P(1) is swept from 0.3 to 0.5, the five being right in 55 to 57 % of the rows; then these shares are, at
P(1) = 0.4. One printed figure is the mean of ten splits of one such set of rows: ours are such means, of 20 sets.

[S] leaves open which rows are "correctly classified" and so get the class C0: those whose original class this round's
function answers ("original"), those whose label of this round, C0 among them, it answers ("label"), or those whose
original class all functions so far answer together ("cascade"). Figures 2 and 3 of [S] are the first table: what is
right of all cells of a parity, where one row is repeated to break the symmetry, and where rows are drawn.
Beside them the semi-naive classifier (section 2.5 of Kononenko 1994), which joins values that belong together.

Three minutes; with --quick five seconds.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np
from harness import Measured, Result, Table, main

import bnn
from bnn.errors import BnnWarning
from bnn.plots.style import BLUE, GREEN, INK, PURPLE, SKY, WARNING, new_figure, styled

NAME = "kononenko_1993_successive"
NAIVE, SEMI = "naive Bayes", "semi-naive Bayes"
READINGS = ("original", "label", "cascade")
CLASSIFIERS = {
    NAIVE: bnn.NaiveBayesClassifier(),
    **{f"successive, {reading}": bnn.SuccessiveBayesClassifier(reading=reading) for reading in READINGS},
    SEMI: bnn.SemiNaiveBayesClassifier(),
}
COLOURS = dict(zip(CLASSIFIERS, (INK, BLUE, SKY, GREEN, PURPLE), strict=True))
SHARES = (0.3, 0.35, 0.4, 0.45, 0.5)
INFORMATIVE = ((0.5, 0.5), (0.55, 0.57), (0.6, 0.6), (0.65, 0.65))
PRINTED = ((61.8, 0.24), (78.3, 0.57))  # [S table 4]: accuracy and bits of naive and of successive Bayes
WHY = "P(1) and the strength of the informative attributes are not printed"
PARITIES = {  # values of each attribute
    "XOR": (2, 2),
    "parity of 3": (2, 2, 2),
    "parity of 4": (2, 2, 2, 2),
    "sum of 2 modulo 3 (figure 3)": (3, 3),
    "sum of 3 modulo 3": (3, 3, 3),
}


def artificial(seed, share, right, rows=200):
    """The artificial domain: parity of two attributes that are 1 in so great a share, five random, five informative."""
    rng = np.random.default_rng(seed)
    pair = rng.random((rows, 2)) < share
    parity = pair[:, :1] ^ pair[:, 1:]
    random = rng.random((rows, 5)) < 0.5
    informative = parity ^ (rng.random((rows, 5)) >= rng.uniform(*right, 5))
    answers = parity[:, 0] ^ (rng.random(rows) < 0.05)
    columns = np.hstack([pair, random, informative]).astype(np.int64)
    table = {f"x{a}": columns[:, a] for a in range(12)} | {"class": answers.astype(np.int64)}
    return bnn.Records.from_table(table, target="class")


def means(share, right, sets, splits, seed):
    """[sets, classifiers, 2]: accuracy in % and bits of the splits of each set."""
    found = np.empty((sets, len(CLASSIFIERS), 2))
    for k in range(sets):
        records = artificial([seed, k, round(100 * share)], share, right)
        compared = bnn.compare(CLASSIFIERS, records, repeats=1, splits=splits, seed=seed)
        found[k] = np.stack([100 * compared.accuracy.mean(axis=1), compared.information.mean(axis=1)], axis=1)
    return found


def row_of(label, found, c, classifier):
    """Accuracy and bits of one classifier; the paper's are the means of one set."""
    printed = {} if classifier == SEMI else {"printed_number": 1, "why": WHY}
    return [
        label,
        classifier,
        *(
            Measured.of(found[:, c, k], digits=1 + k, **printed, printed=PRINTED[c > 0][k] if printed else None)
            for k in range(2)
        ),
    ]


def parities(draws, seed):
    """Cells answered right, in %: each cell once and one of them twice, in all ways; then 20 rows a cell drawn."""
    for name, sizes in PARITIES.items():
        X = np.array(list(itertools.product(*map(range, sizes))))
        y = X.sum(axis=1) % sizes[0]
        rng = np.random.default_rng([seed, len(X)])
        repeated = [np.r_[: len(X), again] for again in range(min(len(X), draws))]
        drawn = [rng.integers(0, len(X), 20 * len(X)) for _ in range(draws)]
        for how, choices in (("one row twice", repeated), ("20 a cell, drawn", drawn)):
            right = np.array([[c.fit(X[rows], y[rows]).score(X, y) for c in CLASSIFIERS.values()] for rows in choices])
            yield [name, how, *(Measured.of(100 * some, digits=0) for some in right.T)]


def measure(chosen):
    warnings.simplefilter("ignore", BnnWarning)
    sets, splits, draws = (2, 3, 2) if chosen.quick else (20, 10, 60)
    by_share = {f"{p:g}": means(p, (0.55, 0.57), sets, splits, chosen.seed) for p in SHARES}
    by_right = {f"{low:g} to {high:g}": means(0.4, (low, high), sets, splits, chosen.seed) for low, high in INFORMATIVE}
    cells = list(parities(draws, chosen.seed))
    cells = Table("Cells of a parity answered right, in %", ("parity", "rows", *CLASSIFIERS), cells)
    domains = [
        Table(
            title,
            (title.rpartition(" by ")[2], "classifier", "accuracy %", "bits"),
            [row_of(label, found, c, name) for label, found in some.items() for c, name in enumerate(CLASSIFIERS)],
        )
        for title, some in (
            ("Artificial domain by P(1) of the parity attributes", by_share),
            ("Artificial domain at P(1) = 0.4 by share in which the informative attributes are right", by_right),
        )
    ]
    return Result([cells, *domains], settings={"sets": sets, "splits": splits}, arrays={"by share": by_share})


@styled()
def picture(result):
    """Accuracy and bits over P(1); lines at the printed figures."""
    figure = new_figure(13.0, 5.2)
    panels = figure.subplots(1, 2)
    found = np.stack(list(result.arrays["by share"].values()))
    for k, (panel, label) in enumerate(zip(panels, ("answered right (%)", "information (bits a row)"), strict=True)):
        for c, (name, colour) in enumerate(COLOURS.items()):
            middle, spread = found[:, :, c, k].mean(axis=1), found[:, :, c, k].std(axis=1)
            line = "--" if name.endswith("cascade") else "-"  # it lies on the reading before it
            panel.plot(SHARES, middle, color=colour, marker="o", linestyle=line, label=name)
            panel.fill_between(SHARES, middle - spread, middle + spread, color=colour, alpha=0.12, linewidth=0)
        for figures, name, line in zip(PRINTED, ("naive", "successive"), (":", "--"), strict=True):
            panel.axhline(figures[k], color=WARNING, linestyle=line, label=f"{name}, printed")
        panel.set(xlabel="P(1) of the two parity attributes", ylabel=label, xticks=SHARES)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture)
