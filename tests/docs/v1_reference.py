# SPDX-License-Identifier: Apache-2.0

"""Write the reference of the Plimsoll API, docs/v1/reference.md, from its OpenAPI document: `make docs`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plimsoll.api.openapi.texts import STATUSES
from plimsoll.api.openapi.v1 import v1_document
from plimsoll.api.v1.routes import ROUTES
from tests.docs.schema_members import members_of, type_of

PAGE = Path(__file__).parents[2] / "docs" / "v1" / "reference.md"
GUIDES = {
    "explain": "explain.md",
    "unplaced": "unplaced.md",
    "fit": "fit.md",
    "providers": "providers.md",
    "consumers": "consumers.md",
    "usage": "usage.md",
    "changes": "changes.md",
    "openapi": "openapi.md",
    "docs": "openapi.md",
}
"""The page with examples, by the first part of the path below /plimsoll/v1/."""
OF_EVERY_ROUTE = ("304", "400", "401", "403", "404", "405", "406", "431", "500", "503")
DESCRIBED_ELSEWHERE = {
    "{document}": "Its members are those of OpenAPI 3.1.",
    "openapi.json": "Its members are those of OpenAPI 3.1.",
}
INTRODUCTION = f"""# The Plimsoll API: all parameters and members

Every operation with its parameters, statuses and members. [The overview](README.md) has what they have in common; each operation has a page with
examples and their answers. [The Placement API](../api/README.md) has a page per resource in the same form.

This page is generated from the declarations of the routes by `make docs`.

Each operation can have these statuses beside its own: {", ".join(OF_EVERY_ROUTE)} (as in [the Placement API](../api/README.md); 304 for a request with the
`etag` of the present state).
"""


def page() -> str:
    document = v1_document(ROUTES, {}, "/")
    lines = [INTRODUCTION]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            lines += _section(path, method.upper(), operation, document["components"])
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(
    path: str, method: str, operation: Mapping[str, Any], components: Mapping[str, Any]
) -> Iterator[str]:
    name = path.split("/")[3].removesuffix(".json")
    yield f"## `{method} {path}`"
    yield ""
    summary = operation["summary"].rstrip(".")
    description = operation.get("description", "")
    yield f"{summary}. {description} Examples: [{name}]({GUIDES[name]})."
    yield ""
    yield from _parameters(operation, components)
    for status, response in operation["responses"].items():
        schema = response.get("content", {}).get("application/json", {}).get("schema")
        if status in OF_EVERY_ROUTE:
            continue
        yield f"**{status}**: {STATUSES[int(status)]}"
        yield ""
        elsewhere = DESCRIBED_ELSEWHERE.get(path.rpartition("/")[2])
        if elsewhere:
            yield from (elsewhere, "")
        elif schema:
            yield from _members(schema, components)


def _parameters(operation: Mapping[str, Any], components: Mapping[str, Any]) -> Iterator[str]:
    rows = [each for each in operation["parameters"] if each["in"] != "header"]
    if not rows:
        return
    yield "| parameter | in | type | |"
    yield "|---|---|---|---|"
    for each in rows:
        schema = each["schema"]
        notes = [
            each.get("description", ""),
            *(["Required."] if each.get("required") and each["in"] == "query" else []),
            *(["Can be repeated."] if schema.get("type") == "array" else []),
            *([f"Default: `{json.dumps(schema['default'])}`."] if "default" in schema else []),
        ]
        text = " ".join(filter(None, notes))
        yield f"| `{each['name']}` | {each['in']} | {_cell(type_of(schema, components))} | {_cell(text)} |"
    yield ""


def _members(schema: Mapping[str, Any], components: Mapping[str, Any]) -> Iterator[str]:
    yield "| response body | type | always there | |"
    yield "|---|---|---|---|"
    for name, member in members_of(schema, components).items():
        need = "yes" if member.required else ""
        yield f"| `{name}` | {_cell(member.type)} | {need} | {_cell(member.description)} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page())
