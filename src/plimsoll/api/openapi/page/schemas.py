# SPDX-License-Identifier: Apache-2.0

"""Show a JSON Schema as a list of its members, and JSON as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.api.openapi.page.html import Html, element, html_of, prose

_DEEPEST = 12
_WIDTH = 96
_LIMITS = {
    "pattern": "pattern ",
    "minimum": "≥ ",
    "maximum": "≤ ",
    "minLength": "length ≥ ",
    "maxLength": "length ≤ ",
    "minItems": "items ≥ ",
    "maxItems": "items ≤ ",
    "minProperties": "members ≥ ",
    "default": "default ",
    "const": "is ",
}

Schema = Mapping[str, Any]


def type_of(schema: Schema) -> str:
    """Return the type in words: `array of string (uuid)`."""
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return " | ".join(map(type_of, schema[keyword]))
    kind = schema.get("type", "any")
    text = " | ".join(kind) if isinstance(kind, list) else str(kind)
    if kind == "array" and isinstance(schema.get("items"), dict):
        text += f" of {type_of(schema['items'])}"
    return f"{text} ({schema['format']})" if "format" in schema else text


def limits_of(schema: Schema) -> list[str]:
    """Return the other conditions on a value, each as a short text."""
    found = [f"{text}{_plain(schema[keyword])}" for keyword, text in _LIMITS.items() if keyword in schema]
    items = schema.get("items")
    return found + limits_of(items) if isinstance(items, dict) and "properties" not in items else found


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def members(schema: Schema, depth: int = 0) -> Html | None:
    """Return the members of an object, or of the objects in a list or map, as nested lists; None if it has none."""
    if depth > _DEEPEST:
        return None
    rows = list(_rows(schema, depth))
    return element("ul", rows, class_="members") if rows else None


def _rows(schema: Schema, depth: int) -> Iterator[Html]:
    for keyword in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(keyword, ()):
            yield from _rows(each, depth)
    if isinstance(schema.get("items"), dict):
        yield from _rows(schema["items"], depth)
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        yield _row(element("b", name), member, name in required, depth)
    for pattern, member in schema.get("patternProperties", {}).items():
        yield _row(element("i", pattern), member, False, depth)
    if isinstance(schema.get("additionalProperties"), dict):
        yield _row(element("i", "any name"), schema["additionalProperties"], False, depth)


def _row(name: Html, schema: Schema, required: bool, depth: int) -> Html:
    return element("li", *(name, " ", value_line(schema, required=required)), members(schema, depth + 1))


def value_line(schema: Schema, *, required: bool) -> Html:
    """Return type, description and conditions of a value."""
    description = schema.get("description")
    return html_of(
        [
            element("span", type_of(schema), class_="type"),
            element("span", " required", class_="required") if required else None,
            [" ", element("span", prose(description), class_="text")] if description else None,
            [[" ", element("code", limit)] for limit in limits_of(schema)],
        ]
    )


def json_text(value: Any, indent: int = 0, taken: int = 0) -> str:
    """Format JSON: a part that fits into a line takes one line. `taken` characters of its first line are used."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) <= _WIDTH - indent - taken or not isinstance(value, dict | list) or not value:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        named = [(f"{json.dumps(key, ensure_ascii=False)}: ", each) for key, each in value.items()]
        parts = [inner + name + json_text(each, indent + 2, len(name)) for name, each in named]
        opening, closing = "{}"
    else:
        parts = [inner + json_text(each, indent + 2) for each in value]
        opening, closing = "[]"
    return f"{opening}\n" + ",\n".join(parts) + f"\n{' ' * indent}{closing}"
