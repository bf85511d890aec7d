"""The classifiers by name, which `bnn compare` runs and `bnn fit` learns."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bnn.classify.naive import NaiveBayesClassifier
from bnn.classify.network_classifier import NetworkClassifier
from bnn.classify.references import CategoricalReference, logistic_reference
from bnn.classify.semi_naive import SemiNaiveBayesClassifier
from bnn.classify.successive import SuccessiveBayesClassifier
from bnn.classify.tree import TreeBayesClassifier

CLASSIFIERS: Mapping[str, Any] = MappingProxyType(
    {
        "naive": NaiveBayesClassifier(),
        "semi-naive": SemiNaiveBayesClassifier(),
        "tree": TreeBayesClassifier(),
        "chain": TreeBayesClassifier("chain"),
        "successive": SuccessiveBayesClassifier(),
        "network": NetworkClassifier(random_state=0),
        "hopfield": NetworkClassifier("hopfield", random_state=0),
        "sklearn-categorical": CategoricalReference(),
        "sklearn-logistic": logistic_reference(),
    }
)
"""Unfitted estimators by name, the first the one that others are compared with; they are cloned, never fitted."""
