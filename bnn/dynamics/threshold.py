"""Threshold updates of single neurons: asynchronous, synchronous, and with noise (Glauber)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from bnn.dynamics.base import (
    NOISE,
    SETTLED,
    TWO_STEP,
    Dynamics,
    Guarantee,
    Work,
    step_parallel,
    two_step_guarantee,
)
from bnn.errors import DataError, unknown_name
from bnn.kernels import flips, twins
from bnn.network import Network

ORDERS = ("random", "fixed")
LARGEST = 1e30  # so that random thresholds stay finite in float32


def check_order(owner: str, order: str) -> None:
    """Refuse an unknown order of updates."""
    if order not in ORDERS:
        raise unknown_name(f"{owner}.order", order, ORDERS)


def check_parallel(owner: str, parallel: bool) -> None:
    """Refuse what is neither True nor False, such as an order given in the place of ``parallel``."""
    if not isinstance(parallel, bool | np.bool_):
        raise DataError(f"{owner}.parallel: got {parallel!r}; give True or False.")


def threshold_sweep(work: Work, number: int, random: bool, noise: np.ndarray) -> np.ndarray:
    """One sweep over all neurons, compiled or in torch; returns which running rows still hold an unstable neuron."""
    network, rows = work.network, work.running()
    order = work.order(number, network.neurons, random)
    if not work.compiled:
        return twins.threshold_sweep(work, number, order, noise, rows)
    unstable = np.zeros(work.batch, dtype=np.bool_)
    fixed = work.views("weights", "columns", "states", "fields", "mirror", "free")
    results = (work.energy, work.rise, work.flips)
    work.each(
        flips.threshold_sweep,
        log_room=network.neurons,
        sweep=number,
        rows=rows,
        arguments=lambda begin, end, neuron, energy: (
            *fixed, noise[begin:end], order, network.low, rows[begin:end], *results, unstable, neuron, energy,
        ),
    )  # fmt: skip
    return unstable


@dataclass(frozen=True, slots=True)
class Asynchronous(Dynamics):
    """One neuron at a time: on if its field is positive, off if negative, unchanged at zero [B 2.2; Hopfield 1982].

    A sweep asks every neuron once. Recall ends in a fixed point.

    Parameters
    ----------
    order
        ``"random"``: a new order each sweep, from the seed; ``"fixed"``: by index.

    Notes
    -----
    Guarantee: one flip changes E by -|h| - W(j,j)/2 (states {0,1}), so E never rises for symmetric weights without
    negative self-connections.
    """

    order: str = "random"
    name: ClassVar[str] = "asynchronous"

    def __post_init__(self) -> None:
        check_order("Asynchronous", self.order)

    def guarantee(self, network: Network) -> Guarantee:
        """Symmetric weights, no negative self-connection."""
        if not network.symmetric:
            return Guarantee(False, "the weights are asymmetric, so the field is not the slope of the energy")
        if network.negative_self is not None:
            name = network.layout.names[network.negative_self]
            return Guarantee(False, f"the self-connection of {name!r} is negative and can outweigh its field")
        return Guarantee(True, "symmetric weights without negative self-connections: each flip lowers E")

    def sweep(self, work: Work, number: int) -> None:
        """Ask every neuron once; a row without an unstable neuron has settled."""
        rows = work.running()
        unstable = threshold_sweep(work, number, self.order == "random", np.empty((0, 0), _numpy_dtype(work)))
        work.outcome[rows[~unstable[rows]]] = SETTLED


@dataclass(frozen=True, slots=True)
class Synchronous(Dynamics):
    """All neurons at once by the same threshold rule; may end in a cycle of two, which is detected.

    Notes
    -----
    What falls is the two-step energy -s(t)' W s(t-1) - b'(s(t) + s(t-1)), for every symmetric network; E itself may
    rise, as W = [[0, -1], [-1, 0]] with b = [0.4, 0.4] shows.
    """

    name: ClassVar[str] = "synchronous"

    @property
    def lyapunov(self) -> str:
        """The two-step energy."""
        return TWO_STEP

    def guarantee(self, network: Network) -> Guarantee:
        """Symmetric weights."""
        return two_step_guarantee(network, "each neuron takes its best answer to the last field")

    def sweep(self, work: Work, number: int) -> None:
        """One step of every neuron."""

        def choose(rows: np.ndarray, chosen: Tensor) -> None:
            at_work = torch.from_numpy(rows).to(chosen.device)
            fields = work.fields[at_work]
            new = torch.where(fields > 0, 1, work.network.low)
            moves = (fields != 0) & (work.free if len(work.free) == 1 else work.free[at_work])
            chosen[at_work] = torch.where(moves, new.to(torch.int8), work.states[at_work])

        step_parallel(work, number, choose)


@dataclass(frozen=True, slots=True)
class Glauber(Dynamics):
    """Asynchronous updates with noise: P(on) = 1 / (1 + 2^(-x/T)), x the energy in bits that being on would save.

    Samples the Boltzmann distribution P(V) proportional to 2^(-E(V)/T) of a symmetric network; claims no descent. Each
    row draws its own noise from (seed, sweep, row number), whatever the other rows are. Rows end at ``max_sweeps``.

    Parameters
    ----------
    temperature
        T > 0, in bits.
    """

    temperature: float = 1.0
    name: ClassVar[str] = "glauber"
    settles: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.temperature, int | float | np.number) or not 0.0 < self.temperature < LARGEST:
            raise DataError(
                f"Glauber.temperature: got {self.temperature!r}; use a positive number of bits below 1e30, "
                "or Asynchronous() for 0."
            )

    def guarantee(self, network: Network) -> Guarantee:
        """None: noise may raise the energy."""
        return Guarantee(False, "noise raises the energy now and then; compare with Boltzmann probabilities instead")

    def sweep(self, work: Work, number: int) -> None:
        """Ask every neuron once, against a random threshold."""
        step = 1 - work.network.low
        noise = np.empty((len(rows := work.running()), work.network.neurons), _numpy_dtype(work))
        for k, row in enumerate(rows.tolist()):
            uniform = 1.0 - np.random.default_rng([work.seed, number, NOISE, row]).random(work.network.neurons)
            # u < P(on) exactly when the field exceeds this threshold
            noise[k] = self.temperature / step * (np.log2(uniform) - np.log2(np.maximum(1.0 - uniform, 1e-300)))
        threshold_sweep(work, number, True, noise)


def _numpy_dtype(work: Work) -> np.dtype:
    return np.dtype(str(work.fields.dtype).removeprefix("torch."))
