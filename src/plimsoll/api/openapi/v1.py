# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI document of the Plimsoll API, built from its table of routes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from plimsoll import __version__
from plimsoll.api.openapi.parameters import SEGMENT, query_parameters
from plimsoll.api.openapi.placement import (
    EXAMPLE_REQUEST,
    LICENSE,
    OPENAPI,
    SECURITY_SCHEMES,
    TOKEN,
    Examples,
    document_schema,
    operation_id,
)
from plimsoll.api.openapi.responses import (
    COMMON_HEADERS,
    FIRST_ERROR,
    OF_EVERY_ROUTE,
    OF_EVERY_RULE,
    content_of,
    error_name,
    error_response,
    error_responses,
    header,
    ref,
)
from plimsoll.api.openapi.texts import STATUSES
from plimsoll.api.placement.documents.table import EARLY_ERROR, ERROR, UNAUTHORIZED
from plimsoll.api.placement.microversion import HEADER, HIGHEST, SERVICE_TYPE
from plimsoll.api.placement.routes import ROUTES
from plimsoll.api.v1.response import JSON, NOT_MODIFIED
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.http.request_id import REQUEST_ID_HEADER

PREFIX = "/plimsoll/v1/"

_CANDIDATES = next(route for route in ROUTES if route.name == "GET /allocation_candidates")
_HEADERS = COMMON_HEADERS | {
    "etag": header("The entity tag of the response, for `If-None-Match`."),
    "cache-control": header("Whether the response may be stored."),
    "vary": header("The header that selects the media type."),
}
_NDJSON_TEXT = "One JSON document per line."
_DESCRIPTION = (
    "Each response names the `revision` of the state that it shows. Names of providers can be used in place of uuids."
    " HTTP messages that are malformed are refused before they reach the API, with errors that are not listed here."
)


def v1_document(
    routes: Iterable[V1Route], examples: Examples, server: str, pause: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Return the document. `pause` is called after each route."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {
        name: document_schema(name, HIGHEST) for name in (ERROR, EARLY_ERROR, UNAUTHORIZED)
    }
    statuses, tags = set[int](), dict[str, None]()
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, examples)
        statuses.update(status for status in _statuses(route) if _is_usual_error(route, status))
        tags[_tag(route)] = None
        for document in route.returns.values():
            if document is not None:
                known = schemas.setdefault(document.name, document.schema)
                assert known == document.schema, f"two documents are named {document.name}"
        pause()
    return {
        "openapi": OPENAPI,
        "info": {
            "title": "Plimsoll API v1",
            "summary": "Reads of a Placement service beyond the Placement API.",
            "description": _DESCRIPTION,
            "version": __version__,
            "license": LICENSE,
        },
        "servers": [{"url": server}],
        "tags": [{"name": name} for name in tags],
        "security": TOKEN,
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": error_responses(statuses, examples.get("error")),
            "headers": _HEADERS,
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _tag(route: V1Route) -> str:
    return route.path.removeprefix(PREFIX).split("/")[0].removesuffix(".json")


def _statuses(route: V1Route) -> list[int]:
    statuses = {*route.returns, *OF_EVERY_ROUTE, NOT_MODIFIED}
    if route.rule is not None:
        statuses.update(OF_EVERY_RULE)
    if "{" in route.path:
        statuses.add(404)
    return sorted(statuses)


def _operation(route: V1Route, examples: Examples) -> dict[str, Any]:
    example = examples.get(route.name, {})
    rule = "" if route.rule is None else f"Policy rule: `{route.rule}`."
    operation: dict[str, Any] = {
        "operationId": operation_id(route.handler),
        "summary": route.summary,
        "description": " ".join(text for text in (route.description, rule) if text),
        "tags": [_tag(route)],
        "parameters": list(_parameters(route)),
        "responses": {
            str(status): ref("responses", error_name(status))
            if _is_usual_error(route, status)
            else _own_response(route, status, example.get("responses", {}).get(str(status)))
            for status in _statuses(route)
        },
    }
    if route.rule is None:
        operation["security"] = []
    if "path" in example:
        operation[EXAMPLE_REQUEST] = f"{route.method} {example['path']}"
    return operation


def _parameters(route: V1Route) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", route.path):
        yield {"name": name, "in": "path", "required": True, "schema": SEGMENT}
    yield {
        "name": "If-None-Match",
        "in": "header",
        "description": "Entity tags that the client has: the response is a 304 if one of them is current.",
        "schema": {"type": "string"},
    }
    names = {parameter.name for parameter in route.parameters}
    for parameter in route.parameters:
        yield _query_parameter(parameter)
    if route.candidates_query:
        yield {
            "name": HEADER,
            "in": "header",
            "description": f"The microversion in which the query is read; {HIGHEST} if absent.",
            "schema": {"type": "string"},
            "example": f"{SERVICE_TYPE} {HIGHEST}",
        }
        yield from (each for each in query_parameters(_CANDIDATES, HIGHEST) if each["name"] not in names)


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }
    if parameter.required:
        shown["required"] = True
    if parameter.repeated:
        return shown | {
            "style": "form",
            "explode": True,
            "schema": {"type": "array", "items": shown["schema"]},
        }
    return shown if parameter.example is None else shown | {"example": _converted(parameter)}


def _converted(parameter: Parameter) -> Any:
    """Return the example of a parameter in the type of its schema."""
    example = str(parameter.example)
    match parameter.schema.get("type"):
        case "integer":
            return int(example)
        case "boolean":
            return example == "true"
    return example


def _is_usual_error(route: V1Route, status: int) -> bool:
    """Whether the response is the error document alone."""
    return status >= FIRST_ERROR and route.returns.get(status) is None


def _own_response(route: V1Route, status: int, example: Any) -> dict[str, Any]:
    document = route.returns.get(status)
    if status < FIRST_ERROR or document is None:
        return _success(route, status, example)
    return error_response(status, document.name, example)


def _success(route: V1Route, status: int, example: Any) -> dict[str, Any]:
    names = [REQUEST_ID_HEADER, "etag", "cache-control"]
    if len(route.formats) > 1:
        names.append("vary")
    response: dict[str, Any] = {
        "description": STATUSES[status],
        "headers": {name: ref("headers", name) for name in names},
    }
    if status == NOT_MODIFIED:
        return response
    document = route.returns[status]
    text = {"type": "string"}
    response["content"] = {
        media_type: content_of(ref("schemas", document.name), example)
        if media_type == JSON and document is not None
        else {"schema": text | ({"description": _NDJSON_TEXT} if "json" in media_type else {})}
        for media_type in route.formats
    }
    return response
