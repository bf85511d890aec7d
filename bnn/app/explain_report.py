"""What ``bnn explain`` tells people and programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bnn.app.arguments import spoken
from bnn.app.explain_command import Task
from bnn.app.words import percent
from bnn.classify.explanation import INTERVAL, Explanation

MOST = 8  # classes in the table
Bits = Float64[np.ndarray, " classes"]


def tell(task: Task, files: Sequence[str]) -> None:
    """Print why the row is classified as it is."""
    console = Console(highlight=False)
    explained, request = task.explained, task.request
    best = int(explained.log2_probabilities[0].argmax())
    sure = percent(2.0 ** float(explained.log2_probabilities[0, best]))
    console.print(f"{spoken(request.data)}, row {request.row}: {explained.classes[best]}, {sure}.", markup=False)
    console.print(class_table(task))
    against = "" if task.against is None else f", against {explained.classes[task.against]}"
    console.print(f"For {explained.classes[task.shown]}{against}:", markup=False)
    console.print(gain_table(task))
    told = "+ speaks for the class, - against it, in bits: a bit is a factor of two. Cases: training rows behind it."
    if unknown := explained.unknown(0):
        told += f" Unknown, and so no evidence: {', '.join(unknown)}."
    console.print(told, markup=False, style="dim")
    for file in files:
        console.print(f"Picture: {file}", markup=False, soft_wrap=True)


def class_table(task: Task) -> Table:
    """One line a class, the most probable first: what its log2 probability is the sum of."""
    explained = task.explained
    table = _table("class", "prior\ninformation", "sum of\ngains", "\nnormaliser", "log2 of the\nprobability", "\n")
    sums, log2 = explained.gains[0].sum(axis=0), explained.log2_probabilities[0]
    order = np.argsort(-log2, kind="stable").tolist()
    shown = [c for c in order if c in (*order[:MOST], task.shown, task.against)]
    for c in shown:
        parts = (_bits(explained.information[c], ""), _bits(sums[c]), _bits(-explained.normaliser[0]))
        table.add_row(Text(str(explained.classes[c])), *parts, _bits(log2[c], ""), percent(2.0 ** float(log2[c])))
    if len(shown) < len(order):
        table.add_row(Text(f"{len(order) - len(shown)} others", "dim"))
    return table


def gain_table(task: Task) -> Table:
    """One line an attribute, the strongest first, the others together; their sum is the last."""
    explained, c, d = task.explained, task.shown, task.against
    gains, errors = explained.gains[0], INTERVAL * explained.errors[0, :, c]
    with np.errstate(invalid="ignore"):  # the difference of two infinite gains
        size = np.abs(gains[:, c] - (0.0 if d is None else gains[:, d]))
    order = np.argsort(-np.nan_to_num(size, posinf=math.inf), kind="stable").tolist()
    known = [a for a in order if explained.values[0, a] is not None]
    own, rest = known[: task.request.strongest], known[task.request.strongest :]
    beside = () if d is None else ("other's\nbits", "\ndifference")
    table = _table("attribute", "\nbits", "95 %\ninterval", "\ncases", *beside)

    def add(name: str, bits: Bits, interval: str = "", cases: str = "", style: str = "dim") -> None:
        compared = () if d is None else (_bits(bits[d]), _coloured(float(bits[c]) - float(bits[d])))
        table.add_row(Text(name, style), _coloured(bits[c]), interval, cases, *compared)

    add("prior", explained.prior)
    for a in own:
        low, high = gains[a, c] - errors[a], gains[a, c] + errors[a]
        interval = f"{_bits(low)} to {_bits(high)}" if errors[a] else ""
        add(f"{explained.terms[a]} = {explained.values[0, a]}", gains[a], interval, _cases(explained.cases[0, a]), "")
    if rest:
        add(f"{len(rest)} weaker together", gains[rest].sum(axis=0))
    add("normaliser", np.full(len(explained.classes), -explained.normaliser[0]))
    table.add_section()
    add("sum: log2 of the probability", explained.log2_probabilities[0], style="bold")
    return table


def as_json(task: Task) -> dict[str, Any]:
    """All of it for programs; null is minus infinity, or an interval that is not given."""
    explained = task.explained
    log2 = explained.log2_probabilities[0]
    return {
        "row": task.request.row,
        "prediction": explained.classes[int(log2.argmax())],
        "normaliser": float(explained.normaliser[0]),
        "classes": [
            {
                "class": label,
                "prior_information": _finite(explained.information[c]),
                "gains": _gains(explained, c),
                "log2_probability": _finite(log2[c]),
                "probability": 2.0 ** float(log2[c]),
            }
            for c, label in enumerate(explained.classes.tolist())
        ],
    }


def _gains(explained: Explanation, c: int) -> list[dict[str, Any]]:
    """The gains of the known attributes for one class, in their order."""
    return [
        {
            "attribute": term,
            "value": value,
            "gain": _finite(gain),
            "low": _finite(gain - INTERVAL * error) if error else None,
            "high": _finite(gain + INTERVAL * error) if error else None,
            "cases": float(cases),
        }
        for term, value, gain, error, cases in zip(
            explained.terms,
            explained.values[0].tolist(),
            explained.gains[0, :, c],
            explained.errors[0, :, c],
            explained.cases[0],
            strict=True,
        )
        if value is not None
    ]


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _bits(number: float, sign: str = "+") -> str:
    """A number of bits, with its sign; unknown where it is the difference of two infinite ones."""
    return "?" if math.isnan(number) else f"{number:{sign}z.2f}".replace("inf", "∞")


def _cases(number: float) -> str:
    """A number of cases; fuzzy ones may be parts."""
    return f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"


def _coloured(number: float) -> Text:
    """Green speaks for the class, red against it."""
    return Text(_bits(number), "green" if number > 0.005 else "red" if number < -0.005 else "")


def _table(first: str, *headings: str) -> Table:
    """A table whose first column folds where the terminal is narrow."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(f"\n{first}", overflow="fold", min_width=8)
    for heading in headings:
        table.add_column(Text(heading), justify="right", no_wrap=True)
    return table
