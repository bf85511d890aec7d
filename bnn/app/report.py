"""What the command line tells people: tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bnn.app.recall_command import Answer, Summary, Task
from bnn.datasets import Description
from bnn.trace import Trace


def headline(task: Task) -> str:
    """What was learned and what is asked."""
    how = f"{task.dynamics.name}, seed {task.request.seed}"
    if task.noise is not None:
        rows = f"{task.learned.rows:,} {'rows' if task.table else 'patterns'} learned"
        return f"{task.name}: {rows}; cues: the same with {_percent(task.noise)} of their cells changed; {how}."
    others = len(task.learned.schema.names) - len(task.request.mask)
    return (
        f"{task.name}, row {task.request.row}: {_list(task.request.mask)} hidden, the other {others} attributes "
        f"{'free to change' if task.request.free else 'kept'}; learned from {task.learned.rows:,} rows, this one "
        f"{'' if task.known else 'not '}among them; {how}."
    )


def summary_table(summaries: Sequence[Summary], width: int) -> Table:
    """One line a rule, means over its cues."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1) if width >= 100 else 0, pad_edge=False)
    table.add_column("\nrule", style="bold", no_wrap=True)
    for heading in ("recalled\nexactly", "overlap\nbefore", "\nafter", "\nflips", "\nsweeps", "energy\nbefore", "\nafter"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("descent\nverified", justify="right", no_wrap=True)
    for s in summaries:
        table.add_row(
            s.rule,
            Text(f"{s.recalled} of {s.cues}", style="green" if s.recalled == s.cues else ""),
            f"{s.overlap_before:.2f}",
            f"{s.overlap_after:.2f}",
            f"{s.flips:.1f}",
            f"{s.sweeps:.1f}",
            _number(s.energy_before),
            _number(s.energy_after),
            Text("yes", style="green") if s.descent_holds else Text("no", style="red"),
        )
    return table


def seen(task: Task, traces: Mapping[str, Trace], summaries: Sequence[Summary]) -> str:
    """What the table shows, in words."""
    parts = []
    if task.noise is not None:
        first, *rest = summaries
        counts = [f"{first.rule} brought back {first.recalled} of {first.cues}", *(f"{s.rule} {s.recalled}" for s in rest)]
        parts.append(f"{_list(counts)}.".capitalize())
    if all(s.descent_holds for s in summaries):
        flips = sum(int(trace.flips.sum()) for trace in traces.values())
        name = next(iter(traces.values())).lyapunov_name
        parts.append(f"No change raised the {name}: verified over {flips:,} flips and from the final states.")
    for s in summaries:
        if not s.descent_holds:
            descent = traces[s.rule].descent
            parts.append(f"The energy of {s.rule} rose by up to {_number(descent.largest_rise)}: {descent.reason}.")
    return " ".join(parts)


def legend(summaries: Sequence[Summary]) -> str:
    """What the columns mean."""
    unit = " (hopfield: no unit)" if any(s.rule == "hopfield" for s in summaries) else ""
    return f"Means over the cues. Overlap with the own pattern: 1 = equal, 0 = unrelated. Energy in bits{unit}."


def answer(a: Answer) -> Text:
    """One rule's answer about one attribute, as a sentence."""
    rule = Text(f"{a.rule}: ", style="bold")
    if a.recalled is None:
        return rule + Text(f"no value of {a.attribute} came on (the row says {a.true}).")
    right = a.recalled == a.true
    verdict = "the row does not say" if a.true is None else "right" if right else f"wrong, the row says {a.true}"
    text = rule + Text(f"{a.attribute} = {a.recalled}") + Text(f" ({verdict})", style="" if a.true is None else "green" if right else "red")
    unit = "" if a.posterior is None and a.prior is None else " bits"
    if a.lead is not None:
        text += Text(f", {a.lead:.1f}{unit} ahead of {a.next}")
    if a.posterior is not None and a.prior is not None:
        text += Text(f"; probability {_percent(a.prior)} before, {_percent(a.posterior)} given the others")
    return text + Text(".")


def datasets_table(described: Iterable[Description]) -> Table:
    """One line a data set."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", style="bold", no_wrap=True)
    for heading in ("rows", "attributes", "missing"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what it is, credit and licence", overflow="fold")
    for d in described:
        about = d.about
        words = [about.title, *filter(None, (about.credit, about.licence))]
        table.add_row(d.name, f"{d.rows:,}", f"{d.attributes:,}", f"{d.missing:,}", escape(". ".join(words)))
    return table


def _list(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}"


def _percent(share: float) -> str:
    if 0.999 < share < 1.0:
        return "over 99.9 %"
    if 0.0 < share < 0.001:
        return "under 0.1 %"
    return f"{100.0 * share:.3g} %"
