"""What ``bnn compare`` tells people: two tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bnn.app.arguments import spoken
from bnn.app.compare_command import Task
from bnn.classify.paired import Difference
from bnn.classify.scores import Comparison, Score

SURE = 0.05


def tell(task: Task, found: Comparison, files: Sequence[str]) -> None:
    """Print what a comparison found."""
    console = Console(highlight=False)
    console.print(headline(task, found), markup=False)
    console.print(score_table(found.scores, console.width))
    if len(found.classifiers) > 1:
        console.print(f"Difference from {found.classifiers[0]} on the same splits:", markup=False)
        shown = found.differences("accuracy"), found.differences("information")
        console.print(difference_table(*shown, console.width))
    console.print(legend(found), markup=False, style="dim")
    for file in files:
        console.print(f"Written: {file}", markup=False, soft_wrap=True)


def headline(task: Task, found: Comparison) -> str:
    """What was compared, and on which splits."""
    used = found.trained[0] | found.tested[0]
    left_out = int((~used).sum())
    trained, tested = int(found.trained[0].sum()), int(found.tested[0].sum())
    told = (
        f"{spoken(task.request.data)}: {int(used.sum()):,} rows, {len(task.attributes.column_names):,} attributes, "
        f"{task.request.target} of {len(found.classes)} values; {len(found.tested):,} random splits, "
        f"{trained:,} rows to train and {tested:,} to test, seed {found.seed}."
    )
    return told + (f" {left_out:,} rows without a {task.request.target} are left out." if left_out else "")


def score_table(scores: Sequence[Score], width: int) -> Table:
    """One line a classifier; the best mean of each measure in bold."""
    table = _table(width, "accuracy\n%", "information\nbits", "log loss\nbits")
    best = (
        max(s.accuracy for s in scores),
        max(s.information for s in scores),
        min(s.log_loss for s in scores),
    )
    for s in scores:
        cells = (
            (s.accuracy, f"{100 * s.accuracy:.1f} ± {100 * s.accuracy_sd:.1f}"),
            (s.information, f"{s.information:z.2f} ± {s.information_sd:.2f}"),
            (s.log_loss, f"{s.log_loss:.2f} ± {s.log_loss_sd:.2f}"),
        )
        styled = [Text(told, "bold" if value == top else "") for (value, told), top in zip(cells, best, strict=True)]
        table.add_row(s.classifier, *styled)
    return table


def difference_table(accuracy: Sequence[Difference], information: Sequence[Difference], width: int) -> Table:
    """One line a classifier: by how much it is better or worse than the first, and how sure that is."""
    table = _table(width, "accuracy, %\n95 % interval", "\np", "information, bits\n95 % interval", "\np")
    for a, i in zip(accuracy, information, strict=True):
        table.add_row(a.classifier, *_cells(a, 100.0, "+z.1f"), *_cells(i, 1.0, "+z.2f"))
    return table


def _cells(d: Difference, scale: float, form: str) -> tuple[Text, Text]:
    """A difference with its interval, and its p-value; in colour where it holds among all."""
    colour = "" if d.p_holm >= SURE else "green" if d.mean > 0 else "red"
    mean, low, high = (format(scale * value, form) for value in (d.mean, d.low, d.high))
    p = "< 0.001" if d.p_holm < 0.001 else f"{d.p_holm:.3f}"
    return Text(f"{mean} [{low}, {high}]", colour), Text(p, colour)


def _table(width: int, *headings: str) -> Table:
    """A table with a column of names; fits 80 columns, and takes more room where there is some."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1) if width >= 100 else 0, pad_edge=False)
    table.add_column("\nclassifier", style="bold", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def legend(found: Comparison) -> str:
    """What the numbers mean."""
    told = (
        "±: standard deviation from split to split. Information score and log loss: bits a test row, more and less is "
        f"better; a class without a training row counts as probability {found.floor:g}."
    )
    if len(found.classifiers) > 1:
        told += (
            " Intervals heed that the splits share rows (Nadeau and Bengio), p that several differences are looked at "
            "(Holm, within its column)."
        )
    return told
