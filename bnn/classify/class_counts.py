"""ClassCounts: what a naive classifier learns, target x value. Exact integers that add, subtract and widen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from jaxtyping import Int64, Integer

from bnn.counting import LIMIT, SCALE, whole_weights
from bnn.errors import DataError, SchemaError
from bnn.kernels.classes import count_classes
from bnn.records import Records
from bnn.schema import Attribute, Layout, Schema
from bnn.tallies import counted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassCounts:
    """Records counted by class and value: linear in the number of values, so wide tables stay small.

    They add where records are added and subtract where they are forgotten, exactly, in any order or division into
    chunks. Usually made by `ClassCounts.of`; a network needs all pairs, `bnn.Counts`.

    Parameters
    ----------
    schema
        The attributes, without the target.
    target
        The target: its values are the classes.
    joint
        int64 [values, classes]: N(V,C), records of class C with value V; the values attribute by attribute.
    totals
        int64 [classes]: N(C), records of class C, whatever they know.
    scale
        Every number is in units of ``1 / scale``: 1, or 2**20 where records had weights.

    Raises
    ------
    DataError
        Arrays of another shape or dtype; more records than exact arithmetic holds.

    Examples
    --------
    >>> table = {"legs": [4, 2, 4], "class": ["mammal", "bird", "mammal"]}
    >>> counts = ClassCounts.of(Records.from_table(table, target="class"))
    >>> counts.joint.tolist(), counts.totals.tolist()  # legs 2 and 4; bird and mammal
    ([[1, 0], [0, 2]], [1, 2])
    >>> (counts + counts) - counts == counts
    True
    """

    schema: Schema
    target: Attribute
    joint: Int64[np.ndarray, "values classes"]
    totals: Int64[np.ndarray, " classes"]
    scale: int = 1

    def __post_init__(self) -> None:
        classes = len(self.target.values)
        for name, shape in (("joint", (sum(self.schema.sizes), classes)), ("totals", (classes,))):
            array = getattr(self, name)
            if array.dtype != np.int64 or array.shape != shape:
                raise DataError(
                    f"ClassCounts.{name}: needs int64 {list(shape)} for this schema; got {array.dtype} "
                    f"{list(array.shape)}."
                )
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        if self.scale not in (1, SCALE) or not 0 <= int(self.totals.sum()) < LIMIT:
            raise DataError(
                f"ClassCounts.totals: got {int(self.totals.sum())} of scale {self.scale}; give 0 to 2**62 - 1, of "
                "scale 1 or 2**20."
            )

    @staticmethod
    def of(
        records: Any,
        target: Attribute | None = None,
        classes: Integer[np.ndarray, " rows"] | None = None,
        *,
        schema: Schema | None = None,
        weight: str | None = None,
    ) -> ClassCounts:
        """Count records, exactly.

        Parameters
        ----------
        records
            With their target among the attributes; or attributes only, with ``target`` and ``classes`` beside them.
            Weights are rounded once to whole numbers of 2**-20. Or, with a target among the attributes, parts that are
            never together in memory, as of `bnn.Counts.of`.
        target
            The target, where the records do not hold it.
        classes
            Position of each row's class among the target's values.
        schema
            Of files and tables in parts; it names the target.
        weight
            As of `bnn.Counts.of`.

        Raises
        ------
        DataError
            No target; a row whose class is missing; a total weight of 2**42 or more.
        """
        if not isinstance(records, Records):
            return counted(records, ClassCounts.of, _total, "ClassCounts.of", schema, weight)
        if target is None or classes is None:
            records, target, classes = split(records)
        weights, _, scale = whole_weights(records)
        k = len(target.values)
        joint, totals = count_classes(records.codes, np.array(records.schema.sizes), classes, k, weights)
        return ClassCounts(records.schema, target, joint, totals, scale)

    @property
    def rows(self) -> float:
        """Number of records, or their total weight, in records."""
        return int(self.totals.sum()) / self.scale

    @property
    def attribute(self) -> Int64[np.ndarray, " values"]:
        """Attribute of each row of ``joint``."""
        return np.repeat(np.arange(len(self.schema.sizes)), self.schema.sizes)

    @property
    def known(self) -> Int64[np.ndarray, "attributes classes"]:
        """N(C; a): records of each class with the attribute known."""
        return _by_attribute(self.joint, self.schema)

    def __repr__(self) -> str:
        return (
            f"ClassCounts({self.rows:g} records, {len(self.schema.sizes)} attributes, {len(self.joint)} values, "
            f"{len(self.totals)} classes)"
        )

    def __add__(self, other: ClassCounts) -> ClassCounts:
        """Add the records of both."""
        if not isinstance(other, ClassCounts):
            return NotImplemented
        return _combine(self, other, 1)

    def __radd__(self, other: object) -> ClassCounts:
        """Let `sum` begin with its 0."""
        return self if other == 0 else NotImplemented

    def __sub__(self, other: ClassCounts) -> ClassCounts:
        """Forget the records of ``other``; to be left with less than none of any kind is a `DataError`."""
        if not isinstance(other, ClassCounts):
            return NotImplemented
        return _combine(self, other, -1)

    def __eq__(self, other: object) -> bool:
        """Whether both hold exactly the same numbers for the same values and classes."""
        if not isinstance(other, ClassCounts):
            return NotImplemented
        if self.schema.difference(other.schema) is not None or self.target.values != other.target.values:
            return False
        mine, theirs = rescaled(self, other.scale), rescaled(other, self.scale)
        return np.array_equal(mine.joint, theirs.joint) and np.array_equal(mine.totals, theirs.totals)

    def widen(self, schema: Schema, target: Attribute) -> ClassCounts:
        """See the same records under more values and classes, of which they have none.

        Parameters
        ----------
        schema
            Has our attributes, and among their values all of ours, in any order: ``ours.union(theirs)``.
        target
            Has all our classes, in any order.

        Raises
        ------
        SchemaError
            Other attributes, or a value or class of ours that is lacking.
        """
        if schema is self.schema and target is self.target:
            return self
        if (lacking := schema.difference(schema.union(self.schema))) is not None:
            raise SchemaError(f"ClassCounts.widen: the schema lacks some of ours: {lacking}; use ours.union(theirs).")
        if lost := [c for c in self.target.values if c not in target.values]:
            raise SchemaError(f"ClassCounts.widen: the target lacks our class {lost[0]!r}; keep all classes.")
        start = Layout(schema, "values").start
        pairs = zip(start[:-1], self.schema.attributes, schema.attributes, strict=True)
        rows = np.concatenate([begin + _places(old, new) for begin, old, new in pairs])
        columns = _places(self.target, target)
        joint = np.zeros((int(start[-1]), len(target.values)), np.int64)
        joint[np.ix_(rows, columns)] = self.joint
        totals = np.zeros(len(target.values), np.int64)
        totals[columns] = self.totals
        return ClassCounts(schema, target, joint, totals, self.scale)


def split(records: Records) -> tuple[Records, Attribute, Integer[np.ndarray, " rows"]]:
    """Divide records into their attributes, their target and the code of each row's class."""
    schema = records.schema
    if schema.target is None or len(schema.names) < 2:
        raise DataError(
            "ClassCounts.of.records: they have no target beside other attributes; name one, as in "
            'Records.from_table(table, target="class").'
        )
    place = schema.index(schema.target)
    classes = records.codes[:, place]
    if len(classes) and classes.min() < 0:
        raise DataError(
            f"ClassCounts.of.records: row {int(np.argmin(classes))} has no {schema.target!r}; leave out rows whose "
            "class is unknown."
        )
    without = Schema((*schema.attributes[:place], *schema.attributes[place + 1 :]))
    last = place == len(schema.names) - 1
    codes = records.codes[:, :-1] if last else np.delete(records.codes, place, axis=1)  # the first copies nothing
    return Records(codes, without, records.weights), schema.attributes[place], classes


def _by_attribute(
    joint: Int64[np.ndarray, "values classes"], schema: Schema
) -> Int64[np.ndarray, "attributes classes"]:
    """Sum over the values of each attribute; 0 for one without values."""
    start = np.concatenate([[0], np.cumsum(schema.sizes, dtype=np.int64)])
    running = np.concatenate([np.zeros((1, joint.shape[1]), np.int64), np.cumsum(joint, axis=0)])
    sums: np.ndarray = running[start[1:]] - running[start[:-1]]
    return sums


def _places(old: Attribute, new: Attribute) -> Int64[np.ndarray, " values"]:
    """Position of each old value among the new ones."""
    position = {value: i for i, value in enumerate(new.values)}
    return np.array([position[v] for v in old.values], dtype=np.int64)


def rescaled(counts: ClassCounts, scale: int) -> ClassCounts:
    """Go over to units of ``1 / scale`` where those are finer."""
    if counts.scale >= scale:
        return counts
    factor = scale // counts.scale
    return ClassCounts(counts.schema, counts.target, counts.joint * factor, counts.totals * factor, scale)


def _total(parts: Iterator[ClassCounts]) -> ClassCounts:
    """The sum of counts."""
    return reduce(add, parts)


def _combine(a: ClassCounts, b: ClassCounts, sign: int) -> ClassCounts:
    """Add ``sign`` times the counts of b to those of a."""
    a.schema.require_same(b.schema, "ClassCounts")
    if a.target.values != b.target.values:
        raise SchemaError(
            f"ClassCounts: the classes differ: {list(a.target.values)} against {list(b.target.values)}; widen both "
            "first."
        )
    a, b = rescaled(a, b.scale), rescaled(b, a.scale)
    joint, totals = a.joint + sign * b.joint, a.totals + sign * b.totals
    if sign < 0:
        _require_no_debt(a, b, joint, totals)
    return ClassCounts(a.schema, a.target, joint, totals, a.scale)


def _require_no_debt(
    a: ClassCounts, b: ClassCounts, joint: Int64[np.ndarray, "values classes"], totals: Int64[np.ndarray, " classes"]
) -> None:
    """Raise `DataError`, naming the first kind of records of which ``a - b`` has fewer than none."""
    unknown = totals - _by_attribute(joint, a.schema)
    names = Layout(a.schema, "values").names
    kinds = (
        (totals[None], a.totals[None], b.totals[None], [""]),
        (joint, a.joint, b.joint, [f" with {name!r}" for name in names]),
        (unknown, a.totals - a.known, b.totals - b.known, [f" with {name!r} unknown" for name in a.schema.names]),
    )
    for left, had, taken, told in kinds:
        if left.min(initial=0) < 0:
            i, c = np.argwhere(left < 0)[0]
            raise DataError(
                f"ClassCounts: {had[i, c] / a.scale:g} - {taken[i, c] / a.scale:g} records of class "
                f"{a.target.values[c]!r} would be left{told[i]}; take away only records that were counted."
            )
