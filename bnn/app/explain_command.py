"""The work of ``bnn explain``: load a classifier, explain one row, draw."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bnn.app.data import as_fitted, known_table
from bnn.classify.explanation import Explanation
from bnn.classify.showing import every_value
from bnn.classify.storing import load_classifier
from bnn.errors import BnnWarning, DataError, FileError, unknown_name
from bnn.files import write_atomically

CLASS = "class"
"""Key of the labels of the classes, and of an attribute's where one is called so."""
MOST = 40
"""Values that an axis of a nomogram has room for."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for; the command's options say what each means."""

    model: Path
    data: str
    row: int
    label: str | None
    against: str | None
    labels: Path | None
    strongest: int


@dataclass(frozen=True, slots=True)
class Task:
    """A row explained, and what is shown of it.

    Attributes
    ----------
    request
        What was asked for.
    classifier
        The classifier.
    labels
        Readable labels by attribute and by value as text.
    explained
        Of the one row, with its labels.
    shown, against
        Position of the class, and of the other one it is compared with.
    """

    request: Request
    classifier: Any
    labels: Mapping[str, Mapping[str, str]]
    explained: Explanation
    shown: int
    against: int | None


def prepare(request: Request) -> Task:
    """Load, read and explain.

    Raises
    ------
    BnnError
        Whatever does not fit, in one sentence.
    """
    classifier = load_classifier(request.model)
    if not hasattr(classifier, "explain"):
        raise DataError(f"{request.model}: {type(classifier).__name__} does not explain its answers; use bnn predict.")
    labels = {} if request.labels is None else _read_labels(request.labels)
    if strange := [name for name in labels if name not in (*classifier.codebook_.schema.names, CLASS)]:
        raise unknown_name("--labels", strange[0], [*classifier.codebook_.schema.names, CLASS])
    table = known_table(request.data, classifier)
    rows = len(next(iter(table.values()))) if isinstance(table, dict) else table.num_rows
    if not 0 <= request.row < rows:
        raise DataError(f"--row: got {request.row}; {request.data} has the rows 0 to {rows - 1}.")
    cells = {name: table[name].slice(request.row, 1) for name in classifier.codebook_.schema.names}
    explained = _readable(classifier.explain(as_fitted(classifier, cells)), labels)
    shown = int(explained.log2_probabilities[0].argmax())
    if request.label is not None:
        shown = _position("--class", request.label, classifier, explained)
    against = None if request.against is None else _position("--against", request.against, classifier, explained)
    if against == shown:
        raise DataError(f"--against: got {request.against!r}, which is the class itself; name another.")
    return Task(request, classifier, labels, explained, shown, against)


def draw(task: Task, picture: Path) -> list[str]:
    """Write the bars, and a nomogram beside them where there is one other class, each all of it or nothing.

    Warns
    -----
    BnnWarning
        A nomogram that cannot be drawn, or not with all attributes.
    """
    from bnn import plots

    classes = task.explained.classes.tolist()
    label, strongest = classes[task.shown], task.request.strongest
    figures = {picture: plots.explanation(task.explained, label=label, strongest=strongest)}
    if task.against is not None or len(classes) == 2:
        other = classes[1 - task.shown if task.against is None else task.against]
        try:
            if not task.classifier.APART:
                name = type(task.classifier).__name__
                raise DataError(f"in a {name} what a value says depends on other values.")
            figure = plots.nomogram(_every_value(task), label, other, strongest=strongest)
            figures[picture.with_name(f"{picture.stem}-nomogram{picture.suffix}")] = figure
        except DataError as error:  # the rest of the explanation is no worse for it
            warnings.warn(f"no nomogram is drawn: {error}", BnnWarning, stacklevel=2)
    for file, figure in figures.items():
        write_atomically(file, partial(figure.savefig, dpi=150))
    return [str(file) for file in figures]


def _every_value(task: Task) -> Explanation:
    """Gains of every value that an axis has room for."""
    codebook = task.classifier.codebook_
    if wide := [a.name for a in codebook.schema.attributes if len(a.values) > MOST]:
        warnings.warn(f"the nomogram has no room for the values of {', '.join(wide[:5])}.", BnnWarning, stacklevel=2)
    return _readable(task.classifier.explain(as_fitted(task.classifier, every_value(codebook, MOST))), task.labels)


def _read_labels(path: Path) -> dict[str, dict[str, str]]:
    """Labels by attribute and by value as text, from a JSON file."""
    try:
        told = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FileError(f"--labels: {str(path)!r} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise FileError(f"--labels: {str(path)!r} is not JSON in UTF-8 ({error}).") from error
    if not isinstance(told, dict):
        raise DataError(f"--labels: {str(path)!r} holds {told!r:.50}; needed is an object of objects, by attribute.")
    for name, labels in told.items():
        if not isinstance(labels, dict) or not all(isinstance(label, str) for label in labels.values()):
            raise DataError(f"--labels: those of {name!r} are {labels!r:.50}; needed is an object of text, by value.")
        if len(set(labels.values())) < len(labels):
            raise DataError(f"--labels: two values of {name!r} have the same label; tell them apart.")
    return told


def _readable(explained: Explanation, labels: Mapping[str, Mapping[str, str]]) -> Explanation:
    """The same with labels for values and classes."""
    by_term = {}
    for term, told in labels.items():
        if term in explained.terms:
            values = set(explained.values[:, explained.terms.index(term)].tolist())
            by_term[term] = {value: told[str(value)] for value in values if str(value) in told}
    classes = np.empty(len(explained.classes), dtype=object)
    told = labels.get(CLASS, {})
    classes[:] = [told.get(str(label), label) for label in explained.classes.tolist()]
    return replace(explained.with_labels(by_term), classes=classes)


def _position(option: str, label: str, classifier: Any, explained: Explanation) -> int:
    """Which class the words of the command line mean: by itself, or by its readable label."""
    for classes in (classifier.classes_, explained.classes):
        named = [str(one) for one in classes.tolist()]
        if label in named:
            return named.index(label)
    raise unknown_name(option, label, classifier.classes_.tolist())
