"""Naive classifiers in files: counts and bounds as arrays, everything else as JSON. Never pickle."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bnn.classify.class_counts import ClassCounts
from bnn.classify.columns import Column
from bnn.classify.reading import Codebook
from bnn.errors import DataError, FileError
from bnn.files import read_tensors, write_tensors
from bnn.schema import Attribute, Schema

KIND = "a naive Bayes classifier"
Estimator = TypeVar("Estimator")


def save(classifier: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted `NaiveBayesClassifier`."""
    counts: ClassCounts = classifier.counts_
    columns = classifier.codebook_.columns
    arrays = {"joint": counts.joint, "totals": counts.totals}
    arrays |= {f"bounds {a}": c.bounds for a, c in enumerate(columns) if c.bounds is not None}
    told = {
        "parameters": {name: _plain(value, name) for name, value in classifier.get_params(deep=False).items()},
        "schema": counts.schema.to_json(),
        "classes": list(counts.target.values),
        "dtype": classifier.classes_.dtype.str,
        "widths": [column.width for column in columns],
        "scale": counts.scale,
        "fixed": classifier._fixed_classes,
        "names": hasattr(classifier, "feature_names_in_"),
    }
    write_tensors(path, arrays, told, KIND)


def load(cls: type[Estimator], path: str | os.PathLike[str]) -> Estimator:
    """Read what `save` wrote: an estimator with its counts, columns and classes."""
    arrays, told = read_tensors(path, KIND)
    try:
        schema = Schema.from_json(told["schema"])
        parameters = dict(told["parameters"])
        if isinstance(parameters.get("priors"), list) and parameters["priors"][:1] == ["by class"]:
            parameters["priors"] = dict(parameters["priors"][1])
        classifier: Any = cls(**parameters)
        columns = [
            Column(attribute, arrays.get(f"bounds {a}"), float(width))
            for a, (attribute, width) in enumerate(zip(schema.attributes, told["widths"], strict=True))
        ]
        target = Attribute("class", tuple(told["classes"]))
        classifier.codebook_ = Codebook(tuple(columns))
        classifier.classes_ = np.array(target.values, dtype=np.dtype(told["dtype"]))
        classifier.counts_ = ClassCounts(schema, target, arrays["joint"], arrays["totals"], told["scale"])
        classifier._fixed_classes = bool(told["fixed"])
        classifier.n_features_in_ = len(columns)
        if told["names"]:
            classifier.feature_names_in_ = np.array(schema.names, dtype=object)
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"{Path(path)}: its classifier is damaged ({error}); save it again.") from error
    return classifier  # type: ignore[no-any-return]


def _plain(value: Any, name: str) -> Any:
    """A parameter in plain JSON types."""
    if isinstance(value, Mapping):
        if name == "priors":  # keys of JSON are text; classes need not be
            return ["by class", [[_plain(k, name), _plain(v, name)] for k, v in value.items()]]
        return {k: _plain(v, name) for k, v in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(v, name) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise DataError(f"save: the parameter {name} is {value!r}, which a file cannot hold; use plain numbers and text.")
