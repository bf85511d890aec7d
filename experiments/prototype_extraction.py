"""A memory that has seen only distorted copies of a few prototypes recalls the prototypes, which it never saw.

    python experiments/prototype_extraction.py [--out FOLDER] [--seed 0] [--quick]

Each prototype is stored as a number of copies, in each of which a share of the parts (units of modular patterns,
neurons of dense ones) is changed; the prototype itself is not stored. A cue is a new copy, distorted as much. Shares
over all prototypes: cues from which the prototype is recalled without one error, and stored copies that are fixed
points: a memory of few copies remembers the copies, one of many what they have in common. Beside them what nobody beats
by counting: someone who is told which copies belong together takes their most frequent value, part by part.

A. Lansner and others (arXiv 2605.01074, 2026) compare local rules at this. Here: every rule that is a function of
counts, on modular patterns with parallel winner-take-all (20 groups of 10; the prior as input where the rule has one);
on dense patterns with thresholds (200 neurons) the odds form, with and without its prior, and Hopfield's rule. The
same patterns, copies and cues for all. No options are tuned.

What came out (20 seeds). A copy that is stored once or twice is remembered as it is; from 15 copies of each prototype
on (dense: 4) hardly one is, and the prototypes emerge later, so that between the two the memory holds neither. On
modular patterns, 10 prototypes, nine of ten cues recall theirs from 15 copies on under the covariance rules, nearly as
if told the class; Hebb's rule needs 30, the odds form 60, the probability form and BCPNN 100: the Bayesian forms, best
at storing single patterns, are worst at this. Their errors are values that one or two copies of that prototype have
and no others, so that these gain as much from its other values as the true ones do, or more; a covariance weighs a
pair by how often it occurs. Therefore they are better with 40 prototypes, whose copies have such values too, than with
2, and with 30 % changed than with 10 %. At 80 prototypes, where capacity decides, they are best again. Willshaw's rule
keeps every copy for ever and so recalls no prototype; Hopfield's holds no modular patterns at all (see forgetting.py).
On dense patterns Hopfield's rule, a mean of the copies, recalls nearly all up to 10 prototypes; the odds form recalls
none of 5, because a neuron that most prototypes agree on tells nothing of the others, and the noise of many small
weights of evidence decides it. They are equal only at 30 prototypes, where both fail.

A minute on one core; with --quick a few seconds.
"""

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import Measured, Result, Table, main
from matplotlib.figure import Figure
from memories import Kind, dense, modular

import bnn
from bnn.plots.style import GREY, MARKERS, SERIES, new_figure, styled

NAME = "prototype_extraction"
IDEAL = "most frequent value, told the class"
COUNTED = [name for name, rule in bnn.RULES.items() if rule.source == "counts"]
SWEPT = ("copies", "distortion", "prototypes")
AXES = ("stored copies of each prototype", "parts changed in a copy (%)", "prototypes")
SHARES = ("prototype recalled", "stored copy stable")
CUES = 100


@dataclass(frozen=True)
class Setting:
    """A kind of patterns, its competitors (name: rule, input), and what is swept around what."""

    kind: Kind
    title: str
    competitors: dict[str, tuple[str, str | None]]
    base: dict[str, Any]
    values: dict[str, tuple[float, ...]]
    quick: tuple[int, ...]


SETTINGS = (
    Setting(
        modular(20, 10),
        "modular, 20 groups of 10",
        {rule: (rule, None) for rule in COUNTED},
        {"copies": 20, "distortion": 0.3, "prototypes": 10},
        {
            "copies": (1, 2, 4, 8, 15, 30, 60, 100),
            "distortion": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
            "prototypes": (2, 5, 10, 20, 40, 80),
        },
        (1, 8, 60),
    ),
    Setting(
        dense(200, "odds"),
        "dense, 200 neurons",
        {"odds": ("odds", None), "odds, prior added": ("odds", "prior"), "hopfield": ("hopfield", None)},
        {"copies": 60, "distortion": 0.2, "prototypes": 10},
        {
            "copies": (1, 2, 4, 8, 15, 30, 60, 100),
            "distortion": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
            "prototypes": (2, 5, 10, 15, 20, 30),
        },
        (1, 8, 60),
    ),
)


def one(setting: Setting, copies: int, distortion: float, prototypes: int, seed: int) -> np.ndarray:
    """[competitors and ideal, shares] of one draw of prototypes, copies and cues."""
    kind, rng = setting.kind, np.random.default_rng([seed, copies, round(1000 * distortion), prototypes])
    truth = kind.draw(prototypes, rng)
    every = np.arange(prototypes)
    stored, cues = (
        bnn.corrupt(truth[np.tile(every, number)], **{kind.noise_kind: distortion}, seed=rng)
        for number in (copies, max(1, CUES // prototypes))
    )
    shares = np.full((len(setting.competitors) + 1, len(SHARES)), np.nan)
    learned = {rule: bnn.learn(stored, rule) for rule, _ in setting.competitors.values()}
    for i, (rule, given) in enumerate(setting.competitors.values()):
        network = learned[rule]
        for s, (start, goal) in enumerate(((cues, truth), (stored, stored))):
            final = kind.recall(network, start, seed, given).states == 1
            wanted = network.encode(goal) == 1
            shares[i, s] = (final == np.resize(wanted, final.shape)).all(axis=1).mean()
    values = np.arange(max(truth.schema.sizes))
    votes = (stored.codes.reshape(copies, prototypes, -1, 1) == values).sum(axis=0)
    shares[-1, 0] = (votes.argmax(axis=-1) == truth.codes).all(axis=1).mean()
    return shares


def measure(chosen: Namespace) -> Result:
    seeds = 3 if chosen.quick else 20
    found, tables = {}, []
    for setting in SETTINGS:
        names = [*setting.competitors, IDEAL]
        for name in SWEPT[:1] if chosen.quick else SWEPT:
            values = setting.quick if chosen.quick else setting.values[name]
            given = [setting.base | {name: value} for value in values]
            runs = np.array([[one(setting, seed=chosen.seed + s, **told) for s in range(seeds)] for told in given])
            found[setting.title, name] = values, runs
            rest = ", ".join(f"{key} {value:g}" for key, value in setting.base.items() if key != name)
            for s, share in enumerate(SHARES):
                rows = [
                    [who, *(Measured.of(one_value[:, i, s], scale=100) for one_value in runs)]
                    for i, who in enumerate(names[: len(names) - s])
                ]
                title = f"{setting.title}: {share} (%) against {name}; {rest}"
                tables.append(Table(title, [name, *(f"{value:g}" for value in values)], rows))
    return Result(tables, conclusion(found), {"seeds": seeds, "cues": CUES}, arrays=found)


def conclusion(found: dict[Any, Any]) -> str:
    """From how many copies on nine of ten new ones recall the prototype."""
    told = []
    for setting in SETTINGS:
        values, runs = found[setting.title, "copies"]
        each = []
        for i, who in enumerate([*setting.competitors, IDEAL]):
            enough = np.flatnonzero(runs[:, :, i, 0].mean(axis=1) >= 0.9)
            each.append(f"{who} {values[enough[0]] if len(enough) else f'more than {values[-1]}'}")
        base = setting.base
        told.append(
            f"{setting.title}, {base['prototypes']} prototypes, {100 * base['distortion']:g} % changed: "
            f"90 % of new copies recall the prototype from so many stored ones on: {', '.join(each)}."
        )
    return "\n".join(told)


@styled()
def picture(result: Result) -> Figure:
    names = [name for name in SWEPT if (SETTINGS[0].title, name) in result.arrays]
    figure = new_figure(5.0 * len(names) + 2.0, 8.6)
    rows = figure.subfigures(len(SETTINGS), 1)
    for setting, part in zip(SETTINGS, rows, strict=True):
        panels = part.subplots(1, len(names), sharey=True, squeeze=False)[0]
        for panel, name, label in zip(panels, names, AXES, strict=False):
            values, runs = result.arrays[setting.title, name]
            draw(panel, setting, name, np.array(values), 100 * runs)
            panel.set_xlabel(label)
        part.suptitle(setting.title, fontweight="bold")
        panels[0].set_ylabel("recalled exactly (%)")
        part.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
    return figure


def draw(panel: Any, setting: Setting, name: str, values: np.ndarray, shares: np.ndarray) -> None:
    """Shares against what is swept; dotted, where copies are counted, those that are fixed points."""
    at = values * (100 if name == "distortion" else 1)
    seeds = shares.shape[1]
    panel.plot(
        at,
        shares[:, :, -1, 0].mean(axis=1),
        color=GREY,
        linestyle="--",
        linewidth=1.4,
        label=IDEAL.replace(", ", ",\n"),
    )
    for i, who in enumerate(setting.competitors):
        colour, marker = SERIES[i % len(SERIES)], MARKERS[(i + i // len(SERIES)) % len(MARKERS)]
        mean, error = shares[:, :, i, 0].mean(axis=1), shares[:, :, i, 0].std(axis=1, ddof=1) / np.sqrt(seeds)
        line = ("-", "--")[i // len(SERIES)]
        panel.errorbar(at, mean, error, color=colour, linestyle=line, marker=marker, markersize=5, label=who)
        if name == "copies":
            panel.plot(at, shares[:, :, i, 1].mean(axis=1), color=colour, linestyle=":", linewidth=1.4)
    if name == "copies":
        panel.plot([], [], color=GREY, linestyle=":", label="a stored copy stays")
    if name != "distortion":
        panel.set_xscale("log")
        panel.set_xticks(at, [f"{value:g}" for value in values])
        panel.minorticks_off()
    told = {
        "copies": f"{setting.base['copies']} copies",
        "distortion": f"{100 * setting.base['distortion']:g} % changed",
        "prototypes": f"{setting.base['prototypes']} prototypes",
    }
    panel.set_title(", ".join(text for key, text in told.items() if key != name))


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture)
