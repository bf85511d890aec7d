"""What a network's class neurons hear: their weights, exact, and the field they give to the states of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float64, Integer
from scipy.optimize import minimize_scalar

from bnn.classify.base import Training
from bnn.counts import Counts
from bnn.kernels.scores import to_log2_probabilities
from bnn.network import Network
from bnn.records import Records
from bnn.rules.base import Connections, Rule, two_layers
from bnn.schema import Attribute, Layout, Schema

Scores = Float64[np.ndarray, "rows classes"]
SMALLEST, LARGEST = -20.0, 20.0
"""log2 of the scales that are looked through."""


@dataclass(frozen=True, slots=True, eq=False)
class Readout:
    """Connections of the class neurons to all others, as the rule makes them, not rounded as those of a `Network` are.

    The class is the last attribute of the layout. Its neurons are silent in their own field, and have no bias: where a
    rule gives them one, it is their prior, which the classifier puts in front itself.

    Attributes
    ----------
    layout
        The neurons of the network.
    low
        State of a neuron that is off.
    weights
        [class neurons, neurons]: W(c, i), 0 from class neurons.
    evidence
        [class neurons, attributes]: what knowing an attribute adds, whatever its state (odds form).
    threshold
        [class neurons]: what is taken away from it all.
    """

    layout: Layout
    low: int
    weights: Float64[np.ndarray, "own neurons"]
    evidence: Float64[np.ndarray, "own attributes"]
    threshold: Float64[np.ndarray, " own"]

    @staticmethod
    def of(
        counts: Counts,
        rule: Rule,
        options: Mapping[str, Any],
        kept: Bool[np.ndarray, "neurons neurons"] | None = None,
    ) -> Readout:
        """Evaluate a rule for the connections between the last attribute and the others alone.

        ``kept`` says which of them there are, as the ``mask`` of `bnn.learn` by neurons does; None: all.
        """
        layout = counts.layout
        names = layout.schema.names
        layers = two_layers(layout.schema, names[-1:])
        if kept is not None:
            layers = kept & layers[np.ix_(layout.attribute, layout.attribute)]
        connections = Connections(layout, mask=layers)
        draft = rule.function(counts, connections, np.dtype(np.float64), **options)
        own = slice(int(layout.start[-2]), int(layout.start[-1]))
        weights = draft.weights[own].astype(np.float64) * (draft.unit or 1.0)
        weights[:, own] = 0.0
        evidence = np.zeros((len(weights), len(names)))
        if draft.silence is not None:
            evidence = draft.silence[own].astype(np.float64)
        return Readout(layout, draft.low, weights, evidence, np.zeros(len(weights)))

    def gains(self) -> Float64[np.ndarray, "values classes"]:
        """What each value of each other attribute says for each class; the values attribute by attribute."""
        sizes = self.layout.schema.sizes[:-1]
        attribute = np.repeat(np.arange(len(sizes)), sizes)
        value = np.arange(len(attribute)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        codes = np.full((len(attribute), len(sizes) + 1), -1)
        codes[np.arange(len(codes)), attribute] = value
        return self.by_class(self._heard(self.states(codes), codes >= 0))

    def states(self, codes: Integer[np.ndarray, "rows attributes"]) -> Float64[np.ndarray, "rows neurons"]:
        """States of the neurons of coded rows: 1 on, ``low`` off, 0 unknown."""
        own = codes[:, self.layout.attribute]
        on: np.ndarray = np.where(own == self.layout.value, 1.0, np.where(own < 0, 0.0, float(self.low)))
        return on

    def fields(self, states: Float[np.ndarray, "rows neurons"], known: Bool[np.ndarray, "rows attributes"]) -> Scores:
        """Field of each class, of graded or discrete states, 0 where unknown."""
        return self.by_class(self._heard(states, known) - self.threshold)

    def mean_heard(self, counts: Counts) -> Float64[np.ndarray, " own"]:
        """Mean over the counted records of what the class neurons hear."""
        states, known = mean_states(counts, self.low)
        mean: np.ndarray = self.weights @ states + self.evidence @ known
        return mean

    def lifted(self, threshold: Float64[np.ndarray, " own"]) -> Readout:
        """The same with thresholds."""
        return replace(self, threshold=threshold)

    def by_class(self, heard: Float64[np.ndarray, "rows own"]) -> Scores:
        """One column a class: of two classes that share a neuron, the first is its being off."""
        if not self.layout.single[-1]:
            return heard
        return np.concatenate([np.zeros_like(heard), heard], axis=1)

    def _heard(
        self, states: Float[np.ndarray, "rows neurons"], known: Bool[np.ndarray, "rows attributes"]
    ) -> Float64[np.ndarray, "rows own"]:
        heard: np.ndarray = states.astype(np.float64) @ self.weights.T + known @ self.evidence.T
        return heard


def mean_states(counts: Counts, low: int) -> tuple[Float64[np.ndarray, " neurons"], Float64[np.ndarray, " attributes"]]:
    """Mean state of each neuron over the counted records, unknown being 0, and how often each attribute is known."""
    attribute = counts.layout.attribute
    known = np.diagonal(counts.known) / counts.rows
    on = counts.on[np.arange(len(attribute)), attribute] / counts.rows
    return on + low * (known[attribute] - on), known


def mean_field(counts: Counts, network: Network) -> Float64[np.ndarray, " neurons"]:
    """Mean of what each neuron hears from the others over the counted records, their classes known.

    Examples
    --------
    >>> import bnn
    >>> records = bnn.Records.from_patterns([[1, 1], [1, 0], [0, 0]])
    >>> network = bnn.learn(records, "hopfield")  # W = (2 - 1)/3, states -1 and 1
    >>> mean_field(Counts.of(records, "on"), network).round(3).tolist()  # W times the other's mean: -1/3 and 1/3
    [-0.111, 0.111]
    """
    states, known = mean_states(counts, network.low)
    field: np.ndarray = network.table.cpu().double().numpy() @ states
    if network.silence is not None:
        field += network.silence.cpu().double().numpy() @ known
    return field


def fitted_scale(
    prior: Float64[np.ndarray, " classes"],
    fields: Scores,
    classes: Integer[np.ndarray, " rows"],
    weights: Float64[np.ndarray, " rows"],
) -> float:
    """The g of least log loss of P(c) proportional to P(c) 2^(g h_c), where the loss is convex in g.

    One record more, spread over the classes, keeps it finite where every row is answered right.

    Examples
    --------
    >>> fields = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> g = fitted_scale(np.log2([0.5, 0.5]), fields, np.array([1, 1, 1, 0]), np.ones(4))
    >>> round(2**g / (1 + 2**g), 3)  # (3 * 4 + 4/2) / (4 * 5)
    0.7
    """
    total, number = float(weights.sum()), len(prior)
    target = np.full(fields.shape, 1.0 / number)
    target[np.arange(len(classes)), classes] += total
    target *= weights[:, None] / (total + 1.0)

    def loss(log2_scale: float) -> float:
        answers = prior + 2.0**log2_scale * fields
        to_log2_probabilities(answers)
        return -float((target * answers).sum())

    found = minimize_scalar(loss, bounds=(SMALLEST, LARGEST), method="bounded", options={"xatol": 1e-6})
    return float(2.0**found.x)


def with_class(schema: Schema, target: Attribute) -> Schema:
    """The attributes and, last, the class, under a name that is free."""
    name = target.name
    while name in schema.names:
        name += "_"
    return Schema((*schema.attributes, replace(target, name=name)))


def labelled(training: Training) -> Records:
    """Training rows with their class as the last attribute."""
    codes = np.concatenate([training.records.codes.astype(np.int32), training.classes[:, None]], axis=1)
    return Records(codes, with_class(training.records.schema, training.target), training.records.weights)


def unlabelled(codes: Integer[np.ndarray, "rows attributes"]) -> Integer[np.ndarray, "rows attributes"]:
    """Codes whose last attribute, the class, is unknown."""
    codes = codes.copy()
    codes[:, -1] = -1
    return codes
