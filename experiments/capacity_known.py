"""Known capacities: each constant of the literature under its own criterion, and a table measured elsewhere.

    python experiments/capacity_known.py [--quick] [--seed 0] [--out experiments/results]

Claims, each with its own criterion and cue. Hopfield's rule holds 0.138 N patterns with some 1.6 % of the neurons
wrong, from clean cues, N to infinity [Amit, Gutfreund, Sompolinsky, Annals of Physics 173 (1987) 30-67]; N/(2 ln N)
where a given pattern is to be without any error, N/(4 ln N) where all are [McEliece et al., IEEE Trans. Information
Theory 33 (1987) 461-482], from clean cues in one step. Pseudo-inverse holds N linearly independent patterns, with
basins that vanish there [Personnaz, Guyon, Dreyfus, Physical Review A 34 (1986) 4217-4228]. Willshaw's rule stores at
most ln 2 = 0.69 bits a synapse between two patterns, half of it within one, where both directions are counted [Palm,
Biological Cybernetics 36 (1980) 19-31].

The second table repeats, under parallel winners of at most 15 steps and one active unit of each cue moved, what an
independent implementation of the rules of Lansner, Knoblauch, Ravichandran and Herman (arXiv 2605.01074, 2026) found
(2 to 4 seeds, bisections spread by 3 %). Willshaw's figure depends on how ties are broken: here a tie keeps its value.

Six minutes on one core; with --quick some seconds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import numpy as np
from harness import Measured, Result, Table, main
from matplotlib.figure import Figure

import bnn
from bnn.plots.style import BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, new_figure, styled
from bnn.study import Capacity, Criterion, Dense, KActive, Learner, Modular, Noise, Question, evaluate

NAME = "capacity_known"
ELSEWHERE = {  # 400 neurons modular, k active; 1,024 modular, k active
    "hebb": (138, 106, 557, 396),
    "covariance": (269, 211, 1078, 789),
    "presynaptic-covariance": (299, 231, 1112, 825),
    "willshaw": (363, 267, 1272, 992),
    "bcpnn": (502, 429, 1806, 1490),
}
TIES = "ties: here a tie keeps the present value"
BASIN = {
    "dense": ("hopfield", "odds", "storkey", "pseudo-inverse"),
    "modular": ("covariance", "willshaw", "bcpnn", "probability"),
}


def constants(quick: bool, seeds: range) -> Table:
    """Each constant, at growing numbers of neurons."""
    sizes = (50, 100) if quick else (200, 400, 800)
    rows = []
    for n in sizes:
        clean = {"noise": Noise(), "seeds": seeds, "cues": 400}
        agree = bnn.capacity("hopfield", Dense(n), criterion=Criterion("wrong", 0.016), **clean)
        rows.append(line("Hopfield, 1.6 % wrong, clean cue", n, agree, 0.138, "finite N"))
        for share, factor, told in ((0.9, 2, "a given pattern"), (1.0, 4, "all patterns")):
            step = {"dynamics": bnn.Synchronous(), "max_sweeps": 1}
            exact = bnn.capacity("hopfield", Dense(n), criterion=Criterion("exact", share), **step, **clean)
            claim = f"Hopfield, {told} without error, one step"
            rows.append(line(claim, n, exact, 1 / (factor * math.log(n)), "finite N"))
        near = bnn.capacity("pseudo-inverse", Dense(n), **(clean | {"noise": Noise(flips=1)}), most=2 * n)
        rows.append(line("pseudo-inverse, one neuron flipped", n, near, 1.0, "the basin vanishes before N"))
    return Table(
        "Patterns a neuron, under each constant's own criterion",
        ["claim", "patterns a neuron", "verdict"],
        rows,
    )


def line(claim: str, neurons: int, found: Capacity, constant: float, why: str) -> list:
    cell = Measured.of(
        found.values, scale=1 / neurons, printed=round(constant, 3), printed_number=10**9, why=why, digits=3
    )
    return [f"{claim}, {neurons} neurons", cell, cell.verdict]


def bits(quick: bool, seeds: range) -> Table:
    """Willshaw's bits a synapse, k = log2 N active."""
    rows = []
    for n in (128,) if quick else (256, 512, 1024, 2048):
        k = round(math.log2(n))
        found = bnn.capacity("willshaw", KActive(n, k), noise=Noise(), seeds=seeds, precision=0.02, most=32 * n)
        erased = bnn.capacity(
            "willshaw",
            KActive(n, k),
            noise=Noise(moves=1),
            seeds=seeds,
            precision=0.02,
            most=32 * n,
        )
        rows.append([n, k, found.patterns, f"{found.bits_per_parameter:.3f}", f"{erased.bits_per_parameter:.3f}"])
    return Table(
        "Willshaw, k = log2 N: bits a weight, each pair counted once (retrieved at most ln 2 = 0.69 for N to infinity; "
        "a clean cue asks for stability alone, which is no retrieval)",
        ["neurons", "active", "patterns, clean cue", "bits, clean cue", "bits, one unit moved"],
        rows,
    )


def elsewhere(quick: bool, seeds: range) -> Table:
    """The table measured by others, ours beside it."""
    families = (Modular(20, 20), KActive(400, 20), Modular(32, 32), KActive(1024, 32))[: 1 if quick else 4]
    rows = []
    for rule in ("bcpnn",) if quick else ELSEWHERE:
        cells = []
        for family, printed in zip(families, ELSEWHERE[rule], strict=False):
            found = bnn.capacity(rule, family, noise=Noise(moves=1), seeds=seeds)
            values = np.array(found.values, dtype=np.float64)
            spread = max(float(values.std(ddof=1)), 0.03 * printed)  # from bisection to bisection, as stated
            why = TIES if rule in ("hebb", "willshaw") else ""
            cells.append(Measured(float(values.mean()), spread, len(values), printed, 3, why, digits=0))
        rows.append([rule, *cells, "; ".join(dict.fromkeys(cell.verdict for cell in cells))])
    names = ["400, 20 groups of 20", "400, 20 active", "1,024, 32 groups of 32", "1,024, 32 active"][: len(families)]
    return Table(
        "Patterns of which 90 % come back without one error, one active unit moved, parallel winners",
        ["rule", *names, "verdict"],
        rows,
    )


def basins(quick: bool, seeds: range) -> dict[str, dict[str, np.ndarray]]:
    """Overlap before and after, and share exact, against noise: the same load for every rule of a family."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for family, rules in BASIN.items():
        if family == "dense":
            made, load = Dense(100 if quick else 400), 5 if quick else 24
            noises = [Noise(flips=share) for share in np.linspace(0.0, 0.5, 5 if quick else 11)]
        else:
            made, load = Modular(*((8, 8) if quick else (20, 20))), 12 if quick else 200
            noises = [Noise(moves=moves) for moves in range(0, made.groups + 1, 2)]
        for rule in rules[: 2 if quick else 4]:
            learner = Learner(rule, input="prior" if rule == "probability" else 0.0)
            curve = [
                [point_of(Question(made, noise, cues=200), learner, load, seed) for seed in seeds] for noise in noises
            ]
            found.setdefault(f"{family}, {load} patterns", {})[rule] = np.array(curve)
    return found


def point_of(question: Question, learner: Learner, load: int, seed: int) -> tuple[float, float, float]:
    point = evaluate(question, learner, load, seed)
    return point.overlap_before, point.overlap, point.exact


def basin_table(found: dict[str, dict[str, np.ndarray]]) -> Table:
    rows = []
    for family, curves in found.items():
        for rule, curve in curves.items():
            exact = curve[..., 2].mean(axis=1)
            inside = curve[..., 0].mean(axis=1)[exact >= 0.9]
            least = f"{inside.min():.2f}" if len(inside) else "none"
            rows.append(
                [
                    family,
                    rule,
                    least,
                    *(
                        Measured.of(c, digits=2)
                        for c in curve[np.linspace(0, len(curve) - 1, 5).round().astype(int), :, 1]
                    ),
                ]
            )
    quarters = ["overlap after: no noise", "a quarter", "half", "three quarters", "all noise"]
    return Table(
        "Basins: smallest overlap of the cue from which 90 % come back exactly, and overlaps after recall",
        ["patterns", "rule", "least overlap", *quarters],
        rows,
    )


def measure(chosen: argparse.Namespace) -> Result:
    seeds = range(chosen.seed, chosen.seed + (2 if chosen.quick else 5))
    found = basins(chosen.quick, seeds)
    tables: Sequence[Table] = [
        constants(chosen.quick, seeds),
        bits(chosen.quick, seeds),
        elsewhere(chosen.quick, seeds),
        basin_table(found),
    ]
    return Result(tables, settings={"seeds": len(seeds)}, arrays={"basins": found})


@styled()
def picture(result: Result) -> Figure:
    """Overlap after recall against the overlap of the cue."""
    basins = result.arrays["basins"]
    figure = new_figure(6.5 * len(basins), 5.2)
    for ax, (family, curves) in zip(figure.subplots(1, len(basins), squeeze=False)[0], basins.items(), strict=True):
        least = min(float(curve[..., 0].min()) for curve in curves.values())
        ax.plot([least, 1], [least, 1], color=GREY, linestyle="--", label="before recall")
        looks = zip((BLUE, GREEN, ORANGE, PURPLE), MARKERS, (9, 8, 6, 4), strict=False)
        for (rule, curve), (colour, marker, size) in zip(curves.items(), looks, strict=False):
            before, after, _ = curve.mean(axis=1).T
            ax.plot(before, after, marker=marker, markersize=size, linewidth=size / 4, color=colour, label=rule)
        ax.set(title=family, xlabel="overlap of the cue with its pattern", ylabel="overlap after recall")
        ax.legend()
    return figure


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture)
