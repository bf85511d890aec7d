"""The course of one recall: what each moment of it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float64, Int

from bnn.associative import AssociativeMemory
from bnn.driver import recall
from bnn.dynamics import DYNAMICS
from bnn.dynamics.base import Dynamics
from bnn.plots.clock import moment_name, moments_of
from bnn.plots.style import count, readable, unit
from bnn.trace import Trace

MOST = 400
"""Moments shown at most."""
SINGLE = ("asynchronous", "winner-take-all", "k-winners")
"""Dynamics of single changes, few enough to be shown one by one."""
LONGEST = {False: 100, True: 500}
"""Sweeps, or steps of graded neurons, after which a recall ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Moments of one recall.

    Attributes
    ----------
    rule
        Name of the rule.
    trace
        The recall.
    on
        [moments, neurons]: 1 on, 0 off, between them the probability of being on.
    falling
        [moments]: what must fall, in `unit`.
    what, unit
        Name of what must fall, and its unit.
    moments
        What each moment is called.
    """

    rule: str
    trace: Trace
    on: Float[np.ndarray, "moments neurons"]
    falling: Float64[np.ndarray, " moments"]
    what: str
    unit: str
    moments: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.moments)

    @property
    def verdict(self) -> str:
        """How it ended, and whether what must fall fell, in two sentences.

        A rise counts only beyond what rounding may do.
        """
        descent, outcome = self.trace.descent, self.trace.outcome[0]
        ended = {
            "settled": "Settled: no neuron wants to change.",
            "cycle": "Ended in a cycle of two states.",
            "limit": "Stopped at the limit before settling.",
            "stalled": "Stopped: its step shrank to nothing.",
        }[str(outcome)]
        if descent.largest_rise <= descent.tolerance:
            fell = f"The {self.what} never rose{'' if descent.guaranteed else ', though nothing promised it'}."
        else:
            fell = f"The {self.what} rose by up to {readable(descent.largest_rise, ',.1f')} {self.unit}"
            fell += "." if descent.guaranteed else f", as it may: {descent.reason}."
        return f"{ended} {fell}"


def course_of(
    rule: str,
    network: AssociativeMemory,
    cue: Bool[np.ndarray, " neurons"],
    dynamics: Dynamics,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Course:
    """Recall a cue and keep what its moments show.

    Raises
    ------
    DataError
        A dynamics that this network cannot run.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -0.5])
    >>> course = course_of("by hand", network, np.array([False, True]), bnn.Asynchronous(), 0)
    >>> course.moments, course.falling.tolist()
    (('start', 'flip 1 of 1, sweep 1'), [0.5, 0.0])
    """
    single = dynamics.name in SINGLE and not getattr(dynamics, "parallel", False)
    trace = recall(
        network,
        cue,
        dynamics,
        seed=seed,
        max_sweeps=LONGEST[dynamics.graded],
        record="flips" if single else "states",
        progress=progress,
    )
    states, falling, moments = _flips(trace) if single else _steps(trace)
    on = ((states - network.low) / (1 - network.low)).astype(np.float32)
    return Course(rule, trace, on, falling, trace.lyapunov_name, unit(network), moments)


def dynamics_named(name: str) -> Dynamics:
    """A dynamics with its usual parameters."""
    return DYNAMICS[name]()


def _flips(trace: Trace) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """States, energies and names of moments of single changes."""
    log = trace.flip_log
    assert log is not None
    flips = len(log.neuron)
    chosen = np.unique(np.linspace(0, flips, MOST).round().astype(int)) if flips >= MOST else np.arange(flips + 1)
    states = np.empty((len(chosen), trace.states.shape[1]), np.float32)
    state, done = trace.start[0].copy(), 0
    for row, moment in enumerate(chosen.tolist()):
        turned = np.bincount(log.neuron[done:moment], minlength=len(state)) % 2 == 1
        state[turned] = 1 + trace.network.low - state[turned]
        states[row], done = state, moment
    names = [f"flip {m:,} of {flips:,}, sweep {log.sweep[m - 1] + 1}" for m in chosen[1:].tolist()]
    return states, np.concatenate([trace.energy[0, :1], log.energy])[chosen], ("start", *names)


def _steps(trace: Trace) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """States, Lyapunov values and names of whole sweeps, or steps of graded neurons."""
    assert trace.history is not None
    states, falling = trace.history[0], trace.lyapunov[0]
    chosen = moments_of(states, MOST) if trace.dynamics.graded else list(range(min(MOST, len(falling))))
    if not trace.dynamics.graded:
        return states[chosen], falling[chosen], ("start", *(count(m, "sweep") for m in chosen[1:]))
    times: Int[np.ndarray, "..."] | Float64[np.ndarray, "..."] = (
        trace.times if trace.times.ndim == 1 else trace.times[0]
    )
    return states[chosen], falling[chosen], ("start", *(moment_name(trace, float(times[m])) for m in chosen[1:]))
