"""Working memory of a recall by weights: fields kept up to date by what flips, compiled or in torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int8, Int64
from torch import Tensor

from bnn.dynamics.base import CYCLE, GRAIN, RUNNING, SETTLED, Guarantee, Work
from bnn.kernels import flips, parallel, sums, threads, twins, winners
from bnn.network import Network
from bnn.sparse import SparseWeights

SAMPLE = 64  # rows that tell whether a dense product is quicker than single columns


@dataclass(slots=True, eq=False, kw_only=True)
class PairWork(Work):
    """What recall by weights keeps beside states and energies.

    Attributes
    ----------
    fields
        W V + b + input, in the weights' dtype, bits.
    mirror
        W' V + b + input where weights are asymmetric, else None.
    solvers
        Of a flow: what it keeps of the rows at work.
    chosen
        Room for the next states of a parallel step.
    arrays
        numpy views of the tensors, by name, for the compiled loops; ``mirror`` empty where weights are symmetric. Of
        sparse weights ``columns`` are the values kept, and ``weights``, which only asymmetric ones need, are empty.
    kept
        Start, index and background of sparse weights; else as empty.
    """

    network: Network
    fields: Float[Tensor, "batch neurons"]
    mirror: Float[Tensor, "batch neurons"] | None
    solvers: list[Any] = field(default_factory=list)
    chosen: Int8[Tensor, "batch neurons"] | None = None
    arrays: dict[str, np.ndarray] = field(init=False)
    kept: tuple[np.ndarray, np.ndarray, float] = field(init=False)

    def __post_init__(self) -> None:
        Work.__post_init__(self)
        weights = self.network.weights
        none = self.fields[:0, :0]
        tensors = {
            "states": self.states,
            "fields": self.fields,
            "mirror": none if self.mirror is None else self.mirror.contiguous(),
            "bias": self.bias,
            "free": self.free,
            "diagonal": self.network.diagonal.contiguous(),
        }
        self.kept = np.empty(0, np.int64), np.empty(0, np.int32), 0.0
        columns: dict[str, np.ndarray] = {}
        if isinstance(weights, SparseWeights):
            self.kept = weights.start, weights.index, weights.background
            columns = {"weights": none.numpy(), "columns": weights.values}
        else:
            tensors |= {"weights": weights, "columns": self.network.columns}
        self.arrays = {name: t.numpy() for name, t in tensors.items()} | columns if self.compiled else {}

    @staticmethod
    def of(network: Network, states: Tensor, bias: Tensor, compiled: bool, graded: bool, **rest: Any) -> PairWork:
        """With the fields of the states; graded neurons make their own when they start."""
        if graded:
            states = states.to(bias.dtype)
        fields = torch.empty_like(states) if graded else fields_of(network, states, bias, compiled)
        mirror = None if network.symmetric or graded else states.to(bias.dtype) @ network.table + bias
        return PairWork(
            network=network, states=states, bias=bias, compiled=compiled, fields=fields, mirror=mirror, **rest
        )

    def views(self, *names: str) -> tuple[np.ndarray, ...]:
        """Views for a compiled loop, in the order asked for."""
        return tuple(self.arrays[name] for name in names)

    def weigh(self) -> None:
        """Set E of the present states."""
        if self.compiled:
            arrays = (*self.views("states", "fields", "bias"), self.energy)
            rows = np.arange(self.batch)
            threads.run(lambda begin, end: sums.energies(*arrays, rows[begin:end]), len(rows), GRAIN)
        else:
            twice = self.states.double() * (self.fields.double() + self.bias.double())
            self.energy[:] = 0.0 - 0.5 * twice.sum(dim=1).cpu().numpy()

    def fill(self, missing: Bool[Tensor, "batch attributes"], one_value: bool) -> None:
        """Give missing attributes states, in order, each from what is known by then: one value, or neuron by neuron."""
        network = self.network
        own = said_to_itself(network) if one_value else torch.zeros(0, dtype=torch.float64)
        if not self.compiled:
            return twins.fill(self, missing, own, one_value)
        states, fields, mirror, bias = self.views("states", "fields", "mirror", "bias")
        evidence = np.empty((0, 0), fields.dtype) if network.evidence is None else network.evidence.numpy()
        columns, weights = self.views("columns", "weights")
        gaps, layout = missing.numpy(), network.layout
        rows = np.flatnonzero(gaps.any(axis=1))
        threads.run(
            lambda begin, end: winners.fill(
                columns, self.kept, weights, evidence, own.numpy(), states, fields, mirror, bias, gaps,
                layout.start, layout.single, network.low, one_value, rows[begin:end],
            ),
            len(rows),
            GRAIN,
        )  # fmt: skip
        return None

    def threshold_sweep(
        self, number: int, order: Int64[np.ndarray, " neurons"], noise: Float64[np.ndarray, "rows neurons"] | None
    ) -> Bool[np.ndarray, " batch"]:
        """Ask every neuron once: on above its threshold, off below; which running rows still hold an unstable one."""
        network, rows = self.network, self.running()
        dtype = np.dtype(str(self.fields.dtype).removeprefix("torch."))
        thresholds = np.empty((0, 0), dtype) if noise is None else noise.astype(dtype, copy=False)
        if not self.compiled:
            return twins.threshold_sweep(self, number, order, thresholds, rows)
        unstable = np.zeros(self.batch, dtype=np.bool_)
        fixed = (*self.views("weights", "columns"), self.kept)
        fixed += self.views("diagonal", "states", "fields", "mirror", "free")
        results = (self.energy, self.rise, self.flips)
        self.each(
            flips.threshold_sweep,
            log_room=network.neurons,
            sweep=number,
            rows=rows,
            arguments=lambda begin, end, neuron, energy: (
                *fixed, thresholds[begin:end], order, network.low, rows[begin:end], *results, unstable, neuron, energy,
            ),
        )  # fmt: skip
        return unstable

    def winner_sweep(self, number: int, order: Int64[np.ndarray, " attributes"]) -> None:
        """Give each attribute in turn its value of least energy."""
        layout, low, rows = self.network.layout, self.network.low, self.running()
        if not self.compiled:
            return twins.winner_sweep(self, number, order, rows)
        fixed = (*self.views("columns"), self.kept, *self.views("diagonal", "states", "fields", "free"))
        results = (self.energy, self.rise, self.flips)
        self.each(
            winners.winner_sweep,
            log_room=self.network.neurons,
            sweep=number,
            rows=rows,
            arguments=lambda begin, end, neuron, energy: (
                *fixed, layout.start, layout.single, order, low, rows[begin:end], *results, neuron, energy,
            ),
        )  # fmt: skip
        return None

    def swap_sweep(self, number: int, order: Int64[np.ndarray, " neurons"]) -> None:
        """Offer each neuron that is off, in turn, the place of the one on neuron whose exchange saves most."""
        rows = self.running()
        if not self.compiled:
            return twins.swap_sweep(self, number, order, rows)
        least = self.network.weights.min() if isinstance(self.network.weights, SparseWeights) else -np.inf
        fixed = (*self.views("columns"), self.kept, *self.views("diagonal"), least)
        fixed += self.views("states", "fields", "free")
        results = (self.energy, self.rise, self.flips)
        self.each(
            winners.swap_sweep,
            log_room=2 * self.network.neurons,
            sweep=number,
            rows=rows,
            arguments=lambda begin, end, neuron, energy: (
                *fixed, order, self.network.low, rows[begin:end], *results, neuron, energy,
            ),
        )  # fmt: skip
        return None

    def start_with(self, rows: Int64[np.ndarray, " rows"], number: Tensor, unknown: Tensor | None) -> None:
        """Start rows from their ``number`` neurons of largest field, free unknown ones among them."""
        network, chosen = self.network, self.states.clone()
        self.choose_k(rows, number, chosen)
        if unknown is not None and network.silence is not None:
            filled = network.unknown_attributes(unknown & self.free, "recall.clamp")
            evidence = filled.to(self.bias.dtype) @ network.silence.T
            self.bias += evidence
            self.fields += evidence
        at = torch.from_numpy(rows).to(self.states.device)
        self.fields[at] += network.product((chosen[at] - self.states[at]).to(network.bias.dtype))
        self.states[at] = chosen[at]

    def choose_thresholds(self, rows: Int64[np.ndarray, " rows"], chosen: Tensor) -> None:
        """Write to ``chosen`` the state each free neuron takes by its field."""
        at_work = torch.from_numpy(rows).to(chosen.device)
        fields = self.fields[at_work]
        new = torch.where(fields > 0, 1, self.network.low)
        moves = (fields != 0) & (self.free if len(self.free) == 1 else self.free[at_work])
        chosen[at_work] = torch.where(moves, new.to(torch.int8), self.states[at_work])

    def choose_winners(self, rows: Int64[np.ndarray, " rows"], chosen: Tensor) -> None:
        """Write to ``chosen`` the value of largest field of each free attribute."""
        if not self.compiled:
            return twins.choose_winners(self, rows, chosen)
        layout, low = self.network.layout, self.network.low
        states, fields, free = self.views("states", "fields", "free")
        new = chosen.numpy()
        threads.run(
            lambda begin, end: winners.choose_winners(
                states, fields, free, layout.start, layout.single, low, rows[begin:end], new
            ),
            len(rows),
            GRAIN,
        )
        return None

    def choose_k(self, rows: Int64[np.ndarray, " rows"], number: Tensor, chosen: Tensor) -> None:
        """Write to ``chosen`` the ``number`` largest fields of each row's free neurons."""
        if not self.compiled:
            return twins.choose_k(self, number, rows, chosen)
        states, fields, free = self.views("states", "fields", "free")
        new, wanted, low = chosen.numpy(), number.numpy(), self.network.low
        threads.run(
            lambda begin, end: winners.choose_k(states, fields, free, wanted, low, rows[begin:end], new),
            len(rows),
            GRAIN,
        )
        return None


def fields_of(network: Network, states: Tensor, bias: Tensor, compiled: bool) -> Tensor:
    """W V + b: one product, or the sum of the active columns where few neurons are active or few weights kept."""
    if isinstance(network.weights, SparseWeights):
        fields = torch.empty(states.shape, dtype=torch.float64)
        fields[:] = bias
        network.weights.send(states.numpy(), fields.numpy())
        return fields
    batch, n = states.shape
    few = batch < 4 or np.count_nonzero(states[:16].cpu().numpy()) * 8 < states[:16].numel()
    if compiled and few:
        fields = torch.empty(states.shape, dtype=bias.dtype)
        arrays = tuple(t.numpy() for t in (network.columns, states, bias, fields))
        rows = np.arange(batch)
        if batch < GRAIN:
            threads.run(lambda begin, end: sums.add_active(*arrays, rows, begin, end), n, 1024)
        else:
            threads.run(lambda begin, end: sums.add_active(*arrays, rows[begin:end], 0, n), batch, GRAIN)
        return fields
    return torch.addmm(bias, states.to(bias.dtype), network.columns)


def write_product(network: Network, states: Tensor, product: Tensor) -> None:
    """Write W V."""
    if isinstance(network.weights, SparseWeights):
        network.weights.send(states.numpy(), product.zero_().numpy())
    else:
        torch.mm(states, network.columns, out=product)


def said_to_itself(network: Network) -> Float64[Tensor, " neurons"]:
    """What an attribute's own neurons, one on and the others off, add to the choice of the one, float64 [neurons]."""
    layout = network.layout
    own = 0.5 * (1 - network.low) * network.diagonal.double()
    columns = network.columns if network.low != 0 else own[None]
    for a, (first, last) in enumerate(pairwise(layout.start.tolist())):
        mine = slice(first, last)
        if network.low != 0:
            own[mine] += network.low * columns[mine, mine].double().sum(dim=0)
        if network.silence is not None:
            own[mine] += network.silence[mine, a].double()
    return own


def step_parallel(work: PairWork, number: int, choose: Callable[[np.ndarray, Tensor], None]) -> None:
    """One parallel step of the running rows: ``choose(rows, chosen)`` writes the next states. Two-cycles end."""
    rows = work.running()
    if work.previous is None or work.chosen is None:
        # Copied by numpy: torch's own threads would go on spinning beside ours
        states = work.states.cpu().numpy()
        work.previous = torch.from_numpy(np.full_like(states, 2)).to(work.states.device)
        work.chosen = torch.from_numpy(states.copy()).to(work.states.device)
    chosen = work.chosen
    choose(rows, chosen)
    changed = torch.argwhere(chosen != work.states).cpu().numpy() if work.log_flips else None
    back = np.zeros(work.batch, dtype=np.bool_)
    results = (work.energy, work.lyapunov, work.rise, work.flips, back)
    if work.compiled:
        columns, bias, states, fields = work.views("columns", "bias", "states", "fields")
        dense = not work.network.is_sparse
        moved = np.empty((0, 0), fields.dtype)
        some = rows[:SAMPLE]
        if dense and np.count_nonzero(chosen.numpy()[some] != states[some]) * 8 > len(some) * states.shape[1]:
            change = (chosen - work.states)[torch.from_numpy(rows)]
            moved = (change.to(work.fields.dtype) @ work.network.columns).numpy()
        arrays = (columns, work.kept, bias, states, work.previous.numpy(), chosen.numpy(), fields)
        threads.run(
            lambda begin, end: parallel.parallel_step(
                *arrays, moved[begin:end], work.network.symmetric, rows[begin:end], *results
            ),
            len(rows),
            GRAIN,
        )
    else:
        tensors = (work.network.columns, work.bias, work.states, work.previous, chosen, work.fields)
        twins.parallel_step(*tensors, rows, *results)
    if changed is not None:
        work.log.append((number, changed[:, 0], changed[:, 1], work.energy[changed[:, 0]]))
    work.outcome[rows] = np.where(work.flips[rows] == 0, SETTLED, np.where(back[rows], CYCLE, RUNNING))


def two_step_guarantee(network: Network, legal: str) -> Guarantee:
    """The two-step energy falls for every symmetric network: s(t+1) is the best answer to the field of s(t)."""
    if not network.symmetric:
        return Guarantee(False, "the weights are asymmetric, so the field is not the slope of the two-step energy")
    return Guarantee(True, f"symmetric weights: {legal}")
