"""Four medical domains, their random splits, and what is learned from training rows; not an experiment itself.

Numbers are cut into quarters of equal frequency, with bounds from the training rows. Each split has inner splits of its
training rows, 70 to 30 again, for choosing settings.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from harness import Measured
from scipy.special import stdtr, stdtrit

import bnn
from bnn.classify.class_counts import ClassCounts, split
from bnn.classify.gains import Cells, laplace_prior
from bnn.classify.paired import corrected_error, holm
from bnn.classify.readout import Readout, with_class
from bnn.discretize import codes_of, equal_frequency
from bnn.errors import MeasurementWarning
from bnn.rules.base import Rule

DOMAINS = ("primary-tumor", "breast-cancer", "lymphography", "hepatitis")
TRAIN, INNER = 0.7, 3
MEASURES = ("accuracy", "information", "log loss")
UNITS = ("%", "bits", "bits")
DIGITS = (1, 3, 3)
FEW = 10  # numbers of more distinct values are cut into quarters of equal frequency


@dataclass(frozen=True, eq=False)
class Domain:
    """A data set: its attributes as codes, and its classes."""

    name: str
    records: bnn.Records
    classes: np.ndarray
    labels: tuple[Any, ...]

    @staticmethod
    def load(name: str) -> Domain:
        """Load a data set that ships."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MeasurementWarning)  # they are cut below, by the training rows alone
            records, target, classes = split(bnn.datasets.load(name, intervals=None))
        return Domain(name, records, classes, target.values)

    def coded(self, training: np.ndarray) -> bnn.Records:
        """All rows, their numbers in quarters whose bounds come from the training rows alone."""
        codes, attributes = self.records.codes.astype(np.int32), []
        for a, attribute in enumerate(self.records.schema.attributes):
            if len(attribute.values) > FEW and not isinstance(attribute.values[0], str):
                numbers = np.array([*attribute.values, np.nan], dtype=np.float64)[codes[:, a]]
                learned = numbers[training]
                bounds = equal_frequency(learned[~np.isnan(learned)], intervals=4)
                codes[:, a] = codes_of(numbers, bounds)
                attribute = bnn.Attribute(attribute.name, tuple(range(len(bounds) + 1)))
            attributes.append(attribute)
        return bnn.Records(codes, bnn.Schema(tuple(attributes)))


@dataclass(eq=False)
class Trained:
    """Training rows, and what is learned from them, each once.

    ``kept`` says, by coding, which connections between neurons are left; None: all.
    """

    rows: bnn.Records
    classes: np.ndarray
    number: int
    kept: dict[str, np.ndarray] | None = None

    def __post_init__(self) -> None:
        self.present, own = np.unique(self.classes, return_inverse=True)
        target = bnn.Attribute("class", tuple(range(len(self.present))))
        self._read: tuple[Any, Any] = (None, None)
        self.seen = [np.unique(codes[codes >= 0]) for codes in self.rows.codes.T]
        named = zip(self.rows.schema.names, self.seen, strict=True)
        self.schema = bnn.Schema(tuple(bnn.Attribute(name, tuple(seen.tolist())) for name, seen in named))
        codes = self.read(self.rows.codes)
        self.gaps = (codes < 0).any(axis=0)
        self.sizes = np.array(self.schema.sizes)
        self.labelled = bnn.Records(np.column_stack([codes, own]), with_class(self.schema, target))
        self.cells = Cells.of(ClassCounts.of(bnn.Records(codes, self.schema), target, own.astype(np.int32)))
        self.prior = np.log2(laplace_prior(self.cells))
        counts = np.bincount(self.classes, minlength=self.number)
        self.score_prior = (counts + 1.0) / (counts.sum() + self.number)
        self._found: dict[Any, Any] = {}

    def read(self, codes: np.ndarray) -> np.ndarray:
        """Codes as positions among the values seen in training; -1 for others, and for unknown."""
        if codes is self._read[0]:  # asked again and again for the same rows
            return self._read[1]
        read = np.full(codes.shape, -1)
        for a, seen in enumerate(self.seen):
            place = np.full(max(codes[:, a].max(initial=-1), seen.max(initial=-1)) + 2, -1)
            place[seen] = np.arange(len(seen))
            read[:, a] = place[codes[:, a]]  # unknown, -1, is the last place
        self._read = codes, read
        return read

    def numbered(self, codes: np.ndarray) -> np.ndarray:
        """Codes as scikit-learn's classifiers get them: unknown is one more value where there were gaps."""
        return np.where((codes < 0) & self.gaps, self.sizes, self.read(codes))

    def one_hot(self, codes: np.ndarray) -> np.ndarray:
        """The same as 0 and 1, a column a value; nothing where a value was never seen."""
        wide = self.numbered(codes)
        return (
            np.concatenate([wide[:, [a]] == np.arange(n) for a, n in enumerate(self.sizes + self.gaps)], axis=1) * 1.0
        )

    def counts(self, coding: str) -> bnn.Counts:
        """All pairs, in a coding."""
        return self._once(("counts", coding), lambda: bnn.Counts.of(self.labelled, coding))

    def network(self, rule: Rule, self_connections: bool, **options: Any) -> tuple[bnn.Network, Readout]:
        """The network of a rule, and what its class neurons hear."""

        def learn() -> tuple[bnn.Network, Readout]:
            counts, kept = self.counts(rule.coding), None if self.kept is None else self.kept[rule.coding]
            network = bnn.learn(counts, rule, mask=kept, self_connections=self_connections, **options)
            return network, Readout.of(counts, rule, options, kept)

        return self._once((rule.name, rule.coding, self_connections, *options.items()), learn)

    def cut(self, share: float, seed: Any) -> Trained:
        """The same after a share of the connections is lost: of those to the class as of those between attributes.

        In the two codings the neurons, and so the connections that are lost, differ; where they are the same values,
        naive Bayes and the network lose the same.
        """
        kept = {}
        for coding in ("values", "on"):
            by = self.counts(coding).layout.attribute
            kept[coding] = np.ones((len(by), len(by)), dtype=np.bool_)
            to_class = by == by[-1]
            rng = np.random.default_rng(seed)
            for mine in (np.logical_xor.outer(to_class, to_class), ~np.logical_or.outer(to_class, to_class)):
                j, i = np.nonzero(np.triu(mine & (by[:, None] != by)))
                lost = rng.choice(len(j), round(share * len(j)), replace=False)
                kept[coding][j[lost], i[lost]] = kept[coding][i[lost], j[lost]] = False
        return Trained(self.rows, self.classes, self.number, kept)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._found:
            self._found[key] = make()
        return self._found[key]


@dataclass(frozen=True, eq=False)
class Split:
    """One random split: training rows, test rows, and the inner splits of the training rows."""

    trained: Trained
    tested: bnn.Records
    classes: np.ndarray
    inner: list[tuple[Trained, bnn.Records, np.ndarray]]

    @staticmethod
    def of(domain: Domain, seed: int, number: int) -> Split:
        """Split a domain at random, 70 to 30."""
        here, there = parted(np.arange(domain.records.rows), [seed, number])
        coded, k = domain.coded(here), len(domain.labels)

        def trained(rows: np.ndarray) -> Trained:
            return Trained(coded[rows], domain.classes[rows], k)

        pairs = [parted(here, [seed, number, i]) for i in range(INNER)]
        inner = [(trained(a), coded[b], domain.classes[b]) for a, b in pairs]
        return Split(trained(here), coded[there], domain.classes[there], inner)


def parted(rows: np.ndarray, seed: list[int]) -> list[np.ndarray]:
    """Rows to train on and to test on."""
    return np.split(np.random.default_rng(seed).permutation(rows), [round(TRAIN * len(rows))])


@dataclass(frozen=True)
class Difference(Measured):
    """A mean paired difference over splits; its ``error`` is that of Nadeau and Bengio."""

    p_holm: float = 1.0

    @property
    def p(self) -> float:
        """Two-sided p-value of no difference."""
        if self.error == 0.0:
            return 1.0 if self.value == 0.0 else 0.0
        return float(2.0 * stdtr(self.number - 1, -abs(self.value) / self.error))

    @property
    def reach(self) -> float:
        """Half the width of the 95 % interval."""
        return float(stdtrit(self.number - 1, 0.975)) * self.error

    def __str__(self) -> str:
        ends = (self.value, self.value - self.reach, self.value + self.reach)
        mean, low, high = (f"{x:+.{self.digits}f}" for x in ends)
        return f"{mean} [{low}, {high}]" + ("*" if self.p_holm < 0.05 else "")


INTERVAL = "mean [95 % interval], * where Holm's p < 0.05"
"""How differences are shown."""


def difference(differences: np.ndarray, digits: int) -> Difference:
    """Mean of a domain's differences, [splits], or of several independent domains', [domains, splits]."""
    domains = np.atleast_2d(differences)
    error = math.hypot(*(corrected_error(one, (1 - TRAIN) / TRAIN) for one in domains)) / len(domains)
    number = domains.shape[1]
    return Difference(float(domains.mean()), error * math.sqrt(number), number, digits=digits)


def adjusted(differences: dict[str, list[Difference]]) -> dict[str, list[Difference]]:
    """The same with p-values adjusted by Holm over all of them together."""
    values = iter(holm([one.p for own in differences.values() for one in own]))
    return {name: [replace(one, p_holm=next(values)) for one in own] for name, own in differences.items()}
