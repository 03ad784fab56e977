# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI document of the Placement API at one version, built from the table of routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from plimsoll.access.policy_rules import RULES
from plimsoll.api.openapi.members import with_descriptions, with_sent_descriptions
from plimsoll.api.openapi.parameters import parameters_of
from plimsoll.api.openapi.responses import content_of, error_responses, headers_of, responses_of, statuses_of
from plimsoll.api.placement.documents.table import DOCUMENTS, EARLY_ERROR, ERROR, UNAUTHORIZED
from plimsoll.api.placement.features import Feature
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.route import Route
from plimsoll.api.placement.routes import ROUTES
from plimsoll.api.placement.schemas import shape_at
from plimsoll.http.problems import JSON

OPENAPI = "3.1.1"
TOKEN: list[dict[str, list[str]]] = [{"token": []}]
SECURITY_SCHEMES = {
    "token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token", "description": "A token of Keystone."}
}
LICENSE = {"name": "Apache-2.0", "identifier": "Apache-2.0"}

_SUMMARIES = {
    (operation["method"], operation["path"]): rule.description.rstrip(".")
    for rule in RULES
    for operation in rule.operations
} | {
    ("GET", "/"): "Show the supported versions",
    ("GET", "/allocations"): "List the allocations of a project",
}
"""The descriptions of the policy rules, and of the operations that share a rule with another one or have none."""
_SUMMARIES |= {
    ("PUT", "/resource_providers/{uuid}/inventories"): "Set all inventories of a provider",
    ("PUT", "/resource_providers/{uuid}/inventories/{resource_class}"): "Set one inventory of a provider",
    ("DELETE", "/resource_providers/{uuid}/inventories"): "Delete all inventories of a provider",
    (
        "DELETE",
        "/resource_providers/{uuid}/inventories/{resource_class}",
    ): "Delete one inventory of a provider",
}

EXAMPLE_REQUEST = "x-example-request"
"""The member of an operation with the method and the path of its example."""
Examples = Mapping[str, Any]
"""By the name of a route: `path` and body (`request`) of a request, and bodies of its `responses` by status."""


def routes_at(version: Version) -> Iterator[Route]:
    """Yield the routes that exist at a version. A path is not empty in OpenAPI: the empty one equals `/` here."""
    seen = set()
    for route in ROUTES:
        # Of routes with the same method and path, the first that is not replaced is used: see Router.
        is_replaced = route.until is not None and version.has(route.until)
        if is_replaced or route.name in seen:
            continue
        seen.add(route.name)
        if route.path and route.exists_at(version):
            yield route


def placement_document(
    version: Version, examples: Examples, server: str, pause: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Return the document. `pause` is called after each route."""
    paths: dict[str, Any] = {}
    documents, statuses = {ERROR, EARLY_ERROR, UNAUTHORIZED}, set[int]()
    for route in routes_at(version):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, version, examples)
        documents.update(name for name in route.returns.values() if name is not None)
        statuses.update(status for status in statuses_of(route) if status >= 400)
        pause()
    return {
        "openapi": OPENAPI,
        "info": {
            "title": f"OpenStack Placement API {version}",
            "summary": f"The Placement API at microversion {version}, as Plimsoll serves it.",
            "description": _description(version),
            "version": version.text,
            "license": LICENSE,
        },
        "servers": [{"url": server}],
        "tags": [{"name": name} for name in dict.fromkeys(map(_tag, routes_at(version)))],
        "security": TOKEN,
        "paths": paths,
        "components": {
            "schemas": {name: document_schema(name, version) for name in sorted(documents)},
            "responses": error_responses(statuses, examples.get("error")),
            "headers": headers_of(version),
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def document_schema(name: str, version: Version) -> dict[str, Any]:
    schema: dict[str, Any] = shape_at(DOCUMENTS[name], version)
    # The `code` of a 401 is not that of other errors.
    return schema if name == UNAUTHORIZED else with_descriptions(schema)


def _description(version: Version) -> str:
    added = [feature.history for feature in Feature if feature.version == version.text]
    news = f" This version added: {added[0]}." if added else ""
    return (
        f"Every request has the header `openstack-api-version: placement {version}`.{news} HTTP messages that are"
        " malformed are refused before they reach the API, with errors that are not listed here."
    )


def _operation(route: Route, version: Version, examples: Examples) -> dict[str, Any]:
    example = examples.get(route.name, {})
    operation: dict[str, Any] = {
        "operationId": operation_id(route.handler),
        "summary": _SUMMARIES[route.method, route.path],
        "tags": [_tag(route)],
        "parameters": parameters_of(route, version),
        "responses": responses_of(route, version, example.get("responses", {})),
    }
    if route.rule is None:
        operation["security"] = []
    else:
        operation["description"] = f"Policy rule: `{route.rule}`."
    if "path" in example:
        operation[EXAMPLE_REQUEST] = f"{route.method} {example['path']}"
    if route.body is not None:
        schema = with_sent_descriptions(route.body.schemas.at(version).plain)
        content = content_of(schema, example.get("request"))
        operation["requestBody"] = {"required": True, "content": {JSON: content}}
    return operation


def operation_id(handler: Callable[..., Any]) -> str:
    """Return an id from the module and the name of the handler, such as `providers_find`."""
    return f"{handler.__module__.rpartition('.')[2]}_{handler.__name__}"


def _tag(route: Route) -> str:
    return route.path.split("/")[1] or "versions"
