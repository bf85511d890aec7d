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

Seven minutes; with --quick some seconds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence

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
    V_STEP,
    best,
    judged,
)
from harness import Measured, Result, Table, main
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from medical import DOMAINS, INTERVAL, MEASURES, TRAIN, Domain, Effect, Split, adjusted

import bnn
from bnn.errors import BnnWarning
from bnn.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, new_figure, styled

NAME = "kononenko_1994_damage"
KINDS, SHARES = ("deleted", "corrupted", "cut"), (0.1, 0.2, 0.3, 0.5, 0.7)
CONDITIONS = (("intact", 0.0), *((kind, share) for kind in KINDS for share in SHARES))
ROWS = 1 + 2 * len(SHARES)  # conditions that damage rows; the intact ones first
MINE = (NAIVE, P_STEP, P_FILLED, P_SHORT, P_FREE, P_GRADED, O_STEP, O_FILLED, O_SHORT, V_STEP, C_STEP)
TOLD = (NAIVE, P_STEP, P_FILLED, P_SHORT, O_STEP, O_FILLED)
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
    for k, (one, scale, unit) in enumerate((("accuracy", 100.0, "points"), ("information", 1.0, "bits"))):
        tables += [means_of(domain, found[d, ..., k], one, scale) for d, domain in enumerate(domains)]
        steps = apart(found[..., k], MINE, STEPS)
        aware = {name: step for name, step in STEPS.items() if name in TOLD}
        for title, differences, conditions in (
            (NAIVELY, apart(found[..., k], MINE, {name: NAIVE for name in MINE if name != NAIVE}), CONDITIONS),
            (STEPWISE, steps, CONDITIONS),
            (BEYOND, {name: own[1:] - own[:1] for name, own in steps.items()}, CONDITIONS[1:]),
            (INFORMED, apart(informed[..., k], TOLD, aware), CONDITIONS[:ROWS]),
        ):
            means = adjusted({n: [Effect.mean_of(c) for c in own] for n, own in differences.items()})
            effects[title, one] = means
            tables.append(across(f"{one} in {unit}, mean of domains, {title}", conditions, means, scale))
        for d, domain in enumerate(domains):
            single = adjusted({name: [Effect.of(c[d]) for c in own] for name, own in steps.items()})
            tables.append(across(f"{one} in {unit}, {domain}, {STEPWISE}", CONDITIONS, single, scale))
    return Result(
        tables,
        conclusion=concluded(effects),
        settings={"splits": splits, "train": TRAIN, "inner splits": 3, "settings of each method": 24, "shares": SHARES},
        data=domains,
        details=per_split(domains, found),
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


def across(
    title: str, conditions: Sequence[tuple[str, float]], effects: dict[str, list[Effect]], scale: float
) -> Table:
    """A table of differences, a row a condition."""
    rows = [[written(c), *(own[i].shown(scale) for own in effects.values())] for i, c in enumerate(conditions)]
    return Table(f"{title}: {INTERVAL}", ("damage", *effects), rows)


def means_of(domain: str, found: np.ndarray, one: str, scale: float) -> Table:
    """Mean of every method in every condition, of [splits, methods, conditions]."""
    digits = 1 if scale == 100.0 else 3
    rows = [
        [written(c), *(Measured.of(found[:, i, k], scale=scale, digits=digits) for i in range(len(MINE)))]
        for k, c in enumerate(CONDITIONS)
    ]
    return Table(f"{one}, {domain}", ("damage", *MINE), rows)


def concluded(effects: dict[tuple[str, str], dict[str, list[Effect]]]) -> str:
    """The answer in words, from the numbers."""
    lines = []
    for one, scale, unit in (("accuracy", 100.0, "points"), ("information", 1.0, "bits")):
        for title in (NAIVELY, STEPWISE, BEYOND, INFORMED):
            conditions = {NAIVELY: CONDITIONS, STEPWISE: CONDITIONS, BEYOND: CONDITIONS[1:]}.get(
                title, CONDITIONS[:ROWS]
            )
            for kind in ("intact", *KINDS):
                places = [c for c, (what, _) in enumerate(conditions) if what == kind]
                for sign, word in ((1, "better"), (-1, "worse")):
                    sure = {
                        name: [own[c] for c in places if own[c].p_holm < 0.05 and sign * own[c].mean > 0]
                        for name, own in effects[title, one].items()
                        if METHOD[name].step
                    }
                    some = [
                        f"{name} ({max((e for e in own), key=lambda e: abs(e.mean)).shown(scale)} {unit} at most)"
                        for name, own in sure.items()
                        if own
                    ]
                    if some:
                        lines.append(f"{one}, {title}, {kind}: {word}: {'; '.join(some)}")
    return "\n".join(lines)


def per_split(domains: tuple[str, ...], found: np.ndarray) -> dict[str, dict[str, dict[str, str]]]:
    """Accuracy of every split, in one line a condition."""
    return {
        domain: {
            name: {written(c): " ".join(f"{x:.4g}" for x in found[d, :, i, k, 0]) for k, c in enumerate(CONDITIONS)}
            for i, name in enumerate(MINE)
        }
        for d, domain in enumerate(domains)
    }


CURVES = {NAIVE: INK, P_FILLED: BLUE, P_SHORT: GREEN, P_FREE: PURPLE, V_STEP: ORANGE}
LABELS = {
    NAIVE: "naive Bayes",
    P_FILLED: "unknown filled",
    P_SHORT: "free, 1 sweep, self-connected",
    P_FREE: "free, to the end",
    P_GRADED: "continuous, filled",
    V_STEP: "Hopfield, one step",
}


@styled()
def picture(result: Result) -> Figure:
    """Accuracy against damage, and what the iterations bring, mean of the domains."""
    found, effects = result.arrays["found"], result.arrays["effects"]
    figure = new_figure(15.0, 9.0)
    panels = figure.subplots(2, 3, sharey="row")
    for column, kind in enumerate(KINDS):
        places = [c for c, (what, _) in enumerate(CONDITIONS) if what in ("intact", kind)]
        shares = [100 * CONDITIONS[c][1] for c in places]
        above, below = panels[:, column]
        for name, colour in CURVES.items():
            means = 100 * found[:, :, MINE.index(name)][:, :, places, 0].mean(axis=(0, 1))
            above.plot(shares, means, color=colour, marker="o", markersize=4)
            if column == 2:
                label(above, shares[-1], means[-1], LABELS[name], colour)
        for name in (P_FILLED, P_SHORT, P_FREE):
            own = [effects[STEPWISE, "accuracy"][name][c] for c in places]
            means, reach = (100 * np.array([getattr(e, part) for e in own]) for part in ("mean", "reach"))
            below.plot(shares, means, color=CURVES[name], marker="o", markersize=4)
            below.fill_between(shares, means - reach, means + reach, color=CURVES[name], alpha=0.18, linewidth=0)
            if column == 2:
                label(below, shares[-1], means[-1], LABELS[name], CURVES[name])
        below.axhline(0.0, color=GREY, linewidth=1.0)
        above.set_title({"deleted": "values deleted", "corrupted": "values corrupted", "cut": "connections cut"}[kind])
        below.set_xlabel("share, %")
    panels[0, 0].set_ylabel("accuracy, %")
    panels[1, 0].set_ylabel("accuracy gained by iterating, points")
    return figure


def label(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    """A curve's name at its end."""
    ax.annotate(
        text, (x, y), xytext=(6, 0), textcoords="offset points", color=colour, va="center", annotation_clip=False
    )


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture, more=lambda parser: parser.add_argument("--splits", type=int, default=100))
