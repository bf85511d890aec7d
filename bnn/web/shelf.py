"""What the page can open: by names that the server knows, so that no name of a request is ever a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bnn import datasets
from bnn.app.data import training_table
from bnn.app.recall_command import chosen_rows, read_data
from bnn.classify.naive import NaiveBayesClassifier
from bnn.classify.storing import load_classifier
from bnn.errors import DataError, unknown_name
from bnn.learning import learn
from bnn.network import Network
from bnn.records import Records
from bnn.web.limits import MOST_NEURONS
from bnn.web.memory import Memory

PATTERNS, PATIENTS = "mnist-100", "lymphography"
"""What the rooms show where nothing else is asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """Something to consult: a classifier, and what it learned from where that is known.

    Attributes
    ----------
    name
        For people.
    classifier
        Fitted, and able to explain.
    target
        What it predicts.
    records
        The attributes it learned from, by its own codes; None: a file does not tell.
    """

    name: str
    classifier: Any
    target: str
    records: Records | None = None

    def network(self) -> Network:
        """The network of the attributes, for recall.

        Raises
        ------
        DataError
            A classifier from a file, which holds no pairs of attributes.
        """
        if self.records is None:
            raise DataError(f"{self.name}: a saved model holds no pairs of attributes to recall by; open its table.")
        return _network(self.records)


@lru_cache(8)
def _network(records: Records) -> Network:
    """The network of some records."""
    return learn(records, "probability")


def subject_of(name: str, attributes: pa.Table, labels: pa.ChunkedArray, target: str) -> Subject:
    """Learn a table by naive Bayes; rows without a class are left out.

    Raises
    ------
    DataError
        Fewer than two classes, or columns that cannot be learned.
    """
    known = pc.is_valid(labels)
    if len(pc.unique(labels.drop_null())) < 2:
        raise DataError(f"{name}: {target!r} holds fewer than two classes; choose another column to predict.")
    attributes = attributes.filter(known)
    classifier = NaiveBayesClassifier().fit(attributes, labels.filter(known))
    records = Records(classifier.read_codes(attributes), classifier.codebook_.schema)
    return Subject(name, classifier, target, records)


def saved_subject(name: str, path: str | Path) -> Subject:
    """Load a classifier from a file.

    Raises
    ------
    FileError, DataError
        A file that holds none, or one that does not explain its answers.
    """
    classifier = load_classifier(path)
    if not hasattr(classifier, "explain") or not hasattr(classifier, "codebook_"):
        raise DataError(f"{name}: a {type(classifier).__name__} does not explain its answers; open another model.")
    return Subject(name, classifier, datasets.CLASS)


def memory_of(name: str, records: Records) -> Memory:
    """Patterns to remember.

    Raises
    ------
    DataError
        A table, gaps, or more neurons than can be shown.
    """
    if any(attribute.kind != "on_off" for attribute in records.schema.attributes):
        raise DataError(f"{name}: is a table, and the recall room shows patterns of 0 and 1; consult it instead.")
    if (records.codes < 0).any():
        raise DataError(f"{name}: some cells are unknown; the recall room shows complete patterns.")
    if len(records.schema.names) > MOST_NEURONS:
        raise DataError(f"{name}: has {len(records.schema.names):,} neurons; at most {MOST_NEURONS:,} are shown.")
    shape = records.schema.shape
    names = tuple(f"pattern {i}" for i in range(records.rows))
    return Memory.of(records.patterns.astype(np.bool_), names, None if shape is None else (shape[0], shape[1]))


@dataclass(frozen=True, slots=True)
class Shelf:
    """What can be opened by name: the data sets that ship, and what the server was started with.

    Attributes
    ----------
    memories, subjects
        Names of patterns, and of what can be consulted; what the server was started with comes first.
    source
        What the server was started with: a file, or None.
    name, target, ignored
        Its name on the shelf; column of its classes, and columns left out.
    """

    memories: tuple[str, ...]
    subjects: tuple[str, ...]
    source: Path | None = None
    name: str = ""
    target: str = datasets.CLASS
    ignored: tuple[str, ...] = field(default=())

    def memory(self, name: str) -> Memory:
        """The patterns of that name."""
        if name not in self.memories:
            raise unknown_name("data", name, self.memories)
        return _memory(self, name)

    def subject(self, name: str) -> Subject:
        """What can be consulted by that name."""
        if name not in self.subjects:
            raise unknown_name("data", name, self.subjects)
        return _subject(self, name)


def shelf_of(source: str | None = None, target: str = datasets.CLASS, ignored: Sequence[str] = ()) -> Shelf:
    """Put on a shelf what ships and what the server is started with.

    Parameters
    ----------
    source
        A data set by name, a CSV file, or a classifier that ``bnn fit`` wrote (``*.safetensors``).
    target, ignored
        Column of the classes, and columns to leave out, of a table.

    Raises
    ------
    BnnError
        What cannot be opened.
    """
    memories = [name for name in datasets.names() if _are_patterns(name, ())]
    memories.sort(key=lambda name: name != PATTERNS)
    subjects = [name for name in datasets.names() if name not in memories]
    subjects.sort(key=lambda name: name != PATIENTS)
    if source is None:
        return Shelf(tuple(memories), tuple(subjects))
    file = Path(source)
    name = source if source in datasets.names() else file.stem
    patterns = file.suffix.lower() != ".safetensors" and _are_patterns(source, ignored)
    mine = memories if patterns else subjects
    mine[:] = [name, *(one for one in mine if one != name)]
    shelf = Shelf(tuple(memories), tuple(subjects), file, name, target, tuple(ignored))
    if patterns:
        shelf.memory(name)
    else:
        shelf.subject(name)
    return shelf


def _are_patterns(source: str, ignored: Sequence[str]) -> bool:
    """Whether a table holds patterns."""
    _, records, _ = read_data(source, ignored)
    return all(attribute.kind == "on_off" for attribute in records.schema.attributes)


@lru_cache(16)
def _memory(shelf: Shelf, name: str) -> Memory:
    """The patterns of that name: of a set with classes the first of each."""
    mine = shelf.source is not None and name == shelf.name
    name, records, classes = read_data(str(shelf.source) if mine else name, shelf.ignored if mine else ())
    return memory_of(name, records[chosen_rows(None, name, records, classes)])


@lru_cache(32)
def _subject(shelf: Shelf, name: str) -> Subject:
    """What can be consulted by that name."""
    if shelf.source is None or name != shelf.name:
        return subject_of(name, *training_table(name, datasets.CLASS, ()), datasets.CLASS)
    if shelf.source.suffix.lower() == ".safetensors":
        return saved_subject(name, shelf.source)
    return subject_of(name, *training_table(str(shelf.source), shelf.target, shelf.ignored), shelf.target)
