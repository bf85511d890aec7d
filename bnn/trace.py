"""The record of a recall: what happened to every row, and a verdict on descent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int, Int8, Shaped

from bnn import coding, hypertext
from bnn.associative import AssociativeMemory
from bnn.dynamics.base import Dynamics
from bnn.errors import DataError
from bnn.frames import frame_of

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 22  # rows times patterns compared at once


@dataclass(frozen=True, slots=True)
class Descent:
    """Whether what must fall fell.

    Attributes
    ----------
    holds
        True where no rise exceeded the tolerance and the independent checks agree: the final fields with the final
        states along a random direction, and the final energy computed anew with the sum of all changes.
    largest_rise
        Largest rise over every single change of every row, in bits; 0 where there was none.
    mismatch
        Largest disagreement of the independent checks, in bits.
    tolerance, mismatch_tolerance
        What rounding may do to a rise and to the checks, in bits: 0 for networks rounded to a grid (all that
        `bnn.learn` makes). In a flow each rise is held against the rounding and, as the solver estimates it, the error
        of its own step: the largest of these that a rise needed, 0 where nothing rose.
    guaranteed
        Whether theory promises descent for this network under this dynamics.
    reason
        Why it does or does not.
    """

    holds: bool
    largest_rise: float
    mismatch: float
    tolerance: float
    mismatch_tolerance: float
    guaranteed: bool
    reason: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FlipLog:
    """Every flip of a recall, row by row in the order made (``record="flips"``).

    Attributes
    ----------
    start
        int64 [batch + 1]: the flips of row r are entries ``start[r]`` to ``start[r + 1] - 1``.
    neuron, sweep
        int64 [flips]: which neuron changed, in which sweep. A winner's change is two flips: off, then on.
    energy
        float64 [flips]: E after the change (after the whole step in parallel dynamics), in bits.
    """

    start: Int[np.ndarray, " rows_and_one"]
    neuron: Int[np.ndarray, " flips"]
    sweep: Int[np.ndarray, " flips"]
    energy: Float64[np.ndarray, " flips"]

    def __post_init__(self) -> None:
        for array in (self.start, self.neuron, self.sweep, self.energy):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"FlipLog({len(self.neuron):,} flips of {len(self.start) - 1:,} rows)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Match:
    """What each row recalled.

    Attributes
    ----------
    nearest
        int64 [batch]: index of the stored pattern with the largest overlap, the first of equals.
    overlap
        float64 [batch]: 1 - 2 x share of differing neurons with that pattern; 1 exact, -1 its inverse.
    word
        [batch]: ``"stored"`` (equal to a pattern), ``"inverse"`` (equal to one with every neuron reversed), or
        ``"spurious"`` (neither).
    """

    nearest: Int[np.ndarray, " batch"]
    overlap: Float64[np.ndarray, " batch"]
    word: Shaped[np.ndarray, " batch"]

    def __repr__(self) -> str:
        return f"Match({_counted(self.word)}; mean overlap {self.overlap.mean():.2f})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace:
    """What `bnn.recall` returns. Arrays are read-only numpy; series are padded with a row's last value.

    Attributes
    ----------
    network, dynamics, seed
        What ran; the same three and the same cues give the same trace, bit for bit.
    cues
        [batch, neurons]: the cue as read, 1 on, `network.low` off, between them where uncertain, 0 where `unknown`.
    unknown
        bool [batch, neurons]: what the cue left unknown, or None.
    start
        [batch, neurons]: states at the start of the series, after unknown attributes were filled.
    states
        [batch, neurons]: final states, int8, 1 on, `network.low` off; in a flow graded, in the weights' dtype. A silent
        neuron (clamped unknown) is 0.
    silent
        bool [batch, neurons]: neurons that were clamped while unknown and took no part, or None.
    lyapunov
        float64 [batch, sweeps + 1], bits: what must fall, see `lyapunov_name`.
    energy
        float64 [batch, sweeps + 1], bits: E, external input included.
    log_similarity
        float64 [batch, sweeps + 1], bits: log2 Sim, input left out; NaN where silent neurons make it undefined.
    times
        float64, along the series: [sweeps + 1], number of the sweep; in a flow [batch, steps + 1], each row's own clock
        (a step that was tried again smaller repeats its entry).
    outcome
        [batch]: ``"settled"`` (a fixed point), ``"cycle"`` (of two, see `other_phase`), ``"limit"`` (of sweeps or
        time), ``"stalled"`` (a flow whose step shrank to nothing or whose state overflowed: take solver "descent").
    other_phase
        int8 [batch, neurons] or None where no row cycles: the other state of a cycle; elsewhere the final state.
    flips
        int64 [batch]: neurons changed, counted each time; in a flow those that crossed the middle of their range.
    sweeps
        int64 [batch]: sweeps until the last change.
    descent
        The verdict.
    flip_log
        Every flip, or None unless ``record="flips"``.
    history
        [batch, sweeps + 1, neurons]: states at each sweep's end, or None unless ``record="states"``.
    suspended
        bool [batch, steps + 1]: entries whose step changed the gain, so that no descent was promised; None if none did.
    """

    network: AssociativeMemory
    dynamics: Dynamics
    seed: int
    cues: Shaped[np.ndarray, "batch neurons"]
    unknown: Bool[np.ndarray, "batch neurons"] | None
    start: Shaped[np.ndarray, "batch neurons"]
    states: Shaped[np.ndarray, "batch neurons"]
    silent: Bool[np.ndarray, "batch neurons"] | None
    lyapunov: Float64[np.ndarray, "batch steps"]
    energy: Float64[np.ndarray, "batch steps"]
    log_similarity: Float64[np.ndarray, "batch steps"]
    times: Float64[np.ndarray, " steps"] | Float64[np.ndarray, "batch steps"]
    outcome: Shaped[np.ndarray, " batch"]
    other_phase: Int8[np.ndarray, "batch neurons"] | None
    flips: Int[np.ndarray, " batch"]
    sweeps: Int[np.ndarray, " batch"]
    descent: Descent
    flip_log: FlipLog | None = None
    history: Shaped[np.ndarray, "batch steps neurons"] | None = None
    suspended: Bool[np.ndarray, "batch steps"] | None = None
    lyapunov_name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lyapunov_name", self.dynamics.lyapunov)
        for name in self.__slots__:
            if isinstance(array := getattr(self, name), np.ndarray):
                array.flags.writeable = False

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.states)

    def __repr__(self) -> str:
        held = "holds" if self.descent.holds else "does not hold"
        return f"Trace({self.dynamics.name}, {len(self):,} rows: {_counted(self.outcome)}; descent {held})"

    def _repr_html_(self) -> str:
        return hypertext.of_trace(self)

    @property
    def final(self) -> Float32[np.ndarray, "batch neurons"]:
        """Final states as `Network.field`, `energy` and `decode` understand them, NaN where silent.

        float32 in {low, 1}; of a flow the probabilities of being on, which is what it remembers of a graded state.
        """
        states = self.states.astype(np.float32)
        if self.dynamics.graded:
            states = ((states - self.network.low) / (1 - self.network.low)).astype(np.float32)
        if self.silent is not None:
            states[self.silent] = np.nan
        return states

    @property
    def discrete(self) -> Int8[np.ndarray, "batch neurons"]:
        """Final states, 1 on, `network.low` off and 0 silent: themselves, or those nearest to the graded ones."""
        states = self.dynamics.discrete(self.network, self.states)
        return states if self.silent is None else np.where(self.silent, np.int8(0), states)

    def decode(self) -> pa.Table:
        """The final states as a table (pyarrow), one column an attribute; null where it is silent or has no value."""
        return self.network.decode(self.final)

    def match(self, patterns: Any) -> Match:
        """Which stored pattern each row recalled, and whether it is stored, inverse or spurious.

        Parameters
        ----------
        patterns
            Records, or an array [patterns, neurons] in {0,1}, {-1,+1} or bool; all known. Silent neurons of a row are
            not compared.
        """
        read = coding.read_states(self.network.layout, patterns, "Trace.match.patterns")
        if read.unknown is not None:
            raise DataError("Trace.match.patterns: some values are unknown; compare with complete patterns.")
        if len(read.on) == 0:
            raise DataError("Trace.match.patterns: got none; give at least one pattern.")
        taking_part = (
            np.ones(self.states.shape, np.float32) if self.silent is None else (~self.silent).astype(np.float32)
        )
        compared = taking_part.sum(axis=1)
        targets = 2 * read.on.T.astype(np.float32) - 1
        states, nearest = self.discrete, np.empty(len(self), dtype=np.int64)
        best, worst = np.empty_like(compared), np.empty_like(compared)
        rows = max(1, BLOCK // len(read.on))
        for first in range(0, len(self), rows):
            block = slice(first, first + rows)
            # Whole numbers, exact below 2^24
            agreement = ((2 * (states[block] == 1) - 1) * taking_part[block]) @ targets
            nearest[block] = agreement.argmax(axis=1)
            best[block], worst[block] = agreement.max(axis=1), agreement.min(axis=1)
        equal, reverse = (best == compared) & (compared > 0), worst == -compared
        word = np.where(equal, "stored", np.where(reverse & (compared > 0), "inverse", "spurious"))
        return Match(nearest, best.astype(np.float64) / np.maximum(compared, 1.0), word)

    def replay(self, row: int) -> Int8[np.ndarray, "flips_and_one neurons"]:
        """States of one row from its start, one line a flip (``record="flips"``).

        Raises
        ------
        DataError
            The flips were not recorded, or there is no such row.
        """
        if self.flip_log is None:
            raise DataError('Trace.replay: the flips were not recorded; call recall(..., record="flips").')
        if not -len(self) <= row < len(self):
            raise DataError(f"Trace.replay.row: got {row}; the trace has rows 0 to {len(self) - 1}.")
        row %= len(self)
        neurons = self.flip_log.neuron[self.flip_log.start[row] : self.flip_log.start[row + 1]]
        states = np.repeat(self.start[row][None], len(neurons) + 1, axis=0)
        for t, neuron in enumerate(neurons):
            states[t + 1 :, neuron] = 1 + self.network.low - states[t, neuron]
        return states

    def to_frame(self, backend: str = "pyarrow") -> Any:
        """One line a row: outcome, flips, sweeps, energy and log2 similarity at start and end, in bits.

        Parameters
        ----------
        backend
            ``"pyarrow"``, ``"pandas"`` or ``"polars"``.
        """
        columns = {
            "outcome": self.outcome.tolist(),
            "flips": self.flips,
            "sweeps": self.sweeps,
            "energy_before": self.energy[:, 0],
            "energy_after": self.energy[:, -1],
            "log_similarity_before": self.log_similarity[:, 0],
            "log_similarity_after": self.log_similarity[:, -1],
        }
        return frame_of(columns, backend, "Trace.to_frame")


def _counted(words: Shaped[np.ndarray, " rows"]) -> str:
    """How often each word occurs."""
    found, counts = np.unique(words, return_counts=True)
    return ", ".join(f"{count:,} {word}" for word, count in zip(found.tolist(), counts.tolist(), strict=True))
