"""The same answers for programs: /api/predict, /api/explain, /api/recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import JSONResponse, Response

from bnn import __version__
from bnn.driver import recall
from bnn.errors import BnnError, DataError
from bnn.learning import learn
from bnn.plots.style import unit
from bnn.records import Records
from bnn.rules import RULES
from bnn.web import questions as q
from bnn.web.cases import Value, table_of
from bnn.web.course import dynamics_named
from bnn.web.guard import refused
from bnn.web.memory import network_of
from bnn.web.reports import finite, terms_of
from bnn.web.shelf import Shelf, Subject
from bnn.web.work import BusyError, Pool, Progress

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": q.Refusal, "description": description}
    for status, description in {
        400: "The body is no text.",
        401: "The token is asked for, and was not shown.",
        403: "Asked by another page, or under another name than loopback.",
        411: "The body does not say how long it is.",
        413: "The body is too large.",
        422: "What was asked cannot be; the detail says why.",
        503: "The server is busy, or this takes too long.",
    }.items()
}


def api_of(shelf: Shelf, pool: Pool) -> FastAPI:
    """The interface for programs, to be mounted at /api.

    Parameters
    ----------
    shelf, pool
        What can be asked about, and where work is done.
    """
    app = FastAPI(docs_url=None, redoc_url=None, title="bnn", version=__version__, responses=REFUSALS)

    @app.get("/names", summary="What can be asked about")
    def names() -> q.Names:
        return q.Names(consult=list(shelf.subjects), recall=list(shelf.memories))

    @app.post("/predict", summary="Class probabilities of cases")
    async def predict(asked: q.Consultation) -> q.Predictions:
        return await pool.run(lambda _: predictions(shelf.subject(asked.data or shelf.subjects[0]), asked))

    @app.post("/explain", summary="What speaks for and against each class, in bits")
    async def explain(asked: q.Consultation) -> q.Explanations:
        return await pool.run(lambda _: explanations(shelf.subject(asked.data or shelf.subjects[0]), asked))

    @app.post("/recall", summary="Recall from cues, with an energy that falls")
    async def recall_cues(asked: q.Recollection) -> q.Recollections:
        return await pool.run(lambda progress: recollections(shelf, asked, progress))

    @app.exception_handler(BnnError)
    async def cannot_be(_: Request, error: Exception) -> Response:
        return refused(503 if isinstance(error, BusyError) else 422, str(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = [{"loc": list(e["loc"]), "msg": e["msg"], "type": e["type"]} for e in error.errors()]
        return JSONResponse({"detail": found}, 422)

    return app


def predictions(subject: Subject, asked: q.Consultation) -> q.Predictions:
    """Class probabilities of cases."""
    classifier = subject.classifier
    table = table_of(classifier, asked.rows)
    chances = classifier.predict_proba(table)
    classes = [str(label) for label in classifier.classes_.tolist()]
    answers = [classes[c] for c in chances.argmax(axis=1).tolist()]
    notes = _never_learned(classifier, table, asked.rows)
    return q.Predictions(classes=classes, predictions=answers, probabilities=chances.tolist(), notes=notes)


def explanations(subject: Subject, asked: q.Consultation) -> q.Explanations:
    """What speaks for and against each class, case by case."""
    classifier = subject.classifier
    table = table_of(classifier, asked.rows)
    told = classifier.explain(table)
    log2 = told.log2_probabilities
    rows = [
        q.Reasons(
            prior=finite(told.prior.tolist()),
            terms=[q.Term(**term) for term in terms_of(told, row)],
            normaliser=told.normaliser[row],
            log2_probabilities=finite(log2[row].tolist()),
        )
        for row in range(len(told))
    ]
    notes = _never_learned(classifier, table, asked.rows)
    return q.Explanations(classes=[str(label) for label in told.classes.tolist()], rows=rows, notes=notes)


def recollections(shelf: Shelf, asked: q.Recollection, progress: Progress) -> q.Recollections:
    """Learn patterns, or take those of a name, and recall cues."""
    if asked.patterns is None:
        memory = shelf.memory(asked.data or shelf.memories[0])
        patterns, network = memory.records, network_of(memory, asked.rule, 0.0, 0)
    elif asked.data is not None:
        raise DataError("recall: both data and patterns were given; leave one of them out.")
    else:
        patterns = Records.from_patterns(_rows(asked.patterns, "patterns"))
        network = learn(patterns, RULES[asked.rule])
    cues = _rows(asked.cues, "cues")
    if cues.shape[1] != network.neurons:
        raise DataError(f"cues: have {cues.shape[1]} neurons, and the patterns {network.neurons}; give as many.")
    dynamics = dynamics_named(asked.dynamics)
    trace = recall(network, cues, dynamics, seed=asked.seed, max_sweeps=asked.max_sweeps, progress=progress)
    match = trace.match(patterns)
    rows = [
        q.Recalled(
            state=state,
            outcome=str(trace.outcome[row]),
            sweeps=int(trace.sweeps[row]),
            flips=int(trace.flips[row]),
            falling=trace.lyapunov[row].tolist(),
            nearest=int(match.nearest[row]),
            overlap=float(match.overlap[row]),
            match=str(match.word[row]),
        )
        for row, state in enumerate(np.where(trace.final == network.low, 0.0, trace.final).tolist())
    ]
    return q.Recollections(
        falls=trace.lyapunov_name,
        unit=unit(network),
        descent_holds=trace.descent.holds,
        largest_rise=trace.descent.largest_rise,
        guaranteed=trace.descent.guaranteed,
        reason=trace.descent.reason,
        rows=rows,
    )


def _rows(rows: list[list[int]] | list[list[int | None]], owner: str) -> np.ndarray:
    """Rows of equal length as an array, NaN where unknown."""
    if len({len(row) for row in rows}) != 1:
        raise DataError(f"{owner}: the rows differ in length; give as many neurons in each.")
    array: np.ndarray = np.array(rows, dtype=np.float64)
    return array


def _never_learned(classifier: Any, table: Any, rows: Sequence[Mapping[str, Value]]) -> list[str]:
    """A sentence for each attribute with values that were never learned, and so are no evidence."""
    strange: dict[str, Value] = {}
    for row, codes in zip(rows, classifier.read_codes(table).tolist(), strict=True):
        unread = dict(zip(classifier.codebook_.schema.names, codes, strict=True))
        strange |= {name: value for name, value in row.items() if value is not None and unread[name] < 0}
    return [f"{name}: {value!r} was never learned, and is no evidence." for name, value in strange.items()]
