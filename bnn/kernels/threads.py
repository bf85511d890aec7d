"""Rows divided over threads: serial loops that release the interpreter lock, one pool for the process."""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import pairwise
from threading import Lock, local
from typing import TypeVar

from bnn.errors import DataError

Result = TypeVar("Result")

_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_chosen: int | None = None
_making = Lock()
_here = local()  # of this thread alone


def count() -> int:
    """Threads that loops are divided over: `set_threads`, else the variable ``BNN_THREADS``, else all usable cores."""
    if getattr(_here, "undivided", False):
        return 1
    if _chosen is not None:
        return _chosen
    asked = os.environ.get("BNN_THREADS")
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        raise DataError(f"BNN_THREADS: got {asked!r}; set it to a whole number of at least 1, or unset it.")
    return int(asked)


def set_threads(number: int | None) -> None:
    """Divide loops over this many threads from now on; None returns to the default of `count`.

    No result depends on it, only the speed.

    Examples
    --------
    >>> set_threads(1)
    >>> count()
    1
    >>> set_threads(None)
    """
    global _chosen
    if number is not None and number < 1:
        raise DataError(f"set_threads.number: got {number}; use at least 1, or None for the default.")
    _chosen = number


@contextmanager
def threads(number: int | None) -> Iterator[None]:
    """`set_threads` for the length of a ``with`` block."""
    before = _chosen
    set_threads(number)
    try:
        yield
    finally:
        set_threads(before)


@contextmanager
def undivided() -> Iterator[None]:
    """Keep the loops of this thread in it, for the length of a ``with`` block: others like it run beside.

    Examples
    --------
    >>> with undivided():
    ...     count()
    1
    """
    before = getattr(_here, "undivided", False)
    _here.undivided = True
    try:
        yield
    finally:
        _here.undivided = before


def run(function: Callable[[int, int], Result], rows: int, grain: int = 1) -> list[Result]:
    """Call ``function(begin, end)`` on contiguous chunks that together are ``range(rows)``, one chunk a thread.

    Parameters
    ----------
    function
        Does the rows ``begin`` to ``end - 1`` and releases the interpreter lock while it works. It must not call `run`.
    rows
        How many rows there are. Zero rows call nothing.
    grain
        A chunk has at least so many rows and starts at a multiple of it.

    Returns
    -------
    list
        What each call returned, in the order of the chunks.

    Raises
    ------
    BaseException
        Whatever the first failing chunk raised, once all chunks have stopped.

    Examples
    --------
    >>> sum(run(lambda begin, end: sum(range(begin, end)), 1000, grain=10))
    499500
    """
    if rows <= grain:
        return [function(0, rows)] if rows else []
    grains = -(-rows // grain)
    chunks = min(count(), max(grains, 1))
    bounds = [min(rows, grain * (grains * i // chunks)) for i in range(chunks + 1)]
    spans = [(begin, end) for begin, end in pairwise(bounds) if begin < end]
    if len(spans) < 2:
        return [function(begin, end) for begin, end in spans]
    # The caller's own thread takes the first chunk: one hand-over less, and Ctrl-C lands in its loop
    futures = [_threads(len(spans) - 1).submit(function, begin, end) for begin, end in spans[1:]]
    try:
        first = function(*spans[0])
    finally:
        wait(futures)  # also after an error: they write to arrays that the caller is about to drop
    return [first, *(future.result() for future in futures)]


def _threads(size: int) -> ThreadPoolExecutor:
    """Make the pool when it is first needed, and anew when more threads are wanted."""
    global _pool, _pool_size
    with _making:
        if _pool is None or _pool_size < size:
            _pool = ThreadPoolExecutor(size, thread_name_prefix="bnn")
            _pool_size = size
        return _pool


def _forget() -> None:
    """In a forked child the pool's threads do not exist."""
    global _pool, _making
    _pool, _making = None, Lock()
    if "torch" in sys.modules:  # its own pool is gone too, and a product would wait for it for ever
        sys.modules["torch"].set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
