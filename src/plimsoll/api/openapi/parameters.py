# SPDX-License-Identifier: Apache-2.0

"""The parameters of a route of the Placement API at a version.

Names and schemas come from the schema of the query that also validates requests. It checks most values as text, and a
parser does the rest, so the patterns here are narrower. `groups` is one parameter that stands for all with a suffix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.api.placement.bodies.patterns import CUSTOM_NAME
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import HEADER, LOWEST, SERVICE_TYPE, Version
from plimsoll.api.placement.route import Route
from plimsoll.api.placement.schemas import Changed, Plain, Shape, shape_at

_UUID_PATTERN = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_NAME = "[A-Z0-9_]+"
_AMOUNT = f"{_NAME}:[1-9][0-9]*"


def _listed(item: str, separator: str = ",") -> str:
    return f"{item}({separator}{item})*"


def _only(*alternatives: str) -> Plain:
    return {"pattern": f"^({'|'.join(alternatives)})$"}


_FORBIDDABLE = _listed(f"!?{_NAME}")
_TRAITS: Shape = Changed(F.FORBIDDEN_TRAITS, before=_only(_listed(_NAME)), after=_only(_FORBIDDABLE))
_SUFFIX = "[a-zA-Z0-9_-]{1,64}"


@dataclass(frozen=True, slots=True)
class _Details:
    """Description, narrower schema and example of a parameter."""

    description: str
    shape: Shape = field(default_factory=dict)
    """Added to the schema."""
    repeated_since: F | None = None
    example: str | int | None = None


_MEMBER_OF = _Details(
    "An aggregate that the provider is in; `in:A,B` for one of several."
    f" Since {F.FORBIDDEN_AGGREGATES.version}, `!A` and `!in:A,B` for aggregates that it must not be in."
    f" If it is repeated (since {F.REPEATED_MEMBER_OF.version}), all conditions must hold.",
    Changed(
        F.FORBIDDEN_AGGREGATES,
        before=_only(_UUID_PATTERN, f"in:{_listed(_UUID_PATTERN)}"),
        after=_only(f"!?{_UUID_PATTERN}", f"!?in:{_listed(_UUID_PATTERN)}"),
    ),
    F.REPEATED_MEMBER_OF,
)

_DETAILS: Mapping[str, _Details] = {
    "resources": _Details(
        "Amounts by resource class.", _only(_listed(_AMOUNT)), None, "VCPU:2,MEMORY_MB:1024"
    ),
    "required": _Details(
        f"Traits that the provider has; since {F.FORBIDDEN_TRAITS.version} `!TRAIT` for a trait that it must not have;"
        f" since {F.ANY_TRAITS.version} `in:T1,T2` for one of several."
        f" If it is repeated (since {F.ANY_TRAITS.version}), all conditions must hold.",
        Changed(F.ANY_TRAITS, before=_TRAITS, after=_only(_FORBIDDABLE, f"in:{_listed(_NAME)}")),
        F.ANY_TRAITS,
        "HW_CPU_X86_VMX",
    ),
    "member_of": _MEMBER_OF,
    "in_tree": _Details(
        "The uuid of any provider of a tree: only providers of that tree, and no sharing providers of other trees.",
        {"format": "uuid"},
    ),
    "limit": _Details("The largest number of candidates.", {"type": "integer", "minimum": 1}, None, 10),
    "group_policy": _Details(
        "Whether groups with a suffix may be served by one provider (`none`) or not (`isolate`)."
        " Required if there are two or more such groups."
    ),
    "root_required": _Details(
        "Traits of the root of the tree; `!TRAIT` for forbidden ones.", _only(_FORBIDDABLE)
    ),
    "same_subtree": _Details(
        "Suffixes of groups, such as `_A,_B`: one of the providers that serve these groups is above all the others, or"
        " serves all of them.",
        _only(_listed(_SUFFIX)),
        F.SAME_SUBTREE,
    ),
    "uuid": _Details("The uuid of the provider."),
    "project_id": _Details("The project that owns the consumers."),
    "user_id": _Details("The user that owns the consumers."),
    "consumer_type": _Details(
        "A type of consumers, `all` for their sum, or `unknown` for those without a type."
    ),
    "associated": _Details(
        "`true`: traits that some provider has. `false`: traits that no provider has. In any case.",
        {"pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"},
        None,
        "true",
    ),
}
_NAME_BY_PATH: Mapping[str, _Details] = {
    "/resource_providers": _Details("The name of the provider."),
    "/traits": _Details("`in:T1,T2` for these names, `startswith:PREFIX` for a prefix.", {"pattern": ":"}),
}

_GROUPS = (
    "Further groups: parameters whose name has a suffix, such as `resources1` and `required1`, or since"
    f" {F.NAMED_GROUPS.version} `resources_disk`. One provider serves all of a group with a suffix."
)
_GROUPED = re.compile(r"\^(\w+)\((.+)\)\?\$").fullmatch

SEGMENT: Plain = {"type": "string", "minLength": 1, "pattern": "^[^/]+$"}
_CUSTOM: Plain = {"type": "string", "pattern": CUSTOM_NAME, "maxLength": 255}
_UUID: Plain = {"type": "string", "format": "uuid"}
_PATH_TEXTS: Mapping[str, str] = {
    "uuid": "The uuid of the provider.",
    "resource_class": "The name of a resource class.",
    "name": "The name.",
    "consumer_uuid": "The uuid of the consumer.",
}


def parameters_of(route: Route, version: Version) -> list[dict[str, Any]]:
    """Return the parameters of path, header and query."""
    return [*_path_parameters(route, version), version_header(version), *query_parameters(route, version)]


def version_header(version: Version) -> dict[str, Any]:
    """Return the parameter that selects the version. The lowest version is the default."""
    value = f"{SERVICE_TYPE} {version}"
    return {
        "name": HEADER,
        "in": "header",
        "required": version is not LOWEST,
        "description": f"The microversion. Without this header a request has version {LOWEST}.",
        "schema": {"type": "string", "const": value},
        "example": value,
    }


def _path_parameters(route: Route, version: Version) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", route.path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PATH_TEXTS[name],
            "schema": _path_schema(route, name, version),
        }


def _path_schema(route: Route, name: str, version: Version) -> Plain:
    if name == "uuid" or (name == "consumer_uuid" and route.method == "PUT"):
        return _UUID
    # Of a PUT without a body the name in the path is checked, because it creates what it names.
    return _CUSTOM if name == "name" and route.method == "PUT" and route.body is None else SEGMENT


def query_parameters(route: Route, version: Version) -> Iterator[dict[str, Any]]:
    """Yield the parameters of the query, and `groups` for those with a suffix."""
    if route.query is None:
        return
    schema = route.query.schemas.at(version).plain
    required = schema.get("required", ())
    for name, plain in schema["properties"].items():
        yield _query_parameter(route, name, plain, version, required=name in required)
    groups: dict[str, Plain] = {}
    for pattern, plain in schema.get("patternProperties", {}).items():
        found = _GROUPED(pattern)
        assert found is not None
        parameter = _query_parameter(route, found[1], plain, version, required=False)
        yield parameter
        # A repeated parameter with a suffix is one member: the value is the last one.
        items = parameter["schema"].get("items", parameter["schema"])
        groups[f"^{found[1]}({found[2]})$"] = items
    if groups:
        yield {
            "name": "groups",
            "in": "query",
            "description": _GROUPS,
            "style": "form",
            "explode": True,
            "schema": {"type": "object", "patternProperties": groups, "additionalProperties": False},
        }


def _query_parameter(
    route: Route, name: str, plain: Plain, version: Version, *, required: bool
) -> dict[str, Any]:
    details = _NAME_BY_PATH[route.path] if name == "name" else _DETAILS[name]
    shape = shape_at(details.shape, version)
    one: Plain = {**plain, **shape}
    if isinstance(one["type"], list):
        one["type"] = "string"
    if one["type"] == "integer":
        one = shape
    parameter: dict[str, Any] = {"name": name, "in": "query", "description": details.description}
    if required:
        parameter["required"] = True
    if details.repeated_since is not None and version.has(details.repeated_since):
        return parameter | {"style": "form", "explode": True, "schema": {"type": "array", "items": one}}
    parameter["schema"] = one
    return parameter if details.example is None else parameter | {"example": details.example}
