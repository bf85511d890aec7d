"""What is asked of a memory, and what makes the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from bnn.dynamics.base import Dynamics
from bnn.errors import DataError, unknown_name
from bnn.learning import find, options_of
from bnn.rules import RULES
from bnn.study.checks import parameters_of, whole
from bnn.study.cues import Noise
from bnn.study.families import family_of
from bnn.study.inputs import checked_input, described_input, wants_prior

PARALLEL_SWEEPS = 15  # of the published capacities; what has not settled by then does not


@dataclass(frozen=True, slots=True)
class Question:
    """What every learner is asked alike: patterns, cues, and how it may answer.

    What is given by name, or left to the family, is filled in when it is made.

    Parameters
    ----------
    family
        Of the patterns: an instance such as ``Modular(20, 20)``, or a key of `FAMILIES` for its usual parameters.
    noise
        Of the cues; None: what the family says; ``Noise()``: none.
    dynamics
        What recalls them; None: what the family says.
    max_sweeps
        After which a recall stops; None: 15 of parallel dynamics, as in the published capacities, else as `bnn.recall`.
    cues
        How many of the stored patterns are asked for at most, the same ones of every rule.
    """

    family: Any = "dense"
    noise: Any = None
    dynamics: Any = None
    max_sweeps: Any = None
    cues: int = 1000

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", family_of(self.family, "Question.family"))
        noise = self.family.noise if self.noise is None else self.noise
        if not isinstance(noise, Noise):
            raise DataError(f"Question.noise: got {noise!r}; give a bnn.study.Noise, such as Noise(flips=0.1).")
        noise.require_room(self.family.schema)
        object.__setattr__(self, "noise", noise)
        dynamics = self.family.dynamics if self.dynamics is None else self.dynamics
        if not isinstance(dynamics, Dynamics):
            raise DataError(f"Question.dynamics: got {dynamics!r}; give an instance, such as bnn.Asynchronous().")
        usual = PARALLEL_SWEEPS if getattr(dynamics, "parallel", False) else dynamics.limit
        sweeps = usual if self.max_sweeps is None else whole(self.max_sweeps, 1, "Question.max_sweeps")
        object.__setattr__(self, "dynamics", dynamics)
        object.__setattr__(self, "max_sweeps", sweeps)
        object.__setattr__(self, "cues", whole(self.cues, 1, "Question.cues"))

    def describe(self) -> dict[str, Any]:
        """All of it as plain JSON types."""
        return {
            "family": self.family.describe(),
            "noise": self.noise.describe(),
            "dynamics": parameters_of(self.dynamics),
            "max_sweeps": self.max_sweeps,
            "cues": self.cues,
        }


@dataclass(frozen=True, slots=True)
class Learner:
    """A learning rule, its options, and what is added to the fields; a rule given by its name is looked up.

    Parameters
    ----------
    rule
        A key of `bnn.RULES`, or a `Rule` of your own.
    learning
        Options of the rule, and ``within`` and ``self_connections``, as `bnn.learn` takes them; networks are float32.
    input
        Added to every field: a number, ``"prior"``, or a `Threshold` or `Shift` of its own scale.
    """

    rule: Any
    learning: Mapping[str, Any] = field(default_factory=dict)
    input: Any = 0.0

    def __post_init__(self) -> None:
        rule = find(self.rule)
        known = {*options_of(rule), "within", "self_connections"}
        learning = {key: v.item() if isinstance(v, np.generic) else v for key, v in self.learning.items()}
        for key, value in learning.items():
            if key not in known:
                raise unknown_name(f"Learner.learning of {rule.name!r}", key, known)
            if not isinstance(value, bool | int | float | str | None):
                raise DataError(f"Learner.learning: {key!r} is {value!r}; give plain numbers, words, True or False.")
        object.__setattr__(self, "rule", rule)
        object.__setattr__(self, "learning", MappingProxyType(learning))
        object.__setattr__(self, "input", checked_input(self.input, "Learner.input"))
        if wants_prior(self.input) and rule.prior_bias is None:
            able = [name for name, one in RULES.items() if one.prior_bias is not None]
            raise DataError(
                f"Learner.input: the rule {rule.name!r} has no prior in the unit of its fields; {', '.join(able)} have."
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """So that other processes can take it: a read-only mapping cannot be sent, a registered rule stays that one."""
        rule = self.rule.name if self.rule in RULES.values() else self.rule
        return type(self), (rule, dict(self.learning), self.input)

    def describe(self) -> dict[str, Any]:
        """All of it as plain JSON types."""
        return {"rule": self.rule.name, "learning": dict(self.learning), "input": described_input(self.input)}
