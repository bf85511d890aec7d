"""Of ten handwritten digits with a tenth of their pixels flipped the odds network recalls all, Hopfield's none.

    python experiments/recall_figure.py [--quick] [--seed 0] [--out FOLDER]

The README's picture: the first of each digit of MNIST, 28 x 28 pixels on or off, learned by three rules; energies fall
while they are recalled. I. Kononenko, On Bayesian Neural Networks, Informatica 18 (1994) 183-195, section 3.4, hopes
that the Bayesian network is the better memory and leaves it open; `capacity_study.py` looks further. A few seconds.
"""

from __future__ import annotations

from harness import Result, Table, main

import bnn

NAME = "recall_figure"


def measure(chosen):
    digits = bnn.datasets.load("mnist-100")[::10]
    cues = bnn.corrupt(digits, flip=0.1, seed=chosen.seed)
    traces = {
        rule: bnn.recall(bnn.learn(digits, rule), cues, seed=chosen.seed, record="flips", check="raise")
        for rule in ("odds", "probability", "hopfield")
    }
    right = {rule: int((trace.states == digits.codes).all(axis=1).sum()) for rule, trace in traces.items()}
    table = Table("Of ten digits recalled in every pixel", ("rule", "digits"), [list(pair) for pair in right.items()])
    return Result([table], data=("mnist-100",), arrays={"traces": traces, "digits": digits})


def picture(result):
    return bnn.plots.comparison(result.arrays["traces"], result.arrays["digits"])


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture)
