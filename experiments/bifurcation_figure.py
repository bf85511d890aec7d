"""From one blurred state to the memories: with the gain rising, flows end where asynchronous recall does.

    python experiments/bifurcation_figure.py [--quick] [--seed 0] [--out FOLDER]

J. J. Hopfield, Neurons with graded response have collective computational properties like those of two-state neurons,
Proc. Natl. Acad. Sci. USA 81 (1984) 3088-3092: at a high gain the stable states of the continuous network are those of
the discrete one; as the gain falls they meet and vanish, until a single one is left. I. Kononenko (1994), 2.3, says the
same of the Bayesian network.

The picture: every stable state found of a network that knows four handwritten digits. The table: how often a flow (of
at most 500 steps) ends in the very state, in every neuron, in which asynchronous recall of the same noisy cue ends;
beside it, how often asynchronous recall in another order does. Three minutes; with --quick six seconds.
"""

from __future__ import annotations

import numpy as np
from harness import Measured, Result, Table, main

import bnn

NAME = "bifurcation_figure"
RULES = ("odds", "probability", "hopfield")
GAINS = (0.1, 1.0, 10.0, 100.0)
SOLVERS = ("dopri5", "descent")


def digits(_seed):
    return bnn.datasets.load("mnist-100")[::10]


def random_patterns(number, activity):
    return lambda seed: bnn.Records.from_patterns(np.random.default_rng(seed).random((number, 300)) < activity)


DATA = {
    "10 digits, 784 pixels": digits,
    "15 random of 300, half on": random_patterns(15, 0.5),
    "45 random of 300, half on": random_patterns(45, 0.5),
    "45 random of 300, a fifth on": random_patterns(45, 0.2),
}


def agreement(make, rule, seed, gains):
    """Shares of cues, in %, that end as in asynchronous recall: in another order, and in flows by solver and gain."""
    patterns = make(seed)
    network = bnn.learn(patterns, rule)
    cues = bnn.corrupt(patterns, flip=0.1, seed=seed)
    answer = bnn.recall(network, cues, seed=seed).states
    ends = [bnn.recall(network, cues, seed=seed + 1000).states]
    for solver in SOLVERS:
        for gain in gains:
            flow = bnn.GradientFlow(gain=gain, solver=solver)
            ends.append(bnn.recall(network, cues, flow, seed=seed, max_sweeps=500).discrete)
    return [100 * (end == answer).all(axis=1).mean() for end in ends]


def measure(chosen):
    memory = bnn.datasets.load("mnist-100")[[0, 10, 40, 70]]
    number, seeds, gains = (5, 2, GAINS[1:3]) if chosen.quick else (31, 10, GAINS)
    axis = np.geomspace(0.002, 0.2, number)
    found = bnn.bifurcation(bnn.learn(memory, "odds"), axis, memory)
    stable = [[f"{gain:.4f}", int((found.at == k).sum())] for k, gain in enumerate(axis)]
    data = list(DATA.items())[1:2] if chosen.quick else DATA.items()
    rows = []
    for name, make in data:
        for rule in RULES:
            shares = np.array([agreement(make, rule, chosen.seed + k, gains) for k in range(seeds)])
            rows.append([name, rule, *(Measured.of(some, digits=0) for some in shares.T)])
    columns = [f"{solver}, gain {gain:g}" for solver in SOLVERS for gain in gains]
    return Result(
        [
            Table("Stable states found of the network of four digits", ("gain", "states"), stable),
            Table(
                "Cues (10 % of the neurons flipped) that end as in asynchronous recall, in %",
                ("patterns", "rule", "another order", *columns),
                rows,
            ),
        ],
        data=("mnist-100",),
        arrays={"found": found, "memory": memory},
    )


def picture(result):
    return bnn.plots.bifurcation(result.arrays["found"], result.arrays["memory"])


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture)
