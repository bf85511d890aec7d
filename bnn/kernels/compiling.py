"""`compiled`: the decorator of every inner loop, machine code kept on disk and its first making announced."""

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

ANNOUNCEMENT = "bnn: compiling its inner loops for this machine (once, a few seconds)"


class _Announcer(event.Listener):
    """Says once a process that loops of this package are being compiled; loading them from disk is no event."""

    told = False

    def on_start(self, event: Any) -> None:
        """Speak at the first compilation of one of our loops, not of those a user compiles."""
        ours = event.data["dispatcher"].py_func.__module__.split(".")[0] == "bnn"
        if ours and not self.told:
            self.told = True
            print(ANNOUNCEMENT, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing to say at the end."""


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]


def compiled(function: Callable[..., Any], *, any_order: bool = False) -> Callable[..., Any]:
    """Compile a loop to serial machine code that releases the interpreter lock and is cached on disk.

    No fast-math and no parallel regions: sums keep their order, and `bnn.kernels.threads` divides the rows.
    Arguments must be arrays and numbers. A compiled loop may call another of its own file only: the cache is
    renewed by a file's date, and would not see that another file has changed.

    Parameters
    ----------
    function
        Plain Python over numpy arrays, in the subset that numba compiles.
    any_order
        See `compiled_sums`.

    Returns
    -------
    callable
        Called like ``function``; compiled at its first call for each combination of argument types.

    Examples
    --------
    >>> import numpy as np
    >>> def total(values):
    ...     result = 0
    ...     for i in range(len(values)):
    ...         result += values[i]
    ...     return result
    >>> int(total(np.arange(4)))  # with @compiled above it: the same, quickly
    6
    """
    fastmath = {"reassoc", "contract"} if any_order else False
    plain = inspect.unwrap(function)  # a type checker's wrapper, in the tests, is not for compiling
    try:
        made: Callable[..., Any] = numba.njit(plain, cache=True, nogil=True, fastmath=fastmath)
    except RuntimeError:  # nowhere to keep a cache: a read-only installation without a home folder
        made = numba.njit(plain, nogil=True, fastmath=fastmath)
    return made


def compiled_sums(function: Callable[..., Any]) -> Callable[..., Any]:
    """`compiled`, with floating-point sums in any order, several terms at once in one register, fused with products.

    Exact for networks on a grid (`bnn.rounding`); for others rounding depends on the machine, never on the batch.
    """
    return compiled(function, any_order=True)
