# SPDX-License-Identifier: Apache-2.0

"""Reads what a request still has to say, so that the connection can go on after the answer.

Many answers are clear before the body is read, and some clients send a body where none is wanted. A server that
answers and hangs up on them breaks their next request. A body too long to wait for gets `Connection: close`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

PATIENCE = 8
"""How many times the longest body that is read at all may be sent before we hang up."""

_AT_ONCE = 1 << 16


class Drain:
    def __init__(self, app: WSGIApplication, longest_body: int) -> None:
        self._app = app
        self._most = longest_body * PATIENCE

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if isinstance(environ.get("wsgi.input"), io.BytesIO):  # it is all here
            return self._app(environ, start_response)
        length = environ.get("CONTENT_LENGTH")
        if not _has_body(environ, length):
            return self._app(environ, start_response)
        body = environ["wsgi.input"] = _Counted(environ["wsgi.input"])
        said: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            said[:] = [status, headers, exc_info]
            return None

        answer = self._app(environ, start)
        status, headers, exc_info = said
        if not body.drained(self._most, int(length) if length and length.isdigit() else None):
            headers = [*headers, ("connection", "close")]
        start_response(status, headers, exc_info)
        return answer


def _has_body(environ: WSGIEnvironment, length: str | None) -> bool:
    if length and length != "0":
        return True
    return "HTTP_TRANSFER_ENCODING" in environ and bool(environ.get("wsgi.input_terminated"))


class _Counted:
    """A body that knows how much of it was read."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        read: bytes = self._source.read(size)
        self._read += len(read)
        return read

    def drained(self, most: int, length: int | None) -> bool:
        """Read the rest, if that is not too long. False if something is left, or the body is malformed or broke off."""
        try:
            return self._read_rest(most, length)
        except OSError:
            return False

    def _read_rest(self, most: int, length: int | None) -> bool:
        while length is None or self._read < length:
            if self._read >= most:
                return False
            wanted = _AT_ONCE if length is None else min(_AT_ONCE, length - self._read)
            if not self.read(wanted):
                return True
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)
