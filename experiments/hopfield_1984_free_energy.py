"""The energy of graded neurons without its integral term rises; with it, it does not.

    python experiments/hopfield_1984_free_energy.py [--quick] [--seed 0] [--out FOLDER]

J. J. Hopfield, Neurons with graded response have collective computational properties like those of two-state neurons,
Proc. Natl. Acad. Sci. USA 81 (1984) 3088-3092: what falls along tau du/dt = -u + W V + b, V = g(gain u), is

    -1/2 V' W V - b' V  +  1/gain times the sum of the integrals of the inverse of g,

a free energy: energy minus temperature times entropy. I. Kononenko (1994) [eq 27-30] argues with the energy alone.

Many random symmetric networks, each from five random states, by RK4 in steps of 1/20 tau; a rise is one of more than a
millionth of a bit between two steps. For softmax, each attribute a distribution, the integral is the sum of V log2 V;
the two-sided one adds the sum of (1 - V) log2 (1 - V), which belongs to neurons that are each on or off by themselves.
Two minutes; with --quick five seconds.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from harness import Measured, Result, Table, main

import bnn
from bnn.plots.style import BLUE, GREY, INK, WARNING, new_figure, number_axis, styled

NAME = "hopfield_1984_free_energy"
RISE = 1e-6  # bits
STEP, END = 0.05, 10.0  # tau
GAINS = (0.25, 1.0, 4.0)
STARTS = ("from near certainty", "from anywhere")
ROWS = 5


def random_network(kind, rng):
    """Weights of up to 24 neurons with about normal entries; of softmax in attributes of two to four values."""
    layout = None
    if kind == "softmax":
        sizes = rng.integers(2, 5, rng.integers(3, 7))
        attributes = [bnn.Attribute(f"a{i}", tuple(range(size)), "nominal") for i, size in enumerate(sizes.tolist())]
        layout = bnn.Layout(bnn.Schema(tuple(attributes)), "values")
        neurons = layout.neurons
    else:
        neurons = int(rng.integers(4, 25))
    weights = rng.normal(size=(neurons, neurons)) * rng.choice([0.5, 1.0, 2.0])
    weights = (weights + weights.T) / np.sqrt(2)
    np.fill_diagonal(weights, 0.0)
    if layout is not None:
        weights[layout.attribute[:, None] == layout.attribute] = 0.0
    return bnn.Network.of(weights, rng.normal(size=neurons), low=-1 if kind == "tanh" else 0, layout=layout)


def starts(network, kind, where, rng):
    """Probabilities of being on: certain but for a twentieth, or uniform."""
    if where == "from anywhere":
        return rng.random((ROWS, network.neurons))
    if kind != "softmax":
        return rng.choice([0.05, 0.95], (ROWS, network.neurons))
    values = [rng.integers(0, size, ROWS) for size in network.layout.schema.sizes]
    return np.where(np.stack(values, axis=1)[:, network.layout.attribute] == network.layout.value, 0.95, 0.05)


def information(states):
    return states * np.log2(np.maximum(states, 1e-300))


def follow(network, cues, gain, seed):
    """Series of each run: the free energy, the energy alone, and the free energy with the two-sided integral."""
    flow = bnn.GradientFlow(gain=gain, solver="rk4", step=STEP, t_end=END, settle=1e-6)
    trace = bnn.recall(network, cues, flow, seed=seed, record="states", check="raise")
    both = information(trace.history) + information(1.0 - trace.history) if network.low == 0 else 0.0
    return trace, {
        "free energy": trace.lyapunov,
        "energy alone": trace.energy,
        "two-sided integral": trace.energy + np.sum(both, axis=2) / gain if network.low == 0 else None,
    }


def count(series, trace):
    """Of one network: shares of runs and of steps with a rise, in %, the steps taken, and the largest rise."""
    rises = np.diff(series, axis=1)
    taken = np.diff(trace.times, axis=1) > 0
    risen = (rises > RISE) & taken
    return 100 * risen.any(axis=1).mean(), 100 * risen.sum() / taken.sum(), taken.sum(), rises[taken].max()


def measure(chosen):
    """Counts by activation, start and function; and the run whose energy rises most, for the picture."""
    networks = 4 if chosen.quick else 100
    found, example = {}, (0.0, None)
    for kind, where in product(("logistic", "tanh", "softmax"), STARTS):
        for number in range(networks):
            rng = np.random.default_rng([chosen.seed, number, len(kind), STARTS.index(where)])
            network = random_network(kind, rng)
            cues, gain = starts(network, kind, where, rng), float(rng.choice(GAINS))
            trace, functions = follow(network, cues, gain, number)
            for name, series in functions.items():
                if series is not None and (name != "two-sided integral" or kind == "softmax"):
                    found.setdefault((kind, where, name), []).append(count(series, trace))
            whole = np.ptp(trace.lyapunov, axis=1) + 1.0
            net = (trace.energy[:, -1] - trace.energy.min(axis=1)) / whole
            if kind == "logistic" and net.max() > example[0]:
                example = (float(net.max()), (trace, int(net.argmax()), gain))
    rows = []
    for key, counts in found.items():
        runs, steps, taken, largest = np.array(counts).T
        rows.append(
            [
                *key,
                Measured.of(runs),
                Measured.of(steps, digits=2),
                Measured.of(taken, digits=0),
                Measured(max(0.0, *largest), digits=6),
            ]
        )
    table = Table(
        f"Rises of more than a millionth of a bit; {networks} networks, {ROWS * networks} runs",
        ("activation", "start", "function", "runs, %", "steps, %", "steps taken a network", "largest rise, bits"),
        rows,
    )
    return Result([table], arrays={"runs": {tuple(row[:3]): row[3].value for row in rows}, "example": example[1]})


@styled()
def picture(result):
    """A run whose energy rises, and how many do."""
    figure = new_figure(13.0, 4.6)
    left, right = figure.subplots(1, 2)
    trace, row, gain = result.arrays["example"]
    left.plot(trace.times[row], trace.energy[row], color=WARNING, linestyle="--", label="energy alone")
    left.plot(trace.times[row], trace.lyapunov[row], color=INK, linewidth=2.4, label="free energy")
    left.set(xlabel="time (tau)", ylabel="energy, free energy (bits)")
    left.set_title(f"one run: {trace.network.neurons} logistic neurons at gain {gain:g}")
    left.legend()
    number_axis(left.xaxis)
    groups = list(dict.fromkeys(key[:2] for key in result.arrays["runs"]))
    names = ("energy alone", "two-sided integral", "free energy")
    for k, (name, colour) in enumerate(zip(names, (WARNING, GREY, BLUE), strict=True)):
        shares = {i: result.arrays["runs"].get((*group, name)) for i, group in enumerate(groups)}
        mine = {i: share for i, share in shares.items() if share is not None}
        bars = right.barh([i + 0.27 * (k - 1) for i in mine], list(mine.values()), 0.25, color=colour, label=name)
        right.bar_label(bars, [f" {share:.0f}" if share in (0, 100) else f" {share:.1f}" for share in mine.values()])
    right.set_yticks(range(len(groups)), [f"{kind}\n{where}" for kind, where in groups], fontsize=10)
    right.invert_yaxis()
    right.set(xlabel="share of runs in which it rises (%)", xlim=(0, 112))
    right.legend(loc="upper right")
    return figure


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture)
