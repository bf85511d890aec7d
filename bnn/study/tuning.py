"""A learner's threshold, or any other setting, found by recall on seeds of its own and then left alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from bnn.errors import DataError
from bnn.rules.base import Rule
from bnn.study.capacities import checked_seeds, loads_of
from bnn.study.checks import whole
from bnn.study.criteria import Criterion
from bnn.study.evaluation import Store, recalled
from bnn.study.inputs import Input, Shift, Threshold
from bnn.study.journal import Journal
from bnn.study.points import Point
from bnn.study.questions import Learner, Question
from bnn.study.search import largest
from bnn.study.stream import Stream

SEEDS = (1_000_000, 1_000_001)  # beyond those of any study
SHIFTS = (-0.2, -0.1, -0.05, 0.05, 0.1, 0.2)
RATIOS = (0.5, 0.7, 1.0, 1.2, 1.5)


@dataclass(frozen=True, slots=True, eq=False)
class Tuning:
    """What a search among settings found.

    Attributes
    ----------
    learner
        The candidate chosen.
    candidates
        All of them.
    points
        What each candidate was asked: loads and seeds until it fell behind.
    patterns
        Largest load at which the one chosen was seen to meet the criterion, 0 if at none.
    seeds
        Whose patterns were recalled; a study takes others.
    spent
        Recalls made.
    """

    learner: Learner
    candidates: tuple[Learner, ...]
    points: tuple[tuple[Point, ...], ...]
    patterns: int
    seeds: tuple[int, ...]
    spent: int


def thresholds(rule: str | Rule, *, prior: bool = False, **learning: Any) -> tuple[Learner, ...]:
    """Candidates for `tuned`: the rule's own threshold, and nine between what neurons off and on hear.

    Parameters
    ----------
    rule
        A key of `bnn.RULES`, or a `Rule` of your own.
    prior
        Whether its prior is added in all of them.
    **learning
        The rule's own options, the same in all.
    """
    own: Input = "prior" if prior else 0.0
    inputs = (own, *(Shift(by, prior) for by in SHIFTS), *(Threshold(ratio, prior) for ratio in RATIOS))
    return tuple(Learner(rule, learning, value) for value in inputs)


def tuned(
    question: Question,
    candidates: Sequence[Learner],
    *,
    criterion: Criterion = Criterion(),  # noqa: B008 - frozen
    budget: int = 400,
    seeds: int | Iterable[int] = SEEDS,
    precision: float = 0.05,
    most: int | None = None,
    results: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Tuning:
    """Choose, by full recall, the candidate that holds most patterns.

    All candidates are asked at one load after another, as `capacity` asks one learner, and a load holds if the best of
    them meets the criterion, on average over the seeds. Those that do not meet it where others do are out, for what
    they hold is less. The search ends when the limit of the best is found or the next round would exceed the
    budget; chosen is the one that recalled most at the last loads on both sides of that limit, the first of equals.

    Parameters
    ----------
    question
        As it will be asked of the one chosen.
    candidates
        Memories of any rules, options and inputs; `thresholds` makes those of one rule.
    criterion
        What a load must meet.
    budget
        Recalls at most, one a candidate, load and seed; at least one of each candidate with each seed. Ten candidates
        with two seeds need some 200 until their limit is found.
    seeds
        Of the patterns; others than those of the study that follows.
    precision, most, results, progress
        As for `capacity`; progress is told the recalls made and the budget.

    Raises
    ------
    DataError, FileError
        As `capacity`; no candidates, or a budget too small to ask each once.

    Examples
    --------
    >>> from bnn.study import Dense, Noise
    >>> question = Question(Dense(100, activity=0.1), Noise(moves=1))
    >>> tuning = tuned(question, thresholds("covariance"), budget=80)
    >>> tuning.learner.input, tuning.patterns, tuning.spent
    (Threshold(ratio=1.0, prior=False), 12, 58)
    """
    if not candidates:
        raise DataError(
            "tuned.candidates: got none; give at least one bnn.study.Learner, such as thresholds(rule) makes."
        )
    numbers = checked_seeds(seeds, "tuned.seeds")
    least = len(candidates) * len(numbers)
    if whole(budget, 1, "tuned.budget") < least:
        raise DataError(
            f"tuned.budget: got {budget}, but {len(candidates)} candidates with {len(numbers)} seeds need {least} "
            "recalls to be asked once."
        )
    loads, start = loads_of(question, precision, most)
    journal = Journal(results, question)
    streams = {seed: Stream(question.family, question.noise, seed) for seed in numbers}
    stores: dict[tuple[str, int], Store] = {}
    asked: list[dict[int, list[Point]]] = [{} for _ in candidates]
    left = list(range(len(candidates)))
    spent = 0

    def ask(candidate: int, load: int) -> None:
        """Recall at a load, with every seed."""
        nonlocal spent
        learner = candidates[candidate]
        points = asked[candidate].setdefault(load, [])
        for seed in numbers:
            learned = (json.dumps([learner.rule.name, dict(learner.learning)], sort_keys=True), seed)
            store = stores.setdefault(learned, Store(streams[seed], learner))
            points.append(journal.point(learner, seed, load, partial(recalled, question, store, learner, load)))
            spent += 1
            if progress is not None:
                progress(spent, budget)

    def some_hold(load: int) -> bool:
        """Whether some candidates meet the criterion; then the others are out."""
        if spent + len(left) * len(numbers) > budget:
            return False
        for candidate in left:
            ask(candidate, load)
        holding = [c for c in left if criterion.holds(*asked[c][load])]
        left[:] = holding or left
        return bool(holding)

    count = largest(some_hold, loads, start)
    reached = loads[count - 1] if count else 0
    beyond = min((load for load in asked[left[0]] if load > reached), default=reached)

    def worth(candidate: int) -> float:
        points = [point for load in {reached, beyond} for point in asked[candidate].get(load, [])]
        return sum(map(criterion.margin, points))

    chosen = max(left, key=worth)  # the first of equals
    points = tuple(tuple(chain(*loads.values())) for loads in asked)
    return Tuning(candidates[chosen], tuple(candidates), points, reached, numbers, spent)
