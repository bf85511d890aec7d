"""From records to the tables of `Counts`: two ways of counting, and what no neuron of its own stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int64

from bnn import memory
from bnn.errors import DataError
from bnn.kernels import bits
from bnn.kernels.baskets import count_baskets
from bnn.kernels.pairs import count_pairs
from bnn.records import Baskets, Records
from bnn.schema import Layout

SCALE = 1 << 20  # weights are rounded once, to whole numbers of 1/SCALE
LIMIT = 1 << 62  # no count may reach it, so that the sum of two fits int64

Tables = tuple[Int64[np.ndarray, "_ _"], Int64[np.ndarray, "_ _"], Int64[np.ndarray, "_ _"]]


def count_two_valued(records: Records) -> Tables:
    """Count by bits: every attribute has two values, one neuron each (coding ``"on"``), no weights.

    Returns
    -------
    joint, on, known
        As in `Counts`; ``on`` and ``known`` small where no value is missing.
    """
    require_memory(Layout(records.schema, "on"))
    rows, attributes = records.codes.shape
    on, known = bits.pack(records.codes)
    joint = bits.common(on, on, attributes)
    if known is None:
        return joint, joint.diagonal()[:, None], np.array([[rows]])
    return joint, bits.common(on, known, attributes), bits.common(known, known, attributes)


def count_lists(
    records: Baskets, weights: Int64[np.ndarray, " rows"] | None, rows: int
) -> tuple[Any, Int64[np.ndarray, "neurons 1"], Int64[np.ndarray, "1 1"]]:
    """Count only pairs that occur, of two-valued attributes, one neuron each (coding ``"on"``).

    Returns
    -------
    joint, on, known
        As in `Counts`, the first a scipy csr_array.
    """
    from scipy.sparse import csr_array

    neurons = len(records.schema.names)
    start, index, number = count_baskets(records.items, records.start, neurons, weights)
    joint = csr_array((number, index, start), shape=(neurons, neurons))
    return joint, joint.diagonal()[:, None], np.array([[rows]])


def count_values(records: Records, weights: Int64[np.ndarray, " rows"] | None, rows: int) -> Tables:
    """Count any attributes by tables of pairs, one neuron a value (coding ``"values"``).

    Parameters
    ----------
    records
        Their own weights are not looked at.
    weights
        Whole numbers, or None for once each.
    rows
        Their sum.

    Returns
    -------
    joint, on, known
        As in `Counts`; ``on`` and ``known`` small where no value is missing.
    """
    layout = Layout(records.schema, "values")
    require_memory(layout)
    joint = count_pairs(records.codes, np.array(records.schema.sizes), weights)
    alone = joint.diagonal()
    if (_by_attribute(alone, layout) == rows).all():
        return joint, alone[:, None], np.array([[rows]])
    # One of an attribute's values is on wherever it is known, so what is known is a sum over its values
    on = _by_attribute(joint, layout)
    return joint, on, _by_attribute(on.T, layout)


def _by_attribute(table: Int64[np.ndarray, "*rows neurons"], layout: Layout) -> Int64[np.ndarray, "*rows attributes"]:
    """Sum over the neurons of each attribute; 0 for one without values."""
    filled = np.diff(layout.start) > 0
    out = np.zeros((*table.shape[:-1], len(filled)), dtype=np.int64)
    out[..., filled] = np.add.reduceat(table, layout.start[:-1][filled], axis=-1)
    return out


def every_value(
    layout: Layout,
    joint: Int64[np.ndarray, "neurons neurons"],
    on: Int64[np.ndarray, "neurons attributes"],
    known: Int64[np.ndarray, "attributes attributes"],
) -> Tables:
    """From coding ``"on"`` to ``"values"``: the neurons of the off values follow, as off is known and not on."""
    values = Layout(layout.schema, "values")
    require_memory(values)
    single = np.flatnonzero(np.diff(layout.start)[layout.attribute] < np.diff(values.start)[layout.attribute])
    owner = layout.attribute[single]
    here = values.start[layout.attribute] + layout.value
    off = here[single] - 1
    without = on[:, owner] - joint[:, single]  # i on, j off
    off_on = known[owner] - on[single]
    out = np.empty((values.neurons, values.neurons), dtype=np.int64)
    out[np.ix_(here, here)] = joint
    out[np.ix_(here, off)] = without
    out[np.ix_(off, here)] = without.T
    out[np.ix_(off, off)] = off_on[:, owner] - without[single].T
    out_on = np.empty((values.neurons, small(on).shape[1]), dtype=np.int64)
    out_on[here] = small(on)
    out_on[off] = off_on[:, : out_on.shape[1]]
    return out, out_on, small(known)


def small(array: np.ndarray) -> np.ndarray:
    """Give what a broadcast repeats: one entry along each repeated axis; any other array as it is."""
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]


def whole_weights(records: Records) -> tuple[Int64[np.ndarray, " rows"] | None, int, int]:
    """Weights as whole numbers of 1/scale (None: once each), their sum, and the scale.

    Raises
    ------
    DataError
        A total weight of 2**42 or more, which int64 could not hold exactly.
    """
    if records.weights is None:
        return None, records.rows, 1
    scaled = np.rint(records.weights * SCALE)
    if scaled.sum() >= LIMIT:
        raise DataError(f"Counts.of: the weights add up to {records.weights.sum():g}; scale them to less than 2**42.")
    total = records.weights.sum() * SCALE
    if abs(scaled.sum() - total) > 1e-3 * total:
        raise DataError(
            f"Counts.of: weights such as {np.median(records.weights):g} are too small for the unit 2**-20 that they "
            "are rounded to; multiply all weights by a common factor."
        )
    whole = scaled.astype(np.int64)
    return whole, int(whole.sum()), SCALE


def require_memory(layout: Layout) -> None:
    """Refuse a table of all pairs that the machine cannot hold, before it is made.

    Raises
    ------
    DataError
        Naming the attribute of most values and the size needed.
    """
    needed = 8 * layout.neurons**2
    if not memory.fits(needed):
        largest = max(layout.schema.attributes, key=lambda a: len(a.values))
        raise DataError(
            f"Counts: {layout.neurons} neurons need {needed / 1e9:.1f} GB for their pairs, more than the free memory; "
            f"attribute {largest.name!r} alone has {len(largest.values)} values: drop or discretize it."
        )
