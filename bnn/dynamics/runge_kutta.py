"""Runge-Kutta solvers of a flow: Euler, the classical RK4, and Dormand-Prince 5(4) with error control row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from bnn.dynamics.activations import Activation
from bnn.dynamics.graded import Equations, Solver, largest, rows_of
from bnn.dynamics.pairs import PairWork, add_product, fields_of
from bnn.kernels import stages
from bnn.memory import pooled

SMALLEST = 1e-10  # of tau: a step below it goes nowhere
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
COARSEST = 0.05  # error of a state in one step


@dataclass(frozen=True, slots=True)
class Tableau:
    """Coefficients of an explicit method whose last stage is the new state: its field serves record and next step.

    Attributes
    ----------
    nodes
        Time of each stage after the first, in steps.
    weights
        Weights of the slopes before it, one line a stage after the first.
    error
        Weights of all slopes that give the new state minus the one of an embedded method of the neighbouring order;
        empty where theory needs no estimate.
    order
        Order of the error estimate plus one, by which steps are chosen; None for fixed steps.
    limit
        Largest step times the fastest rate at which the method is stable on the negative axis.
    """

    nodes: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    error: tuple[float, ...]
    order: int | None
    limit: float


EULER = Tableau((1.0,), ((1.0,),), (), None, 2.0)
# The embedded method of third order uses the slope at the new state in place of the fourth one
RK4 = Tableau(
    (1 / 2, 1 / 2, 1.0, 1.0),
    ((1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
    (0.0, 0.0, 0.0, 1 / 6, -1 / 6),
    None,
    2.785,
)
# J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980) 19-26
DOPRI5 = Tableau(
    (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
    5,
    3.306,
)
TABLEAUS = {"dopri5": DOPRI5, "rk4": RK4, "euler": EULER}


def apart(
    states: Float[Tensor, "rows neurons"],
    others: Sequence[Float[Tensor, "rows neurons"]],
    fields: Float[Tensor, "rows neurons"],
    gain: Float[Tensor, "_ 1"],
    activation: Activation,
    strongest: float,
) -> Float64[Tensor, " rows"]:
    """Most by which the free energy of states can differ from that of any others, in bits, without the others' fields.

    The sum over neurons of |dS/gain - h dV|, the largest of the others, and |W| |dV|^2 / 2, |W| the largest row sum of
    the weights: ``strongest``.
    """
    most, farthest = torch.zeros_like(states), torch.zeros_like(states)
    for other in others:
        moved = states - other
        terms = (activation.integral(states) - activation.integral(other)) / gain - fields * moved
        most, farthest = torch.maximum(most, terms.abs()), torch.maximum(farthest, moved.abs())
    coupled = strongest * farthest.square().sum(dim=1, dtype=torch.float64)
    return most.sum(dim=1, dtype=torch.float64) + 0.5 * coupled


class RungeKutta(Solver):
    """Integrates levels u, driven by the forces tau du/dt; a row whose step was too large tries a smaller one.

    Parameters
    ----------
    work, equations, index
        As in `Solver`.
    tableau
        The method.
    step
        Size of fixed steps, or of the first where steps are chosen (None: from the slope).
    rtol, atol
        A chosen step may err by atol + rtol |u|, in bits, as a mean square over the free neurons of a row; and no state
        by more than 0.05, or half of what counts as settled, so that no error hides that a row has come to rest.
    """

    packed = (*Solver.packed, "levels", "forces", "step")

    def __init__(
        self,
        work: PairWork,
        equations: Equations,
        index: Int64[np.ndarray, " rows"],
        tableau: Tableau,
        step: float | None,
        rtol: float,
        atol: float,
    ) -> None:
        super().__init__(work, equations, index)
        self.tableau, self.rtol, self.atol = tableau, rtol, atol
        inverse = equations.activation.inverse(self.states).div_(self.gain(self.time))
        self.levels = inverse if self.free is None else torch.where(self.free, inverse, 0.0)
        self.forces = self.only_free(self.fields - self.levels)
        self.step = np.full_like(self.time, step) if step is not None else self._first_step()
        self.rows = [self._used(row) for row in (*tableau.weights, tableau.error) if row]
        self.room = self.fields.new_empty(0)

    def sweep(self) -> None:
        """A step of every row."""
        equations, tableau = self.equations, self.tableau
        size = self.until_landmarks(self.step)
        column = torch.from_numpy(size[:, None] / equations.tau).to(self.fields)
        room = self._room(len(tableau.nodes) + 4)
        forces, levels, error, spare = room[:-3], room[-3], room[-2], room[-1]
        forces[0] = self.forces
        for stage, node in enumerate(tableau.nodes, start=1):
            self._advance(stage, column, forces, levels)
            time = self.later(node * size)
            if stage < len(tableau.nodes):
                add_product(self.work.network, self.answer(levels, time, out=spare), forces[stage])
            else:  # those that are recorded owe nothing to the levels
                states = self.answer(levels, time)
                fields = fields_of(self.work.network, states, self.bias, compiled=False)
                torch.sub(fields, levels, out=forces[stage])
            if self.free is not None:
                forces[stage] *= self.free
        if tableau.error:
            first, weights = self.rows[-1]
            torch.mv(forces[first:].flatten(1).T, weights, out=error.view(-1))
            error *= column
        if tableau.order is None:
            fine = np.isfinite(largest(levels))
        else:
            coarsest = min(COARSEST, 0.5 * equations.settle) if equations.settle > 0.0 else COARSEST
            torch.sub(levels, error, out=spare)
            amiss = largest(self.answer(spare, time, out=spare).sub_(states))
            norm = np.maximum(self._norm(error, levels), amiss / coarsest)
            fine = norm <= 1.0  # not where it is NaN
            factor = SAFETY * np.nan_to_num(np.maximum(norm, 1e-12), nan=1e12, posinf=1e12) ** (-1.0 / tableau.order)
            factor = factor.clip(SHRINK, GROW)
            chosen = size * np.where(fine, factor, np.minimum(factor, 0.5))
            self.step = np.where(fine & (size < self.step), self.step, chosen)  # cut short, and right
        if not fine.all():
            back = torch.from_numpy(np.flatnonzero(~fine)).to(levels.device)
            levels[back], forces[-1, back] = self.levels[back], self.forces[back]
            states[back], fields[back] = self.states[back], self.fields[back]
            time = np.where(fine, time, self.time)
        self.levels.copy_(levels)
        self.forces.copy_(forces[-1])
        strongest = self.work.network.largest_row_sum

        def error_of(rows: Int64[np.ndarray, " rows"]) -> Float64[np.ndarray, " rows"]:
            """What the error of a step, as it is estimated or may be, can do to the free energy."""
            size = error.abs()
            if tableau.order is not None:
                size = torch.maximum(size, self.atol + self.rtol * levels.abs())
            others = [rows_of(self.answer(levels + way * size, time), rows) for way in (1, -1)]
            gain = self.gain(time if equations.anneal == 0.0 else time[rows])
            here = rows_of(states, rows), others, rows_of(fields, rows)
            return apart(*here, gain, equations.activation, strongest).cpu().numpy()

        self.record(states, fields, time, error_of if tableau.error else None)
        settled = largest(self.answer(fields, time, out=spare).sub_(states)) <= equations.settle
        least = np.maximum(1e-15 * time, SMALLEST * equations.tau)
        self.finish(settled & fine, self.step < least if tableau.order is not None else ~fine)

    def _advance(
        self,
        stage: int,
        size: Float[Tensor, "rows 1"],
        forces: Float[Tensor, "stages rows neurons"],
        levels: Float[Tensor, "rows neurons"],
    ) -> None:
        """Write the levels that a stage reaches, and to its force what needs no product: b - u."""
        first, weights = self.rows[stage - 1]
        if levels.device.type == "cpu":
            arrays = (self.levels, size, weights, forces, self.bias, levels, forces[stage])
            start, h, w, f, b, reached, drift = (tensor.numpy() for tensor in arrays)
            stages.advance(start, h, w, f, first, b, reached, drift)
            return
        change = torch.tensordot(weights, forces[first:stage], dims=1)
        torch.addcmul(self.levels, size, change, out=levels)
        torch.sub(self.bias, levels, out=forces[stage])

    def _used(self, row: tuple[float, ...]) -> tuple[int, Float[Tensor, " stages"]]:
        """The weights of a line from the first that is not zero, and its place."""
        first = next(stage for stage, weight in enumerate(row) if weight)
        return first, self.fields.new_tensor(row[first:])

    def _room(self, slots: int) -> Float[Tensor, "slots rows neurons"]:
        """Memory for what a step needs, the same one as long as it fits."""
        shape = (slots, *self.levels.shape)
        wanted = slots * self.levels.numel()
        if self.room.numel() < wanted:
            self.room = self.levels.new_empty(wanted)
            if self.room.device.type == "cpu":
                self.room = torch.from_numpy(pooled((wanted,), self.room.numpy().dtype))
        room: Tensor = self.room[:wanted].view(shape)
        return room

    def _norm(
        self, values: Float[Tensor, "rows neurons"], levels: Float[Tensor, "rows neurons"]
    ) -> Float64[np.ndarray, " rows"]:
        """Root mean square over the free neurons, in tolerances at these levels."""
        tolerances = levels.abs().mul_(self.rtol).add_(self.atol)
        length = torch.linalg.vector_norm(torch.div(values, tolerances, out=tolerances), dim=1)
        number = np.array(values.shape[1])
        if self.free is not None:
            number = self.free.sum(dim=1).clamp(min=1).cpu().numpy()
        norm: np.ndarray = length.double().cpu().numpy() / np.sqrt(number)
        return norm

    def _first_step(self) -> Float64[np.ndarray, " rows"]:
        """A hundredth of the time in which the forces would change the levels by their own size."""
        tau = self.equations.tau
        level, force = self._norm(self.levels, self.levels), self._norm(self.forces, self.levels)
        known = (level > 1e-5) & (force > 1e-5)
        return np.maximum(np.where(known, 0.01 * tau * level / np.where(known, force, 1.0), 0.0), 1e-6 * tau)
