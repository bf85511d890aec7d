"""What all experiments share: their options, their tables, and printed figures beside ours.

An experiment is a module with `NAME`, a docstring that opens with its claim and its source, and

    def measure(chosen) -> Result       # chosen.quick, chosen.seed and the experiment's own options
    def picture(result) -> Figure
    if __name__ == "__main__":
        main(NAME, __doc__, measure, picture)

`NAME` is the file's own name without its ending. With ``--out FOLDER`` it writes NAME.json (command, settings,
versions, hashes of the data, every table, what each split gave) and NAME.png there. `results.py` finds the experiments
of this folder, makes docs/results.md of their files in experiments/results, and keeps the figures of ``--quick`` that
the tests expect: those of every column but such as speak of seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table as Printed

import bnn
from bnn.files import write_atomically

LIBRARIES = ("numpy", "torch", "numba", "scikit-learn", "scipy", "pyarrow")


@dataclass(frozen=True)
class Measured:
    """A mean over splits or seeds, how far one of them lies from it, and what a paper prints for it.

    ``spread`` is the standard deviation from split to split, ``number`` that of the splits; ``printed_number`` is how
    many splits the paper took, so that its own mean is uncertain too. ``why`` explains a difference, where it is known.
    ``values`` are those of the splits themselves.
    """

    value: float
    spread: float = 0.0
    number: int = 1
    printed: float | None = None
    printed_number: int = 10
    why: str = ""
    digits: int = 1
    values: tuple[float, ...] = ()

    @staticmethod
    def of(values: Any, *, scale: float = 1.0, **told: Any) -> Measured:
        """The mean of one number a split."""
        some = scale * np.asarray(values, dtype=np.float64)
        spread = float(some.std(ddof=1)) if len(some) > 1 else 0.0
        each = tuple(float(f"{value:.6g}") for value in some)
        return Measured(float(some.mean()), spread, len(some), values=each, **told)

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.spread / math.sqrt(self.number)

    @property
    def verdict(self) -> str:
        """Whether the printed figure lies within two standard errors of the difference; if not, why."""
        if self.printed is None:
            return ""
        error = self.spread * math.sqrt(1 / self.number + 1 / self.printed_number)
        rounding = 0.5 * 10.0**-self.digits
        if abs(self.value - self.printed) <= 2 * error + rounding:
            return "agrees"
        return f"differs: {self.why or 'unexplained'}"

    def __str__(self) -> str:
        told = f"{self.value:.{self.digits}f}"
        if self.number > 1:
            told += f" ± {self.error:.{self.digits + 1}f}"
        if self.printed is not None:
            told += f" (printed {self.printed:.{self.digits}f}, {self.verdict.partition(':')[0]})"
        return told


Cell = str | int | float | Measured


@dataclass(frozen=True)
class Table:
    """A table of the results: ``rows`` of strings, numbers or `Measured`."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def differing(self) -> list[str]:
        """The printed figures that ours do not meet, a line for each reason."""
        places: dict[str, list[str]] = {}
        for row in self.rows:
            labels = ", ".join(takewhile(lambda cell: isinstance(cell, str), row))
            for column, cell in zip(self.columns, row, strict=True):
                if isinstance(cell, Measured) and cell.verdict.startswith("differs"):
                    places.setdefault(cell.why or "unexplained", []).append(f"{labels}, {column}")
        return [f"differs, {why}: {'; '.join(where)}" for why, where in places.items()]


@dataclass(frozen=True)
class Result:
    """What an experiment found; ``conclusion`` is said in words, ``data`` names the data sets it read.

    ``arrays`` are for the picture alone and are not written.
    """

    tables: Sequence[Table]
    conclusion: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    data: Sequence[str] = ()
    arrays: dict[str, Any] = field(default_factory=dict)


def main(
    name: str,
    doc: str,
    measure: Callable[[argparse.Namespace], Result],
    picture: Callable[[Result], Figure] | None,
    arguments: Sequence[str] | None = None,
    more: Callable[[argparse.ArgumentParser], object] | None = None,
) -> Result:
    """Run an experiment from the command line; ``more`` adds its own options."""
    parser = argparse.ArgumentParser(prog=name, description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version, in seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for the JSON file and the picture")
    if more is not None:
        more(parser)
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = parser.parse_args(arguments)
    began = processor_seconds()
    result = measure(chosen)
    tell(result)
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        command = shlex.join(["python", f"experiments/{name}.py", *arguments])
        told = {"command": command} | written(name, chosen, result, processor_seconds() - began)
        text = json.dumps(told, indent=1, ensure_ascii=False)
        text = re.sub(r"\[[^\[\]{}\"]*\]", lambda numbers: " ".join(numbers[0].split()), text)  # a line for each list
        write_atomically(chosen.out / f"{name}.json", lambda file: file.write_text(text + "\n", encoding="utf-8"))
        if picture is not None:
            figure = picture(result)
            write_atomically(chosen.out / f"{name}.png", lambda file: figure.savefig(file, dpi=110))
    return result


def processor_seconds() -> float:
    """Seconds that this process and its finished children have computed; other programs do not add to them."""
    return sum(os.times()[:4])


def tell(result: Result) -> None:
    """Print the tables, and what differs from print."""
    console = Console(width=150, highlight=False)
    for table in result.tables:
        printed = Printed(*table.columns, title=table.title, title_justify="left")
        for row in table.rows:
            printed.add_row(*(shown(cell) for cell in row))
        console.print(printed)
        for line in table.differing():
            console.print(f"  {line}")
    if result.conclusion:
        console.print(result.conclusion)


def shown(cell: Cell) -> str:
    """A cell as text."""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def written(name: str, chosen: argparse.Namespace, result: Result, seconds: float) -> dict[str, Any]:
    """The JSON file of a result."""
    options = {key: value for key, value in vars(chosen).items() if key != "out" and not isinstance(value, Path)}
    return {
        "experiment": name,
        "settings": options | result.settings,
        "versions": {"bnn": bnn.__version__, "python": platform.python_version()} | {n: version(n) for n in LIBRARIES},
        "data": {one: hashlib.sha256(bnn.datasets.path(one).read_bytes()).hexdigest() for one in result.data},
        "seconds": round(seconds, 1),
        "conclusion": result.conclusion,
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [[_plain(cell) for cell in row] for row in table.rows],
                "differing": table.differing(),
            }
            for table in result.tables
        ],
    }


def _plain(cell: Cell) -> Any:
    if not isinstance(cell, Measured):
        return cell
    return asdict(cell) | {"error": cell.error, "verdict": cell.verdict, "shown": str(cell)}
