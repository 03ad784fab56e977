# SPDX-License-Identifier: Apache-2.0

"""Connections that one writer after the other uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from plimsoll.storage.dialects.connection_cache import ConnectionCache, never
from plimsoll.storage.dialects.errors import FaultOf, translated
from plimsoll.storage.dialects.transaction import Transaction
from plimsoll.storage.head import Head

MOST_KEPT = 2
"""While one writes, the next is being prepared."""


class WriteConnections:
    """The connections of an engine that write. For any thread."""

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
        self._kept: ConnectionCache[_WriteConnection] = ConnectionCache(
            engine, self._new, MOST_KEPT, recycle_seconds, is_lost
        )

    def writing(self, expected: Head | None = None) -> Transaction:
        """A transaction."""
        writing = self._kept.take()
        writing.expected = expected
        return writing

    def let_go(self) -> None:
        self._kept.let_go()

    def _new(self) -> _WriteConnection:
        try:
            return _WriteConnection(self._connect(), self._fault_of, self._kept)
        except DBAPIError as error:
            raise translated(error, self._fault_of) from error


class _WriteConnection(Transaction):
    """On a connection that the next one gets. One that was not even able to roll back serves no other."""

    __slots__ = ("_kept",)

    def __init__(
        self, connection: Connection, fault_of: FaultOf, kept: ConnectionCache[_WriteConnection]
    ) -> None:
        super().__init__(connection, fault_of)
        self._kept = kept

    def over(self, error: BaseException | None) -> None:
        if error is not None and self._is_spoilt(error):
            self.end()
            return
        if self.connection.in_transaction():
            # Of what SQLAlchemy takes for a transaction; the database hears nothing of it.
            self.connection.rollback()
        self._kept.keep(self)

    def _is_spoilt(self, error: BaseException) -> bool:
        # SQLAlchemy connects an invalidated one anew, and does not tell us.
        return self.begun or self.connection.invalidated or not isinstance(error, Exception)


def send_nothing(_: Any) -> None:
    """For a dialect's `do_rollback` and `do_commit`: whoever writes ends it by itself."""
