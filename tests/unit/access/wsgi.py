# SPDX-License-Identifier: Apache-2.0

"""Call a WSGI application like a server, and return its response."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment
from wsgiref.util import setup_testing_defaults


@dataclass(frozen=True)
class Response:
    status: str
    headers: dict[str, str]
    body: bytes


def call(
    app: WSGIApplication, path: str, method: str = "GET", address: str | None = None, **headers: str
) -> Response:
    """Headers are given as HTTP_... keys without that prefix: `X_AUTH_TOKEN="admin"`."""
    environ: WSGIEnvironment = {"PATH_INFO": path, "REQUEST_METHOD": method}
    environ.update({f"HTTP_{name}": value for name, value in headers.items()})
    if address is not None:
        environ["REMOTE_ADDR"] = address
    setup_testing_defaults(environ)
    environ["PATH_INFO"] = path  # setup_testing_defaults treats '' as missing
    started: list[tuple[str, dict[str, str]]] = []

    def start_response(status: str, sent: list[tuple[str, str]], _exc_info: Any = None) -> Any:
        started.append((status, {name.lower(): value for name, value in sent}))

    body = b"".join(app(environ, start_response))
    ((status, received),) = started
    return Response(status, received, body)


class Recorder:
    """An application that responds with 200 and records the environ of the request."""

    def __init__(self) -> None:
        self.seen: list[WSGIEnvironment] = []

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self.seen.append(environ)
        start_response("200 OK", [("content-type", "text/plain")])
        return [b"inside"]
