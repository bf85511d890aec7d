"""From one blurred state to the memories: stable states of the odds network against gain, and how they are recalled.

    python experiments/bifurcation_figure.py [--out docs/bifurcation.png] [--seed 0] [--quick]

J. J. Hopfield, Neurons with graded response have collective computational properties like those of two-state neurons,
Proc. Natl. Acad. Sci. USA 81 (1984) 3088-3092: at a high gain the stable states of the continuous network are those of
the discrete one; as the gain falls they meet and vanish, until a single one is left. I. Kononenko (1994), 2.3, says the
same of the Bayesian network.

The picture: every stable state found of a network that knows four handwritten digits. The table: how often a flow (of
at most 500 steps) ends in the very state, in every neuron, in which asynchronous recall of the same noisy cue ends;
beside it, how often asynchronous recall in another order does. Five minutes; with --quick one.
"""

import argparse

import numpy as np

import bnn

RULES = ("odds", "probability", "hopfield")
GAINS = (0.1, 1.0, 10.0, 100.0)


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


def agreement(make, rule, seeds):
    """Shares of cues that end as in asynchronous recall: in another order, and in flows by solver and gain."""
    equal = {("another order", None): []}
    for seed in seeds:
        patterns = make(seed)
        network = bnn.learn(patterns, rule)
        cues = bnn.corrupt(patterns, flip=0.1, seed=seed)
        answer = bnn.recall(network, cues, seed=seed).states
        other = bnn.recall(network, cues, seed=seed + 1000).states
        equal["another order", None].append((other == answer).all(axis=1).mean())
        for solver in ("dopri5", "descent"):
            for gain in GAINS:
                flow = bnn.recall(network, cues, bnn.GradientFlow(gain=gain, solver=solver), seed=seed, max_sweeps=500)
                same = (flow.discrete == answer).all(axis=1).mean()
                equal.setdefault((solver, gain), []).append(same)
    return {key: float(np.mean(shares)) for key, shares in equal.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="docs/bifurcation.png")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="fewer gains and seeds")
    chosen = parser.parse_args()
    memory = bnn.datasets.load("mnist-100")[[0, 10, 40, 70]]
    gains = np.geomspace(0.002, 0.2, 13 if chosen.quick else 31)
    found = bnn.bifurcation(bnn.learn(memory, "odds"), gains, memory)
    bnn.plots.bifurcation(found, memory).savefig(chosen.out, dpi=110)
    for k in np.flatnonzero(np.diff(np.bincount(found.at), prepend=0)):
        print(f"{int((found.at == k).sum())} stable states from gain {gains[k]:.4f} on")

    seeds = range(chosen.seed, chosen.seed + (2 if chosen.quick else 20))
    print(f"\nshare of cues (10 % of the neurons flipped, {len(seeds)} seeds) that end as in asynchronous recall, in %")
    print(f"{'':40s} another  flow (dopri5) at gain  descent at gain")
    print(f"{'patterns':28s} {'rule':11s} {'order':>6s} " + " ".join(2 * ["".join(f"{gain:>6g}" for gain in GAINS)]))
    for name, make in DATA.items():
        for rule in RULES:
            shares = [round(100 * share) for share in agreement(make, rule, seeds).values()]
            told = [f"{share:6d}" for share in shares]
            line = (
                f"{name if rule == RULES[0] else '':28s} {rule:11s} {told[0]} {''.join(told[1:5])} {''.join(told[5:])}"
            )
            print(line, flush=True)


if __name__ == "__main__":
    main()
