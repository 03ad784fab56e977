# SPDX-License-Identifier: Apache-2.0

"""Parse the bytes of a connection into requests with llhttp, and make the checks that llhttp leaves out.

docs/internals/http-server.md lists the requirements of RFC 9112 and where each of them is met.
"""

from __future__ import annotations

import io
import re
from collections import deque
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

import httptools

from plimsoll.server.headers import as_wsgi
from plimsoll.server.limits import (
    LARGE_BYTES,
    MAX_CHUNK_OVERHEAD,
    MAX_ESCAPES,
    MAX_FIELD_BYTES,
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_LIST_ITEMS,
    MAX_PARAMETERS,
    MAX_PATH_BYTES,
    Limits,
)

_ABSOLUTE = re.compile(rb"https?://([^/?#]+)([^?#]*)(\?[^#]*)?\Z", re.IGNORECASE)
_HOST = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?\Z")
_METHOD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ")
_ANY_KNOWN_METHOD = b"POST "
_CHECKED_LENGTHS = frozenset(map(len, (b"host", b"expect", b"content-length", b"transfer-encoding")))
"""Lengths of the names of headers that are checked: most others are skipped by their length."""
_SHORT_HEAD_BYTES = 1 << 10
"""A head of up to this length has no list that is too long."""


class RequestError(Exception):
    """A request that is refused before the application sees it. The connection is closed after the response."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


@dataclass(slots=True, eq=False)
class Request:
    """A request whose head is complete, and as much of its body as has arrived."""

    method: str
    target: bytes
    version: str
    line: bytes
    """The first line, for the log."""
    headers: list[tuple[bytes, bytes]]
    keeps_alive: bool
    authority: bytes | None = None
    """The host of a target in absolute form. It replaces the Host header."""
    expects_continue: bool = False
    error: RequestError | None = None
    body: bytes | bytearray = b""
    received: int = 0
    """Bytes of the body that have arrived."""
    has_long_body: bool = False
    """True if the body is longer than `max_body_bytes`: then it is discarded as it arrives."""
    is_complete: bool = False


class RequestParser:
    """Parses the requests of one connection. A client may send several before it reads the first response."""

    def __init__(self, common: dict[str, Any], limits: Limits) -> None:
        self._common = common
        """The part that the WSGI environments of all requests share."""
        self._limits = limits
        self._parser = httptools.HttpRequestParser(self)
        self.parsed: deque[Request] = deque()
        """Requests whose head is complete, in the order of their arrival."""
        self.error: RequestError | None = None
        """Why nothing more can be parsed. Raised after the requests in `parsed` have their responses."""
        self.is_in_head = False
        """True if the head of the next request has begun to arrive and is not complete."""
        self._request: Request | None = None
        """The request whose body is being parsed."""
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._raw_head: bytes | bytearray = b""
        """All bytes since the start of the piece in which the current head began."""
        self._bytes_without_progress = 0
        self._framed_bytes = 0
        """Bytes received since the head of the request whose body is being parsed, including the framing of chunks."""
        self._has_progress = False
        self._unknown_method: str | None = None

    def feed(self, content: bytes) -> None:
        """Parse a piece of the bytes that the connection received."""
        if self.is_in_head:
            self._raw_head += content
        else:
            self._raw_head = content
        self._has_progress = False
        try:
            self._parser.feed_data(content)
        except httptools.HttpParserUpgrade:
            self._refuse_upgrade()
        except httptools.HttpParserInvalidMethodError:
            self._retry_unknown_method(content)
        except httptools.HttpParserError as error:
            self._fail(400, f"The request is malformed: {error}.")
        request = self._request
        if self._has_progress and (request is None or request.is_complete):
            self._bytes_without_progress = 0
        else:
            self._check_progress(len(content))
        if not self.is_in_head:
            self._raw_head = b""
            self._headers = []
            if request is not None and request.is_complete:
                self._request = None  # free it while the connection waits for the next request
        elif self._raw_head is content:
            self._raw_head = bytearray(content)

    def environ(self, request: Request) -> dict[str, Any]:
        """Return the WSGI environment of a request."""
        path, _, query = request.target.decode("latin-1").partition("?")
        if "%" in path:
            path = unquote_to_bytes(path.encode("latin-1")).decode("latin-1")
        environ = {
            **self._common,
            "REQUEST_METHOD": request.method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_PROTOCOL": f"HTTP/{request.version}",
            "wsgi.input": _input(request) if request.body else io.BytesIO(),
            **as_wsgi(request.headers),
        }
        if request.authority is not None:
            environ["HTTP_HOST"] = request.authority.decode("latin-1")
        if request.has_long_body and "CONTENT_LENGTH" not in environ:
            environ["CONTENT_LENGTH"] = str(request.received)  # so far: enough to see that it is too long
        return environ

    def close(self) -> None:
        """Drop all state: headers may contain secrets, and the parser has a reference cycle with this object."""
        vars(self).clear()

    def _fail(self, status: int, detail: str) -> None:
        """Refuse the request that is being parsed, and all that follow it."""
        error = RequestError(status, detail)
        self.error = error
        if self._request is not None and not self._request.is_complete:
            self._request.error = error

    def _check_progress(self, received: int) -> None:
        """Limit the bytes outside of heads and bodies: chunk extensions, tiny chunks, trailers, empty lines."""
        self._bytes_without_progress = 0 if self._has_progress else self._bytes_without_progress + received
        excess = self._bytes_without_progress
        request = self._request
        if request is not None and not request.is_complete:
            self._framed_bytes += received
            excess = max(excess, self._framed_bytes - MAX_CHUNK_OVERHEAD * request.received)
        if excess > MAX_HEAD_BYTES and self.error is None:
            self._fail(
                431, f"Head, chunk extensions and trailers of a request may have {MAX_HEAD_BYTES} bytes each."
            )

    def _refuse_upgrade(self) -> None:
        """Handle a request for another protocol: none is supported. llhttp does not parse its body."""
        request = self._request
        assert request is not None
        has_body = any(
            name.lower() in (b"content-length", b"transfer-encoding") for name, _ in request.headers
        )
        if request.method == "CONNECT":
            request.error = RequestError(501, "CONNECT is not supported.")
        elif has_body:
            request.error = RequestError(
                501, "A request with a body cannot ask for an upgrade of the protocol."
            )
        request.keeps_alive = False
        self.error = RequestError(400, "The connection is closed after a request for an upgrade.")

    def _retry_unknown_method(self, content: bytes) -> None:
        """Parse a request with a method that llhttp does not support as a POST: the application handles any method."""
        match = _METHOD.match(content)
        if self._raw_head is not content or self._has_progress or self._unknown_method:
            self._fail(400, "The request is malformed, or has a method that is not supported.")
            return
        if match is None:
            self._fail(400, "The request is malformed: it does not begin with a method.")
            return
        self._unknown_method = match[1].decode("ascii")
        self._parser = httptools.HttpRequestParser(self)
        content = _ANY_KNOWN_METHOD + content[match.end() :]
        self.is_in_head = False
        self.feed(content)

    # Called by the parser.

    def on_message_begin(self) -> None:
        self._target, self._headers = b"", []
        self._framed_bytes = 0
        self.is_in_head = True
        self._request = None

    def on_url(self, part: bytes) -> None:
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.is_in_head:  # else it is a trailer: a proxy in front has not checked it, so it is no header
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        parser = self._parser
        method = parser.get_method()
        version = parser.get_http_version()
        line = b"%s %s HTTP/%s\r\n" % (method, self._target, version.encode())
        name = self._unknown_method or method.decode("ascii")  # an unknown one has POST in its place
        self._unknown_method = None
        request = Request(name, self._target, version, line, self._headers, parser.should_keep_alive())
        self._request = request
        self.is_in_head = False
        self._has_progress = True
        self.parsed.append(request)
        try:
            self._check(request)
        except RequestError as error:
            request.error = error

    def on_body(self, part: bytes) -> None:
        request = self._request
        assert request is not None
        self._has_progress = True
        request.received += len(part)
        if request.has_long_body:
            return
        if request.received > self._limits.max_body_bytes:
            request.has_long_body = True
            request.body = b""
        elif request.body:
            request.body += part
        else:
            request.body = bytearray(part)

    def on_message_complete(self) -> None:
        assert self._request is not None
        self._request.is_complete = True

    def _check(self, request: Request) -> None:
        is_long = len(self._raw_head) > MAX_HEAD_BYTES  # an upper bound: more than this head may have arrived
        if len(request.headers) > MAX_HEADERS or (is_long and _head_size(request) > MAX_HEAD_BYTES):
            raise RequestError(
                431, f"A request may have {MAX_HEADERS} headers, and {MAX_HEAD_BYTES} bytes before its body."
            )
        if request.version not in ("1.0", "1.1"):
            raise RequestError(505, "This server supports HTTP/1.1 and HTTP/1.0.")
        if request.line not in self._raw_head:  # another protocol, or more than one space
            raise RequestError(
                400, "The first line of a request must be METHOD TARGET HTTP/1.1, with single spaces."
            )
        self._check_headers(request)
        if len(self._raw_head) > _SHORT_HEAD_BYTES:
            _check_lists(request)
        if not request.target.startswith(b"/") or b"#" in request.target:
            _set_target(request)

    def _check_headers(self, request: Request) -> None:
        hosts = []
        for name, value in request.headers:
            if len(name) not in _CHECKED_LENGTHS:
                continue
            name = name.lower()
            if name == b"host":
                hosts.append(value.rstrip(b" \t"))
            elif name == b"expect" and request.version == "1.1":
                if value.rstrip(b" \t").lower() != b"100-continue":
                    raise RequestError(417, "Of the Expect header, only 100-continue is supported.")
                request.expects_continue = True
            elif name == b"content-length":
                request.has_long_body = int(value) > self._limits.max_body_bytes
            elif name == b"transfer-encoding":
                if request.version == "1.0":
                    raise RequestError(400, "HTTP/1.0 has no Transfer-Encoding.")
                if value.rstrip(b" \t").lower() != b"chunked":
                    raise RequestError(501, "Of the transfer codings, only chunked is supported.")
        if len(hosts) != 1 and (hosts or request.version == "1.1"):
            raise RequestError(400, "A request must have one Host header.")
        if hosts and _HOST.match(hosts[0]) is None:
            raise RequestError(400, "The Host header is not a host name or address.")


def _check_lists(request: Request) -> None:
    """Limit the parts of a head that take long to parse for their length."""
    path, _, query = request.target.partition(b"?")
    if len(path) > MAX_PATH_BYTES:
        raise RequestError(414, f"The path of a URL may have {MAX_PATH_BYTES} bytes.")
    if query.count(b"&") + query.count(b";") >= MAX_PARAMETERS:
        raise RequestError(414, f"The query of a URL may have {MAX_PARAMETERS} parameters.")
    if query.count(b",") + query.count(b"%2C") + query.count(b"%2c") > MAX_LIST_ITEMS:
        raise RequestError(414, f"The lists in the query of a URL may have {MAX_LIST_ITEMS} items.")
    if request.target.count(b"%") > MAX_ESCAPES:
        raise RequestError(414, f"A URL may have {MAX_ESCAPES} percent-encoded bytes.")
    sizes = dict.fromkeys(MAX_FIELD_BYTES, 0)
    for name, value in request.headers:
        name = name.lower()
        if name in sizes:
            sizes[name] += len(value) + 1
            if sizes[name] > MAX_FIELD_BYTES[name]:
                raise RequestError(
                    431, f"The header {name.decode()} may have {MAX_FIELD_BYTES[name] - 1} bytes."
                )


def _head_size(request: Request) -> int:
    return len(request.line) + sum(len(name) + len(value) + 4 for name, value in request.headers)


class LargeInput(io.BytesIO):
    """A body whose memory is freed after it was read as a whole."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._size = len(content)

    def read(self, size: int | None = -1, /) -> bytes:
        content = super().read(size)
        if len(content) == self._size:
            self.seek(0)
            self.truncate()
        return content


def _input(request: Request) -> io.BytesIO:
    """Return the body as a file, and remove it from the request: a connection may be idle for long afterwards."""
    # bytes, because BytesIO copies a bytearray, but shares bytes with its reader.
    body, request.body = bytes(request.body), b""
    return LargeInput(body) if len(body) > LARGE_BYTES else io.BytesIO(body)


def _set_target(request: Request) -> None:
    """Reduce a target that is no plain path to path and query."""
    target = request.target
    if b"#" in target:
        raise RequestError(400, "The target of a request has no fragment.")
    if target == b"*":
        if request.method != "OPTIONS":
            raise RequestError(400, "Only OPTIONS can have the target *.")
        return
    match = _ABSOLUTE.match(target)
    if match is None or _HOST.match(match[1]) is None:
        if request.method != "CONNECT":  # whose target is an authority; it is refused elsewhere
            raise RequestError(400, "The target of a request is a path, or an http:// address.")
        return
    request.authority = match[1]
    request.target = (match[2] or b"/") + (match[3] or b"")
