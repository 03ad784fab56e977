# SPDX-License-Identifier: Apache-2.0

"""Connections that are kept at hand: to take one from SQLAlchemy's pool and to give it back, each time, costs more than
to decide a claim.
"""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import Engine, event

_BORN = "plimsoll.born"

FRESH = 0.05
"""Seconds for which a connection that has just served is not looked at: to look costs a call of the system's."""


class Connected(Protocol):
    """SQLAlchemy's connection, or what its pool makes of the driver's."""

    @property
    def info(self) -> MutableMapping[Any, Any]: ...

    def invalidate(self) -> None: ...

    def close(self) -> None: ...


C = TypeVar("C", bound=Connected)


def never(_: Any) -> bool:
    return False


class Kept(Generic[C]):
    """Connections of an engine that nobody uses at present. For any thread."""

    def __init__(
        self,
        engine: Engine,
        connect: Callable[[], C],
        most: int,
        recycle_seconds: float = -1,
        is_lost: Callable[[C], bool] = never,
    ) -> None:
        self._connect = connect
        self._most = most
        self._recycle_seconds = recycle_seconds
        self._is_lost = is_lost
        self._idle: list[tuple[C, float]] = []  # and when it last served; what one thread pops no other can
        event.listen(engine, "connect", _note_birth)

    def take(self) -> C:
        """One not known to be lost, and not as old as a connection may get; a new one, if there is none."""
        return self._take() or self._connect()

    def keep(self, connection: C) -> None:
        """For the next one; nothing may be under way on it."""
        if len(self._idle) >= self._most:
            connection.close()
        else:
            self._idle.append((connection, time.monotonic()))

    def let_go(self) -> None:
        while self._idle:
            connection = self._take()
            if connection is not None:
                connection.close()

    def _take(self) -> C | None:
        while self._idle:
            try:
                connection, served = self._idle.pop()
            except IndexError:
                break
            now = time.monotonic()
            is_old = 0 <= self._recycle_seconds < now - connection.info[_BORN]
            if not is_old and (now - served < FRESH or not self._is_lost(connection)):
                return connection
            connection.invalidate()
            connection.close()
        return None


def _note_birth(_: Any, record: Any) -> None:
    record.info[_BORN] = time.monotonic()
