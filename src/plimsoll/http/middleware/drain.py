# SPDX-License-Identifier: Apache-2.0

"""Read the rest of a request's body after the response is made, so that the connection can be reused.

Many responses are made before the body is read, and some clients send a body to routes that have none. A server that
closes the connection then breaks the next request. A body that is too long to read gets `Connection: close`.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.http.body import content_length

MAX_DRAINED_BODIES = 8
"""The rest of a body is read up to this many times the longest body that the service accepts."""

_CHUNK_BYTES = 1 << 16


class Drain:
    def __init__(self, app: WSGIApplication, longest_body: int) -> None:
        self._app = app
        self._max_drained_bytes = longest_body * MAX_DRAINED_BODIES

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_received = isinstance(environ.get("wsgi.input"), io.BytesIO)
        if is_received or not _has_body(environ):
            return self._app(environ, start_response)
        body = environ["wsgi.input"] = _CountingBody(environ["wsgi.input"])
        started: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            started[:] = [status, headers, exc_info]
            return None

        response = self._app(environ, start)
        status, headers, exc_info = started
        length = None
        with contextlib.suppress(ValueError):
            length = content_length(environ)
        if not body.drained(self._max_drained_bytes, length):
            headers = [*headers, ("connection", "close")]
        start_response(status, headers, exc_info)
        return response


def _has_body(environ: WSGIEnvironment) -> bool:
    if environ.get("CONTENT_LENGTH", "") not in ("", "0"):
        return True
    return "HTTP_TRANSFER_ENCODING" in environ and bool(environ.get("wsgi.input_terminated"))


class _CountingBody:
    """A request body that counts the bytes read from it."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        read: bytes = self._source.read(size)
        self._read += len(read)
        return read

    def drained(self, max_bytes: int, length: int | None) -> bool:
        """Read the rest, up to `max_bytes`. Return False if some is left, or if the body is malformed or incomplete."""
        while length is None or self._read < length:
            if self._read >= max_bytes:
                return False
            wanted = _CHUNK_BYTES if length is None else min(_CHUNK_BYTES, length - self._read)
            try:
                if not self.read(wanted):
                    return True
            except OSError:
                return False
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)
