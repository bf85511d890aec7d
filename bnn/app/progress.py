"""A progress bar on standard error that shows itself only where the work takes longer than a second."""

from __future__ import annotations

import threading
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


class Bar:
    """Bar of a command: a context; `say` begins a step, `advance` moves it. It leaves no trace when it ends.

    Parameters
    ----------
    delay
        Seconds before it shows.
    """

    def __init__(self, delay: float = 1.0) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task("", total=None)
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
        self._task = self._progress.add_task(what, total=None)

    def advance(self, done: int, total: int) -> None:
        """So much of the step is done."""
        self._progress.update(self._task, completed=done, total=total)
