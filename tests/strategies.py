"""Hypothesis strategies for schemas, records and patterns."""

from contextlib import contextmanager

import jaxtyping
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bnn.patterns import pattern_schema
from bnn.records import Records
from bnn.schema import Attribute, Schema

NAMES = st.text(alphabet="abcdexyz_ ", min_size=1, max_size=6)
TEXTS = st.text(alphabet="abcxyzé0 1<-", min_size=1, max_size=5)


@contextmanager
def unchecked():
    """Switch the type checker off: what users see who pass something the annotations do not allow.

    Strategies need it too, since beartype picks the entries it looks at by `random`, which hypothesis forbids there.
    """
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


@st.composite
def attribute_values(draw, min_values=1, max_values=5):
    """Distinct values of one type: text, bools, integers or floats with fractions."""
    kind = draw(st.sampled_from(["text", "bool", "int", "float"] if min_values <= 2 <= max_values else ["text", "int"]))
    if kind == "bool":
        return (False, True)
    of_kind = {
        "text": TEXTS,
        "int": st.integers(-1000, 1000),
        "float": st.integers(-50, 50).map(lambda i: i + 0.25),
    }[kind]
    return tuple(draw(st.lists(of_kind, min_size=min_values, max_size=max_values, unique=True)))


@st.composite
def schemas(draw, min_attributes=1, max_attributes=5, min_values=1, max_values=5, target=False):
    """Schemas of a table; with ``target=True`` the last attribute is the target."""
    names = draw(st.lists(NAMES, min_size=min_attributes, max_size=max_attributes, unique=True))
    values = [draw(attribute_values(min_values, max_values)) for _ in names]
    with unchecked():
        return Schema(tuple(map(Attribute, names, values)), names[-1] if target else None)


def on_off_schema(neurons):
    """The schema of patterns of so many neurons."""
    return pattern_schema((neurons,))


@st.composite
def codes(draw, schema, min_rows=1, max_rows=20, gaps=True):
    """int64 [rows, attributes]: codes of a schema, -1 = missing where ``gaps``."""
    rows = draw(st.integers(min_rows, max_rows))
    low = -1 if gaps else 0
    columns = [draw(hnp.arrays(np.int64, rows, elements=st.integers(low, max(low, k - 1)))) for k in schema.sizes]
    return np.stack(columns, axis=1)


@st.composite
def records(draw, schema=None, min_rows=1, max_rows=20, gaps=True, weights=False):
    """Records of a table: of the given schema, or of a drawn one."""
    schema = draw(schemas()) if schema is None else schema
    drawn = draw(codes(schema, min_rows, max_rows, gaps))
    row_weight = draw(row_weights(len(drawn))) if weights else None
    with unchecked():
        return Records(drawn, schema, row_weight)


def row_weights(rows):
    """float64 [rows]: weights with few binary digits, zeros among them."""
    return hnp.arrays(np.float64, rows, elements=st.integers(0, 40).map(lambda i: i / 8))


@st.composite
def patterns(draw, min_rows=1, max_rows=12, min_neurons=1, max_neurons=8, gaps=False):
    """float64 [patterns, neurons] in {0, 1}, with NaN = unknown where ``gaps``."""
    shape = draw(st.tuples(st.integers(min_rows, max_rows), st.integers(min_neurons, max_neurons)))
    cells = st.sampled_from([0.0, 1.0, np.nan] if gaps else [0.0, 1.0])
    return draw(hnp.arrays(np.float64, shape, elements=cells))


@st.composite
def pattern_records(draw, gaps=False, **sizes):
    """Records of patterns, one on_off attribute a neuron."""
    drawn = draw(patterns(gaps=gaps, **sizes))
    with unchecked():
        return Records.from_patterns(drawn)
