# SPDX-License-Identifier: Apache-2.0

"""Connections that one writer after the other uses: to take one from a pool and to give it back, each time, costs
more than to decide a claim.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Engine, event

from plimsoll.storage.dialects.writing import FaultOf, Writing
from plimsoll.storage.head import Head

_BORN = "plimsoll.born"

MOST = 2
"""Connections kept: while one writes, the next is being prepared."""
FRESH = 0.05
"""Seconds for which a connection that has just served is not looked at: to look costs a call of the system's."""


class Writers:
    """The connections of an engine that write. For any thread."""

    def __init__(
        self,
        engine: Engine,
        fault_of: FaultOf,
        *,
        recycle_seconds: float = -1,
        connect: Callable[[], Connection] | None = None,
        is_lost: Callable[[Any], bool] = lambda _: False,
    ) -> None:
        self._connect = connect or engine.connect
        self._fault_of = fault_of
        self._recycle_seconds = recycle_seconds
        self._is_lost = is_lost
        self._idle: list[
            tuple[Connection, float]
        ] = []  # when it last served; what one thread pops no other can
        event.listen(engine, "connect", _note_birth)

    @contextlib.contextmanager
    def writing(self, expected: Head | None = None) -> Iterator[Connection]:
        """A transaction. A connection in which anything went wrong serves no other."""
        connection = self._take() or self._connect()
        writing = Writing(connection, self._fault_of, expected)
        try:
            with writing:
                yield connection
        except BaseException as error:
            if writing.begun or not isinstance(error, Exception):
                connection.invalidate()
                connection.close()
            else:
                self._keep(connection)
            raise
        self._keep(connection)

    def let_go(self) -> None:
        while self._idle:
            connection = self._take()
            if connection is not None:
                connection.close()

    def _take(self) -> Connection | None:
        """One of them that is not lost, and not as old as a connection may get."""
        while self._idle:
            try:
                connection, served = self._idle.pop()
            except IndexError:
                break
            now = time.monotonic()
            is_old = 0 <= self._recycle_seconds < now - connection.info[_BORN]
            is_fresh = now - served < FRESH
            if not is_old and (is_fresh or not self._is_lost(connection.connection.driver_connection)):
                return connection
            connection.invalidate()
            connection.close()
        return None

    def _keep(self, connection: Connection) -> None:
        """For the next one; nothing may be under way on it."""
        if connection.in_transaction():
            connection.rollback()  # of what SQLAlchemy takes for a transaction; the database hears nothing of it
        if len(self._idle) >= MOST:
            connection.close()
        else:
            self._idle.append((connection, time.monotonic()))


def send_nothing(_: Any) -> None:
    """For a dialect's `do_rollback` and `do_commit`: whoever writes ends it by itself."""


def _note_birth(_: Any, record: Any) -> None:
    record.info[_BORN] = time.monotonic()
