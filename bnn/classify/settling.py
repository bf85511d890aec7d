"""Letting a network settle from a row of evidence, the class unknown, before its class neurons are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Integer

from bnn.classify.readout import Readout, Scores
from bnn.driver import external_input, recall
from bnn.dynamics import DYNAMICS, Dynamics
from bnn.errors import DataError, unknown_name
from bnn.network import Network
from bnn.records import Records

CHUNK = 1 << 13
"""Rows that settle at a time; none depends on the others."""
EVIDENCE = ("clamped", "free")
UNKNOWN = ("silent", "filled")


@dataclass(frozen=True, slots=True)
class Settling:
    """How a network settles; as in `NetworkClassifier`."""

    dynamics: Dynamics
    max_sweeps: int | None
    evidence: str
    unknown: str
    input: Any
    seed: int

    def lifted(self, network: Network, thresholds: Float64[np.ndarray, " neurons"]) -> Settling:
        """The same with thresholds for this network."""
        return replace(self, input=external_input(network, self.input, 1)[0].cpu().numpy() - thresholds)

    def settle(
        self, network: Network, codes: Integer[np.ndarray, "rows attributes"]
    ) -> tuple[Float64[np.ndarray, "rows neurons"], Bool[np.ndarray, "rows attributes"]]:
        """Final states of coded rows, 0 where silent, and which attributes speak.

        The class is the last attribute and unknown in every row; it is free and takes part, but does not speak.
        """
        layout, schema = network.layout, network.layout.schema
        states = np.empty((len(codes), layout.neurons))
        for begin in range(0, len(codes), CHUNK):
            rows = slice(begin, begin + CHUNK)
            known = codes[rows][:, layout.attribute] >= 0
            held = known if self.evidence == "clamped" else np.zeros_like(known)
            if self.unknown == "silent":
                held = held | (~known & (layout.attribute < len(schema.names) - 1))
            trace = recall(
                network,
                Records(codes[rows], schema),
                self.dynamics,
                clamp=held,
                input=self.input,
                seed=self.seed,
                max_sweeps=self.max_sweeps,
            )
            states[rows] = trace.states
        speaks = (codes >= 0) | (self.unknown == "filled")
        speaks[:, -1] = False
        return states, speaks


def answered(
    codes: Integer[np.ndarray, "rows attributes"], network: Network, readout: Readout, settling: Settling | None
) -> Scores:
    """Field of each class at the final states of coded rows, whose class, the last attribute, is unknown."""
    if settling is None or not len(codes):
        return readout.fields(readout.states(codes), codes >= 0)
    return readout.fields(*settling.settle(network, codes))


def chosen_dynamics(dynamics: Any, owner: str) -> Dynamics:
    """A dynamics by its name in `bnn.DYNAMICS`, or as it is."""
    if isinstance(dynamics, str):
        if dynamics not in DYNAMICS:
            raise unknown_name(f"{owner}.dynamics", dynamics, DYNAMICS)
        return DYNAMICS[dynamics]()
    if not isinstance(dynamics, Dynamics):
        raise DataError(
            f"{owner}.dynamics: got {dynamics!r}; give None for one step, a name such as 'winner-take-all', or an "
            "instance such as bnn.WinnerTakeAll()."
        )
    return dynamics


def checked_settling(given: Mapping[str, Any], seed: int, owner: str) -> Settling | None:
    """How a network settles by an estimator's parameters, or None for one step."""
    for name, known in (("evidence", EVIDENCE), ("unknown", UNKNOWN)):
        if not isinstance(given[name], str) or given[name] not in known:
            raise unknown_name(f"{owner}.{name}", given[name], known)
    if not isinstance(given["input"], float | int | np.number | str):
        raise DataError(f"{owner}.input: got {given['input']!r}; give a number of bits, or 'prior'.")
    if given["dynamics"] is not None:
        return Settling(**{**given, "dynamics": chosen_dynamics(given["dynamics"], owner)}, seed=seed)
    for name, value in {"max_sweeps": None, "evidence": "clamped", "unknown": "silent", "input": 0.0}.items():
        if given[name] != value:
            raise DataError(
                f"{owner}.{name}: got {given[name]!r}, but one step neither iterates nor fills; give a dynamics, such "
                "as 'winner-take-all'."
            )
    return None
