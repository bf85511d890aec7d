"""`recall_states`: recalls of more cues than fit one machine, a partition of a dask table at a time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Shaped

from bnn import cluster
from bnn.associative import AssociativeMemory
from bnn.driver import recall
from bnn.dynamics import Asynchronous, Glauber
from bnn.dynamics.base import Dynamics
from bnn.errors import DataError
from bnn.records import Records

OWNER = "recall_states"


def recall_states(
    network: AssociativeMemory,
    cues: Any,
    dynamics: Dynamics = Asynchronous(),  # noqa: B008 - frozen
    *,
    seed: int,
    **options: Any,
) -> Any:
    """Final states of a recall from every row of a dask table, as a dask array of which nothing is computed yet.

    Row for row those of `bnn.recall`, which also keeps energies and a verdict: ask it about a sample first. Decode them
    where they are by ``states.to_delayed()`` and `Network.decode`, or store them as they come.

    Parameters
    ----------
    network
        As of `bnn.recall`; every worker gets it once.
    cues
        A dask array [rows, neurons] as of `bnn.recall`, or a dask data frame of the network's attributes.
    dynamics
        Any but `Glauber`, whose noise depends on the place of a row among all others.
    seed
        Of the orders, the same in every partition.
    **options
        ``clamp``, ``known``, ``input``, ``max_sweeps``, ``check`` and ``backend`` of `bnn.recall`, alike for all rows.

    Returns
    -------
    dask.array.Array
        [rows, neurons]: int8, or float64 where neurons are graded.

    Raises
    ------
    DataError
        Cues that are not dask's, noise, or options of one row each; whatever is wrong with a partition, when it is
        computed.

    Examples
    --------
    >>> import bnn
    >>> import dask.array
    >>> patterns = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0, 0]])
    >>> network = bnn.learn(bnn.Records.from_patterns(patterns), "odds")
    >>> cues = dask.array.from_array(patterns, chunks=(1, -1))
    >>> bool((recall_states(network, cues, seed=0) == patterns).all().compute())
    True
    """
    if not cluster.divided(cues):
        raise DataError(f"{OWNER}.cues: got {type(cues).__name__}; give a dask array or data frame, or use bnn.recall.")
    if isinstance(dynamics, Glauber):
        raise DataError(f"{OWNER}.dynamics: the noise of Glauber depends on a row's place among all; use bnn.recall.")
    for name in ("clamp", "known", "input"):
        if np.ndim(options.get(name, 0)) > 1:
            raise DataError(f"{OWNER}.{name}: got one row a cue; give one for all, or use bnn.recall.")
    states = partial(_states, network, dynamics, {**options, "seed": seed})
    kind = np.dtype(np.float64 if dynamics.graded else np.int8)
    return cluster.mapped(states, cues, (network.neurons,), kind, OWNER)


def _states(
    network: AssociativeMemory, dynamics: Dynamics, options: dict[str, Any], part: Any
) -> Shaped[np.ndarray, "rows neurons"]:
    """Final states of the rows of one partition."""
    if not len(part):
        return np.zeros((0, network.neurons))
    cues = part if isinstance(part, np.ndarray) else Records.from_table(part, schema=network.layout.schema)
    return recall(network, cues, dynamics, **options).states
