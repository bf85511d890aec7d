"""Naive Bayes learned from files larger than memory: a pass for what their columns mean, and one to count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int32, Shaped

from bnn.classify.class_counts import ClassCounts, split
from bnn.classify.columns import Column
from bnn.classify.describing import described
from bnn.classify.labels import read_labels
from bnn.classify.reading import Table
from bnn.errors import unknown_name
from bnn.records import Records
from bnn.schema import Attribute, Schema
from bnn.sources import Mark, Source
from bnn.streaming import Losses, Part, records_of
from bnn.survey import Survey


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


Counter = Callable[[Records, Attribute, Int32[np.ndarray, " rows"], Table], ClassCounts]
"""How a classifier counts coded rows: records, target, classes, and the numbers behind the codes."""


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
    for part in records_of(source, meaning.schema, progress.end, labelled=True):
        progress = after(progress, part, count)
        yield progress


def after(progress: Progress, part: Part, count: Counter) -> Progress:
    """Counts and those of one part more."""
    records, target, classes = split(part.records)
    columns = {name: column for name, column in part.columns.items() if name != target.name}
    counts = count(records, Attribute("class", target.values), classes, Table(columns, records.rows))
    return Progress(
        progress.counts + counts, progress.left_out + part.left_out, progress.losses + part.losses, part.end
    )
