"""Tables of fields, from the JSON schema of a pydantic model."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import FollowingWindow, PlacementDefinition
from slotwise.service.schemas.item_schema import Item


def placement_fields() -> str:
    """The fields of a placement."""
    return fields_of(PlacementDefinition)


def window_fields() -> str:
    """The fields of a window that follows delays."""
    return fields_of(FollowingWindow)


def item_fields() -> str:
    """The fields of an item."""
    return fields_of(Item)


def decision_fields() -> str:
    """The fields of a decision request."""
    return fields_of(DecisionRequest)


def fields_of(model: type[BaseModel]) -> str:
    """A table of the fields of a model: type and limits, default, description."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    return table_of(schema, schema.get("$defs", {}))


def table_of(schema: dict[str, Any], named: dict[str, Any]) -> str:
    """A table of the properties of an object's schema."""
    lines = ["| field | type | default | meaning |", "| --- | --- | --- | --- |"]
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        default = "required" if name in required else f"`{_json(field['default'])}`" if "default" in field else ""
        lines.append(f"| `{name}` | {type_text(field, named)} | {default} | {plain(field.get('description', ''))} |")
    return "\n".join(lines)


def plain(text: str) -> str:
    """A description on one line, fit for a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _json(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)


def type_text(schema: dict[str, Any], named: dict[str, Any]) -> str:
    """A schema in words.

    >>> type_text({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 100}, {"type": "null"}]}, {})
    'integer, 1 to 100; or null'
    >>> type_text({"type": "array", "items": {"type": "string"}, "maxItems": 3}, {})
    'list of string, at most 3 entries'
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        target = named.get(name, {})
        return type_text(target, named) if "enum" in target or target.get("type") != "object" else "object"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return "; or ".join(dict.fromkeys(type_text(choice, named) for choice in choices))
    if "const" in schema:
        return f"`{_json(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f'`"{value}"`' for value in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array":
        inner = type_text(schema["items"], named) if "items" in schema else "any"
        return _limited(f"list of {inner}", schema, "minItems", "maxItems", " entries")
    if kind == "object":
        values = schema.get("additionalProperties")
        inner = f" of names to {type_text(values, named)}" if isinstance(values, dict) and values else ""
        return _limited(f"object{inner}", schema, "minProperties", "maxProperties", " entries")
    if kind == "string":
        return _limited("string", schema, "minLength", "maxLength", " characters")
    return _limited(kind, schema, "minimum", "maximum", "")


def _limited(text: str, schema: dict[str, Any], lower: str, upper: str, unit: str) -> str:
    low, high = schema.get(lower), schema.get(upper)
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if low is not None and high is not None:
        return f"{text}, {_number(low)} to {_number(high)}{unit}"
    parts = [
        f"{word} {_number(value)}{unit}"
        for word, value in (("above", above), ("at least", low), ("at most", high), ("below", below))
        if value is not None
    ]
    return ", ".join([text, " and ".join(parts)]) if parts else text


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1 <= abs(value) < 1e12 and value == int(value) else f"{value:g}"
