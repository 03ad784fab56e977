# SPDX-License-Identifier: Apache-2.0

"""The responses of a route of the Placement API at a version: statuses, documents and headers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.api.openapi.texts import STATUSES
from plimsoll.api.placement.documents.table import EARLY_ERROR, ERROR, UNAUTHORIZED
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import HEADER, SERVICE_TYPE, Version
from plimsoll.api.placement.preconditions import OnlyWith, accepts_json, sends_json
from plimsoll.api.placement.route import Route
from plimsoll.http.problems import JSON
from plimsoll.http.request_id import REQUEST_ID_HEADER

_EARLY = (403, 406, 414, 431, 503)
"""Errors that can occur before the version is negotiated."""
OF_EVERY_ROUTE = (400, 406, 414, 431, 500, 503)
"""400 and 406: the header of the version, or the headers of the body, are malformed."""
OF_EVERY_RULE = (401, 403)
_NO_CONTENT = 204
FIRST_ERROR = 400


def ref(section: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{section}/{name}"}


def statuses_of(route: Route) -> list[int]:
    """Return the declared statuses, and those that follow from the other fields of the declaration."""
    statuses = {*route.returns, *OF_EVERY_ROUTE}
    if route.rule is not None:
        statuses.update(OF_EVERY_RULE)
    if "{" in route.path:
        statuses.add(404)
    if route.body is not None:
        statuses |= {400, 413}
    if sends_json in route.checks:
        statuses.add(415)
    if any(isinstance(check, OnlyWith) for check in route.checks):
        statuses.add(405)
    if accepts_json in route.checks:
        statuses.add(406)
    return sorted(statuses)


def responses_of(route: Route, version: Version, examples: dict[str, Any]) -> dict[str, Any]:
    """Return the responses by status. `examples` are bodies by status."""
    return {
        str(status): ref("responses", error_name(status))
        if status >= FIRST_ERROR
        else _success(route, status, version, examples.get(str(status)))
        for status in statuses_of(route)
    }


def _success(route: Route, status: int, version: Version, example: Any) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": STATUSES[status],
        "headers": {name: ref("headers", name) for name in _header_names(route, status, version)},
    }
    document = route.returns[status]
    if document is not None:
        response["content"] = {JSON: content_of(ref("schemas", document), example)}
    return response


def content_of(schema: dict[str, Any], example: Any) -> dict[str, Any]:
    return {"schema": schema} if example is None else {"schema": schema, "example": example}


def _header_names(route: Route, status: int, version: Version) -> list[str]:
    names = [HEADER, "vary", REQUEST_ID_HEADER]
    is_put_of_name = route.method == "PUT" and route.body is None
    if status == 201 or is_put_of_name or (route.method == "POST" and status == 200):
        names.append("location")
    if version.has(F.CACHE_HEADERS) and (status != _NO_CONTENT or route.path == "/traits/{name}"):
        names += ["cache-control", "last-modified"]
    return names


def headers_of(version: Version) -> dict[str, Any]:
    """Return the headers that responses of the Placement API refer to."""
    return COMMON_HEADERS | {
        HEADER: header("The microversion of the response.", required=True, const=f"{SERVICE_TYPE} {version}"),
        "vary": header("The header that selects the version.", required=True),
        "location": header("The URL of the resource.", required=True, format="uri"),
        "cache-control": header("Whether the response may be stored.", const="no-cache"),
        "last-modified": header(
            "The time of the last change, as far as it is stored; else the current time."
        ),
    }


def header(description: str, *, required: bool = False, **schema: Any) -> dict[str, Any]:
    return {"description": description, "required": required, "schema": {"type": "string"} | schema}


COMMON_HEADERS: dict[str, Any] = {
    REQUEST_ID_HEADER: header(
        "The id of the request, which is in the log of the service.",
        required=True,
        pattern="^req-[0-9a-f-]{36}$",
    ),
    "allow": header("The methods of the resource."),
    "retry-after": header("Seconds after which a retry makes sense.", type="integer", minimum=0),
}
"""Headers of errors and of all responses, in both APIs."""


def error_name(status: int) -> str:
    return f"error_{status}"


def error_responses(statuses: Iterable[int], example: Any) -> dict[str, Any]:
    """Return the responses of errors, by the names that `responses_of` refers to."""
    return {error_name(status): _error(status, example) for status in sorted(statuses)}


def _error(status: int, example: Any) -> dict[str, Any]:
    document = UNAUTHORIZED if status == 401 else EARLY_ERROR if status in _EARLY else ERROR
    is_example = example is not None and example["errors"][0]["status"] == status
    return error_response(status, document, example if is_example else None)


def error_response(status: int, document: str, example: Any) -> dict[str, Any]:
    """Return the response of an error with this document."""
    names = [REQUEST_ID_HEADER]
    if status == 405:
        names.append("allow")
    if status == 503:
        names.append("retry-after")
    content = content_of(ref("schemas", document), example)
    text = {"schema": {"type": "string"}}
    return {
        "description": STATUSES[status],
        "headers": {name: ref("headers", name) for name in names},
        # Of two media types that the client accepts equally, errors are sent as text/html.
        "content": {JSON: content, "text/html": text, "text/plain": text},
    }
