# SPDX-License-Identifier: Apache-2.0

"""HTTP/1.1 client over one keep-alive socket, with as little work per request as Python allows.

Requests are bytes made in advance. A response is read into one buffer by its content-length; only the status and that
length are parsed. Anything else (chunked encoding, a closed connection) is an error.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, NamedTuple

HOST = "127.0.0.1"
RESPONSE_TIMEOUT_SECONDS = 900
"""Long, because the reference may take minutes for one response, and this time is to be measured."""

_FIXED = (
    "host: 127.0.0.1\r\n"
    "x-auth-token: admin\r\n"
    "x-roles: admin,service\r\n"
    "openstack-api-version: placement 1.39\r\n"
    "accept: application/json\r\n"
)
_LENGTH = b"\r\ncontent-length:"
_END = b"\r\n\r\n"


class UnexpectedResponse(Exception):
    """A response that the measurement does not expect: the measurement is invalid."""


class Response(NamedTuple):
    status: int
    body: memoryview
    """Valid until the next request on the same connection."""

    def json(self) -> Any:
        return json.loads(bytes(self.body))


def request(method: str, target: str, body: Any = None) -> bytes:
    """Return the bytes of a request by an administrator at the newest version."""
    if body is None:
        return f"{method} {target} HTTP/1.1\r\n{_FIXED}\r\n".encode()
    content = json.dumps(body, separators=(",", ":"))
    return request_with_json(method, target, content)


def request_with_json(method: str, target: str, content: str) -> bytes:
    """Return the bytes of a request with a body that is JSON text already (ASCII)."""
    return (
        f"{method} {target} HTTP/1.1\r\n{_FIXED}"
        f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n{content}"
    ).encode()


class Connection:
    """One connection: `send`, then `receive` until it returns a response, or `call` for both."""

    __slots__ = ("_buffer", "_needed", "_received", "_start", "_status", "socket")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A timeout of Python's socket would cost an extra poll() before each call.
        for end in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self.socket.setsockopt(socket.SOL_SOCKET, end, struct.pack("ll", RESPONSE_TIMEOUT_SECONDS, 0))
        self._buffer = memoryview(bytearray(1 << 20))
        self._received = self._start = self._needed = self._status = 0

    def close(self) -> None:
        self.socket.close()

    def send(self, message: bytes) -> None:
        self._received = self._needed = 0
        self.socket.sendall(message)

    def call(self, message: bytes) -> Response:
        self.send(message)
        while True:
            response = self.receive()
            if response is not None:
                return response

    def receive(self) -> Response | None:
        """Read once; return the response if it is complete, else None."""
        read = self.socket.recv_into(self._buffer[self._received :])
        if not read:
            raise UnexpectedResponse("the server closed the connection")
        self._received += read
        if not self._needed:
            self._read_head()
        if not self._needed or self._received < self._needed:
            if self._received == len(self._buffer):
                self._grow(2 * len(self._buffer))
            return None
        if self._received > self._needed:
            raise UnexpectedResponse(f"{self._received - self._needed} bytes received after the response")
        return Response(self._status, self._buffer[self._start : self._needed])

    def _read_head(self) -> None:
        head = bytes(self._buffer[: min(self._received, 4096)])
        end = head.find(_END)
        if end < 0:
            return
        head = head[: end + 2].lower()
        self._status = int(head[9:12])
        at = head.find(_LENGTH)
        if at < 0 and self._status != 204:
            raise UnexpectedResponse(f"a response without content-length: {head!r}")
        length = int(head[at + len(_LENGTH) : head.find(b"\r\n", at + 2)]) if at >= 0 else 0
        self._start = end + len(_END)
        self._needed = self._start + length
        if self._needed > len(self._buffer):
            self._grow(self._needed)

    def _grow(self, size: int) -> None:
        larger = memoryview(bytearray(size))
        larger[: self._received] = self._buffer[: self._received]
        self._buffer = larger
