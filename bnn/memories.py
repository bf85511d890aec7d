"""Memories that keep the patterns themselves: dense associative memory and the modern Hopfield network."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float64, Int8
from torch import Tensor

from bnn import coding
from bnn.associative import AssociativeMemory, States, to_device
from bnn.counting import whole_weights
from bnn.errors import DataError, FileError
from bnn.files import read_tensors, write_tensors
from bnn.interactions import EPS, INTERACTIONS, Interaction
from bnn.records import Records
from bnn.schema import Layout, Schema

BLOCK = 1 << 22  # overlaps held at once


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PatternMemory(AssociativeMemory):
    """Two-state neurons whose energy is a function of the overlaps with stored patterns, not of pairs of neurons.

    Learn one with ``bnn.learn(records, "dense", degree=3)`` or ``bnn.learn(records, "modern", beta=1.0)``; it is
    recalled, decoded, pictured and kept in files as a `Network` is. It holds far more than pairs can (a dense memory of
    degree n about N^(n-1), the modern one exponentially many random patterns), by keeping every pattern: nothing is
    compressed, and to learn from many records of one thing is to store them all. For that, take a `Network`.

    Parameters
    ----------
    patterns
        int8 [patterns, neurons]: 1 on, ``low`` off, 0 where a pattern does not know.
    weight
        float64 [patterns], above 0: a pattern of weight 2 counts as two.
    interaction
        What overlaps save of the energy, a `Polynomial` or a `LogSumExp`.
    layout
        Which neuron stands for which attribute = value.
    low
        State of a neuron that is off: -1, or 0 where only neurons that are on speak.
    provenance
        How the memory came to be: rule, options, number of records.

    Attributes
    ----------
    bias
        float64 [neurons]: 0, or -1/2 in a modern network of states {0, 1}: what |V|^2/2 in its energy says of a neuron.
    grid
        Power of two of which all energies are multiples, so that every sum is exact; None where float64 cannot hold
        them: of a `LogSumExp`, and of high degrees.
    offset
        Constant of the energy.

    Raises
    ------
    DataError
        Arrays or options that do not fit; a degree whose energies overflow.

    Notes
    -----
    With the overlaps m = sum over neurons of pattern times state: E(V) = -(sum of w F(m)), or, of the modern network,
    E(V) = -ln(sum of w exp(beta m))/beta + |V|^2/2 + ln(sum of w)/beta + (largest |pattern|^2)/2, which is never below
    0 and about ln(patterns)/beta at a pattern far from all others.
    """

    patterns: Int8[Tensor, "patterns neurons"]
    weight: Float64[Tensor, " patterns"]
    interaction: Interaction
    layout: Layout
    low: int = -1
    provenance: Mapping[str, Any] = field(default_factory=dict)
    bias: Float64[Tensor, " neurons"] = field(init=False)
    grid: float | None = field(init=False)
    offset: float = field(init=False)
    symmetric: bool = field(init=False, default=True)
    constant: float = field(init=False, default=math.nan)
    silence: None = field(init=False, default=None)
    prior: None = field(init=False, default=None)
    prior_bias: None = field(init=False, default=None)
    _found: dict[str, Any] = field(init=False, default_factory=dict)
    keeps: ClassVar[str] = "patterns"
    grounds: ClassVar[str] = "changes weighed by their own energies"

    def __post_init__(self) -> None:
        if self.low not in (0, -1):
            raise DataError(f"PatternMemory.low: got {self.low!r}; the off state is 0 or -1.")
        shape, neurons = tuple(self.patterns.shape), self.layout.neurons
        if self.patterns.dtype != torch.int8 or len(shape) != 2 or shape[0] == 0 or shape[1] != neurons:
            raise DataError(
                f"PatternMemory.patterns: got {self.patterns.dtype} of shape {shape}; give torch.int8, one or more "
                f"patterns of {neurons} neurons."
            )
        if bool(((self.patterns < self.low) | (self.patterns > 1)).any()):
            raise DataError(f"PatternMemory.patterns: states are 1, {self.low} and, where unknown, 0.")
        weight = self.weight
        if weight.dtype != torch.float64 or tuple(weight.shape) != shape[:1] or not bool((weight > 0).all()):
            raise DataError(f"PatternMemory.weight: give {shape[0]} numbers above 0, float64, one a pattern.")
        norm = float((self.patterns != 0).sum(dim=1).max())
        own = -0.5 * (1 + self.low) * self.interaction.curvature
        object.__setattr__(self, "bias", torch.full((neurons,), own, dtype=torch.float64, device=self.patterns.device))
        object.__setattr__(self, "grid", self.interaction.grid(weight, neurons))
        object.__setattr__(self, "offset", self.interaction.offset(weight, norm))

    @staticmethod
    def of(records: Records, layout: Layout, interaction: Interaction, low: int = -1) -> PatternMemory:
        """Store records as they are: gaps stay unknown, weights count, records of weight 0 are left out."""
        if low not in (0, -1):
            raise DataError(f"PatternMemory.low: got {low!r}; the off state is 0 or -1.")
        whole, _, scale = whole_weights(records)
        weight = np.ones(records.rows) if whole is None else whole / scale
        read = coding.read_states(layout, records, "PatternMemory.of.records")
        states = np.where(read.on == 1, 1, low).astype(np.int8)
        if read.unknown is not None:
            states[read.unknown] = 0
        kept = weight > 0
        return PatternMemory(torch.from_numpy(states[kept]), torch.from_numpy(weight[kept]), interaction, layout, low)

    def __len__(self) -> int:
        """Number of patterns."""
        return len(self.patterns)

    def __repr__(self) -> str:
        rule = self.provenance.get("rule", self.interaction.name)
        options = ", ".join(f"{name}={value!r}" for name, value in asdict(self.interaction).items())
        return f"PatternMemory({len(self):,} patterns, {self.neurons:,} neurons, {rule}, {options})"

    @property
    def unit(self) -> str:
        """Unit of fields and energies: no bits, but overlaps, or a power of them."""
        return self.interaction.unit

    @property
    def parameters(self) -> int:
        """Numbers that learning sets: every pattern's every state (each of them a bit, while a weight is a number)."""
        return self.patterns.numel()

    @property
    def rounding(self) -> float:
        """By how much of its size what overlaps save may be rounded: 0 where it is exact."""
        return 0.0 if self.grid is not None else self.interaction.rounding

    @property
    def columns(self) -> Int8[Tensor, "neurons patterns"]:
        """Contiguous rows, the states of one neuron in all patterns."""
        if "columns" not in self._found:
            self._found["columns"] = self.patterns.T.contiguous()
        columns: Tensor = self._found["columns"]
        return columns

    @property
    def table(self) -> Float64[np.ndarray, " overlaps"]:
        """What the compiled loops look up instead of computing it for every overlap."""
        if "table" not in self._found:
            self._found["table"] = self.interaction.table(self.neurons)
        table: np.ndarray = self._found["table"]
        return table

    def overlaps(self, states: States) -> Float64[Tensor, "batch patterns"]:
        """Overlap m of each row of states with each pattern: neurons that agree minus neurons that differ (low = -1).

        Parameters
        ----------
        states
            As for `field`.

        Examples
        --------
        >>> import bnn
        >>> memory = bnn.learn(bnn.Records.from_patterns([[1, 1, 0, 0], [1, 0, 1, 0]]), "dense")
        >>> memory.overlaps([[1, 1, 0, 1]]).tolist(), memory.energy([[1, 1, 0, 1]]).tolist()  # -(2^3 + (-2)^3)
        ([[2.0, -2.0]], [0.0])
        """
        return self.overlaps_of(self._values(states, "PatternMemory.overlaps.states"))

    def field(self, states: States) -> Float64[Tensor, "batch neurons"]:
        """Field h(j) = (E with j off - E with j on)/(1 - low), all other neurons as they are, in `unit`.

        Positive: on saves energy, and asynchronous recall turns the neuron on. 0 where both are equal, as far as
        rounding can tell.

        Parameters
        ----------
        states
            [batch, neurons] in {0,1}, {-1,+1} or bool, NaN = unknown (adds nothing); or Records. Fractions are
            probabilities of being on: a neuron's expected state counts.
        """
        return self.fields_of(self._values(states, "PatternMemory.field.states"), self.bias[None])

    def energy(self, states: States) -> Float64[Tensor, " batch"]:
        """Energy of each row, float64, in `unit`: what recall never raises.

        Parameters
        ----------
        states
            As for `field`; unknown neurons take no part.
        """
        values = self._values(states, "PatternMemory.energy.states")
        return self.energy_of(values, self.overlaps_of(values))

    def overlaps_of(self, values: Float64[Tensor, "batch neurons"]) -> Float64[Tensor, "batch patterns"]:
        """Overlaps of states as numbers, `low` to 1."""
        return values @ self.patterns.to(values.dtype).T

    def energy_of(
        self, values: Float64[Tensor, "batch neurons"], overlaps: Float64[Tensor, "batch patterns"]
    ) -> Float64[Tensor, " batch"]:
        """Energy of states as numbers and their overlaps, by its definition."""
        saved, _ = self.interaction.saved(overlaps, self.weight)
        return self.offset + 0.5 * self.interaction.curvature * (values * values).sum(dim=-1) - saved

    def tolerance(self, largest: float = 0.0) -> float:
        """What rounding may do to an energy with input up to ``largest``: nothing where all sums lie on the grid."""
        if self.grid is not None and largest * self.neurons <= 2.0**51 * self.grid:
            return 0.0
        whole = torch.full((len(self),), float(self.neurons), dtype=torch.float64, device=self.device)
        _, size = self.interaction.saved(whole, self.weight)
        return self.interaction.rounding * float(size) + 8.0 * EPS * (self.offset + (1.0 + largest) * self.neurons)

    def fields_of(
        self, values: Float64[Tensor, "batch neurons"], bias: Float64[Tensor, "_ neurons"]
    ) -> Float64[Tensor, "batch neurons"]:
        """Fields of states as numbers: each neuron on against off, some neurons at a time."""
        overlaps, step = self.overlaps_of(values)[:, None], 1 - self.low
        fields = torch.empty_like(values)
        some = max(1, BLOCK // overlaps.numel()) if overlaps.numel() else self.neurons
        for first in range(0, self.neurons, some):
            mine = slice(first, first + some)
            pattern = self.columns[mine].to(values.dtype)
            without = overlaps - values[:, mine, None] * pattern
            on, size = self.interaction.saved(without + pattern, self.weight)
            off, other = self.interaction.saved(without + self.low * pattern, self.weight)
            gain = on - off + step * bias[:, mine]
            tie = gain.abs() <= self.rounding * (size + other)
            fields[:, mine] = torch.where(tie, 0.0, gain / step)
        return fields

    def to(self, *, device: str | torch.device) -> PatternMemory:
        """The same memory on another device; there only `Attention` runs."""
        if str(device) == str(self.device):
            return self
        return replace(self, **to_device({"patterns": self.patterns, "weight": self.weight}, device, "PatternMemory"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a safetensors file with a versioned JSON header; all of it or nothing."""
        header = {
            "schema": self.layout.schema.to_json(),
            "coding": self.layout.coding,
            "low": self.low,
            "interaction": self.interaction.name,
            "options": asdict(self.interaction),
            "provenance": dict(self.provenance),
        }
        arrays = {"patterns": self.patterns.cpu().numpy(), "weight": self.weight.cpu().numpy()}
        write_tensors(path, arrays, header, kind="patterns")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> PatternMemory:
        """Read what `save` wrote, bit for bit.

        Raises
        ------
        FileError
            The file is missing, damaged, no pattern memory, or written by a newer version.
        """
        arrays, header = read_tensors(path, kind="patterns")
        try:
            tensors: dict[str, Any] = {name: torch.from_numpy(array) for name, array in arrays.items()}
            return PatternMemory(
                **tensors,
                interaction=INTERACTIONS[header["interaction"]](**header["options"]),
                layout=Layout(Schema.from_json(header["schema"]), header["coding"]),
                low=header["low"],
                provenance=header["provenance"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{path}: is damaged: {error}") from error

    def _values(self, states: States, owner: str) -> Float64[Tensor, "batch neurons"]:
        """States as numbers, 0 where unknown."""
        values, _ = self.values_of(coding.read_states(self.layout, states, owner, soft=True))
        return values.double()
