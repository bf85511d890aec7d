"""The work of ``bnn fit``: read tables, learn them, write the classifier."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from sklearn.base import clone

from bnn.app.arguments import spoken
from bnn.app.data import data_file, mostly_numbers, training_columns
from bnn.app.progress import Bar
from bnn.app.resuming import Saved
from bnn.classify.labelled import Labelled
from bnn.classify.naive import NaiveBayesClassifier
from bnn.classify.registry import CLASSIFIERS
from bnn.classify.streamed import Meaning, Progress, counted
from bnn.errors import DataError, unknown_name
from bnn.files import exclusively
from bnn.partitions import total
from bnn.schema import Schema
from bnn.sources import Source
from bnn.streaming import Losses, table_of
from bnn.survey import merged, survey_of

SAVE_EVERY = 30.0
"""Seconds between two saves of a run that can be resumed."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked: the words of the command line.

    Attributes
    ----------
    data, target, ignored
        Where the tables are, their column of classes, and the columns to leave out.
    classifier, options
        Its name, and its parameters; None where it should choose. ``discretize`` as words of the command line.
    schema
        File of a schema: used where it exists, else written.
    strict
        Whether damage stops the work.
    file
        Where the classifier goes.
    resume
        Whether counts are saved there on the way, and taken up where they are there.
    """

    data: tuple[str, ...]
    target: str
    ignored: tuple[str, ...]
    classifier: str
    options: Mapping[str, Any]
    schema: Path | None
    strict: bool
    file: Path
    resume: bool

    @property
    def name(self) -> str:
        """The data in a sentence."""
        return spoken(self.data[0]) if len(self.data) == 1 else f"{self.data[0]} and {len(self.data) - 1} more"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A classifier and what it learned from.

    Attributes
    ----------
    classifier
        The fitted classifier.
    rows
        Rows of each class, the most frequent class first.
    left_out
        Rows without a class.
    losses
        What could not be read.
    files
        Written files.
    """

    classifier: Any
    rows: Mapping[Any, int]
    left_out: int
    losses: Losses
    files: tuple[Path, ...]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after so many rows, whose counts have been saved."""


def source_of(data: Sequence[str], strict: bool = False, scheduler: str | None = None) -> Source:
    """The files that the words of the command line mean, and the cluster that reads them."""
    return Source.of(*(data_file(word) for word in data), strict=strict, scheduler=scheduler)


def fit_classifier(request: Request, source: Source, bar: Bar) -> Fitted:
    """Learn tables, and write what was learned.

    Raises
    ------
    BnnError
        Whatever does not fit, in one sentence.
    """
    estimator = _estimator(request.classifier, request.options)
    attributes = training_columns(request.name, source.names, request.target, request.ignored)
    if request.options["discretize"]:
        estimator.set_params(discretize=_discretize(request.options["discretize"], attributes))
    if isinstance(estimator, NaiveBayesClassifier):
        if request.resume and source.scheduler is not None:
            raise DataError("--resume: a cluster counts fragments in no order to go on from; leave it out.")
        with exclusively(request.file) if request.resume else nullcontext():
            return _fit_by_parts(request, source, attributes, estimator, bar)
    of_counts = {"--resume": request.resume, "--schema": request.schema, "--scheduler": source.scheduler}
    if words := [word for word, given in of_counts.items() if given]:
        raise DataError(
            f"{words[0]}: {request.classifier!r} learns from all rows at once, not from counts; leave it out."
        )
    return _fit_at_once(request, source, attributes, estimator)


def _fit_by_parts(
    request: Request, source: Source, attributes: Sequence[str], classifier: NaiveBayesClassifier, bar: Bar
) -> Fitted:
    """Learn from counts, of files that need not fit the memory."""
    saved = Saved.of(request.file, source, request.target, request.ignored) if request.resume else None
    files = [request.file]
    if saved is not None and request.file.exists():
        classifier, meaning, progress = saved.take_up(classifier)
    else:
        meaning = _meaning(request, source, attributes, classifier, bar)
        progress = Progress(classifier.begin(meaning))
        if request.schema is not None and not request.schema.exists():
            meaning.schema.save(request.schema)
            files.append(request.schema)
    bar.say("counting")
    last = time.monotonic()
    try:
        for progress in _counted(source, meaning, classifier, progress):  # noqa: B020 - from there it goes on
            bar.count(progress.rows)
            if saved is not None and time.monotonic() - last >= SAVE_EVERY:
                saved.write(classifier, progress)
                last = time.monotonic()
    except KeyboardInterrupt:
        if saved is None or progress.end is None:
            raise
        saved.write(classifier, progress)
        raise Interrupted(progress.rows) from None
    classifier.finish(progress.counts)
    if saved is None or progress.end is None:  # where nothing was read there is nothing to go on from
        classifier.save(request.file)
    else:
        saved.write(classifier, progress)
    totals = (progress.counts.totals // progress.counts.scale).tolist()
    rows = dict(zip(classifier.classes_.tolist(), totals, strict=True))
    return Fitted(classifier, _by_frequency(rows), progress.left_out, progress.losses, tuple(files))


def _counted(source: Source, meaning: Meaning, classifier: NaiveBayesClassifier, begun: Progress) -> Iterator[Progress]:
    """Counts of the files as they come: chunk by chunk, or all of them from a cluster."""
    if source.scheduler is None:
        yield from counted(source, meaning, classifier.count, begun)
    else:
        rows = Labelled(source, meaning.target, None, every=False)
        yield rows.counted(meaning, classifier.count, begun.counts, type(classifier).__name__)


def _fit_at_once(request: Request, source: Source, attributes: Sequence[str], classifier: Any) -> Fitted:
    """Learn from all rows in memory."""
    fields = partial(mostly_numbers, request.name, request.ignored)
    table, losses = table_of(source, [*attributes, request.target], fields)
    if not len(table):
        _require_rows(request, source)
    labels = table[request.target]
    known = pc.is_valid(labels)
    counted = {one["values"]: one["counts"] for one in pc.value_counts(labels.drop_null()).to_pylist()}
    _require_classes(request, list(counted))
    classifier.fit(table.select(attributes).filter(known), labels.filter(known))
    classifier.save(request.file)
    return Fitted(classifier, _by_frequency(counted), labels.null_count, losses, (request.file,))


def _meaning(
    request: Request, source: Source, attributes: Sequence[str], classifier: NaiveBayesClassifier, bar: Bar
) -> Meaning:
    """What the columns mean: by the schema that is given, or as a first pass finds it."""
    owner = type(classifier).__name__
    if request.schema is not None and request.schema.exists():
        return _meaning_given(request, Schema.load(request.schema), attributes, owner)
    bar.say("looking at columns")
    columns, look = [*attributes, request.target], partial(survey_of, labels=request.target, owner=owner)
    if source.scheduler is None:
        survey = look(bar.passing(source.chunks(columns)))
    else:
        survey = total(look, source, merged, columns, owner)
    for name, seen in survey.columns.items():
        if seen.fields and seen.values is not None:
            mostly_numbers(request.name, request.ignored, name, seen.values)
    if not survey.rows:
        _require_rows(request, source)
        _require_classes(request, [])
    meaning = Meaning.found(survey, request.target, classifier.discretize, classifier.intervals, owner)
    _require_classes(request, meaning.classes.tolist())
    return meaning


def _meaning_given(request: Request, schema: Schema, attributes: Sequence[str], owner: str) -> Meaning:
    """What the columns mean by a schema; of what it tells, nothing can be asked otherwise."""
    for word in ("discretize", "intervals", "fuzzy"):
        if request.options[word]:
            raise DataError(f"--{word}: the schema {str(request.schema)!r} says how numbers are cut; leave one out.")
    if strange := [name for name in schema.names if name not in (*attributes, request.target)]:
        raise unknown_name(
            f"--schema: the tables lack, or ignore, a column of {str(request.schema)!r}", strange[0], attributes
        )
    meaning = Meaning.given(schema, request.target, owner)
    _require_classes(request, meaning.classes.tolist())
    return meaning


def _require_rows(request: Request, source: Source) -> None:
    """Raise `DataError` where no row is left because of damage, saying which."""
    if damage := next((chunk.damage[0] for chunk in source.chunks() if chunk.damage), None):
        raise DataError(f"{request.name}: no row can be read: {damage.told}; mend it.")


def _require_classes(request: Request, classes: Sequence[Any]) -> None:
    """Raise `DataError` unless there are two classes."""
    if len(classes) < 2:
        found = f"only {classes[0]!r}" if classes else "no class at all"
        raise DataError(
            f"--target: {request.target!r} of {request.name} holds {found}; needed are two classes to tell apart."
        )


def _by_frequency(rows: Mapping[Any, int]) -> dict[Any, int]:
    """Classes that occur, the most frequent first."""
    return {label: number for label, number in sorted(rows.items(), key=lambda one: -one[1]) if number}


def _estimator(name: str, options: Mapping[str, Any]) -> Any:
    """An unfitted classifier that files can keep, with its parameters."""
    able = [key for key, estimator in CLASSIFIERS.items() if hasattr(estimator, "save")]
    if name in CLASSIFIERS and name not in able:
        raise DataError(f"--classifier: {name!r} has no file to be kept in; choose {' or '.join(map(repr, able))}.")
    if name not in able:
        raise unknown_name("--classifier", name, able)
    estimator = clone(CLASSIFIERS[name])
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if key not in estimator.get_params():
            raise DataError(f"--{key.lower()}: {name!r} has no such option; leave it out.")
    return estimator.set_params(**given)


def _discretize(words: Sequence[str], names: Sequence[str]) -> Any:
    """How columns of numbers are cut: one way for all, ``COLUMN=WAY`` or ``COLUMN=BOUND,BOUND,...`` for one."""
    ways: dict[str, Any] = {}
    for word in words:
        name, one, way = word.rpartition("=")
        if one and name not in names:
            raise unknown_name("--discretize", name, names)
        try:
            cut: Any = [float(bound) for bound in way.split(",")] if one else way
        except ValueError:
            cut = way
        ways |= {name: cut} if one else dict.fromkeys(names, cut)
    return ways
