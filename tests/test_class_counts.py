import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from strategies import unchecked

from bnn.classify.class_counts import ClassCounts, split
from bnn.errors import DataError, SchemaError
from bnn.kernels import threads
from bnn.kernels.classes import count_classes
from bnn.records import Records
from bnn.schema import Attribute, Layout, Schema


@st.composite
def targeted(draw, schema=None, weights=False):
    """Records whose last attribute is the target, known in every row."""
    if schema is None:
        schema = draw(strategies.schemas(min_attributes=2, target=True))
        with unchecked():
            target = Attribute(schema.names[-1], tuple(f"class {c}" for c in range(schema.sizes[-1])))
            schema = Schema((*schema.attributes[:-1], target), target.name)
    codes = draw(strategies.codes(schema))
    codes[:, -1] = np.maximum(codes[:, -1], 0)
    row_weight = draw(strategies.row_weights(len(codes))) if weights else None
    with unchecked():
        return Records(codes, schema, row_weight)


def obvious(records):
    """joint and totals, record by record."""
    schema = records.schema
    start = np.concatenate([[0], np.cumsum(schema.sizes[:-1])])
    joint = np.zeros((start[-1], schema.sizes[-1]))
    totals = np.zeros(schema.sizes[-1])
    for r, codes in enumerate(records.codes.tolist()):
        weight = 1 if records.weights is None else records.weights[r]
        totals[codes[-1]] += weight
        for a, code in enumerate(codes[:-1]):
            if code >= 0:
                joint[start[a] + code, codes[-1]] += weight
    return joint, totals


@given(st.booleans().flatmap(lambda weights: targeted(weights=weights)))
def test_they_are_what_counting_record_by_record_gives(records):
    counts = ClassCounts.of(records)
    joint, totals = obvious(records)
    assert np.array_equal(counts.joint / counts.scale, joint)
    assert np.array_equal(counts.totals / counts.scale, totals)
    assert counts.rows == totals.sum()
    of_first = counts.attribute == 0
    assert np.array_equal(counts.known[0], counts.joint[of_first].sum(axis=0))


@given(targeted(weights=True), st.integers(0, 20))
def test_they_are_a_group(records, cut):
    whole, some, rest = (ClassCounts.of(r) for r in (records, records[:cut], records[cut:]))
    assert some + rest == whole == rest + some == sum([some, rest])
    assert whole - some == rest
    assert whole != whole + whole or whole.rows == 0


def test_weighted_and_unweighted_counts_add():
    table = {"x": ["a", "b"], "class": ["p", "q"]}
    plain = ClassCounts.of(Records.from_table(table, target="class"))
    weighted = ClassCounts.of(Records.from_table(table, target="class", weights=[0.5, 0.25]))
    assert (plain + weighted).rows == 2.75
    assert plain + weighted - weighted == plain
    assert ClassCounts.of(Records.from_table(table, target="class", weights=[1, 1])) == plain


@given(targeted(), st.randoms(use_true_random=False))
def test_relabelling_values_and_classes_permutes_rows_and_columns(records, random):
    shuffled = [random.sample(a.values, len(a.values)) for a in records.schema.attributes]
    attributes = [Attribute(a.name, tuple(v)) for a, v in zip(records.schema.attributes, shuffled, strict=True)]
    schema = Schema(tuple(attributes[:-1]))
    counts = ClassCounts.of(records)
    moved = counts.widen(schema, attributes[-1])
    for i, name in enumerate(Layout(counts.schema, "values").names):
        j = Layout(schema, "values").names.index(name)
        for c, label in enumerate(counts.target.values):
            assert moved.joint[j, attributes[-1].values.index(label)] == counts.joint[i, c]
    assert moved.widen(counts.schema, counts.target) == counts


def test_widening_takes_in_values_and_classes():
    one = ClassCounts.of(Records.from_table({"x": ["a", "b"], "class": ["p", "p"]}, target="class"))
    two = ClassCounts.of(Records.from_table({"x": ["c", None], "class": ["o", "p"]}, target="class"))
    schema, target = one.schema.union(two.schema), Attribute("class", ("o", "p"))
    both = one.widen(schema, target) + two.widen(schema, target)
    assert both.joint.tolist() == [[0, 1], [0, 1], [1, 0]]
    assert both.totals.tolist() == [1, 3]
    with pytest.raises(SchemaError, match=r"ClassCounts.widen: the schema lacks some of ours"):
        one.widen(two.schema, target)
    with pytest.raises(SchemaError, match=r"ClassCounts.widen: the target lacks our class 'p'; keep all classes\."):
        one.widen(schema, Attribute("class", ("o",)))
    with pytest.raises(SchemaError, match=r"ClassCounts: the schemas differ"):
        one + two
    with pytest.raises(SchemaError, match=r"ClassCounts: the classes differ: \['p'\] against \['o', 'p'\]; widen both"):
        one.widen(schema, one.target) + both


@pytest.mark.parametrize(
    ("taken", "message"),
    [
        ({"x": ["a"], "class": ["q"]}, r"1 - 2 records of class 'q' would be left\b|0 - 1 records of class 'q'"),
        ({"x": ["b"], "class": ["p"]}, "0 - 1 records of class 'p' would be left with 'x = b'"),
        ({"x": [None], "class": ["p"]}, "0 - 1 records of class 'p' would be left with 'x' unknown"),
    ],
)
def test_what_was_never_counted_cannot_be_forgotten(taken, message):
    schema = Schema((Attribute("x", ("a", "b")), Attribute("class", ("p", "q"))), "class")
    counts = ClassCounts.of(Records.from_table({"x": ["a", "a"], "class": ["p", "p"]}, schema=schema))
    with pytest.raises(DataError, match=message):
        counts - ClassCounts.of(Records.from_table(taken, schema=schema))


def test_a_target_is_needed_and_known_everywhere():
    table = {"x": ["a", "b"], "y": ["p", None]}
    with pytest.raises(DataError, match=r"ClassCounts.of.records: they have no target beside other attributes"):
        split(Records.from_table(table))
    with pytest.raises(DataError, match=r"ClassCounts.of.records: row 1 has no 'y'; leave out rows whose class"):
        split(Records.from_table(table, target="y"))


def test_wrong_arrays_are_refused():
    schema, target = Schema((Attribute("x", ("a", "b")),)), Attribute("class", ("p",))
    with unchecked(), pytest.raises(DataError, match=r"ClassCounts.joint: needs int64 \[2, 1\] for this schema; got f"):
        ClassCounts(schema, target, np.zeros((2, 1)), np.zeros(1, np.int64))
    with pytest.raises(DataError, match=r"ClassCounts.totals: got 3 of scale 7; give 0 to"):
        ClassCounts(schema, target, np.zeros((2, 1), np.int64), np.array([3]), 7)
    counts = ClassCounts(schema, target, np.zeros((2, 1), np.int64), np.array([3]))
    with pytest.raises(ValueError, match="read-only"):
        counts.joint[0, 0] = 1
    assert repr(counts) == "ClassCounts(3 records, 1 attributes, 2 values, 1 classes)"
    with pytest.raises(TypeError):
        counts + 1
    assert counts != 1


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("dtype", "values"), [(np.uint8, 200), (np.int16, 3000), (np.int8, 3)])
@pytest.mark.parametrize("number", [1, 3, 300])
def test_the_kernel_counts_every_shape_of_table_on_any_number_of_threads(order, dtype, values, number):
    rng = np.random.default_rng(0)
    low = 0 if dtype == np.uint8 else -1
    codes = np.asarray(rng.integers(low, values, (40_000, 5)).astype(dtype), order=order)
    classes, weights = rng.integers(0, number, 40_000).astype(np.int32), rng.integers(0, 1 << 21, 40_000)
    sizes = np.full(5, values)
    expected, weighted = np.zeros((2, 5 * values, number), np.int64)
    for a in range(5):
        known = codes[:, a] >= 0
        place = (codes[known, a].astype(np.int64) + a * values, classes[known])
        np.add.at(expected, place, 1)
        np.add.at(weighted, place, weights[known])
    with threads.threads(3):
        joint, totals = count_classes(codes, sizes, classes, number)
        joint_by_weight, totals_by_weight = count_classes(codes, sizes, classes, number, weights)
        none, _ = count_classes(codes[:0], sizes, classes[:0], number)
    assert np.array_equal(joint, expected)
    assert np.array_equal(joint_by_weight, weighted)
    assert np.array_equal(totals, np.bincount(classes, minlength=number))
    assert np.array_equal(totals_by_weight, np.bincount(classes, weights, number))
    assert none.sum() == 0
