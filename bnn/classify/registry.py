"""The classifiers by name, which `bnn compare` runs, and those that files keep."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bnn.classify import saving
from bnn.classify.naive import NaiveBayesClassifier
from bnn.classify.network_classifier import NetworkClassifier
from bnn.classify.references import CategoricalReference, logistic_reference
from bnn.errors import FileError
from bnn.files import kind_of

CLASSIFIERS: Mapping[str, Any] = MappingProxyType(
    {
        "naive": NaiveBayesClassifier(),
        "network": NetworkClassifier(random_state=0),
        "hopfield": NetworkClassifier("hopfield", random_state=0),
        "sklearn-categorical": CategoricalReference(),
        "sklearn-logistic": logistic_reference(),
    }
)
"""Unfitted estimators by name, the first the one that others are compared with; they are cloned, never fitted."""

KEPT: Mapping[str, Any] = MappingProxyType({saving.KIND: NaiveBayesClassifier})
"""Classes that can be saved, by the kind that their files say they hold."""


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
    kind = kind_of(path, "a classifier")
    if kind not in KEPT:
        raise FileError(f"{path}: holds {kind}, not {' or '.join(KEPT)}; give a file that bnn fit wrote.")
    return KEPT[kind].load(path)
