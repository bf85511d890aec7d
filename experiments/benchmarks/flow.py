"""Graded recall: the public call, free energy of every step recorded and verified, in products of its own size.

One product is torch's float32 matrix product [1000 x 1000][1000 x 1000]. The Runge-Kutta solvers are held against as
many products one after another, the descent by coordinates against single ones. Run it on a quiet machine:

    python experiments/benchmarks/flow.py [--json] [--quick]

About a minute; `--quick` takes one memory instead of five. A row-evaluation is the field of one row once: 1,000 of them
are one product. The memories are 50 random patterns of 1,000 neurons, the cues have a tenth of their neurons flipped.
"""

import argparse
import statistics

import torch
from recall import CUES, memory, product
from timing import Figure, medians, report

import bnn

STAGES = {"dopri5": 6, "rk4": 4, "euler": 1}


def solver_overhead(solver, target):
    """Time of a whole recall over that of the products it cannot do without."""
    network, cues = memory(1000, 50, torch.float32)
    flow = bnn.GradientFlow(solver=solver)
    trace = bnn.recall(network, cues, flow, check="raise")
    products = float((STAGES[solver] * trace.sweeps + 1).sum()) / CUES
    one, number = product(CUES, 1000), round(products)
    took = medians(
        {
            "products": lambda: [one() for _ in range(number)],  # as long as the recall: what slows one slows the other
            "recall": lambda: bnn.recall(network, cues, flow, check="raise"),
        }
    )
    yield Figure(
        f"{solver}, gain 1, over its {number} products",
        took["recall"] / took["products"] * number / products,
        target,
        "ratio",
    )


def descent(gain, target, memories):
    """The whole recall by coordinates, until every row has settled: the median over memories, and the slowest."""
    ratios = []
    for seed in range(memories):
        network, cues = memory(1000, 50, torch.float32, seed)
        flow = bnn.GradientFlow(gain=gain, solver="descent")
        assert set(bnn.recall(network, cues, flow, check="raise").outcome) == {"settled"}
        took = medians(
            {
                "product": product(CUES, 1000),
                "recall": lambda network=network, cues=cues, flow=flow: bnn.recall(network, cues, flow, check="raise"),
            },
            repeats=5,
        )
        ratios.append(took["recall"] / took["product"])
    name = f"descent to the fixed point, gain {gain:g}"
    yield Figure(f"{name}, median of {memories} memories", statistics.median(ratios), target, "products")
    if memories > 1:
        yield Figure(f"{name}, the slowest memory", max(ratios), None, "products")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    memories = 1 if chosen.quick else 5
    figures = [
        *solver_overhead("dopri5", 1.3),
        *solver_overhead("rk4", None),
        *descent(1.0, 10, memories),
        *descent(0.2, None, memories),
        *descent(0.1, 40, memories),
    ]
    report(figures, chosen.json)


if __name__ == "__main__":
    main()
