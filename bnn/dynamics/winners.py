"""Winner-take-all within each attribute, and k winners in the whole network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Int8, Int64
from torch import Tensor

from bnn.associative import AssociativeMemory
from bnn.coding import NeuronStates
from bnn.dynamics.base import (
    EITHER,
    ENERGY,
    GRAIN,
    SETTLED,
    TWO_STEP,
    WEIGHTS,
    Dynamics,
    Guarantee,
    Work,
    sequential_guarantee,
)
from bnn.dynamics.pairs import step_parallel, two_step_guarantee
from bnn.dynamics.threshold import check_order, check_parallel
from bnn.errors import DataError
from bnn.kernels import threads, winners
from bnn.schema import Layout


def on_by_attribute(on: Int8[np.ndarray, "batch neurons"], layout: Layout) -> Int64[np.ndarray, "batch attributes"]:
    """How many neurons of each attribute are on."""
    total = np.empty((len(on), len(layout.start) - 1), dtype=np.int64)
    rows = np.arange(len(on))
    threads.run(lambda begin, end: winners.count_on(on, layout.start, rows[begin:end], total), len(rows), GRAIN)
    return total


def settle_unchanged(work: Work, rows: np.ndarray) -> None:
    """A row in which a whole sweep changed nothing has settled."""
    work.outcome[rows[work.flips[rows] == 0]] = SETTLED


@dataclass(frozen=True, slots=True)
class WinnerTakeAll(Dynamics):
    """Each attribute takes one value: the one of least energy given all other attributes.

    Sequential (default): one attribute at a time takes the value of largest b(j) + field from outside the attribute +
    W(j,j)/2; a tie keeps the present value. From a legal state, one value an attribute, E never rises. Attributes that
    the cue leaves unknown, or gives no value or several, are filled first; the claim starts there. A two-valued
    attribute that owns one neuron chooses between on and off.

    Parameters
    ----------
    parallel
        All attributes at once, each to its largest field, as the capacity literature does: the two-step energy falls,
        cycles of two may occur.
    order
        Of the attributes in a sequential sweep: ``"random"`` or ``"fixed"``.
    """

    parallel: bool = False
    order: str = "random"
    name: ClassVar[str] = "winner-take-all"
    one_value: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parallel("WinnerTakeAll", self.parallel)
        check_order("WinnerTakeAll", self.order)

    @property
    def lyapunov(self) -> str:
        """The energy, or the two-step energy in parallel."""
        return TWO_STEP if self.parallel else ENERGY

    @property
    def runs(self) -> tuple[str, ...]:
        """Either kind of memory; in parallel weights, whose two-step energy then falls."""
        return WEIGHTS if self.parallel else EITHER

    def guarantee(self, network: Any) -> Guarantee:
        """Symmetric weights; or patterns."""
        if self.parallel:
            return two_step_guarantee(network, "each attribute takes its best answer to the last field")
        return sequential_guarantee(network, "each attribute takes its value of least energy")

    def objection(self, network: AssociativeMemory) -> str | None:
        """Sequential choice needs an energy to choose by."""
        if not self.parallel and not network.symmetric:
            return "asymmetric weights have no energy to choose values by; use WinnerTakeAll(parallel=True)"
        return None

    def admissible(
        self, network: AssociativeMemory, states: NeuronStates, clamped: Bool[Tensor, "_ neurons"]
    ) -> NeuronStates:
        """An attribute with none or several neurons on is unknown; a clamped one is whole, of one value or none."""
        layout = network.layout
        owned = np.diff(layout.start)
        held = on_by_attribute(clamped.cpu().numpy().astype(np.int8), layout)
        if (partial := (held > 0) & (held < owned)).any():
            name = layout.schema.names[np.argwhere(partial)[0, 1]]
            raise DataError(
                f"recall.clamp: only some neurons of {name!r} are clamped; WinnerTakeAll clamps whole attributes."
            )
        on = on_by_attribute(states.on, layout)
        unclear = (on != 1) & (owned > 0) & ~layout.single
        if not unclear.any():
            return states
        if (several := (on > 1) & unclear & (held > 0)).any():
            row, a = np.argwhere(several)[0]
            raise DataError(
                f"recall.clamp: row {row} has {on[row, a]} values of {layout.schema.names[a]!r} on and clamped; "
                "WinnerTakeAll keeps one value an attribute, so leave that attribute free or correct the cue."
            )
        illegal = unclear[:, layout.attribute]
        return NeuronStates(states.on, illegal if states.unknown is None else illegal | states.unknown)

    def sweep(self, work: Any, number: int) -> None:
        """Ask every attribute once."""
        if self.parallel:
            return step_parallel(work, number, work.choose_winners)
        rows = work.running()
        work.winner_sweep(number, work.order(number, len(work.network.layout.single), self.order == "random"))
        return settle_unchanged(work, rows)


@dataclass(frozen=True, slots=True)
class KWinners(Dynamics):
    """A fixed number of neurons is on in the whole network.

    Sequential (default): each neuron that is off, in turn, changes places with the one on neuron whose exchange saves
    most, if h(in) - h(out) - W(in,out) > 0 (plus half the self-connections); E never rises. A swap by plain fields
    would raise it. Rows settle where no single swap lowers E.

    Parameters
    ----------
    k
        How many are on, clamped ones included; None: as many as in the row's cue. A cue with another number, or with
        unknown neurons, starts from the k largest fields.
    parallel
        All at once, the k largest fields: the two-step energy falls, E may rise, cycles of two may occur.
    order
        Of the neurons in a sequential sweep: ``"random"`` or ``"fixed"``.
    """

    k: int | None = None
    parallel: bool = False
    order: str = "random"
    name: ClassVar[str] = "k-winners"

    def __post_init__(self) -> None:
        check_parallel("KWinners", self.parallel)
        check_order("KWinners", self.order)
        if self.k is not None and (not isinstance(self.k, int | np.integer) or self.k < 1):
            raise DataError(f"KWinners.k: got {self.k!r}; give a whole number of at least 1, or None.")

    @property
    def lyapunov(self) -> str:
        """The energy, or the two-step energy in parallel."""
        return TWO_STEP if self.parallel else ENERGY

    @property
    def runs(self) -> tuple[str, ...]:
        """Either kind of memory; in parallel weights, whose two-step energy then falls."""
        return WEIGHTS if self.parallel else EITHER

    def guarantee(self, network: Any) -> Guarantee:
        """Symmetric weights; or patterns."""
        if self.parallel:
            return two_step_guarantee(network, "the k largest fields are the best answer to the last state")
        return sequential_guarantee(network, "a swap is made only if its exact energy falls")

    def objection(self, network: AssociativeMemory) -> str | None:
        """Too many winners, or no energy to swap by."""
        if self.k is not None and self.k > network.neurons:
            return f"k = {self.k} exceeds the {network.neurons} neurons; use fewer winners"
        if not self.parallel and not network.symmetric:
            return "asymmetric weights have no energy to swap by; use KWinners(parallel=True)"
        return None

    def admissible(
        self, network: AssociativeMemory, states: NeuronStates, clamped: Bool[Tensor, "_ neurons"]
    ) -> NeuronStates:
        """With unknown neurons, k cannot be counted from the cue."""
        if self.k is None and states.unknown is not None and (states.unknown & ~clamped.cpu().numpy()).any():
            raise DataError("KWinners.k: the cue has unknown neurons, so it cannot say how many win; give k.")
        return states

    def start(self, work: Work, unknown: Bool[Tensor, "batch neurons"] | None) -> None:
        """Rows that do not have k neurons on, or do not know some, start from the k largest fields."""
        count = (work.states == 1).sum(dim=1)
        if self.k is not None:
            held = ((work.states == 1) & ~work.free).sum(dim=1)
            room = held + work.free.expand_as(work.states).sum(dim=1)
            wrong = (held > self.k) | (room < self.k)
            if bool(wrong.any()):
                row = int(wrong.int().argmax())
                raise DataError(
                    f"KWinners.k: got {self.k}, but the clamps of row {row} leave between {int(held[row])} and "
                    f"{int(room[row])} neurons on; choose k in that range or clamp less."
                )
        legal = torch.ones_like(count, dtype=torch.bool) if self.k is None else count == self.k
        if unknown is not None:
            legal &= ~(unknown & work.free).any(dim=1)
        rows = torch.nonzero(~legal)[:, 0].cpu().numpy()
        if len(rows):
            work.start_with(rows, self._number(work), unknown)

    def sweep(self, work: Any, number: int) -> None:
        """Offer every neuron that is off a place once."""
        if self.parallel:
            return step_parallel(work, number, lambda rows, chosen: work.choose_k(rows, self._number(work), chosen))
        rows = work.running()
        work.swap_sweep(number, work.order(number, work.network.neurons, self.order == "random"))
        return settle_unchanged(work, rows)

    def _number(self, work: Work) -> Int64[Tensor, " batch"]:
        """How many free neurons win in each row; clamped ones that are on take places too."""
        held = ((work.states == 1) & ~work.free).sum(dim=1)
        number = (work.states == 1).sum(dim=1) if self.k is None else torch.full_like(held, self.k)
        return (number - held).clamp(min=0)
