"""BayesHead: a naive Bayesian classifier as the last layer of a torch model; and the delta rule of [S 2]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from bnn.classify.class_counts import ClassCounts
from bnn.classify.gains import Cells, chosen_gains, gain_table, prior_bits
from bnn.classify.naive import NaiveBayesClassifier
from bnn.errors import DataError
from bnn.schema import Layout

LN2 = math.log(2.0)


class BayesHead(torch.nn.Module):
    """Natural logarithm of P(C) from the probabilities of attribute values: naive Bayes, ready to be trained further.

    ln P(C | V) = ln P(C) + sum over values of V(i) ln P(C|i)/P(C), normalised over the classes: each value adds the
    information it is expected to give [B eq 8, 10]. Of one-hot blocks that is `NaiveBayesClassifier.predict_log_proba`;
    a block of zeros is a missing attribute, or a value never learned. It starts at the counted weights and is
    differentiable in them and in its input, so it can sit on another network's softmax outputs; trained by gradient
    it becomes logistic regression [T 9.3]. Make one with `BayesHead.of`; take the classifier itself where nothing is
    to be trained.

    Parameters
    ----------
    sizes
        Number of values of each attribute.
    classes
        Number of classes.
    dtype
        Of the weights. In torch.float64 the output equals the classifier's to rounding; in torch.float32 long sums
        err by some 1e-6.

    Attributes
    ----------
    weight
        [classes, values], the gains in natural units: bits times ln 2. The values attribute by attribute.
    bias
        [classes], ln P(C).

    Examples
    --------
    >>> X, y = [["red", "big"], ["red", "small"], ["blue", "small"]], ["apple", "apple", "plum"]
    >>> classifier = NaiveBayesClassifier().fit(X, y)
    >>> head = BayesHead.of(classifier)
    >>> answer = head(one_hot(classifier, [["red", None]])).exp()
    >>> bool(np.allclose(answer.detach(), classifier.predict_proba([["red", None]])))
    True
    """

    def __init__(self, sizes: Sequence[int], classes: int, dtype: torch.dtype = torch.float64) -> None:
        super().__init__()
        self.sizes = tuple(int(size) for size in sizes)
        self.weight = torch.nn.Parameter(torch.zeros(classes, sum(self.sizes), dtype=dtype))
        self.bias = torch.nn.Parameter(torch.full((classes,), -math.log(classes), dtype=dtype))

    @staticmethod
    def of(
        learned: Any,
        estimate: str = "m",
        m: float = 2.0,
        dtype: torch.dtype = torch.float64,
    ) -> BayesHead:
        """Make a head that starts at counted weights.

        Parameters
        ----------
        learned
            A fitted `NaiveBayesClassifier`, with its estimate and priors; or `ClassCounts`.
        estimate, m
            Of counts alone: how they become weights, as in `NaiveBayesClassifier`.
        dtype
            Of the weights.

        Raises
        ------
        DataError
            Anything else; weights that are infinite, from counts of zero that are not smoothed; a classifier that
            judges numbers by all intervals, which is no sum of gains.
        """
        if isinstance(learned, ClassCounts):
            cells, chosen = Cells.of(learned), chosen_gains(estimate, "BayesHead.of")
            schema, gains, prior = learned.schema, gain_table(cells, chosen, m), prior_bits(chosen.prior(cells))
        elif isinstance(learned, NaiveBayesClassifier) and hasattr(learned, "classes_"):
            if learned.fuzzy in ("classification", "both"):
                raise DataError(
                    f"BayesHead.of: the classifier has fuzzy={learned.fuzzy!r} and mixes probabilities, not gains; use "
                    "fuzzy=None or 'learning'."
                )
            schema, gains, prior = learned.codebook_.schema, learned.gains_, learned.prior()
        else:
            raise DataError(
                f"BayesHead.of: got {type(learned).__name__}; give a fitted NaiveBayesClassifier, or ClassCounts."
            )
        _require_finite(gains, prior, Layout(schema, "values").names)
        head = BayesHead(schema.sizes, len(prior), dtype)
        with torch.no_grad():
            head.weight.copy_(torch.from_numpy(gains.T * LN2))
            head.bias.copy_(torch.from_numpy(prior * LN2))
        return head

    def forward(self, blocks: Tensor | Sequence[Tensor]) -> Tensor:
        """Natural logarithm of P(C | blocks), [batch, classes].

        Parameters
        ----------
        blocks
            Probability of each value, [batch, values], or a sequence of [batch, size] blocks, one an attribute; a
            block of zeros is unknown. Any floating dtype.
        """
        if not isinstance(blocks, Tensor):
            if (widths := tuple(block.shape[-1] for block in blocks)) != self.sizes:
                raise DataError(f"BayesHead: got blocks of {widths} values; the attributes have {self.sizes}.")
            blocks = torch.cat([block.to(self.weight.dtype) for block in blocks], dim=-1)
        if blocks.shape[-1] != self.weight.shape[1]:
            raise DataError(f"BayesHead: got {blocks.shape[-1]} columns; the attributes have {self.weight.shape[1]}.")
        scores = torch.nn.functional.linear(blocks.to(self.weight.dtype), self.weight, self.bias)
        return torch.log_softmax(scores, dim=-1)

    def extra_repr(self) -> str:
        """What `repr` shows."""
        return f"attributes={len(self.sizes)}, values={sum(self.sizes)}, classes={len(self.bias)}"


def one_hot(
    classifier: NaiveBayesClassifier, X: Any, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "rows values"]:
    """The values of a table as `BayesHead` takes them: 1 for the row's value of each attribute, unknown all 0.

    Parameters
    ----------
    classifier
        Fitted; it says how the table is read.
    X
        Any table, as for its `predict_proba`.
    dtype
        Of the answer.
    """
    codes = classifier.read_codes(X)
    layout = Layout(classifier.codebook_.schema, "values")
    return torch.from_numpy(codes[:, layout.attribute] == layout.value).to(dtype)


def delta_rule(
    classifier: NaiveBayesClassifier, X: Any, y: Any, rounds: int = 100
) -> Float64[np.ndarray, " rounds_and_one"]:
    """The delta rule [S 2]: rows that are answered wrong are given once more, again and again; in place.

    It moves the naive classifier's linear boundaries towards the training rows, and so overfits: [S 2] found that
    answers on new rows become much worse. It is here to show that.

    Parameters
    ----------
    classifier
        Fitted to these rows.
    X, y
        The training rows.
    rounds
        At most so many; it ends earlier when all rows are answered right.

    Returns
    -------
    Share of the training rows answered right, before the first round and after each.

    Examples
    --------
    >>> X, y = [["a"], ["a"], ["b"]], [0, 0, 1]
    >>> delta_rule(NaiveBayesClassifier(m=50).fit(X, y), X, y).round(2).tolist()
    [0.67, 1.0]
    """
    truth = np.asarray(y)
    right = []
    for number in range(rounds + 1):
        wrong = classifier.predict(X) != truth
        right.append(1.0 - float(wrong.mean()))
        if number == rounds or not wrong.any():
            break
        classifier.partial_fit(X, y, sample_weight=wrong.astype(np.float64))
    return np.array(right)


def _require_finite(
    gains: Float64[np.ndarray, "values classes"], prior: Float64[np.ndarray, " classes"], names: tuple[str, ...]
) -> None:
    """Refuse weights from counts of zero."""
    if not np.isfinite(gains).all():
        value, c = np.argwhere(~np.isfinite(gains))[0]
        raise DataError(
            f"BayesHead.of: the gain of {names[value]!r} for class {c} is {gains[value, c]}, which no gradient can "
            "train; use an estimate with m above 0."
        )
    if not np.isfinite(prior).all():
        raise DataError(
            f"BayesHead.of: class {int(np.argmin(np.isfinite(prior)))} has a prior of 0, which no gradient can train; "
            "give priors above 0."
        )
