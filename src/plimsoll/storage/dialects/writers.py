# SPDX-License-Identifier: Apache-2.0

"""The connections of write transactions, which use them one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from plimsoll.storage.dialects.connection_cache import ConnectionCache, never
from plimsoll.storage.dialects.errors import FaultOf, translate_error
from plimsoll.storage.dialects.transaction import Transaction
from plimsoll.storage.head import Head

MAX_IDLE = 2
"""Connections: while one transaction is written, the next one is prepared."""


class WriteConnections:
    """Lends the connections of an engine to write transactions. Safe for all threads."""

    def __init__(
        self,
        engine: Engine,
        fault_of: FaultOf,
        *,
        connect: Callable[[], Connection] | None = None,
        recycle_seconds: float = -1,
        is_lost: Callable[[Any], bool] = never,
    ) -> None:
        self._connect = connect or engine.connect
        self._fault_of = fault_of
        self._idle: ConnectionCache[_WriteConnection] = ConnectionCache(
            engine, self._new, MAX_IDLE, recycle_seconds, is_lost
        )

    def transaction(self, expected: Head | None = None) -> Transaction:
        """Return a write transaction that assumes this head, to be entered with `with`."""
        transaction = self._idle.take()
        transaction.expected = expected
        return transaction

    def close_idle(self) -> None:
        self._idle.close_idle()

    def _new(self) -> _WriteConnection:
        try:
            return _WriteConnection(self._connect(), self._fault_of, self._idle)
        except DBAPIError as error:
            raise translate_error(error, self._fault_of) from error


class _WriteConnection(Transaction):
    """A transaction whose connection goes back to the cache when it ends. A failed rollback discards the connection."""

    __slots__ = ("_idle",)

    def __init__(
        self, connection: Connection, fault_of: FaultOf, idle: ConnectionCache[_WriteConnection]
    ) -> None:
        super().__init__(connection, fault_of)
        self._idle = idle

    def release_connection(self, error: BaseException | None) -> None:
        if error is not None and self._must_discard(error):
            self.discard()
            return
        if self.connection.in_transaction():
            # Ends the transaction of SQLAlchemy's objects; nothing is sent to the database.
            self.connection.rollback()
        self._idle.put_back(self)

    def _must_discard(self, error: BaseException) -> bool:
        # SQLAlchemy reconnects an invalidated connection without notice.
        return self.begun or self.connection.invalidated or not isinstance(error, Exception)


def send_nothing(_: Any) -> None:
    """Replaces `do_rollback` and `do_commit` of SQLAlchemy's dialect: `Transaction` ends the transaction itself."""
