# SPDX-License-Identifier: Apache-2.0

"""The connections of a process to one database.

SQLAlchemy creates the connections. Its own pool takes longer to lend a connection and to take it back than a claim
takes to decide.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from sqlalchemy import Connection, Dialect, Engine, PoolProxiedConnection

from plimsoll.storage.dialects.errors import as_sqlalchemy_error
from plimsoll.storage.errors import Busy

UNCHECKED_SECONDS = 0.05
"""For which a connection is not checked after it was taken: the check costs a system call."""


class Role:
    """The connections for one purpose: how they are set up, and how many there are."""

    def __init__(self, set_up: Callable[[Any], None], max_idle: int, max_open: int | None = None) -> None:
        self.set_up = set_up
        """Configures a new connection of the driver."""
        self.max_idle = max_idle
        self.free = None if max_open is None else _filled_queue(max_open)
        """One element for each connection that may still be lent. None if there is no limit.

        Not a semaphore of `threading`: under gevent each release of one switches to other greenlets.
        """
        self.idle: list[PooledConnection] = []  # `pop` and `append` are atomic


def _filled_queue(size: int) -> SimpleQueue[None]:
    queue: SimpleQueue[None] = SimpleQueue()
    for _ in range(size):
        queue.put(None)
    return queue


class PooledConnection:
    """A connection, with attributes that are slow to read from it."""

    __slots__ = (
        "_engine",
        "_proxy",
        "created_at",
        "dialect",
        "driver",
        "driver_error",
        "is_clean",
        "taken_at",
    )

    def __init__(self, engine: Engine, proxy: PoolProxiedConnection) -> None:
        self._engine = engine
        self._proxy = proxy
        self.dialect: Dialect = engine.dialect
        self.driver: Any = proxy.driver_connection
        """The driver's connection."""
        self.driver_error: type[Exception] = engine.dialect.loaded_dbapi.Error
        self.created_at = self.taken_at = time.monotonic()
        self.is_clean = False
        """True if no transaction and no result is open: only then it may be used again."""

    def sqlalchemy_connection(self) -> Connection:
        """Return a connection of SQLAlchemy on this one.

        It is not closed: SQLAlchemy would roll back, after a commit as well. Transactions are ended by their owner.
        """
        return Connection(self._engine, self._proxy)

    def detach(self) -> Any:
        """Return the driver's connection, which the caller closes. This object must not be used any more."""
        self._proxy.detach()
        return self.driver

    def close(self) -> None:
        if self._proxy.is_valid:
            self._proxy.invalidate()
        self._proxy.close()


class ConnectionPool:
    """Lends connections by role, and keeps the idle ones open. Thread-safe."""

    def __init__(
        self,
        engine: Engine,
        *,
        readers: Role,
        writers: Role,
        background: Role | None = None,
        timeout: float = -1,
        recycle_seconds: float = -1,
        is_lost: Callable[[Any], bool],
        is_disconnect: Callable[[BaseException], bool],
    ) -> None:
        self._engine = engine
        self.readers = readers
        self.writers = writers
        self.background = background or writers
        """For writes that no request waits for. On a server they have a connection of their own, so that no claim waits
        for them."""
        self._timeout = timeout
        """Seconds after which Busy is raised if all connections of a role are lent."""
        self._max_age = float("inf") if recycle_seconds < 0 else recycle_seconds
        self._is_lost = is_lost
        """Whether an idle connection of the driver was lost."""
        self._is_disconnect = is_disconnect
        """Whether an error means that the connection is lost."""

    @contextlib.contextmanager
    def connection(self, role: Role) -> Iterator[PooledConnection]:
        """Lend a connection for a `with` block. It is closed afterwards unless the block sets `is_clean`."""
        if role.free is not None:
            try:
                role.free.get(timeout=self._timeout)
            except Empty:
                raise Busy("All connections of this process to the database are in use.") from None
        try:
            pooled = self._take(role)
            try:
                yield pooled
            except BaseException as error:
                pooled.is_clean = pooled.is_clean and isinstance(error, Exception)
                if self._is_disconnect(error):  # the other connections are probably lost as well
                    self.close_idle()
                raise
            finally:
                if pooled.is_clean and len(role.idle) < role.max_idle:
                    role.idle.append(pooled)
                else:
                    pooled.close()
        finally:
            if role.free is not None:
                role.free.put(None)

    def open(self, role: Role) -> PooledConnection:
        """Open a connection that does not become part of the pool. The caller closes it."""
        try:
            proxy = self._engine.raw_connection()
            pooled = PooledConnection(self._engine, proxy)
            try:
                role.set_up(pooled.driver)
            except BaseException:
                pooled.close()
                raise
            return pooled
        except self._engine.dialect.loaded_dbapi.Error as error:
            raise as_sqlalchemy_error(error, self._engine.dialect) from error

    def close_idle(self) -> None:
        for role in (self.readers, self.writers, self.background):
            with contextlib.suppress(IndexError):
                while True:
                    role.idle.pop().close()

    def _take(self, role: Role) -> PooledConnection:
        """Return an idle connection that is neither lost nor too old, or a new one."""
        while True:
            try:
                pooled = role.idle.pop()
            except IndexError:
                return self.open(role)
            now = time.monotonic()
            is_checked = now - pooled.taken_at >= UNCHECKED_SECONDS
            if now - pooled.created_at <= self._max_age and not (is_checked and self._is_lost(pooled.driver)):
                pooled.taken_at = now
                pooled.is_clean = False
                return pooled
            pooled.close()
