# SPDX-License-Identifier: Apache-2.0

"""Requests as they come in on one connection: read by llhttp, and turned into what WSGI calls an environment."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

import httptools

LONGEST_HEAD = 1 << 16
"""Bytes of a request's first line and headers. A token of Keystone may take several thousand."""
AT_HAND = 1 << 18
"""Bytes of a body that are waited for before the application is called; it reads the rest by itself."""

_CONTENT = {b"content-length": "CONTENT_LENGTH", b"content-type": "CONTENT_TYPE"}


class Unreadable(Exception):
    """What came in is no request that can be answered, but for this status."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class Request:
    """As much of it as has come in."""

    __slots__ = ("body", "has_head", "headers", "is_whole", "keeps_alive", "method", "target", "version")

    def __init__(self) -> None:
        self.target = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.body: deque[bytes] = deque()
        self.has_head = self.is_whole = self.keeps_alive = False
        self.method = self.version = ""

    @property
    def expects_a_word(self) -> bool:
        """Before it sends its body."""
        return self.version == "1.1" and any(
            name.lower() == b"expect" and value.lower() == b"100-continue" for name, value in self.headers
        )

    def environ(self, fixed: dict[str, Any], rest: Callable[[], bool]) -> dict[str, Any]:
        """For the application; `fixed` is the same for all requests, `rest` receives more of the body."""
        path, _, query = self._local_target().partition(b"?")
        if b"%" in path:
            path = unquote_to_bytes(path)
        environ = {
            **fixed,
            "REQUEST_METHOD": self.method,
            "PATH_INFO": path.decode("latin-1"),
            "QUERY_STRING": query.decode("latin-1"),
            "SERVER_PROTOCOL": f"HTTP/{self.version}",
            "wsgi.input": self._input(rest),
        }
        for name, value in self.headers:
            key = _key(name)
            if key is None:
                continue
            text = value.decode("latin-1").rstrip(" \t")
            environ[key] = f"{environ[key]},{text}" if key in environ else text
        return environ

    def _local_target(self) -> bytes:
        """Proxies may be sent whole addresses; of which host, the headers say as well."""
        if self.target.startswith(b"/"):
            return self.target
        _, scheme, address = self.target.partition(b"://")
        return b"/" + address.partition(b"/")[2] if scheme else self.target

    def _input(self, rest: Callable[[], bool]) -> Any:
        if self.is_whole:
            return io.BytesIO(self.body[0] if len(self.body) == 1 else b"".join(self.body))
        return io.BufferedReader(_Body(self, rest))


@lru_cache(maxsize=1024)
def _key(name: bytes) -> str | None:
    """None for a name that would be taken for another one, which a proxy in front may have vouched for."""
    name = name.lower()
    if b"_" in name:
        return None
    return _CONTENT.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")


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

    def __init__(self, receive: Callable[[], bytes]) -> None:
        self._receive = receive
        self._parser = httptools.HttpRequestParser(self)
        self._begun: deque[Request] = deque()
        self._last = Request()
        self._head_length = 0
        self._is_over = False
        """Whether what follows is no request of ours."""

    def next(self) -> Request | None:
        """The next one, with all its headers; None if there is none any more. Raises Unreadable."""
        while not self._begun or not self._begun[0].has_head:
            if not self.receive():
                return None
        return self._begun.popleft()

    def wait_for_body(self, request: Request) -> None:
        """Until it is there, or enough of it."""
        while not request.is_whole and sum(map(len, request.body)) < AT_HAND:
            if not self.receive():
                return

    def receive(self) -> bool:
        """Takes in what has come, or waits for it; whether anything came."""
        content = b"" if self._is_over else self._receive()
        if not content:
            return False
        try:
            self._parser.feed_data(content)
        except httptools.HttpParserUpgrade:  # it is answered as it is, in the protocol that it came in
            self._last.keeps_alive = False
            self._is_over = True
        except httptools.HttpParserError:
            self._is_over = True
            raise Unreadable("400 Bad Request") from None
        self._head_length = 0 if self._last.has_head else self._head_length + len(content)
        if self._head_length > LONGEST_HEAD:
            self._is_over = True
            raise Unreadable("431 Request Header Fields Too Large")
        return True

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._last = Request()
        self._begun.append(self._last)

    def on_url(self, part: bytes) -> None:
        self._last.target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        self._last.headers.append((name, value))

    def on_headers_complete(self) -> None:
        last, parser = self._last, self._parser
        last.method = parser.get_method().decode("ascii")
        last.version = parser.get_http_version()
        last.keeps_alive = parser.should_keep_alive()
        last.has_head = True

    def on_body(self, part: bytes) -> None:
        self._last.body.append(part)

    def on_message_complete(self) -> None:
        self._last.is_whole = True
