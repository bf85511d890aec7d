"""Naive Bayes learned from files larger than memory: a pass for what their columns mean, and one to count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import add
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from jaxtyping import Int32, Shaped

from bnn.classify.class_counts import ClassCounts, split
from bnn.classify.columns import Column
from bnn.classify.describing import described
from bnn.classify.labels import read_labels
from bnn.classify.reading import Table
from bnn.cluster import divided, with_columns
from bnn.errors import DataError, unknown_name
from bnn.partitions import names_of, total
from bnn.records import Records
from bnn.schema import Attribute, Schema
from bnn.sources import Chunk, Mark, Source
from bnn.streaming import Losses, Part, heavy, part_of, records_of
from bnn.survey import Survey, merged, survey_of


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """What the columns of files mean to a classifier.

    Attributes
    ----------
    target
        Name of the column of classes.
    columns
        Of the attributes.
    classes
        Sorted, of the labels' own type.
    """

    target: str
    columns: tuple[Column, ...]
    classes: Shaped[np.ndarray, " classes"]

    @property
    def schema(self) -> Schema:
        """The schema by which files are coded: the attributes with their bounds, then the target."""
        bounds = [None if column.bounds is None else tuple(column.bounds.tolist()) for column in self.columns]
        attributes = [replace(c.attribute, bounds=b) for c, b in zip(self.columns, bounds, strict=True)]
        return Schema((*attributes, Attribute(self.target, tuple(self.classes.tolist()))), self.target)

    @staticmethod
    def found(survey: Survey, target: str, discretize: Any, intervals: int, owner: str) -> Meaning:
        """What `bnn.classify.describing.describe` finds, of a survey of labelled rows."""
        seen = survey.columns[target]
        seen.require_few(f"{owner}.y")
        classes, _ = read_labels(pa.chunked_array([seen.column]), owner)
        named = Attribute(target, tuple(classes.tolist()))
        return Meaning(target, described(survey, named, discretize, intervals, owner), classes)

    @staticmethod
    def given(schema: Schema, target: str, owner: str) -> Meaning:
        """What a schema says; how far apart numbers lie, which fuzzy bounds need, it does not say."""
        if target not in schema.names:
            raise unknown_name(f"{owner}.y", target, schema.names)
        classes, _ = read_labels(pa.chunked_array([pa.array(schema[target].values)]), owner)
        columns = [
            Column(replace(a, bounds=None), None if a.bounds is None else np.array(a.bounds))
            for a in schema.attributes
            if a.name != target
        ]
        return Meaning(target, tuple(columns), classes)


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """Class counts of files, as far as they have been read.

    Attributes
    ----------
    counts
        Of all labelled rows so far.
    left_out
        Rows without a class.
    losses
        What could not be read or was unseen.
    end
        Where to go on; None: at the beginning.
    """

    counts: ClassCounts
    left_out: int = 0
    losses: Losses = field(default_factory=Losses)
    end: Mark | None = None

    @property
    def rows(self) -> int:
        """Rows read so far."""
        return round(self.counts.rows) + self.left_out


class Counter(Protocol):
    """How a classifier counts rows that are coded."""

    def __call__(
        self, records: Records, target: Attribute, classes: Int32[np.ndarray, " rows"], table: Table
    ) -> ClassCounts:
        """Class counts of the rows; ``table`` holds the numbers behind the codes."""


def surveyed(chunks: Iterable[Chunk], target: str, owner: str) -> Survey:
    """Look through files once; rows without a class are passed over.

    Raises
    ------
    DataError
        Files without rows that have a class.
    """
    return _require_labels(survey_of(chunks, target, owner=owner), target, owner)


def _require_labels(survey: Survey, target: str, owner: str) -> Survey:
    """Raise `DataError` unless some row has a class."""
    if not survey.rows:
        raise DataError(f"{owner}.y: the files hold no row with a {target!r}; name the column of classes.")
    return survey


def counted(source: Source, meaning: Meaning, count: Counter, progress: Progress) -> Iterator[Progress]:
    """Count the rows of files, a chunk at a time; each result holds everything so far.

    Parameters
    ----------
    source
        The files.
    meaning
        Of their columns.
    count
        Of a classifier.
    progress
        What has been counted before: it goes on where that ends.
    """
    for part in records_of(source, meaning.schema, progress.end):
        progress = _after(progress, part, count)
        yield progress


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows in parts, anywhere, with their labels and weights as columns among them.

    Attributes
    ----------
    table
        A `bnn.Source` or a dask data frame.
    target, weight
        Names of these columns; rows of weight 0 are passed over.
    every
        Whether every row must have a label; else rows without one are left out.
    """

    table: Any
    target: str
    weight: str | None
    every: bool

    @property
    def attributes(self) -> list[str]:
        """The other columns."""
        names = self.table.names if isinstance(self.table, Source) else names_of(self.table, "Labelled")
        return [name for name in names if name not in (self.target, self.weight)]

    @staticmethod
    def of(X: Any, y: Any, sample_weight: Any, owner: str) -> Labelled:
        """Bring together what ``fit`` was given: names of columns, or columns of dask.

        Raises
        ------
        DataError
            A name that is no column's, or labels and weights that are not where the rows are.
        """
        names = X.names if isinstance(X, Source) else names_of(X, owner)
        columns, found = {}, []
        for word, given in (("y", y), ("sample_weight", sample_weight)):
            name = given
            if isinstance(given, str):
                if given not in names:
                    raise unknown_name(f"{owner}.{word}", given, names)
            elif given is not None or word == "y":
                if isinstance(X, Source) or not divided(given):
                    kind = "" if isinstance(X, Source) else ", or a column of dask with the same partitions"
                    raise DataError(f"{owner}.{word}: got {type(given).__name__}; give the name of a column{kind}.")
                name = next(word + "_" * i for i in range(len(names) + 1) if word + "_" * i not in names)
                columns[name] = given
            found.append(name)
        table = (
            X if isinstance(X, Source) or (hasattr(X, "columns") and not columns) else with_columns(X, names, columns)
        )
        return Labelled(table, *found, every=not isinstance(y, str))

    def meaning(self, discretize: Any, intervals: int, owner: str) -> Meaning:
        """Look through the rows once, each part where it is.

        Raises
        ------
        DataError
            No row that has a class; weights beside bounds that are not given: a survey's sample has no weights.
        """
        survey = total(partial(_surveyed, self.target, self.weight, owner), self.table, merged, owner=owner)
        found = Meaning.found(_require_labels(survey, self.target, owner), self.target, discretize, intervals, owner)
        ways = discretize if isinstance(discretize, Mapping) else {}
        for column in found.columns if self.weight is not None else ():
            name = column.attribute.name
            if column.bounds is not None and isinstance(ways.get(name, ""), str):
                raise DataError(
                    f"{owner}.discretize: bounds of column {name!r} cannot be found from weighted rows in parts; give "
                    "them, as in discretize={'age': [30, 60]}."
                )
        return found

    def counted(self, meaning: Meaning, count: Counter, begun: ClassCounts, owner: str) -> Progress:
        """Count the rows, each part where it is; ``begun`` are counts of no rows.

        Raises
        ------
        DataError
            Rows without a class, where every row must have one.
        """
        columns = (*meaning.schema.names, *(() if self.weight is None else (self.weight,)))
        one = partial(_counted, meaning, count, Progress(begun), self.weight)
        found = total(one, self.table, _sum, columns, owner)
        if self.every and found.left_out:
            raise DataError(f"{owner}.y: {found.left_out:,} labels are missing; leave out rows whose class is unknown.")
        return found


def _surveyed(target: str, weight: str | None, owner: str, chunks: Iterable[Chunk]) -> Survey:
    """What is seen of rows that count."""
    survey = survey_of((heavy(chunk, weight) for chunk in chunks), target, owner=owner)
    return replace(survey, columns={name: seen for name, seen in survey.columns.items() if name != weight})


def _counted(
    meaning: Meaning, count: Counter, begun: Progress, weight: str | None, chunks: Iterable[Chunk]
) -> Progress:
    """Counts of chunks."""
    for chunk in chunks:
        begun = _after(begun, part_of(heavy(chunk, weight), meaning.schema, weight), count)
    return begun


def _sum(parts: Sequence[Progress]) -> Progress:
    """Counts of all parts, which has no end to go on from."""
    counts = reduce(add, (part.counts for part in parts))
    left_out = sum(part.left_out for part in parts)
    return Progress(counts, left_out, reduce(add, (part.losses for part in parts)))


def _after(progress: Progress, part: Part, count: Counter) -> Progress:
    """Counts with those of one more part."""
    rows = part.records.rows
    labelled = part.records.codes[:, -1] >= 0
    every = bool(labelled.all())
    records, target, classes = split(part.records if every else part.records[labelled])
    table = _table(part, None if every else labelled)
    target = Attribute("class", target.values)
    return Progress(
        progress.counts + count(records, target, classes, table),
        progress.left_out + rows - records.rows,
        progress.losses + part.losses,
        part.end,
    )


def _table(part: Part, labelled: Any) -> Table:
    """The attributes of labelled rows, for what needs the numbers behind the codes."""
    columns = dict(list(part.columns.items())[:-1])
    if labelled is not None:
        mask = pa.array(labelled)
        columns = {name: column.filter(mask) for name, column in columns.items()}
    return Table(columns, len(next(iter(columns.values()), ())))
