"""One visitor in the consulting room: a case, what a classifier says of it, and why."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float64

from bnn.classify.asking import what_to_ask
from bnn.classify.explanation import Explanation
from bnn.classify.naive import NaiveBayesClassifier
from bnn.driver import recall
from bnn.dynamics import WinnerTakeAll
from bnn.errors import DataError, unknown_name
from bnn.web.cases import representative, table_of
from bnn.web.shelf import Subject

LEAST = 1e-3
"""Least probability that the slider of the prior reaches, and the same short of 1."""


class ConsultSession:
    """What one visitor does in the consulting room, without anything of a page.

    Parameters
    ----------
    subject
        What is consulted.
    case
        Known values to begin with, as text, such as an address tells.

    Attributes
    ----------
    subject
        What is consulted.
    codes
        Position of each known attribute's value among those learned.
    prior
        The class whose prior was set and its probability, or None: the priors learned.

    Raises
    ------
    DataError
        A case with an attribute or value that was not learned.

    Examples
    --------
    >>> from bnn.web.shelf import shelf_of
    >>> session = ConsultSession(shelf_of().subject("zoo"))
    >>> session.choose("milk", "1")
    >>> session.answer()
    ('mammal', 0.97)
    """

    def __init__(self, subject: Subject, case: Mapping[str, str] | None = None) -> None:
        self.subject = subject
        self.codes: dict[str, int] = {}
        self.prior: tuple[int, float] | None = None
        for attribute, value in (case or {}).items():
            self.choose(attribute, value)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes."""
        names: tuple[str, ...] = self.subject.classifier.codebook_.schema.names
        return names

    @property
    def classes(self) -> list[str]:
        """The classes, as text."""
        return [str(label) for label in self.subject.classifier.classes_.tolist()]

    @property
    def case(self) -> dict[str, str]:
        """Known values, as text."""
        return {name: self.values(name)[code] for name, code in self.codes.items()}

    @property
    def answers_to_priors(self) -> bool:
        """Whether other priors can be put in front."""
        return "priors" in self.subject.classifier.get_params(deep=False)

    def values(self, attribute: str) -> list[str]:
        """Values of an attribute that were learned, as text; of a measurement its intervals."""
        if attribute not in self.attributes:
            raise unknown_name("case", attribute, self.attributes)
        return [str(value) for value in self.subject.classifier.codebook_.schema[attribute].values]

    def choose(self, attribute: str, value: str | None) -> None:
        """Set an attribute, or make it unknown with None.

        Raises
        ------
        DataError
            An attribute or a value that was not learned.
        """
        values = self.values(attribute)
        if value is None:
            self.codes.pop(attribute, None)
        elif value not in values:
            raise unknown_name(f"case.{attribute}", value, values)
        else:
            self.codes[attribute] = values.index(value)

    def suppose(self, label: str, probability: float | None) -> None:
        """Suppose that a class is so frequent, the others in proportion as before; None: as learned."""
        if label not in self.classes:
            raise unknown_name("prior", label, self.classes)
        self.prior = (
            None if probability is None else (self.classes.index(label), float(np.clip(probability, LEAST, 1 - LEAST)))
        )

    def priors(self) -> Float64[np.ndarray, " classes"]:
        """Probability of each class before anything is known."""
        learned = self._learned_priors()
        if self.prior is None:
            return learned
        place, probability = self.prior
        rest = learned.sum() - learned[place]
        supposed: Float64[np.ndarray, " classes"] = learned * (1.0 - probability) / rest
        supposed[place] = probability
        return supposed

    def copy(self) -> ConsultSession:
        """The same case, which what happens here does not change: for another thread."""
        other = ConsultSession(self.subject)
        other.codes, other.prior = dict(self.codes), self.prior
        return other

    def explanation(self) -> Explanation:
        """Why the classifier answers as it does; one row."""
        told: Explanation = self._classifier().explain(self._table())
        return told

    def probabilities(self) -> Float64[np.ndarray, " classes"]:
        """Probability of each class."""
        found: Float64[np.ndarray, " classes"] = self._classifier().predict_proba(self._table())[0]
        return found

    def answer(self) -> tuple[str, float]:
        """The most probable class, and its probability to two digits."""
        chances = self.probabilities()
        return self.classes[int(chances.argmax())], round(float(chances.max()), 2)

    def to_ask(self) -> list[tuple[str, float]]:
        """Unknown attributes with the drop of class entropy to expect, the largest first; none where untold."""
        if not isinstance(self.subject.classifier, NaiveBayesClassifier):
            return []
        return what_to_ask(self._classifier(), self._table()).ranked()

    def recalled(self, attribute: str) -> str:
        """Value of one unknown attribute by recall from the known ones; it changes nothing here.

        The network of the attributes settles with all that is known clamped and the rest silent; the value is the one
        of largest posterior.

        Raises
        ------
        DataError
            A model from a file, which holds no pairs of attributes; an attribute that has a value.
        """
        values = self.values(attribute)
        if attribute in self.codes:
            raise DataError(f"{attribute}: is {values[self.codes[attribute]]!r}; make it unknown to have it filled in.")
        network = self.subject.network()
        start = network.layout.start
        cue = np.full(network.neurons, np.nan)
        for name, code in self.codes.items():
            place = network.layout.schema.index(name)
            first, last = int(start[place]), int(start[place + 1])
            cue[first:last] = np.arange(last - first) == code if last - first > 1 else float(code)
        others = [name for name in self.attributes if name != attribute]
        trace = recall(network, cue, WinnerTakeAll(), clamp=others, input="prior", seed=0)
        return str(trace.decode()[attribute][0].as_py())

    def _classifier(self) -> Any:
        """The classifier with the priors that are supposed."""
        if self.prior is None:
            return self.subject.classifier
        return copy.copy(self.subject.classifier).set_params(priors=self.priors())

    def _learned_priors(self) -> Float64[np.ndarray, " classes"]:
        """The priors that were learned: what is answered where nothing is known."""
        classifier = self.subject.classifier
        learned: Float64[np.ndarray, " classes"] = classifier.predict_proba(table_of(classifier, [{}]))[0]
        return learned

    def _table(self) -> Any:
        """The case as a table of one row."""
        columns = self.subject.classifier.codebook_.columns
        shown = {c.attribute.name: c for c in columns}
        known = {name: representative(shown[name], code) for name, code in self.codes.items()}
        return table_of(self.subject.classifier, [known])
