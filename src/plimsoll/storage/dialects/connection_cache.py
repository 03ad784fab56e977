# SPDX-License-Identifier: Apache-2.0

"""Connections that are kept at hand: to take one from SQLAlchemy's pool and to give it back, each time, costs more than
to decide a claim.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine, PoolProxiedConnection, event

_BORN = "plimsoll.born"

FRESH = 0.05
"""Seconds for which a connection that somebody has just used is not looked at: to look costs a call of the system's."""

C = TypeVar("C", bound=Connection | PoolProxiedConnection)


class CachedConnection(Generic[C]):
    """A connection of SQLAlchemy's, or of its pool; and what it takes long to ask them for."""

    __slots__ = ("born", "connection", "driver", "taken")

    def __init__(self, connection: C) -> None:
        of_pool = connection.connection if isinstance(connection, Connection) else connection
        self.connection: C = connection
        self.driver: Any = of_pool.driver_connection
        """The driver's own."""
        self.born: float = of_pool.info[_BORN]
        self.taken = self.born
        """When it was last."""

    def end(self) -> None:
        """For one that must serve nobody else."""
        self.connection.invalidate()
        self.connection.close()


A = TypeVar("A", bound=CachedConnection[Any])


def never(_: Any) -> bool:
    return False


class ConnectionCache(Generic[A]):
    """Connections of an engine that nobody uses at present. For any thread."""

    def __init__(
        self,
        engine: Engine,
        connect: Callable[[], A],
        most: int,
        recycle_seconds: float = -1,
        is_lost: Callable[[Any], bool] = never,
    ) -> None:
        self._connect = connect
        self._most = most
        self._longest = float("inf") if recycle_seconds < 0 else recycle_seconds
        self._is_lost = is_lost
        """Whether a driver's connection is."""
        self._idle: list[A] = []  # what one thread pops no other can
        event.listen(engine, "connect", _note_birth)

    def take(self) -> A:
        """One not known to be lost, and not as old as a connection may get; a new one, if there is none."""
        while True:
            try:
                one = self._idle.pop()
            except IndexError:
                return self._connect()
            now = time.monotonic()
            if now - one.born <= self._longest and (now - one.taken < FRESH or not self._is_lost(one.driver)):
                one.taken = now
                return one
            one.end()

    def keep(self, one: A) -> None:
        """For the next one; nothing may be under way on it."""
        if len(self._idle) >= self._most:
            one.connection.close()
        else:
            self._idle.append(one)

    def let_go(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().end()


def _note_birth(_: Any, record: Any) -> None:
    record.info[_BORN] = time.monotonic()
