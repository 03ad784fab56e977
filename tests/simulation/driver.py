# SPDX-License-Identifier: Apache-2.0

"""The client's side of the simulated database: a driver whose messages get lost, and the dialect that uses it.

Everything above the driver is the real code: connection pool, head probe, transactions, translation of errors.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from typing import Any
from unittest.mock import patch

from greenlet import GreenletExit
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.pool import NullPool

from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.fast_paths import FastPaths
from plimsoll.metrics import Metrics
from plimsoll.runtime.base import Runtime
from plimsoll.storage.database import Database, DatabaseOptions
from plimsoll.storage.dialects import server as server_dialect
from plimsoll.storage.dialects.server import ServerDialect
from plimsoll.storage.dialects.statements import CommitFailed
from plimsoll.storage.errors import (
    Busy,
    ConstraintFailed,
    DatabaseFault,
    HeadMoved,
    Interrupted,
    Unreachable,
    ValueNotStorable,
)
from plimsoll.storage.fast.multi_statement import Quote
from plimsoll.storage.head import HEAD_GUARD, QUERY
from plimsoll.storage.outage import Outage
from plimsoll.storage.sql import Statement
from tests.simulation.scheduler import ProcessEnded, Violation
from tests.simulation.server import (
    BEGIN_READ,
    BEGIN_WRITE,
    COMMIT,
    Cancelled,
    Cluster,
    Deadlock,
    Node,
    Result,
    Session,
    SessionLost,
)

READ_FAULTS = 0.1
"""How much rarer faults are in reads: a full load has a dozen of queries, and would rarely succeed."""

_COMMIT = Statement(COMMIT)
_HEAD = Statement(QUERY)


class MessageFault(Enum):
    """The faults of one message and its answer."""

    NONE = "nothing"
    LOST = "the connection is lost before the message arrives"
    ANSWER_LOST = "the connection is lost after the message was executed"
    DELAYED = "the connection is lost, and the server executes the message later"
    DEADLOCK = "the server rolls back because of a deadlock"
    CANCELLED = "the statement is cancelled"
    CANCELLED_LATE = "the statement is cancelled after it was executed"


_FAULTS = tuple(MessageFault)


class Link:
    """How the connections of one process reach the database."""

    def __init__(self, cluster: Cluster, node: Node, fault_probability: float) -> None:
        self.cluster = cluster
        self.node = node
        """New connections go here: a proxy may choose another node later."""
        self.fault_probability = fault_probability

    def pick_fault(self, *, is_write: bool) -> MessageFault:
        probability = self.fault_probability * (1.0 if is_write else READ_FAULTS)
        fault = _FAULTS[self.cluster.scheduler.choices.pick(len(_FAULTS), probability)]
        if fault is not MessageFault.NONE:
            self.cluster.counts[f"messages: {fault.value}"] += 1
            self.cluster.scheduler.log(f"FAULT: {fault.value}")
        return fault


class SimulatedConnection:
    """A connection of the driver. Each message is a scheduling point before it arrives and before its answer does."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._scheduler = link.cluster.scheduler
        self.session: Session = link.cluster.connect(link.node, link)
        self.isolation_level: str | None = None
        self.head_row: Sequence[Any] | None = None
        """The result of the query for the head that is in flight, if the server has executed it already."""

    def send(self, statements: Sequence[Statement]) -> list[Result]:
        """Send a message and wait for its answer."""
        scheduler = self._scheduler
        self._check_alive()
        if scheduler.trace is not None:
            scheduler.log("send " + "; ".join(_shown(each) for each in statements))
        fault = self._link.pick_fault(is_write=self.session.in_write or statements[0].sql == BEGIN_WRITE)
        scheduler.pause()
        if fault is MessageFault.LOST:
            self._lose()
        elif fault is MessageFault.DELAYED:
            self._execute_later(statements)
            raise SessionLost("the connection was lost")
        elif fault is MessageFault.DEADLOCK:
            self.session.abort()
        elif fault is MessageFault.CANCELLED:
            raise Cancelled("the statement was cancelled")
        try:
            results = self.session.run(statements)
        except GreenletExit:  # the request ended while the server was busy with its message
            if scheduler.choices.pick(2, 0.5):
                self._execute_later(statements)
            raise
        except Violation as found:
            scheduler.report(found)  # now, not when the task has ended: it may wait before that
            raise
        if fault is MessageFault.ANSWER_LOST:
            self._lose()
        if fault is MessageFault.CANCELLED_LATE:
            raise Cancelled("the statement was cancelled")
        scheduler.pause()
        self._check_alive()
        if self.session.is_ended:
            raise SessionLost("the connection was lost")
        return results

    def cursor(self) -> SimulatedCursor:
        return SimulatedCursor(self)

    def close(self) -> None:
        self.session.end()

    def commit(self) -> None:
        raise AssertionError("SQLAlchemy must not commit by itself")

    def rollback(self) -> None:
        pass

    def create_function(self, *_: object, **__: object) -> None:
        pass

    def _check_alive(self) -> None:
        task = self._scheduler.current
        if task is not None and not task.group.is_alive:
            raise ProcessEnded

    def _lose(self) -> None:
        self.session.end()
        raise SessionLost("the connection was lost")

    def _execute_later(self, statements: Sequence[Statement]) -> None:
        """Have the server execute the message in its own time. This connection gets another session, which is dead."""
        session, self.session = self.session, self._link.cluster.connect(self._link.node, None)
        self.session.end()

        def execute() -> None:
            self._scheduler.pause()
            try:
                session.run(statements)
            except sqlite3.Error:
                pass
            finally:
                session.end()

        self._scheduler.spawn(f"session {session.number}", self._link.cluster.group, execute)


class SimulatedCursor:
    arraysize = 1

    def __init__(self, connection: SimulatedConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    def execute(self, sql: str, values: Sequence[Any] = ()) -> SimulatedCursor:
        (result,) = self._connection.send([Statement(sql, values)])
        self._rows, self.description, self.rowcount, self.lastrowid = result
        return self

    def fetchone(self) -> Any:
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size: int | None = None) -> list[Any]:
        size = self.arraysize if size is None else size
        taken, self._rows = self._rows[:size], self._rows[size:]
        return taken

    def fetchall(self) -> list[Any]:
        taken, self._rows = self._rows, []
        return taken

    def close(self) -> None:
        self._rows = []


class MessageSender:
    """Sends all statements of a call, and the commit with the last of them, in one message."""

    def run(self, connection: SimulatedConnection, statements: Sequence[Statement]) -> list[list[Any]]:
        return [result.rows for result in connection.send(statements)]

    def commit(self, connection: SimulatedConnection, statements: Sequence[Statement]) -> None:
        try:
            connection.send([*statements, _COMMIT])
        except Exception as error:
            raise CommitFailed(error) from error


class SimulatedDialect(ServerDialect):
    begin_read = Statement(BEGIN_READ)
    begin_write = (Statement(BEGIN_WRITE),)

    def __init__(self, link: Link, runtime: Runtime, fast_paths: FastPaths) -> None:
        self._link = link
        engine = _engine(lambda: SimulatedConnection(link))
        with patch.object(server_dialect, "create_engine", lambda *_, **__: engine):
            super().__init__(engine.url, DatabaseOptions(), runtime, fast_paths)
        if fast_paths.multi_statement:
            self.sender = MessageSender()

    @property
    def is_multi_primary(self) -> bool:
        return self._link.cluster.is_galera

    def connect_arguments(self) -> dict[str, Any]:
        return {}

    def socket_of(self, connection: SimulatedConnection) -> int:
        return connection.session.number

    def set_up_reader(self, connection: SimulatedConnection) -> None:
        pass

    def set_up_writer(self, connection: SimulatedConnection) -> None:
        pass

    def inspect(self, connection: Connection) -> DatabaseSemantics:
        return EXACT

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotStorable | None:
        if isinstance(error, SessionLost):
            return Unreachable(error)
        if isinstance(error, Deadlock):
            return Busy(error)
        if isinstance(error, Cancelled):
            return Interrupted(error)
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CONSTRAINT_CHECK:
            return HeadMoved(error) if HEAD_GUARD in str(error) else ConstraintFailed(error)
        return None

    def lock_schema(self, connection: SimulatedConnection) -> None:
        raise NotImplementedError

    def send_head_query(self, connection: SimulatedConnection) -> None:
        """The server executes the query now, or only when the result is waited for."""
        connection.head_row = None
        if self._link.cluster.scheduler.choices.pick(2, 0.5):
            connection.head_row = connection.send([_HEAD])[0].rows[0]

    def receive_head(self, connection: SimulatedConnection) -> Sequence[Any]:
        row, connection.head_row = connection.head_row, None
        return connection.send([_HEAD])[0].rows[0] if row is None else row

    def execute_message(self, connection: SimulatedConnection, message: str) -> list[list[Any]]:
        raise NotImplementedError

    def quote(self, connection: SimulatedConnection) -> Quote:
        raise NotImplementedError


class SimulatedDatabase(Database):
    """The real interface of the service to its database, with the simulated dialect."""

    def __init__(self, link: Link, runtime: Runtime, fast_paths: FastPaths, metrics: Metrics) -> None:
        self.runtime = runtime
        self._dialect = SimulatedDialect(link, runtime, fast_paths)
        self._metrics = metrics
        self.outage = Outage("the simulated database", lambda: link.cluster.scheduler.now)


@cache
def _shared_engine() -> Engine:
    """An engine whose dialect is set up, and whose compiled statements all simulated processes share."""
    engine = create_engine("sqlite://", isolation_level="AUTOCOMMIT", skip_autocommit_rollback=True)
    engine.connect().close()
    return engine


def _engine(connect: Callable[[], SimulatedConnection]) -> Engine:
    shared = _shared_engine()
    pool = NullPool(connect, reset_on_return=None)  # type: ignore[arg-type]
    engine = Engine(pool, shared.dialect, shared.url)
    engine._compiled_cache = shared._compiled_cache
    return engine


def _shown(statement: Statement) -> str:
    sql = " ".join(statement.sql.split())
    return sql if len(sql) < 60 else sql[:57] + "..."
