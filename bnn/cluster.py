"""Work divided over a dask cluster: a function of every part, and a tree of merges. No other module knows dask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from bnn.errors import ClusterError, DataError
from bnn.kernels.threads import undivided

Result = TypeVar("Result")

FAN = 8
"""Results that are merged at a time: so many, of whatever size, one worker holds at once."""
PATIENCE = 10
"""Seconds after which a scheduler that does not answer, or has no workers, is given up."""


def divided(table: Any) -> bool:
    """Whether a table is dask's, in partitions that need not be here; found out without importing dask.

    Examples
    --------
    >>> divided(np.zeros((2, 2)))
    False
    """
    return type(table).__module__.partition(".")[0] == "dask" and hasattr(table, "__dask_graph__")


def partitions(table: Any, owner: str) -> list[Any]:
    """The partitions of a dask table or column, each a task of its own that gives pandas' or numpy's object.

    Raises
    ------
    DataError
        What is neither a data frame nor an array of one or two dimensions.
    """
    if hasattr(table, "divisions"):
        return list(table.to_delayed())
    if getattr(table, "ndim", 0) not in (1, 2):
        raise DataError(
            f"{owner}: got {type(table).__name__} of dask; give its data frame, or its array [rows, columns]."
        )
    whole_rows = table.rechunk({1: -1}) if table.ndim == 2 else table
    return list(whole_rows.to_delayed().ravel())


def total(
    function: Callable[..., Result],
    parts: Iterable[tuple[Any, ...]],
    merged: Callable[[Sequence[Result]], Result],
    scheduler: Any = None,
) -> Result:
    """The merged results of a function of every part, each a task; only the last one comes here.

    Neighbours are merged, so that ``merged`` need not be commutative. A task whose worker is lost runs again elsewhere:
    nothing is lost or done twice.

    Parameters
    ----------
    function
        Of the arguments that a part consists of. Its compiled loops run in the one thread of the task.
    parts
        Arguments; partitions come as what they hold. At least one.
    merged
        The sum of several results, in order.
    scheduler
        Address of a scheduler, or a ``distributed.Client``. None: whatever dask would use, which is the client made
        last, or else the threads of this process.

    Raises
    ------
    ClusterError
        No dask, a scheduler that does not answer or has no workers, or a task that has ended several of them.
    """
    dask = _dask()
    from distributed import KilledWorker

    task, shared = dask.delayed(_alone), dask.delayed(function)
    merge, sums = dask.delayed(_merge), dask.delayed(merged)
    level = [task(shared, *part) for part in parts]
    while True:
        level = [merge(sums, level[i : i + FAN]) for i in range(0, len(level), FAN)]
        if len(level) == 1:
            break
    with _connected(scheduler) as client:
        try:
            result: Result = level[0].compute() if client is None else client.compute(level[0]).result()
        except KilledWorker as error:
            raise ClusterError(
                f"cluster: a part has ended {error.allowed_failures + 1} workers, the last at "
                f"{error.last_worker.address}; give workers more memory, or make fragments smaller."
            ) from error
    return result


def mapped(
    function: Callable[[Any], np.ndarray], table: Any, shape: tuple[int, ...], dtype: np.dtype[Any], owner: str
) -> Any:
    """A dask array of what a function makes of every partition, not computed yet.

    Parameters
    ----------
    function
        Of a partition; gives as many rows as that has.
    table
        Of dask.
    shape, dtype
        Of one row of the result.
    owner
        Who asks; sentences begin with it.
    """
    dask = _dask()
    from dask import array

    task, shared = dask.delayed(_alone), dask.delayed(function)
    parts = partitions(table, owner)
    rows = table.chunks[0] if hasattr(table, "chunks") else [np.nan] * len(parts)  # of frames only they know
    pieces = [
        array.from_delayed(task(shared, part), (number, *shape), dtype)
        for part, number in zip(parts, rows, strict=True)
    ]
    return array.concatenate(pieces, allow_unknown_chunksizes=True)


def with_columns(table: Any, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
    """A dask data frame of a dask table, whose columns have these names, and of more columns."""
    _dask()
    from dask import dataframe

    if not hasattr(table, "divisions"):
        table = dataframe.from_dask_array(table.rechunk({1: -1}), columns=list(names))
    return table.rename(columns=dict(zip(table.columns, names, strict=True))).assign(**columns)


def _alone(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function whose loops are not divided over threads: dask runs as many tasks at once as it may use."""
    with undivided():
        return function(*arguments)


def _merge(merged: Callable[[Sequence[Result]], Result], results: Sequence[Result]) -> Result:
    """Merge results. Of another name than `_alone`, without which dask takes parts and merges for one group of tasks.

    Parts are then a group that depends on one thing, `function`, and dask hands the next one to whichever worker is
    free; otherwise all would go to the worker that holds `function`, and others would steal from it.
    """
    return _alone(merged, results)


def _dask() -> Any:
    """The package dask, or the sentence that it is lacking."""
    try:
        import dask
        import distributed  # noqa: F401 - both or neither, as the extra installs them
    except ImportError as error:
        raise ClusterError(
            f"cluster: {error.name} is not installed; install it by pip install 'bnn-hopfield[dask]'."
        ) from error
    return dask


@contextmanager
def _connected(scheduler: Any) -> Iterator[Any]:
    """A client of a scheduler that has workers; None where dask should choose."""
    if not isinstance(scheduler, str):
        yield scheduler
        return
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"cluster: no scheduler answers at {scheduler!r} ({error}); start one by dask scheduler, and name the "
            "address it prints, such as tcp://10.0.0.1:8786."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, PATIENCE)
        except TimeoutError:
            raise ClusterError(
                f"cluster: the scheduler at {scheduler!r} has no workers; start some by dask worker {scheduler} "
                "--nthreads 1."
            ) from None
        yield client
