# SPDX-License-Identifier: Apache-2.0

"""Forward requests that write to one worker of the service, the writer, so that one process commits for all of them.

Workers that write by themselves take turns at the lock of the database, commit small batches, and follow each other's
changes. The writer commits the requests of all workers in large batches. Reads stay where they arrive.

The writer is the worker that has bound the service's name, a Unix socket in the abstract namespace. The kernel releases
the name when the process ends or closes the socket; the first worker that needs a writer then becomes the next one. A
request that cannot be forwarded is processed where it arrived: several writers are correct, only slower.
"""

from __future__ import annotations

import errno
import logging
import os
import secrets
import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httptools

from plimsoll.server.limits import JOINED_BYTES, MAX_HEAD_BYTES, MAX_HEADERS
from plimsoll.server.parser import Request

LOG = logging.getLogger(__name__)

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))
"""Methods that do not write (RFC 9110, 9.2.1)."""
PEER = b"plimsoll-peer"
"""The first header of a forwarded request: the address and port of its client."""
HANG_SECONDS = 5.0
"""Without any response of the writer for this time, further requests are processed where they arrived."""
RESPONSE_SECONDS = 180.0
"""How long a forwarded request waits for the writer: longer than the deadlines of a write together, see ledger-deadlines.md."""

_OF_CONNECTION = frozenset(
    (b"connection", b"keep-alive", b"expect", b"upgrade", b"te", b"transfer-encoding", b"content-length")
)
"""Headers of a request that are not forwarded: they concern the connection, or the framing of the body."""
_MAX_BODY_BYTES = JOINED_BYTES
"""A request with a longer body is processed where it arrived: its commit takes long anyway, and a copy takes memory."""
_SET_BY_SERVER = frozenset((b"connection", b"date", b"transfer-encoding", b"content-length"))
"""Headers of a response that each server sets by itself."""
MAX_FORWARDED = 64
"""Requests of one worker that are forwarded at a time. The writer processes `threads` at a time; more are processed where they arrive."""
_RECEIVE_BYTES = 1 << 16
_BACKLOG = 1024
_ATTEMPTS = 3
_PEER_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid


def new_name() -> str:
    """Return a name for the writer of one service; empty if the system has no abstract names."""
    return f"plimsoll-{secrets.token_hex(16)}" if sys.platform == "linux" else ""


def is_same_user(opened: socket.socket) -> bool:
    """True if the process at the other end runs as the user of this one. Any user may connect to, or bind, an abstract name."""
    size = _PEER_CREDENTIALS.size
    _, user, _ = _PEER_CREDENTIALS.unpack(opened.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return bool(user == os.geteuid())


@dataclass(slots=True)
class ForwardedResponse:
    """The writer's response, without the headers that concern the connection to it."""

    status: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    keeps_alive: bool = True


class Forwarder:
    """Forwards requests of this worker to the writer, or makes this worker the writer."""

    def __init__(self, name: str, serve_as_writer: Callable[[socket.socket], None]) -> None:
        """`serve_as_writer` begins to accept connections on the socket that it is called with."""
        self._address = f"\0{name}"
        self._serve_as_writer = serve_as_writer
        self._idle: list[socket.socket] = []
        """Connections to the writer. The last one was used last."""
        self._waiting = 0
        """Requests that wait for the writer."""
        self._responded_at = 0.0
        """When the writer has responded last, or when the first of the requests that wait was sent."""
        self._is_stopping = False
        self.is_writer = False

    def become_writer(self) -> bool:
        """Become the writer if there is none."""
        if self._is_stopping:
            return False
        try:
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError:  # too many open files
            return False
        try:
            listening.bind(self._address)
            listening.listen(_BACKLOG)
            listening.setblocking(False)
        except OSError:
            listening.close()
            return False
        self.is_writer = True
        self._serve_as_writer(listening)
        self._close_idle()
        return True

    def stop(self) -> None:
        """Process the remaining requests of this worker here. To be called when it accepts no more connections."""
        self._is_stopping = True
        self.is_writer = False
        self._close_idle()

    def forward(self, request: Request, peer: Any) -> ForwardedResponse | None:
        """Return the writer's response, or None if this worker has to process the request.

        Raise OSError if the connection was lost after the request was sent: it was processed or not, as if this worker
        had ended while it processed it.
        """
        if self.is_writer or self._is_stopping or self._is_writer_late() or not _may_be_forwarded(request):
            return None
        if not self._waiting:
            self._responded_at = time.monotonic()
        self._waiting += 1
        try:
            return self._forward(_format(request, peer))
        except (OSError, httptools.HttpParserError) as error:
            LOG.warning(
                "The worker that writes has ended, or hangs, without a response to %s %s: it was written or not. The client's"
                " connection is closed.",
                *(request.method, request.target.decode("latin-1")),
            )
            raise ConnectionResetError from error
        finally:
            self._waiting -= 1
            self._responded_at = time.monotonic()

    def _is_writer_late(self) -> bool:
        """True if too many requests wait for the writer, or wait for too long: it is overloaded or hangs."""
        return self._waiting >= MAX_FORWARDED or (
            self._waiting > 0 and time.monotonic() - self._responded_at > HANG_SECONDS
        )

    def _forward(self, message: bytes) -> ForwardedResponse | None:
        for _ in range(_ATTEMPTS + len(self._idle)):
            connection = self._idle.pop() if self._idle else self._connect()
            if connection is None:
                return None
            response: ForwardedResponse | None = None
            try:
                if _send(connection, message):
                    response = _receive(connection)
                    return response
            finally:
                if response is None or not response.keeps_alive or self.is_writer or self._is_stopping:
                    connection.close()
                else:
                    self._idle.append(connection)
        return None

    def _connect(self) -> socket.socket | None:
        """Connect to the writer. None if there is none: then this worker becomes the writer, if it can."""
        try:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError:  # too many open files
            return None
        try:
            # Without blocking, as gevent would poll in a busy loop while the writer accepts no connection.
            connection.setblocking(False)
            connection.connect(self._address)
            connection.settimeout(RESPONSE_SECONDS)
            if is_same_user(connection):
                return connection
        except OSError as error:
            if error.errno == errno.ECONNREFUSED:
                self.become_writer()
        connection.close()
        return None

    def _close_idle(self) -> None:
        for each in self._idle:
            each.close()
        self._idle.clear()


def _may_be_forwarded(request: Request) -> bool:
    return (
        request.method not in SAFE_METHODS
        and request.is_complete
        and _has_host(request)
        and len(request.body) <= _MAX_BODY_BYTES
        and not request.has_long_body
        # With two headers more it must not exceed the writer's limits.
        and len(request.headers) <= MAX_HEADERS - 2
        and len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers)
        < MAX_HEAD_BYTES // 2
    )


def _has_host(request: Request) -> bool:
    """Return False for a request of HTTP/1.0 without a Host header: as one of HTTP/1.1 it would be refused."""
    return request.version == "1.1" or any(name.lower() == b"host" for name, _ in request.headers)


def _format(request: Request, peer: Any) -> bytes:
    """Return the bytes of a request as the writer receives it."""
    has_length = bool(request.body) or any(name.lower() == b"content-length" for name, _ in request.headers)
    return b"".join(
        (
            b"%s %s HTTP/1.1\r\n" % (request.method.encode("latin-1"), request.target),
            b"%s: %s %s\r\n" % (PEER, str(peer[0]).encode(), str(peer[1]).encode()),
            *(
                b"%s: %s\r\n" % header
                for header in request.headers
                if (name := header[0].lower()) not in _OF_CONNECTION
                and not (name == b"host" and request.authority is not None)
            ),
            b"" if request.authority is None else b"host: %s\r\n" % request.authority,
            b"content-length: %d\r\n" % len(request.body) if has_length else b"",
            b"\r\n",
            request.body,
        )
    )


def _send(connection: socket.socket, message: bytes) -> bool:
    """Send a request. False if not all of it could be sent: the writer then processes none of it."""
    try:
        connection.sendall(message)
    except OSError:
        return False
    return True


def _receive(connection: socket.socket) -> ForwardedResponse:
    received = _Response()
    while not received.is_complete:
        content = connection.recv(_RECEIVE_BYTES)
        if not content:
            raise ConnectionResetError("The worker that writes has ended.")
        received.parser.feed_data(content)
    return received.result


class _Response:
    """Parses one response."""

    def __init__(self) -> None:
        self.result = ForwardedResponse()
        self.is_complete = False
        self.parser = httptools.HttpResponseParser(self)
        self._reason = b""
        self._body: list[bytes] = []

    def on_status(self, reason: bytes) -> None:
        self._reason += reason  # which may arrive in parts
        self.result.status = f"{self.parser.get_status_code()} {self._reason.decode('latin-1')}"

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() not in _SET_BY_SERVER:
            self.result.headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_body(self, part: bytes) -> None:
        self._body.append(part)

    def on_message_complete(self) -> None:
        self.result.body = b"".join(self._body)
        self.result.keeps_alive = self.parser.should_keep_alive()
        self.is_complete = True
