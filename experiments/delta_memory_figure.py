"""The picture of `delta_memory`: what repetition gains, round by round, by load, noise and schedule."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from delta_memory import BASIN, BOLD, CAREFUL, CASES, COMPARED, KEPT, LAST, PLAIN, SCHEDULES, WATCHED, crossing
from harness import Result
from matplotlib.figure import Figure

from bnn.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, WARNING, new_figure, styled


@styled()
def picture(result: Result) -> Figure:
    found = result.arrays
    figure = new_figure(20.0, 9.4)
    panels = figure.subplots(2, 3)
    against_load(panels[0, 0], *found["modular"], "modular, 20 groups of 20, one unit moved")
    if "correlated dense, odds" in found:
        title = "correlated dense, 200 neurons, odds, 5 % flipped"
        against_load(panels[0, 1], *found["correlated dense, odds"], title)
    gains(panels[0, 2], found)
    for load, colour in zip(WATCHED[1], (GREEN, BLUE, PURPLE, WARNING), strict=True):
        if ("rounds", load) in found:
            fixed, held_out = 100 * found["rounds", load]
            panels[1, 0].plot(held_out, color=colour, label=f"{load} patterns")
            panels[1, 0].plot(fixed, color=colour, linestyle=":", linewidth=1.4)
    panels[1, 0].plot([], [], color=GREY, linestyle=":", label="fixed points")
    panels[1, 0].set(xlabel="careful round", ylabel="recalled, held out (%)", title="modular, round after round")
    panels[1, 0].legend()
    basins(panels[1, 1], found)
    schedules(panels[1, 2], found)
    return figure


def against_load(panel: Any, loads: Sequence[int], careful: np.ndarray, bold: np.ndarray, title: str) -> None:
    """Shares recalled from held-out noise against the number of patterns."""
    lines = (
        ("plain learning", careful[:, :, PLAIN], INK, "-"),
        ("careful, best round", careful[:, :, KEPT], BLUE, "-"),
        ("bold, best round", bold[:, :, KEPT], ORANGE, "-"),
        ("careful, last round", careful[:, :, LAST], SKY, "--"),
    )
    for label, shares, colour, line in lines:
        error = 100 * shares.std(axis=1, ddof=1) / np.sqrt(shares.shape[1])
        mean = 100 * shares.mean(axis=1)
        panel.errorbar(loads, mean, error, color=colour, linestyle=line, marker="o", markersize=4, label=label)
    panel.axhline(90, color=GREY, linewidth=0.8)
    panel.set(xlabel="patterns stored", ylabel="recalled, held out (%)", title=title)
    panel.legend()


def gains(panel: Any, found: dict[Any, Any]) -> None:
    """What the better schedule of each kind gains, against the load as a share of plain capacity."""
    kinds = [case for case in CASES if case.name in found]
    for case, colour in zip(kinds, (BLUE, SKY, GREEN, INK, GREY, PURPLE, WARNING, ORANGE), strict=False):
        loads, careful, bold = found[case.name]
        at = np.array(loads) / crossing(loads, careful[:, :, PLAIN].mean(axis=1))
        gained = [(100 * (run[:, :, KEPT] - run[:, :, PLAIN])).mean(axis=1) for run in (careful, bold)]
        better = max(gained, key=np.sum)
        panel.plot(
            at,
            better,
            color=colour,
            marker="o",
            markersize=4,
            label=f"{case.name} ({CAREFUL if better is gained[0] else BOLD})",
        )
    panel.axhline(0, color=GREY, linewidth=0.8)
    panel.set(
        xlabel="patterns / plain capacity at 90 %", ylabel="gain, held out (points)", title="what repetition gains"
    )
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def basins(panel: Any, found: dict[Any, Any]) -> None:
    """Share recalled against the share of parts changed, plain and with the schedule that gains more."""
    for (name, _), colour in zip(BASIN.items(), (BLUE, INK, WARNING), strict=True):
        if ("basin", name) in found:
            load, parts, shares = found["basin", name]
            at = 100 * np.array(parts) / next(case.kind.parts for case in CASES if case.name == name)
            plain, *learned = 100 * shares.mean(axis=2)
            better = max(learned, key=np.sum)
            panel.plot(at, plain, color=colour, linestyle="--", linewidth=1.4)
            panel.plot(at, better, color=colour, marker="o", markersize=4, label=f"{name}, {load} patterns")
    panel.plot([], [], color=GREY, linestyle="--", label="plain learning")
    panel.set(xlabel="parts of the cue changed (%)", ylabel="recalled (%)", title="basin")
    panel.legend()


def schedules(panel: Any, found: dict[Any, Any]) -> None:
    """Gain of every schedule, counting again what the signal "both" says."""
    names = [name for name in SCHEDULES if any(("schedules", case, name) in found for case in COMPARED)]
    for (case, (load, _)), colour, marker in zip(COMPARED.items(), (BLUE, INK, WARNING), "os^", strict=True):
        rows = [
            (n, 100 * found["schedules", case, s][2]) for n, s in enumerate(names) if ("schedules", case, s) in found
        ]
        if rows:
            gained = [(run[:, KEPT] - run[:, PLAIN]) for _, run in rows]
            error = [some.std(ddof=1) / np.sqrt(len(some)) for some in gained]
            at = [n for n, _ in rows]
            panel.errorbar(
                [g.mean() for g in gained],
                at,
                xerr=error,
                color=colour,
                marker=marker,
                linestyle="none",
                label=f"{case}, {load}",
            )
    panel.set_yticks(range(len(names)), names)
    panel.invert_yaxis()
    panel.axvline(0, color=GREY, linewidth=0.8)
    panel.set(xlabel="gain, held out (points)", title='schedules, signal "both"')
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
