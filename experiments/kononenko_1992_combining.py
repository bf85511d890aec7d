"""The naive Bayesian formula combines answers acceptably, yet no better than votes or means, and it is far too sure.

    python experiments/kononenko_1992_combining.py [--quick] [--seed 0] [--out FOLDER]

I. Kononenko and M. Kovacic, Learning as optimization: Stochastic generation of multiple knowledge, Proc. 9th Int. Conf.
on Machine Learning (1992), and I. Kononenko, Combining decisions of multiple rules, in Artificial Intelligence 5,
North-Holland (1992), as [B 3.6] tells: "the naive Bayesian combination of answers of different decision rules is
acceptable and superior to several other combination methods". [B] prints no number.

P(C | answers) is proportional to P(C) times the product of P(C | answer)/P(C) (`bnn.NaiveBayesCombiner`). Beside it, of
the same members: the share of votes, the mean of their probabilities (scikit-learn's VotingClassifier), logistic
regression on held-out probabilities (StackingClassifier), and the formula with P(C | answer) learned from answers to
held-out rows, as stacking does it. Two kinds of members, on four medical domains:

* rules: six decision trees of depth 3, each on a random half of the features "attribute = value"; a row's leaf is the
  one rule that fires, its P(C | rule) the m-estimate of [S eq 2] from the training rows;
* classifiers: naive, semi-naive, tree-augmented Bayes, logistic regression, the rules of one tree of depth 5.

What came out: rules combined beat a single one by 4 to 7 points where there are several classes (lymphography, primary
tumor), and there the formula gets the most bits out of them. Nowhere is it clearly more accurate than votes, means or
stacking; in breast cancer it is worse than the mean of rules by two standard errors. Members that say the same are
counted as often as they say it, so that its log loss is two to four times that of the mean.

Of members that see disjoint attributes, each a naive Bayes, the formula is naive Bayes of all attributes: an identity,
checked once and not compared. Twenty random splits, 70 % training; differences with Nadeau and Bengio's standard error.

Five minutes; with --quick six seconds.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from operator import itemgetter

import numpy as np
from harness import Measured, Result, Table, main
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import bnn
from bnn.classify.references import Categories, logistic_reference
from bnn.csvfile import read_csv
from bnn.errors import BnnWarning
from bnn.plots.style import BLUE, ORANGE, new_figure, styled

NAME = "kononenko_1992_combining"
DOMAINS = ("lymphography", "primary-tumor", "breast-cancer", "hepatitis")
FORMULA = "naive formula"
NAIVE = bnn.NaiveBayesClassifier()


class Leaves(TransformerMixin, BaseEstimator):
    """The leaf of a decision tree, or rule, that each row reaches."""

    def __init__(self, max_depth=3, max_features=0.5, random_state=0):
        self.max_depth = max_depth
        self.max_features = max_features
        self.random_state = random_state

    def fit(self, X, y):
        """Grow the tree on its share of the columns."""
        rng = np.random.default_rng(self.random_state)
        self.columns_ = rng.permutation(X.shape[1])[: max(1, round(self.max_features * X.shape[1]))]
        tree = DecisionTreeClassifier(max_depth=self.max_depth, min_samples_leaf=2, random_state=self.random_state)
        self.tree_ = tree.fit(X[:, self.columns_], y)
        return self

    def transform(self, X):
        """Numbers of the leaves, one column."""
        return self.tree_.apply(X[:, self.columns_])[:, None]


class Votes(VotingClassifier):
    """The share of members that answer each class."""

    def predict_proba(self, X):
        """Shares of votes."""
        return (self.transform(X)[:, :, None] == np.arange(len(self.classes_))).mean(axis=1)


def rules(**options):
    features = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(Categories(), features, Leaves(**options), bnn.NaiveBayesClassifier(discretize="categories"))


MEMBERS = {
    "rules": [(f"rules {k}", rules(random_state=k)) for k in range(6)],
    "classifiers": [
        ("naive", bnn.NaiveBayesClassifier()),
        ("semi-naive", bnn.SemiNaiveBayesClassifier()),
        ("tree", bnn.TreeBayesClassifier()),
        ("logistic", logistic_reference()),
        ("rules", rules(max_depth=5, max_features=1.0)),
    ],
}


def combined(members):
    """The ways to combine these members."""
    return {
        FORMULA: bnn.NaiveBayesCombiner(members),
        "votes": Votes(members),
        "mean": VotingClassifier(members, voting="soft"),
        "stacking": StackingClassifier(members, LogisticRegression(max_iter=2000), cv=3, stack_method="predict_proba"),
        "formula, held-out answers": StackingClassifier(
            members, bnn.NaiveBayesClassifier(), cv=3, stack_method="predict"
        ),
    }


WAYS = tuple(combined(MEMBERS["rules"]))


def table_of(domain):
    """Attributes and labels as arrays."""
    table = read_csv(bnn.datasets.path(domain)).to_pandas()
    return table.drop(columns="class").to_numpy(dtype=object), table["class"].to_numpy()


def run(domain, kind, repeats, splits, seed):
    """By way of combining, and by member alone, [splits, 3]: accuracy in %, information and log loss in bits."""
    X, y = table_of(domain)
    classifiers = combined(MEMBERS[kind]) | dict(MEMBERS[kind])
    found = bnn.compare(classifiers, X, y, repeats=repeats, splits=splits, seed=seed)
    values = np.stack([100 * found.accuracy, found.information, found.log_loss], axis=-1)
    return dict(zip(classifiers, values, strict=True))


def alone(found, kind):
    """The members without combination: each classifier by its name, rules by their mean."""
    names = [name for name, _ in MEMBERS[kind]]
    if kind == "rules":
        return {"one member, mean": np.mean([found[name] for name in names], axis=0)}
    return {f"{name} alone": found[name] for name in names}


def difference(some, formula):
    """Accuracy minus the naive formula's on the same splits; the training rows of splits overlap."""
    plain = Measured.of(some[:, 0] - formula[:, 0])
    return replace(plain, spread=plain.spread * float(np.sqrt(1 + len(some) * 0.3 / 0.7)))


def identity(seed):
    """Largest difference between naive Bayes and the formula on naive Bayes of three parts of the attributes."""
    X, y = table_of("lymphography")
    here, there = np.split(np.random.default_rng(seed).permutation(len(X)), [round(0.7 * len(X))])
    parts = [
        (f"part {k}", make_pipeline(FunctionTransformer(itemgetter((slice(None), slice(k, None, 3)))), NAIVE))
        for k in range(3)
    ]
    apart, whole = (c.fit(X[here], y[here]).predict_proba(X[there]) for c in (bnn.NaiveBayesCombiner(parts), NAIVE))
    return float(abs(apart - whole).max())


def measure(chosen):
    warnings.simplefilter("ignore", BnnWarning)
    warnings.simplefilter("ignore", UserWarning)  # classes of fewer rows than stacking's three parts
    warnings.simplefilter("ignore", RuntimeWarning)
    repeats, splits, domains = (1, 2, DOMAINS[:1]) if chosen.quick else (2, 10, DOMAINS)
    found = {(d, kind): run(d, kind, repeats, splits, chosen.seed) for d in domains for kind in MEMBERS}
    rows = []
    for (domain, kind), values in found.items():
        for way, some in ({way: values[way] for way in WAYS} | alone(values, kind)).items():
            cells = [Measured.of(some[:, k], digits=1 + (k > 0)) for k in range(3)]
            rows.append([domain, kind, way, *cells, difference(some, values[FORMULA]) if way != FORMULA else "-"])
    table = Table(
        "Ways to combine, and members alone",
        ("domain", "members", "way", "accuracy %", "bits", "log loss", "accuracy minus the formula's"),
        rows,
    )
    return Result([table], conclusion(found, identity(chosen.seed)), data=domains, arrays=found)


def conclusion(found, apart):
    """Mean over domains of what the formula gains on votes, averages and stacking; and the identity."""
    told = []
    for kind in MEMBERS:
        gains = [
            f"{way} {np.mean([(v[FORMULA] - v[way])[:, 0].mean() for key, v in found.items() if key[1] == kind]):+.1f}"
            for way in WAYS[1:]
        ]
        told.append(f"of {kind}, against {', '.join(gains)}")
    return (
        f"Accuracy that the formula gains, in points, mean over domains: {'; '.join(told)}. "
        f"Of naive Bayes on three parts of lymphography's attributes it is naive Bayes on all: {apart:.0e} apart."
    )


@styled()
def picture(result):
    """Accuracy and log loss of each way, by members."""
    domains = list(dict.fromkeys(domain for domain, _ in result.arrays))
    figure = new_figure(3.2 * len(domains) + 1.5, 6.5)
    panels = figure.subplots(2, len(domains), sharey=True, squeeze=False)
    for (domain, kind), values in result.arrays.items():
        column, colour = domains.index(domain), (BLUE, ORANGE)[list(MEMBERS).index(kind)]
        for row, k in enumerate((0, 2)):
            means = [values[way][:, k].mean() for way in WAYS]
            errors = [values[way][:, k].std(ddof=1) / np.sqrt(len(values[way])) for way in WAYS]
            at = np.arange(len(WAYS)) + (0.12 if kind == "rules" else -0.12)
            panels[row, column].errorbar(means, at, xerr=errors, fmt="o", color=colour, label=kind)
            panels[row, column].set_xlabel(("answered right (%)", "log loss (bits a row)")[row])
        panels[0, column].set_title(domain)
    for panel in panels[:, 0]:
        panel.set_yticks(range(len(WAYS)), WAYS)
        panel.set_ylim(len(WAYS) - 0.5, -0.5)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture)
