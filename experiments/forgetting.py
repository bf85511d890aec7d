"""Counts forget exactly, and a memory that forgets its oldest pattern for each new one recalls the last ones for ever.

    python experiments/forgetting.py [--out FOLDER] [--seed 0] [--quick]

Counts subtract as exactly as they add. So what is learned from ``all - some`` is, bit for bit, what a network would
have learned that never saw some; and a stream of patterns of which the last L are kept, ``counts + new - oldest``, is a
palimpsest: the network is that of the last L patterns alone, however long the stream was. Without a window everything
is kept, and above its capacity such a memory recalls nothing at all, neither old patterns nor new ones (catastrophic
forgetting; Nadal, Toulouse, Changeux, Dehaene, Europhysics Letters 1, 1986, whose palimpsest lets weights decay).

Patterns come one at a time. Each is asked for by a cue with one part in twenty changed, at least one: against its age
at the end of the stream, and as a share of the window against the length of the stream. Beside the windows, a decay by
which all patterns together weigh as much as those of the second window.

What came out (10 seeds, 400 patterns). Counts subtract exactly under every rule; weights from weights only where they
are linear in counts, as Hopfield's and Hebb's, and in the Bayesian forms they err by bits, about as many as not
forgetting at all. Without a window nothing is left after 80 dense patterns or 250 modular ones, neither the oldest nor
the youngest. With one, the share recalled of the last L stays where it is for L patterns, at every age alike, and an
older pattern is gone at once. A decay that lets all patterns weigh as much as those of the second window holds the
newest as well and loses the older ones of that window step by step, so that it recalls 68 to 83 % of as many patterns,
where the window recalls 98 to 99 % (Bayesian forms, and Hopfield's on dense patterns). Under Willshaw's rule a decay
forgets nothing, since what ever occurred counts, and the memory overflows as without a window. Hopfield's rule with
states -1, +1 holds no modular patterns: the many neurons that are off speak for whatever unit is on more often than
others.

Two minutes on one core; with --quick a few seconds.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import Measured, Result, Table, main
from matplotlib.figure import Figure
from memories import Kind, dense, modular

import bnn
from bnn.plots.style import BLUE, GREEN, ORANGE, PURPLE, SKY, WARNING, new_figure, styled

NAME = "forgetting"
COUNTED = [name for name, rule in bnn.RULES.items() if rule.source == "counts"]
SETTINGS = (
    ("modular, 10 groups of 10", modular(10, 10), COUNTED, (20, 40, 60, 80)),
    ("dense, 200 neurons", dense(200, "odds"), ["odds", "hopfield"], (10, 15, 20, 25)),
)
COLOURS = (BLUE, SKY, GREEN, ORANGE)
BIN = 5  # patterns of neighbouring ages counted together


@dataclass(frozen=True)
class Keeping:
    """What a memory keeps: everything, the last patterns, or all the less the older they are."""

    name: str
    window: int | None = None
    half_life: float | None = None


def keepings(windows: Sequence[int]) -> list[Keeping]:
    """Without a window, with each, and with a decay that makes all patterns together weigh as much as the second."""
    decay = Keeping("decay", half_life=float(windows[1] * np.log(2)))
    return [Keeping("none"), *(Keeping(str(window), window) for window in windows), decay]


class Stream:
    """Counts of a stream of patterns."""

    def __init__(self, patterns: bnn.Records, keeping: Keeping) -> None:
        self.patterns, self.keeping, self.length = patterns, keeping, 0
        self.counts = bnn.Counts.of(patterns[:0])

    def advance(self, number: int) -> None:
        """One pattern after another: the new one comes in, the oldest leaves, or all fade a little."""
        window, half_life = self.keeping.window, self.keeping.half_life
        for new in range(self.length, number):
            if half_life is not None:
                self.counts = self.counts.decay(half_life)
            self.counts = self.counts + bnn.Counts.of(self.patterns[[new]])
            if window is not None and new >= window:
                self.counts = self.counts - bnn.Counts.of(self.patterns[[new - window]])
        self.length = number
        kept = self.patterns[max(0, number - (window or number)) : number]
        if half_life is None and self.counts != bnn.Counts.of(kept):
            raise AssertionError("the counts of the window are not those of its patterns")


def recalled(kind: Kind, network: bnn.Network, patterns: bnn.Records, seed: int) -> np.ndarray:
    """Which patterns are recalled without an error from a noisy cue."""
    cues = bnn.corrupt(patterns, **kind.noise(max(1, kind.parts // 20)), seed=np.random.default_rng([seed, 1]))
    trace = kind.recall(network, cues, seed)
    return (trace.states == network.encode(patterns)).all(axis=1)


def exactly(kind: Kind, rule: str, seed: int) -> tuple[float, float, float]:
    """Largest difference in bits to a network that never saw the second half: forgotten by counts, and by weights.

    The first without subtracting, as a measure; by weights: those of all minus those of the forgotten, by their shares.
    """
    patterns = kind.draw(60, np.random.default_rng([seed, 2]))
    first, second = bnn.Counts.of(patterns[:30]), bnn.Counts.of(patterns[30:])
    never, every, other = (bnn.learn(counts, rule) for counts in (first, first + second, second))
    forgot = bnn.learn(first + second - second, rule)
    differences = (every.weights, forgot.weights, 2 * every.weights - other.weights)
    return tuple(float((weights - never.weights).abs().max()) for weights in differences)


def measure(chosen: Namespace) -> Result:
    seeds, length, steps = (2, 60, 3) if chosen.quick else (10, 400, 10)
    moments = np.linspace(0, length, steps + 1).astype(int)[1:]
    found: dict[Any, Any] = {"moments": moments}
    exact, ages, last = [], [], []
    for title, kind, rules, windows in SETTINGS:
        for keeping in keepings(windows):
            runs = [streamed(kind, rules, keeping, windows[1], moments, chosen.seed + s) for s in range(seeds)]
            for rule, by_age, of_last in zip(
                rules, *(np.stack(one, axis=1) for one in zip(*runs, strict=True)), strict=True
            ):
                found[title, rule, keeping.name] = by_age, of_last
        for rule in rules:
            exact.append([f"{title}: {rule}", *exactly(kind, rule, chosen.seed)])
            shown = [0, *(min(window, length) // BIN - 1 for window in (windows[1], windows[-1], length))]
            for keeping in keepings(windows):
                by_age, of_last = found[title, rule, keeping.name]
                who = [f"{title}: {rule}", keeping.name]
                ages.append([*who, *(Measured.of(by_age[:, b], scale=100) for b in shown)])
                last.append([*who, *(Measured.of(of_last[:, k], scale=100) for k in (0, steps // 2, -1))])
    tables = [
        Table(
            "Forgetting 30 of 60 patterns: largest difference of a weight to those of a network that never saw them",
            ["patterns and rule", "nothing forgotten", "counts - counts", "weights - weights"],
            exact,
        ),
        Table(
            f"Recalled (%) after {length} patterns, by age, in fives: the youngest, the oldest of the second and of "
            "the last window, the oldest of all",
            ["patterns and rule", "window", "youngest", "second window", "last window", "oldest"],
            ages,
        ),
        Table(
            "Of the patterns in the window (without one, of as many as the second holds), recalled (%) after so many",
            ["patterns and rule", "window", *(str(moments[k]) for k in (0, steps // 2, -1))],
            last,
        ),
    ]
    return Result(tables, conclusion(exact), {"seeds": seeds, "length": length}, arrays=found)


def streamed(
    kind: Kind, rules: list[str], keeping: Keeping, asked: int, moments: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Shares recalled: [rules, ages in fives] at the end; [rules, moments] of the window, or the last ``asked``."""
    stream = Stream(kind.draw(int(moments[-1]), np.random.default_rng([seed, 3])), keeping)
    of_last = np.empty((len(rules), len(moments)))
    for k, moment in enumerate(moments):
        stream.advance(int(moment))
        patterns = stream.patterns[: stream.length]
        right = [recalled(kind, bnn.learn(stream.counts, rule), patterns, seed)[::-1] for rule in rules]
        of_last[:, k] = [some[: keeping.window or asked].mean() for some in right]
    return np.array(right).reshape(len(rules), -1, BIN).mean(axis=2), of_last


def conclusion(exact: list[list[Any]]) -> str:
    """What was shown."""
    equal = all(row[2] == 0.0 for row in exact)
    return (
        f"Networks after counts - counts are {'' if equal else 'NOT '}equal, bit for bit, to those that never saw the "
        "forgotten; counts of a window were equal to those of its patterns alone at every moment looked at."
    )


@styled()
def picture(result: Result) -> Figure:
    found, moments = result.arrays, result.arrays["moments"]
    panels_of = [(title, rule, windows) for title, _, rules, windows in SETTINGS for rule in rules]
    columns = min(len(panels_of), 5)
    lines = -(-len(panels_of) // columns)
    figure = new_figure(4.2 * columns, 7.6 * lines)
    grid = figure.subplots(2 * lines, columns, sharey=True, squeeze=False)
    for number, (title, rule, windows) in enumerate(panels_of):
        line, column = divmod(number, columns)
        age, end = grid[2 * line, column], grid[2 * line + 1, column]
        for keeping, colour in zip(keepings(windows), (WARNING, *COLOURS, PURPLE), strict=True):
            by_age, of_last = found[title, rule, keeping.name]
            label = {"none": "no window", "decay": "decay"}.get(keeping.name, f"window of {keeping.name}")
            means = 100 * by_age.mean(axis=0)
            age.stairs(means, BIN * np.arange(len(means) + 1), color=colour, label=label, linewidth=1.8)
            end.plot(moments, 100 * of_last.mean(axis=0), color=colour, marker="o", markersize=4)
        age.set_ylim(-2, 104)
        age.set_xlim(0, min(2 * windows[-1], moments[-1]))
        age.set_title(f"{title}\n{rule}", fontsize=12)
        age.set_xlabel(f"age, after {moments[-1]} patterns")
        end.set_xlabel("patterns so far")
        end.set_title(f"the window; without, the last {windows[1]}", fontsize=12)
        age.legend(fontsize=9)
    for row in grid:
        row[0].set_ylabel("recalled (%)")
    for axes in grid.flat[len(panels_of) :] if len(panels_of) % columns else ():
        axes.set_visible(axes.has_data())
    return figure


if __name__ == "__main__":
    main(NAME, __doc__, measure, picture)
