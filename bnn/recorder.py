"""Series of a recall, kept at each sweep's end."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Shaped
from torch import Tensor

from bnn.associative import AssociativeMemory
from bnn.dynamics.base import GRAIN, Work
from bnn.kernels import sums, threads
from bnn.trace import FlipLog


class Recorder:
    """Series at each sweep's end."""

    def __init__(self, work: Work, external: Tensor, keep_states: bool) -> None:
        self.work, self.keep_states = work, keep_states
        self.external = external if bool((external != 0).any()) else None
        self.input = np.zeros_like(work.energy)
        self.flips = np.zeros_like(work.flips)
        self.sweeps = np.zeros_like(work.flips)
        self.steps = 0  # until the last change of anything recorded
        names = ("energy", "lyapunov", "input", "states", "time", "suspended")
        self.kept: dict[str, list[np.ndarray]] = {name: [] for name in names}
        self.add(-1)

    def add(self, number: int) -> None:
        """Keep the state of affairs after sweep ``number``; -1 before the first."""
        work = self.work
        self.flips += work.flips
        changed = work.flips > 0
        if work.time is not None and work.suspended is not None:
            if number >= 0:
                changed |= work.time != self.kept["time"][-1]
            self.kept["time"].append(work.time.copy())
            self.kept["suspended"].append(work.suspended.copy())
        self.sweeps[changed] = number + 1
        # The two-step energy falls once more in the step that finds the state unchanged
        apart = work.lyapunov is not work.energy
        if changed.any() or (apart and number >= 0 and (work.lyapunov != self.kept["lyapunov"][-1]).any()):
            self.steps = number + 1
        self.kept["energy"].append(work.energy.copy())
        if apart:
            self.kept["lyapunov"].append(work.lyapunov.copy())
        if self.external is not None:
            self._weigh(self.external)
            self.kept["input"].append(self.input.copy())
        if self.keep_states:
            self.kept["states"].append(work.states.cpu().numpy().copy())

    def _weigh(self, external: Tensor) -> None:
        """Input times state of the rows that may have changed."""
        work = self.work
        if not work.compiled:
            self.input = (work.states.double() * external.double()).sum(dim=1).cpu().numpy()
            return
        rows = np.flatnonzero(work.flips) if len(self.kept["input"]) else np.arange(work.batch)
        states, given = work.states.numpy(), external.numpy()
        threads.run(lambda begin, end: sums.weigh(states, given, self.input, rows[begin:end]), len(rows), GRAIN)

    def series(self, name: str) -> Shaped[np.ndarray, "batch steps *neurons"]:
        """[batch, sweeps + 1] or, of states, [batch, sweeps + 1, neurons]; without sweeps that changed nothing."""
        return np.stack(self.kept[name][: self._length], axis=1)

    @property
    def _length(self) -> int:
        return 1 + self.steps if self.work.outcome.all() else len(self.kept["energy"])

    def log_similarity(
        self, network: AssociativeMemory, energy: Float64[np.ndarray, "batch steps"], silent: Tensor | None
    ) -> Float64[np.ndarray, "batch steps"]:
        """log2 Sim = -2 (E + input V) + constant."""
        own = energy if self.external is None else energy + self.series("input")
        similarity = network.constant - 2.0 * own
        if silent is not None and network.silence is not None:
            similarity[silent.any(dim=1).cpu().numpy()] = np.nan
        return similarity

    @property
    def ever_suspended(self) -> bool:
        """Whether any step changed the gain."""
        return any(kept.any() for kept in self.kept["suspended"])

    def flip_log(self) -> FlipLog:
        """All flips, row by row."""
        log = self.work.log
        rows = np.concatenate([np.empty(0, np.int64), *(entry[1] for entry in log)])
        order = np.argsort(rows, kind="stable")
        sweep = np.concatenate([np.empty(0, np.int64), *(np.full(len(entry[1]), entry[0]) for entry in log)])
        neuron = np.concatenate([np.empty(0, np.int64), *(entry[2] for entry in log)])
        energy = np.concatenate([np.empty(0), *(entry[3] for entry in log)])
        start = np.searchsorted(rows[order], np.arange(self.work.batch + 1))
        return FlipLog(start, neuron[order], sweep[order], energy[order])
