# SPDX-License-Identifier: Apache-2.0

"""Queries a database server for the head, and shares one query among all requests that wait for it.

Every request needs this query. Queries are numbered. If none is in flight, a request sends its query at once and receives
the result later. Otherwise it waits for the next query, which the first request that waits sends.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from plimsoll.storage.head import BEGINNING, Head


class HeadProbe:
    """One driver connection in autocommit mode, so that each query sees the last commit."""

    def __init__(
        self, connect: Callable[[], Any], send: Callable[[Any], None], receive: Callable[[Any], Sequence[Any]]
    ) -> None:
        self._connect = connect
        self._send_on = send
        self._receive_on = receive
        self._connection: Any = None
        self._lock = threading.Lock()
        self._last_sent = 0
        """The number of the last query that was sent. The first one has the number 1."""
        self._is_pending = False
        """Whether the result of the last query is still to be received."""
        self._last_result = 0, BEGINNING
        """The number of the last query whose result was received, and that result."""

    def start(self) -> int:
        """Send the query if that is possible without waiting. Return the number of the query to `wait_for`."""
        # Under gevent an attempt to take a lock that is held switches to other greenlets.
        if not self._lock.locked() and self._lock.acquire(False):
            try:
                if self._connection is not None and not self._is_pending:
                    self._send()
                    return self._last_sent
            except Exception:
                self._disconnect()  # `wait_for` connects again
            finally:
                self._lock.release()
        # Not a query that another request is sending just now: it may be older than this call.
        return self._last_sent + 1

    def wait_for(self, number: int) -> Head:
        """Return the result of the query with this number, or of a later one."""
        received, head = self._last_result
        if received >= number:  # another request has received it
            return head
        with self._lock:
            before = self._connection
            try:
                return self._receive(number)
            except Exception:
                may_have_been_lost_earlier = before is not None and self._connection is before
                self._disconnect()
                if not may_have_been_lost_earlier:
                    raise
            except BaseException:
                self._disconnect()
                raise
            try:
                return self._receive(number)
            except BaseException:
                self._disconnect()
                raise

    def close(self) -> None:
        with self._lock:
            self._disconnect()

    def _receive(self, number: int) -> Head:
        if self._connection is None:
            self._connection = self._connect()
        received, head = self._last_result
        while received < number:
            if not self._is_pending:
                self._send()
            self._last_result = received, head = self._last_sent, Head(*self._receive_on(self._connection))
            self._is_pending = False
        return head

    def _send(self) -> None:
        self._last_sent += 1
        self._is_pending = True
        self._send_on(self._connection)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        self._is_pending = False
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()
