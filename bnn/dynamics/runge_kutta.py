"""Runge-Kutta solvers of a flow: Euler, the classical RK4, and Dormand-Prince 5(4) with error control row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from bnn.dynamics.activations import Activation
from bnn.dynamics.graded import Equations, Rows, Solver, largest, one_or_rows, rows_of
from bnn.dynamics.pairs import PairWork, write_product
from bnn.kernels import stages
from bnn.memory import pooled

SMALLEST = 1e-10  # of tau: a step below it goes nowhere
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
COARSEST = 0.05  # error of a state in one step


@dataclass(frozen=True)
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

    @cached_property
    def lines(self) -> Float64[np.ndarray, "stages stages"]:
        """Weights and, last, error, filled up with zeros."""
        lines = np.zeros((len(self.weights) + 1,) * 2)
        for k, line in enumerate((*self.weights, self.error)):
            lines[k, : len(line)] = line
        return lines


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

    As forces are linear in levels, all levels of a step are u and a sum of w(k) (h(k) - u) over the fields h of the
    stages, u that of its beginning (`docs/theory.md`, section 10): stages keep products, and neither levels nor forces.
    The levels of clamped neurons stay 0.

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

    packed = (*Solver.packed, "levels", "step")

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
        self.step = np.full_like(self.time, step) if step is not None else self._first_step()
        self.room, self.turn = self.fields.new_empty(0), 0

    def sweep(self) -> None:
        """A step of every row."""
        equations, tableau, network = self.equations, self.tableau, self.work.network
        size, last = self.until_landmarks(self.step), len(tableau.nodes) - 1
        weights = self._weights(size / equations.tau)
        products, spare, (levels, states, fields) = self._room(last)
        for stage, node in enumerate(tableau.nodes[:last]):
            time = self.later(node * size)
            self._reach(time, weights[stage], products[:stage], spare)
            write_product(network, spare, products[stage])
        time = self.later(size)
        self._reach(time, weights[last], products, states, levels)
        write_product(network, states, fields)
        fields += self.bias  # what is recorded owes nothing to the levels
        if tableau.order is None:
            fine, gap = np.isfinite(largest(levels)), largest(self.answer(fields, time) - states)
        else:
            norm, amiss, gap = self._judged(time, weights[-1], products, levels, states, fields)
            coarsest = min(COARSEST, 0.5 * equations.settle) if equations.settle > 0.0 else COARSEST
            norm = np.maximum(norm, amiss / coarsest)
            fine = norm <= 1.0  # not where it is NaN
            factor = SAFETY * np.nan_to_num(np.maximum(norm, 1e-12), nan=1e12, posinf=1e12) ** (-1.0 / tableau.order)
            factor = factor.clip(SHRINK, GROW)
            chosen = size * np.where(fine, factor, np.minimum(factor, 0.5))
            self.step = np.where(fine & (size < self.step), self.step, chosen)  # cut short, and right
        if not fine.all():
            back = torch.from_numpy(np.flatnonzero(~fine)).to(levels.device)
            levels[back], states[back], fields[back] = self.levels[back], self.states[back], self.fields[back]
            time = np.where(fine, time, self.time)

        def error_of(rows: Int64[np.ndarray, " rows"]) -> Float64[np.ndarray, " rows"]:
            """What the error of a step, as it is estimated or may be, can do to the free energy."""
            reached = rows_of(levels, rows)
            wrong = self._error(weights[-1], products, fields, rows).abs()
            if tableau.order is not None:
                wrong = torch.maximum(wrong, self.atol + self.rtol * reached.abs())
            others = [self.answer(reached + way * wrong, time[rows], rows) for way in (1, -1)]
            here = rows_of(states, rows), others, rows_of(fields, rows)
            strongest = network.largest_row_sum
            return apart(*here, self.gain(time[rows]), equations.activation, strongest).cpu().numpy()

        self.record(states, fields, time, error_of if tableau.error else None)
        self.levels = levels
        least = np.maximum(1e-15 * time, SMALLEST * equations.tau)
        self.finish((gap <= equations.settle) & fine, self.step < least if tableau.order is not None else ~fine)

    def _weights(self, size: Float64[np.ndarray, " rows"]) -> Float[Tensor, "lines rows stages"]:
        """What w is for the levels of each stage, and for the error, of steps of so many time constants."""
        lines = self.tableau.lines
        weights = np.empty((len(lines), len(size), len(lines)))
        stages.weights(size, lines, weights)
        return torch.from_numpy(weights).to(self.fields)

    def _reach(
        self,
        time: Float64[np.ndarray, " rows"],
        weights: Float[Tensor, "rows stages"],
        products: Float[Tensor, "earlier rows neurons"],
        states: Float[Tensor, "rows neurons"],
        levels: Float[Tensor, "rows neurons"] | None = None,
    ) -> None:
        """Write the states that a stage reaches at some time, and the levels where they are asked for."""
        if self.on_cpu:
            held = self.states[:0] if self.free is None else self.states
            written = (states.new_empty(1, states.shape[1]) if levels is None else levels), states
            stages.advance(*self._arrays(weights, products, time), *_views(held, *written))
            return
        reached = self.levels + self._combined(weights, products)
        states.copy_(self.answer(reached, time))
        if levels is not None:
            levels.copy_(reached)

    def _judged(
        self,
        time: Float64[np.ndarray, " rows"],
        weights: Float[Tensor, "rows stages"],
        products: Float[Tensor, "earlier rows neurons"],
        levels: Float[Tensor, "rows neurons"],
        states: Float[Tensor, "rows neurons"],
        fields: Float[Tensor, "rows neurons"],
    ) -> Float64[np.ndarray, "3 rows"]:
        """Of new levels their error in tolerances, the most it does to a state, and how far one is from its answer."""
        if self.on_cpu:
            found = np.empty((3, len(states)))
            new = _views(levels, states, fields)
            stages.judge(*self._arrays(weights, products, time), *new, self.rtol, self.atol, *found)
            found[0] = np.sqrt(found[0] / self._number())
            return found
        error = self._error(weights, products, fields)
        amiss, gap = (largest(self.answer(u, time) - states) for u in (levels - error, fields))
        return np.stack([self._norm(error, levels), amiss, gap])

    def _arrays(
        self,
        weights: Float[Tensor, "rows stages"],
        products: Float[Tensor, "earlier rows neurons"],
        time: Float64[np.ndarray, " rows"],
    ) -> tuple[Any, ...]:
        """What every compiled pass over a step takes."""
        tensors = (self.levels, self.fields, products, weights, self.bias, self.asked, self.gain(time))
        return (*_views(*tensors), *self.equations.activation.for_loops)

    def _combined(
        self,
        weights: Float[Tensor, "rows stages"],
        products: Float[Tensor, "earlier rows neurons"],
        rows: Rows = slice(None),
    ) -> Float[Tensor, "some neurons"]:
        """The sum of w(k) (h(k) - u) over the stages so far, of some rows."""
        levels, weights = rows_of(self.levels, rows), rows_of(weights, rows)
        bias = one_or_rows(self.bias, rows)
        change: Tensor = weights[:, :1] * (rows_of(self.fields, rows) - levels)
        for k, product in enumerate(products, start=1):
            change.addcmul_(weights[:, k : k + 1], rows_of(product, rows) + bias - levels)
        return change if self.free is None else change * one_or_rows(self.free, rows)

    def _error(
        self,
        weights: Float[Tensor, "rows stages"],
        products: Float[Tensor, "earlier rows neurons"],
        fields: Float[Tensor, "rows neurons"],
        rows: Rows = slice(None),
    ) -> Float[Tensor, "some neurons"]:
        """The error of the levels of a step that ends with these fields, of some rows."""
        last = rows_of(weights, rows)[:, -1:] * (rows_of(fields, rows) - rows_of(self.levels, rows))
        if self.free is not None:
            last = last * one_or_rows(self.free, rows)
        error: Tensor = self._combined(weights, products, rows) + last
        return error

    def _room(self, products: int) -> tuple[Float[Tensor, "stages rows neurons"], Tensor, Tensor]:
        """Memory for so many products, for states in between, and for levels, states and fields after the step.

        Of the latter there are two sets, taken by turns, since those before the step may lie in the other one. Nothing
        else may lie here: rows that are packed together or joined are copies.
        """
        wanted, self.turn = (products + 7) * self.levels.numel(), 1 - self.turn
        if self.room.numel() < wanted:
            if self.on_cpu:
                self.room = torch.from_numpy(pooled((wanted,), self.levels.numpy().dtype))
            else:
                self.room = self.levels.new_empty(wanted)
        room = self.room[:wanted].view(-1, *self.levels.shape)
        return room[:products], room[-1], room[products : products + 6].view(2, 3, *self.levels.shape)[self.turn]

    def _norm(
        self, values: Float[Tensor, "rows neurons"], levels: Float[Tensor, "rows neurons"]
    ) -> Float64[np.ndarray, " rows"]:
        """Root mean square over the free neurons, in tolerances at these levels."""
        tolerances = levels.abs().mul_(self.rtol).add_(self.atol)
        length = torch.linalg.vector_norm(torch.div(values, tolerances, out=tolerances), dim=1)
        norm: np.ndarray = length.double().cpu().numpy() / np.sqrt(self._number())
        return norm

    def _number(self) -> Any:
        """How many neurons are free, of all rows or of each."""
        return self.levels.shape[1] if self.free is None else self.free.sum(dim=1).clamp(min=1).cpu().numpy()

    def _first_step(self) -> Float64[np.ndarray, " rows"]:
        """A hundredth of the time in which the forces would change the levels by their own size."""
        tau = self.equations.tau
        forces = self.only_free(self.fields - self.levels)
        level, force = self._norm(self.levels, self.levels), self._norm(forces, self.levels)
        known = (level > 1e-5) & (force > 1e-5)
        return np.maximum(np.where(known, 0.01 * tau * level / np.where(known, force, 1.0), 0.0), 1e-6 * tau)


def _views(*tensors: Tensor) -> tuple[np.ndarray, ...]:
    """Views for a compiled loop."""
    return tuple(tensor.numpy() for tensor in tensors)
