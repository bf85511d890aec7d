"""What a memory recalled at one load."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """So many patterns stored, some of them asked for: whole numbers, from which every measure follows.

    Attributes
    ----------
    seed
        Of patterns, cues and the order of updates.
    patterns, neurons
        How many are stored, in how many neurons.
    cues
        How many of the patterns were asked for.
    recalled
        Cues from which the pattern came back without one error. Values that a pattern lacks are not compared.
    missed, extra
        Neurons that should be on and are off, and the other way round, in all cues together.
    differing, unknown
        The same of the cues before recall: neurons that differ from the pattern, and unknown ones.
    sweeps
        Sweeps to the last change, of all cues together.
    parameters
        Numbers that the memory stores.
    """

    seed: int
    patterns: int
    neurons: int
    cues: int
    recalled: int
    missed: int
    extra: int
    differing: int
    unknown: int
    sweeps: int
    parameters: int

    @property
    def exact(self) -> float:
        """Share of the cues from which the pattern came back without one error."""
        return self.recalled / self.cues

    @property
    def wrong(self) -> float:
        """Mean share of neurons that differ from the pattern."""
        return (self.missed + self.extra) / (self.cues * self.neurons)

    @property
    def overlap(self) -> float:
        """Mean overlap with the pattern, 1 - 2 x `wrong`."""
        return 1.0 - 2.0 * self.wrong

    @property
    def overlap_before(self) -> float:
        """Mean overlap of the cue with the pattern; an unknown neuron adds nothing to it."""
        return 1.0 - (2 * self.differing + self.unknown) / (self.cues * self.neurons)

    @property
    def mean_sweeps(self) -> float:
        """Mean number of sweeps to the last change."""
        return self.sweeps / self.cues
