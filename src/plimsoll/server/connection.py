# SPDX-License-Identifier: Apache-2.0

"""One connection: receive requests, call the application, send the responses in the same order."""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
import time
from collections.abc import Iterator
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Any

from gevent import get_hub

from plimsoll.server.application_call import ApplicationCall
from plimsoll.server.limits import (
    DRAIN_FACTOR,
    JOINED_BYTES,
    LINGER_SECONDS,
    RATE_GRACE_SECONDS,
    RECEIVE_BYTES,
)
from plimsoll.server.parser import Request, RequestError, RequestParser
from plimsoll.server.response import format_head, status_line

if TYPE_CHECKING:
    from plimsoll.server.connections import Connections

LOG = logging.getLogger(__name__)

_READABLE = 1  # libev's EV_READ
_LAST_CHUNK = b"0\r\n\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_STALLED_SECONDS = 1.0
_UNSENT_IN_KERNEL = 1 << 17
"""Bytes of a long response that the kernel buffers beyond those in flight. With a larger buffer, a slow client that
receives continuously would look stalled: the kernel may accept megabytes at once, and then nothing for seconds."""
_FAILED = "An unexpected error occurred. The log of the service has more about this request."


class Phase(Enum):
    IDLE = "waits for the first byte of a request"
    RECEIVING = "waits for the rest of a request"
    PROCESSING = "the application runs"
    SENDING = "waits until the client has received a response"


class Connection:
    def __init__(self, connections: Connections, opened: socket.socket, peer: Any) -> None:
        self._set_options(opened)
        self.peer = str(peer[0])
        self._peer = peer
        self.since = time.monotonic()
        """When the phase began."""
        self.body_bytes = 0
        """Bytes received of a request body that is incomplete."""
        self._phase = Phase.IDLE
        self._moved = 0
        """Bytes that were received or sent in this phase."""
        self._moved_at = 0.0
        """When the last of them were received or sent."""
        self._held_bytes = 0
        """Bytes of a long response, or of a piece of one, until the client has received them or the connection is closed."""
        self._is_expired = False
        """True if a deadline has passed: then the worker, not the client, has ended the input."""
        self._connections = connections
        self._runtime = connections.runtime
        self._socket = opened
        self._descriptor = opened.fileno()
        self._input = get_hub().loop.io(self._descriptor, _READABLE)
        self._parser = RequestParser(_common_environ(connections.server, peer), connections.limits)
        self._application = ApplicationCall(connections, self._descriptor)

    def serve(self) -> None:
        request = None
        try:
            while (request := self._next_request()) is not None:
                if request.error is None and not request.is_complete and not request.has_long_body:
                    self._receive_body(request)
                if request.error is not None:
                    raise request.error
                if not self._respond(request):
                    self._linger()
                    return
                request = None  # not to keep its headers while the connection waits for the next one
        except RequestError as error:
            LOG.info("A request from %s is refused with %s: %s", self.peer, error.status, error.detail)
            is_head = request is not None and request.method == "HEAD"
            self._send_error(error.status, error.detail, is_head=is_head)
            self._linger()

    def _set_options(self, opened: socket.socket) -> None:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._count_body(0)
        self._set_held_bytes(0)
        self._parser.close()
        self._input.close()
        self._socket.close()

    # Deadlines, which the worker enforces about once a second.

    @property
    def is_idle(self) -> bool:
        return self._phase is Phase.IDLE

    @property
    def stalled_bytes(self) -> int:
        """Bytes of memory that a response takes whose client has received nothing for a while."""
        return self._held_bytes if time.monotonic() - self._moved_at > _STALLED_SECONDS else 0

    def waits_since(self, moment: float) -> bool:
        """True if it has been waiting for its client since then."""
        return self._phase is not Phase.PROCESSING and max(self.since, self._moved_at) <= moment

    def is_late(self, now: float) -> bool:
        limits, elapsed = self._connections.limits, now - self.since
        match self._phase:
            case Phase.IDLE:
                return elapsed > limits.keep_alive_timeout
            case Phase.RECEIVING:
                return elapsed > limits.request_timeout or self._is_slow(elapsed)
            case Phase.SENDING:
                return self._is_slow(elapsed)
        return False

    def expire(self) -> None:
        """End the wait for the client. A request that is incomplete gets a 408."""
        is_second_time, self._is_expired = self._is_expired, True
        if self._phase is Phase.RECEIVING and not is_second_time:
            with contextlib.suppress(OSError):  # it may be closed already
                self._socket.shutdown(socket.SHUT_RD)
        else:
            self._set_held_bytes(0)
            self.shut_down()

    def shut_down(self) -> None:
        """End every wait on this connection. Bytes received and not yet read are dropped: no response can be sent."""
        self._is_expired = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _is_slow(self, elapsed: float) -> bool:
        return (
            elapsed > RATE_GRACE_SECONDS
            and self._moved < self._connections.limits.min_transfer_rate * elapsed
        )

    def _enter(self, phase: Phase) -> None:
        self._phase = phase
        self.since = self._moved_at = time.monotonic()
        self._moved = 0

    # Requests.

    def _next_request(self) -> Request | None:
        """Receive a request up to the end of its head. None at the end of the connection."""
        parser = self._parser
        if parser.parsed:
            self._runtime.yield_now()  # a client that sends many requests at once must not keep others waiting
        else:
            self._enter(Phase.IDLE)
        while not parser.parsed:
            if parser.error is not None:
                raise parser.error
            content = self._receive()
            if not content:
                if self._is_expired and self._phase is Phase.RECEIVING:
                    raise self._too_slow()
                return None
            parser.feed(content)
            if not parser.parsed and self._phase is Phase.IDLE:
                self._enter(Phase.RECEIVING)
            self._moved += len(content)
        return parser.parsed.popleft()

    def _receive_body(self, request: Request) -> None:
        """Receive the rest of a body, or as much of it as is allowed."""
        if request.expects_continue:
            request.expects_continue = False
            self._send(_CONTINUE)
        if self._phase is not Phase.RECEIVING:
            self._enter(Phase.RECEIVING)
        while not request.is_complete and not request.has_long_body:
            if not self._receive_more():
                error = self._too_slow() if self._is_expired else None
                raise error or RequestError(400, "The connection was closed before the body was complete.")
            if request.error is not None:
                return
            self._count_body(len(request.body))
        self._count_body(0)

    def _drain(self, request: Request) -> bool:
        """Receive and discard a body that is too long; False if its end does not arrive."""
        if request.expects_continue:  # the client sends its body only after 100 Continue, which was not sent
            return False
        limit = DRAIN_FACTOR * self._connections.limits.max_body_bytes
        length = next((int(value) for name, value in request.headers if name.lower() == b"content-length"), 0)
        if length > limit:
            return False
        self._enter(Phase.RECEIVING)
        while not request.is_complete:
            if self._moved > limit or not self._receive_more() or request.error is not None:
                return False
        return True

    def _receive_more(self) -> bool:
        """Receive a piece of a body; False at the end of the connection."""
        content = b"" if self._parser.error else self._receive()
        if content:
            self._moved += len(content)
            self._moved_at = time.monotonic()
            self._parser.feed(content)
        return bool(content)

    def _receive(self) -> bytes:
        if self._phase is Phase.IDLE:
            get_hub().wait(self._input)  # a receive would fail at first, as nothing has arrived yet
        else:
            self._runtime.yield_now()  # a client that sends without a pause must not keep others waiting
        content: bytes = self._socket.recv(RECEIVE_BYTES)
        return b"" if self._is_expired else content

    def _too_slow(self) -> RequestError:
        limits = self._connections.limits
        return RequestError(
            408,
            f"The request did not arrive in time. It may take {limits.request_timeout:g} seconds, with at least"
            f" {limits.min_transfer_rate} bytes per second; and all requests that arrive at the same time may have"
            f" {limits.max_buffered_bytes} bytes.",
        )

    def _count_body(self, size: int) -> None:
        change, self.body_bytes = size - self.body_bytes, size
        self._connections.count_body(change)

    def _set_held_bytes(self, size: int) -> None:
        change, self._held_bytes = size - self._held_bytes, size
        self._connections.count_response(change)

    # Responses.

    def _respond(self, request: Request) -> bool:
        """Respond to a request; False if the connection ends with it."""
        self._phase = Phase.PROCESSING
        forwarder = self._connections.forwarder
        forwarded = None if forwarder is None else forwarder.forward(request, self._peer)
        if forwarded is not None:
            headers = [*forwarded.headers, *self._connection_headers(request)]
            return self._send_response(forwarded.status, headers, forwarded.body)
        environ = self._environ(request)
        is_head = request.method == "HEAD"
        try:
            called = self._application.call(request, environ)
            if called is None:
                return self._send_error(500, _FAILED, is_head=is_head)
            body, rest = called
            is_drained = request.is_complete or self._drain(request)
            headers = self._application.headers
            is_chunked = rest is not None and request.version != "1.0"
            if is_chunked:
                headers.append(("transfer-encoding", "chunked"))
            headers += self._connection_headers(request, is_drained=is_drained, has_length=rest is None)
            if rest is None:
                return self._send_response(self._application.status, headers, body, is_head=is_head)
            pieces = chain((body,), rest)
            return self._send_pieces(headers, pieces, is_chunked=is_chunked, is_head=is_head)
        except ValueError:
            LOG.exception("The response to %s %s cannot be sent", request.method, environ["PATH_INFO"])
            return self._send_error(500, _FAILED, is_head=is_head)
        finally:
            self._application.close(environ)
            self._connections.note_large(request.received)

    def _environ(self, request: Request) -> dict[str, Any]:
        """Return the WSGI environment of a request."""
        return self._parser.environ(request)

    def _connection_headers(
        self, request: Request, *, is_drained: bool = True, has_length: bool = True
    ) -> list[tuple[str, str]]:
        """Return the header of a response that ends the connection or keeps it open, if it needs one."""
        if not request.keeps_alive or not is_drained or self._connections.is_draining:
            return [("connection", "close")]
        if request.version == "1.0":
            # Without a length, the end of the connection is the end of the body.
            return [("connection", "keep-alive" if has_length else "close")]
        return []

    def _send_error(self, status: int, detail: str, *, is_head: bool) -> bool:
        headers, body = self._connections.app.error_response(status, detail)
        headers = [*headers, ("connection", "close")]
        return self._send_response(status_line(status), headers, body, is_head=is_head)

    def _send_response(
        self, status: str, headers: list[tuple[str, str]], body: bytes, *, is_head: bool = False
    ) -> bool:
        """Send a response; False if its headers end the connection."""
        head, goes_on = format_head(status, headers, len(body))
        if is_head:
            body = b""
        self._enter(Phase.SENDING)
        if len(body) <= JOINED_BYTES:
            self._send(head + body)
        else:
            self._send(head)
            self._limit_unsent()
            self._send_held(body)
        return goes_on

    def _limit_unsent(self) -> None:
        if sys.platform == "linux":
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_IN_KERNEL)

    def _send_pieces(
        self, headers: list[tuple[str, str]], pieces: Iterator[bytes], *, is_chunked: bool, is_head: bool
    ) -> bool:
        """Send a body of unknown length, piece by piece; False if the connection ends with it.

        The application computes a piece when the client has received the one before, without a permit.
        """
        head, goes_on = format_head(self._application.status, headers, None)
        self._enter(Phase.SENDING)
        self._send(head)
        if is_head:
            return goes_on
        try:
            for piece in self._awaited(filter(None, pieces)):
                self._send_held(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
                self._moved += len(piece)
                self._runtime.yield_now()
        except OSError:
            raise
        except Exception:
            # The client sees that the end is missing: a chunked body has no last chunk.
            LOG.exception("The application failed within the response")
            return False
        if is_chunked:
            self._send(_LAST_CHUNK)
        return goes_on

    def _awaited(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a body. Of a stream, each has the deadlines of a response of its own."""
        if not self._application.is_stream:
            yield from pieces
            return
        while True:
            self._enter(Phase.PROCESSING)
            piece = next(pieces, None)
            if piece is None:
                return
            self._enter(Phase.SENDING)
            yield piece

    def _send_held(self, content: bytes) -> None:
        """Send bytes that count as memory of responses until the client has received them."""
        self._set_held_bytes(len(content))
        self._send(content)
        self._set_held_bytes(0)

    def _send(self, content: bytes) -> None:
        sent = self._socket.send(content)
        if sent == len(content):
            return
        rest = memoryview(content)[sent:]
        while rest:
            self._moved += sent
            self._moved_at = time.monotonic()
            sent = self._socket.send(rest)
            rest = rest[sent:]

    def _linger(self) -> None:
        """Close our half of the connection and keep reading for a while: else a client that still sends would lose
        the response."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            end = time.monotonic() + LINGER_SECONDS
            while (left := end - time.monotonic()) > 0:
                self._socket.settimeout(left)
                if not self._socket.recv(RECEIVE_BYTES):
                    return
                self._runtime.yield_now()


def _common_environ(server: tuple[str, int], peer: Any) -> dict[str, Any]:
    """Return the part that the WSGI environments of all requests of a connection share."""
    return {
        "SCRIPT_NAME": "",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": str(peer[0]),
        "REMOTE_PORT": str(peer[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
    }
