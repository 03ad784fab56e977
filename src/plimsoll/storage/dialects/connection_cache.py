# SPDX-License-Identifier: Apache-2.0

"""A cache of idle connections.

SQLAlchemy's pool takes longer to lend a connection and to take it back than a claim takes to decide.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine, PoolProxiedConnection, event

_CREATED_AT = "plimsoll.created_at"

UNCHECKED_SECONDS = 0.05
"""For which a connection is not checked after it was taken: the check costs a system call."""

C = TypeVar("C", bound=Connection | PoolProxiedConnection)


class CachedConnection(Generic[C]):
    """A connection of SQLAlchemy or of its pool, with attributes that are slow to read from it."""

    __slots__ = ("connection", "created_at", "driver", "taken_at")

    def __init__(self, connection: C) -> None:
        pooled = connection.connection if isinstance(connection, Connection) else connection
        self.connection: C = connection
        self.driver: Any = pooled.driver_connection
        """The driver's connection."""
        self.created_at: float = pooled.info[_CREATED_AT]
        self.taken_at = self.created_at
        """When it was last taken from the cache."""

    def discard(self) -> None:
        """Close the connection, so that it is not used again."""
        self.connection.invalidate()
        self.connection.close()


A = TypeVar("A", bound=CachedConnection[Any])


def never(_: Any) -> bool:
    return False


class ConnectionCache(Generic[A]):
    """Idle connections of an engine. Safe for all threads."""

    def __init__(
        self,
        engine: Engine,
        connect: Callable[[], A],
        max_idle: int,
        recycle_seconds: float = -1,
        is_lost: Callable[[Any], bool] = never,
    ) -> None:
        self._connect = connect
        self._max_idle = max_idle
        self._max_age = float("inf") if recycle_seconds < 0 else recycle_seconds
        self._is_lost = is_lost
        """Whether a connection of the driver was lost."""
        self._idle: list[A] = []  # `pop` and `append` are atomic
        event.listen(engine, "connect", _record_creation)

    def take(self) -> A:
        """Return an idle connection that is neither lost nor too old, or a new one."""
        while True:
            try:
                cached = self._idle.pop()
            except IndexError:
                return self._connect()
            now = time.monotonic()
            is_checked = now - cached.taken_at >= UNCHECKED_SECONDS
            if now - cached.created_at <= self._max_age and not (is_checked and self._is_lost(cached.driver)):
                cached.taken_at = now
                return cached
            cached.discard()

    def put_back(self, cached: A) -> None:
        """Make a connection idle. Nothing may be in progress on it."""
        if len(self._idle) >= self._max_idle:
            cached.connection.close()
        else:
            self._idle.append(cached)

    def close_idle(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().discard()


def _record_creation(_: Any, record: Any) -> None:
    record.info[_CREATED_AT] = time.monotonic()
