"""Threshold updates of single neurons: asynchronous, synchronous, and with noise (Glauber)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bnn.associative import AssociativeMemory
from bnn.dynamics.base import EITHER, NOISE, SETTLED, TWO_STEP, Dynamics, Guarantee, Work, sequential_guarantee
from bnn.dynamics.pairs import PairWork, step_parallel, two_step_guarantee
from bnn.errors import DataError, unknown_name
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


@dataclass(frozen=True, slots=True)
class Asynchronous(Dynamics):
    """One neuron at a time: on if its field is positive, off if negative, unchanged at zero [B 2.2; Hopfield 1982].

    A sweep asks every neuron once. Recall ends in a fixed point. In a memory of patterns the neuron takes the state of
    less energy, all others held [Krotov, Hopfield 2016; Demircigil et al. 2017].

    Parameters
    ----------
    order
        ``"random"``: a new order each sweep, from the seed; ``"fixed"``: by index.

    Notes
    -----
    Guarantee: one flip changes E by -|h| - W(j,j)/2 (states {0,1}), so E never rises for symmetric weights without
    negative self-connections; nor in a memory of patterns, where energies are compared.
    """

    order: str = "random"
    name: ClassVar[str] = "asynchronous"

    def __post_init__(self) -> None:
        check_order("Asynchronous", self.order)

    @property
    def runs(self) -> tuple[str, ...]:
        """Either kind of memory."""
        return EITHER

    def guarantee(self, network: AssociativeMemory) -> Guarantee:
        """Symmetric weights, no negative self-connection; or patterns."""
        if network.symmetric and network.negative_self is not None:
            name = network.layout.names[network.negative_self]
            return Guarantee(False, f"the self-connection of {name!r} is negative and can outweigh its field")
        return sequential_guarantee(network, "each flip lowers E")

    def sweep(self, work: Work, number: int) -> None:
        """Ask every neuron once; a row without an unstable neuron has settled."""
        rows = work.running()
        order = work.order(number, work.network.neurons, self.order == "random")
        unstable = work.threshold_sweep(number, order, None)
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

    def sweep(self, work: PairWork, number: int) -> None:
        """One step of every neuron."""
        step_parallel(work, number, work.choose_thresholds)


@dataclass(frozen=True, slots=True)
class Glauber(Dynamics):
    """Asynchronous updates with noise: P(on) = 1 / (1 + 2^(-x/T)), x the energy in bits that being on would save.

    Samples the Boltzmann distribution P(V) proportional to 2^(-E(V)/T) of a symmetric network, or of a memory of
    patterns; claims no descent. Each row draws its own noise from (seed, sweep, row number), whatever the other rows
    are. Rows end at ``max_sweeps``.

    Parameters
    ----------
    temperature
        T > 0, in bits (of patterns: in the unit of their energy).
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

    @property
    def runs(self) -> tuple[str, ...]:
        """Either kind of memory."""
        return EITHER

    def guarantee(self, network: AssociativeMemory) -> Guarantee:
        """None: noise may raise the energy."""
        return Guarantee(False, "noise raises the energy now and then; compare with Boltzmann probabilities instead")

    def sweep(self, work: Work, number: int) -> None:
        """Ask every neuron once, against a random threshold."""
        neurons, step = work.network.neurons, 1 - work.network.low
        noise = np.empty((len(rows := work.running()), neurons))
        for k, row in enumerate(rows.tolist()):
            uniform = 1.0 - np.random.default_rng([work.seed, number, NOISE, row]).random(neurons)
            # u < P(on) exactly when the field exceeds this threshold
            noise[k] = self.temperature / step * (np.log2(uniform) - np.log2(np.maximum(1.0 - uniform, 1e-300)))
        work.threshold_sweep(number, work.order(number, neurons, True), noise)
