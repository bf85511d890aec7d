"""The work of ``bnn predict``: load a classifier, read rows as it learned them, answer."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from jaxtyping import Float64

from bnn.app.data import known_table
from bnn.classify.storing import load_classifier


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a classifier says of rows: the classes, the one it predicts for each row, and the probability of each."""

    classes: list[Any]
    predictions: list[Any]
    probabilities: Float64[np.ndarray, "rows classes"]


def answers(model: Path, data: str) -> Answers:
    """Load a classifier and ask it about every row of a table."""
    classifier = load_classifier(model)
    table = known_table(data, classifier)
    return Answers(classifier.classes_.tolist(), classifier.predict(table).tolist(), classifier.predict_proba(table))


def as_csv(found: Answers) -> bytes:
    """The answers as CSV in UTF-8: the prediction, then a column ``P(class)`` of probability each, all digits."""
    names = ["prediction", *(f"P({label})" for label in found.classes)]
    columns = [pa.array(found.predictions), *(pa.array(column) for column in found.probabilities.T)]
    buffer = io.BytesIO()
    pacsv.write_csv(pa.table(columns, names), buffer)
    return buffer.getvalue()
