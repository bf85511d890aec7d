"""All experiments of this folder at once: docs/results.md, full runs, and the figures that tests expect.

    python experiments/results.py            # docs/results.md from experiments/results/*.json
    python experiments/results.py --run      # first run every experiment in full, results to experiments/results
    python experiments/results.py --expect   # run every experiment with --quick and keep its figures for the tests

The page says how long each takes; together it is hours. With BNN_DATA=FOLDER the full runs also read the tables that
may not ship; the quick ones never do.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bnn.files import write_atomically

HERE = Path(__file__).parent
FULL = HERE / "results"
PAGE = HERE.parent / "docs" / "results.md"
EXPECTED = HERE / "expected_quick.json"
ERRORS = 4.0  # standard errors that a figure of --quick may lie from the one kept

INTRODUCTION = """# Results

What the experiments found, in full runs. This page is made of their files in `experiments/results` by
`python experiments/results.py`; with `--run` it first runs them all again. [B], [C], [S] and [T] are the papers that
[theory.md](theory.md) names.

A figure is a mean over splits or seeds with its standard error. Where a paper prints one, it stands beside ours and
*agrees* if it lies within two standard errors of the difference, the paper's own mean being one of as few splits as it
took; where it *differs*, the reason follows below the table, or "unexplained". Times are those of one core.
"""


def scripts() -> list[Path]:
    """The experiments of this folder: what has a NAME; the other files are what they share."""
    return sorted(path for path in HERE.glob("*.py") if "\nNAME = " in path.read_text(encoding="utf-8"))


def explained(script: Path) -> tuple[str, str]:
    """What an experiment says of itself: its claim, and the rest."""
    claim, _, rest = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").partition("\n\n")
    return " ".join(claim.split()), rest


def page() -> str:
    """docs/results.md."""
    lines = [INTRODUCTION, "| experiment | claim | time |", "|---|---|---|"]
    sections = []
    for script in scripts():
        kept = FULL / f"{script.stem}.json"
        name, time = script.stem, "no full run is kept"
        if kept.exists():
            result = json.loads(kept.read_text(encoding="utf-8"))
            time = duration(result["seconds"])
            sections += ["", *section(script, result)]
            name = f"[{script.stem}](#{script.stem})"
        lines.append(f"| {name} | {explained(script)[0]} | {time} |")
    return "\n".join(lines + sections) + "\n"


def section(script: Path, result: dict[str, Any]) -> Iterator[str]:
    """The part of the page on one experiment."""
    claim, rest = explained(script)
    yield from (f"## {script.stem}", "", f"**{claim}**", "", rest, "")
    settings = ", ".join(f"{key} {value}" for key, value in result["settings"].items() if key != "quick")
    versions = ", ".join(f"{library} {number}" for library, number in result["versions"].items())
    yield f"`{result['command']}`: {duration(result['seconds'])}; {settings}; {versions}."
    if result["data"]:
        hashes = ", ".join(f"{name} ({number[:12]})" for name, number in result["data"].items())
        yield f"Data, with the beginning of the file's SHA-256: {hashes}."
    for table in result["tables"]:
        yield from ("", f"**{table['title']}**", "", row(table["columns"]), row(["---"] * len(table["columns"])))
        yield from (row(map(shown, cells)) for cells in table["rows"])
        if table["differing"]:
            yield from ("", *(f"- {line}." for line in table["differing"]))
    if result["conclusion"]:
        yield from ("", result["conclusion"])
    if (FULL / f"{script.stem}.png").exists():
        yield from ("", f"![{claim}](../experiments/results/{script.stem}.png)")


def row(cells: Any) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def shown(cell: Any) -> str:
    """A cell of the JSON file as text."""
    if isinstance(cell, dict):
        return str(cell["shown"])
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def run(script: Path, *arguments: str) -> None:
    """Run a script with this tree's package, quietly unless it fails."""
    path = os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script.name} failed with status {done.returncode}:\n{done.stderr}")


def quick(script: Path, folder: Path) -> list[dict[str, Any]]:
    """The tables of a quick run, a `Measured` as its value and standard error."""
    run(script, "--quick", "--out", str(folder))
    told = json.loads((folder / f"{script.stem}.json").read_text(encoding="utf-8"))
    return [
        {key: table[key] for key in ("title", "columns")} | {"rows": [[*map(figure, cells)] for cells in table["rows"]]}
        for table in told["tables"]
    ]


def figure(cell: Any) -> Any:
    """What is kept of a cell."""
    if isinstance(cell, dict):
        return [figure(cell["value"]), figure(cell["error"])]
    return float(f"{cell:.8g}") if isinstance(cell, float) else cell


def differences(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> Iterator[str]:
    """Where the tables of a quick run are not as expected."""
    shapes = [[(t["title"], t["columns"], len(t["rows"])) for t in tables] for tables in (found, expected)]
    if shapes[0] != shapes[1]:
        yield f"other tables, columns or numbers of rows: {shapes[0]} instead of {shapes[1]}"
        return
    for mine, kept in zip(found, expected, strict=True):
        for ours, theirs in zip(mine["rows"], kept["rows"], strict=True):
            for column, one, other in zip(mine["columns"], ours, theirs, strict=True):
                if "seconds" not in column and not alike(one, other):
                    yield f"{mine['title']}: {ours[0]}, {column}: {one} instead of {other}"


def alike(found: Any, expected: Any) -> bool:
    """Whether a cell is as expected: within four standard errors of the difference; counts and words exactly."""
    if isinstance(found, list) and isinstance(expected, list):
        (value, error), (kept, its) = found, expected
        return abs(value - kept) <= ERRORS * math.hypot(error, its) + 1e-6 * max(1.0, abs(kept))
    if isinstance(found, float) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9)
    return bool(found == expected)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="run every experiment in full first")
    parser.add_argument("--expect", action="store_true", help="keep the figures of --quick that the tests expect")
    chosen = parser.parse_args()
    if chosen.expect:
        os.environ.pop("BNN_DATA", None)
        with tempfile.TemporaryDirectory() as folder:
            kept = {script.stem: quick(script, Path(folder)) for script in scripts()}
        text = re.sub(
            r"\n {5,}|\n {4}(?=\])", " ", json.dumps(kept, indent=1, ensure_ascii=False)
        )  # a line for each row
        write_atomically(EXPECTED, lambda file: file.write_text(text + "\n", encoding="utf-8"))
        return
    if chosen.run:
        for script in scripts():
            run(script, "--out", str(FULL))
    write_atomically(PAGE, lambda file: file.write_text(page(), encoding="utf-8"))


if __name__ == "__main__":
    main()
