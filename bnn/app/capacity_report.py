"""What ``bnn capacity`` tells people: a table and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bnn.app.capacity_command import Task
from bnn.app.words import percent
from bnn.study import Capacity, Criterion, Shift, Threshold


def tell(task: Task, found: Mapping[str, Capacity], files: Sequence[str]) -> None:
    """Print what was found."""
    console = Console(highlight=False)
    console.print(headline(task), markup=False)
    console.print(capacity_table(found, console.width))
    for line in remarks(found):
        console.print(line, markup=False)
    console.print(legend(task, found), markup=False, style="dim")
    for file in files:
        console.print(f"Picture: {file}", markup=False, soft_wrap=True)


def headline(task: Task) -> str:
    """What was stored, from which cues, and when it counts as recalled."""
    question, request = task.question, task.request
    dynamics = question.dynamics
    how = f"{dynamics.name}{' in parallel' if getattr(dynamics, 'parallel', False) else ''}"
    return (
        f"{_parameters(question.family.describe())}; cues: {_noise(question.noise.describe())}; {how}, at most "
        f"{question.max_sweeps:,} sweeps; a load holds if {_criterion(task.criterion)}; "
        f"{request.seeds} seed{'s' if request.seeds > 1 else ''} from "
        f"{request.seed}."
    )


def _criterion(criterion: Criterion) -> str:
    """When a load counts as recalled."""
    words = {
        "exact": f"{percent(criterion.bound)} of it come back without an error",
        "overlap": f"the mean overlap is at least {criterion.bound:g}",
        "wrong": f"at most {percent(criterion.bound)} of the neurons are wrong",
    }
    return words[criterion.measure]


def _parameters(told: Mapping[str, Any]) -> str:
    """Name and parameters of a family."""
    parts = [
        f"{name} {_parameters(value) if isinstance(value, dict) else value}"
        for name, value in told.items()
        if name not in ("name", "sha256")
    ]
    return f"{told['name']} ({', '.join(parts)})"


def _noise(told: Mapping[str, Any]) -> str:
    """What is done to the cues."""
    words = {"flips": "flipped", "moves": "moved", "wrong": "wrong", "erased": "unknown"}
    parts = [
        f"{percent(told[name]) if isinstance(told[name], float) else told[name]} {word}"
        for name, word in words.items()
        if name in told
    ]
    if told.get("contiguous"):
        parts.append("in one piece")
    return ", ".join(parts) or "the patterns themselves"


def capacity_table(found: Mapping[str, Capacity], width: int) -> Table:
    """One line a rule; the most patterns in bold."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1) if width >= 100 else 0, pad_edge=False)
    table.add_column("\nrule", style="bold", no_wrap=True)
    for heading in ("\npatterns", "95 %\ninterval", "patterns\na neuron", "bits a\nparameter", "\neach seed"):
        table.add_column(heading, justify="right")
    best = max(one.patterns for one in found.values())
    for name, one in found.items():
        at_least = ">= " if any(one.limited) else ""
        interval = "" if one.interval is None else f"{one.interval[0]:,.0f} to {one.interval[1]:,.0f}"
        bits = "" if one.bits_per_parameter is None else f"{one.bits_per_parameter:.3f}"
        patterns = Text(f"{at_least}{one.patterns:,.0f}", "bold" if one.patterns == best else "")
        values = " ".join(f"{value:,}" for value in one.values)
        table.add_row(name, patterns, interval, f"{one.load:.3g}", bits, values)
    return table


def remarks(found: Mapping[str, Capacity]) -> list[str]:
    """What the table cannot say."""
    told = []
    for name, one in found.items():
        if any(one.limited):
            told.append(f"{name}: the largest load, {one.most:,}, still holds; raise --most to see where it ends.")
        if isinstance(one.learner.input, Threshold | Shift):
            told.append(f"{name}: threshold found on other seeds: {one.learner.input}.")
        told += [f"{name}: more was recalled of more patterns: {rise}." for rise in one.rises]
    return told


def legend(task: Task, found: Mapping[str, Capacity]) -> str:
    """What the numbers mean."""
    evaluated = sum(len(one.points) for one in found.values())
    return (
        f"Patterns: the largest load that holds, while one {percent(task.request.precision)} larger does not; mean "
        f"over seeds. {evaluated:,} loads evaluated; all rules had the same patterns and cues."
    )
