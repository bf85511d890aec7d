"""Counts against a slow twin, as an exact group, and every sentence they refuse with."""

import dataclasses
import re
from collections import Counter

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from bnn import counting, memory
from bnn.counts import Counts
from bnn.errors import DataError, FileError, SchemaError
from bnn.files import read_tensors, write_tensors
from bnn.kernels import threads
from bnn.learning import learn
from bnn.records import Records
from bnn.schema import Attribute, Layout, Schema

SCALE = counting.SCALE
CODINGS = st.sampled_from(["values", "on"])
ANIMALS = Schema((Attribute("hair", ("no", "yes")), Attribute("legs", (0, 2, 4)), Attribute("tail", ("no", "yes"))))


def animals(*codes, weights=None):
    return Records(np.array(codes, dtype=np.int8).reshape(-1, 3), ANIMALS, weights)


@st.composite
def several_records(draw, number, weights=None, max_values=5, **sizes):
    """So many Records of one schema; ``weights`` None draws whether they have any."""
    schema = draw(strategies.schemas(max_values=max_values))
    weighted = [draw(st.booleans()) if weights is None else weights for _ in range(number)]
    return [draw(strategies.records(schema, min_rows=0, weights=w, **sizes)) for w in weighted]


def joined(*parts):
    """One Records of the rows of several."""
    codes = np.concatenate([p.codes for p in parts])
    weights = [np.ones(len(p)) if p.weights is None else p.weights for p in parts]
    return Records(codes, parts[0].schema, np.concatenate(weights))


# --- what they are


@given(several_records(1) | strategies.pattern_records(gaps=True).map(lambda r: [r]), CODINGS)
def test_counts_equal_their_definition(records, coding):
    (records,) = records
    counts = Counts.of(records, coding)
    assert counts.scale == (1 if records.weights is None else SCALE)
    joint, on, known, rows = oracles.counts(records, Layout(records.schema, coding), counts.scale)
    assert counts.rows == rows
    for got, expected in ((counts.joint, joint), (counts.on, on), (counts.known, known)):
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, expected)


def test_the_coding_defaults_to_on_for_patterns_and_values_for_tables():
    assert Counts.of(Records.from_patterns([[0, 1]])).layout.coding == "on"
    assert Counts.of(animals([0, 1, 1])).layout.coding == "values"


@given(several_records(1), CODINGS, st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(records, coding, random):
    (records,) = records
    order = random.sample(range(len(records)), len(records))
    assert Counts.of(records[np.array(order, dtype=int)], coding) == Counts.of(records, coding)


@given(several_records(1), st.randoms(use_true_random=False))
def test_relabelling_values_permutes_everything(records, random):
    (records,) = records
    order = [random.sample(range(k), k) for k in records.schema.sizes]  # new code -> old code
    attributes = tuple(
        Attribute(a.name, tuple(a.values[v] for v in old))
        for a, old in zip(records.schema.attributes, order, strict=True)
    )
    codes = np.full_like(records.codes, -1)
    for a, old in enumerate(order):
        for new, code in enumerate(old):
            codes[records.codes[:, a] == code, a] = new
    counts = Counts.of(records, "values")
    relabelled = Counts.of(Records(codes, Schema(attributes), records.weights), "values")
    place = np.concatenate([s + np.array(o) for s, o in zip(counts.layout.start, order, strict=False)])
    np.testing.assert_array_equal(relabelled.joint, counts.joint[np.ix_(place, place)])
    np.testing.assert_array_equal(relabelled.on, counts.on[place])
    np.testing.assert_array_equal(relabelled.known, counts.known)


@given(several_records(1, weights=False), CODINGS, st.data())
def test_a_whole_weight_is_a_repeated_record(records, coding, data):
    (records,) = records
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records))), dtype=int)
    weighted = Records(records.codes, records.schema, times.astype(float))
    assert Counts.of(weighted, coding) == Counts.of(records[np.repeat(np.arange(len(records)), times)], coding)


def test_weights_are_rounded_once_to_units_of_a_millionth():
    counts = Counts.of(animals([1, 2, 1], [0, 1, 1], weights=np.array([0.1, 0.2])))
    assert counts.rows == round(0.1 * SCALE) + round(0.2 * SCALE)
    assert repr(counts) == "Counts(0.3 records, 3 attributes, 7 neurons)"


def test_counts_do_not_depend_on_threads_types_or_memory_order():
    codes = np.random.default_rng(0).integers(-1, 3, (70_000, 5))
    schema = Schema(tuple(Attribute(f"x{i}", (0, 1, 2)) for i in range(5)))
    wide = Schema((*schema.attributes[:4], Attribute("x4", tuple(range(200)))))  # its codes need int16
    whole = Counts.of(Records(codes, schema))
    for number in (1, 2):
        with threads.threads(number):
            for order in ("C", "F"):
                assert Counts.of(Records(np.array(codes, order=order), schema)) == whole
                assert Counts.of(Records(np.array(codes, order=order), wide)) == whole.widen(wide)


def test_counts_go_on_exactly_past_2_to_53():
    much = Counts.of(animals([1, 2, 1], [1, 2, 1], weights=np.array([2.0**40, 2.0**-20])))
    one = Counts.of(animals([1, 2, 1]))
    assert (much + one).rows == (1 << 60) + 1 + SCALE
    assert (much + one).joint.max() == (1 << 60) + 1 + SCALE
    assert much + one - much == one


# --- an exact group


@given(several_records(2), CODINGS)
def test_adding_is_exact_and_subtracting_undoes_it(records, coding):
    a, b = (Counts.of(r, coding) for r in records)
    assert a + b == Counts.of(joined(*records), coding)
    assert a + b == b + a
    assert a + b - b == a
    assert a + b - a == b
    assert (a - a).rows == 0
    assert not (a - a).joint.any()


@given(several_records(3), CODINGS)
def test_chunks_merge_to_the_whole(records, coding):
    parts = [Counts.of(r, coding) for r in records]
    assert sum(parts) == Counts.of(joined(*records), coding)


@settings(max_examples=150)
@given(several_records(2, weights=False, max_rows=4, max_values=3), CODINGS)
def test_subtracting_is_refused_just_where_records_of_some_kind_would_be_owed(records, coding):
    def with_missing_as_a_value(r):
        attributes = tuple(Attribute(a.name, (*a.values, "(missing)")) for a in r.schema.attributes)
        codes = np.where(r.codes < 0, r.schema.sizes, r.codes)
        every = Records(codes, Schema(attributes))
        return oracles.counts(every, Layout(every.schema, "values"))[0]

    a, b = (Counts.of(r, coding) for r in records)
    owed = (with_missing_as_a_value(records[0]) - with_missing_as_a_value(records[1])).min() < 0
    if not owed:
        assert a - b + b == a
    else:
        with pytest.raises(DataError, match=r"^Counts: \d+ .* take away only records that were counted\.$"):
            a - b


@given(several_records(2), CODINGS)
def test_broadcasts_stay_broadcasts_and_mix_with_gaps_exactly(records, coding):
    filled = [Records(np.maximum(r.codes, 0), r.schema, r.weights) for r in records]
    complete, more = (Counts.of(r, coding) for r in filled)
    gaps = Counts.of(records[0], coding)
    for counts in (complete, more, complete + more, complete + more - more):
        assert counts.on.strides[1] == 0
        assert counts.known.strides == (0, 0)
    assert complete + gaps - complete == gaps
    assert complete + gaps - gaps == complete
    assert complete + gaps == Counts.of(joined(filled[0], records[0]), coding)


@given(strategies.records(gaps=False), CODINGS)
def test_equal_needs_the_same_numbers_for_the_same_neurons(records, coding):
    counts = Counts.of(records, coding)
    joint = counts.joint.copy()
    joint[0, 0] += 1
    assert counts == dataclasses.replace(counts)
    assert counts != dataclasses.replace(counts, joint=joint)
    assert counts != dataclasses.replace(counts, rows=counts.rows + 1)
    assert counts != dataclasses.replace(counts, scale=SCALE)
    assert counts != counts.joint.tolist()
    other = Schema((Attribute("another", records.schema.attributes[0].values), *records.schema.attributes[1:]))
    assert counts != dataclasses.replace(counts, layout=Layout(other, coding))


def test_counts_differ_in_another_coding():
    records = animals([1, 2, 1])
    assert Counts.of(records, "values") != Counts.of(records, "on")


def test_counts_take_no_other_operands():
    counts = Counts.of(animals([1, 2, 1]))
    for other in (1, None):
        with strategies.unchecked(), pytest.raises(TypeError, match="unsupported operand"):
            counts + other
        with strategies.unchecked(), pytest.raises(TypeError, match="unsupported operand"):
            counts - other
        with pytest.raises(TypeError, match="unsupported operand"):
            other + counts


def test_counts_cannot_be_written_to_and_leave_the_caller_s_arrays_alone():
    counts = Counts.of(animals([1, 2, 1]))
    mine = counts.joint.copy()
    made = dataclasses.replace(counts, joint=mine)
    for array in (made.joint, made.on, made.known):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 7
    mine[0, 0] += 1
    assert mine.flags.writeable


# --- other neurons, more values


@given(several_records(1))
def test_select_equals_counting_in_that_coding(records):
    (records,) = records
    values = Counts.of(records, "values")
    assert values.select("values") is values
    assert values.select("on") == Counts.of(records, "on")
    assert values.select("on").on.strides[1] == values.on.strides[1]


@given(several_records(1), CODINGS, st.data())
def test_widening_equals_counting_under_the_wider_schema(records, coding, data):
    (records,) = records
    attributes, codes = [], records.codes.astype(np.int64)
    for a, attribute in enumerate(records.schema.attributes):
        values = data.draw(st.permutations([*attribute.values, *range(5000, data.draw(st.integers(5000, 5002)))]))
        attributes.append(Attribute(attribute.name, tuple(values)))
        new = np.array([values.index(v) for v in attribute.values] + [-1])
        codes[:, a] = new[codes[:, a]]
    schema = Schema(tuple(attributes))
    widened = Counts.of(records, coding).widen(schema)
    assert widened == Counts.of(Records(codes, schema, records.weights), coding)
    assert widened.layout.coding == coding


@given(several_records(2), CODINGS)
def test_counts_of_different_values_add_once_widened(records, coding):
    first, second = records
    starred = tuple(Attribute(a.name, tuple(f"{v}*" for v in a.values)) for a in second.schema.attributes)
    second = Records(second.codes, Schema(starred), second.weights)
    a, b = Counts.of(first, coding), Counts.of(second, coding)
    with pytest.raises(SchemaError, match=r"Counts: the schemas differ: attribute .*; widen both with schema.union"):
        a + b
    schema = first.schema.union(second.schema)
    both = a.widen(schema) + b.widen(schema)
    assert both.rows / both.scale == pytest.approx(a.rows / a.scale + b.rows / b.scale)
    assert both - b.widen(schema) == a.widen(schema)


def test_widening_forgets_no_value():
    counts = Counts.of(animals([1, 2, 1]))
    fewer = Schema((ANIMALS.attributes[0], Attribute("legs", (0, 2)), ANIMALS.attributes[2]))
    with pytest.raises(SchemaError, match=r"Counts.widen: the schema lacks some of ours: .*'legs'.*; use ours.union"):
        counts.widen(fewer)
    with pytest.raises(SchemaError, match="only values can be widened, attributes must be the same"):
        counts.widen(Schema((Attribute("legs", (0, 2, 4)),)))


def test_selecting_more_neurons_is_refused():
    with pytest.raises(DataError, match=r"Counts.select: coding 'on' has too few neurons for 'values'; use Counts.of"):
        Counts.of(animals([1, 2, 1]), "on").select("values")
    with (
        strategies.unchecked(),
        pytest.raises(DataError, match=r"Layout.coding: there is no 'value'; did you mean 'values'\?"),
    ):
        Counts.of(animals([1, 2, 1])).select("value")


# --- what is refused

DEBTS = [
    ("values", [[1, 2, 1], [0, 1, 1]], [[1, 0, 1]], "0 - 1 records would be left with 'legs = 0'"),
    ("values", [[1, 0, 1], [0, 2, 0]], [[1, 2, 0]], "0 - 1 records would be left with 'hair = yes' and 'legs = 4'"),
    ("on", [[1, 0, 1], [0, 2, 0]], [[0, 0, 0]], "0 - 1 records would be left with 'legs = 0', but not 'hair = yes'"),
    ("on", [[1, 0, 0], [0, 2, 1]], [[0, 1, 0]], "0 - 1 records would be left with 'legs = 2'"),
    ("on", [[1, 0, 1], [1, 2, 1]], [[0, 2, 1]], "0 - 1 records would be left without 'hair = yes'"),
    (
        "on",
        [[1, 0, 0], [0, 0, 1]],
        [[0, 0, 0]],
        "0 - 1 records would be left with neither 'hair = yes' nor 'tail = yes'",
    ),
    ("values", [[1, 2, 1]], [[1, 2, -1]], "0 - 1 records would be left with 'tail' unknown"),
    (
        "values",
        [[1, -1, 1], [0, 2, 1]],
        [[0, -1, 1]],
        "0 - 1 records would be left with 'hair = no', but 'legs' unknown",
    ),
    (
        "values",
        [[-1, 2, 1], [1, -1, 1]],
        [[-1, -1, 1]],
        "0 - 1 records would be left with both 'hair' and 'legs' unknown",
    ),
    (
        "on",
        [[-1, 0, 1], [0, 0, 0]],
        [[-1, 0, 0]],
        "0 - 1 records would be left without 'tail = yes', and 'hair' unknown",
    ),
]


@pytest.mark.parametrize(("coding", "counted", "forgotten", "sentence"), DEBTS)
def test_forgetting_what_was_not_counted_names_the_first_kind_of_record(coding, counted, forgotten, sentence):
    left, right = Counts.of(animals(*counted), coding), Counts.of(animals(*forgotten), coding)
    remedy = "; take away only records that were counted."
    with pytest.raises(DataError, match=f"^{re.escape(f'Counts: {sentence}{remedy}')}$"):
        left - right
    halves = Counts.of(animals(*forgotten, weights=np.full(len(forgotten), 0.5)), coding)
    with pytest.raises(DataError, match=re.escape(f"Counts: {sentence.replace('0 - 1', '0 - 0.5')}{remedy}")):
        left - halves


def test_forgetting_more_records_than_there_are():
    one, two = Counts.of(animals([1, 2, 1])), Counts.of(animals([1, 2, 1], [1, 2, 1]))
    with pytest.raises(DataError, match=r"^Counts: 2 records cannot be taken from 1; take away only records that were"):
        one - two


def test_counts_of_other_codings_do_not_mix():
    records = animals([1, 2, 1])
    with pytest.raises(SchemaError, match=r"Counts: the layouts differ: coding 'values' against 'on'\."):
        Counts.of(records, "values") + Counts.of(records, "on")


def test_weights_too_large_for_exact_counts():
    with pytest.raises(DataError, match=r"Counts.of: the weights add up to 1e\+300; scale them to less than 2\*\*42\."):
        Counts.of(animals([1, 2, 1], weights=np.array([1e300])))
    half = Counts.of(animals([1, 2, 1], weights=np.array([2.0**41])))
    with pytest.raises(
        DataError, match=r"Counts.rows: got 4611686018427387904 of scale 1048576; give 0 to 2\*\*62 - 1"
    ):
        half + half
    many = dataclasses.replace(Counts.of(animals([1, 2, 1])), rows=1 << 50)
    with pytest.raises(DataError, match=r"Counts.rows: got \d+ of scale 1048576; give 0 to 2\*\*62 - 1, of scale 1 or"):
        many + half


def test_more_values_than_memory_name_the_attribute(monkeypatch):
    def with_ids(number):
        return Schema((Attribute("legs", (0, 2, 4)), Attribute("id", tuple(range(number)))))

    sentence = (
        r"Counts: 20003 neurons need 3\.2 GB for their pairs, more than the free memory; "
        r"attribute 'id' alone has 20000 values: drop or discretize it\."
    )
    counts = Counts.of(Records(np.zeros((1, 2), dtype=np.int16), with_ids(9)))
    monkeypatch.setattr(memory, "free_memory", lambda: 3.9e9)
    with pytest.raises(DataError, match=sentence):
        Counts.of(Records(np.zeros((1, 2), dtype=np.int16), with_ids(20_000)))
    with pytest.raises(DataError, match=sentence):
        counts.widen(with_ids(20_000))


def test_free_memory_is_that_of_a_machine():
    assert 1e7 < memory.free_memory() < 1e15


@pytest.mark.parametrize(("limit", "left"), [("1000000", 700000.0), ("max", None), ("100", 0.0)])
@pytest.mark.parametrize("names", [("max", "current"), ("limit_in_bytes", "usage_in_bytes")])
def test_a_container_has_the_memory_it_is_given(tmp_path, monkeypatch, names, limit, left):
    folder = tmp_path if names[0] == "max" else tmp_path / "memory"
    folder.mkdir(exist_ok=True)
    for name, told in zip((*names, "stat"), (limit, "500000", "anon 7\ninactive_file 200000\n"), strict=True):
        (folder / f"memory.{name}").write_text(told)
    whole = memory.free_memory()
    monkeypatch.setattr(memory, "GROUPS", tmp_path)
    # Without a limit it is the machine's, which other programs use meanwhile
    assert memory.free_memory() == (left if left is not None else pytest.approx(whole, rel=0.5))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"joint": np.zeros((2, 2), dtype=np.int64)},
            r"Counts.joint: needs int64 \[7, 7\] for this layout; got int64 \[2, 2\]",
        ),
        (
            {"on": np.zeros((7, 2), dtype=np.int64)},
            r"Counts.on: needs int64 \[7, 3\] for this layout; got int64 \[7, 2\]",
        ),
        ({"known": np.zeros((1, 3), dtype=np.int64)}, r"Counts.known: needs int64 \[3, 3\] .* got int64 \[1, 3\]"),
        ({"rows": -1}, r"Counts.rows: got -1 of scale 1; give 0 to 2\*\*62 - 1, of scale 1 or 2\*\*20"),
        ({"scale": 3}, r"Counts.rows: got 1 of scale 3; give 0"),
    ],
)
def test_tables_must_fit_their_layout(change, sentence):
    with strategies.unchecked(), pytest.raises(DataError, match=sentence):
        dataclasses.replace(Counts.of(animals([1, 2, 1])), **change)


# --- files


@given(records=several_records(1) | strategies.pattern_records(gaps=True).map(lambda r: [r]), coding=CODINGS)
def test_what_was_saved_loads_exactly(tmp_path_factory, records, coding):
    path = tmp_path_factory.getbasetemp() / "counts.safetensors"
    counts = Counts.of(records[0], coding)
    counts.save(path)
    loaded = Counts.load(path)
    assert loaded == counts
    assert loaded.layout.schema == counts.layout.schema
    assert (loaded.rows, loaded.scale) == (counts.rows, counts.scale)
    assert loaded.on.strides[1] == counts.on.strides[1]


def test_broadcasts_are_saved_small(tmp_path):
    counts = Counts.of(Records.from_patterns(np.eye(50)))
    counts.save(tmp_path / "counts.safetensors")
    arrays, _ = read_tensors(tmp_path / "counts.safetensors", "counts")
    assert (arrays["on"].shape, arrays["known"].shape) == ((50, 1), (1, 1))


@pytest.mark.parametrize(
    ("name", "value"),
    [("rows", "many"), ("rows", -1), ("scale", 7), ("coding", "of"), ("schema", {}), ("schema", None), ("rows", None)],
)
def test_a_damaged_file_is_refused(tmp_path, name, value):
    path = tmp_path / "counts.safetensors"
    Counts.of(animals([1, 2, 1])).save(path)
    arrays, header = read_tensors(path, "counts")
    write_tensors(path, arrays, header | {name: value}, "counts")
    with (
        strategies.unchecked(),
        pytest.raises(
            FileError, match=r"counts.safetensors: its counts are damaged \(.*\); count the records again\.$"
        ),
    ):
        Counts.load(path)


@pytest.mark.parametrize("name", ["joint", "on", "known"])
def test_a_file_without_an_array_or_with_another_shape_is_refused(tmp_path, name):
    path = tmp_path / "counts.safetensors"
    Counts.of(animals([1, 2, 1])).save(path)
    arrays, header = read_tensors(path, "counts")
    for broken in ({k: v for k, v in arrays.items() if k != name}, arrays | {name: np.zeros((9, 9), dtype=np.int64)}):
        write_tensors(path, broken, header, "counts")
        with (
            strategies.unchecked(),
            pytest.raises(
                FileError, match=r"counts.safetensors: its counts are damaged \(.*\); count the records again"
            ),
        ):
            Counts.load(path)


def test_weights_too_small_for_their_unit_are_refused():
    patterns = Records.from_patterns(np.ones((4, 2)))
    for weights in (np.full(4, 2.0**-22), np.full(4, 1e-300)):
        with pytest.raises(DataError, match=r"too small for the unit 2\*\*-20 .*; multiply all weights by a common"):
            Counts.of(Records(patterns.codes, patterns.schema, weights))
    mixed = Counts.of(Records(patterns.codes, patterns.schema, np.array([1.0, 1.0, 1.0, 1e-9])))
    assert mixed.records == 3.0


# --- counted elsewhere


@given(several_records(1), CODINGS)
def test_aggregates_count_as_their_rows_do(records, coding):
    (records,) = records
    table = records.to_table().to_pylist()
    grouped = Counter(tuple(row.values()) for row in table)
    if not grouped:
        return
    columns = {name: [row[a] for row in grouped] for a, name in enumerate(records.schema.names)}
    weight = "n" if "n" not in columns else "how many"
    columns[weight] = list(grouped.values())
    counts = Counts.from_aggregates(columns, weight, schema=records.schema, coding=coding)
    plain = Records(records.codes, records.schema)
    assert counts == Counts.of(plain, coding)
    assert counts.scale == 1


def test_aggregates_may_have_fractions():
    counts = Counts.from_aggregates({"legs": [2, 4], "share": [0.25, 0.75]}, "share")
    assert counts.scale == SCALE
    assert counts.records == 1.0


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ({"m": [1, 2]}, "Counts.from_aggregates.weight: there is no 'n'"),
        ({"n": [1, -2]}, "column 'n': weights are finite and not negative; row 1 has -2"),
        ({"n": [1, None]}, "column 'n': weights are finite and not negative; row 1 has nan"),
        ({"n": ["one", "two"]}, "Counts.from_aggregates: column 'n': got <U3"),
    ],
)
def test_aggregates_without_numbers_are_refused(column, sentence):
    with pytest.raises(DataError, match=re.escape(sentence)):
        Counts.from_aggregates({"legs": [2, 4]} | column)


# --- forgetting by and by


@given(several_records(1), CODINGS, st.floats(0.1, 50.0), st.floats(0.0, 5.0))
def test_decay_scales_every_number_and_keeps_parts_below_wholes(records, coding, half_life, elapsed):
    counts = Counts.of(records[0], coding)
    decayed = counts.decay(half_life, elapsed)
    factor = 2 ** (-elapsed / half_life)
    for name in ("joint", "on", "known"):
        expected = getattr(counts, name) * (factor / counts.scale)
        np.testing.assert_allclose(getattr(decayed, name) / SCALE, expected, rtol=1e-12, atol=0.5 / SCALE)
    attribute = counts.layout.attribute
    assert (decayed.joint <= decayed.on[:, attribute]).all()
    assert (decayed.on <= decayed.known[attribute]).all()
    assert (decayed.known <= decayed.rows).all()


def test_one_half_life_is_half_a_record():
    # Exact: halves and quarters are whole numbers of 2**-20
    counts = Counts.of(animals([0, 1, 1], [1, 1, 0]))
    assert counts.decay(1.0) + counts.decay(1.0) == counts
    assert counts.decay(1.0).decay(1.0) == counts.decay(0.5)
    assert counts.decay(3.0, elapsed=0.0) == counts


@given(strategies.pattern_records(gaps=True, min_rows=2), st.integers(1, 12))
def test_odds_of_decayed_counts_stay_finite(records, half_lives):
    counts = Counts.of(records)
    for _ in range(half_lives):
        counts = counts.decay(0.9)
    if counts.rows:
        assert np.isfinite(learn(counts, "odds", m=1e-9).weights.numpy()).all()


def test_nothing_is_taken_from_decayed_counts(tmp_path):
    counts = Counts.of(animals([0, 1, 1], [1, 1, 0]))
    decayed = counts.decay(2.0)
    assert not counts.decayed
    decayed.save(tmp_path / "c")
    for kept in (decayed, decayed + counts, counts + decayed, decayed.select("on"), Counts.load(tmp_path / "c")):
        assert kept.decayed
        with pytest.raises(DataError, match="are decayed, and what is rounded cannot be taken away"):
            kept - kept
    with pytest.raises(DataError, match="are decayed"):
        counts - decayed.widen(ANIMALS)
    assert decayed + counts == counts + decayed


@pytest.mark.parametrize("times", [(0.0, 1.0), (-1.0, 1.0), (np.inf, 1.0), (np.nan, 1.0), (1.0, -1.0), (1.0, np.inf)])
def test_times_of_decay_are_checked(times):
    with pytest.raises(DataError, match=re.escape(f"got half_life {times[0]!r}, elapsed {times[1]!r}")):
        Counts.of(animals([0, 1, 1])).decay(*times)
