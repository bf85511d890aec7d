"""`capacity`: how many patterns a memory holds, with its interval over seeds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from bnn.dynamics.base import Dynamics
from bnn.errors import DataError
from bnn.frames import frame_of
from bnn.rules.base import Rule
from bnn.schema import Layout
from bnn.study.checks import share, whole
from bnn.study.criteria import MEASURES, Criterion
from bnn.study.cues import Noise
from bnn.study.evaluation import Store, recalled
from bnn.study.family import Family
from bnn.study.inputs import Input
from bnn.study.intervals import half_width
from bnn.study.journal import Journal
from bnn.study.points import Point
from bnn.study.questions import Learner, Question
from bnn.study.search import Rise, largest, loads_up_to, rises
from bnn.study.stream import Stream

START = 16  # neurons a pattern of the first load
MOST = 16  # patterns a neuron, where the family sets no end


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Capacity:
    """How many patterns a memory holds.

    Attributes
    ----------
    question, learner, criterion
        What was asked, of whom, and when a load counted as recalled.
    seeds
        The seeds.
    values
        For each seed the largest load of the grid at which the criterion holds while it does not at the next; 0 where
        a single pattern is not recalled.
    limited
        For each seed whether the criterion still held at the largest load: then the value is a lower bound.
    points
        Everything that was evaluated, by seed and load.
    precision, most
        Of the grid of loads: the share by which each is larger than the one before, and the last.
    patterns
        Mean of the values.
    interval
        Of the mean, 95 %, by Student's t over the seeds, cut at 0; None of a single seed.
    neurons
        How many the patterns are stored in.
    bits_per_parameter
        Information of the patterns held, mean over seeds, for each number the memory stores; None where the family does
        not know its own. It counts all patterns of the load as if all were recalled.
    rises
        Where the share recalled rose with the load by more than chance: the search takes it to fall.
    """

    question: Question
    learner: Learner
    criterion: Criterion
    seeds: tuple[int, ...]
    values: tuple[int, ...]
    limited: tuple[bool, ...]
    points: tuple[Point, ...]
    precision: float
    most: int
    patterns: float = field(init=False)
    interval: tuple[float, float] | None = field(init=False)
    neurons: int = field(init=False)
    bits_per_parameter: float | None = field(init=False)
    rises: tuple[Rise, ...] = field(init=False)

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        mean, interval = float(values.mean()), None
        if len(values) > 1:
            reach = float(half_width(values))
            interval = (max(0.0, mean - reach), mean + reach)
        for name, value in (
            ("patterns", mean),
            ("interval", interval),
            ("neurons", self.points[0].neurons),
            ("bits_per_parameter", self._bits()),
            ("rises", rises(self.points)),
        ):
            object.__setattr__(self, name, value)

    def _bits(self) -> float | None:
        """Mean over seeds of entropy x patterns held / parameters at that load."""
        entropy = self.question.family.entropy
        if entropy is None:
            return None
        stored = {(point.seed, point.patterns): point.parameters for point in self.points}
        held = [(value, stored.get((seed, value), 1)) for seed, value in zip(self.seeds, self.values, strict=True)]
        return float(np.mean([entropy * value / max(parameters, 1) for value, parameters in held]))

    def __repr__(self) -> str:
        seeds = "1 seed" if len(self.seeds) == 1 else f"{len(self.seeds)} seeds"
        within = "" if self.interval is None else " [{:.0f}, {:.0f}]".format(*self.interval)
        at_least = "at least " if any(self.limited) else ""
        return (
            f"Capacity({self.learner.rule.name}, {self.question.family.name}, {self.neurons:,} neurons: {at_least}"
            f"{self.patterns:,.0f}{within} patterns, {self.criterion}, {seeds})"
        )

    @property
    def load(self) -> float:
        """Patterns held for each neuron."""
        return self.patterns / self.neurons

    def describe(self) -> dict[str, Any]:
        """What was found and asked, without the points, as plain JSON types."""
        return {
            "rule": self.learner.rule.name,
            "neurons": self.neurons,
            "patterns": self.patterns,
            "interval": None if self.interval is None else list(self.interval),
            "criterion": str(self.criterion),
            "seeds": len(self.seeds),
            "values": dict(zip(map(str, self.seeds), self.values, strict=True)),
            "at_least": any(self.limited),
            "load": self.load,
            "bits_per_parameter": self.bits_per_parameter,
            "rises": [str(rise) for rise in self.rises],
            "learning": dict(self.learner.learning),
            "input": self.learner.describe()["input"],
            **self.question.describe(),
            "precision": self.precision,
            "most": self.most,
        }

    def to_frame(self, backend: str = "pyarrow") -> Any:
        """One line a seed and evaluated load: what was stored, asked for and recalled.

        Parameters
        ----------
        backend
            ``"pyarrow"``, ``"pandas"`` or ``"polars"``.
        """
        columns: dict[str, list[Any]] = {"rule": [self.learner.rule.name] * len(self.points)}
        for name in ("seed", "patterns", "cues", "recalled", *MEASURES, "overlap_before", "mean_sweeps", "parameters"):
            columns[name] = [getattr(point, name) for point in self.points]
        return frame_of(columns, backend, "Capacity.to_frame")


def capacity(
    rule: str | Rule,
    family: str | Family = "dense",
    *,
    noise: Noise | None = None,
    criterion: Criterion = Criterion(),  # noqa: B008 - frozen
    dynamics: Dynamics | None = None,
    max_sweeps: int | None = None,
    input: Input = 0.0,
    learning: Mapping[str, Any] | None = None,
    seeds: int | Iterable[int] = 3,
    precision: float = 0.01,
    most: int | None = None,
    cues: int = 1000,
    results: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Capacity:
    """How many random patterns a memory holds: the largest load whose patterns come back from their cues.

    For each seed patterns are drawn one after another; those of a load are the first of them, and a cue of a pattern
    is the same at every load and for every rule. The number stored is doubled until the criterion fails twice in a row,
    then the gap below is halved, on a grid of loads that is the same for every rule and seed.

    Parameters
    ----------
    rule
        A key of `bnn.RULES`, or a `Rule` of your own.
    family
        Of the patterns: an instance such as ``bnn.study.Modular(groups=20, size=20)``, or a key of
        `bnn.study.FAMILIES` for its usual parameters.
    noise
        Of the cues, such as ``bnn.study.Noise(moves=1)``; None: what the family says, a tenth of the cells flipped or
        one active unit moved. Without noise, ``Noise()``, a memory that never changes anything holds all patterns.
    criterion
        What a load must meet; by default 90 % of its patterns come back without one error.
    dynamics
        An instance, such as ``bnn.Asynchronous()``; None: what the family says.
    max_sweeps
        After which a recall stops; None: 15 of parallel dynamics, else as `bnn.recall`.
    input
        Added to every field: a number, ``"prior"``, or a `bnn.study.Threshold`, such as `bnn.study.tuned` finds.
    learning
        The rule's own options, as `bnn.learn` takes them.
    seeds
        Numbers from 0 on, or how many of them, from 0.
    precision
        Step of the grid of loads, as a share of the load.
    most
        Largest load; None: 16 patterns a neuron, or all that the family has.
    cues
        How many of the stored patterns are asked for at most.
    results
        JSON-lines file to which every evaluated load is written and from which an interrupted search goes on; more
        rules and seeds may go to the same file. None: nothing is kept.
    progress
        Called after each evaluated load with the number of seeds that are done and of all.

    Raises
    ------
    DataError
        Arguments that do not fit; the message says which.
    FileError
        A results file of other settings, or damaged.

    Examples
    --------
    >>> import bnn
    >>> found = bnn.capacity("hopfield", bnn.study.Dense(100))  # a tenth of the neurons of a cue flipped
    >>> found
    Capacity(hopfield, dense, 100 neurons: 12 [10, 14] patterns, exact >= 0.9, 3 seeds)
    >>> found.values, found.load
    ((11, 13, 12), 0.12)
    """
    question = Question(family, noise, dynamics, max_sweeps, cues)
    learner = Learner(rule, learning or {}, input)
    return held(question, learner, criterion, seeds, precision, most, results, progress)


def held(
    question: Question,
    learner: Learner,
    criterion: Criterion = Criterion(),  # noqa: B008 - frozen
    seeds: int | Iterable[int] = 3,
    precision: float = 0.01,
    most: int | None = None,
    results: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Capacity:
    """Capacity of a learner, where question and learner are made already; see `capacity`."""
    if not isinstance(criterion, Criterion):
        raise DataError(
            f"capacity.criterion: got {criterion!r}; give a bnn.study.Criterion, such as Criterion('wrong')."
        )
    numbers = checked_seeds(seeds, "capacity.seeds")
    loads, start = loads_of(question, precision, most)
    journal = Journal(results, question)
    points: list[Point] = []
    counts = []
    for done, seed in enumerate(numbers):

        @cache
        def store(seed: int = seed) -> Store:
            return Store(Stream(question.family, question.noise, seed), learner)

        def holds(load: int, seed: int = seed, done: int = done) -> bool:
            point = journal.point(learner, seed, load, lambda: recalled(question, store(), learner, load))
            points.append(point)
            if progress is not None:
                progress(done, len(numbers))
            return criterion.holds(point)

        counts.append(largest(holds, loads, start))
    if progress is not None:
        progress(len(numbers), len(numbers))
    return Capacity(
        question=question,
        learner=learner,
        criterion=criterion,
        seeds=numbers,
        values=tuple(loads[count - 1] if count else 0 for count in counts),
        limited=tuple(count == len(loads) for count in counts),
        points=tuple(sorted(points, key=lambda point: (point.seed, point.patterns))),
        precision=float(precision),
        most=loads[-1],
    )


def loads_of(question: Question, precision: float, most: int | None) -> tuple[tuple[int, ...], int]:
    """The grid of loads, and the first to ask for."""
    neurons = Layout.default(question.family.schema).neurons
    end = MOST * neurons if most is None else whole(most, 1, "capacity.most")
    if question.family.most is not None:
        end = min(end, question.family.most)
    return loads_up_to(end, share(precision, "capacity.precision")), max(1, neurons // START)


def checked_seeds(seeds: int | Iterable[int], owner: str) -> tuple[int, ...]:
    """So many from 0, or those given, each once."""
    numbers = seeds if isinstance(seeds, Iterable) else range(whole(seeds, 1, owner))
    chosen = tuple(whole(seed, 0, owner) for seed in numbers)
    if not chosen or len(set(chosen)) < len(chosen):
        raise DataError(f"{owner}: got {list(chosen)}; give different whole numbers, at least one.")
    return chosen
