"""The description of the interface for programs, drawn from its own OpenAPI schema without anything from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from bnn.web.frame import card
from bnn.web.widgets import text


def describe(prefix: str, schema: Mapping[str, Any]) -> None:
    """Draw a card for each operation: what it is for, what it takes, what it answers."""
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            with card(f"{method.upper()} {prefix}{path}"):
                text("p", operation["summary"])
                asked = operation.get("requestBody")
                if asked is not None:
                    model = _model(schema, asked)
                    _fields("Asks", schema, model)
                    body = {n: f["examples"][0] for n, f in model["properties"].items() if f.get("examples")}
                    line = f"curl -s -H 'Content-Type: application/json' -d '{json.dumps(body)}' ADDRESS{prefix}{path}"
                    text("pre", line, "example").props["tabindex"] = "0"
                _fields("Answers", schema, _model(schema, operation["responses"]["200"]))


def _fields(title: str, schema: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """A table of the fields of a model."""
    with ui.element("table").classes("bars fields"):
        text("caption", title)
        for name, field in model["properties"].items():
            with ui.element("tr"):
                text("th", name).props["scope"] = "row"
                text("td", kind_of(schema, field))
                text("td", field.get("description", ""))


def _model(schema: Mapping[str, Any], content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model that a body consists of."""
    return _followed(schema, content["content"]["application/json"]["schema"])


def _followed(schema: Mapping[str, Any], field: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference refers to, or the field itself."""
    if "$ref" not in field:
        return field
    found: Mapping[str, Any] = schema["components"]["schemas"][field["$ref"].rpartition("/")[2]]
    return found


def kind_of(schema: Mapping[str, Any], field: Mapping[str, Any]) -> str:
    """The type of a field in words.

    Examples
    --------
    >>> kind_of({}, {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 1}, "maxItems": 5})
    'list of integer from 0 to 1, at most 5'
    >>> kind_of({}, {"anyOf": [{"type": "string"}, {"type": "null"}]})
    'string or null'
    """
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(kind_of(schema, one) for one in field["anyOf"]))
    if "enum" in field:
        return "one of " + ", ".join(map(str, field["enum"]))
    field = _followed(schema, field)
    kind = str(field.get("type", "value"))
    most = field.get("maxItems", field.get("maxProperties"))
    limit = "" if most is None else f", at most {most:,}"
    if kind == "array":
        return f"list of {kind_of(schema, field['items'])}{limit}"
    if kind == "object":
        parts = field.get("additionalProperties")
        inside = kind_of(schema, parts) if isinstance(parts, dict) else ", ".join(field.get("properties", {}))
        return f"object of {inside}{limit}"
    low, high = field.get("minimum"), field.get("maximum", field.get("exclusiveMaximum"))
    return kind if low is None or high is None or low == -high else f"{kind} from {low:g} to {high:.10g}"
