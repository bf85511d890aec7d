"""The classifiers that `bnn compare` runs, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bnn.classify.naive import NaiveBayesClassifier
from bnn.classify.network_classifier import NetworkClassifier
from bnn.classify.references import CategoricalReference, logistic_reference

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
