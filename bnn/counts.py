"""Counts: what learning is. Exact integers that add, subtract, widen and are kept in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64

from bnn import hypertext
from bnn.counting import (
    LIMIT,
    SCALE,
    count_lists,
    count_two_valued,
    count_values,
    every_value,
    require_memory,
    small,
    whole_weights,
)
from bnn.errors import DataError, FileError, SchemaError, unknown_name
from bnn.files import read_tensors, write_tensors
from bnn.patterns import as_numbers
from bnn.records import Baskets, Records, checked_weights
from bnn.schema import Coding, Layout, Schema
from bnn.tables import columns_of
from bnn.tallies import counted, require_no_weight

SPARSE = ("data", "indices", "indptr")  # what a csr_array is made of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counts:
    """Records counted by neurons: the basic Hebbian rule [B 2.2], and all that learning needs to remember.

    They add where records are added, subtract where they are forgotten, and do not depend on order or chunks: an
    exact group, because every entry is an integer. Usually made by `Counts.of`.

    Parameters
    ----------
    layout
        Which neuron is which attribute = value.
    joint
        int64 [neurons, neurons]: N(i,j), records with neurons i and j both on; N(i) on the diagonal. Of `Baskets` its
        upper triangle, diagonal included, as a scipy csr_array of the pairs that occur.
    on
        int64 [neurons, attributes]: N(i; a), records with i on and attribute a known. [neurons, 1] where no value is
        missing: it is held as a broadcast, which costs nothing.
    known
        int64 [attributes, attributes]: N(a,b), records with both known. [1, 1] where no value is missing.
    rows
        Number of records, or their total weight.
    scale
        Every number, ``rows`` too, is in units of ``1 / scale``: 1, or 2**20 where records had weights.
    decayed
        Whether `decay` has rounded them; then no records can be taken away again.

    Raises
    ------
    DataError
        Arrays of another shape or dtype; rows that are negative or too many for exact arithmetic.

    Examples
    --------
    >>> from bnn.records import Records, checked_weights
    >>> monday = Counts.of(Records.from_patterns([[1, 1, 0], [0, 1, 1]]))
    >>> tuesday = Counts.of(Records.from_patterns([[1, 1, 1]]))
    >>> (monday + tuesday).joint
    array([[2, 2, 1],
           [2, 3, 2],
           [1, 2, 2]])
    >>> monday + tuesday - monday == tuesday
    True
    """

    layout: Layout
    joint: Any
    on: Int64[np.ndarray, "neurons attributes"]
    known: Int64[np.ndarray, "attributes attributes"]
    rows: int
    scale: int = 1
    decayed: bool = False

    def __post_init__(self) -> None:
        n, attributes = self.layout.neurons, len(self.layout.schema.attributes)
        shapes = {"joint": ((n, n),), "on": ((n, attributes), (n, 1)), "known": ((attributes, attributes), (1, 1))}
        for name, (full, *short) in shapes.items():
            array = getattr(self, name)
            if (
                name == "joint"
                and self.is_sparse
                and (array.format, array.dtype, array.shape) == ("csr", np.int64, full)
            ):
                continue
            if array.dtype != np.int64 or array.shape not in (full, *short):
                raise DataError(
                    f"Counts.{name}: needs int64 {list(full)} for this layout; got {array.dtype} {list(array.shape)}."
                )
            object.__setattr__(self, name, np.broadcast_to(array, full))  # a view that cannot be written to
        if self.scale not in (1, SCALE) or not 0 <= self.rows < LIMIT:
            raise DataError(
                f"Counts.rows: got {self.rows} of scale {self.scale}; give 0 to 2**62 - 1, of scale 1 or 2**20."
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """Broadcasts stay broadcasts in another process."""
        tables = self.joint, small(self.on), small(self.known)
        return Counts, (self.layout, *tables, self.rows, self.scale, self.decayed)

    @property
    def complete(self) -> bool:
        """Whether no value is missing, and margins are held as broadcasts."""
        return self.on.strides[1] == 0 and int(self.known[0, 0]) == self.rows

    @property
    def is_sparse(self) -> bool:
        """Whether only pairs that occur are kept."""
        return not isinstance(self.joint, np.ndarray)

    def to_dense(self) -> Counts:
        """The same counts as a table of all pairs.

        Raises
        ------
        DataError
            It would not fit the memory.
        """
        if not self.is_sparse:
            return self
        require_memory(self.layout)
        everything = slice(0, self.layout.neurons)
        return replace(self, joint=self.block(everything, everything), on=small(self.on), known=small(self.known))

    def to_sparse(self) -> Counts:
        """The same counts, of which only pairs that occur are kept.

        Examples
        --------
        >>> from bnn.records import Records
        >>> counts = Counts.of(Records.from_patterns([[1, 1, 0], [0, 0, 1]])).to_sparse()
        >>> counts.joint.nnz, counts.to_dense().joint.tolist()
        (4, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
        """
        from scipy.sparse import csr_array, triu

        if self.is_sparse:
            return self
        joint = csr_array(triu(csr_array(self.joint), format="csr"))
        return replace(self, joint=joint, on=small(self.on), known=small(self.known))

    def block(self, to: slice, given: slice) -> Int64[np.ndarray, "to from"]:
        """N(j,i) of the pairs of two runs of neurons, however they are kept."""
        if not self.is_sparse:
            block: np.ndarray = self.joint[to, given]
            return block
        both: np.ndarray = np.maximum(self.joint[to, given].toarray(), self.joint[given, to].toarray().T)
        return both

    @property
    def records(self) -> float:
        """Number of records, or their total weight, in records."""
        return self.rows / self.scale

    def __repr__(self) -> str:
        rows = f"{self.rows / self.scale:g}"
        return f"Counts({rows} records, {len(self.layout.schema.names)} attributes, {self.layout.neurons} neurons)"

    def _repr_html_(self) -> str:
        return hypertext.of_counts(self)

    @staticmethod
    def of(
        records: Any,
        coding: Coding | None = None,
        *,
        schema: Schema | None = None,
        weight: str | None = None,
    ) -> Counts:
        """Count records, exactly.

        Parameters
        ----------
        records
            `bnn.Records`: a missing value switches no neuron on; weights are rounded once to whole numbers of 2**-20.
            Or what comes in parts that are never together in memory, counted as if they were: a `bnn.Source` of files,
            a dask data frame or array, or an iterable of records or, with a schema, of tables.
        coding
            ``"values"`` or ``"on"`` (see `Layout`); None: ``"on"`` for patterns, ``"values"`` for tables.
        schema
            Of files and tables in parts; None: files are looked through twice, first for their schema, in which each
            distinct number is a value (`bnn.find_schema` cuts them).
        weight
            Of files and dask tables: the column that holds the weight of each row.

        Raises
        ------
        DataError
            More values than fit the memory; a total weight of 2**42 or more; no records at all.

        Warns
        -----
        DamageWarning, UnseenValueWarning
            Rows of files that cannot be read, and values that the schema lacks.

        Examples
        --------
        >>> from bnn.records import Records, checked_weights
        >>> counts = Counts.of(Records.from_patterns([[1, 0], [1, float("nan")]]), "values")
        >>> counts.on.tolist()  # N(i; a): rows 'x0 = 0', 'x0 = 1', 'x1 = 0', 'x1 = 1'
        [[0, 0], [2, 1], [1, 1], [0, 0]]
        """
        if isinstance(records, Records):
            require_no_weight(weight, "Counts.of")
            return _counted(records, coding)
        count = partial(_counted, coding=coding)
        return counted(records, count, _total, "Counts.of", schema, weight)

    @staticmethod
    def from_aggregates(
        table: Any, weight: str = "n", *, schema: Schema | None = None, coding: Coding | None = None
    ) -> Counts:
        """Count records that a database has counted already: the result of a GROUP BY over the attributes.

        ``SELECT legs, milk, COUNT(*) AS n FROM animals GROUP BY legs, milk`` is all that is ever read of a billion
        rows. Equal to the counts of the rows themselves.

        Parameters
        ----------
        table
            Any table of `Records.from_table`: one row a combination of values, and how often it occurs.
        weight
            The column of these numbers: at least 0, fractions rounded to units of 2**-20.
        schema
            The values of each attribute; None: those that occur.
        coding
            As of `of`.

        Raises
        ------
        DataError
            No such column, or numbers that are missing or negative.

        Examples
        --------
        >>> grouped = {"legs": [2, 4, 4], "milk": [0, 1, None], "n": [1_000_000_000, 3_000_000_000, 5]}
        >>> Counts.from_aggregates(grouped).joint.diagonal().tolist()  # legs 2, legs 4, milk 0, milk 1
        [1000000000, 3000000005, 1000000000, 3000000000]
        """
        columns = columns_of(table, "Counts.from_aggregates")
        if weight not in columns:
            raise unknown_name("Counts.from_aggregates.weight", weight, columns)
        owner = f"Counts.from_aggregates: column {weight!r}"
        numbers = as_numbers(columns.pop(weight), owner)
        numbers = checked_weights(numbers, len(numbers), owner)
        counts = Counts.of(Records.from_table(columns, schema=schema, weights=numbers), coding)
        return _whole(counts) if (numbers == np.rint(numbers)).all() else counts

    def __add__(self, other: Counts) -> Counts:
        """Add the records of both."""
        if not isinstance(other, Counts):
            return NotImplemented
        return _combine(self, other, 1)

    def __radd__(self, other: object) -> Counts:
        """Let `sum` begin with its 0."""
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Counts) -> Counts:
        """Forget the records of ``other``; to be left with less than none of any kind is a `DataError`."""
        if not isinstance(other, Counts):
            return NotImplemented
        if self.decayed or other.decayed:
            raise DataError(
                "Counts: some of these are decayed, and what is rounded cannot be taken away exactly; subtract before "
                "you decay, or keep a window of undecayed counts."
            )
        left = _combine(self, other, -1)
        _require_no_debt(left, self, other)
        return left

    def __eq__(self, other: object) -> bool:
        """Whether both hold exactly the same numbers for the same neurons."""
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = self.layout, other.layout
        if a.coding != b.coding or a.schema.difference(b.schema) is not None:
            return False
        mine, theirs = _alike(_rescaled(self, other.scale), _rescaled(other, self.scale))
        if mine.rows != theirs.rows or not all(
            np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in ("on", "known")
        ):
            return False
        return (mine.joint != theirs.joint).nnz == 0 if mine.is_sparse else np.array_equal(mine.joint, theirs.joint)

    def select(self, coding: Coding) -> Counts:
        """Keep fewer neurons, the same records: from coding ``"values"`` to ``"on"``.

        Raises
        ------
        DataError
            The other direction: count the records again with ``Counts.of(records, "values")``.
        """
        if coding == self.layout.coding:
            return self
        layout = Layout(self.layout.schema, coding)
        if coding == "values":
            raise DataError(
                "Counts.select: coding 'on' has too few neurons for 'values'; use Counts.of(records, 'values')."
            )
        chosen = self.layout.start[layout.attribute] + layout.value
        joint = self.to_dense().joint[np.ix_(chosen, chosen)]
        return replace(self, layout=layout, joint=joint, on=small(self.on)[chosen], known=small(self.known))

    def decay(self, half_life: float, elapsed: float = 1.0) -> Counts:
        """Forget a little of everything: all numbers times 2^(-elapsed / half_life), rounded to units of 2**-20.

        A network of the newest records: ``counts = counts.decay(half_life) + Counts.of(newest)``. To forget all at
        once what is older than a window, subtract it instead, which is exact.

        Parameters
        ----------
        half_life
            Time after which a record counts half, above 0, in any unit.
        elapsed
            Time since the last decay, at least 0, in the same unit.

        Raises
        ------
        DataError
            Times that are not finite numbers, or out of range.

        Examples
        --------
        >>> from bnn.records import Records, checked_weights
        >>> monday = Counts.of(Records.from_patterns([[1, 1], [1, 1], [1, 0]]))
        >>> monday.decay(half_life=2.0, elapsed=4.0).records  # 3 records, two half-lives old
        0.75
        """
        if not 0.0 < half_life < np.inf or not 0.0 <= elapsed < np.inf:
            raise DataError(
                f"Counts.decay: got half_life {half_life!r}, elapsed {elapsed!r}; give finite times, above 0 and at "
                "least 0, in one unit."
            )
        factor = 2.0 ** (-elapsed / half_life)
        fine = _rescaled(self, SCALE)

        def less(array: np.ndarray) -> np.ndarray:
            # Rounding keeps order, so that no part becomes larger than its whole
            decayed: np.ndarray = np.rint(small(array) * factor).astype(np.int64)
            return decayed

        on, known = less(fine.on), less(fine.known)
        joint: Any = fine.joint.copy() if fine.is_sparse else less(fine.joint)
        if fine.is_sparse:
            joint.data = less(joint.data)
            joint.eliminate_zeros()
        return replace(fine, joint=joint, on=on, known=known, rows=round(fine.rows * factor), decayed=True)

    def widen(self, schema: Schema) -> Counts:
        """See the same records under a schema of more values, of which they have none.

        Parameters
        ----------
        schema
            Has our attributes, and among their values all of ours, in any order: ``ours.union(theirs)``.

        Raises
        ------
        SchemaError
            Other attributes, or a value of ours that it lacks.

        Examples
        --------
        >>> from bnn.records import Records, checked_weights
        >>> low, high = (Counts.of(Records.from_table({"legs": legs})) for legs in ([0, 4], [4, 6]))
        >>> schema = low.layout.schema.union(high.layout.schema)
        >>> (low.widen(schema) + high.widen(schema)).joint.diagonal().tolist()
        [1, 2, 1]
        """
        ours = self.layout.schema
        if (lacking := schema.difference(schema.union(ours))) is not None:
            raise SchemaError(f"Counts.widen: the schema lacks some of ours: {lacking}; use ours.union(theirs).")
        layout = Layout(schema, "values")
        require_memory(layout)
        counts = _every_value(self)
        place = np.array(
            [
                layout.start[a] + schema.attributes[a].code(ours.attributes[a].values[v])
                for a, v in zip(counts.layout.attribute.tolist(), counts.layout.value.tolist(), strict=True)
            ],
            dtype=np.int64,
        )
        joint = np.zeros((layout.neurons, layout.neurons), dtype=np.int64)
        joint[np.ix_(place, place)] = counts.joint
        on = np.zeros((layout.neurons, small(counts.on).shape[1]), dtype=np.int64)
        on[place] = small(counts.on)
        wide = replace(self, layout=layout, joint=joint, on=on, known=small(self.known))
        return wide.select(self.layout.coding)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a safetensors file with a versioned JSON header, exactly; `Counts.load` reads it.

        Raises
        ------
        FileError
            The folder does not exist, the name is a folder, or the system refuses.
        """
        arrays = {"joint": self.joint, "on": small(self.on), "known": small(self.known)}
        if self.is_sparse:
            joint = arrays.pop("joint")
            arrays |= {f"joint.{name}": getattr(joint, name) for name in SPARSE}
        told = {
            "schema": self.layout.schema.to_json(),
            "coding": self.layout.coding,
            "rows": self.rows,
            "scale": self.scale,
            "decayed": self.decayed,
        }
        write_tensors(path, arrays, told, "counts")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Counts:
        """Read what `save` wrote.

        Raises
        ------
        FileError
            A file that is missing, damaged, cut short, no file of counts, or of a newer version.
        """
        arrays, told = read_tensors(path, "counts")
        try:
            layout = Layout(Schema.from_json(told["schema"]), told["coding"])
            joint = arrays["joint"] if "joint" in arrays else _sparse_table(arrays, layout.neurons)
            tables = joint, arrays["on"], arrays["known"]
            return Counts(layout, *tables, told["rows"], told["scale"], told.get("decayed", False))
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{Path(path)}: its counts are damaged ({error}); count the records again.") from error


def _counted(records: Records, coding: Coding | None) -> Counts:
    """Count records that are in memory."""
    layout = Layout.default(records.schema, coding)
    if isinstance(records, Baskets):
        weights, rows, scale = whole_weights(records)
        counts = Counts(Layout(records.schema, "on"), *count_lists(records, weights, rows), rows, scale)
        return counts if layout.coding == "on" else _every_value(counts)
    if records.weights is None and set(records.schema.sizes) == {2}:  # the quickest way, of "on" neurons only
        counts = Counts(Layout(records.schema, "on"), *count_two_valued(records), len(records.codes))
        return counts if layout.coding == "on" else _every_value(counts)
    weights, rows, scale = whole_weights(records)
    tables = count_values(records, weights, rows)
    return Counts(Layout(records.schema, "values"), *tables, rows, scale).select(layout.coding)


def _total(parts: Iterator[Counts]) -> Counts:
    """Add parts up, the largest table in place: two of them are in memory, not three."""
    total = next(parts)
    joint = None if total.is_sparse else np.array(total.joint)
    for part in parts:
        total = _combine(total, part, 1, joint)
    return total


def _every_value(counts: Counts) -> Counts:
    """Give every value a neuron."""
    if counts.layout.coding == "values":
        return counts
    counts = counts.to_dense()
    tables = every_value(counts.layout, counts.joint, counts.on, counts.known)
    joint, on, known = tables
    return replace(counts, layout=Layout(counts.layout.schema, "values"), joint=joint, on=on, known=known)


def _whole(counts: Counts) -> Counts:
    """Go over to units of whole records, where all numbers are."""
    joint, on, known = (small(array) // counts.scale for array in (counts.joint, counts.on, counts.known))
    return replace(counts, joint=joint, on=on, known=known, rows=counts.rows // counts.scale, scale=1)


def _rescaled(counts: Counts, scale: int) -> Counts:
    """Go over to units of ``1 / scale`` where those are finer."""
    if counts.scale >= scale:
        return counts
    factor = scale // counts.scale
    joint, on, known = counts.joint * factor, small(counts.on) * factor, small(counts.known) * factor
    return replace(counts, joint=joint, on=on, known=known, rows=counts.rows * factor, scale=scale)


def _combine(a: Counts, b: Counts, sign: int, out: Int64[np.ndarray, "neurons neurons"] | None = None) -> Counts:
    """Add ``sign`` times the counts of b to those of a, the pairs to ``out``; what is broadcast in both stays so."""
    a.layout.require_same(b.layout, "Counts")
    a, b = _rescaled(a, b.scale), _rescaled(b, a.scale)
    rows = a.rows + sign * b.rows
    if rows < 0:
        raise DataError(
            f"Counts: {b.rows / b.scale:g} records cannot be taken from {a.rows / a.scale:g}; "
            "take away only records that were counted."
        )
    a, b = _alike(a, b)
    operation = np.add if sign > 0 else np.subtract
    joint = _combined(a.joint, b.joint, sign) if a.is_sparse else operation(a.joint, b.joint, out)
    on, known = operation(small(a.on), small(b.on)), operation(small(a.known), small(b.known))
    return Counts(a.layout, joint, on, known, rows, a.scale, a.decayed or b.decayed)


def _combined(a: Any, b: Any, sign: int) -> Any:
    """Sum or difference of sparse pairs."""
    return a + b if sign > 0 else a - b


def _alike(a: Counts, b: Counts) -> tuple[Counts, Counts]:
    """Both sparse, or both tables of all pairs."""
    return (a, b) if a.is_sparse == b.is_sparse else (a.to_dense(), b.to_dense())


def _sparse_table(arrays: Mapping[str, np.ndarray], neurons: int) -> Any:
    """The pairs of a file; `ValueError` where they are damaged."""
    from scipy.sparse import csr_array

    joint = csr_array(tuple(arrays[f"joint.{name}"] for name in SPARSE), shape=(neurons, neurons))
    joint.check_format()
    if not joint.has_canonical_format or (np.repeat(np.arange(neurons), np.diff(joint.indptr)) > joint.indices).any():
        raise ValueError("pairs out of order")
    return joint


def _require_no_debt(left: Counts, a: Counts, b: Counts) -> None:
    """Raise `DataError`, naming the first kind of records of which ``left = a - b`` has fewer than none."""
    if left.is_sparse and left.complete:
        _require_no_debt_of_pairs(left)
        return
    left, a, b = left.to_dense(), a.to_dense(), b.to_dense()
    for k, (words, firsts, seconds, numbers) in enumerate(_kinds(left)):
        if numbers.min(initial=0) < 0:
            i, j = np.argwhere(numbers < 0)[0]
            had, taken = (next(islice(_kinds(c), k, None))[-1][i, j] / c.scale for c in (a, b))
            raise DataError(
                f"Counts: {had:g} - {taken:g} records would be left {words.format(firsts[i], seconds[j])}; "
                "take away only records that were counted."
            )


def _require_no_debt_of_pairs(left: Counts) -> None:
    """The same for sparse counts without gaps, from the pairs that are kept and the number of those that must be."""
    joint, alone = left.joint.tocoo(), left.on[:, 0]
    both = joint.data
    without = np.minimum(alone[joint.row], alone[joint.col]) - both
    neither = left.rows - alone[joint.row] - alone[joint.col] + both
    for words, numbers in (("with both", both), ("with only one of", without), ("with neither of", neither)):
        if numbers.min(initial=0) < 0:
            k = int(np.argmin(numbers))
            names = left.layout.names
            raise DataError(
                f"Counts: {numbers[k] / left.scale:g} records would be left {words} {names[joint.row[k]]!r} and "
                f"{names[joint.col[k]]!r}; take away only records that were counted."
            )
    # Two neurons of more records than there are must share some: a pair that is not kept shares none
    often = np.sort(alone)
    needed = len(often) - np.searchsorted(often, left.rows - often, side="right")  # partners of each, itself among them
    kept = np.count_nonzero((alone[joint.row] + alone[joint.col] > left.rows) & (joint.row < joint.col))
    if (needed.sum() - np.count_nonzero(2 * often > left.rows)) // 2 > kept:
        raise DataError(
            "Counts: fewer than no records would be left with neither of two neurons that are in most of them; take "
            "away only records that were counted."
        )


def _kinds(counts: Counts) -> Iterator[tuple[str, Sequence[str], Sequence[str], Int64[np.ndarray, "some others"]]]:
    """Number the records of each kind, a strip of rows at a time: words, names of rows and columns, numbers.

    With coding ``"on"``, and with gaps, a number below zero may be of a kind that no neuron stands for.
    """
    names, neurons, owner = counts.layout.schema.names, counts.layout.names, counts.layout.attribute
    alone, present = counts.joint.diagonal()[:, None], counts.known.diagonal()[:, None]
    of_on = counts.layout.coding == "on"
    for begin in range(0, max(len(names), len(neurons)), 8):
        i = slice(begin, begin + 8)
        yield "with {!r} unknown", names[i], ("",), counts.rows - present[i]
        yield "with {!r}", neurons[i], ("",), alone[i]
        if of_on:
            yield "without {!r}", neurons[i], ("",), present[owner[i]] - alone[i]
        yield "with both {!r} and {!r} unknown", names[i], names, counts.rows - present[i] - present.T + counts.known[i]
        yield "with {!r}, but {!r} unknown", neurons[i], names, alone[i] - counts.on[i]
        yield "with {!r} and {!r}", neurons[i], neurons, counts.joint[i]
        if of_on:
            off = present[owner[i]] - alone[i] - counts.known[owner[i]] + counts.on[i]
            yield "without {!r}, and {!r} unknown", neurons[i], names, off
            without = counts.on[i][:, owner] - counts.joint[i]
            yield "with {!r}, but not {!r}", neurons[i], neurons, without
            neither = counts.known[owner[i]][:, owner] - counts.on[:, owner[i]].T - without
            yield "with neither {!r} nor {!r}", neurons[i], neurons, neither
