# SPDX-License-Identifier: Apache-2.0

"""A WSGI application called with the same bytes that a client would send, in this process and this thread."""

from __future__ import annotations

from typing import Any
from wsgiref.types import WSGIApplication

from bench.client.driving import Unit
from bench.client.http import Reply
from tests.support.wsgi import environ


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
        chunks = self._application(request_of(message), lambda *given: got.extend(given))  # type: ignore[arg-type]
        reply = Reply(int(got[0][:3]), memoryview(b"".join(chunks)))
        if hasattr(chunks, "close"):
            chunks.close()
        return reply


def request_of(message: bytes) -> dict[str, Any]:
    """What a server makes of the bytes of a request."""
    head, _, body = message.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    named = (line.partition(": ") for line in lines)
    return environ(method, target, body, [(name, value) for name, _, value in named])
