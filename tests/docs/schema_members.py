# SPDX-License-Identifier: Apache-2.0

"""The members of a JSON schema as a flat table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

KEYS = {"allocations": "{uuid}", "mappings": "{suffix}", "provider_summaries": "{uuid}"}
"""The keys of an object by the name of the object; other objects have the names of resource classes, or of consumer types."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a document: its type as text, whether it is required there, and its description."""

    type: str
    required: bool
    description: str = ""


def members_of(schema: Mapping[str, Any], components: Mapping[str, Any]) -> dict[str, Member]:
    """Return the members by path: `inventories.{key}.total`, `traits[]`. A list that is the whole document is `[]`."""
    schema = _resolved(schema, components)
    found: dict[str, Member] = {}
    if schema.get("type") == "array":
        found["[]"] = Member(type_of(schema, components), required=True, description="The body is this list.")
    for name, member in _members(schema, components, ""):
        if name not in found:
            found[name] = member
    return found


def _resolved(schema: Mapping[str, Any], components: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    section, name = reference.removeprefix("#/components/").split("/")
    found: Mapping[str, Any] = components[section][name]
    return found


def _members(
    schema: Mapping[str, Any], components: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, Member]]:
    schema = _resolved(schema, components)
    for part in _alternatives(schema):
        yield from _members(part, components, prefix)
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        yield from _member(f"{prefix}{name}", member, components, required=name in required)
    keyed = dict(schema.get("patternProperties", {}))
    if isinstance(schema.get("additionalProperties"), dict):
        keyed[schema.get("propertyNames", {}).get("pattern", "")] = schema["additionalProperties"]
    for pattern, member in keyed.items():
        key = "{type}" if "consumer_count" in member.get("properties", {}) else _key(pattern, prefix)
        yield from _member(f"{prefix}{key}", member, components, required=False)
    if isinstance(schema.get("items"), dict):
        yield from _members(schema["items"], components, f"{prefix.rstrip('.')}[].")


def _member(
    path: str, member: Mapping[str, Any], components: Mapping[str, Any], *, required: bool
) -> Iterator[tuple[str, Member]]:
    member = _resolved(member, components)
    yield path, Member(type_of(member, components), required, member.get("description", ""))
    yield from _members(member, components, f"{path}.")


def _key(pattern: str, prefix: str) -> str:
    """Return what stands for the keys of an object: by the pattern of the keys, or by the name of the object."""
    parent = prefix.rstrip(".").rpartition(".")[2]
    if "a-f" in pattern.lower():
        return "{uuid}"
    return KEYS.get(parent, "{class}")


def _alternatives(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("anyOf", "oneOf", "allOf"):
        yield from schema.get(key, ())


def type_of(schema: Mapping[str, Any], components: Mapping[str, Any]) -> str:
    """Return the type as text, with its limits."""
    schema = _resolved(schema, components)
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return "one of " + ", ".join(f"`{each}`" for each in schema["enum"])
    parts = [type_of(part, components) for part in _alternatives(schema)]
    kind = schema.get("type")
    if kind == "array" and isinstance(schema.get("items"), dict):
        parts.append(f"array of {type_of(schema['items'], components)}")
    elif isinstance(kind, list):
        parts += kind
    elif kind is not None:
        parts.append(f"{schema.get('format', kind)}{_limits(schema)}")
    return " or ".join(dict.fromkeys(parts)) or "any"


def _limits(schema: Mapping[str, Any]) -> str:
    """Return the limits of a number or of a text; a uuid needs none."""
    if "format" in schema:
        return ""
    for least, most, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters")):
        low, high = schema.get(least), schema.get(most)
        if high is not None:
            return f", at most {high}{unit}" if low is None else f", {low} to {high}{unit}"
        if low:
            return f", at least {low}{unit}"
    return ""
