# SPDX-License-Identifier: Apache-2.0

"""WSGI environments for calls in process, without a network, and an application for our server."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.server.application import ErrorResponse


def environ(method: str, target: str, content: bytes, headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the environ of a request. Of a repeated header the last one is used."""
    path, _, query = target.partition("?")
    variables: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path.encode().decode("latin-1"),
        "QUERY_STRING": query,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(content),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in headers:
        key = name.upper().replace("-", "_")
        variables[key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"] = value
    return variables


class PlainApplication:
    """A WSGI application with the least that our server needs beyond WSGI."""

    immediate_paths: Collection[str] = ()
    shares_writer = False

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self._app(environ, start_response)

    def end_waits(self) -> None:
        pass

    def error_response(self, status: int, detail: str) -> ErrorResponse:
        body = f"{detail}\n".encode()
        return [("content-type", "text/plain"), ("content-length", str(len(body)))], body
