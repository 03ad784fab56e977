# SPDX-License-Identifier: Apache-2.0

"""The open connections of one worker: their deadlines, and the memory that they take."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from typing import Any

from plimsoll.runtime.greenlets import Greenlets
from plimsoll.server.application import ServedApplication
from plimsoll.server.connection import Connection
from plimsoll.server.forwarded_connection import ForwardedConnection
from plimsoll.server.forwarding import Forwarder, is_same_user
from plimsoll.server.limits import LARGE_BYTES, MAX_CONNECTIONS, Limits
from plimsoll.server.permits import Permits
from plimsoll.server.progress import RequestsInProgress

LOG = logging.getLogger(__name__)


class Connections:
    def __init__(
        self,
        app: ServedApplication,
        limits: Limits,
        server: tuple[str, int],
        runtime: Greenlets,
        in_progress: RequestsInProgress | None = None,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        self.app = app
        self.limits = limits
        self.server = server
        self.runtime = runtime
        self.permits = Permits(runtime, limits.threads, limits.queue_timeout, self._has_memory)
        self.in_progress = in_progress or RequestsInProgress()
        self.forwarder: Forwarder | None = None
        """Forwards requests that write to another worker. None if each worker processes its own."""
        self.is_draining = False
        """True if the next response on each connection is its last."""
        self._max_connections = max_connections
        self._open: set[Connection] = set()
        self._body_bytes = 0
        """Bytes of request bodies that are incomplete."""
        self._response_bytes = 0
        """Bytes of responses that clients have not received yet."""
        self.had_large_message = False
        """True after a request or response so large that its freed memory should be returned to the system."""

    def serve(self, opened: socket.socket, peer: Any) -> None:
        """Serve one connection, from its first request to its last."""
        self._make_room()
        self._serve(Connection(self, opened, peer))

    def serve_worker(self, opened: socket.socket, _: Any) -> None:
        """Serve a connection on which another worker of the service forwards requests."""
        if is_same_user(opened):
            self._make_room()
            self._serve(ForwardedConnection(self, opened))
        else:
            opened.close()

    def _serve(self, connection: Connection) -> None:
        self._open.add(connection)
        try:
            connection.serve()
        except OSError:
            pass  # the client has closed it, or a deadline has passed
        except Exception:
            LOG.exception("A connection failed")
        finally:
            self._open.discard(connection)
            connection.close()

    @property
    def are_all_closed(self) -> bool:
        return not self._open

    def note_large(self, size: int) -> None:
        """Note that a message of this size was processed, and that its memory is free now."""
        if size > LARGE_BYTES:
            self.had_large_message = True

    def enforce_deadlines(self) -> None:
        """Close the connections whose clients are too slow, or idle for too long."""
        now = time.monotonic()
        for connection in [each for each in self._open if each.is_late(now)]:
            connection.expire()
        self._limit_responses()

    def close_idle(self, seconds: float) -> None:
        """Close the connections that have waited for their clients for this many seconds."""
        since = time.monotonic() - seconds
        for connection in [each for each in self._open if each.waits_since(since)]:
            connection.shut_down()

    def count_body(self, change: int) -> None:
        """Count bytes of incomplete bodies. Beyond the limit, the connection with the longest of them is closed."""
        self._body_bytes += change
        if change > 0 and self._body_bytes > self.limits.max_buffered_bytes:
            self._expire_largest(
                lambda connection: connection.body_bytes, "the request bodies that are incomplete"
            )

    def count_response(self, change: int) -> None:
        """Count the memory of long responses until their clients have received them."""
        self._response_bytes += change
        if change > 0:
            self._limit_responses()
        else:
            self.note_large(-change)

    def _has_memory(self) -> bool:
        self._limit_responses()
        return self._response_bytes <= self.limits.max_buffered_bytes

    def _limit_responses(self) -> None:
        """Close connections whose clients receive nothing, the largest response first, until the limit is met."""
        while self._response_bytes > self.limits.max_buffered_bytes and self._expire_largest(
            lambda connection: connection.stalled_bytes, "the responses that clients do not receive"
        ):
            pass

    def _expire_largest(self, size: Callable[[Connection], int], description: str) -> bool:
        """Close the connection with the largest size; False if there is none."""
        largest = max(self._open, key=size, default=None)
        if largest is None or not size(largest):
            return False
        LOG.warning(
            "Closing the connection from %s: it has %s of the %s bytes of %s; the limit is %s",
            *(largest.peer, size(largest), sum(map(size, self._open))),
            *(description, self.limits.max_buffered_bytes),
        )
        largest.expire()
        return True

    def _make_room(self) -> None:
        """Close the connection that is idle for longest if there are as many as allowed."""
        if len(self._open) >= self._max_connections:
            idle = [each for each in self._open if each.is_idle]
            if idle:
                min(idle, key=lambda each: each.since).shut_down()
