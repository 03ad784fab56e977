# SPDX-License-Identifier: Apache-2.0

"""The client: HTTP/1.1 over one kept-alive socket, with as little work per request as Python allows.

Requests are bytes made beforehand. An answer is read into one buffer by its content-length, and nothing of it is
looked at but the status and that length. Anything else that a server could do (chunks, a hang-up) is an error.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, NamedTuple

HOST = "127.0.0.1"
ANSWER_SECONDS = 900
"""The reference may take minutes for one answer; a client must not give up before it is known how many."""

_FIXED = (
    "host: 127.0.0.1\r\n"
    "x-auth-token: admin\r\n"
    "x-roles: admin,service\r\n"
    "openstack-api-version: placement 1.39\r\n"
    "accept: application/json\r\n"
)
_LENGTH = b"\r\ncontent-length:"
_END = b"\r\n\r\n"


class BadAnswer(Exception):
    """The server answered otherwise than the measurement expects, so there is nothing to measure."""


class Reply(NamedTuple):
    status: int
    body: memoryview
    """Valid until the next request on the same connection."""

    def json(self) -> Any:
        return json.loads(bytes(self.body))


def request(method: str, target: str, body: Any = None) -> bytes:
    """The bytes of a request, as an administrator at the newest version."""
    if body is None:
        return f"{method} {target} HTTP/1.1\r\n{_FIXED}\r\n".encode()
    content = json.dumps(body, separators=(",", ":"))
    return written(method, target, content)


def written(method: str, target: str, content: str) -> bytes:
    """The same with the JSON already written (in ASCII)."""
    return (
        f"{method} {target} HTTP/1.1\r\n{_FIXED}"
        f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n{content}"
    ).encode()


class Connection:
    """One connection: `send`, then `receive` as often as it takes, or `call` for both."""

    __slots__ = ("_buffer", "_got", "_needed", "_start", "_status", "socket")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A timeout of Python's would ask the system before each call whether it can be made.
        for end in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self.socket.setsockopt(socket.SOL_SOCKET, end, struct.pack("ll", ANSWER_SECONDS, 0))
        self._buffer = memoryview(bytearray(1 << 20))
        self._got = self._start = self._needed = self._status = 0

    def close(self) -> None:
        self.socket.close()

    def send(self, message: bytes) -> None:
        self._got = self._needed = 0
        self.socket.sendall(message)

    def call(self, message: bytes) -> Reply:
        self.send(message)
        while True:
            reply = self.receive()
            if reply is not None:
                return reply

    def receive(self) -> Reply | None:
        """Reads once; the reply if that completed it."""
        read = self.socket.recv_into(self._buffer[self._got :])
        if not read:
            raise BadAnswer("the server hung up")
        self._got += read
        if not self._needed:
            self._read_head()
        if not self._needed or self._got < self._needed:
            if self._got == len(self._buffer):
                self._grow(2 * len(self._buffer))
            return None
        if self._got > self._needed:
            raise BadAnswer(f"{self._got - self._needed} bytes came after the answer")
        return Reply(self._status, self._buffer[self._start : self._needed])

    def _read_head(self) -> None:
        head = bytes(self._buffer[: min(self._got, 4096)])
        end = head.find(_END)
        if end < 0:
            return
        head = head[: end + 2].lower()
        self._status = int(head[9:12])
        at = head.find(_LENGTH)
        if at < 0 and self._status != 204:
            raise BadAnswer(f"an answer without content-length: {head!r}")
        length = int(head[at + len(_LENGTH) : head.find(b"\r\n", at + 2)]) if at >= 0 else 0
        self._start = end + len(_END)
        self._needed = self._start + length
        if self._needed > len(self._buffer):
            self._grow(self._needed)

    def _grow(self, size: int) -> None:
        larger = memoryview(bytearray(size))
        larger[: self._got] = self._buffer[: self._got]
        self._buffer = larger
