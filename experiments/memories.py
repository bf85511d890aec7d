"""Kinds of patterns that experiments on memories store, and how a memory of each is used."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import bnn
from bnn.dynamics import Dynamics
from bnn.rules.base import Rule
from bnn.study import Dense, Family, KActive, Modular, Real


@dataclass(frozen=True)
class Kind:
    """A kind of patterns, the rule that suits it, and how a memory of them is used; noise changes ``parts``."""

    name: str
    draw: Callable[[int, np.random.Generator], bnn.Records]
    dynamics: Dynamics
    parts: int
    rule: str = "probability"
    noise_kind: str = "flip"

    def noise(self, parts: int) -> dict[str, float]:
        """Shares for `bnn.corrupt` that change so many parts."""
        return {self.noise_kind: parts / self.parts}

    def recall(self, network: bnn.Network, cues: bnn.Records, seed: int, given: str | None = None) -> bnn.Trace:
        """Recall as this kind of patterns is used, or with the input given; at most fifteen sweeps."""
        told = self.input(network) if given is None else given
        return bnn.recall(network, cues, self.dynamics, seed=seed, input=told, max_sweeps=15)

    def input(self, knows: bnn.Network | Rule) -> str | float:
        """The prior, where the rule or network knows one and winners are chosen; thresholds are the rule's own."""
        return 0.0 if knows.prior_bias is None or isinstance(self.dynamics, bnn.Asynchronous) else "prior"


def kind(name: str, family: Family, parts: int, **more: str) -> Kind:
    """Patterns of a family of `bnn.study`, recalled as it says."""

    def draw(number: int, rng: np.random.Generator) -> bnn.Records:
        return bnn.Records(family.draw(number, rng), family.schema)

    return Kind(name, draw, family.dynamics, parts, **more)


def modular(groups: int, size: int) -> Kind:
    """One active unit in each group; a part is a unit, moved to another place of its group."""
    return kind(f"modular, {groups} groups of {size}", Modular(groups, size), groups)


def k_active(neurons: int, active: int) -> Kind:
    """So many active neurons; a part is one of them, moved to an inactive place."""
    return kind(f"{active} active of {neurons}", KActive(neurons, active), active, noise_kind="move")


def dense(neurons: int, rule: str) -> Kind:
    """Every neuron on or off with the same chance; a part is a neuron, flipped."""
    return kind(f"dense, {neurons} neurons", Dense(neurons), neurons, rule=rule)


def digits() -> Kind:
    """Ten handwritten digits of each class, in random order, at most a hundred; a part is a pixel, flipped."""
    return kind("digits, 28 x 28", Real("mnist-100"), 784, rule="odds")


def correlated(prototypes: Kind, number_of: int, distortion: float) -> Kind:
    """Copies of a few prototypes, the same few at every load, each with a share of its parts changed."""

    def draw(number: int, rng: np.random.Generator) -> bnn.Records:
        chosen = prototypes.draw(number_of, rng)[rng.integers(0, number_of, number)]
        return bnn.corrupt(chosen, **{prototypes.noise_kind: distortion}, seed=rng)

    told = f"{prototypes.name}, {number_of} prototypes, {100 * distortion:g} % changed"
    return replace(prototypes, name=told, draw=draw)
