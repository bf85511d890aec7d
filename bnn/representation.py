"""Whether a network keeps all weights, or only what differs from the weight of pairs never seen together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bnn.counts import Counts
from bnn.errors import BnnWarning, DataError
from bnn.rules.base import Connections, Rule

SMALL = 1 << 26  # bytes of all weights up to which they are kept, as a table is quicker


def chosen(
    counts: Counts,
    rule: Rule,
    connections: Connections,
    options: Mapping[str, Any],
    dtype: np.dtype[Any],
    sparse: bool | None,
    device: str,
) -> Counts:
    """The counts as the rule is to take them: sparse where its network is to be, else a table of all pairs.

    Parameters
    ----------
    counts
        What was seen.
    rule, connections, options, dtype, device
        What `learn` makes of it.
    sparse
        Whether to keep only what differs; None: where that can be and is smaller.

    Raises
    ------
    DataError
        Sparse weights that cannot be; a table of all pairs that does not fit the memory.

    Warns
    -----
    BnnWarning
        Sparse weights would be smaller, but cannot be.
    """
    why = f"the rule {rule.name!r} is not one whose never-seen pairs have one weight"
    if rule.sparse is not None:
        why = rule.sparse(counts, connections, **options) or ""
    if not why and device != "cpu":
        why = f"sparse weights run on the CPU, not on {device!r}"
    if sparse is None:
        sparse = rule.sparse is not None and device == "cpu" and _smaller(counts, dtype)
        if sparse and why:
            warnings.warn(f"learn: all weights are kept: {why}.", BnnWarning, stacklevel=3)
            sparse = False
    elif not isinstance(sparse, bool | np.bool_):
        raise DataError(f"learn.sparse: got {sparse!r}; give True, False, or None to leave it to the sizes.")
    elif sparse and why:
        raise DataError(f"learn.sparse: {why}; leave it out to keep all weights.")
    return counts.to_sparse() if sparse else counts.to_dense()


def _smaller(counts: Counts, dtype: np.dtype[Any]) -> bool:
    """Whether sparse weights take fewer bytes than all of a large table."""
    everything = counts.layout.neurons**2 * dtype.itemsize
    if everything <= SMALL:
        return False
    seen = 2 * counts.joint.nnz if counts.is_sparse else int(np.count_nonzero(counts.joint))
    own = int((np.diff(counts.layout.start) ** 2).sum())
    return (seen + own) * (np.dtype(np.int32).itemsize + dtype.itemsize) < everything
