"""The classifiers that are compared on the medical domains, each answering under all its settings at once.

Not an experiment itself. P(c) is proportional to P(c) 2^(g h(c)). The evidence h depends on a strength, each
of which takes learning or recalling anew, while the scales g cost nothing. All have 24 settings: naive Bayes, one step,
and networks that fill 8 strengths x 3 scales; networks of free evidence 4 x 2 dynamics x 3; the others 4 x 6. In
networks the class is one more attribute, unknown and free in the rows that are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from medical import Trained
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB

import bnn
from bnn import metrics
from bnn.classify.gains import GAINS, gain_table
from bnn.classify.readout import Readout, mean_field
from bnn.classify.settling import Settling, answered
from bnn.kernels.scores import to_log2_probabilities
from bnn.rules.base import Rule

Evidence = Callable[[Trained, np.ndarray, Any], np.ndarray]
"""Evidence h(c) of [rows, classes] for coded rows under a strength."""


@dataclass(frozen=True, eq=False)
class Method:
    """A classifier: its evidence under each strength, how strongly it may count, and the one step that it iterates."""

    name: str
    evidence: Evidence
    strengths: Sequence[Any]
    scales: Sequence[float]
    step: str = ""

    @property
    def settings(self) -> list[tuple[Any, float]]:
        """All pairs of a strength and a scale."""
        return list(product(self.strengths, self.scales))

    def answers(
        self, trained: Trained, codes: np.ndarray, settings: Sequence[tuple[Any, float]]
    ) -> Iterator[np.ndarray]:
        """log2 P of every class, [rows, classes], under some of the settings; absent classes have the floor."""
        found: dict[Any, np.ndarray] = {}
        absent = trained.number - len(trained.present)
        for strength, scale in settings:
            if strength not in found:
                found[strength] = self.evidence(trained, codes, strength)
            scores = trained.prior + scale * found[strength]
            to_log2_probabilities(scores)
            whole = np.full((len(codes), trained.number), np.log2(metrics.FLOOR))
            whole[:, trained.present] = scores + np.log2(1.0 - metrics.FLOOR * absent)
            yield whole


def naive(estimate: str) -> Evidence:
    """The gains of naive Bayes, of strength m."""

    def evidence(trained: Trained, codes: np.ndarray, m: float) -> np.ndarray:
        gains = gain_table(trained.cells, GAINS[estimate], m)
        if trained.kept is not None:
            gains = gains * trained.kept["values"][: len(gains), len(gains) :]
        return summed(gains, trained.read(codes), trained.sizes)

    return evidence


def summed(gains: np.ndarray, codes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sum of the gains of each row's values."""
    start = np.cumsum(sizes) - sizes
    table = np.concatenate([gains, np.zeros((1, gains.shape[1]))])
    return table[np.where(codes >= 0, codes + start, -1)].sum(axis=1)


def one_step(rule: str) -> Evidence:
    """What the class neurons of a network hear at once, of strength m."""

    def evidence(trained: Trained, codes: np.ndarray, m: float) -> np.ndarray:
        learned, readout = trained.network(bnn.RULES[rule], False, m=m)
        return settled(unlabelled(trained.read(codes)), learned, readout, None)

    return evidence


def iterated(
    rule: str, evidence: str, unknown: str, max_sweeps: int | None = None, self_connections: bool = False
) -> Evidence:
    """What they hear after iterating, of strength (m, dynamics, input)."""

    def found(trained: Trained, codes: np.ndarray, strength: Any) -> np.ndarray:
        m, dynamics, given = strength
        learned, readout = trained.network(bnn.RULES[rule], self_connections, m=m)
        settling = Settling(dynamics, max_sweeps, evidence, unknown, given, 0)
        return settled(unlabelled(trained.read(codes)), learned, readout, settling)

    return found


def by_threshold(rule: Rule, dynamics: Any = None, **options: Any) -> Evidence:
    """A network of thresholds: strength times the mean field of each neuron over the training rows."""

    def found(trained: Trained, codes: np.ndarray, threshold: float) -> np.ndarray:
        learned, readout = trained.network(rule, False, **options)
        counts = trained.counts(rule.coding)
        settling = None
        if dynamics is not None:
            settling = Settling(dynamics, None, "free", "silent", 0.0, 0)
            settling = settling.lifted(learned, threshold * mean_field(counts, learned))
        return settled(
            unlabelled(trained.read(codes)), learned, readout.lifted(threshold * readout.mean_heard(counts)), settling
        )

    return found


def settled(codes: np.ndarray, network: bnn.Network, readout: Readout, settling: Settling | None) -> np.ndarray:
    """`answered`, without iterating where that changes nothing: rows of clamped evidence that know everything."""
    fields = readout.fields(readout.states(codes), codes >= 0)
    if settling is None:
        return fields
    moves = np.ones(len(codes), dtype=np.bool_) if settling.evidence == "free" else (codes[:, :-1] < 0).any(axis=1)
    if moves.any():
        fields[moves] = answered(codes[moves], network, readout, settling)
    return fields


def unlabelled(codes: np.ndarray) -> np.ndarray:
    """Coded rows with an unknown class behind them."""
    return np.column_stack([codes, np.full(len(codes), -1, codes.dtype)])


def categorical(trained: Trained, codes: np.ndarray, alpha: float) -> np.ndarray:
    """scikit-learn's `CategoricalNB` as `CategoricalReference` asks it: a value never seen says nothing."""
    sizes = trained.sizes + trained.gaps
    model = CategoricalNB(alpha=alpha, min_categories=sizes)
    model.fit(trained.numbered(trained.rows.codes), trained.classes)
    tables = np.concatenate(model.feature_log_prob_, axis=1).T
    # its own prior are relative frequencies; ours will be added
    given = summed(tables, trained.numbered(codes), sizes) + model.class_log_prior_
    return given / np.log(2.0) - trained.prior


def logistic(trained: Trained, codes: np.ndarray, C: float) -> np.ndarray:
    """scikit-learn's logistic regression on one-hot values, as `logistic_reference` sets it up."""
    rows, asked = (trained.one_hot(some) for some in (trained.rows.codes, codes))
    scores = LogisticRegression(C=C, max_iter=1000).fit(rows, trained.classes).decision_function(asked)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    return scores / np.log(2.0) - trained.prior


HOPFIELD = bnn.RULES["hopfield"]
BY_VALUE = replace(HOPFIELD, name="hopfield by value", coding="values")
COVARIANCE = bnn.RULES["covariance"]

CONDITIONAL = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
JOINT = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
SCALES = (1.0, 0.5, 0.2)
MORE = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1)
THRESHOLDS = (0.0, 0.5, 1.0, 2.0)
SOFT, WIDE = (0.1, 0.25, 0.5, 1.0, 2.0, 8.0), (0.25, 0.5, 1.0, 2.0, 4.0, 16.0)
SEQUENTIAL, WINNER = bnn.Asynchronous(), bnn.WinnerTakeAll()
FILLING = tuple((m, SEQUENTIAL, 0.0) for m in JOINT)  # the papers' own rule: on where the posterior exceeds the prior
CHOOSING = tuple((m, WINNER, "prior") for m in JOINT)
EITHER = tuple((m, *how) for m in (2.0, 8.0, 32.0, 128.0) for how in ((SEQUENTIAL, 0.0), (WINNER, "prior")))
ODDS = tuple((m, SEQUENTIAL, given) for m in (2.0, 8.0, 32.0, 128.0) for given in (0.0, "prior"))
GRADED = tuple((m, bnn.GradientFlow(gain=gain, solver="descent"), "prior") for m in (8.0, 64.0) for gain in (0.25, 1.0))

NAIVE, PRINTED = "naive Bayes", "naive Bayes, m = 2 as printed"
P_STEP, O_STEP = "probability, one step (= joint)", "odds, one step"
H_STEP, C_STEP = "Hopfield -1/1, one step", "covariance, one step"
P_FILLED, O_FILLED = "probability, unknown filled", "odds, unknown filled"
P_WINNERS = "probability, unknown filled, winners"
P_SHORT, P_FREE = "probability, free, 1 sweep, self", "probability, free"
O_SHORT, O_FREE = "odds, free, 1 sweep", "odds, free"
P_GRADED, V_STEP = "probability, continuous, filled", "Hopfield 0/1 by value, one step"
H_FREE, V_FREE = "Hopfield -1/1, free", "Hopfield 0/1 by value, free"
METHODS = (
    Method(NAIVE, naive("m"), CONDITIONAL, SCALES),
    Method(PRINTED, naive("m"), (2.0,), (1.0,)),
    Method(P_STEP, naive("joint"), JOINT, SCALES),
    Method(P_FILLED, iterated("probability", "clamped", "filled"), FILLING, SCALES, P_STEP),
    Method(P_WINNERS, iterated("probability", "clamped", "filled"), CHOOSING, SCALES, P_STEP),
    Method("probability, free, 1 sweep", iterated("probability", "free", "silent", 1), EITHER, SCALES, P_STEP),
    Method(P_SHORT, iterated("probability", "free", "silent", 1, True), EITHER, SCALES, P_STEP),
    Method(P_FREE, iterated("probability", "free", "silent"), EITHER, SCALES, P_STEP),
    Method(P_GRADED, iterated("probability", "clamped", "filled", 4), GRADED, MORE, P_STEP),
    Method("probability, continuous, free", iterated("probability", "free", "filled", 2), GRADED, MORE, P_STEP),
    Method(O_STEP, one_step("odds"), JOINT, SCALES),
    Method(O_FILLED, iterated("odds", "clamped", "filled"), FILLING, SCALES, O_STEP),
    Method(O_SHORT, iterated("odds", "free", "silent", 1), ODDS, SCALES, O_STEP),
    Method(O_FREE, iterated("odds", "free", "silent"), ODDS, SCALES, O_STEP),
    Method(H_STEP, by_threshold(HOPFIELD), THRESHOLDS, WIDE),
    Method("Hopfield -1/1, free", by_threshold(HOPFIELD, SEQUENTIAL), THRESHOLDS, SOFT, H_STEP),
    Method(V_STEP, by_threshold(BY_VALUE, low=0), THRESHOLDS, WIDE),
    Method(
        "Hopfield 0/1 by value, free",
        by_threshold(BY_VALUE, WINNER, low=0),
        THRESHOLDS,
        (0.1, 0.25, 0.5, 1.0, 2.0, 8.0),
        V_STEP,
    ),
    Method(C_STEP, by_threshold(COVARIANCE), THRESHOLDS, (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)),
    Method("covariance, free", by_threshold(COVARIANCE, WINNER), THRESHOLDS, (0.5, 1.0, 2.0, 4.0, 8.0, 16.0), C_STEP),
    Method("scikit-learn CategoricalNB", categorical, (0.02, 0.2, 1.0, 4.0), MORE),
    Method("scikit-learn logistic regression", logistic, (0.03, 0.2, 1.0, 5.0), MORE),
)


METHOD = {method.name: method for method in METHODS}


def judged(
    method: Method, trained: Trained, codes: np.ndarray, classes: np.ndarray, settings: Sequence[tuple[Any, float]]
) -> np.ndarray:
    """Accuracy in %, information score and log loss in bits, [settings, blocks, 3]; rows are blocks of ``classes``."""
    rows, k = np.arange(len(classes)), trained.number
    prior = trained.score_prior[classes]
    found = []
    for answers in method.answers(trained, codes, settings):
        blocks = answers.reshape(-1, len(classes), k)
        own = blocks[:, rows, classes]
        right = 100.0 * (blocks.argmax(axis=2) == classes).mean(axis=1)
        with np.errstate(divide="ignore"):  # a certain answer is never misleading enough to take that branch
            misled = np.log2(1 - prior) - np.log2(1 - np.exp2(own))
        gain = np.where(own > np.log2(prior), own - np.log2(prior), misled)
        loss = -np.maximum(own, np.log2(metrics.FLOOR))
        found.append(np.stack([right, gain.mean(axis=1), loss.mean(axis=1)], axis=1))
    return np.array(found)


def ends(method: Method, strength: Any) -> bool:
    """Whether a strength is the first or last of its grid."""
    grid = [one[0] if isinstance(one, tuple) else one for one in method.strengths]
    return (strength[0] if isinstance(strength, tuple) else strength) in (min(grid), max(grid))


def best(scores: np.ndarray, measure: str) -> int:
    """The best of [settings, 3] by a measure; a tie goes to the smaller log loss, then to the first."""
    accuracy, information, loss = scores.T
    first = {"accuracy": -accuracy, "information": -information, "log loss": loss}[measure]
    return int(np.lexsort((np.arange(len(loss)), loss, np.round(first, 12)))[0])
