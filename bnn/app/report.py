"""What ``bnn recall`` tells people: a table and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bnn.app.findings import Answer, Summary
from bnn.app.recall_command import Task
from bnn.app.words import percent
from bnn.dynamics import GradientFlow, KWinners, WinnerTakeAll
from bnn.dynamics.base import Dynamics
from bnn.network import Network
from bnn.rules import RULES
from bnn.trace import Trace

LONG = 14  # characters of a rule's name that fit beside the numbers in 80 columns
NAIVE = "A bit ahead is a factor of two; the probability given the others is naive Bayesian, often too sure."


def tell(
    task: Task,
    traces: Mapping[str, Trace],
    summaries: Sequence[Summary],
    said: Sequence[Answer],
    files: Sequence[str],
) -> None:
    """Print what a recall found."""
    console = Console(highlight=False)
    console.print(headline(task), markup=False)
    for attribute in task.request.mask:
        console.print()
        for one in said:
            if one.attribute == attribute:
                console.print(answer(one))
    still = not task.dynamics.graded and not any(trace.flips.any() for trace in traces.values())
    naive = any(one.posterior is not None for one in said)
    if task.noise is None and still:
        console.print("\nNothing more changed once what was hidden was filled in.")
        if naive:
            console.print(NAIVE, style="dim")
    else:
        console.print(summary_table(summaries, console.width, task.dynamics))
        console.print(seen(task, traces, summaries), markup=False)
        console.print(legend(task, summaries, naive), markup=False, style="dim")
    for file in files:
        console.print(f"Picture: {file}", markup=False, soft_wrap=True)


def headline(task: Task) -> str:
    """What was learned and what is asked."""
    schema = task.learned.schema
    cut = sum(attribute.bounds is not None for attribute in schema.attributes)
    measured = f", {cut} measurement{'s' if cut > 1 else ''} cut into intervals" if cut else ""
    how = f"{_named(task.dynamics)}, seed {task.request.seed}"
    if task.noise is not None:
        table = any(attribute.kind != "on_off" for attribute in schema.attributes)
        rows, cells = ("rows", "cells") if table else ("patterns", "pixels" if schema.shape else "neurons")
        if task.request.form == "baskets":
            return (
                f"{task.name}: {task.learned.rows:,} baskets of {len(schema.names):,} items learned; cues: the first "
                f"{task.cues.rows:,} with {percent(task.noise)} of their items left out; {how}."
            )
        learned = f"{task.name}: {task.learned.rows:,} {rows} learned{measured}"
        if task.noise > 0 and not (task.cues.codes != task.truth.codes).any():
            return f"{learned}; cues: the same, as too few of their {cells} could change; {how}."
        changed = f"cues: the same with {percent(task.noise)} of their {cells} {'changed' if table else 'flipped'}"
        return f"{learned}; {changed}; {how}."
    others = len(schema.names) - len(task.request.mask)
    return (
        f"{task.name}, row {task.request.row}: {_list(task.request.mask)} hidden, the other {others} attributes "
        f"{'free to change' if task.request.free else 'kept'}; learned from {task.learned.rows:,} rows, this one "
        f"{'' if task.among else 'not '}among them{measured}; {how}."
    )


def _named(dynamics: Dynamics) -> str:
    """Name of the dynamics; of a flow also its gain and solver."""
    if not isinstance(dynamics, GradientFlow):
        return dynamics.name
    return f"{dynamics.name} at gain {dynamics.gain:g} by {dynamics.solver}"


def summary_table(summaries: Sequence[Summary], width: int, dynamics: Dynamics | None = None) -> Table:
    """One line a rule; fits 80 columns, and takes more room where there is some."""
    flow = isinstance(dynamics, GradientFlow)
    steps = "steps" if flow else "sweeps" if dynamics is None else f"{dynamics.clock}s"
    energy = "free energy" if flow else "energy"
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1) if width >= 100 else 0, pad_edge=False)
    table.add_column("\nrule", style="bold", no_wrap=True)
    numbers = ("recalled\nexactly", "overlap\nbefore", "\nafter", "\nflips", f"\n{steps}")
    for heading in (*numbers, f"{energy}\nbefore", "\nafter", "descent\nverified"):
        table.add_column(heading, justify="right", no_wrap=True)
    for s in summaries:
        long = len(s.rule) > LONG and width < 100
        table.add_row(
            s.rule.replace("-", "-\n", 1) if long else s.rule,
            Text(f"{s.recalled} of {s.cues}", style="green" if s.recalled == s.cues else ""),
            f"{s.overlap_before:z.2f}",
            f"{s.overlap_after:z.2f}",
            f"{s.flips:.1f}",
            f"{s.sweeps:.1f}",
            _number(s.energy_before),
            _number(s.energy_after),
            Text("yes", style="green") if s.descent_holds else Text("no", style="red"),
        )
    return table


def seen(task: Task, traces: Mapping[str, Trace], summaries: Sequence[Summary]) -> str:
    """What the table shows, in words."""
    told = []
    if task.noise is not None:
        first, *rest = summaries
        counts = [
            f"{first.rule} brought back {first.recalled} of {first.cues}",
            *(f"{s.rule} {s.recalled}" for s in rest),
        ]
        told.append(f"{_list(counts).capitalize()}.")
    sweeps = task.request.max_sweeps or task.dynamics.limit
    limit = f"after {sweeps} {task.dynamics.clock}s"
    if isinstance(task.dynamics, GradientFlow):
        limit = "when their steps or their time ran out"
    for word, what in (
        ("cycle", "in a cycle of two"),
        ("limit", f"still changing {limit}"),
        ("stalled", "stuck, for their steps shrank to nothing (take --solver descent)"),
    ):
        ended = [f"{int(n)} of {rule}" for rule, trace in traces.items() if (n := (trace.outcome == word).sum())]
        if ended and task.dynamics.settles:
            told.append(f"Ended {what}: {_list(ended)}.")
    if not isinstance(task.dynamics, KWinners | WinnerTakeAll) and task.input == 0.0:
        networks = {rule: trace.network for rule, trace in traces.items() if isinstance(trace.network, Network)}
        some = [rule for rule, network in networks.items() if float(network.weights.min()) >= 0.0]
        if some:
            told.append(
                f"No weight of {_list(some)} is negative, so that nothing turns a neuron off: take --dynamics "
                "k-winners, or --input with minus a threshold."
            )
    return " ".join([*told, _verdict(traces)])


def _verdict(traces: Mapping[str, Trace]) -> str:
    """Whether what must fall fell, by how much not, and what theory promises."""
    verdicts = {rule: trace.descent for rule, trace in traces.items()}
    name = next(iter(traces.values())).lyapunov_name
    risen = {rule: d for rule, d in verdicts.items() if not d.holds and d.mismatch <= d.mismatch_tolerance}
    rises = [f"{rule} by up to {_number(d.largest_rise)}" for rule, d in risen.items()]
    differ = [f"{r} by {_number(d.mismatch)}" for r, d in verdicts.items() if d.mismatch > d.mismatch_tolerance]
    told = []
    if rises:
        told.append(f"The {name} rose: {_list(rises)}.")
    if differ:
        told.append(f"The independent checks of the {name} differ: {_list(differ)}.")
    if not told:
        told.append(f"{_fallen(traces, name)}, and anew from the final states.")
    reasons: dict[str, list[str]] = {}
    for rule, d in verdicts.items():
        if not d.guaranteed:
            reasons.setdefault(d.reason, []).append(rule)
    told += [f"Nothing promises that it falls for {_list(rules)}: {reason}." for reason, rules in reasons.items()]
    return " ".join(told)


def _fallen(traces: Mapping[str, Trace], name: str) -> str:
    """That nothing rose, and over how many changes this was seen."""
    if not any(trace.dynamics.graded for trace in traces.values()):
        flips = sum(int(trace.flips.sum()) for trace in traces.values())
        return f"No change raised the {name}: verified over {flips:,} flips"
    steps = sum(int(trace.sweeps.sum()) for trace in traces.values())
    rise = max(trace.descent.largest_rise for trace in traces.values())
    within = f" by more than its own error ({rise:.1g} bits at most)" if rise > 0.0 else ""
    return f"No step raised the {name}{within}: verified over {steps:,} steps"


def legend(task: Task, summaries: Sequence[Summary], naive: bool = False) -> str:
    """What the numbers mean."""
    plain = [s.rule for s in summaries if not RULES[s.rule].in_bits]
    unit = "without unit" if len(plain) == len(summaries) else "in bits"
    if 0 < len(plain) < len(summaries):
        unit += f" ({_list(plain)}: no unit)"
    flow = isinstance(task.dynamics, GradientFlow)
    energy = f"Free energy, energy minus temperature times entropy, {unit}" if flow else f"Energy {unit}"
    energy += "; flips: neurons that crossed the middle." if task.dynamics.graded else "."
    told = f"Overlap with the own pattern: 1 equal, 0 unrelated, -1 inverse. {energy}"
    if task.noise is None:
        return f"{NAIVE} {told}" if naive else told
    return f"{told} All but the counts are means over the cues."


def answer(a: Answer) -> Text:
    """One rule's answer about one attribute, as a sentence."""
    row = "the row does not say" if a.true is None else f"the row says {a.true}"
    told = Text(f"{a.rule}: ", style="bold")
    if a.recalled is None:
        return told + Text(f"no value of {a.attribute} came on ({row}).", style="not bold")
    told += Text(f"{a.attribute} = {a.recalled} ", style="not bold")
    if a.true is None:
        told += Text(f"({row})", style="not bold")
    else:
        right = a.recalled == a.true
        told += Text("(right)" if right else f"(wrong, {row})", style="not bold green" if right else "not bold red")
    words = ""
    if a.lead is not None:
        unit = " bits" if RULES[a.rule].in_bits else ""
        apart = f"{abs(a.lead):.1f}{unit} {'ahead of' if a.lead >= 0 else 'behind'}"
        words += f", {apart if abs(a.lead) >= 0.05 else 'level with'} {a.attribute} = {a.next}"
    if a.prior is not None and a.posterior is not None:
        words += f"; {percent(a.prior)} of the rows, {percent(a.posterior)} given the others"
    return told + Text(f"{words}.", style="not bold")


def _list(words: Sequence[str]) -> str:
    """One, two and three."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _number(value: float) -> str:
    """Short enough for a column of nine."""
    if abs(value) >= 1e7:
        return f"{value:.2e}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:z.1f}"
