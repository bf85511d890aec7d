"""Work that would hold up the page: in threads, few at a time, within a time, and stopped when nobody waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from bnn.errors import BnnError

Answer = TypeVar("Answer")
Progress = Callable[[int, int], None]

THREADS = 4
"""Pieces of work at a time."""
WAITING = 64
"""Pieces of work that may wait for a thread."""
SECONDS = 20.0
"""What one piece of work may take."""


class BusyError(BnnError):
    """More was asked than there are threads for, or it took too long."""


class StoppedError(BnnError):
    """Nobody waits for this any more."""


class Pool:
    """Threads for all visitors.

    Parameters
    ----------
    threads, waiting
        Pieces of work at a time, and how many more may wait.
    seconds
        What one may take.
    """

    def __init__(self, threads: int = THREADS, waiting: int = WAITING, seconds: float = SECONDS) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="bnn")
        self._room = threads + waiting
        self._seconds = seconds

    async def run(self, work: Callable[[Progress], Answer], stop: threading.Event | None = None) -> Answer:
        """Do a piece of work in a thread, outside the event loop.

        Parameters
        ----------
        work
            Called with a function that it calls now and then, as `bnn.recall` calls its ``progress``; that one raises
            once the work is no longer wanted.
        stop
            Set by whoever no longer wants it.

        Raises
        ------
        BusyError
            No room to wait in, or it took too long.
        StoppedError
            It was stopped.
        """
        stop = stop or threading.Event()
        if self._room == 0:
            raise BusyError("The server is busy; try again in a moment.")
        self._room -= 1
        loop = asyncio.get_running_loop()
        future = self._threads.submit(work, lambda *_: _go_on(stop))
        future.add_done_callback(lambda _: _call(loop, self._leave))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise BusyError(f"This takes more than {self._seconds:g} seconds; ask for less.") from None
        finally:
            stop.set()

    def _leave(self) -> None:
        self._room += 1


class Desk:
    """One visitor's work: a newer question stops the one before.

    Parameters
    ----------
    pool
        Where it is done.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._stop = threading.Event()

    async def run(self, work: Callable[[Progress], Answer]) -> Answer:
        """Do a piece of work as `Pool.run`; `StoppedError` where a newer one came meanwhile."""
        self.stop()
        mine = self._stop = threading.Event()
        answer = await self._pool.run(work, mine)
        if self._stop is not mine:
            raise StoppedError("A newer question came.")
        return answer

    def stop(self) -> None:
        """Stop what is being done."""
        self._stop.set()


def _go_on(stop: threading.Event) -> None:
    """Raise where the work is no longer wanted."""
    if stop.is_set():
        raise StoppedError("Nobody waits for this any more.")


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call a function in the event loop, unless that has ended."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(function)
