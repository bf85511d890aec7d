"""Naive Bayes on the public domains of [S]: each estimate over random splits, beside the published figures.

    python experiments/kononenko_1993_domains.py [--quick] [--seed 0] [--out results]

100 unstratified splits of 70 % to train, as [S] drew 10 of them; --quick draws 10. Half a minute. Writes
kononenko_1993_domains.json and .png into the folder. Claim: `m`, the papers' own estimate, comes near the published
accuracy of lymphography and primary tumour; ten splits alone move it by several points. The published breast cancer
figure is of other rows (288, 80 % of them of one class), and [S] has none of the votes.
"""

import argparse
import json
import warnings
from pathlib import Path

from matplotlib.figure import Figure

import bnn
from bnn.classify.gains import GAINS
from bnn.errors import ContradictionWarning
from bnn.files import write_atomically
from bnn.plots.style import BLUE, WARNING, new_figure, styled

NAME = "kononenko_1993_domains"
PUBLISHED = {  # accuracy in %, information score in bits; systems of others only accuracy
    "primary-tumor": {
        "naive": (51.0, 1.57), "successive": (51.7, 1.61), "Assistant": (44.0,), "AQ15": (41.0,), "CN2": (46.0,),
    },
    "breast-cancer": {"naive": (79.2, 0.18), "successive": (78.4, 0.16), "CN2": (73.0,), "LogArt": (78.0,)},
    "lymphography": {"naive": (84.2, 0.83), "successive": (83.9, 0.82), "CN2": (82.0,), "LogArt": (84.0,)},
    "house-votes-84": {},
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10 splits instead of 100")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path())
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    classifiers = {estimate: bnn.NaiveBayesClassifier(estimate) for estimate in GAINS}
    found = {}
    for domain in PUBLISHED:
        records = bnn.datasets.load(domain)
        with warnings.catch_warnings():  # relative frequencies exclude all classes of a few rows of most splits
            warnings.simplefilter("ignore", ContradictionWarning)
            found[domain] = bnn.compare(classifiers, records, repeats=1 if chosen.quick else 10, seed=chosen.seed)
        tell(domain, records, found[domain])
    told = {
        "seed": chosen.seed,
        "splits": 10 if chosen.quick else 100,
        "domains": {
            domain: {"published": PUBLISHED[domain], "found": [score_of(score) for score in comparison.scores]}
            for domain, comparison in found.items()
        },
    }
    text, figure = json.dumps(told, indent=1), draw(found)
    write_atomically(chosen.out / f"{NAME}.json", lambda file: file.write_text(text))
    write_atomically(chosen.out / f"{NAME}.png", lambda file: figure.savefig(file, dpi=120))


def score_of(score):
    keys = ("classifier", "accuracy", "accuracy_sd", "information", "information_sd", "log_loss", "log_loss_sd")
    return {key: getattr(score, key) for key in keys}


def tell(domain, records, comparison):
    print(f"{domain}: {records.rows} rows, {len(comparison.classes)} classes, {len(comparison.tested)} splits")
    print("                     accuracy %      bits (standard deviation from split to split)")
    for s in comparison.scores:
        accuracy = f"{100 * s.accuracy:6.1f} ({100 * s.accuracy_sd:3.1f})"
        print(f"  {s.classifier:18} {accuracy} {s.information:9.2f} ({s.information_sd:4.2f})")
    for system, (accuracy, *bits) in PUBLISHED[domain].items():
        print(f"  published {system:10} {accuracy:4.1f}{bits[0] if bits else '':>16}")


@styled()
def draw(found) -> Figure:
    """One line of axes a domain: accuracy and information score of each estimate, beside the published naive Bayes."""
    figure = new_figure(11.0, 2.3 * len(found))
    grid = figure.subplots(len(found), 2, sharey=True)
    for (left, right), (domain, comparison) in zip(grid, found.items(), strict=True):
        names = [s.classifier for s in comparison.scores]
        for ax, place, measure, scale in ((left, 0, "accuracy", 100.0), (right, 1, "information", 1.0)):
            means = [scale * getattr(s, measure) for s in comparison.scores]
            spread = [scale * getattr(s, f"{measure}_sd") for s in comparison.scores]
            ax.errorbar(means, range(len(names)), xerr=spread, fmt="o", color=BLUE, linewidth=1.2)
            if published := PUBLISHED[domain].get("naive"):
                ax.axvline(published[place], color=WARNING, linestyle="--", linewidth=1.4)
        left.set_yticks(range(len(names)), names)
        left.set_ylim(len(names) - 0.4, -0.6)
        left.set_title(domain)
    grid[-1, 0].set_xlabel("accuracy, %")
    grid[-1, 1].set_xlabel("information score, bits a row")
    grid[0, 1].set_title("bars: sd from split to split; dashed: published [S]", loc="right", fontsize=11)
    return figure


if __name__ == "__main__":
    main()
