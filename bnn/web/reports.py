"""A case and its explanation for people and for programs: lines of a table, HTML, JSON."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass
from typing import Any

from bnn import __version__
from bnn.classify.explanation import Explanation
from bnn.plots.style import readable
from bnn.web.consult_session import ConsultSession


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows of a case.

    Attributes
    ----------
    chances
        Probability of each class.
    shown
        The class whose reasons are shown: the one asked for, or the most probable.
    reasons
        As `lines_of` tells them.
    asked
        What to ask next, with the expected drops in bits.
    prior
        Of the class shown.
    """

    chances: list[float]
    shown: str
    reasons: list[dict[str, Any]]
    asked: list[tuple[str, float]]
    prior: float


def view_of(session: ConsultSession, label: str | None = None) -> View:
    """Ask everything that the page shows of a case, the reasons for one class or for the most probable one."""
    chances = session.probabilities()
    shown = label or session.classes[int(chances.argmax())]
    prior = float(session.priors()[session.classes.index(shown)])
    return View(chances.tolist(), shown, lines_of(session, shown), session.to_ask(), prior)


def lines_of(session: ConsultSession, label: str) -> list[dict[str, Any]]:
    """Lines of a table of gains for one class: the prior, what is known from the strongest on, normaliser and sum."""
    told = session.explanation()
    place = session.classes.index(label)
    known = [t for t, value in enumerate(told.values[0].tolist()) if value is not None]
    known.sort(key=lambda t: -abs(told.gains[0, t, place]))
    terms = [
        (told.terms[t], str(told.values[0, t]), float(told.gains[0, t, place]), f"{told.cases[0, t]:,.10g}", "")
        for t in known
    ]
    probability = float(told.log2_probabilities[0, place])
    return [
        _line("prior", "", float(told.prior[place]), "", "own"),
        *(_line(*term) for term in terms),
        _line("normaliser", "", -float(told.normaliser[0]), "", "own"),
        _line(f"sum = log2 of {100 * math.exp2(probability):.3g} %", "", probability, "", "total"),
    ]


def terms_of(told: Explanation, row: int) -> list[dict[str, Any]]:
    """What is known of a case, each with its gains in bits for all classes and the cases behind it."""
    terms = zip(told.terms, told.values[row].tolist(), told.gains[row].tolist(), told.cases[row].tolist(), strict=True)
    return [
        {"attribute": term, "value": str(value), "gains": finite(gains), "cases": cases}
        for term, value, gains, cases in terms
        if value is not None
    ]


def as_json(session: ConsultSession) -> str:
    """The case, the probability of each class, and every term of it in bits."""
    told = session.explanation()
    found = {
        "made_by": f"bnn {__version__}",
        "data": session.subject.name,
        "case": session.case,
        "probabilities": dict(zip(session.classes, session.probabilities().tolist(), strict=True)),
        "classes": session.classes,
        "prior": finite(told.prior.tolist()),
        "terms": terms_of(told, 0),
        "normaliser": float(told.normaliser[0]),
        "to_ask": [{"attribute": name, "bits": bits} for name, bits in session.to_ask()],
        "note": "prior + gains - normaliser = log2 of the probability; not a medical device",
    }
    return json.dumps(found, indent=1, allow_nan=False)


def as_html(session: ConsultSession) -> str:
    """A page that needs nothing else: the case, the probabilities, and the terms of the most probable class."""
    label, _ = session.answer()
    chances = zip(session.classes, session.probabilities().tolist(), strict=True)
    case = "".join(f"<tr><th>{_safe(name)}</th><td>{_safe(value)}</td></tr>" for name, value in session.case.items())
    answers = "".join(
        f"<tr><th>{_safe(name)}</th><td>{100 * chance:.1f} %</td><td>{_bar(chance, 0.0)}</td></tr>"
        for name, chance in chances
    )
    lines = lines_of(session, label)
    most = max(abs(line["size"]) for line in lines) or 1.0
    terms = "".join(
        f"<tr><th>{_safe(line['name'])}</th><td>{_safe(line['note'])}</td><td>{line['told']}</td>"
        f"<td>{line['cases']}</td><td>{_bar(line['size'] / most / 2, 0.5)}</td></tr>"
        for line in lines
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>A case explained</title><style>'
        "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#1c1f24}"
        "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.2rem .6rem;font-weight:400}"
        "td:last-child{width:40%}.b{height:1rem;background:#0072b2}.a{background:#b35c00}</style>"
        f"<h1>{_safe(session.subject.name)}</h1><p>Made by bnn {__version__}. This is not a medical device.</p>"
        f"<h2>The case</h2><table>{case}</table><h2>Probabilities</h2><table>{answers}</table>"
        f"<h2>What speaks for and against {_safe(label)}, in bits</h2>"
        f"<table><tr><th>term</th><th>value</th><th>bits</th><th>cases</th><th></th></tr>{terms}</table></html>"
    )


def finite(numbers: list[Any]) -> list[Any]:
    """Numbers as JSON knows them: None for what is not finite."""
    return [finite(n) if isinstance(n, list) else n if math.isfinite(n) else None for n in numbers]


def _line(name: str, note: str, size: float, cases: str, kind: str) -> dict[str, Any]:
    """One line as the table of the page wants it; a class excluded by its evidence has a bar as long as any."""
    shown = size if math.isfinite(size) else math.copysign(99.0, size)
    return {"name": name, "note": note, "size": shown, "told": readable(size, "+.2f"), "cases": cases, "kind": kind}


def _bar(share: float, middle: float) -> str:
    """A bar from the middle of its cell to the left or to the right."""
    left = 100 * (middle + min(share, 0.0))
    kind = "b a" if share < 0 else "b"
    return f'<div class="{kind}" style="margin-left:{left:.1f}%;width:{100 * abs(share):.1f}%"></div>'


def _safe(words: str) -> str:
    """Words in which nothing is markup."""
    return html.escape(words)
