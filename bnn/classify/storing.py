"""Classifiers in files, one inside the other too: arrays, and everything else as JSON. Never pickle.

A classifier that can be kept says what it has learned (``learned``) and takes it back (``learn_again``).
Parameters, classes, columns and names of features are kept for all alike.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnn.classify.class_counts import ClassCounts
from bnn.classify.columns import Column
from bnn.classify.reading import Codebook
from bnn.errors import DataError, FileError
from bnn.files import read_tensors, write_tensors
from bnn.schema import Attribute, Schema

KIND = "a Bayesian classifier"
HOMES = {
    "NaiveBayesClassifier": "bnn.classify.naive",
    "SemiNaiveBayesClassifier": "bnn.classify.semi_naive",
    "TreeBayesClassifier": "bnn.classify.tree",
    "SuccessiveBayesClassifier": "bnn.classify.successive",
    "NaiveBayesCombiner": "bnn.classify.combiner",
    "NetworkClassifier": "bnn.classify.network_classifier",
}
DYNAMICS = "bnn.dynamics"  # imported when one is met: torch comes with it
TAG = "holds"  # key of what JSON does not know


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What a classifier has learned: arrays, plain JSON types, and classifiers inside it."""

    arrays: Mapping[str, Shaped[np.ndarray, "..."]] = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)
    inside: tuple[Any, ...] = ()

    def __add__(self, other: Learned) -> Learned:
        return Learned({**self.arrays, **other.arrays}, {**self.told, **other.told}, self.inside + other.inside)


def save(classifier: Any, path: str | os.PathLike[str], note: Mapping[str, Any] | None = None) -> None:
    """Write a fitted classifier, exactly; `load_classifier` reads it.

    Parameters
    ----------
    classifier
        One of ours.
    path
        The file.
    note
        Anything to be kept beside it, in plain JSON types; `note_of` reads it.

    Raises
    ------
    DataError
        A classifier or parameter inside it that is not of this package.
    FileError
        The folder does not exist, the name is a folder, or the system refuses.
    """
    arrays: dict[str, np.ndarray] = {}
    told = _packed(classifier, "", arrays, type(classifier).__name__)
    write_tensors(path, arrays, told if note is None else {**told, "note": dict(note)}, KIND)


def note_of(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Read what was noted beside a classifier; None where nothing was.

    Raises
    ------
    FileError
        As of `load_classifier`.
    """
    note = read_tensors(path, KIND)[1].get("note")
    return None if note is None else dict(note)


def load_classifier(path: str | os.PathLike[str]) -> Any:
    """Load whichever classifier a file holds, as its own class.

    Parameters
    ----------
    path
        What the ``save`` of a classifier, or ``bnn fit``, wrote.

    Raises
    ------
    FileError
        A file that is missing, damaged, of another program, of a newer version, or of what is no classifier.
    """
    arrays, told = read_tensors(path, KIND)
    if (name := told.get("class")) not in HOMES:
        raise FileError(f"{Path(path)}: holds a {name}, which this bnn does not know; upgrade bnn.")
    try:
        return _unpacked(told, "", arrays)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{Path(path)}: its classifier is damaged ({error}); save it again.") from error


def of_counts(counts: ClassCounts) -> Learned:
    """Class counts as something learned."""
    return Learned({"joint": counts.joint, "totals": counts.totals}, {"scale": counts.scale})


def to_counts(learned: Learned, schema: Schema, classes: Shaped[np.ndarray, " classes"]) -> ClassCounts:
    """The inverse of `of_counts`."""
    target = Attribute("class", tuple(classes.tolist()))
    return ClassCounts(schema, target, learned.arrays["joint"], learned.arrays["totals"], learned.told["scale"])


def _packed(classifier: Any, prefix: str, arrays: dict[str, np.ndarray], owner: str) -> dict[str, Any]:
    """Add a classifier's arrays under a prefix, and tell the rest."""
    name = _known(classifier, owner)
    check_is_fitted(classifier, "classes_")
    learned: Learned = classifier.learned()
    arrays |= {f"{prefix}{key}": array for key, array in learned.arrays.items()}
    codebook = vars(classifier).get("codebook_")  # classifiers of classifiers have but that of one inside
    if codebook is not None:
        bounds = {f"bounds {a}": c.bounds for a, c in enumerate(codebook.columns) if c.bounds is not None}
        arrays |= {f"{prefix}{key}": array for key, array in bounds.items()}
    return {
        "class": name,
        "parameters": _parameters(classifier, owner),
        "classes": classifier.classes_.tolist(),
        "dtype": classifier.classes_.dtype.str,
        "schema": None if codebook is None else codebook.schema.to_json(),
        "widths": None if codebook is None else [column.width for column in codebook.columns],
        "features": classifier.n_features_in_,
        "names": names.tolist() if (names := getattr(classifier, "feature_names_in_", None)) is not None else None,
        "told": dict(learned.told),
        "inside": [_packed(one, f"{prefix}{i}/", arrays, owner) for i, one in enumerate(learned.inside)],
    }


def _unpacked(told: Mapping[str, Any], prefix: str, arrays: Mapping[str, np.ndarray]) -> Any:
    """The inverse of `_packed`."""
    classifier = _made(told["class"], told["parameters"])
    mine = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
    classifier.classes_ = np.array(told["classes"], dtype=np.dtype(told["dtype"]))
    classifier.n_features_in_ = int(told["features"])
    if told["names"] is not None:
        classifier.feature_names_in_ = np.array(told["names"], dtype=object)
    if told["schema"] is not None:
        attributes = Schema.from_json(told["schema"]).attributes
        columns = zip(attributes, told["widths"], strict=True)
        classifier.codebook_ = Codebook(
            tuple(
                Column(attribute, mine.get(f"bounds {a}"), float(width)) for a, (attribute, width) in enumerate(columns)
            )
        )
    inside = tuple(_unpacked(one, f"{i}/", mine) for i, one in enumerate(told["inside"]))
    classifier.learn_again(Learned(mine, told["told"], inside))
    return classifier


def _known(classifier: Any, owner: str) -> str:
    """Name of a classifier's class, if it is one of ours."""
    name = type(classifier).__name__
    if type(classifier).__module__ != HOMES.get(name):
        raise DataError(
            f"{owner}.save: {name} is not of bnn, and a file cannot hold it; keep the whole with joblib, or use "
            "classifiers of bnn inside."
        )
    return name


def _made(name: str, parameters: Mapping[str, Any]) -> Any:
    """A classifier of ours, not fitted."""
    return getattr(import_module(HOMES[name]), name)(**{key: _revived(value) for key, value in parameters.items()})


def _parameters(estimator: Any, owner: str) -> dict[str, Any]:
    """Parameters in plain JSON types, classifiers among them."""
    return {key: _told(value, key, owner) for key, value in estimator.get_params(deep=False).items()}


def _told(value: Any, name: str, owner: str) -> Any:
    """A parameter in plain JSON types; what these lack is an object with a tag."""
    if isinstance(value, BaseEstimator):
        return {TAG: "classifier", "class": _known(value, owner), "parameters": _parameters(value, owner)}
    if type(value).__module__.startswith(f"{DYNAMICS}."):
        held = {one.name: _told(getattr(value, one.name), name, owner) for one in fields(value)}
        return {TAG: "dynamics", "name": value.name, "parameters": held}
    if isinstance(value, Mapping):  # keys of JSON are text; classes need not be
        return {TAG: "dict", "items": [[_told(k, name, owner), _told(v, name, owner)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {TAG: "tuple", "items": [_told(one, name, owner) for one in value]}
    if isinstance(value, np.ndarray | list):
        return [_told(one, name, owner) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise DataError(
        f"{owner}.save: the parameter {name} is {value!r}, which a file cannot hold; use plain numbers and text."
    )


def _revived(value: Any) -> Any:
    """The inverse of `_told`."""
    if isinstance(value, list):
        return [_revived(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    held = value[TAG]
    if held == "classifier":
        return _made(value["class"], value["parameters"])
    if held == "dynamics":
        parameters = {key: _revived(one) for key, one in value["parameters"].items()}
        return import_module(DYNAMICS).DYNAMICS[value["name"]](**parameters)
    items = (_revived(one) for one in value["items"])
    return dict(items) if held == "dict" else tuple(items)
