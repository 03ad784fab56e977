# SPDX-License-Identifier: Apache-2.0

"""Write the reference of the Placement API, docs/api: `python -m tests.docs.api_reference`.

The pages are made from the OpenAPI documents of all versions, which are built from the table of routes. The examples are those of the
newest version: requests that were sent to a real service, with its answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

from plimsoll.api.openapi.examples import placement_examples
from plimsoll.api.openapi.placement import EXAMPLE_REQUEST, placement_document
from plimsoll.api.openapi.texts import STATUSES
from plimsoll.api.placement.microversion import HIGHEST, LOWEST, VERSIONS, Version
from tests.docs import refusals
from tests.docs.schema_members import Member, members_of
from tests.docs.v1_pages import format_json

ROOT = Path(__file__).parents[2]
DIRECTORY = ROOT / "docs" / "api"
PAGES = {
    "resource_providers": ("Resource providers", "../concepts/providers.md"),
    "inventories": ("Inventories", "../concepts/capacity.md"),
    "aggregates": ("Aggregates", "../concepts/traits-and-aggregates.md"),
    "traits": ("Traits", "../concepts/traits-and-aggregates.md"),
    "resource_classes": ("Resource classes", "../concepts/providers.md"),
    "allocation_candidates": ("Allocation candidates", "../concepts/candidates.md"),
    "allocations": ("Allocations", "../concepts/consumers.md"),
    "usages": ("Usages", "../concepts/capacity.md"),
    "reshaper": ("Reshaper", "../concepts/reshapes.md"),
    "versions": ("Versions", "../versions.md"),
}
"""Pages by the last fixed part of a path: title, and the page that explains the concept."""
OF_EVERY_OPERATION = ("400", "401", "403", "406", "414", "431", "500", "503")
OF_SOME_OPERATIONS: Mapping[int, str] = {
    404: "a path that does not exist, or not in this version; operations with a uuid or name in the path",
    405: "a method that the path does not have; `GET /allocations` without `project_id`",
    409: "writes",
    413: "operations with a body: more than `[plimsoll]max_body_bytes`",
    415: "operations with a body",
}
"""The operations that can have each of these statuses."""
Operation = tuple[str, str]
"""Path and method."""
ByVersion = dict[Version, dict[str, Any]]


def documents() -> ByVersion:
    return {version: placement_document(version, placement_examples(version), "/") for version in VERSIONS}


def operations(found: ByVersion) -> dict[Operation, ByVersion]:
    """Return the operations, each by the versions that have it."""
    by_operation: dict[Operation, ByVersion] = {}
    for version, document in found.items():
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                by_operation.setdefault((path, method.upper()), {})[version] = operation
    return by_operation


def page_of(path: str) -> str:
    fixed = [part for part in path.split("/") if part and not part.startswith("{")]
    return fixed[-1] if fixed else "versions"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    found = documents()
    sections: dict[str, list[str]] = {name: [] for name in PAGES}
    for (path, method), by_version in operations(found).items():
        sections[page_of(path)] += _section(path, method, by_version, found)
    texts = {f"{name}.md": _page(name, sections[name]) for name in PAGES}
    return {"README.md": _overview(found)} | texts


def _page(name: str, sections: Sequence[str]) -> str:
    title, concept = PAGES[name]
    head = [
        f"# Placement API: {title[0].lower()}{title[1:]}",
        "",
        f"What it means: [{Path(concept).stem.replace('-', ' ')}]({concept}). What all operations have in common: [overview](README.md).",
        "This page is generated from the declarations of the routes by `make docs`.",
        "",
    ]
    return "\n".join([*head, *sections]).rstrip("\n") + "\n"


def _overview(found: ByVersion) -> str:
    rows = [
        f"| [`{method} {path}`]({page_of(path)}.md) | {_summary(by_version)} | {span(list(by_version))} |"
        for (path, method), by_version in operations(found).items()
    ]
    statuses = [f"| {status} | {STATUSES[int(status)]} |" for status in OF_EVERY_OPERATION]
    further = [f"| {status} | {STATUSES[status]} | {where} |" for status, where in OF_SOME_OPERATIONS.items()]
    return "\n".join(
        [
            "# The Placement API",
            "",
            "The API of OpenStack Placement, microversions 1.0 to 1.39, as Plimsoll serves it. Beside it is [the Plimsoll API](../v1/README.md), which has what this one lacks.",
            "",
            "- The header `openstack-api-version: placement 1.39` selects [the version](../versions.md); without it a request has version 1.0.",
            "- The header `x-auth-token` has a token of Keystone. The [policy](../policy.md) allows or refuses the operation.",
            "- Bodies are JSON, with `content-type: application/json`.",
            "- Errors have the document `errors[0]` with `status`, `title`, `detail`, `request_id` and, since 1.23, a [`code`](../errors.md).",
            "- The same as OpenAPI documents: `/plimsoll/v1/openapi/placement-1.39.json`, one for [each version](../v1/openapi.md).",
            "",
            "| operation | | versions |",
            "|---|---|---|",
            *rows,
            "",
            "Every operation can have these errors:",
            "",
            "| status | |",
            "|---|---|",
            *statuses,
            "",
            "Some operations can have these:",
            "",
            "| status | | by |",
            "|---|---|---|",
            *further,
            "",
            "This page is generated from the declarations of the routes by `make docs`.",
            "",
        ]
    )


def _summary(by_version: ByVersion) -> str:
    return str(by_version[max(by_version, key=lambda version: version.minor)]["summary"]) + "."


def _section(path: str, method: str, by_version: ByVersion, found: ByVersion) -> Iterator[str]:
    newest = max(by_version, key=lambda version: version.minor)
    operation = by_version[newest]
    yield f"## `{method} {path}`"
    yield ""
    versions = span(list(by_version))
    yield " ".join(
        [
            _summary(by_version),
            *([f"Versions: {versions}."] if versions != "all" else []),
            operation.get("description", ""),
        ]
    ).rstrip()
    yield ""
    yield from _parameters(by_version)
    bodies = {version: each["requestBody"] for version, each in by_version.items() if "requestBody" in each}
    sent = _members_by_version(bodies, found)
    if bodies:
        yield from _members("Request body", sent, by_version)
    successes = dict.fromkeys(
        status for each in by_version.values() for status in each["responses"] if status < "400"
    )
    for status in successes:
        answers = {
            version: each["responses"][status]
            for version, each in by_version.items()
            if status in each["responses"]
        }
        documented = {version: each for version, each in answers.items() if "content" in each}
        yield f"**{status}**: {STATUSES[int(status)]}" + (
            f" Versions: {span(list(answers))}." if len(answers) < len(by_version) else ""
        )
        yield ""
        if documented:
            yield from _members("Response body", _members_by_version(documented, found), by_version)
    errors = [
        status for status in operation["responses"] if status >= "400" and status not in OF_EVERY_OPERATION
    ]
    if errors:
        yield (
            "Errors, beside those [of every operation](README.md): "
            + "; ".join(f"**{status}** {STATUSES[int(status)].rstrip('.')}" for status in errors)
            + "."
        )
        yield ""
    names = {name.rpartition(".")[2] for name in sent.get(newest, {})}
    yield from refusals.table(f"{method} {path}", names)
    yield from _example(operation, newest)


def _parameters(by_version: ByVersion) -> Iterator[str]:
    rows: dict[tuple[str, str], dict[Version, Mapping[str, Any]]] = {}
    for version, operation in by_version.items():
        for parameter in operation["parameters"]:
            if parameter["in"] != "header":
                rows.setdefault((parameter["name"], parameter["in"]), {})[version] = parameter
    if not rows:
        return
    yield "| parameter | in | versions | |"
    yield "|---|---|---|---|"
    for (name, place), versions in rows.items():
        newest = versions[max(versions, key=lambda version: version.minor)]
        required = "required. " if newest.get("required") and place == "query" else ""
        shown = span(list(versions)) if len(versions) < len(by_version) else "all"
        yield f"| `{name}` | {place} | {shown} | {required}{_cell(newest.get('description', ''))} |"
    yield ""


def _members_by_version(bodies: Mapping[Version, Any], found: ByVersion) -> dict[Version, dict[str, Member]]:
    return {
        version: members_of(body["content"]["application/json"]["schema"], found[version]["components"])
        for version, body in bodies.items()
    }


def _members(
    title: str, by_version: Mapping[Version, Mapping[str, Member]], of_operation: Sized
) -> Iterator[str]:
    names = dict.fromkeys(name for version in reversed(list(by_version)) for name in by_version[version])
    if not names:
        return
    yield f"| {title.lower()} | type | required | versions | |"
    yield "|---|---|---|---|---|"
    for name in sorted(names):
        having = {version: members[name] for version, members in by_version.items() if name in members}
        newest = having[max(having, key=lambda version: version.minor)]
        required = [version for version, member in having.items() if member.required]
        if not required:
            need = ""
        elif len(required) == len(having):
            need = "yes"
        else:
            need = span(required)
        shown = span(list(having)) if len(having) < len(of_operation) else "all"
        yield f"| `{name}` | {_cell(newest.type)} | {need} | {shown} | {_cell(newest.description)} |"
    yield ""


def _example(operation: Mapping[str, Any], version: Version) -> Iterator[str]:
    request = operation.get(EXAMPLE_REQUEST)
    if request is None:
        return
    yield f"An example in version {version}:"
    yield ""
    yield "```http"
    yield f"{request} HTTP/1.1"
    yield f"openstack-api-version: placement {version}"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "example" in body:
        yield ""
        yield format_json(body["example"])
    yield "```"
    yield ""
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/json", {})
        if status < "400" and "example" in content:
            yield "```json"
            yield format_json(content["example"])
            yield "```"
            yield ""


def span(versions: Sequence[Version]) -> str:
    """Return versions as ranges: `all`, `since 1.8`, `1.10 to 1.24`."""
    minors = sorted(version.minor for version in versions)
    ranges: list[tuple[int, int]] = []
    for minor in minors:
        if ranges and ranges[-1][1] == minor - 1:
            ranges[-1] = (ranges[-1][0], minor)
        else:
            ranges.append((minor, minor))
    return ", ".join(_range(first, last) for first, last in ranges)


def _range(first: int, last: int) -> str:
    if last == HIGHEST.minor:
        return "all" if first == LOWEST.minor else f"since 1.{first}"
    return f"1.{first}" if first == last else f"1.{first} to 1.{last}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    DIRECTORY.mkdir(exist_ok=True)
    for name, text in pages().items():
        (DIRECTORY / name).write_text(text)


if __name__ == "__main__":
    main()
