# SPDX-License-Identifier: Apache-2.0

"""A raw HTTP client: sends any bytes on 127.0.0.1 and reads responses, each step with a deadline."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from dataclasses import dataclass
from typing import Any, Self

SECONDS = 20.0
"""How long one read or write may take."""
_LONGEST_HEAD = 1 << 20


class Closed(Exception):
    """The server closed the connection before a whole response was read."""


class TooLate(Exception):
    """No whole response within the deadline."""


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def is_closing(self) -> bool:
        return "close" in self.headers.get("connection", "").lower()

    @property
    def has_error_shape(self) -> bool:
        """True if the body is the API's error document for this status."""
        try:
            (error,) = self.json["errors"]
            return bool(error["status"] == self.status and {"title", "detail"} <= error.keys())
        except (ValueError, KeyError, TypeError):
            return False


class RawConnection:
    """One TCP connection. Responses are read in the order in which the requests were sent."""

    def __init__(self, port: int, seconds: float = SECONDS, receive_buffer: int | None = None) -> None:
        self._seconds = seconds
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:  # before it is connected: it decides the window
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._socket.settimeout(seconds)
        self._socket.connect(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()

    def send(self, content: bytes) -> None:
        self._socket.sendall(content)

    def try_send(self, content: bytes) -> bool:
        """Send unless the server has closed the connection; False if it has."""
        try:
            self._socket.sendall(content)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def end_sending(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def response(self, method: str = "GET", seconds: float | None = None) -> Response:
        """Read one final response; responses with status 1xx are skipped. Raises Closed and TooLate."""
        deadline = time.monotonic() + (self._seconds if seconds is None else seconds)
        while True:
            status, headers = self._head(deadline)
            if status >= 200:
                break
        has_body = method != "HEAD" and status not in (204, 304)
        if headers.get("content-type", "").startswith("text/event-stream"):  # it has no end
            return Response(status, headers | {"connection": "close"}, b"")
        if has_body and headers.get("transfer-encoding") == "chunked":
            return Response(status, headers, self._chunks(deadline))
        length = int(headers.get("content-length", "0")) if has_body else 0
        while len(self._received) < length:
            self._receive(deadline)
        body = bytes(self._received[:length])
        del self._received[:length]
        return Response(status, headers, body)

    def _chunks(self, deadline: float) -> bytes:
        body = bytearray()
        while True:
            while (end := self._received.find(b"\r\n")) < 0:
                self._receive(deadline)
            size = int(self._received[:end], 16)
            while len(self._received) < end + 2 + size + 2:
                self._receive(deadline)
            body += self._received[end + 2 : end + 2 + size]
            del self._received[: end + 2 + size + 2]
            if not size:
                return bytes(body)

    def interim_status(self, seconds: float | None = None) -> int:
        """Read the head of one response, interim or not: its status."""
        return self._head(time.monotonic() + (self._seconds if seconds is None else seconds))[0]

    def has_ended(self, seconds: float | None = None) -> bool:
        """True if the server closes the connection within the deadline without sending anything else."""
        deadline = time.monotonic() + (self._seconds if seconds is None else seconds)
        try:
            self._receive(deadline)
        except Closed:
            return not self._received
        except TooLate:
            return False
        return False

    def has_response(self) -> bool:
        """True if at least one byte of a response has arrived, without waiting."""
        if self._received:
            return True
        self._socket.setblocking(False)
        try:
            content = self._socket.recv(1 << 16)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self._socket.settimeout(self._seconds)
        self._received += content
        return True

    def reset(self) -> None:
        """Close without the usual exchange: the server gets a RST."""
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self._socket.close()

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _head(self, deadline: float) -> tuple[int, dict[str, str]]:
        while (end := self._received.find(b"\r\n\r\n")) < 0:
            assert len(self._received) < _LONGEST_HEAD, "the head of a response has no end"
            self._receive(deadline)
        first, *lines = bytes(self._received[:end]).decode("latin-1").split("\r\n")
        del self._received[: end + 4]
        version, status = first.split(" ")[:2]
        assert version.startswith("HTTP/1."), first
        pairs = (line.partition(":") for line in lines)
        return int(status), {name.strip().lower(): value.strip() for name, _, value in pairs}

    def _receive(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TooLate
        self._socket.settimeout(left)
        try:
            content = self._socket.recv(1 << 16)
        except TimeoutError:
            raise TooLate from None
        except ConnectionResetError:
            raise Closed from None
        finally:
            self._socket.settimeout(self._seconds)
        if not content:
            raise Closed
        self._received += content


def request(
    method: str,
    path: str,
    body: bytes | None = None,
    *lines: str,
    token: str | None = "admin",
    version: str = "1.39",
) -> bytes:
    """The bytes of a request as a usual client sends it; `lines` are further header lines."""
    head = [f"{method} {path} HTTP/1.1", "host: placement", f"openstack-api-version: placement {version}"]
    if token is not None:
        head.append(f"x-auth-token: {token}")
    if body is not None:
        head += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*head, *lines, "", ""]).encode("latin-1") + (body or b"")
