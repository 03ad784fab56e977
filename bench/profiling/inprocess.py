# SPDX-License-Identifier: Apache-2.0

"""Call a WSGI application in this thread with the same bytes that a client would send."""

from __future__ import annotations

from typing import Any
from wsgiref.types import WSGIApplication

from bench.client.driving import Unit
from bench.client.http import Response
from tests.support.wsgi import environ


class InProcess:
    """Replaces a connection."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def run_unit(self, unit: Unit) -> None:
        """Run all requests of one unit."""
        try:
            message = next(unit)
            while True:
                message = unit.send(self.call(message))
        except StopIteration:
            return

    def call(self, message: bytes) -> Response:
        started: list[Any] = []
        chunks = self._application(environ_of(message), lambda *given: started.extend(given))  # type: ignore[arg-type]
        response = Response(int(started[0][:3]), memoryview(b"".join(chunks)))
        if hasattr(chunks, "close"):
            chunks.close()
        return response


def environ_of(message: bytes) -> dict[str, Any]:
    """Return the WSGI environ for the bytes of a request."""
    head, _, body = message.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    named = (line.partition(": ") for line in lines)
    return environ(method, target, body, [(name, value) for name, _, value in named])
