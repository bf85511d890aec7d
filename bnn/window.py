"""`Window`: the counts of the newest records of a stream, kept by adding and subtracting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral

from bnn.counts import Counts
from bnn.errors import DataError
from bnn.records import Records
from bnn.schema import Coding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Window:
    """The newest records of a stream and their counts: what comes is added, what is too old is subtracted, exactly.

    A network learned of it is that of these records alone. It keeps the records, in as many bytes as they have cells
    (of at most 128 values), and their counts; never more than the window and the chunk that its begin is in. Where old
    records should fade instead, and none be kept, `Counts.decay` does it.

    Parameters
    ----------
    rows
        So many records at most; or
    chunks
        so many chunks at most, such as 7 of one day each.
    coding
        As of `Counts.of`.

    Raises
    ------
    DataError
        Both numbers, none of them, or one that is not whole or below 1.

    Examples
    --------
    A stream that relearns with each chunk:

    >>> import bnn
    >>> window = Window(rows=3)
    >>> for chunk in ([[1, 1], [1, 1]], [[0, 0]], [[0, 1], [0, 0]]):
    ...     window = window.add(bnn.Records.from_patterns(chunk))
    ...     network = bnn.learn(window.counts)
    >>> window.counts.records, window.counts.joint.diagonal().tolist()
    (3.0, [0, 1])
    """

    rows: int | None = None
    chunks: int | None = None
    coding: Coding | None = None
    _parts: tuple[Records, ...] = ()
    _counts: Counts | None = None

    def __post_init__(self) -> None:
        given = [number for number in (self.rows, self.chunks) if number is not None]
        if len(given) != 1 or not isinstance(given[0], Integral) or given[0] < 1:
            raise DataError(
                f"Window: got rows {self.rows!r}, chunks {self.chunks!r}; give one, a whole number from 1 on."
            )

    def __repr__(self) -> str:
        size = f"rows={self.rows}" if self.chunks is None else f"chunks={self.chunks}"
        return f"Window({size}: {sum(map(len, self._parts)):,} records in {len(self._parts)} chunks)"

    @property
    def counts(self) -> Counts:
        """Counts of the records in the window.

        Raises
        ------
        DataError
            Nothing has been added.
        """
        if self._counts is None:
            raise DataError("Window.counts: there are no records yet; add some.")
        return self._counts

    def add(self, records: Records) -> Window:
        """The window moved on by the newest records.

        Raises
        ------
        SchemaError
            Records of another schema than those before: code all of them by one.
        """
        if self.rows is not None:
            records = records[max(len(records) - self.rows, 0) :]
        parts, counts = [*self._parts, records], Counts.of(records, self.coding)
        if self._counts is not None:
            counts = self._counts + counts
        while (surplus := self._surplus(parts)) > 0:
            oldest = parts[0]
            if self.rows is not None and surplus < len(oldest):
                parts[0], oldest = oldest[surplus:], oldest[:surplus]
            else:
                del parts[0]
            counts = counts - Counts.of(oldest, self.coding)
        return replace(self, _parts=tuple(parts), _counts=counts)

    def _surplus(self, parts: list[Records]) -> int:
        """So many rows, or chunks, are too many."""
        return len(parts) - self.chunks if self.chunks is not None else sum(map(len, parts)) - (self.rows or 0)
