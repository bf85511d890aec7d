import json
from dataclasses import replace

import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import unchecked

from bnn.errors import DataError, FileError, SchemaError
from bnn.schema import Attribute, Layout, Schema

HAIR = Attribute("hair", ("no", "yes"))
LEGS = Attribute("legs", (0, 2, 4))
ON = Attribute("pixel", (0, 1), "on_off")
ANIMALS = Schema((HAIR, LEGS), target="legs")


def test_a_value_s_code_is_its_position():
    assert [LEGS.code(v) for v in LEGS.values] == [0, 1, 2]
    with pytest.raises(DataError, match=r"Attribute 'hair': there is no 'yess'; did you mean 'yes'\? Known: 'no'"):
        HAIR.code("yess")


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (("a", "b", "a"), "nominal", "'legs': value 'a' is listed twice"),
        ((1, True), "nominal", "value True is listed twice"),
        ((1.5, float("nan")), "nominal", "NaN or infinity is not a value"),
        ((float("inf"),), "nominal", "NaN or infinity is not a value"),
        (("a", None), "nominal", "'legs': None is not a value; values are text, bools or numbers"),
        (("a", ["b"]), "nominal", r"\['b'\] is not a value"),
        ((0, 1), "onoff", r"'legs'.kind: there is no 'onoff'; did you mean 'on_off'\?"),
        ((0, 1, 2), "on_off", "an on_off attribute has two values, off and on; got 3"),
    ],
)
def test_an_attribute_refuses(values, kind, message):
    with unchecked(), pytest.raises(DataError, match=message):
        Attribute("legs", values, kind)


@pytest.mark.parametrize("bounds", [(), (1.0,), (2.0, 1.0), (1.0, 1.0), (1.0, float("inf")), (float("nan"), 1.0)])
def test_bounds_part_the_values(bounds):
    with pytest.raises(DataError, match=r"'age'.bounds: got \(.*\) for 3 intervals; give ascending, finite"):
        Attribute("age", ("young", "grown", "old"), bounds=bounds)


def test_bounds_are_part_of_what_codes_mean():
    young, old = (Schema((Attribute("age", ("less", "more"), bounds=(b,)),)) for b in (30.0, 50.0))
    assert young.difference(old) == "attribute 'age', bounds (30.0,) against (50.0,)"
    assert young.union(young) == young
    with pytest.raises(SchemaError, match=r"attribute 'age' is cut at \(30.0,\) against \(50.0,\); read one table"):
        young.union(old)
    assert Schema.from_json(json.loads(json.dumps(young.to_json()))) == young


def test_a_schema_knows_names_sizes_and_positions():
    assert ANIMALS.names == ("hair", "legs")
    assert ANIMALS.sizes == (2, 3)
    assert ANIMALS.index("legs") == 1
    assert ANIMALS["legs"] is LEGS
    with pytest.raises(DataError, match=r"Schema: there is no 'leg'; did you mean 'legs'\?"):
        ANIMALS["leg"]


@pytest.mark.parametrize(
    ("attributes", "options", "message"),
    [
        ((), {}, "Schema.attributes: got none"),
        ((HAIR, LEGS, HAIR), {}, "'hair' appears twice; attribute names must be distinct"),
        ((HAIR,), {"target": "har"}, r"Schema.target: there is no 'har'; did you mean 'hair'\?"),
        ((HAIR, LEGS), {"shape": (3, 1)}, r"Schema.shape: \(3, 1\) does not hold 2 attributes"),
    ],
)
def test_a_schema_refuses(attributes, options, message):
    with pytest.raises(DataError, match=message):
        Schema(attributes, **options)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ((HAIR,), "2 attributes against 1"),
        ((LEGS, HAIR), "attribute 'hair' against 'legs'"),
        ((HAIR, Attribute("legs", (0, 4, 2))), "attribute 'legs', value 2 against 4"),
        ((HAIR, Attribute("legs", (0, 2))), "attribute 'legs', 3 values against 2"),
        ((HAIR, Attribute("legs", (0, 2, 4, 6))), "attribute 'legs', 3 values against 4"),
        ((Attribute("hair", ("no", "yes"), "on_off"), LEGS), "attribute 'hair' is nominal against on_off"),
    ],
)
def test_the_first_difference_is_named(other, words):
    assert ANIMALS.difference(Schema(other)) == words
    with pytest.raises(SchemaError, match=f"Counts: the schemas differ: {words}; widen both"):
        ANIMALS.require_same(Schema(other), "Counts")


def test_target_and_shape_are_no_difference():
    other = Schema((HAIR, LEGS), shape=(1, 2))
    assert ANIMALS.difference(other) is None
    ANIMALS.require_same(other, "Counts")


@given(strategies.schemas(), st.data())
def test_union_keeps_our_codes_and_appends_theirs(schema, data):
    values = [data.draw(strategies.attribute_values()) for _ in schema.names]
    theirs = Schema(tuple(map(Attribute, schema.names, values)))
    united = schema.union(theirs)
    for mine, other, both in zip(schema.attributes, theirs.attributes, united.attributes, strict=True):
        assert both.values[: len(mine.values)] == mine.values
        assert set(both.values) == set(mine.values) | set(other.values)
    assert united.union(theirs) == united
    assert (united.target, united.shape) == (schema.target, schema.shape)


def test_union_refuses_other_attributes():
    with pytest.raises(SchemaError, match=r"Schema.union: attribute 'hair' against 'legs'; only values can be widened"):
        ANIMALS.union(Schema((LEGS, HAIR)))
    with pytest.raises(SchemaError, match=r"Schema.union: attribute 'hair' is nominal against on_off"):
        ANIMALS.union(Schema((Attribute("hair", ("no", "yes"), "on_off"), LEGS)))


@given(strategies.schemas(target=True))
def test_json_gives_the_schema_back(schema):
    back = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert back == schema
    assert [[type(v) for v in a.values] for a in back.attributes] == [
        [type(v) for v in a.values] for a in schema.attributes
    ]


def test_json_keeps_the_shape_of_pictures():
    schema = replace(strategies.on_off_schema(6), shape=(2, 3))
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"attributes": 3},
        {"attributes": [{"name": "a", "values": [1]}]},
        {"attributes": [{"name": "a", "values": [[1]], "kind": "nominal"}]},
        {"attributes": [{"name": "a", "values": [1, 1], "kind": "nominal"}]},
        {"attributes": []},
        {"attributes": [{"name": "a", "values": [1], "kind": "nominal"}], "shape": ["one"]},
    ],
)
def test_malformed_json_is_a_schema_error(data):
    with (
        unchecked(),
        pytest.raises(SchemaError, match=r"Schema.from_json: malformed schema .*; write it with schema.to_json\(\)"),
    ):
        Schema.from_json(data)


@given(strategies.schemas(), st.sampled_from(["values", "on"]))
def test_a_layout_numbers_every_value_that_owns_a_neuron_once(schema, coding):
    layout = Layout(schema, coding)
    wanted = [
        (a, v)
        for a, attribute in enumerate(schema.attributes)
        for v in range(len(attribute.values))
        if not (coding == "on" and len(attribute.values) == 2 and v == 0)
    ]
    assert list(zip(layout.attribute.tolist(), layout.value.tolist(), strict=True)) == wanted
    assert layout.neurons == len(wanted) == len(layout.names)
    for a, name in enumerate(schema.names):
        own = np.arange(layout.start[a], layout.start[a + 1])
        assert np.array_equal(own, np.flatnonzero(layout.attribute == a))
        assert np.array_equal(own, layout.neurons_of(name))
    assert np.array_equal(layout.neurons_of(schema.names), np.arange(layout.neurons))


def test_neurons_are_named_for_people():
    schema = Schema((HAIR, LEGS, ON))
    assert Layout(schema, "on").names == ("hair = yes", "legs = 0", "legs = 2", "legs = 4", "pixel")
    assert Layout(schema, "values").names[-2:] == ("pixel = 0", "pixel = 1")


def test_patterns_default_to_one_neuron_a_bit_and_tables_to_one_a_value():
    assert Layout.default(Schema((ON,))).coding == "on"
    assert Layout.default(Schema((ON, HAIR))).coding == "values"
    assert Layout.default(Schema((ON,)), "values").coding == "values"


def test_a_layout_cannot_be_written():
    layout = Layout(ANIMALS, "values")
    for array in (layout.attribute, layout.value, layout.start):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_layout_refuses():
    with unchecked(), pytest.raises(DataError, match=r"Layout.coding: there is no 'vals'; did you mean 'values'\?"):
        Layout(ANIMALS, "vals")
    with pytest.raises(DataError, match=r"Schema: there is no 'log'; did you mean 'legs'\?"):
        Layout(ANIMALS, "values").neurons_of(["hair", "log"])


@given(strategies.schemas(), strategies.schemas())
def test_layouts_are_the_same_when_schemas_and_codings_are(one, other):
    assume(one.difference(other) is not None)
    Layout(one, "on").require_same(Layout(one, "on"), "Network")
    with pytest.raises(SchemaError, match="Network: the schemas differ"):
        Layout(one, "on").require_same(Layout(other, "on"), "Network")
    with pytest.raises(SchemaError, match="Network: the layouts differ: coding 'on' against 'values'"):
        Layout(one, "on").require_same(Layout(one, "values"), "Network")


def test_a_schema_survives_a_file(tmp_path):
    path = tmp_path / "schema.json"
    cut = Attribute("größe", ("< 0.1", ">= 0.1"), bounds=(0.1,))
    schema = Schema((HAIR, LEGS, ON, cut, Attribute("wet", (False, True))), target="legs")
    schema.save(path)
    assert Schema.load(path) == schema
    assert [type(v) for v in Schema.load(path)["wet"].values] == [bool, bool]


def test_schema_files_refused(tmp_path):
    path = tmp_path / "schema.json"
    with pytest.raises(FileError, match=r"Schema\.load: '.*schema\.json' cannot be read: No such file"):
        Schema.load(path)
    path.write_text("{")
    with pytest.raises(
        FileError, match=r"Schema\.load: '.*schema\.json' is no JSON file \(.*\); write it by Schema\.save"
    ):
        Schema.load(path)
    path.write_text('{"attributes": [{"name": "x"}]}')
    with pytest.raises(SchemaError, match="malformed schema"):
        Schema.load(path)
    with pytest.raises(FileError, match=r"the folder '.*missing' does not exist"):
        ANIMALS.save(tmp_path / "missing" / "schema.json")
