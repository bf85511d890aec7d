"""What recall, traces and pictures ask of an associative memory, however it keeps what it learned."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Shaped
from torch import Tensor

from bnn import coding
from bnn.coding import NeuronStates
from bnn.errors import DataError
from bnn.records import Records
from bnn.schema import Layout

if TYPE_CHECKING:
    import pyarrow as pa

States = Any  # array-like [batch, neurons] or Records; validated at the boundary by coding.read_states


class AssociativeMemory(ABC):
    """Two-state neurons with an energy that recall lowers; `Network` and `PatternMemory` are the two kinds.

    Attributes
    ----------
    keeps
        What a memory of this kind consists of, ``"weights"`` or ``"patterns"``: by it a dynamics knows whether it can
        run.
    grounds
        On what its guarantees of descent rest, in a word or two.
    symmetric
        Whether the field is the slope of the energy.
    layout
        Which neuron stands for which attribute = value.
    low
        State of a neuron that is off: 0 or -1. An unknown neuron has state 0 in either case and adds nothing.
    bias
        [neurons]: what is added to every field.
    silence
        [neurons, attributes]: the part of the bias that leaves while an attribute is unknown, or None.
    constant
        log2 Sim = -2 E + constant; NaN where there is no such similarity.
    grid
        Power of two of which all energies are multiples, so that every sum is exact; None where they are not.
    prior, prior_bias
        P(j), and what it would add to the field; None where the rule has no such thing.
    provenance
        How the memory came to be: rule, options, number of records.
    """

    __slots__ = ()

    keeps: ClassVar[str]
    grounds: ClassVar[str]
    symmetric: bool
    layout: Layout
    low: int
    bias: Float[Tensor, " neurons"]
    silence: Float[Tensor, "neurons attributes"] | None
    constant: float
    grid: float | None
    prior: Float64[Tensor, " neurons"] | None
    prior_bias: Float64[Tensor, " neurons"] | None
    provenance: Mapping[str, Any]

    @property
    def neurons(self) -> int:
        """Number of neurons."""
        return self.layout.neurons

    @property
    def device(self) -> torch.device:
        """Where the memory lives."""
        return self.bias.device

    @property
    def negative_self(self) -> int | None:
        """The neuron with the most negative self-connection, None where none is negative."""
        return None

    @property
    @abstractmethod
    def parameters(self) -> int:
        """Numbers that learning sets, what information per stored parameter is reckoned by."""

    @abstractmethod
    def field(self, states: States) -> Float[Tensor, "batch neurons"]:
        """What speaks for (positive) or against each neuron being on."""

    @abstractmethod
    def energy(self, states: States) -> Float[Tensor, " batch"]:
        """Energy of states, float64."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a safetensors file with a versioned JSON header; all of it or nothing."""

    def bias_for(
        self, unknown: Bool[Tensor, "batch neurons"] | None, owner: str = "recall.cues"
    ) -> Float[Tensor, "_ neurons"]:
        """Bias of each row [batch or 1, neurons]: without the part that rests on attributes the row does not know."""
        if unknown is None or self.silence is None:
            return self.bias[None]
        return self.bias - self.unknown_attributes(unknown, owner).to(self.bias.dtype) @ self.silence.T

    def unknown_attributes(
        self, unknown: Bool[Tensor, "batch neurons"], owner: str = "recall.cues"
    ) -> Bool[Tensor, "batch attributes"]:
        """Which attributes are unknown; knowing some neurons of one and not the others is an error of ``owner``."""
        attribute = torch.tensor(self.layout.attribute, device=unknown.device)
        missing = torch.zeros(len(unknown), len(self.layout.schema.names), dtype=torch.int64, device=unknown.device)
        missing.index_add_(1, attribute, unknown.long())
        owned = torch.from_numpy(np.diff(self.layout.start)).to(unknown.device)
        partial = (missing > 0) & (missing < owned)
        if bool(partial.any()):
            row, a = (int(i) for i in torch.argwhere(partial)[0])
            raise DataError(
                f"{owner}: row {row} leaves {int(missing[row, a])} of the {int(owned[a])} neurons of "
                f"{self.layout.schema.names[a]!r} unknown; an attribute is unknown, and clamped or free, as a whole."
            )
        return missing > 0

    def encode(self, table: Any) -> Float[np.ndarray, "batch neurons"]:
        """States of the rows of a table or of Records: float32, 1 on, ``low`` off, NaN unknown.

        Examples
        --------
        >>> import bnn
        >>> network = bnn.learn(bnn.datasets.load("zoo"))
        >>> network.encode({"legs": [4], **{n: [None] for n in network.layout.schema.names if n != "legs"}}).shape
        (1, 43)
        """
        owner = f"{type(self).__name__}.encode.table"
        records = table if isinstance(table, Records) else Records.from_table(table, schema=self.layout.schema)
        return coding.read_states(self.layout, records, owner).signed(self.low)

    def decode(self, states: States) -> pa.Table:
        """Back to a table of attribute = value (pyarrow); null where no neuron of the attribute is on.

        Where several are on, the one with the largest field speaks; of probabilities, the largest.
        """
        read = coding.read_states(self.layout, states, f"{type(self).__name__}.decode.states", soft=True)
        return coding.decode(self.layout, read, self.field(states).cpu().double().numpy())

    def values_of(self, read: NeuronStates) -> tuple[Shaped[Tensor, "batch neurons"], Tensor | None]:
        """States from ``low`` to 1 and, where unknown, 0, on the memory's device; and the mask of the unknown."""
        values = 2 * read.on - 1 if self.low == -1 else read.on.copy()
        unknown = None
        if read.unknown is not None:
            values[read.unknown] = 0
            unknown = torch.from_numpy(read.unknown).to(self.device)
        return torch.from_numpy(values).to(self.device), unknown


def to_device(tensors: Mapping[str, Tensor], device: str | torch.device, owner: str) -> dict[str, Any]:
    """The tensors on another device, by name; `DataError` of ``owner`` where it cannot be used."""
    try:
        return {name: tensor.to(device) for name, tensor in tensors.items()}
    except (RuntimeError, AssertionError) as error:
        raise DataError(
            f"{owner}.to.device: {str(device)!r} cannot be used here ({str(error).splitlines()[0]}); try 'cpu'."
        ) from error
