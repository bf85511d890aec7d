"""Labelled rows in parts, of files or dask tables: what their columns mean, and class counts, each part where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

from bnn.classify.class_counts import ClassCounts
from bnn.classify.streamed import Counter, Meaning, Progress, after
from bnn.cluster import divided, with_columns
from bnn.errors import DataError, unknown_name
from bnn.partitions import names_of, total
from bnn.sources import Chunk, Source
from bnn.streaming import heavy, named, part_of
from bnn.survey import Survey, merged, survey_of


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
        columns, found = {}, list[str | None]()
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
        table = with_columns(X, names, columns) if columns else X
        target, weight = found
        return Labelled(table, str(target), weight, every=not isinstance(y, str))

    def meaning(self, discretize: Any, intervals: int, owner: str) -> Meaning:
        """Look through the rows once, each part where it is.

        Raises
        ------
        DataError
            No row that has a class; weights beside bounds that are not given: a survey's sample has no weights.
        """
        survey = total(partial(_surveyed, self.target, self.weight, owner), self.table, merged, owner=owner)
        if not survey.rows:
            raise DataError(f"{owner}.y: no row has a {self.target!r}; name the column of classes.")
        found = Meaning.found(survey, self.target, discretize, intervals, owner)
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
        columns = (*meaning.schema.names, *named(self.weight))
        one = partial(_counted, meaning, count, Progress(begun), self.weight)
        found = total(one, self.table, _sum, columns, owner)
        if self.every and found.left_out:
            raise DataError(f"{owner}.y: {found.left_out:,} labels are missing; leave out rows whose class is unknown.")
        return found


def _surveyed(target: str, weight: str | None, owner: str, chunks: Iterable[Chunk]) -> Survey:
    """What is seen of rows that count."""
    survey = survey_of((heavy(chunk, weight) for chunk in chunks), target, owner=owner)
    columns = {name: seen for name, seen in survey.columns.items() if name != weight}
    numbers = {name: sampled for name, sampled in survey.numbers.items() if name != weight}
    return replace(survey, columns=columns, numbers=numbers)


def _counted(
    meaning: Meaning, count: Counter, begun: Progress, weight: str | None, chunks: Iterable[Chunk]
) -> Progress:
    """Counts of chunks."""
    for chunk in chunks:
        begun = after(begun, part_of(heavy(chunk, weight), meaning.schema, True, weight), count)
    return begun


def _sum(parts: Sequence[Progress]) -> Progress:
    """Counts of all parts, which has no end to go on from."""
    counts = reduce(add, (part.counts for part in parts))
    left_out = sum(part.left_out for part in parts)
    return Progress(counts, left_out, reduce(add, (part.losses for part in parts)))
