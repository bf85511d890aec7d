"""What ``bnn datasets`` tells people."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from bnn.datasets import Description


def datasets_table(described: Iterable[Description]) -> Table:
    """One line a data set."""
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("attri-\nbutes", justify="right", no_wrap=True)
    table.add_column("meas-\nured", justify="right", no_wrap=True)
    table.add_column("gaps", justify="right", no_wrap=True)
    table.add_column("what it is, and whose")
    table.add_column("licence", no_wrap=True)
    for d in described:
        whose = f"{d.about.title}. {d.about.credit}".strip(" .")
        numbers = (f"{number:,}" for number in (d.rows, d.attributes, d.measurements, d.missing))
        table.add_row(d.name, *numbers, Text(whose), d.about.licence)
    return table
