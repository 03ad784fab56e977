# SPDX-License-Identifier: Apache-2.0

"""Connections that one writer after the other uses."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
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

    def writing(self, expected: Head | None = None) -> AbstractContextManager[Connection]:
        """A transaction."""
        return _Writing(self._kept, self._fault_of, expected)

    def let_go(self) -> None:
        self._kept.let_go()


class _Writing(Writing):
    """On a connection that the next one gets. One that was not even able to roll back serves no other."""

    __slots__ = ("_keep",)

    def __init__(self, kept: Kept[Connection], fault_of: FaultOf, expected: Head | None) -> None:
        super().__init__(kept.take(), fault_of, expected)
        self._keep = kept.keep

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        except BaseException as failed:
            error = failed
            raise
        finally:
            self._give_back(error)

    def _give_back(self, error: BaseException | None) -> None:
        connection = self._connection
        if error is not None and (self.begun or not isinstance(error, Exception)):
            connection.invalidate()
            connection.close()
            return
        if connection.in_transaction():
            connection.rollback()  # of what SQLAlchemy takes for a transaction; the database hears nothing of it
        self._keep(connection)


def send_nothing(_: Any) -> None:
    """For a dialect's `do_rollback` and `do_commit`: whoever writes ends it by itself."""
