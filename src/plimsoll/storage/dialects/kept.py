# SPDX-License-Identifier: Apache-2.0

"""Connections that one writer after the other uses: to take one from a pool and to give it back, each time, costs
more than to decide a claim.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, event

_BORN = "plimsoll.born"

MOST = 2
"""While one writes, the next is being prepared."""


class Kept:
    """Connections of an engine that nobody uses at present. For any thread."""

    def __init__(self, engine: Engine, recycle_seconds: float, is_lost: Callable[[Any], bool]) -> None:
        self._recycle_seconds = recycle_seconds
        self._is_lost = is_lost
        self._idle: list[Connection] = []  # what one thread pops no other can
        event.listen(engine, "connect", _note_birth)

    def take(self) -> Connection | None:
        """One of them that is not lost, and not as old as a connection may get."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            is_old = 0 <= self._recycle_seconds < time.monotonic() - connection.info[_BORN]
            if not is_old and not self._is_lost(connection.connection.driver_connection):
                return connection
            connection.invalidate()
            connection.close()
        return None

    def keep(self, connection: Connection) -> None:
        """For the next one; nothing may be under way on it."""
        connection.rollback()  # of what SQLAlchemy takes for a transaction; the server hears nothing of it
        if len(self._idle) >= MOST:
            connection.close()
        else:
            self._idle.append(connection)

    def let_go(self) -> None:
        while self._idle:
            connection = self.take()
            if connection is not None:
                connection.close()


def _note_birth(_: Any, record: Any) -> None:
    record.info[_BORN] = time.monotonic()
