"""A progress bar on standard error that shows itself only where the work takes longer than a second."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bnn.sources import Chunk


class Bar:
    """Bar of a command: a context; `say` begins a step, `advance` moves it. It leaves no trace when it ends.

    Parameters
    ----------
    delay
        Seconds before it shows.
    """

    def __init__(self, delay: float = 1.0) -> None:
        console = Console(stderr=True)
        texts = TextColumn("{task.description}"), TextColumn("{task.fields[speed]}")
        columns = (texts[0], BarColumn(), texts[1], TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task("", total=None, speed="")
        self._timer = threading.Timer(delay, self._progress.start)
        self._timer.daemon = True

    def __enter__(self) -> Bar:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        self._progress.stop()

    def say(self, what: str) -> None:
        """Begin a step of unknown length."""
        self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=None, speed="")

    def passing(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks of files, while the bar shows how many rows have passed, and how many a second."""
        rows = 0
        for chunk in chunks:
            yield chunk
            rows += chunk.table.num_rows
            self.count(rows)

    def count(self, rows: int) -> None:
        """So many rows are done, of an unknown number."""
        elapsed = self._progress.tasks[0].elapsed or 0.0
        speed = f", {rows / elapsed:,.0f} rows/s" if elapsed > 0.0 else ""
        self._progress.update(self._task, speed=f"{rows:,} rows{speed}")

    def advance(self, done: int, total: int) -> None:
        """So much of the step is done."""
        self._progress.update(self._task, completed=done, total=total)
