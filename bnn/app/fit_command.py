"""The work of ``bnn fit``: read a table, learn it, write the classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc
from sklearn.base import clone

from bnn.app.data import training_table
from bnn.classify.registry import CLASSIFIERS
from bnn.errors import DataError, unknown_name


@dataclass(frozen=True, slots=True)
class Fitted:
    """A classifier and what it learned from.

    Attributes
    ----------
    classifier
        The fitted classifier.
    rows
        Rows of each class, the most frequent class first.
    left_out
        Rows without a class.
    """

    classifier: Any
    rows: Mapping[Any, int]
    left_out: int


def fit_classifier(data: str, target: str, name: str, options: Mapping[str, Any], ignored: Sequence[str]) -> Fitted:
    """Learn a table.

    Parameters
    ----------
    data, target, ignored
        Where the table is, its column of classes, and the columns to leave out.
    name
        Of the classifier.
    options
        Its parameters by name; None where it should choose. ``discretize`` as words of the command line.

    Raises
    ------
    BnnError
        Whatever does not fit, in one sentence.
    """
    estimator = _estimator(name, options)
    table, labels = training_table(data, target, ignored)
    known = pc.is_valid(labels)
    counted = sorted(pc.value_counts(labels.drop_null()).to_pylist(), key=lambda one: -one["counts"])
    if len(counted) < 2:
        found = f"only {counted[0]['values']!r}" if counted else "no class at all"
        raise DataError(f"--target: {target!r} of {data} holds {found}; needed are two classes to tell apart.")
    if options["discretize"]:
        estimator.set_params(discretize=_discretize(options["discretize"], table.column_names))
    estimator.fit(table.filter(known), labels.filter(known))
    return Fitted(estimator, {one["values"]: one["counts"] for one in counted}, labels.null_count)


def _estimator(name: str, options: Mapping[str, Any]) -> Any:
    """An unfitted classifier that files can keep, with its parameters."""
    able = [key for key, estimator in CLASSIFIERS.items() if hasattr(estimator, "save")]
    if name in CLASSIFIERS and name not in able:
        raise DataError(f"--classifier: {name!r} has no file to be kept in; choose {' or '.join(map(repr, able))}.")
    if name not in able:
        raise unknown_name("--classifier", name, able)
    estimator = clone(CLASSIFIERS[name])
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if key not in estimator.get_params():
            raise DataError(f"--{key.lower()}: {name!r} has no such option; leave it out.")
    return estimator.set_params(**given)


def _discretize(words: Sequence[str], names: Sequence[str]) -> Any:
    """How columns of numbers are cut: one way for all, ``COLUMN=WAY`` or ``COLUMN=BOUND,BOUND,...`` for one."""
    ways: dict[str, Any] = {}
    for word in words:
        name, one, way = word.rpartition("=")
        if one and name not in names:
            raise unknown_name("--discretize", name, names)
        try:
            cut: Any = [float(bound) for bound in way.split(",")] if one else way
        except ValueError:
            cut = way
        ways |= {name: cut} if one else dict.fromkeys(names, cut)
    return ways
