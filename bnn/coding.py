"""States of neurons from users' arrays and tables, and back: which neuron is on, off, unknown, or on how probably."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Float64, Int8

from bnn.errors import DataError
from bnn.patterns import as_numbers, pattern_codes
from bnn.records import Records
from bnn.schema import Layout

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class NeuronStates:
    """What is said of every neuron.

    Attributes
    ----------
    on
        [batch, neurons], row by row: int8, 1 on, 0 off (also where unknown); or float64, the probability of being on.
    unknown
        bool [batch, neurons], or None where everything is known.
    """

    on: Int8[np.ndarray, "batch neurons"] | Float64[np.ndarray, "batch neurons"]
    unknown: Bool[np.ndarray, "batch neurons"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", np.ascontiguousarray(self.on))  # recall works along rows
        if self.unknown is not None and not self.unknown.any():
            object.__setattr__(self, "unknown", None)

    @property
    def soft(self) -> bool:
        """Whether neurons are on with a probability."""
        return self.on.dtype.kind == "f"

    def signed(self, low: int) -> Float[np.ndarray, "batch neurons"]:
        """float32 states 1 and ``low``, NaN where unknown."""
        states = np.where(self.on == 1, np.float32(1), np.float32(low))
        if self.unknown is not None:
            states[self.unknown] = np.nan
        return states


def read_states(layout: Layout, data: Any, owner: str, soft: bool = False) -> NeuronStates:
    """States of neurons from records, or from an array in {0,1}, {-1,+1} or bool, NaN = unknown.

    Parameters
    ----------
    layout
        The neurons that are meant.
    data
        `Records` of the same schema, or an array [neurons], [batch, neurons] or, for pictures, [batch, *shape].
    owner
        Whom an error speaks for, such as ``"recall.cues"``.
    soft
        Whether an array may also hold fractions: the probability of each neuron being on.

    Raises
    ------
    DataError, SchemaError
        Other shapes, other values, {0,1} mixed with -1, records of another schema.
    """
    if isinstance(data, Records):
        layout.schema.require_same(data.schema, owner)
        codes = data.codes[:, layout.attribute]
        return NeuronStates((codes == layout.value).astype(np.int8), codes < 0)
    array = as_batch(layout, as_numbers(data, owner), owner)
    if soft and array.dtype.kind == "f" and bool(((array > 0) & (array < 1)).any()):
        return _probabilities(layout, array.astype(np.float64), owner)
    codes = pattern_codes(array, names=lambda: layout.names, owner=owner)
    if array.dtype.kind != "f":
        return NeuronStates(codes)
    return NeuronStates(np.maximum(codes, 0), codes < 0)


def _probabilities(layout: Layout, array: Float64[np.ndarray, "batch neurons"], owner: str) -> NeuronStates:
    """Probabilities of being on, NaN = unknown."""
    unknown = np.isnan(array)
    wrong = ~unknown & ~((array >= 0) & (array <= 1))
    if wrong.any():
        row, j = np.argwhere(wrong)[0]
        raise DataError(
            f"{owner}: row {row}, neuron {layout.names[j]!r} is {array[row, j]} beside fractions; where there are "
            "fractions, each number is a probability of being on, between 0 and 1."
        )
    return NeuronStates(np.where(unknown, 0.0, array), unknown)


def as_batch(layout: Layout, array: np.ndarray, owner: str) -> np.ndarray:
    """View an array as [batch, neurons]: one row, a batch, or a batch of pictures."""
    shape = layout.schema.shape
    if shape is not None and len(shape) > 1 and array.shape[-len(shape) :] == shape:
        array = array.reshape(*array.shape[: -len(shape)], -1)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] != layout.neurons:
        pictures = "" if shape is None else f" or [batch, {', '.join(map(str, shape))}]"
        raise DataError(
            f"{owner}: got shape {array.shape}; this network wants [batch, {layout.neurons}]{pictures}, "
            "one column a neuron."
        )
    return array


def decode(
    layout: Layout,
    states: NeuronStates,
    fields: Float[np.ndarray, "batch neurons"],
) -> pa.Table:
    """Back to a table, one column an attribute: the value whose neuron is on, null where none is.

    Where several neurons of an attribute are on, the one with the largest field (in bits) speaks; where neurons are on
    with a probability, the most probable one.
    """
    import pyarrow as pa

    on, strength = (states.on > 0.5, states.on) if states.soft else (states.on == 1, fields)
    possible = np.ones_like(on) if states.soft else on
    unknown = np.zeros_like(on) if states.unknown is None else states.unknown
    columns = {}
    for a, attribute in enumerate(layout.schema.attributes):
        mine = slice(int(layout.start[a]), int(layout.start[a + 1]))
        width = mine.stop - mine.start
        if width == 0:
            code = np.full(len(on), -1)
        elif width == 1 and len(attribute.values) == 2:
            code = np.where(unknown[:, mine.start], -1, on[:, mine.start].astype(np.int64))
        else:
            candidates = possible[:, mine] & ~unknown[:, mine]
            strongest = np.where(candidates, strength[:, mine], -np.inf)
            code = np.where(candidates.any(axis=1), strongest.argmax(axis=1), -1)
        values = [None if c < 0 else attribute.values[c] for c in code.tolist()]
        kinds = {type(value) for value in attribute.values}
        if len(kinds - {int, float}) > 0 and len(kinds) > 1:
            values = [None if value is None else str(value) for value in values]
        try:
            columns[attribute.name] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # numbers that no arrow type holds together
            columns[attribute.name] = pa.array([None if value is None else str(value) for value in values])
    return pa.table(columns)
