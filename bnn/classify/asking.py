"""What to ask next: how much knowing an attribute would tell of the class, before it is known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float64

from bnn.classify.naive import NaiveBayesClassifier
from bnn.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """How much each unknown attribute of a case is expected to tell of its class.

    Attributes
    ----------
    attributes
        Names.
    entropy
        [rows], bits: what is not known of the class, -sum over c of P(c | case) log2 P(c | case).
    drops
        [rows, attributes], bits: the expected drop of that entropy, never below 0; NaN where the attribute is known
        already or its values were never counted.
    """

    attributes: tuple[str, ...]
    entropy: Float64[np.ndarray, " rows"]
    drops: Float64[np.ndarray, "rows attributes"]

    def ranked(self, row: int = 0) -> list[tuple[str, float]]:
        """Unknown attributes of a row with their expected drops, the largest first."""
        drops = self.drops[row]
        order = np.argsort(-drops, kind="stable")  # NaN comes last
        return [(self.attributes[a], float(drops[a])) for a in order.tolist() if not np.isnan(drops[a])]


def what_to_ask(classifier: Any, X: Any) -> Questions:
    """Expected drop of class entropy from knowing each attribute that a case leaves unknown.

    Of an attribute with values v it is I(C; V | case) = H(C | case) - sum over v of P(v | case) H(C | case, v), where
    P(v | case) = sum over c of P(c | case) P(v | c): attributes are independent within a class, as naive Bayes has it.
    P(v | c) is what the gains amount to, P(v) 2^gain normalised over v. A cost of asking is not weighed.

    Parameters
    ----------
    classifier
        A fitted `NaiveBayesClassifier`, also with other ``priors``.
    X
        Rows, as for its ``predict_proba``.

    Raises
    ------
    DataError
        Another classifier, whose attributes are not independent within a class.

    Examples
    --------
    >>> X = [["red", 1], ["red", 2], ["blue", 1], ["blue", 2]]
    >>> classifier = NaiveBayesClassifier().fit(X, ["apple", "apple", "plum", "plum"])
    >>> questions = what_to_ask(classifier, [[None, None]])
    >>> [(name, round(drop, 3)) for name, drop in questions.ranked()], questions.entropy.tolist()
    ([('x0', 0.189), ('x1', 0.0)], [1.0])
    """
    if not isinstance(classifier, NaiveBayesClassifier):
        raise DataError(
            f"what_to_ask.classifier: got {type(classifier).__name__}, in which what a value says depends on other "
            "values; give a NaiveBayesClassifier."
        )
    codes = classifier.read_codes(X)
    given = classifier.predict_proba(X)
    entropy = _entropy(given)
    names = classifier.codebook_.schema.names
    drops = np.full(codes.shape, np.nan)
    for a, (first, last) in enumerate(pairwise([0, *np.cumsum(classifier.codebook_.sizes).tolist()])):
        unknown = codes[:, a] < 0
        chances = _chances(classifier, slice(first, last))
        if chances is None or not unknown.any():
            continue
        joint = given[unknown, None, :] * chances  # P(v, c | case) [rows, values, classes]
        value = joint.sum(axis=2)
        after = np.divide(joint, value[..., None], out=np.zeros_like(joint), where=value[..., None] > 0)
        left = (value * _entropy(after)).sum(axis=1)
        drops[unknown, a] = np.maximum(0.0, entropy[unknown] - left)  # rounding, where it tells nothing
    return Questions(names, entropy, drops)


def _chances(classifier: NaiveBayesClassifier, span: slice) -> Float64[np.ndarray, "values classes"] | None:
    """P(v | c) of one attribute; None where none of its values was counted."""
    counted = classifier.counts_.joint[span].sum(axis=1)
    if not counted.any():
        return None
    chances = counted[:, None] * np.exp2(classifier.gains_[span])
    total = chances.sum(axis=0)
    divided: np.ndarray = np.divide(chances, total, out=np.zeros_like(chances), where=total > 0)
    return divided


def _entropy(chances: Float64[np.ndarray, "*rows classes"]) -> Float64[np.ndarray, "*rows"]:
    """Entropy in bits; an impossible class adds nothing."""
    bits = np.log2(chances, out=np.zeros_like(chances), where=chances > 0)
    entropy: np.ndarray = -(chances * bits).sum(axis=-1)
    return entropy
