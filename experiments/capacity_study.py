"""Which rule is the better associative memory? Capacity of every rule on the same patterns and cues, each at its best.

    python experiments/capacity_study.py [--quick] [--seed 0] [--out experiments/results] [--work FOLDER]

I. Kononenko, On Bayesian Neural Networks, Informatica 18 (1994) 183-195, section 3.4, leaves open whether the Bayesian
network is the better associative memory than Hopfield's. A cell is a rule, a family of patterns, a size and a kind of
noise. All rules of a setting get the same patterns and cues; each gets its threshold, or its prior or none where
winners are chosen, by full recall on two seeds of their own, with one budget for all, and keeps it for the study's
seeds. Capacity is the largest load at which 90 % of the patterns come back from noisy cues without one error. Ranks are
by paired differences over the seeds: a rank is an interval, from one more than the number of rules that are surely
better to the number of those that are not surely worse. BCPNN and the probability form with its prior under winners are
one model with two smoothings and are counted as one.

With --work FOLDER every evaluated load is kept there, and an interrupted study goes on. 222 cells of 20 seeds; half an
hour of processor time, half of that on two cores, 1 GB; --quick, some seconds, has small networks and few rules.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from harness import Measured, Result, Table, main
from matplotlib.figure import Figure

import bnn
from bnn.kernels.threads import set_threads
from bnn.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, WARNING, new_figure, number_axis, styled
from bnn.study import (
    Capacity,
    Correlated,
    Dense,
    KActive,
    Learner,
    Modular,
    Noise,
    Question,
    Real,
    held,
    thresholds,
    tuned,
)

NAME = "capacity_study"
COUNTED = ("hopfield", "hebb", "covariance", "willshaw", "odds", "probability", "bcpnn")
WINNERS = (*COUNTED, "presynaptic-covariance")
DENSE = ("hopfield", "covariance", "odds", "probability", "bcpnn", "storkey", "pseudo-inverse", "dense", "modern")
ONE_MODEL = {"probability", "bcpnn"}
STORING = {"dense", "modern"}
COLOURS = {
    "hopfield": GREY,
    "hebb": PURPLE,
    "covariance": SKY,
    "presynaptic-covariance": SKY,
    "willshaw": ORANGE,
    "odds": GREEN,
    "probability": BLUE,
    "bcpnn": INK,
    "storkey": ORANGE,
    "pseudo-inverse": WARNING,
    "dense": PURPLE,
    "modern": PURPLE,
}


@dataclass(frozen=True)
class Setting:
    """Patterns, noise and dynamics, the same for the rules that are compared in it."""

    family: str
    neurons: int
    cues: str
    question: Question
    rules: tuple[str, ...]

    @property
    def name(self) -> str:
        """For people, and for the name of a file."""
        return f"{self.family}, {self.neurons} neurons, {self.cues}"

    @property
    def by_winners(self) -> bool:
        """Whether winners are chosen, so that a threshold changes nothing."""
        return getattr(self.question.dynamics, "parallel", False)


def settings(quick: bool) -> list[Setting]:
    """All settings; those of --quick are small and few."""
    found = []
    for side in (7,) if quick else (10, 15, 20, 32):
        n = side * side
        winners = WINNERS if not quick else ("covariance", "bcpnn")
        single = COUNTED if not quick else ("covariance", "odds")
        found += [
            Setting("modular", n, "one unit moved", Question(Modular(side, side), Noise(moves=1)), winners),
            Setting("k active", n, "one unit moved", Question(KActive(n, side), Noise(moves=1)), winners),
            Setting(
                "k active, thresholds",
                n,
                "one unit moved",
                Question(KActive(n, side), Noise(moves=1), bnn.Asynchronous()),
                single,
            ),
        ]
        if not quick:
            half = Question(Modular(side, side), Noise(erased=0.5))
            found.append(Setting("modular", n, "half of the groups unknown", half, winners))
    for n in (60,) if quick else (100, 200, 400, 800):
        rules = ("hopfield", "odds", "storkey") if quick else DENSE
        for flips in (0.1,) if quick else (0.1, 0.2):
            question = Question(Dense(n), Noise(flips=flips), cues=400)
            found.append(Setting("dense", n, f"{100 * flips:g} % flipped", question, rules))
    if not quick:
        like = Correlated(Modular(20, 20), per=5, distortion=0.2)
        found.append(Setting("correlated modular", 400, "one unit moved", Question(like, Noise(moves=1)), WINNERS))
        like = Correlated(Dense(400), per=5, distortion=0.2)
        question = Question(like, Noise(flips=0.1), cues=400)
        found.append(Setting("correlated dense", 400, "10 % flipped", question, DENSE))
        question = Question(Real("mnist-100"), Noise(flips=0.1))
        found.append(Setting("digits", 784, "10 % flipped", question, DENSE))
    return found


@dataclass(frozen=True)
class Cell:
    """One rule in one setting: how it was tuned, and what it holds for each seed."""

    setting: Setting
    rule: str
    input: str
    found: Capacity


def candidates(setting: Setting, rule: str) -> Sequence[Learner]:
    """What a rule may choose among: thresholds for single neurons; for winners, its prior or none."""
    if rule in STORING:
        options = {"dense": [{"degree": d} for d in (3, 4)], "modern": [{"beta": b} for b in (0.05, 0.2, 1.0)]}
        return [Learner(rule, one) for one in options[rule]]
    able = bnn.RULES[rule].prior_bias is not None
    if setting.by_winners:
        return [Learner(rule), *([Learner(rule, input="prior")] if able else [])]
    return [*thresholds(rule), *(thresholds(rule, prior=True) if able else ())]


def cell(setting: Setting, rule: str, seeds: range, budget: int, precision: float, work: Path) -> Cell:
    """Tune a rule on seeds of its own, freeze it, and find its capacity for every seed."""
    file = work / (re.sub(r"[^a-z0-9]+", "-", f"{setting.name} {rule}") + ".jsonl")
    # patterns may be stored without end where they are kept: twice the neurons are enough to see it
    most = 2 * setting.neurons if rule in STORING else None
    if setting.family == "digits":
        most = None
    choice = candidates(setting, rule)
    chosen = choice[0]
    if len(choice) > 1:
        chosen = tuned(setting.question, choice, budget=budget, most=most, results=file).learner
    found = held(setting.question, chosen, seeds=seeds, precision=precision, most=most, results=file)
    options = ", ".join(f"{key} = {value}" for key, value in chosen.learning.items())
    told = str(chosen.input).replace(", prior=False", "")
    return Cell(setting, rule, options or ("own" if told == "0.0" else told), found)


def alone() -> None:
    """One thread a process, so that the processes do not wait for each other's threads."""
    torch.set_num_threads(1)
    set_threads(1)


def all_cells(chosen: argparse.Namespace, work: Path) -> list[Cell]:
    """Every cell, on two cores; the largest first, so that the cores end together."""
    seeds = range(chosen.seed, chosen.seed + (2 if chosen.quick else chosen.seeds))
    todo = [(setting, rule) for setting in settings(chosen.quick) for rule in setting.rules]
    budget, precision = (60, 0.1) if chosen.quick else (400, 0.02)
    work_on = partial(cell, seeds=seeds, budget=budget, precision=precision, work=work)
    if chosen.quick:
        return [work_on(*one) for one in todo]
    heavy = sorted(range(len(todo)), key=lambda k: -todo[k][0].neurons)
    found: dict[int, Cell] = {}
    with ProcessPoolExecutor(os.cpu_count(), initializer=alone) as pool:
        runs = {k: pool.submit(work_on, *todo[k]) for k in heavy}
        for done, (k, run) in enumerate(runs.items()):
            found[k] = run.result()
            print(f"{done + 1}/{len(todo)} {found[k].found}", flush=True)
    return [found[k] for k in range(len(todo))]


def ranks(cells: Iterable[Cell]) -> dict[str, str]:
    """Rank of each rule, as an interval, by paired differences over the seeds (95 %, two standard errors)."""
    values = {c.rule: np.array(c.found.values, dtype=np.float64) for c in cells}
    models = {rule: "one" if rule in ONE_MODEL and set(values) >= ONE_MODEL else rule for rule in values}
    told = {}
    for rule, mine in values.items():
        better, worse, others = set(), set(), set(models.values()) - {models[rule]}
        for other, theirs in values.items():
            if models[other] == models[rule]:
                continue
            apart = theirs - mine
            error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.inf
            if apart.mean() > 2 * error:
                better.add(models[other])
            elif apart.mean() < -2 * error:
                worse.add(models[other])
        first, last = 1 + len(better), 1 + len(others) - len(worse - better)
        told[rule] = str(first) if first == last else f"{first} to {last}"
    return told


def table_of(setting: Setting, cells: Sequence[Cell]) -> Table:
    """One line a rule, the best first."""
    ranked = ranks(cells)
    rows = []
    for c in sorted(cells, key=lambda c: -c.found.patterns):
        bits = c.found.bits_per_parameter
        rows.append(
            [
                c.rule,
                Measured.of(c.found.values),
                f"{'at least ' * any(c.found.limited)}{c.found.patterns / c.found.neurons:.3f}",
                "" if bits is None else f"{bits:.3f}",
                c.input,
                ranked[c.rule],
                str(len(c.found.rises)) if c.found.rises else "",
            ]
        )
    return Table(
        setting.name, ["rule", "patterns held", "a neuron", "bits a parameter", "tuned", "rank", "rises"], rows
    )


def measure(chosen: argparse.Namespace) -> Result:
    with tempfile.TemporaryDirectory() as temporary:
        work = chosen.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        cells = all_cells(chosen, work)
    by_setting = {s.name: [c for c in cells if c.setting == s] for s in settings(chosen.quick)}
    tables = [table_of(some[0].setting, some) for some in by_setting.values()]
    return Result(
        tables,
        conclusion(by_setting),
        {"seeds": len(cells[0].found.seeds), "criterion": str(cells[0].found.criterion), "cells": len(cells)},
        [] if chosen.quick else ["mnist-100"],
        {"cells": cells},
    )


def conclusion(by_setting: dict[str, list[Cell]]) -> str:
    """Hopfield's rule against the Bayesian ones, and who is first, counted from the tables."""
    ahead = behind = 0
    firsts: dict[str, int] = {}
    for cells in by_setting.values():
        ranked = ranks(cells)
        for rule, rank in ranked.items():
            if rank == "1":
                firsts[rule] = firsts.get(rule, 0) + 1
        held_by = {c.rule: np.array(c.found.values, dtype=np.float64) for c in cells}
        best = max((r for r in ("odds", "probability", "bcpnn") if r in held_by), key=lambda r: held_by[r].mean())
        if "hopfield" in held_by:
            apart = held_by[best] - held_by["hopfield"]
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            ahead += bool(apart.mean() > 2 * error)
            behind += bool(apart.mean() < -2 * error)
    told = ", ".join(f"{rule} in {times}" for rule, times in sorted(firsts.items(), key=lambda one: -one[1]))
    return (
        f"The best Bayesian rule holds surely more than Hopfield's in {ahead} and surely less in {behind} of "
        f"{len(by_setting)} settings. Surely first: {told or 'none'}."
    )


@styled()
def picture(result: Result) -> Figure:
    """Patterns a neuron of each rule, in every setting of the largest size, with 95 % intervals."""
    cells = result.arrays["cells"]
    largest = {}
    for c in cells:
        key = (c.setting.family, c.setting.cues)
        largest[key] = max(largest.get(key, 0), c.setting.neurons)
    shown = list(largest)
    figure = new_figure(15.0, 3.6 * -(-len(shown) // 3))
    grid = figure.subplots(-(-len(shown) // 3), 3, squeeze=False).ravel()
    for ax, key in zip(grid, shown, strict=False):
        some = [c for c in cells if (c.setting.family, c.setting.cues) == key and c.setting.neurons == largest[key]]
        some.sort(key=lambda c: c.found.patterns)
        for place, c in enumerate(some):
            values = np.array(c.found.values) / c.found.neurons
            reach = 2 * values.std(ddof=1) / np.sqrt(len(values))
            limited = any(c.found.limited)
            colour = COLOURS[c.rule]
            ax.errorbar(values.mean(), place, xerr=reach, fmt=">" if limited else "o", color=colour, markersize=7)
        ax.set_yticks(range(len(some)), [c.rule for c in some])
        ax.set_title(f"{key[0]}, {largest[key]} neurons\n{key[1]}", fontsize=11)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("patterns held a neuron")
        number_axis(ax.xaxis)
    for ax in grid[len(shown) :]:
        ax.set_visible(False)
    return figure


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", type=Path, help="folder where every evaluated load is kept")
    parser.add_argument("--seeds", type=int, default=20)


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture, more=more)
