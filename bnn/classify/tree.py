"""TreeBayesClassifier: each attribute hangs on the class and one other attribute [T eq 25]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
from jaxtyping import Float64, Int64, Integer
from sklearn.utils.validation import check_is_fitted

from bnn.classify import storing
from bnn.classify.base import BayesClassifier, Scores
from bnn.classify.class_counts import ClassCounts
from bnn.classify.dependence import best_tree, mutual_information
from bnn.classify.explanation import Explanation, explained, looked_up, values_of
from bnn.classify.gains import Cells, laplace_prior
from bnn.classify.parameters import positive
from bnn.counting import whole_weights
from bnn.discretize import INTERVALS
from bnn.errors import DataError, unknown_name
from bnn.kernels.classes import count_classes
from bnn.kernels.scores import pad, sum_gains
from bnn.schema import Schema

STRUCTURES = ("chain", "tree")
LARGEST = 1 << 26  # gains of one attribute: half a gigabyte


class TreeBayesClassifier(BayesClassifier):
    """Bayes with one dependence an attribute: P(C) P(x1|C) P(x2|x_parent,C) ... [T eq 25].

    ``"tree"`` takes the tree of all attributes that keeps the most conditional mutual information I(a; b | C) (Chow
    and Liu; Friedman, Geiger and Goldszmidt's TAN), its root the first attribute; ``"chain"`` hangs each attribute on
    the one before it, for columns in an order such as time. They are better than `NaiveBayesClassifier` where
    attributes depend on each other and rows are many (congressional votes 90 -> 95 %); on small tables of many values
    that one is better (breast cancer 71 -> 66). A parity of two attributes is learned if the tree joins them.

    Probabilities are m-estimates step by step: P(x|p,C) = (N(x,p,C) + m P(x|C)) / (N(p,C; x known) + m), P(x|C) =
    (N(x,C) + m P(x)) / (N(C; x known) + m), P(x) a relative frequency; where the parent is unknown, P(x|C). A value
    never seen in training is no evidence, nor is a missing one. It learns from rows, not from counts: there is no
    ``partial_fit``.

    Parameters
    ----------
    structure : {"tree", "chain"}
        See above.
    m : float
        Strength of each prior, in records.
    discretize, intervals
        As in `NaiveBayesClassifier`.

    Attributes
    ----------
    parents_ : tuple of int
        The attribute that each one hangs on, -1 where none.
    information_ : ndarray
        I(a; b | C) in bits, [attributes, attributes], of a tree; an attribute that names the rows has none.
    classes_, codebook_, n_features_in_, feature_names_in_
        As in `NaiveBayesClassifier`.

    Examples
    --------
    >>> X, y = [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]] * 5, ["no", "yes", "yes", "no"] * 5
    >>> TreeBayesClassifier().fit(X, y).predict([["a", "d"], ["b", "d"]]).tolist()
    ['yes', 'no']
    """

    parents_: tuple[int, ...]
    information_: Float64[np.ndarray, "attributes attributes"]
    APART = False
    counts_: ClassCounts
    _prior: Float64[np.ndarray, " classes"]
    _gains: Float64[np.ndarray, "pairs classes"]
    _cases: Float64[np.ndarray, " pairs"]
    _sizes: Int64[np.ndarray, " attributes"]

    def __init__(
        self,
        structure: Any = "tree",  # checked in fit, as scikit-learn wants it
        m: Any = 2.0,
        discretize: Any = "auto",
        intervals: Any = INTERVALS,
    ) -> None:
        self.structure = structure
        self.m = m
        self.discretize = discretize
        self.intervals = intervals

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TreeBayesClassifier:
        """Learn from a table and its labels.

        Parameters
        ----------
        X, y, sample_weight
            As in `NaiveBayesClassifier.fit`; a weight is a repetition.

        Raises
        ------
        DataError
            A parameter, column, label or weight that cannot mean what it should; two neighbours of so many values
            that their pairs do not fit into memory (a ValueError).

        Warns
        -----
        IdentifierWarning
            A column whose every value occurs once.
        """
        if self.structure not in STRUCTURES:
            raise unknown_name(f"{self._owner}.structure", self.structure, STRUCTURES)
        m = positive(self.m, f"{self._owner}.m")
        training = self._read_training(X, y, sample_weight, self.discretize, self.intervals)
        self.__dict__.pop("information_", None)
        self.parents_ = tuple(range(-1, len(training.records.schema.sizes) - 1))
        if self.structure == "tree":
            self.information_ = mutual_information(training)
            self.parents_ = best_tree(self.information_)
        self._require_room(training.records.schema)
        pairs = _with_parents(training.records.codes, training.records.schema, self.parents_)
        weights, _, _ = whole_weights(training.records)
        classes = len(training.target.values)
        joint, _ = count_classes(pairs, self._pair_sizes(), training.classes, classes, weights)
        self._set(ClassCounts.of(training.records, training.target, training.classes), joint, m)
        return self

    def explain(self, X: Any, labels: Mapping[str, Mapping[Any, str]] | None = None) -> Explanation:
        """Say, for each row and class, what speaks for and against it, in bits; see `Explanation`.

        A value's gain is log2 P(x|p,C)/P(x|p), p the value of its parent, P(x|p) = sum over C of P(C) P(x|p,C). Its
        cases are those that have the value and its parent's; standard errors are not given (0).

        Parameters
        ----------
        X
            Rows, as for `predict_proba`.
        labels
            Readable labels of coded values, by column and value.
        """
        check_is_fitted(self, "classes_")
        codes = self.read_codes(X)
        pairs = _with_parents(codes, self.codebook_.schema, self.parents_)
        gains, cases = looked_up(pairs, self._sizes, self._gains, self._cases)
        values = values_of(codes, self.codebook_.schema)
        return explained(self.classes_, self._prior, self._names, values, gains, cases, np.zeros_like(gains), labels)

    @property
    def graph_(self) -> nx.DiGraph:
        """The attributes by name, a networkx graph from parents to children; edges of a tree have ``information``."""
        check_is_fitted(self, "classes_")
        names = self.codebook_.schema.names
        graph = nx.DiGraph()
        graph.add_nodes_from(names)
        for child, parent in enumerate(self.parents_):
            if parent >= 0:
                graph.add_edge(names[parent], names[child])
                if hasattr(self, "information_"):
                    graph[names[parent]][names[child]]["information"] = float(self.information_[parent, child])
        return graph

    def _require_room(self, schema: Schema) -> None:
        """Refuse pairs of values that no table can hold."""
        sizes = schema.sizes
        for child, parent in enumerate(self.parents_):
            if parent >= 0 and sizes[parent] * sizes[child] * len(self.classes_) > LARGEST:
                raise DataError(
                    f"{self._owner}.X: columns {schema.names[parent]!r} and {schema.names[child]!r} have "
                    f"{sizes[parent]} and {sizes[child]} values, too many pairs; drop or discretize one."
                )

    def _pair_sizes(self) -> Int64[np.ndarray, " attributes"]:
        """How many pairs of a parent's value, unknown included, and its own each attribute has."""
        sizes = self.codebook_.sizes
        return np.array([(sizes[p] + 1 if p >= 0 else 1) * size for p, size in zip(self.parents_, sizes, strict=True)])

    def _set(self, counts: ClassCounts, joint: Int64[np.ndarray, "pairs classes"], m: float) -> None:
        """Keep what was counted, and work out the gains."""
        self.counts_, self._joint, self._sizes = counts, joint, self._pair_sizes()
        prior = laplace_prior(Cells.of(counts))
        self._prior = np.log2(prior)
        self._cases = joint.sum(axis=1) / counts.scale
        self._gains = np.empty(joint.shape)
        start, begin = np.cumsum(self.codebook_.sizes) - self.codebook_.sizes, 0
        for a, size in enumerate(self.codebook_.sizes.tolist()):
            end = begin + int(self._sizes[a])
            alone = counts.joint[start[a] : start[a] + size] / counts.scale
            self._gains[begin:end] = _gains(joint[begin:end] / counts.scale, alone, prior, m)
            begin = end
        self._table = pad(self._gains, self._sizes)

    def _log2_scores(self, X: Any) -> Scores:
        codes = _with_parents(self.read_codes(X), self.codebook_.schema, self.parents_)
        return sum_gains(codes, self._sizes, self._table, self._prior[None])

    def learned(self) -> storing.Learned:
        """What was learned, for a file."""
        arrays = {"pairs": self._joint}
        if hasattr(self, "information_"):
            arrays["information"] = self.information_
        return storing.of_counts(self.counts_) + storing.Learned(arrays, {"parents": list(self.parents_)})

    def learn_again(self, learned: storing.Learned) -> None:
        """Take back what `learned` gave."""
        self.parents_ = tuple(learned.told["parents"])
        if "information" in learned.arrays:
            self.information_ = learned.arrays["information"]
        counts = storing.to_counts(learned, self.codebook_.schema, self.classes_)
        self._set(counts, learned.arrays["pairs"], positive(self.m, f"{self._owner}.m"))


def _with_parents(
    codes: Integer[np.ndarray, "rows attributes"], schema: Schema, parents: tuple[int, ...]
) -> Int64[np.ndarray, "rows attributes"]:
    """Code of each value together with its parent's: parent's code, or one past its last where unknown, comes first."""
    pairs = np.empty(codes.shape, np.int64, order="F")
    for a, parent in enumerate(parents):
        own = codes[:, a].astype(np.int64)
        if parent >= 0:
            above = codes[:, parent].astype(np.int64)
            above[above < 0] = schema.sizes[parent]
            own[own >= 0] += above[own >= 0] * schema.sizes[a]
        pairs[:, a] = own
    return pairs


def _gains(
    joint: Float64[np.ndarray, "pairs classes"],
    alone: Float64[np.ndarray, "values classes"],
    prior: Float64[np.ndarray, " classes"],
    m: float,
) -> Float64[np.ndarray, "pairs classes"]:
    """log2 P(x|p,C)/P(x|p) of one attribute, given N(x,p,C) and N(x,C); 0 for values that never came."""
    if not len(joint):
        return np.zeros(joint.shape)
    classes = len(prior)
    known = alone.sum(axis=0)
    general = alone.sum(axis=1, keepdims=True) / max(known.sum(), 1e-300)
    of_class = (alone + m * general) / (known + m)
    both = joint.reshape(-1, len(alone), classes)
    given = (both + m * of_class) / (both.sum(axis=1, keepdims=True) + m)
    given[-1] = of_class  # no parent, or an unknown one
    with np.errstate(divide="ignore", invalid="ignore"):
        gains: np.ndarray = np.log2(given / (given @ prior)[..., None])
    gains[:, alone.sum(axis=1) == 0] = 0.0
    return gains.reshape(-1, classes)
