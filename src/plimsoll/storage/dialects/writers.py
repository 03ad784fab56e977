# SPDX-License-Identifier: Apache-2.0

"""Connections that one writer after the other uses."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Engine

from plimsoll.storage.dialects.kept import Kept, never
from plimsoll.storage.dialects.writing import FaultOf, Writing
from plimsoll.storage.head import Head

MOST_KEPT = 2
"""While one writes, the next is being prepared."""


class Writers:
    """The connections of an engine that write. For any thread."""

    def __init__(
        self,
        engine: Engine,
        fault_of: FaultOf,
        *,
        connect: Callable[[], Connection] | None = None,
        recycle_seconds: float = -1,
        is_lost: Callable[[Connection], bool] = never,
    ) -> None:
        self._fault_of = fault_of
        self._kept = Kept(engine, connect or engine.connect, MOST_KEPT, recycle_seconds, is_lost)

    @contextlib.contextmanager
    def writing(self, expected: Head | None = None) -> Iterator[Connection]:
        """A transaction. A connection that was not even able to roll back serves no other."""
        connection = self._kept.take()
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
        self._kept.let_go()

    def _keep(self, connection: Connection) -> None:
        if connection.in_transaction():
            connection.rollback()  # of what SQLAlchemy takes for a transaction; the database hears nothing of it
        self._kept.keep(connection)


def send_nothing(_: Any) -> None:
    """For a dialect's `do_rollback` and `do_commit`: whoever writes ends it by itself."""
