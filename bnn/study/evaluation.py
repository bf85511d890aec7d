"""One load of one memory: learn, recall, and count what came back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bnn import coding
from bnn.associative import AssociativeMemory
from bnn.driver import recall
from bnn.learning import learn
from bnn.rules.base import Rule
from bnn.study.checks import whole
from bnn.study.inputs import input_for
from bnn.study.points import Point
from bnn.study.questions import Learner, Question
from bnn.study.stream import Stream


class Store:
    """The memories that a learner makes of the first patterns of a stream.

    Weights are float32, in which sums over states are exact. Rules of counts learn from counts that grow with the load;
    ordered rules go on from the network of a smaller load, always the same one, so that rounding does not depend on
    what was asked before; others learn anew.
    """

    def __init__(self, stream: Stream, learner: Learner) -> None:
        self.stream, self.learner = stream, learner
        self._last: tuple[int, AssociativeMemory] | None = None
        self._chain: dict[int, Any] = {}

    def network(self, load: int) -> AssociativeMemory:
        """The network that stores the first so many patterns."""
        if self._last is None or self._last[0] != load:
            self._last = (load, self._learned(load))
        return self._last[1]

    def _learned(self, load: int) -> AssociativeMemory:
        rule: Rule = self.learner.rule
        options = dict(self.learner.learning)
        if rule.pairwise:
            options["dtype"] = torch.float32
        if not rule.ordered or load == 1:
            learned = self.stream.counts(load) if rule.source == "counts" else self.stream.patterns(load)
            return learn(learned, rule, **options)
        before = 1 << (load - 1).bit_length() - 1  # the largest power of two below the load
        if before not in self._chain:
            self._chain[before] = self._learned(before)
        return learn(self.stream.patterns(load)[before:], rule, start=self._chain[before], **options)


def evaluate(question: Question, learner: Learner, patterns: int, seed: int) -> Point:
    """Store so many patterns and recall them from their cues.

    A function of its arguments alone: whatever else was evaluated before, or is, changes nothing.

    Parameters
    ----------
    question
        What is asked of every learner alike.
    learner
        Which rule stores the patterns, and what is added to its fields.
    patterns
        How many; the first ones of the seed's stream.
    seed
        Of patterns, cues and the order of updates.

    Raises
    ------
    DataError
        No patterns, more than the family has, or a rule and a dynamics that do not fit each other.
    DescentError
        What must fall rose although nothing excuses it.

    Examples
    --------
    >>> from bnn.study import Dense, Noise
    >>> question = Question(Dense(100), Noise(flips=0.1))
    >>> [evaluate(question, Learner("hopfield"), patterns, seed=0).exact for patterns in (5, 20)]
    [1.0, 0.15]
    """
    seed = whole(seed, 0, "evaluate.seed")
    store = Store(Stream(question.family, question.noise, seed), learner)
    return recalled(question, store, learner, whole(patterns, 1, "evaluate.patterns"))


def recalled(question: Question, store: Store, learner: Learner, load: int) -> Point:
    """What comes back at a load; the store's learner may have another input."""
    network = store.network(load)
    patterns, cues = store.stream.asked(load, question.cues)
    trace = recall(
        network,
        cues,
        question.dynamics,
        input=input_for(network, learner.input, patterns),
        seed=store.stream.seed,
        max_sweeps=question.max_sweeps,
        check="raise",
    )
    truth = coding.read_states(network.layout, patterns, "evaluate.patterns")
    before = coding.read_states(network.layout, cues, "evaluate.cues")
    known = True if truth.unknown is None else ~truth.unknown
    missed = (trace.discrete != 1) & (truth.on == 1)
    extra = (trace.discrete == 1) & (truth.on == 0) & known
    hidden = np.zeros_like(missed) if before.unknown is None else before.unknown
    return Point(
        seed=store.stream.seed,
        patterns=load,
        neurons=network.neurons,
        cues=len(patterns),
        recalled=int((~(missed | extra).any(axis=1)).sum()),
        missed=int(missed.sum()),
        extra=int(extra.sum()),
        differing=int(((before.on != truth.on) & ~hidden & known).sum()),
        unknown=int(hidden.sum()),
        sweeps=int(trace.sweeps.sum()),
        parameters=network.parameters,
    )
