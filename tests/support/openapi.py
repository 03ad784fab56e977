# SPDX-License-Identifier: Apache-2.0

"""Check responses against the OpenAPI documents: status, media type, headers and body."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import jsonschema_rs

from plimsoll.api.openapi.placement import placement_document
from plimsoll.api.openapi.v1 import PREFIX, v1_document
from plimsoll.api.placement.microversion import HEADER, SERVICE_TYPE, VERSIONS
from plimsoll.api.v1.routes import ROUTES as V1_ROUTES

CONDITIONAL_HEADERS = {"location", "last-modified", "cache-control", "allow", "retry-after", "etag"}
"""Headers that a response has only if they are documented."""


class Checker:
    """One OpenAPI document, with a validator for each schema that was used."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._patterns = [
            (re.compile(re.sub(r"{\w+}", "[^/]+", path)), operations)
            for path, operations in document["paths"].items()
        ]
        self._validators: dict[str, Any] = {}

    def violations(
        self, method: str, path: str, status: int, headers: Mapping[str, str], body: bytes
    ) -> list[str]:
        """Return what is not as documented. Operations that the document does not have are not checked."""
        operation = self._operation(method, path)
        if operation is None:
            return []
        response = self._resolved(operation["responses"].get(str(status)))
        if response is None:
            return [f"status {status} is not documented"]
        return [*self._of_headers(response, headers), *self._of_body(response, headers, body)]

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        for pattern, operations in self._patterns:
            if pattern.fullmatch(path):
                operation: dict[str, Any] | None = operations.get(method.lower())
                return operation
        return None

    def _resolved(self, part: Any) -> Any:
        while isinstance(part, dict) and "$ref" in part:
            _, *names = part["$ref"].split("/")
            part = self._document
            for name in names:
                part = part[name]
        return part

    def _of_headers(self, response: dict[str, Any], headers: Mapping[str, str]) -> Iterator[str]:
        documented = response.get("headers", {})
        for name in sorted(CONDITIONAL_HEADERS & headers.keys() - documented.keys()):
            yield f"header {name} is not documented"
        for name, reference in documented.items():
            header = self._resolved(reference)
            if name not in headers:
                if header.get("required"):
                    yield f"header {name} is missing"
                continue
            schema = header["schema"]
            value: Any = int(headers[name]) if schema.get("type") == "integer" else headers[name]
            for error in self._validator(schema).iter_errors(value):
                yield f"header {name}: {error.message}"

    def _of_body(self, response: dict[str, Any], headers: Mapping[str, str], body: bytes) -> Iterator[str]:
        content = response.get("content", {})
        if not content:
            if body:
                yield f"a body that is not documented: {body[:200]!r}"
            return
        media_type = headers.get("content-type", "").partition(";")[0]
        if media_type not in content:
            yield f"media type {media_type!r} is not documented"
        elif media_type == "application/json":
            for error in self._validator(content[media_type]["schema"]).iter_errors(json.loads(body)):
                yield f"body at {list(error.instance_path)}: {error.message[:300]}"

    def _validator(self, schema: dict[str, Any]) -> Any:
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            components = self._document.get("components", {}) if "$ref" in key else {}
            whole = {**schema, "components": components}
            self._validators[key] = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        return self._validators[key]


@cache
def placement_checker(version: str) -> Checker:
    found = next(each for each in VERSIONS if each.text == version)
    return Checker(placement_document(found, {}, "/"))


@cache
def v1_checker() -> Checker:
    return Checker(v1_document(V1_ROUTES, {}, "/"))


def violations(method: str, path: str, status: int, headers: Mapping[str, str], body: bytes) -> list[str]:
    """Check a response of either API."""
    if path.startswith(PREFIX):
        return v1_checker().violations(method, path.partition("?")[0], status, headers, body)
    return placement_violations(method, path, status, headers, body)


def placement_violations(
    method: str, path: str, status: int, headers: Mapping[str, str], body: bytes
) -> list[str]:
    """Check a response of the Placement API against the document of its version.

    A response without a version is not checked: its request was refused before the version was negotiated.
    """
    version = headers.get(HEADER, "")
    if not version.startswith(SERVICE_TYPE):
        return []
    checker = placement_checker(version.removeprefix(SERVICE_TYPE).strip())
    return checker.violations(method, path.partition("?")[0] or "/", status, headers, body)


class CheckedApplication:
    """A WSGI application whose responses are checked; the findings are appended to `violations`."""

    def __init__(self, app: WSGIApplication, violations: list[str]) -> None:
        self._app = app
        self._violations = violations

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        started: list[tuple[int, dict[str, str]]] = []

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            started.append((int(status[:3]), {name.lower(): value for name, value in headers}))
            return start_response(status, headers, *more)

        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        body = b"".join(self._app(environ, start))
        status, headers = started[-1]
        found = placement_violations(method, path, status, headers, body)
        self._violations += [f"{method} {path}: {violation}" for violation in found]
        return [body]
