"""Descent of the free energy by coordinates: each attribute in turn moves towards its own minimum, at any step size."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from bnn.dynamics.activations import Activation
from bnn.dynamics.graded import Equations, Solver, largest
from bnn.dynamics.pairs import PairWork
from bnn.network import Network

BLOCK = 128  # neurons whose fields are brought up to date together


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring attributes that are asked one after another between two updates of the fields.

    Attributes
    ----------
    neurons
        Where they are.
    activation
        That of these neurons alone.
    earlier
        Weights [from, to] between them, zero except where the sender is asked before the receiver.
    units
        How many are asked, one after another.
    """

    neurons: slice
    activation: Activation
    earlier: Float[Tensor, "block block"]
    units: int


class Coordinate(Solver):
    """V of one unit after another becomes V + (1 - e^(-step/tau)) (V* - V), V* the minimum of its free energy.

    A unit is an attribute under softmax, and a neuron otherwise. Within a block the sequential result is the only
    fixed point of a triangular system, found in a few rounds for all rows at once; rows in which no unit of the block
    is further than ``settle`` from its answer are left out, so a sweep costs what still moves. Later blocks get their
    fields by increments; at the end of the sweep all are computed anew, so that nothing piles up.
    """

    def __init__(
        self, work: PairWork, equations: Equations, index: Int64[np.ndarray, " rows"], step: float, blocks: list[Block]
    ) -> None:
        super().__init__(work, equations, index)
        self.step, self.share, self.blocks = step, -expm1(-step / equations.tau), blocks

    def sweep(self) -> None:
        """Ask every unit of every row once."""
        equations, columns = self.equations, self.work.network.columns
        time = self.later(self.until_landmarks(np.full_like(self.time, self.step)))
        gain = self.gain(time)
        states, fields = self.states.clone(), self.fields.clone()
        moved = np.zeros(len(states), dtype=np.bool_)
        for block in self.blocks:
            gap = self._gap(block, states, fields, gain, slice(None))
            busy = ~(largest(gap) <= equations.settle)
            if not busy.any():
                continue
            moved |= busy
            rows = slice(None) if busy.all() else torch.from_numpy(np.flatnonzero(busy)).to(states.device)
            change = self._change(block, states, fields, gain, rows)
            states[rows, block.neurons] += change
            later = slice(block.neurons.stop, None)
            fields[rows, later] += change @ columns[block.neurons, later]
        if moved.all():
            fields = torch.addmm(self.bias, states, columns)
        else:
            at = torch.from_numpy(np.flatnonzero(moved)).to(states.device)
            fields[at] = torch.addmm(self.bias if len(self.bias) == 1 else self.bias[at], states[at], columns)
        sound = torch.isfinite(fields).all(dim=1)
        if not bool(sound.all()):
            states, fields = (
                torch.where(sound[:, None], states, self.states),
                torch.where(sound[:, None], fields, self.fields),
            )
        self.record(states, fields, np.where(moved | (self.time < equations.anneal), time, self.time))
        self.finish(~moved, ~sound.cpu().numpy())

    def _gap(
        self,
        block: Block,
        states: Float[Tensor, "all neurons"],
        fields: Float[Tensor, "all neurons"],
        gain: Float[Tensor, "_ 1"],
        rows: slice | Tensor,
        change: Float[Tensor, "rows block"] | None = None,
    ) -> Float[Tensor, "rows block"]:
        """How far each unit is from its answer, once those before it in the block have changed by so much."""
        levels = fields[rows, block.neurons]
        if change is not None:
            levels = levels + change @ block.earlier
        gap = block.activation.states(levels, gain if len(gain) == 1 else gain[rows]) - states[rows, block.neurons]
        if self.free is None:
            return gap
        return gap * (self.free if len(self.free) == 1 else self.free[rows])[:, block.neurons]

    def _change(
        self,
        block: Block,
        states: Float[Tensor, "all neurons"],
        fields: Float[Tensor, "all neurons"],
        gain: Float[Tensor, "_ 1"],
        rows: slice | Tensor,
    ) -> Float[Tensor, "rows block"]:
        """What the units of a block change by, each knowing the changes of those before it."""
        exact = 4 * torch.finfo(fields.dtype).eps
        change = self.share * self._gap(block, states, fields, gain, rows)
        for _ in range(block.units):
            last, change = change, self.share * self._gap(block, states, fields, gain, rows, change)
            if float((change - last).abs().max()) <= exact:
                break
        return change


def blocks_of(network: Network, activation: Activation) -> list[Block]:
    """All neurons in blocks of whole attributes, about `BLOCK` neurons each, or one attribute where it is larger."""
    layout, blocks, first = network.layout, [], 0
    start = layout.start.tolist()
    by_attribute = activation.name == "softmax"
    for last in range(1, len(start)):
        if last + 1 < len(start) and start[last + 1] - start[first] <= BLOCK:
            continue
        neurons = slice(start[first], start[last])
        asked = torch.tensor(layout.attribute[neurons]) if by_attribute else torch.arange(neurons.stop - neurons.start)
        before = (asked[:, None] < asked[None]).to(network.columns.device)
        units = last - first if by_attribute else neurons.stop - neurons.start
        blocks.append(Block(neurons, activation.part(first, last), network.columns[neurons, neurons] * before, units))
        first = last
    return blocks
