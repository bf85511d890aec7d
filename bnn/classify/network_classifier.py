"""NetworkClassifier: any rule and any dynamics as a classifier; the class is one more attribute of the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float64
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from bnn.classify import storing
from bnn.classify.base import BayesClassifier, Scores
from bnn.classify.class_counts import ClassCounts
from bnn.classify.explanation import Explanation, explained, looked_up, standard_errors, values_of
from bnn.classify.gains import Cells, given_priors, laplace_prior, prior_bits
from bnn.classify.model import cases_of
from bnn.classify.readout import Readout, fitted_scale, labelled, mean_field, unlabelled, with_class
from bnn.classify.settling import Settling, answered, checked_settling
from bnn.counting import small
from bnn.counts import Counts
from bnn.discretize import INTERVALS
from bnn.errors import DataError
from bnn.kernels.scores import pad, sum_gains
from bnn.learning import find, learn, options_of
from bnn.network import Network
from bnn.records import Records
from bnn.schema import Layout

FOLDS = 5


class NetworkClassifier(BayesClassifier):
    """A network of neurons as a classifier: Bayesian or Hopfield's, one step, iterated, or continuous [B].

    The class is one more attribute of the network [B 2.2]. A row sets the states of the others; they may settle; then
    P(c) is proportional to P(c) 2^(g h_c), h_c the field of the class neuron c at the final state, in which the class
    neurons themselves are silent. One step of the probability rule is ``NaiveBayesClassifier("joint")``, exactly: take
    that for large or wide tables, since a network counts all pairs. What iterations bring is for rows with unknown or
    wrong values; while all evidence is clamped and none is filled in, every dynamics answers as one step does.

    Parameters
    ----------
    rule : str or Rule
        ``"odds"`` [B appendix], ``"probability"`` [B 2.2], ``"hopfield"``, another of `bnn.RULES` that is a function of
        counts, or a `Rule`. In the odds form and under Hopfield's rule an attribute of k > 2 values, the class as well,
        is k binary neurons; the field of such a class neuron weighs the class against all others, so that the
        probabilities of k > 2 classes are too certain: choose ``g="fitted"`` where they matter.
    dynamics : None, str or Dynamics
        None: one step, in which each class neuron adds up what it hears. Or a name in `bnn.DYNAMICS`, or an instance
        such as ``bnn.GradientFlow(gain=0.5)``; the class neurons are free in it.
    max_sweeps : int, optional
        Limit of the iterations; None: to the fixed point.
    evidence : {"clamped", "free"}
        Whether known attributes keep their values.
    unknown : {"silent", "filled"}
        Whether unknown attributes say nothing, or are filled from the others and then iterate with them.
    self_connections : bool
        Connections of each neuron to itself [B 2.2]: they keep it as it is. The odds form refuses them.
    input : float or "prior"
        Added to the field while the network settles, in bits; ``"prior"``: neurons turn on by their posterior.
    m : float
        Strength of the estimate in records, where the rule has one.
    g : {"auto", "fitted"} or float
        Scale of the field in the answer. ``"auto"``: 1 for rules in bits; for others, such as Hopfield's, fitted.
        ``"fitted"``: the g of least log loss over rows that an inner fold left out.
    threshold : float
        Threshold of each neuron, in units of its mean field over the training rows: 1 makes it hear how far its field
        is from the usual one, which Hopfield's rule needs where values are rare. 0: the rule's own.
    options : dict, optional
        Other options of the rule, such as ``{"low": 0}``.
    priors : array-like or dict, optional
        Other priors in the answer, as in `NaiveBayesClassifier`; while the network settles its own stay.
    discretize, intervals
        As in `NaiveBayesClassifier`.
    random_state : int, RandomState or None
        Of the folds and the order of updates.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    network_ : Network
        The network, its last attribute the class.
    counts_ : Counts
        All that was learned, but for the scale.
    g_ : float
        The scale of the field.
    codebook_ : Codebook
        What the columns mean.
    n_features_in_, feature_names_in_
        As scikit-learn has them.

    Examples
    --------
    >>> import bnn
    >>> zoo = bnn.datasets.load("zoo")
    >>> bayesian, hopfield = (NetworkClassifier(rule, random_state=0).fit(zoo[::2]) for rule in ("odds", "hopfield"))
    >>> truth = [zoo.schema["class"].values[c] for c in zoo[1::2].codes[:, zoo.schema.index("class")]]
    >>> round(bayesian.score(zoo[1::2], truth), 2), round(hopfield.score(zoo[1::2], truth), 2)
    (0.96, 0.5)
    """

    network_: Network
    g_: float
    counts_: Counts
    _class_counts: ClassCounts
    _settling: Settling | None
    _readout: Readout
    _gains: Float64[np.ndarray, "values classes"]

    def __init__(
        self,
        rule: Any = "odds",
        dynamics: Any = None,
        max_sweeps: Any = None,
        evidence: Any = "clamped",
        unknown: Any = "silent",
        self_connections: Any = False,
        input: Any = 0.0,
        m: Any = 2.0,
        g: Any = "auto",
        threshold: Any = 0.0,
        options: Any = None,
        priors: Any = None,
        discretize: Any = "auto",
        intervals: Any = INTERVALS,
        random_state: Any = None,
    ) -> None:
        self.rule = rule
        self.dynamics = dynamics
        self.max_sweeps = max_sweeps
        self.evidence = evidence
        self.unknown = unknown
        self.self_connections = self_connections
        self.input = input
        self.m = m
        self.g = g
        self.threshold = threshold
        self.options = options
        self.priors = priors
        self.discretize = discretize
        self.intervals = intervals
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NetworkClassifier:
        """Learn from a table and its labels; arguments, errors and warnings as in `NaiveBayesClassifier.fit`."""
        self._check_numbers()
        rule = find(self.rule)
        if rule.source == "patterns":
            raise DataError(
                f"{self._owner}.rule: {rule.name!r} is fitted from patterns, and a classifier learns by counting; "
                "use a rule of counts, such as 'odds'."
            )
        random = check_random_state(self.random_state)
        settling = self._checked_settling(int(random.randint(2**31)))
        training = self._read_training(X, y, sample_weight, self.discretize, self.intervals)
        records = labelled(training)
        class_counts = ClassCounts.of(training.records, training.target, training.classes)
        self._learn(Counts.of(records, rule.coding), class_counts, settling)
        if self._settling is not None:
            self._settling.settle(self.network_, unlabelled(records.codes[:1]))  # refuses what cannot run
        fits = self.g == "fitted" or (self.g == "auto" and not rule.in_bits)
        self._scale(self._fit_scale(records, random) if fits else 1.0 if self.g == "auto" else float(self.g))
        return self

    def prior(self) -> Float64[np.ndarray, " classes"]:
        """log2 of the priors in front: Laplace's of the training rows, or those given."""
        if self.priors is None:
            return self._counted_prior()
        return prior_bits(given_priors(self.priors, self.classes_, self._owner))

    def explain(self, X: Any, labels: Mapping[str, Mapping[Any, str]] | None = None) -> Explanation:
        """Say, for each row and class, what speaks for and against it, in bits; only of one step.

        Parameters
        ----------
        X
            Rows, as for `predict_proba`.
        labels
            Readable labels of coded values, by column and value.

        Raises
        ------
        DataError
            The classifier iterates: what a value says then depends on the others, and nothing adds up.

        Notes
        -----
        Standard errors are those of the probability rule; of other rules they are 0.
        """
        check_is_fitted(self, "classes_")
        if self._settling is not None:
            raise DataError(
                f"{self._owner}.explain: the network iterates, so that what a value says depends on the others and "
                "does not add up; use dynamics=None."
            )
        codes = self.read_codes(X)
        cases = cases_of(Cells.of(self._class_counts))
        gains, cases = looked_up(codes, self.codebook_.sizes, self._gains, cases)
        errors = np.zeros_like(gains)
        if find(self.rule).name == "probability" and self.g_ == 1.0:
            errors = standard_errors(self._counted_prior(), gains, cases, float(self.m))
        values = values_of(codes, self.codebook_.schema)
        return explained(self.classes_, self._front(), self._names, values, gains, cases, errors, labels)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.evidence == "free"  # few neurons forget what they were shown
        return tags

    def _log2_scores(self, X: Any) -> Scores:
        codes = self.read_codes(X)
        if self._settling is None:
            return sum_gains(codes, self.codebook_.sizes, pad(self._gains, self.codebook_.sizes), self._front()[None])
        whole = np.concatenate([codes.astype(np.int32), np.full((len(codes), 1), -1, np.int32)], axis=1)
        return self.prior() + self.g_ * answered(whole, self.network_, self._readout, self._settling)

    def _counted_prior(self) -> Float64[np.ndarray, " classes"]:
        """log2 of Laplace's priors."""
        return prior_bits(laplace_prior(Cells.of(self._class_counts)))

    def _front(self) -> Float64[np.ndarray, " classes"]:
        """What stands in front of the gains: the prior, less the thresholds."""
        front: np.ndarray = self.prior() - self.g_ * self._readout.by_class(self._readout.threshold[None])[0]
        return front

    def _learn(self, counts: Counts, class_counts: ClassCounts, settling: Settling | None) -> None:
        """Make the network of what was counted."""
        self.counts_, self._class_counts = counts, class_counts
        self.network_, self._readout, self._settling = self._made(counts, settling)
        self.prior()  # refuses priors that are none

    def _made(self, counts: Counts, settling: Settling | None) -> tuple[Network, Readout, Settling | None]:
        """A network, what its class neurons hear, and how it settles, with the thresholds."""
        rule, options = find(self.rule), self._options()
        network = learn(counts, rule, self_connections=self.self_connections, **options)
        readout = Readout.of(counts, rule, options)
        if self.threshold == 0:
            return network, readout, settling
        share = float(self.threshold)
        if settling is not None:
            settling = settling.lifted(network, share * mean_field(counts, network))
        return network, readout.lifted(share * readout.mean_heard(counts)), settling

    def _scale(self, g: float) -> None:
        """Weigh what the class neurons hear."""
        self.g_ = g
        self._gains = g * self._readout.gains()

    def _fit_scale(self, records: Records, random: np.random.RandomState) -> float:
        """The g of least log loss over rows that their fold's network has not seen; 1 where all rows are alike."""
        if records.weights is not None:
            records = records[records.weights > 0]
        _, same = np.unique(unlabelled(records.codes), axis=0, return_inverse=True)
        distinct = int(same.max()) + 1
        if distinct < 2:
            return 1.0
        # equal rows share a fold, so that a weight of 2 is a row given twice
        fold = random.permutation(np.arange(distinct) % FOLDS)[same.ravel()]
        settling = self._checked_settling(0 if self._settling is None else self._settling.seed)
        fields = np.empty((records.rows, len(self.classes_)))
        for out in range(min(FOLDS, distinct)):
            left_out = records[fold == out]
            rest = self.counts_ - Counts.of(left_out, find(self.rule).coding)
            fields[fold == out] = answered(unlabelled(left_out.codes), *self._made(rest, settling))
        weights = np.ones(records.rows) if records.weights is None else np.asarray(records.weights)
        return fitted_scale(self._counted_prior(), fields, records.codes[:, -1], weights)

    def _options(self) -> dict[str, Any]:
        """Options of the rule."""
        if not (self.options is None or isinstance(self.options, Mapping)):
            raise DataError(f"{self._owner}.options: got {self.options!r}; give a dict such as {{'low': 0}}.")
        m = {"m": self.m} if "m" in options_of(find(self.rule)) else {}
        return m | dict(self.options or {})

    def _check_numbers(self) -> None:
        """Refuse a scale or a threshold that is none."""
        if not (self.g in ("auto", "fitted") if isinstance(self.g, str) else _is_number(self.g) and self.g > 0):
            raise DataError(f"{self._owner}.g: got {self.g!r}; give 'auto', 'fitted' or a number above 0.")
        if not _is_number(self.threshold):
            raise DataError(
                f"{self._owner}.threshold: got {self.threshold!r}; give a number of mean fields, such as 1."
            )

    def _checked_settling(self, seed: int) -> Settling | None:
        """How the network settles, or None for one step."""
        names = ("dynamics", "max_sweeps", "evidence", "unknown", "input")
        return checked_settling({name: getattr(self, name) for name in names}, seed, self._owner)

    def learned(self) -> storing.Learned:
        """What was learned, for a file."""
        pairs = self.counts_
        arrays = {"pairs": pairs.joint, "on": small(pairs.on), "known": small(pairs.known)}
        seed = None if self._settling is None else self._settling.seed
        told = {"rows": pairs.rows, "pair scale": pairs.scale, "g": self.g_, "seed": seed}
        return storing.of_counts(self._class_counts) + storing.Learned(arrays, told)

    def learn_again(self, learned: storing.Learned) -> None:
        """Take back what `learned` gave."""
        class_counts = storing.to_counts(learned, self.codebook_.schema, self.classes_)
        layout = Layout(with_class(class_counts.schema, class_counts.target), find(self.rule).coding)
        arrays, told = learned.arrays, learned.told
        counts = Counts(layout, arrays["pairs"], arrays["on"], arrays["known"], told["rows"], told["pair scale"])
        self._learn(counts, class_counts, self._checked_settling(told["seed"] or 0))
        self._scale(float(told["g"]))


def _is_number(value: Any) -> bool:
    """Whether a parameter is a finite number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))
