"""What a record may say (Attribute, Schema) and which neuron says it (Layout)."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Int

from bnn.errors import DataError, FileError, SchemaError, unknown_name
from bnn.files import write_atomically

Value = str | bool | int | float
Kind = Literal["nominal", "on_off"]
Coding = Literal["values", "on"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its name and the values it may take, in their declared order.

    Parameters
    ----------
    name
        Column name; unique within a schema.
    values
        Distinct labels (str, bool, int or finite float); a value's position is its code.
    kind
        ``"nominal"``: every value speaks for itself. ``"on_off"``: two values, off then on, such as a pixel.
    bounds
        Of a measurement, whose values are the names of intervals: the ascending numbers between them, one less than
        values. Numbers are then coded by their interval; one on a bound lies above it.

    Raises
    ------
    DataError
        Repeated values, a missing value among them, an ``on_off`` attribute without exactly two, or bounds that do not
        part the values.

    Examples
    --------
    >>> Attribute("legs", (0, 2, 4)).code(4)
    2
    """

    name: str
    values: tuple[Value, ...]
    kind: Kind = "nominal"
    bounds: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DataError(f"Attribute.name: got {self.name!r}; a name is text.")
        if strange := [v for v in self.values if not isinstance(v, str | int | float)]:
            raise DataError(
                f"Attribute {self.name!r}: {strange[0]!r} is not a value; values are text, bools or numbers."
            )
        if len(set(self.values)) != len(self.values):
            twice = next(v for i, v in enumerate(self.values) if v in self.values[:i])
            raise DataError(f"Attribute {self.name!r}: value {twice!r} is listed twice; values must be distinct.")
        if any(isinstance(v, float) and not math.isfinite(v) for v in self.values):
            raise DataError(f"Attribute {self.name!r}: NaN or infinity is not a value; leave missing values out.")
        if self.kind not in ("nominal", "on_off"):
            raise unknown_name(f"Attribute {self.name!r}.kind", self.kind, ("nominal", "on_off"))
        if self.kind == "on_off" and len(self.values) != 2:
            raise DataError(
                f"Attribute {self.name!r}: an on_off attribute has two values, off and on; got {len(self.values)}."
            )
        if self.bounds is not None and not self._parted(self.bounds):
            raise DataError(
                f"Attribute {self.name!r}.bounds: got {self.bounds} for {len(self.values)} intervals; give ascending, "
                "finite numbers, one less than intervals."
            )

    def _parted(self, bounds: tuple[float, ...]) -> bool:
        """Whether the bounds part as many intervals as there are values."""
        ascending = all(low < high for low, high in pairwise(bounds))
        return len(bounds) == len(self.values) - 1 and ascending and all(map(math.isfinite, bounds))

    def code(self, value: Value) -> int:
        """Position of a value, its code in `Records`; an unknown one is an error naming the nearest."""
        try:
            return self.values.index(value)
        except ValueError:
            raise unknown_name(f"Attribute {self.name!r}", value, self.values) from None


@dataclass(frozen=True, slots=True, repr=False)
class Schema:
    """The attributes of a table or a set of patterns, in order.

    Parameters
    ----------
    attributes
        At least one, names distinct.
    target
        Name of the attribute a classifier predicts, or None. To a network it is one more attribute [B 2.2].
    shape
        Shape of one pattern, for pictures, such as ``(28, 28)``; None for tables.

    Examples
    --------
    >>> schema = Schema((Attribute("hair", (0, 1)), Attribute("legs", (0, 2, 4))))
    >>> schema.names, schema.sizes
    (('hair', 'legs'), (2, 3))
    """

    attributes: tuple[Attribute, ...]
    target: str | None = None
    shape: tuple[int, ...] | None = None
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    sizes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = tuple(a.name for a in self.attributes)
        index = {name: i for i, name in enumerate(names)}
        if not names:
            raise DataError("Schema.attributes: got none; a schema needs at least one attribute.")
        if len(index) != len(names):
            twice = next(n for i, n in enumerate(names) if index[n] != i)
            raise DataError(f"Schema.attributes: {twice!r} appears twice; attribute names must be distinct.")
        if self.target is not None and self.target not in index:
            raise unknown_name("Schema.target", self.target, names)
        if self.shape is not None and math.prod(self.shape) != len(names):
            raise DataError(f"Schema.shape: {self.shape} does not hold {len(names)} attributes.")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "sizes", tuple(len(a.values) for a in self.attributes))
        object.__setattr__(self, "_index", index)

    def __repr__(self) -> str:
        target = "" if self.target is None else f", target {self.target!r}"
        return f"Schema({len(self.names):,} attributes, {sum(self.sizes):,} values{target})"

    def index(self, name: str) -> int:
        """Position of an attribute by name; an unknown one is an error naming the nearest."""
        if name not in self._index:
            raise unknown_name("Schema", name, self.names)
        return self._index[name]

    def __getitem__(self, name: str) -> Attribute:
        """The attribute of that name."""
        return self.attributes[self.index(name)]

    def difference(self, other: Schema) -> str | None:
        """First difference from another schema, in words; None where codes mean the same in both."""
        if len(self.names) != len(other.names):
            return f"{len(self.names)} attributes against {len(other.names)}"
        for mine, theirs in zip(self.attributes, other.attributes, strict=True):
            if mine.name != theirs.name:
                return f"attribute {mine.name!r} against {theirs.name!r}"
            if mine.kind != theirs.kind:
                return f"attribute {mine.name!r} is {mine.kind} against {theirs.kind}"
            for a, b in zip(mine.values, theirs.values, strict=False):
                if a != b:
                    return f"attribute {mine.name!r}, value {a!r} against {b!r}"
            if len(mine.values) != len(theirs.values):
                return f"attribute {mine.name!r}, {len(mine.values)} values against {len(theirs.values)}"
            if mine.bounds != theirs.bounds:
                return f"attribute {mine.name!r}, bounds {mine.bounds} against {theirs.bounds}"
        return None

    def require_same(self, other: Schema, owner: str) -> None:
        """Raise `SchemaError`, naming the first difference, unless codes mean the same in both schemas."""
        if self is not other and (difference := self.difference(other)) is not None:
            raise SchemaError(
                f"{owner}: the schemas differ: {difference}; widen both with schema.union(other) first, or read one "
                "table with the schema of the other."
            )

    def union(self, other: Schema) -> Schema:
        """Widen to hold another schema's values too: ours keep their codes, new ones follow in their order.

        Raises
        ------
        SchemaError
            Attributes of other names, kinds or bounds: those are different tables, not wider ones.
        """
        if self.names != other.names:
            raise SchemaError(
                f"Schema.union: {self.difference(other) or 'the attributes come in another order'}; "
                "only values can be widened, attributes must be the same."
            )
        merged = []
        for mine, theirs in zip(self.attributes, other.attributes, strict=True):
            new = tuple(v for v in theirs.values if v not in mine.values)
            if mine.kind != theirs.kind:
                raise SchemaError(f"Schema.union: attribute {mine.name!r} is {mine.kind} against {theirs.kind}.")
            if mine.bounds != theirs.bounds:
                raise SchemaError(
                    f"Schema.union: attribute {mine.name!r} is cut at {mine.bounds} against {theirs.bounds}; read one "
                    "table with the schema of the other."
                )
            merged.append(replace(mine, values=mine.values + new) if new else mine)
        return Schema(tuple(merged), self.target, self.shape)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, the inverse of `from_json`."""
        return {
            "attributes": [
                {"name": a.name, "values": list(a.values), "kind": a.kind}
                | ({} if a.bounds is None else {"bounds": list(a.bounds)})
                for a in self.attributes
            ],
            "target": self.target,
            "shape": None if self.shape is None else list(self.shape),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a JSON file; `load` reads it.

        Raises
        ------
        FileError
            The folder does not exist, the name is a folder, or the system refuses.
        """
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n"
        write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Schema:
        """Read what `save` wrote, or what was written by hand alike.

        Raises
        ------
        FileError
            A file that is missing, cannot be read, or is no JSON.
        SchemaError
            JSON that is no schema.
        """
        try:
            return Schema.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise FileError(f"Schema.load: {str(path)!r} cannot be read: {error.strerror or error}.") from error
        except ValueError as error:
            if isinstance(error, SchemaError):
                raise
            raise FileError(
                f"Schema.load: {str(path)!r} is no JSON file ({error}); write it by Schema.save."
            ) from error

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Schema:
        """Rebuild a schema from `to_json`; anything malformed is a `SchemaError`."""
        try:
            attributes = tuple(_attribute_from_json(a) for a in data["attributes"])
            shape = None if data.get("shape") is None else tuple(map(int, data["shape"]))
            return Schema(attributes, data.get("target"), shape)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise SchemaError(
                f"Schema.from_json: malformed schema ({error!r}); write it with schema.to_json()."
            ) from error


def _attribute_from_json(data: Mapping[str, Any]) -> Attribute:
    bounds = data.get("bounds")
    return Attribute(
        data["name"], tuple(data["values"]), data["kind"], None if bounds is None else tuple(map(float, bounds))
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """Which neuron stands for which attribute = value; neurons of one attribute are neighbours.

    Parameters
    ----------
    schema
        What the records say.
    coding
        ``"values"``: k neurons for k values (one-of-k, [B 2.2]). ``"on"``: a two-valued attribute owns one neuron,
        on for its second value; an attribute of three or more values still owns one a value, the binarisation of
        [B appendix]. Presence and binary coding are both ``"on"``: only the rule differs.

    Attributes
    ----------
    attribute, value
        int64 [neurons]: the attribute of each neuron, and the value code that switches it on.
    start
        int64 [attributes + 1]: neurons ``start[a]`` to ``start[a + 1] - 1`` belong to attribute a.
    single
        bool [attributes]: the attribute's one neuron says on or off; elsewhere exactly one of its neurons is on.

    Examples
    --------
    >>> schema = Schema((Attribute("hair", ("no", "yes")), Attribute("legs", (0, 2, 4))))
    >>> Layout(schema, "on").names
    ('hair = yes', 'legs = 0', 'legs = 2', 'legs = 4')
    """

    schema: Schema
    coding: Coding
    attribute: Int[np.ndarray, " neurons"] = field(init=False, repr=False, compare=False)
    value: Int[np.ndarray, " neurons"] = field(init=False, repr=False, compare=False)
    start: Int[np.ndarray, " attributes_and_one"] = field(init=False, repr=False, compare=False)
    single: Bool[np.ndarray, " attributes"] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.coding not in ("values", "on"):
            raise unknown_name("Layout.coding", self.coding, ("values", "on"))
        sizes = np.array(self.schema.sizes, dtype=np.int64)
        single = (sizes == 2) & (self.coding == "on")
        owned = np.where(single, 1, sizes)
        start = np.concatenate([[0], np.cumsum(owned)])
        attribute = np.repeat(np.arange(len(sizes)), owned)
        value = np.arange(start[-1]) - start[attribute] + single[attribute]
        for name, array in (("attribute", attribute), ("value", value), ("start", start), ("single", single)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @staticmethod
    def default(schema: Schema, coding: Coding | None = None) -> Layout:
        """The given coding, or else ``"on"`` for patterns (every attribute on_off) and ``"values"`` for tables."""
        patterns = all(a.kind == "on_off" for a in schema.attributes)
        return Layout(schema, coding or ("on" if patterns else "values"))

    @property
    def neurons(self) -> int:
        """Number of neurons."""
        return len(self.attribute)

    @property
    def names(self) -> tuple[str, ...]:
        """One readable name a neuron: ``"legs = 4"``, or just the attribute's name where it is on_off and single."""
        out = []
        for a, v in zip(self.attribute.tolist(), self.value.tolist(), strict=True):
            owner = self.schema.attributes[a]
            alone = owner.kind == "on_off" and self.coding == "on"
            out.append(owner.name if alone else f"{owner.name} = {owner.values[v]}")
        return tuple(out)

    def neurons_of(self, attributes: str | Iterable[str]) -> Int[np.ndarray, " chosen"]:
        """Indices of all neurons of the named attribute or attributes."""
        chosen = [attributes] if isinstance(attributes, str) else list(attributes)
        return np.flatnonzero(np.isin(self.attribute, [self.schema.index(name) for name in chosen]))

    def require_same(self, other: Layout, owner: str) -> None:
        """Raise `SchemaError` unless both layouts number the same neurons alike."""
        self.schema.require_same(other.schema, owner)
        if self.coding != other.coding:
            raise SchemaError(f"{owner}: the layouts differ: coding {self.coding!r} against {other.coding!r}.")
