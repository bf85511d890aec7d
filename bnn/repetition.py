"""Delta learning of a memory: records that are not recalled are counted again. `learn_delta`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from bnn import coding
from bnn.counting import LIMIT, SCALE
from bnn.counts import Counts
from bnn.driver import drawn_seed, recall
from bnn.dynamics import Asynchronous
from bnn.dynamics.base import Dynamics
from bnn.errors import DataError, unknown_name
from bnn.frames import frame_of
from bnn.learning import find, learn
from bnn.network import Network
from bnn.noise import corrupt
from bnn.records import Records
from bnn.rules.base import Rule
from bnn.trace import Trace

SIGNALS = ("both", "cues", "patterns")
NOISE: Mapping[str, Any] = MappingProxyType({"flip": 0.05})
TRAINING, HELD_OUT = 3, 4  # streams of one seed: never those of a recall


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeltaLearning:
    """What `bnn.learn_delta` returns. Arrays are read-only numpy; entry 0 of a series is plain learning.

    Attributes
    ----------
    network
        Learned from `counts`, bit for bit as `bnn.learn` would.
    counts
        Those of the best round: all records with their `weights`.
    weights
        float64 [records], whole multiples of 2**-20: how often each record is counted at the best round.
    best
        The round of largest `recalled`, the first of equals; 0 where repetition did not help.
    fixed
        float64 [rounds + 1]: share of the records that are fixed points of the dynamics.
    recalled
        float64 [rounds + 1]: share recalled from noisy cues, drawn anew each round. `best` is chosen by it.
    held_out
        float64 [rounds + 1]: share recalled from noisy cues that nothing was learned or chosen by.
    """

    network: Network
    counts: Counts
    weights: Float64[np.ndarray, " records"]
    best: int
    fixed: Float64[np.ndarray, " rounds"]
    recalled: Float64[np.ndarray, " rounds"]
    held_out: Float64[np.ndarray, " rounds"]

    def __post_init__(self) -> None:
        for array in (self.weights, self.fixed, self.recalled, self.held_out):
            array.flags.writeable = False

    def __repr__(self) -> str:
        before, after = 100 * self.held_out[0], 100 * self.held_out[self.best]
        return f"DeltaLearning(round {self.best} of {len(self.fixed) - 1}, held out {before:.1f} % -> {after:.1f} %)"

    def to_frame(self, backend: str = "pyarrow") -> Any:
        """One line a round: the three shares.

        Parameters
        ----------
        backend
            ``"pyarrow"``, ``"pandas"`` or ``"polars"``.
        """
        columns = {
            "round": np.arange(len(self.fixed)),
            "fixed": self.fixed,
            "recalled": self.recalled,
            "held_out": self.held_out,
        }
        return frame_of(columns, backend, "DeltaLearning.to_frame")


def learn_delta(
    records: Records,
    rule: str | Rule = "probability",
    *,
    dynamics: Dynamics = Asynchronous(),  # noqa: B008 - frozen
    signal: str = "both",
    weight: float | Sequence[float] = 1.1,
    additive: bool = False,
    rounds: int = 30,
    noise: Mapping[str, Any] | None = NOISE,
    cues: int = 1,
    input: Any = 0.0,
    max_sweeps: int | None = None,
    seed: int | np.random.Generator | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> DeltaLearning:
    """Learn a memory, count the records that it does not recall again, and keep the best round.

    The delta rule of [S 2], which repeats misclassified rows, turned on a memory. The network is that of weighted
    counts, nothing else: symmetric where `learn` is, so that every guarantee of descent holds, and it merges and
    forgets. It pays around the capacity of plain learning and up to 1.3 times it, where 1.1 to 1.3 times as many
    patterns are held; with correlated patterns up to twice it. Far above, repetition harms more than it helps, and
    round 0 is kept; far below, nothing fails and `learn` is enough. Measured in docs/theory.md, section 18.

    Parameters
    ----------
    records
        What to store, each one complete pattern or row. Where a value is missing, only the known ones are compared.
    rule
        As for `learn`; one that is a function of counts.
    dynamics, input, max_sweeps
        As for `recall`: how the memory will be used.
    signal
        What is counted again. ``"patterns"``: records that are not fixed points. ``"cues"``: those not recalled from a
        noisy cue. ``"both"``: the first, and, whenever there are none, the second.
    weight
        Factor, above 1, on the weight of a record that fails; one for each round, or one for all. For random patterns
        1.03 to 1.1, for correlated ones such as pictures 1.5.
    additive
        Add ``weight - 1`` times the record's first weight instead, as the delta rule of [S 2] does.
    rounds
        At most so many; they end when nothing is left to be counted again, or all weigh 2**42 records together.
    noise
        Shares for `corrupt`, such as ``{"flip": 0.05}``; None: cues are the records themselves.
    cues
        Noisy cues of each record in each round; one that fails with some of them is given that share of the repetition.
    seed
        Of noise and orders: a whole number, or a Generator to draw it from; None draws one.
    progress
        Called after each round with its number and that of all rounds.
    **options
        As for `learn`.

    Raises
    ------
    DataError
        A rule that is fitted from the patterns; a dynamics that never comes to rest; a weight of 1 or less; other
        arguments that do not fit.

    Examples
    --------
    >>> import bnn
    >>> records = bnn.Records.from_patterns([[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0]])
    >>> found = bnn.learn_delta(records, "hopfield", weight=3.0, noise=None, seed=0)
    >>> found.fixed.tolist(), found.weights.tolist()  # the last pattern was drawn into the first
    ([0.75, 1.0], [1.0, 1.0, 1.0, 3.0])
    """
    if not isinstance(records, Records):
        raise DataError(
            f"learn_delta.records: got {type(records).__name__}; give Records, such as "
            "bnn.Records.from_patterns(array)."
        )
    if find(rule).source != "counts":
        raise DataError(
            f"learn_delta.rule: the rule {find(rule).name!r} is fitted from the patterns and knows no weights; use a "
            'function of counts, such as "probability".'
        )
    if signal not in SIGNALS:
        raise unknown_name("learn_delta.signal", signal, SIGNALS)
    if not isinstance(dynamics, Dynamics):
        raise DataError(f"learn_delta.dynamics: got {dynamics!r}; give an instance, such as bnn.Asynchronous().")
    if not dynamics.settles:
        raise DataError(f"learn_delta.dynamics: {type(dynamics).__name__} never comes to rest; use another one.")
    for name, number, least in (("rounds", rounds, 0), ("cues", cues, 1)):
        if not isinstance(number, int | np.integer) or number < least:
            raise DataError(f"learn_delta.{name}: got {number!r}; give a whole number of at least {least}.")
    factors = _factors(weight, rounds)
    seed = drawn_seed(seed, "learn_delta.seed")

    first = np.ones(records.rows) if records.weights is None else np.rint(records.weights * SCALE) / SCALE
    repeated = records[np.tile(np.arange(records.rows), cues)]

    def noisy(stream: int, number: int) -> Records:
        """Cues of all records, ``cues`` times over."""
        if noise is None:
            return repeated
        noised: Records = corrupt(repeated, **noise, seed=np.random.default_rng([seed, number, stream]))
        return noised

    def shares(network: Network, some: Records) -> Float64[np.ndarray, " records"]:
        """Share of each record's cues that recall it."""
        trace = recall(network, some, dynamics, input=input, max_sweeps=max_sweeps, seed=seed)
        share: np.ndarray = recalled(trace, records).mean(axis=0)
        return share

    unseen, weights, counts = noisy(HELD_OUT, 0), first, Counts.of(records)
    series: list[tuple[float, float, float]] = []
    best = 0
    for number in range(rounds + 1):
        network = learn(counts, rule, **options)
        stable, trained = shares(network, records), shares(network, noisy(TRAINING, number))
        series.append((stable.mean(), trained.mean(), shares(network, unseen).mean()))
        if number == 0 or series[number][1] > series[best][1]:
            best, kept = number, (network, counts, weights)
        if progress is not None:
            progress(number, rounds)
        failed = 1.0 - (trained if signal == "cues" or (signal == "both" and stable.all()) else stable)
        if number == rounds or not failed.any():
            break
        more = np.rint((factors[number] - 1.0) * failed * (first if additive else weights) * SCALE) / SCALE
        if not more.any() or (weights + more).sum() >= LIMIT / SCALE:
            break
        weights = weights + more
        counts = counts + Counts.of(Records(records.codes, records.schema, more)[more > 0])
    network, counts, weights = kept
    fixed, from_cues, held_out = np.array(series).T.copy()
    network = replace(network, provenance={**network.provenance, "delta_rounds": best})
    return DeltaLearning(network, counts, weights, best, fixed, from_cues, held_out)


def recalled(trace: Trace, records: Records) -> Bool[np.ndarray, "cues records"]:
    """Whether each row of a recall ended at its record, and not in a cycle; the rows are the records, over and over.

    Of a record with missing values only the known ones are compared.
    """
    target = coding.read_states(trace.network.layout, records, "learn_delta.records")
    same = (trace.discrete == 1).reshape(-1, *target.on.shape) == (target.on == 1)
    if target.unknown is not None:
        same |= target.unknown
    right: np.ndarray = same.all(axis=2) & (trace.outcome != "cycle").reshape(-1, len(target.on))
    return right


def _factors(weight: Any, rounds: int) -> Float64[np.ndarray, " rounds"]:
    """The factor of each round."""
    try:
        factors = np.broadcast_to(np.asarray(weight, dtype=np.float64), rounds)
    except (TypeError, ValueError):
        raise DataError(
            f"learn_delta.weight: got {weight!r}; give one number above 1, or one for each of the {rounds} rounds."
        ) from None
    if not ((factors > 1.0) & np.isfinite(factors)).all():
        raise DataError(
            f"learn_delta.weight: got {weight!r}; a record that fails must weigh more than before, above 1."
        )
    return factors
