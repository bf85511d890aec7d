"""The delta rule on top of naive Bayes learns the training rows and forgets what is true of others.

    python experiments/kononenko_1993_delta_rule.py [--out FOLDER] [--seed 0] [--splits 30] [--rounds 200] [--quick]

I. Kononenko, Successive Naive Bayesian Classifier, Informatica 17 (1993) 167-174, section 2: give the rows that naive
Bayes answers wrong once more, again and again. "The performance on training data increased (in lymphography it even
reached 100 % classification accuracy), but the performance on test data of the classifier drastically decreased. This
suggests that the decision function given by the original probability distribution is optimal among linear
discrimination functions." It prints no other number.

Random splits, 70 % training, m = 2. After each round: share of the training and of the test rows answered right, and
the information score of the test answers. Five minutes; with --quick twenty seconds.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np

import bnn
from bnn.classify.class_counts import split
from bnn.classify.head import delta_rule
from bnn.errors import BnnWarning
from bnn.plots.style import BLUE, INK, ORANGE, new_figure, styled

NAME = "kononenko_1993_delta_rule"
DOMAINS = ("lymphography", "primary-tumor", "breast-cancer")
PAPER = {"lymphography": "training accuracy 100 %", "primary-tumor": "-", "breast-cancer": "-"}
TRAIN = 0.7
COLUMNS = ("training accuracy", "test accuracy", "test information")


def measure(name, splits, rounds, seed):
    """[splits, rounds + 1, 3]: the columns after each round; once all rows are answered right nothing changes."""
    records, target, codes = split(bnn.datasets.load(name))
    labels, classes = np.array(target.values)[codes], np.array(target.values)
    found = np.empty((splits, rounds + 1, len(COLUMNS)))
    for s in range(splits):
        order = np.random.default_rng([seed, s]).permutation(records.rows)
        here, there = np.split(order, [round(TRAIN * records.rows)])
        prior = bnn.metrics.laplace_prior(labels[here], classes)
        classifier = bnn.NaiveBayesClassifier().fit(records[here], labels[here])
        for number in range(rounds + 1):
            right = delta_rule(classifier, records[here], labels[here], rounds=0)[0]
            answers = np.zeros((len(there), len(classes)))
            answers[:, np.searchsorted(classes, classifier.classes_)] = classifier.predict_proba(records[there])
            bits = bnn.metrics.information_score(labels[there], answers, prior, classes)
            found[s, number] = right, (classes[answers.argmax(axis=1)] == labels[there]).mean(), bits
            if right == 1.0:
                found[s, number + 1 :] = found[s, number]
                break
            delta_rule(classifier, records[here], labels[here], rounds=1)
    return found


def summary(found):
    """Before, at the best training accuracy of each split, and after the last round: means; and the paired change."""
    rows = np.arange(len(found))
    best = found[rows, found[:, :, 0].argmax(axis=1)]
    change = best - found[:, 0]
    return {
        "before": dict(zip(COLUMNS, found[:, 0].mean(axis=0).tolist(), strict=True)),
        "at the best training accuracy": dict(zip(COLUMNS, best.mean(axis=0).tolist(), strict=True)),
        "after the last round": dict(zip(COLUMNS, found[:, -1].mean(axis=0).tolist(), strict=True)),
        "splits that reach 100 % on training rows": int((found[:, :, 0].max(axis=1) == 1.0).sum()),
        "splits": len(found),
        "change of test accuracy": float(change[:, 1].mean()),
        "its standard deviation over splits": float(change[:, 1].std(ddof=1)),
    }


@styled()
def picture(results):
    figure = new_figure(13.0, 4.4)
    panels = figure.subplots(1, len(results), sharey=True)
    for panel, (name, found) in zip(panels, results.items(), strict=True):
        rounds = np.arange(found.shape[1])
        for column, colour in ((0, ORANGE), (1, BLUE)):
            series = 100 * found[:, :, column]
            middle, spread = series.mean(axis=0), series.std(axis=0)
            panel.plot(rounds, middle, color=colour, label=COLUMNS[column].replace(" accuracy", " rows"))
            panel.fill_between(rounds, middle - spread, middle + spread, color=colour, alpha=0.15, linewidth=0)
        panel.axhline(
            100 * found[:, 0, 1].mean(), color=INK, linestyle=":", linewidth=1.2, label="test rows, as counted"
        )
        panel.set_title(name)
        panel.set_xlabel("rounds of the delta rule")
        panel.set_xscale("symlog", linthresh=1)
        panel.set_xlim(0, rounds[-1])
        ticks = [tick for tick in (0, 1, 3, 10, 30, 100) if tick <= rounds[-1]]
        panel.set_xticks(ticks, map(str, ticks))
        panel.minorticks_off()
    panels[0].set_ylabel("answered right (%)")
    panels[-1].legend(loc="upper left")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for the JSON and the picture")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="4 splits, 30 rounds")
    chosen = parser.parse_args()
    splits, rounds = (4, 30) if chosen.quick else (chosen.splits, chosen.rounds)
    warnings.simplefilter("ignore", BnnWarning)
    results = {name: measure(name, splits, rounds, chosen.seed) for name in DOMAINS}
    told = {name: summary(found) for name, found in results.items()}
    print(f"{splits} splits; accuracy in %, information in bits; [S 2] beside")
    print(f"{'':16s}{'training':>20s} {'test':>20s} {'information':>20s}  change of test   100 % on    [S 2]")
    print(f"{'':16s}" + 3 * f"{'before':>10s} {'best':>9s} " + "  accuracy        training")
    for name, told_of in told.items():
        before, best = told_of["before"], told_of["at the best training accuracy"]
        numbers = [
            f"{f * before[c]:10.{d}f} {f * best[c]:9.{d}f} "
            for c, f, d in zip(COLUMNS, (100, 100, 1), (1, 1, 2), strict=True)
        ]
        change, spread = told_of["change of test accuracy"], told_of["its standard deviation over splits"]
        reached = f"{told_of['splits that reach 100 % on training rows']} of {splits}"
        print(
            f"{name:16s}{''.join(numbers)}  {100 * change:+5.1f} (sd {100 * spread:3.1f})  {reached:10s} {PAPER[name]}"
        )
    if chosen.out:
        chosen.out.mkdir(parents=True, exist_ok=True)
        curves = {name: found.mean(axis=0).round(5).T.tolist() for name, found in results.items()}
        curves = {name: dict(zip(COLUMNS, columns, strict=True)) for name, columns in curves.items()}
        report = {"seed": chosen.seed, "rounds": rounds, "paper": PAPER, "domains": told, "by round": curves}
        (chosen.out / f"{NAME}.json").write_text(json.dumps(report) + "\n")
        picture(results).savefig(chosen.out / f"{NAME}.png", dpi=110)


if __name__ == "__main__":
    main()
