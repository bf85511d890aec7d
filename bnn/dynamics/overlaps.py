"""Working memory of a recall from stored patterns: overlaps kept up to date by what flips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int8, Int32, Int64
from torch import Tensor

from bnn.dynamics.base import GRAIN, Work
from bnn.errors import DataError
from bnn.kernels import overlaps, threads, winners
from bnn.memories import PatternMemory


@dataclass(slots=True, eq=False, kw_only=True)
class OverlapWork(Work):
    """What recall from patterns keeps beside states and energies.

    Attributes
    ----------
    overlaps
        int32 [batch, patterns], m = sum over neurons of state times pattern; None of graded neurons.
    share
        Of `Attention`, else None: the softmax of the present overlaps.
    rest
        float64 [batch]: the part of E that no change touches.
    """

    network: PatternMemory
    overlaps: Int32[np.ndarray, "batch patterns"] | None
    rest: Float64[np.ndarray, " batch"]
    share: Float64[Tensor, "batch patterns"] | None = None

    @staticmethod
    def of(
        network: PatternMemory, states: Tensor, bias: Tensor, compiled: bool, graded: bool, **rest: Any
    ) -> OverlapWork:
        """With the overlaps of the states; graded neurons make their own as they go.

        Raises
        ------
        DataError
            Discrete dynamics without compiled loops.
        """
        if not compiled and not graded:
            raise DataError(
                f"recall.backend: patterns are recalled by compiled loops, on the CPU, and this memory is on "
                f"{network.device}; use backend='auto' and memory.to(device='cpu'), or Attention, which runs anywhere."
            )
        if graded:
            return OverlapWork(
                network=network,
                states=states.double(),
                bias=bias,
                compiled=False,
                overlaps=None,
                rest=np.empty(0),
                **rest,
            )
        found = whole_overlaps(network, states)
        fixed = np.full(len(states), network.offset)
        return OverlapWork(
            network=network, states=states, bias=bias, compiled=compiled, overlaps=found, rest=fixed, **rest
        )

    def weigh(self) -> None:
        """Set E of the present states."""
        network = self.network
        if network.low == -1:  # |V|^2 is the number of neurons that take part; of states {0, 1} the bias weighs it
            self.rest = network.offset + 0.5 * network.interaction.curvature * (self.states != 0).sum(dim=1).numpy()
        self._each_row(overlaps.energies, np.arange(self.batch), lambda rows: (rows, self.energy))

    def fill(self, missing: Bool[Tensor, "batch attributes"], one_value: bool) -> None:
        """Give missing attributes states, in order, each from what is known by then: one value, or neuron by neuron."""
        layout, gaps = self.network.layout, missing.numpy()
        self._each_row(
            overlaps.fill,
            np.flatnonzero(gaps.any(axis=1)),
            lambda rows: (gaps, layout.start, layout.single, self.network.low, one_value, rows),
        )

    def threshold_sweep(
        self, number: int, order: Int64[np.ndarray, " neurons"], noise: Float64[np.ndarray, "rows neurons"] | None
    ) -> Bool[np.ndarray, " batch"]:
        """Ask every neuron once for its state of less energy; which running rows still hold one that would change."""
        unstable = np.zeros(self.batch, dtype=np.bool_)
        thresholds = np.empty((0, 0)) if noise is None else noise
        self._sweep(
            overlaps.threshold_sweep,
            number,
            lambda rows, some: (thresholds[some], order, self.network.low, rows, unstable),
        )
        return unstable

    def winner_sweep(self, number: int, order: Int64[np.ndarray, " attributes"]) -> None:
        """Give each attribute in turn its value of least energy."""
        layout, low = self.network.layout, self.network.low
        self._sweep(overlaps.winner_sweep, number, lambda rows, _: (layout.start, layout.single, order, low, rows))

    def swap_sweep(self, number: int, order: Int64[np.ndarray, " neurons"]) -> None:
        """Offer each neuron that is off, in turn, the place of the one on neuron whose exchange saves most."""
        self._sweep(overlaps.swap_sweep, number, lambda rows, _: (order, self.network.low, rows))

    def start_with(self, rows: Int64[np.ndarray, " rows"], number: Tensor, unknown: Tensor | None) -> None:
        """Start rows from their ``number`` neurons of largest field, free unknown ones among them."""
        network, states, free = self.network, self.states.numpy(), self.free.numpy()
        bias = self.bias if len(self.bias) == 1 else self.bias[rows]
        fields = np.zeros(states.shape)
        fields[rows] = network.fields_of(self.states[rows].double(), bias).numpy()
        new = states.copy()
        winners.choose_k(states, fields, free, number.numpy(), network.low, rows, new)
        states[rows] = new[rows]
        assert self.overlaps is not None
        self.overlaps[rows] = whole_overlaps(network, self.states[rows])

    def _each_row(
        self, kernel: Callable[..., None], rows: np.ndarray, arguments: Callable[..., tuple[Any, ...]]
    ) -> None:
        """Run a loop over rows, divided over threads."""
        memory, work = self._bundles()
        threads.run(lambda begin, end: kernel(memory, work, *arguments(rows[begin:end])), len(rows), GRAIN)

    def _sweep(self, kernel: Callable[..., None], number: int, arguments: Callable[..., tuple[Any, ...]]) -> None:
        """Run a sweep over the running rows, and keep the flips it logs."""
        memory, work = self._bundles()
        rows, results = self.running(), (self.energy, self.rise, self.flips)
        self.each(
            kernel,
            log_room=2 * self.network.neurons,
            sweep=number,
            rows=rows,
            arguments=lambda begin, end, neuron, energy: (
                memory, work, *arguments(rows[begin:end], slice(begin, end)), results, (neuron, energy),
            ),
        )  # fmt: skip

    def _bundles(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """What every loop takes: the memory's arrays and this recall's."""
        network = self.network
        memory = (
            network.columns.numpy(),
            network.weight.numpy(),
            network.table,
            network.interaction.beta,
            network.rounding,
        )
        return memory, (self.states.numpy(), self.overlaps, self.bias.numpy(), self.free.numpy(), self.rest)


def whole_overlaps(network: PatternMemory, states: Int8[Tensor, "rows neurons"]) -> Int32[np.ndarray, "rows patterns"]:
    """Overlaps of states on and off, as whole numbers: sums that float32 holds exactly."""
    found: np.ndarray = (states.float() @ network.patterns.float().T).to(torch.int32).numpy()
    return found
