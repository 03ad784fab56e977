# SPDX-License-Identifier: Apache-2.0

"""Requests as they come in on one connection: read by llhttp, and turned into what WSGI calls an environment."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

import httptools

from plimsoll.serving.headers import Headers

LONGEST_HEAD = 1 << 16
"""Bytes of a request's first line and headers. A token of Keystone may take several thousand."""
AT_HAND = 1 << 18
"""Bytes of a body that are waited for before the application is called; it reads the rest by itself."""


class Unreadable(Exception):
    """What came in is no request that can be answered, but for this status."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class Request:
    """Its head, and as much of its body as has come in."""

    __slots__ = ("body", "headers", "is_whole", "keeps_alive", "method", "target", "version")

    def __init__(
        self,
        method: str,
        target: bytes,
        version: str,
        headers: list[tuple[bytes, bytes]],
        *,
        keeps_alive: bool,
    ) -> None:
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
        self.keeps_alive = keeps_alive
        self.body: deque[bytes] = deque()
        self.is_whole = False

    @property
    def expects_a_word(self) -> bool:
        """Before it sends its body."""
        return self.version == "1.1" and any(
            name.lower() == b"expect" and value.lower() == b"100-continue" for name, value in self.headers
        )


def _local(target: bytes) -> bytes:
    """Proxies may be sent whole addresses; of which host, the headers say as well."""
    _, scheme, address = target.partition(b"://")
    return b"/" + address.partition(b"/")[2] if scheme else target


class _Body(io.RawIOBase):
    """A long body, received as it is read."""

    def __init__(self, request: Request, rest: Callable[[], bool]) -> None:
        self._request = request
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        pieces = self._request.body
        while not pieces:
            if self._request.is_whole or not self._rest():
                return 0
        piece = pieces.popleft()
        count = min(len(piece), len(buffer))
        buffer[:count] = piece[:count]
        if count < len(piece):
            pieces.appendleft(piece[count:])
        return count


class Requests:
    """Those of one connection, in their order. A client may send the next before it has the answer to the last."""

    def __init__(self, in_common: dict[str, Any]) -> None:
        self._in_common = in_common
        """What the environments of all of them have."""
        self._known = Headers()
        self._parser = httptools.HttpRequestParser(self)
        self.begun: deque[Request] = deque()
        """Those whose headers have all come, and that nobody has taken yet."""
        self._last: Request
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._has_head = False
        """Whether the last of them has come in so far,"""
        self._head_length = 0
        """and if not, how much of it has."""
        self.are_over = False
        """Whether what follows is no request of ours."""

    def environ(self, request: Request, rest: Callable[[], bool]) -> dict[str, Any]:
        """For the application; `rest` receives more of the body."""
        target = request.target if request.target.startswith(b"/") else _local(request.target)
        path, _, query = target.decode("latin-1").partition("?")
        if "%" in path:
            path = unquote_to_bytes(path.encode("latin-1")).decode("latin-1")
        if request.is_whole:
            body: io.BufferedIOBase = io.BytesIO(b"".join(request.body))
        else:
            body = io.BufferedReader(_Body(request, rest))
        return {
            **self._in_common,
            "REQUEST_METHOD": request.method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_PROTOCOL": f"HTTP/{request.version}",
            "wsgi.input": body,
            **self._known.as_wsgi(request.headers),
        }

    def take_in(self, content: bytes) -> None:
        """What has come. Raises Unreadable."""
        try:
            self._parser.feed_data(content)
        except httptools.HttpParserUpgrade:  # it is answered as it is, in the protocol that it came in
            self._last.keeps_alive = False
            self.are_over = True
        except httptools.HttpParserError:
            self.are_over = True
            raise Unreadable("400 Bad Request") from None
        self._head_length = 0 if self._has_head else self._head_length + len(content)
        if self._head_length > LONGEST_HEAD:
            self.are_over = True
            raise Unreadable("431 Request Header Fields Too Large")

    def close(self) -> None:
        """From here on nothing is kept of them: there may be secrets among their headers."""
        vars(self).clear()

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._target, self._headers = b"", []
        self._has_head = False

    def on_url(self, part: bytes) -> None:
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        parser = self._parser
        self._last = Request(
            parser.get_method().decode("ascii"),
            self._target,
            parser.get_http_version(),
            self._headers,
            keeps_alive=parser.should_keep_alive(),
        )
        self.begun.append(self._last)
        self._has_head = True

    def on_body(self, part: bytes) -> None:
        self._last.body.append(part)

    def on_message_complete(self) -> None:
        self._last.is_whole = True
