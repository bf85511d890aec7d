"""Patterns that experiments on memories store: how they are drawn, distorted and recalled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import bnn
from bnn.dynamics import Dynamics


@dataclass(frozen=True)
class Kind:
    """A kind of patterns, the rule that suits it best, and how a memory of them is used.

    ``part`` is what noise changes one of, such as a unit moved to another value of its group; ``noise(parts)`` are the
    shares that `bnn.corrupt` takes for so many of them.
    """

    name: str
    draw: Callable[[int, np.random.Generator], bnn.Records]
    parts: int
    part: str
    rule: str = "probability"
    dynamics: Dynamics = bnn.WinnerTakeAll(parallel=True)  # noqa: RUF009 - frozen
    noise_kind: str = "flip"
    asked: Mapping[str, Any] = field(default_factory=dict)

    def noise(self, parts: int) -> dict[str, float]:
        return {self.noise_kind: parts / self.parts}

    def recall(self, network: bnn.Network, cues: bnn.Records, seed: int) -> bnn.Trace:
        return bnn.recall(network, cues, self.dynamics, seed=seed, **self.use(network))

    def use(self, network: bnn.Network) -> dict[str, Any]:
        """A prior as input where the rule has one and one unit of a group wins, at most fifteen sweeps."""
        prior = network.prior_bias is not None and not isinstance(self.dynamics, bnn.Asynchronous)
        return {"input": "prior" if prior else 0.0, "max_sweeps": 15} | dict(self.asked)


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
