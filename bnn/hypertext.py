"""How results show themselves in notebooks: small HTML tables, in which names of users are text and never markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bnn.classify.explanation import Explanation
    from bnn.counts import Counts
    from bnn.network import Network
    from bnn.trace import Trace

ROWS, CLASSES, PAIRS = 10, 5, 5
"""Lines of a table, classes beside each other, and connections that are shown at most."""
SEARCHED = 1000
"""Networks of more neurons are not searched for their strongest connections."""


class Drawing(str):
    """Markup of our own, which is not escaped."""

    __slots__ = ()


def section(caption: str, *parts: str) -> str:
    """A line of code, such as a repr, and what stands below it."""
    return f"<div><div><code>{escape(caption)}</code></div>{''.join(parts)}</div>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], text: int = 1) -> str:
    """Rows under a header, the first ``text`` columns to the left, numbers to the right.

    Examples
    --------
    >>> table(["value", "n"], [["<b>", "1"]])
    '<table><thead><tr><th style="text-align:left">value</th><th style="text-align:right">n</th></tr></thead><tbody>...'
    """

    def line(cells: Sequence[str], tag: str) -> str:
        told = (cell if isinstance(cell, Drawing) else escape(cell) for cell in cells)
        sides = ("left" if column < text else "right" for column in range(len(cells)))
        styled = (f'<{tag} style="text-align:{side}">{cell}</{tag}>' for side, cell in zip(sides, told, strict=True))
        return f"<tr>{''.join(styled)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"


def note(text: str) -> str:
    """A line below a table."""
    return f"<div><small>{escape(text)}</small></div>"


def curve(values: Sequence[float], width: int = 80, height: int = 18) -> Drawing:
    """A small line of a series, in the colour of the text."""
    low, high = min(values), max(values)
    step, scale = width / max(len(values) - 1, 1), (height - 2) / ((high - low) or 1.0)
    points = " ".join(f"{i * step:.1f},{1 + (high - value) * scale:.1f}" for i, value in enumerate(values))
    return Drawing(
        f'<svg width="{width}" height="{height}" role="img" aria-label="from {values[0]:,.1f} to {values[-1]:,.1f}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def of_network(network: Network) -> str:
    """How it was learned, and which neurons support each other most."""
    facts = [(name, str(value)) for name, value in network.provenance.items()]
    facts += [("coding", network.layout.coding), ("attributes", f"{len(network.layout.schema.names):,}")]
    parts = [table(["learned with", ""], facts, text=2)]
    if network.neurons <= SEARCHED:
        weights, names = network.table.cpu().numpy(), network.layout.names
        to, given = np.nonzero(np.tri(len(weights), k=-1) if network.symmetric else 1 - np.eye(len(weights)))
        chosen = np.argsort(-weights[to, given], kind="stable")[:PAIRS]
        rows = [(names[given[k]], names[to[k]], f"{weights[to[k], given[k]]:+.2f}") for k in chosen.tolist()]
        parts.append(table(["strongest, from", "to", "weight"], rows, text=2))
    return section(repr(network), *parts)


def of_counts(counts: Counts) -> str:
    """The values that most records have."""
    seen, known = counts.joint.diagonal(), counts.known.diagonal()[counts.layout.attribute]
    rows = [
        (counts.layout.names[i], f"{seen[i] / counts.scale:,.6g}", f"{100 * seen[i] / max(known[i], 1):.1f} %")
        for i in np.argsort(-seen, kind="stable")[:ROWS].tolist()
    ]
    return section(repr(counts), table(["value", "records", "of those known"], rows), _more(len(seen), "values"))


def of_trace(trace: Trace) -> str:
    """Each row's end, and how what must fall fell."""
    rows = [
        (str(word), f"{flips:,}", f"{sweeps:,}", f"{series[0]:,.1f}", f"{series[-1]:,.1f}", curve(series))
        for word, flips, sweeps, series in zip(
            trace.outcome[:ROWS],
            trace.flips[:ROWS].tolist(),
            trace.sweeps[:ROWS].tolist(),
            trace.lyapunov[:ROWS].tolist(),
            strict=True,
        )
    ]
    name, verdict = trace.lyapunov_name, trace.descent
    header = ["outcome", "flips", "sweeps", f"{name} before", "after", ""]
    told = f"largest single rise {verdict.largest_rise:.3g}; {verdict.reason}"
    return section(repr(trace), table(header, rows), _more(len(trace), "rows"), note(told))


def of_explanation(explanation: Explanation) -> str:
    """The sum of the first row, the likeliest classes beside each other, the strongest terms first."""
    likely = np.argsort(-explanation.log2_probabilities[0], kind="stable")[:CLASSES]
    gains = explanation.gains[0][:, likely]
    strongest = np.argsort(-np.abs(gains[:, 0]), kind="stable")

    def line(term: str, cases: str, numbers: Any) -> tuple[str, ...]:
        return (term, cases, *(f"{number:+.2f}" for number in numbers))

    rows = [line("prior", "", explanation.prior[likely])]
    for t in strongest[:ROWS].tolist():
        value = explanation.values[0, t]
        named = f"{explanation.terms[t]} = {'unknown' if value is None else value}"
        rows.append(line(named, f"{explanation.cases[0, t]:,.6g}", gains[t]))
    if len(strongest) > ROWS:
        rows.append(line(f"{len(strongest) - ROWS} weaker together", "", gains[strongest[ROWS:]].sum(axis=0)))
    rows.append(line("normaliser", "", np.full(len(likely), -explanation.normaliser[0])))
    log2 = explanation.log2_probabilities[0, likely]
    rows.append(line("sum: log2 of the probability", "", log2))
    rows.append(("probability", "", *(f"{100 * 2**number:.1f} %" for number in log2)))
    header = ["gains in bits", "cases", *(str(label) for label in explanation.classes[likely])]
    return section(repr(explanation), table(header, rows), _more(len(explanation), "rows", shown=1))


def _more(number: int, what: str, shown: int = ROWS) -> str:
    """A line that says how many are not shown."""
    return note(f"and {number - shown:,} more {what}") if number > shown else ""
