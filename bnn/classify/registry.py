"""The classifiers that `bnn compare` runs, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bnn.classify.naive import NaiveBayesClassifier
from bnn.classify.references import CategoricalReference, logistic_reference

CLASSIFIERS: Mapping[str, Any] = MappingProxyType(
    {
        "naive": NaiveBayesClassifier(),
        "sklearn-categorical": CategoricalReference(),
        "sklearn-logistic": logistic_reference(),
    }
)
"""Unfitted estimators by name, the first the one that others are compared with; they are cloned, never fitted."""
