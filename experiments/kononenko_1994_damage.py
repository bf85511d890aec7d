"""Whether iterating makes a Bayesian network less sensitive to noise, missing data and lost connections.

    python experiments/kononenko_1994_damage.py [--quick] [--seed 0] [--out FOLDER] [--splits 100]

I. Kononenko, On Bayesian Neural Networks, Informatica 18 (1994) 183-195, section 2.1: the network outperformed naive
Bayes slightly "as the iterations make the network less sensitive to noise and missing data"; section 1 names
"robustness with respect to missing and incorrect data and with respect to the damage of the network". No number is
printed.

10 x 10 random splits of four medical domains, 70 % to train, as in kononenko_1994_network_against_hopfield.py. Networks
are learned from whole rows; of each test row a share of the known values is *deleted*, or *corrupted*: replaced by the
value of a random training row. Or a share of the connections is *cut*, the same for all: of those between classes and
values, which naive Bayes has too (the networks of the probability form lose the very same), and of those between
attributes. The settings, 24 a method, are chosen inside the intact training rows, for each measure by that measure; as
a check also on inner rows damaged in the same way to the same degree ("told").

Sensitivity is how the difference to the same network's one step changes with the damage: what the iterations bring.

Ten minutes; with --quick some seconds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from contenders import (
    C_STEP,
    METHOD,
    NAIVE,
    O_FILLED,
    O_SHORT,
    O_STEP,
    P_FILLED,
    P_FREE,
    P_GRADED,
    P_SHORT,
    P_STEP,
    P_WINNERS,
    V_STEP,
    best,
    judged,
)
from harness import Measured, Result, Table, main
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from medical import (
    DIGITS,
    DOMAINS,
    INTERVAL,
    MEASURES,
    TRAIN,
    UNITS,
    Difference,
    Domain,
    Split,
    adjusted,
    difference,
)

import bnn
from bnn.errors import BnnWarning
from bnn.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, new_figure, styled

NAME = "kononenko_1994_damage"
KINDS, SHARES = ("deleted", "corrupted", "cut"), (0.1, 0.2, 0.3, 0.5, 0.7)
CONDITIONS = (("intact", 0.0), *((kind, share) for kind in KINDS for share in SHARES))
ROWS = 1 + 2 * len(SHARES)  # conditions that damage rows; the intact ones first
MINE = (NAIVE, P_STEP, P_FILLED, P_WINNERS, P_SHORT, P_FREE, P_GRADED, O_STEP, O_FILLED, O_SHORT, V_STEP, C_STEP)
TOLD = (NAIVE, P_STEP, P_FILLED, P_WINNERS, P_SHORT, O_STEP, O_FILLED)
STEPS = {name: METHOD[name].step for name in MINE if METHOD[name].step}
QUICK = ("lymphography",)
NAIVELY, STEPWISE = "minus naive Bayes", "minus its own one step"
BEYOND, INFORMED = f"{STEPWISE}, beyond that on intact rows", f"{STEPWISE}, all told the damage"


def damaged(rows: bnn.Records, pool: bnn.Records, seed: list[int]) -> np.ndarray:
    """Codes of the rows, intact and under each damage of rows, one block after the other."""
    some = [rows]
    for number, (kind, share) in enumerate(CONDITIONS[1:ROWS]):
        noise = {"mask": share} if kind == "deleted" else {"redraw": share, "pool": pool}
        some.append(bnn.corrupt(rows, **noise, seed=np.random.default_rng([*seed, number])))
    return np.concatenate([one.codes for one in some])


def run(split: Split, seed: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one split: [methods, conditions, measures], and [told methods, damages of rows, measures]."""
    test = damaged(split.tested, split.trained.rows, [*seed, 99])
    inner = [(t, damaged(rows, t.rows, [*seed, i]), classes) for i, (t, rows, classes) in enumerate(split.inner)]
    cut = [split.trained.cut(share, [*seed, 77, number]) for number, share in enumerate(SHARES)]
    found, informed = np.empty((len(MINE), len(CONDITIONS), 3)), np.empty((len(TOLD), ROWS, 3))
    for i, name in enumerate(MINE):
        method, aware = METHOD[name], name in TOLD
        tried = [
            judged(method, trained, codes if aware else codes[: len(classes)], classes, method.settings)
            for trained, codes, classes in inner
        ]
        scores = np.mean(tried, axis=0)  # [settings, damages of rows, measures]
        settings = [method.settings[best(scores[:, 0], measure)] for measure in MEASURES]
        measures = np.arange(3)
        found[i, :ROWS] = judged(method, split.trained, test, split.classes, settings)[measures, :, measures].T
        for number, lesser in enumerate(cut):
            own = judged(method, lesser, split.tested.codes, split.classes, settings)
            found[i, ROWS + number] = own[measures, 0, measures]
        if aware:
            every = judged(method, split.trained, test, split.classes, method.settings)
            for row in range(ROWS):
                chosen = [best(scores[:, row], measure) for measure in MEASURES]
                informed[TOLD.index(name), row] = every[chosen, row, measures]
    return found, informed


def measure(chosen: argparse.Namespace) -> Result:
    warnings.simplefilter("ignore", BnnWarning)
    domains, splits = (QUICK, 2) if chosen.quick else (DOMAINS, chosen.splits)
    found = np.empty((len(domains), splits, len(MINE), len(CONDITIONS), 3))
    informed = np.empty((len(domains), splits, len(TOLD), ROWS, 3))
    for d, name in enumerate(domains):
        domain = Domain.load(name)
        for s in range(splits):
            found[d, s], informed[d, s] = run(Split.of(domain, chosen.seed, s), [chosen.seed, s, d])
    tables, effects = [], {}
    for k, (one, unit) in enumerate((("accuracy", "points"), ("information", "bits"))):
        tables += [means_of(f"{one} in {UNITS[k]}, {domain}", found[d, ..., k], k) for d, domain in enumerate(domains)]
        steps = apart(found[..., k], MINE, STEPS)
        aware = {name: step for name, step in STEPS.items() if name in TOLD}
        for title, own, conditions in (
            (NAIVELY, apart(found[..., k], MINE, {name: NAIVE for name in MINE if name != NAIVE}), CONDITIONS),
            (STEPWISE, steps, CONDITIONS),
            (BEYOND, {name: each[1:] - each[:1] for name, each in steps.items()}, CONDITIONS[1:]),
            (INFORMED, apart(informed[..., k], TOLD, aware), CONDITIONS[:ROWS]),
        ):
            effects[title, one] = tested(own, DIGITS[k])
            tables.append(across(f"{one} in {unit}, mean of domains, {title}", conditions, effects[title, one]))
        for d, domain in enumerate(domains):
            single = tested({name: each[:, d] for name, each in steps.items()}, DIGITS[k])
            tables.append(across(f"{one} in {unit}, {domain}, {STEPWISE}", CONDITIONS, single))
    return Result(
        tables,
        conclusion=concluded(effects),
        settings={"splits": splits, "train": TRAIN, "inner splits": 3, "settings of each method": 24, "shares": SHARES},
        data=domains,
        arrays={"found": found, "effects": effects},
    )


def apart(found: np.ndarray, names: tuple[str, ...], against: dict[str, str]) -> dict[str, np.ndarray]:
    """By method, its difference from another: [conditions, domains, splits]."""
    first = np.moveaxis(found, -1, 0)
    return {name: first[..., names.index(name)] - first[..., names.index(other)] for name, other in against.items()}


def written(condition: tuple[str, float]) -> str:
    """A condition in words."""
    kind, share = condition
    return f"{kind} {100 * share:g} %" if share else kind


def tested(apart: dict[str, np.ndarray], digits: int) -> dict[str, list[Difference]]:
    """Mean difference in each condition, [conditions, ..., splits], with Holm's p over all of them."""
    return adjusted({name: [difference(each, digits) for each in own] for name, own in apart.items()})


def across(title: str, conditions: Sequence[tuple[str, float]], differences: dict[str, list[Difference]]) -> Table:
    """A table of differences, a row a condition."""
    rows = [[written(c), *(own[i] for own in differences.values())] for i, c in enumerate(conditions)]
    return Table(f"{title}: {INTERVAL}", ("damage", *differences), rows)


def means_of(title: str, found: np.ndarray, k: int) -> Table:
    """Mean of every method in every condition, of [splits, methods, conditions]; single splits of accuracy alone."""
    rows = [
        [written(c), *(Measured.of(found[:, i, number], digits=DIGITS[k]) for i in range(len(MINE)))]
        for number, c in enumerate(CONDITIONS)
    ]
    if k:
        rows = [[name, *(replace(cell, values=()) for cell in cells)] for name, *cells in rows]
    return Table(title, ("damage", *MINE), rows)


def concluded(effects: dict[tuple[str, str], dict[str, list[Difference]]]) -> str:
    """What is sure by Holm's p below 0.05, in words."""
    lines = []
    for (title, one), found in effects.items():
        if title != NAIVELY:
            every = [each for own in found.values() for each in own]
            above, below = (sum(sign * each.value > each.reach for each in every) for sign in (1, -1))
            lines.append(f"{one}, {title}: of {len(every)} intervals {above} lie above 0, {below} below.")
        conditions = CONDITIONS[1:] if title == BEYOND else CONDITIONS
        for kind in ("intact", *KINDS):
            for word, sign in (("more", 1), ("less", -1)):
                some = []
                for name, own in found.items():
                    sure = [
                        each
                        for each, (what, _) in zip(own, conditions, strict=False)
                        if what == kind and METHOD[name].step and each.p_holm < 0.05 and sign * each.value > 0
                    ]
                    if sure:
                        largest = max(sure, key=lambda each: abs(each.value))
                        some.append(f"{name} ({largest} at most; at {len(sure)} of the shares)")
                if some:
                    lines.append(f"{one}, {title}, {kind}: {word} for {'; '.join(some)}.")
    return "\n\n".join(lines) or "Nothing is sure."


CURVES = {
    NAIVE: (INK, "naive Bayes"),
    P_WINNERS: (BLUE, "unknown filled"),
    P_SHORT: (GREEN, "free, 1 sweep, self-connected"),
    P_FREE: (PURPLE, "free, to the end"),
    V_STEP: (ORANGE, "Hopfield, one step"),
}
TITLES = {"deleted": "values deleted", "corrupted": "values corrupted", "cut": "connections cut"}


@styled()
def picture(result: Result) -> Figure:
    """Accuracy against damage, and what the iterations bring, mean of the domains."""
    found, effects = result.arrays["found"], result.arrays["effects"]
    figure = new_figure(15.0, 9.0)
    panels = figure.subplots(2, 3, sharey="row", sharex=True)
    for column, kind in enumerate(KINDS):
        above, below = panels[:, column]
        places = [c for c, (what, _) in enumerate(CONDITIONS) if what in ("intact", kind)]
        shares = np.array([100 * CONDITIONS[c][1] for c in places])
        ends: tuple[list[tuple[float, str, str]], ...] = ([], [])
        for number, (name, (colour, text)) in enumerate(CURVES.items()):
            means = found[:, :, MINE.index(name)][:, :, places, 0].mean(axis=(0, 1))
            above.plot(shares, means, color=colour, marker="o", markersize=4)
            ends[0].append((means[-1], text, colour))
            if name in STEPS:
                own = [effects[STEPWISE, "accuracy"][name][c] for c in places]
                means, reach = (np.array([getattr(each, part) for each in own]) for part in ("value", "reach"))
                aside = shares + 0.9 * (number - 2)  # so that bars do not hide each other
                below.errorbar(aside, means, reach, color=colour, marker="o", markersize=4, elinewidth=1.2)
                ends[1].append((means[-1], text, colour))
        below.axhline(0.0, color=GREY, linewidth=1.0)
        above.set_title(TITLES[kind])
        below.set_xlabel("share, %")
    for panel, some in zip(panels[:, -1], ends, strict=True):
        label(panel, shares[-1], some)
    panels[0, 0].set_ylabel("accuracy, %, mean of domains")
    panels[1, 0].set_ylabel("accuracy gained by iterating,\npoints, with 95 % intervals")
    return figure


def label(ax: Axes, x: float, ends: list[tuple[float, str, str]]) -> None:
    """Names of curves at their ends, from below, each clear of the one before."""
    low, high = ax.get_ylim()
    last = -np.inf
    for y, text, colour in sorted(ends):
        last = max(y, last + 0.06 * (high - low))
        ax.annotate(text, (x, last), xytext=(9, 0), textcoords="offset points", color=colour, va="center")


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture, more=lambda parser: parser.add_argument("--splits", type=int, default=100))
