"""Patterns that experiments on memories store: how they are drawn, distorted and recalled."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import bnn
from bnn.dynamics import Dynamics
from bnn.rules.base import Rule


@dataclass(frozen=True)
class Kind:
    """A kind of patterns, the rule that suits it, and how a memory of them is used; noise changes ``parts``."""

    name: str
    draw: Callable[[int, np.random.Generator], bnn.Records]
    parts: int
    part: str
    rule: str = "probability"
    dynamics: Dynamics = bnn.WinnerTakeAll(parallel=True)  # noqa: RUF009 - frozen
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


def modular(groups: int, size: int) -> Kind:
    """One active unit in each of ``groups`` groups of ``size``: a table of so many attributes."""
    attributes = tuple(bnn.Attribute(f"group {a}", tuple(range(size))) for a in range(groups))
    schema = bnn.Schema(attributes)
    return Kind(
        f"modular, {groups} groups of {size}",
        lambda number, rng: bnn.Records(rng.integers(0, size, (number, groups)), schema),
        groups,
        "units moved",
    )


def dense(neurons: int, rule: str) -> Kind:
    """Every neuron on or off with the same chance."""
    return Kind(
        f"dense, {neurons} neurons, {rule}",
        lambda number, rng: bnn.Records.from_patterns(rng.integers(0, 2, (number, neurons))),
        neurons,
        "neurons flipped",
        rule,
        bnn.Asynchronous(),
    )


def k_active(neurons: int, active: int) -> Kind:
    """``active`` of the neurons are on."""

    def draw(number: int, rng: np.random.Generator) -> bnn.Records:
        patterns = np.zeros((number, neurons), np.int8)
        np.put_along_axis(patterns, rng.random((number, neurons)).argsort(axis=1)[:, :active], 1, axis=1)
        return bnn.Records.from_patterns(patterns)

    return Kind(
        f"{active} active of {neurons}",
        draw,
        active,
        "units moved",
        dynamics=bnn.KWinners(parallel=True),
        noise_kind="move",
    )


def correlated(prototypes: Kind, number_of: int, distortion: float) -> Kind:
    """Copies of a few prototypes in random order, each with a share of its parts changed."""

    def draw(number: int, rng: np.random.Generator) -> bnn.Records:
        chosen = prototypes.draw(number_of, rng)[rng.integers(0, number_of, number)]
        return bnn.corrupt(chosen, **{prototypes.noise_kind: distortion}, seed=rng)

    told = f"{prototypes.name}, correlated ({number_of} prototypes, {100 * distortion:g} % changed)"
    return replace(prototypes, name=told, draw=draw)


def digits() -> Kind:
    """Ten handwritten digits of each class, in random order: at most a hundred."""
    all_of_them = bnn.datasets.load("mnist-100")
    return Kind(
        "digits, 28 x 28",
        lambda number, rng: all_of_them[rng.permutation(all_of_them.rows)[:number]],
        784,
        "pixels flipped",
        "odds",
        bnn.Asynchronous(),
    )
