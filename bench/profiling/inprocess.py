# SPDX-License-Identifier: Apache-2.0

"""A WSGI application called with the same bytes that a client would send, in this process and this thread."""

from __future__ import annotations

import io
from typing import Any
from wsgiref.types import WSGIApplication

from bench.client.driving import Unit
from bench.client.http import Reply


class InProcess:
    """Takes the place of a connection."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def do(self, unit: Unit) -> None:
        """One unit from its first request to its last answer."""
        try:
            message = next(unit)
            while True:
                message = unit.send(self.call(message))
        except StopIteration:
            return

    def call(self, message: bytes) -> Reply:
        got: list[Any] = []
        chunks = self._application(environ(message), lambda *given: got.extend(given))  # type: ignore[arg-type]
        return Reply(int(got[0][:3]), memoryview(b"".join(chunks)))


def environ(message: bytes) -> dict[str, Any]:
    """What a server makes of the bytes of a request."""
    head, _, body = message.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    path, _, query = target.partition("?")
    made: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for line in lines:
        name, _, value = line.partition(": ")
        key = name.upper().replace("-", "_")
        made[key if key.startswith("CONTENT_") else f"HTTP_{key}"] = value
    return made
