"""NaiveBayesClassifier: gains of independent attribute values added up, learned from target x value counts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float64, Integer, Shaped
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bnn.classify import storing
from bnn.classify.base import BayesClassifier, Scores, Training
from bnn.classify.class_counts import ClassCounts, rescaled
from bnn.classify.describing import describe, grown, kept_ways
from bnn.classify.explanation import Explanation, explained, values_of
from bnn.classify.fuzzy import with_memberships
from bnn.classify.gains import given_priors, prior_bits
from bnn.classify.labelled import Labelled
from bnn.classify.labels import merged_classes, named_classes
from bnn.classify.leave_one_out import scores_without_own_row
from bnn.classify.model import Model, Options
from bnn.classify.reading import Codebook, Table
from bnn.classify.streamed import Meaning
from bnn.cluster import divided
from bnn.counting import whole_weights
from bnn.discretize import INTERVALS
from bnn.errors import DataError, NewClassWarning, UnseenValueWarning
from bnn.kernels.scores import to_probabilities
from bnn.records import Records
from bnn.schema import Attribute
from bnn.sources import Source


class NaiveBayesClassifier(BayesClassifier):
    """Naive Bayes as a sum of information gains, which can be read: [B 2.5, S, C, T].

    log2 P(C|V) = log2 P(C) + sum over known attributes of log2 P(C|V_i)/P(C), normalised over the classes [S eq 4]. It
    learns from counts of class and value only, so it takes wide tables, new rows (`partial_fit`) and forgets old ones
    (`forget`) exactly. Any table does: text, categories, bools, whole numbers, measurements, mixed, with gaps; what is
    missing, or was never seen, is no evidence. Its probabilities are overconfident where attributes repeat each other:
    wrap it in scikit-learn's ``CalibratedClassifierCV`` where they matter.

    Parameters
    ----------
    estimate : {"m", "neutral", "joint", "relative", "laplace", "shrinkage"}
        How counts become probabilities, see `bnn.classify.gains`. ``"m"`` is the papers' own [S eq 2, C eq 5];
        ``"neutral"`` gives an attribute that says nothing a gain of exactly 0; ``"joint"`` is one clamped step of the
        network of `bnn.learn`; ``"shrinkage"`` is scikit-learn's CategoricalNB with alpha = 1/k.
    m : float
        Strength of the prior in records, for the first three.
    discretize : str or dict
        ``"auto"``: a column of whole numbers with at most 20 distinct values is one of categories, any other numbers
        are cut into intervals of equal weight; decided at the first fit. ``"equal-frequency"``,
        ``"information-gain"`` (two intervals) and ``"mdl"`` (Fayyad and Irani) cut every numeric column so,
        ``"categories"`` none. A dict by column name (x0, x1, ... for arrays) holds any of these, or ascending bounds.
    intervals : int
        Intervals of equal frequency.
    priors : array-like or dict, optional
        Other priors at prediction, such as another prevalence: in order of ``classes_``, or by class.
    fuzzy : {None, "learning", "classification", "both"}
        Fuzzy bounds of numeric attributes [C 3.1, 3.2]: a row counts in every interval by its membership; a number is
        judged by all intervals by its membership.
    SIG : float
        Fuzziness: a number spreads with sigma = SIG (largest - smallest) / intervals.
    Pr : float
        Reliable approximation [C 3.3]: an interval borrows from its neighbours until Chebyshev's bound reaches Pr; 0
        is plain naive Bayes. [C] saw no gain from combining it with ``fuzzy``.
    borrow : float
        Share of a neighbouring interval that is borrowed at a time.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    counts_ : ClassCounts
        All that was learned.
    codebook_ : Codebook
        What the columns mean: ``codebook_.columns`` holds categories and bounds.
    n_features_in_, feature_names_in_
        As scikit-learn has them.

    Examples
    --------
    >>> X = [["red", 4.1], ["red", 3.9], ["blue", 0.2], [None, 0.4]]
    >>> classifier = NaiveBayesClassifier().fit(X, ["apple", "apple", "plum", "plum"])
    >>> classifier.predict([["red", None], ["blue", 0.3]]).tolist()
    ['apple', 'plum']
    """

    counts_: ClassCounts
    _model: Model

    def __init__(
        self,
        estimate: Any = "m",  # checked in fit, as scikit-learn wants it
        m: Any = 2.0,
        discretize: Any = "auto",
        intervals: Any = INTERVALS,
        priors: Any = None,
        fuzzy: Any = None,
        SIG: Any = 0.5,
        Pr: Any = 0.0,
        borrow: Any = 1.0,
    ) -> None:
        self.estimate = estimate
        self.m = m
        self.discretize = discretize
        self.intervals = intervals
        self.priors = priors
        self.fuzzy = fuzzy
        self.SIG = SIG
        self.Pr = Pr
        self.borrow = borrow

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NaiveBayesClassifier:
        """Learn from a table and its labels, forgetting what was learned before.

        Parameters
        ----------
        X
            numpy array, pandas, polars or pyarrow table, list of rows, dict of columns, or `bnn.Records`. Or files that
            need not fit the memory, a `bnn.Source`, or a data frame or array of dask: these are read twice, for what
            their columns mean and to count, each part where it is.
        y
            One label a row; None for records with a target. Of files and data frames of dask, also the name of the
            column that holds the labels: rows without one are left out.
        sample_weight
            Weight of each row; rows of weight 0 count for nothing, their values and classes neither. Of files and data
            frames of dask, also the name of a column.

        Raises
        ------
        DataError
            A parameter, column, label or weight that cannot mean what it should (a ValueError).

        Warns
        -----
        IdentifierWarning
            A column whose every value occurs once.
        DamageWarning
            Rows of files that cannot be read.
        """
        options = self._options()
        if isinstance(X, Source) or divided(X):
            self._learn_parts(X, y, sample_weight)
            return self
        training = self._read_training(X, y, sample_weight, self.discretize, self.intervals)
        self._fixed_classes = False
        self._set(self._count(training, options), options)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> NaiveBayesClassifier:
        """Learn more rows; new values and classes are taken in, bounds stay as the first rows made them.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes
            At the first call: all classes there will be; a label beyond them is then an error. None: classes grow.

        Warns
        -----
        NewClassWarning
            Classes that earlier rows did not have: ``classes_`` and the columns of probabilities have moved.
        """
        options = self._options()
        if not hasattr(self, "classes_"):
            if isinstance(X, Source) or divided(X):
                self._learn_parts(X, y, sample_weight, classes)
                return self
            training = self._read_training(X, y, sample_weight, self.discretize, self.intervals, classes)
            self._fixed_classes = classes is not None
            self._set(self._count(training, options), options)
            return self
        if classes is not None and not set(np.unique(np.asarray(classes)).tolist()) <= set(self.classes_.tolist()):
            raise DataError(
                f"{self._owner}.classes: got {list(classes)!r}, other classes than the first call's "
                f"{self.classes_.tolist()}; name all of them in the first call."
            )
        more = self._more_parts if isinstance(X, Source) or divided(X) else self._more_rows
        codebook, merged, added = more(X, y, sample_weight)
        new = [c for c in merged.tolist() if c not in self.classes_.tolist()]
        counts = self.counts_.widen(codebook.schema, added.target) + added
        self.codebook_, self.classes_ = codebook, merged
        self._set(counts, options)
        if new:
            warnings.warn(
                f"{self._owner}.y: new classes {new}; classes_ is now {merged.tolist()}, and so are the columns of "
                "probabilities.",
                NewClassWarning,
                stacklevel=2,
            )
        return self

    def _more_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Codebook, Shaped[np.ndarray, " classes"], ClassCounts]:
        """Read more rows: what their columns mean now, all classes so far, and their counts."""
        table, y, sample_weight = self._read_table(X, y, sample_weight, reset=False)
        found, rows, weights = self._read_rows(table, y, sample_weight)
        merged = self._merged(found)
        codebook = Codebook(describe(table, rows, self.discretize, self.intervals, self._owner, self.codebook_.columns))
        codes = np.searchsorted(merged, found).astype(np.int32)[rows.classes]
        training = self._training(table, codebook, merged, codes, weights)
        return codebook, merged, self._count(training, self._options(), codebook)

    def _merged(self, found: Shaped[np.ndarray, " found"]) -> Shaped[np.ndarray, " classes"]:
        """Classes so far and those of more rows; new ones are an error where the first call named all."""
        merged = merged_classes(self.classes_, found, self._owner)
        if self._fixed_classes and len(merged) > len(self.classes_):
            new = next(c for c in found.tolist() if c not in self.classes_.tolist())
            raise DataError(
                f"{self._owner}.y: class {new!r} is none of the {self.classes_.tolist()} named in the first call; "
                "name all classes there, or none."
            )
        return merged

    def _learn_parts(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> None:
        """Learn rows in parts, for the first time."""
        rows = Labelled.of(X, y, sample_weight, self._owner)
        meaning = rows.meaning(self.discretize, self.intervals, self._owner)
        if classes is not None:
            meaning = replace(meaning, classes=named_classes(classes, meaning.classes, self._owner))
        found = rows.counted(meaning, self.count, self.begin(meaning), self._owner)
        self._fixed_classes = classes is not None
        if not isinstance(X, Source) and not hasattr(X, "columns"):
            del self.feature_names_in_  # an array has none
        self.finish(found.counts)
        found.losses.warn()

    def _more_parts(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Codebook, Shaped[np.ndarray, " classes"], ClassCounts]:
        """Read more rows in parts, as `_more_rows` does."""
        rows = Labelled.of(X, y, sample_weight, self._owner)
        attributes = dict.fromkeys(rows.attributes)
        self._check_features(attributes, Table(attributes, 0), reset=False)
        known = self.codebook_.columns
        found = rows.meaning(kept_ways(known, self.discretize), self.intervals, self._owner)
        columns = tuple(grown(*pair) for pair in zip(known, found.columns, strict=True))
        merged = self._merged(found.classes)
        meaning = Meaning(rows.target, columns, merged)
        other = clone(self)
        progress = rows.counted(meaning, other.count, other.begin(meaning), self._owner)
        progress.losses.warn()
        return other.codebook_, merged, progress.counts

    def begin(self, meaning: Meaning) -> ClassCounts:
        """Take over what columns mean, and give counts of no rows: for what counts in parts, as `bnn fit` does."""
        self._check_names(tuple(column.attribute.name for column in meaning.columns), reset=True)
        self.n_features_in_ = len(meaning.columns)
        self.codebook_, self.classes_ = Codebook(meaning.columns), meaning.classes
        self._fixed_classes = False
        k = len(meaning.classes)
        joint = np.zeros((int(self.codebook_.sizes.sum()), k), np.int64)
        target = Attribute("class", tuple(meaning.classes.tolist()))
        return ClassCounts(self.codebook_.schema, target, joint, np.zeros(k, np.int64))

    def count(
        self, records: Records, target: Attribute, classes: Integer[np.ndarray, " rows"], table: Table
    ) -> ClassCounts:
        """Count rows coded by the codebook; ``table`` holds the numbers behind the codes."""
        records = Records(records.codes, self.codebook_.schema, records.weights)
        return self._count(Training(records, target, classes, table), self._options())

    def finish(self, counts: ClassCounts) -> None:
        """Learn from counts of all parts."""
        self._set(counts, self._options())

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> NaiveBayesClassifier:
        """Forget rows that were learned, exactly; values, classes and bounds stay.

        Raises
        ------
        DataError
            Rows that were never learned: nothing is forgotten then.
        """
        options = self._options()
        training = self._read_known(X, y, sample_weight, "forget")
        self._set(self.counts_ - self._count(training, options), options)
        return self

    def leave_one_out_proba(self, X: Any, y: Any = None, sample_weight: Any = None) -> Scores:
        """Probabilities of each learned row by what is left without it: exact, and nearly as quick as predicting.

        Schema, classes and bounds stay as they are. With fuzzy or reliable intervals each row is left out by itself,
        which takes as many steps as there are rows.

        Parameters
        ----------
        X, y, sample_weight
            The rows as they were learned.
        """
        training = self._read_known(X, y, sample_weight, "leave_one_out_proba")
        options = self._model.options
        weights, _, scale = whole_weights(training.records)
        counts = rescaled(self.counts_, scale)
        given = None if self.priors is None else self.prior()
        if options.learning or options.classification or options.Pr > 0:
            scores = self._singly(training, options, given)
        else:
            scores = scores_without_own_row(
                counts, options, given, training.records.codes, training.classes, weights, self._owner
            )
        to_probabilities(scores)
        return scores

    def explain(self, X: Any, labels: Mapping[str, Mapping[Any, str]] | None = None) -> Explanation:
        """Say, for each row and class, what speaks for and against it, in bits; see `Explanation`.

        Parameters
        ----------
        X
            Rows, as for `predict_proba`.
        labels
            Readable labels of coded values, by column and value.
        """
        check_is_fitted(self, "classes_")
        table, codes = self._read_known_columns(X)
        prior = self.prior()
        gains, cases, errors = self._model.terms(table, codes, prior)
        values = values_of(codes, self.codebook_.schema)
        return explained(self.classes_, prior, self._names, values, gains, cases, errors, labels)

    def learned(self) -> storing.Learned:
        """What was learned, for a file."""
        return storing.of_counts(self.counts_) + storing.Learned(told={"fixed": self._fixed_classes})

    def learn_again(self, learned: storing.Learned) -> None:
        """Take back what `learned` gave."""
        self._fixed_classes = bool(learned.told["fixed"])
        self._set(storing.to_counts(learned, self.codebook_.schema, self.classes_), self._options())

    @property
    def gains_(self) -> Float64[np.ndarray, "values classes"]:
        """Gain of every value for every class in bits; the values attribute by attribute."""
        return self._model.gains

    @property
    def log2_prior_(self) -> Float64[np.ndarray, " classes"]:
        """log2 P(C), as counted."""
        return self._model.prior

    def prior(self) -> Float64[np.ndarray, " classes"]:
        """log2 of the priors in front: those counted, or those given."""
        if self.priors is None:
            return self._model.prior
        return prior_bits(given_priors(self.priors, self.classes_, self._owner))

    def _options(self) -> Options:
        """The parameters, checked."""
        return Options.read(self.get_params(deep=False), self._owner)

    def _count(self, training: Training, options: Options, codebook: Codebook | None = None) -> ClassCounts:
        """Count rows, by membership where learning is fuzzy."""
        counts = ClassCounts.of(training.records, training.target, training.classes)
        if not options.learning:
            return counts
        weights, _, _ = whole_weights(training.records)
        codebook = codebook or self.codebook_
        return with_memberships(counts, codebook, training.table, training.classes, weights, options.SIG)

    def _set(self, counts: ClassCounts, options: Options) -> None:
        """Keep the counts, and work out what they amount to."""
        if self.priors is not None:
            given_priors(self.priors, self.classes_, self._owner)
        self.counts_ = counts
        self._model = Model.of(counts, self.codebook_, options)

    def _log2_scores(self, X: Any) -> Scores:
        table, codes = self._read_known_columns(X)
        return self._model.scores(table, codes, self.prior(), self._owner)

    def _read_known(self, X: Any, y: Any, sample_weight: Any, method: str) -> Training:
        """Read rows that were learned: a value or class that was not is an error."""
        check_is_fitted(self, "classes_")
        table, y, sample_weight = self._read_table(X, y, sample_weight, reset=False)
        found, rows, weights = self._read_rows(table, y, sample_weight)
        if strange := [c for c in found.tolist() if c not in self.classes_.tolist()]:
            raise DataError(f"{self._owner}.{method}: class {strange[0]!r} was never learned; give learned rows.")
        codes = np.searchsorted(self.classes_, found).astype(np.int32)[rows.classes]
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnseenValueWarning)
            try:
                return self._training(table, self.codebook_, self.classes_, codes, weights, known=True)
            except UnseenValueWarning as warning:
                raise DataError(f"{self._owner}.{method}: {warning} Give rows that were learned.") from None

    def _singly(self, training: Training, options: Options, given: Float64[np.ndarray, " classes"] | None) -> Scores:
        """Scores of rows, each by the counts without itself, one row after the other."""
        scores = np.empty((training.records.rows, len(self.classes_)))
        for row in range(len(scores)):
            alone = training.row(row)
            model = Model.of(self.counts_ - self._count(alone, options), self.codebook_, options)
            prior = model.prior if given is None else given
            scores[row] = model.scores(alone.table, alone.records.codes, prior, self._owner)
        return scores
