"""What ``bnn associations`` tells people: a table, and what so many comparisons do."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bnn.association import Associations


def tell(data: str, found: Associations, files: Sequence[str]) -> None:
    """Print what was found."""
    console = Console(highlight=False)
    if len(found):
        console.print(f"{data}: values that come together more often, or less, than chance", markup=False)
        console.print(association_table(found))
    else:
        console.print(f"{data}: no pair of values comes together more often, or less, than chance.", markup=False)
    console.print(found.caution, markup=False, style="dim")
    for file in files:
        console.print(f"Written: {file}", markup=False, soft_wrap=True)


def association_table(found: Associations) -> Table:
    """One line a pair."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("\npair", overflow="fold")
    for heading in ("\nseen", "\nexpected", f"information, bits\n{100 * found.level:g} % interval", "\nweight"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in found.to_frame().to_pylist():
        colour = "blue" if row["component"] > 0 else "yellow"
        table.add_row(
            Text(f"{row['first']}, {row['second']}"),
            f"{row['observed']:,.6g}",
            f"{row['expected']:,.1f}",
            Text(f"{row['component']:+z.2f} [{row['low']:+z.2f}, {row['high']:+z.2f}]", colour),
            f"{row['weight']:+z.2f}",
        )
    return table
