# SPDX-License-Identifier: Apache-2.0

"""PostgreSQL 13 and later, through psycopg 3. Texts compare byte by byte, ratios are kept as they are."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from sqlalchemy import URL, Connection, text
from sqlalchemy.exc import DBAPIError

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.runtime.scheduling import give_way, wait_for_input, wait_for_input_or_room
from plimsoll.storage.dialects.base import DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.dialects.errors import translated
from plimsoll.storage.dialects.server import ABANDONED_SECONDS, CONNECT_SECONDS, LOCK_SECONDS, ServerDialect
from plimsoll.storage.dialects.transaction import of
from plimsoll.storage.errors import (
    Busy,
    ConstraintFailed,
    DatabaseFault,
    DiskFull,
    Interrupted,
    NoSuchDatabase,
    NotPermitted,
    Overtaken,
    ReadOnly,
    Refusing,
    TooManyConnections,
    Unreachable,
    ValueNotKept,
)
from plimsoll.storage.fast.multi_statement import Quote, answers_of
from plimsoll.storage.fast.prepared import PreparedNames
from plimsoll.storage.head import GUARD, QUERY
from plimsoll.storage.sql import Statement

T = TypeVar("T")

OLDEST = 13

# A number that nobody else is likely to lock in the same database.
_SCHEMA_LOCK = 0x506C696D736F6C6C
_SCHEMA_SECONDS = 60

ANSWER_SECONDS = 60
"""How long an answer is waited for. A server that hangs keeps its connections, and the system acknowledges what is sent."""
_NO_ANSWER = f"The server has not answered for {ANSWER_SECONDS} s."


class AnotherSession(Busy):
    """Names were given in another session than this one: a pool in between may do that."""


# By the first characters of the SQLSTATE; the longest that fits counts.
_FAULTS: dict[str, type[DatabaseFault]] = {
    "08": Unreachable,  # connection exceptions
    "25006": ReadOnly,  # read-only transaction: a standby, or a setting
    "25P03": Unreachable,  # idle in transaction for too long
    "26": AnotherSession,  # no statement of that name
    "28": NotPermitted,  # wrong password, no such user
    "3D000": NoSuchDatabase,
    "40": Busy,  # deadlock, serialization failure
    "42501": NotPermitted,
    "42P05": AnotherSession,  # there is a statement of that name already
    "53": Refusing,  # out of memory
    "53100": DiskFull,
    "53300": TooManyConnections,
    "55P03": Busy,  # lock not available
    "57014": Interrupted,  # statement timeout, cancelled
    "57P": Unreachable,  # shutdown, crash, starting up
    "58": DiskFull,  # input/output error
    "23514": Overtaken,  # a check has failed: which one is in the text
    "XX": Refusing,  # the server found itself in disorder
}

# The client library keeps the state to itself when a connection is refused, and passes on the words. A server that
# speaks another language is taken for one that cannot be reached; the log has its words all the same.
_TOO_MANY = re.compile(
    "FATAL:  (sorry, too many clients already|remaining connection slots are reserved|too many connections for )"
)
_NO_SUCH_DATABASE = re.compile(r'FATAL:  database "[^"]*" does not exist')
_NOT_LET_IN = re.compile(
    'FATAL:  (permission denied|.* authentication failed|role ".*" (does not exist|is not permitted)'
    "|(no )?pg_hba.conf )|no password supplied"
)

_HEAD = b"plimsoll_head"

ROWS_AT_ONCE = 1_000
"""Rows that are read before other requests run."""

_INTEGERS = frozenset((20, 21, 23))
_DONE = (psycopg.pq.ExecStatus.COMMAND_OK, psycopg.pq.ExecStatus.TUPLES_OK)


class PostgreSQL(ServerDialect):
    begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

    def __init__(self, url: URL, options: DatabaseOptions) -> None:
        # psycopg2 is what the reference's URLs name, or mean when they name none.
        super().__init__(url.set(drivername="postgresql+psycopg"), options)
        self._by_name: WeakKeyDictionary[psycopg.Connection[Any], PreparedNames] = WeakKeyDictionary()
        self._sessions_are_ours = True

    def connect_arguments(self) -> dict[str, Any]:
        return {
            "connect_timeout": CONNECT_SECONDS,
            # A host that vanished is noticed within half a minute.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 4,
            "tcp_user_timeout": 30_000,
            # The server translates, whatever the database is kept in.
            "client_encoding": "utf8",
            **({} if "application_name" in self._url.query else {"application_name": "plimsoll"}),
        }

    def socket_of(self, connection: psycopg.Connection[Any]) -> int:
        return -1 if connection.closed else connection.fileno()

    def set_up_reader(self, connection: psycopg.Connection[Any]) -> None:
        _limit_waits(connection)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True

    def set_up_writer(self, connection: psycopg.Connection[Any]) -> None:
        _limit_waits(connection)
        # What psycopg has given names to by itself it lets the session forget after a rollback, and all other names with it.
        connection.prepare_threshold = None
        connection.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        connection.execute(f"SET idle_in_transaction_session_timeout = '{ABANDONED_SECONDS}s'")
        connection.commit()

    def set_up_probe(self, connection: psycopg.Connection[Any]) -> None:
        connection.autocommit = True
        _rows(connection, connection.pgconn.prepare(_HEAD, QUERY.encode()))

    def get_to_know(self, connection: Connection) -> DatabaseSemantics:
        version = int(connection.scalar(text("SHOW server_version_num"))) // 10_000
        if version < OLDEST:
            raise UnusableDatabaseError(
                f"{self.where} is PostgreSQL {version}; Plimsoll needs {OLDEST} or later."
            )
        return DatabaseSemantics(keeps=_keeps)

    @contextlib.contextmanager
    def schema_lock(self, connection: Connection) -> Iterator[None]:
        driver = connection.connection.driver_connection
        assert driver is not None
        del driver.wait  # to change a large table takes as long as it takes
        with connection.begin():
            connection.execute(text(f"SET lock_timeout = '{_SCHEMA_SECONDS}s'"))
            connection.execute(text(f"SELECT pg_advisory_lock({_SCHEMA_LOCK})"))
        try:
            yield
        finally:
            # It is held by the session; a session that is closed lets go of it.
            connection.invalidate()

    def answers(self, connection: Any, message: str) -> list[list[Any]]:
        # Several statements go in one message if the values are in them. A pipeline would do that too, but it ends
        # with a flush, after which the server forgets to wait for the abandoned.
        with psycopg.ClientCursor(connection) as cursor:
            cursor.execute(message)
            return answers_of(cursor)

    # What every request needs goes straight to libpq: psycopg's own way takes longer than the server.

    def last_answer(self, connection: Any, message: str) -> list[Any]:
        connection.pgconn.send_query(message.encode())
        return _rows(connection, _last_result(connection.pgconn))

    def run_last(self, connection: Connection, statements: Sequence[Statement]) -> None:
        if not self._sessions_are_ours:
            super().run_last(connection, statements)
            return
        writing = of(connection)
        assert writing is not None, "a transaction that writes"
        known = self._by_name.setdefault(writing.driver, PreparedNames())
        try:
            super().run_last(connection, known.told(statements))
        except (AnotherSession, DBAPIError) as error:
            self._sessions_are_ours = not isinstance(translated(error, self.fault_of), AnotherSession)
            raise
        known.remember()

    def say_head(self, connection: Any) -> None:
        connection.pgconn.send_query_prepared(_HEAD, None)

    def hear_head(self, connection: Any) -> Sequence[Any]:
        row: Sequence[Any] = _rows(connection, _last_result(connection.pgconn))[0]
        return row

    def rows(self, connection: Any, statement: Statement) -> list[Any]:
        # The driver has it prepared after a few times.
        cursor = connection.execute(statement.sql, statement.values)
        found: list[Any] = cursor.fetchmany(ROWS_AT_ONCE)
        while len(found) < cursor.rowcount:
            give_way()
            found += cursor.fetchmany(ROWS_AT_ONCE)
        return found

    def counting_along(self, table: str, rows: int) -> Sequence[Statement]:
        # To set the sequence takes a right that nobody needed so far.
        sequence = f"pg_get_serial_sequence('{table}', 'id')"
        return (Statement(f"SELECT nextval({sequence}) FROM generate_series(1, {rows:d})"),)  # noqa: S608

    def quote(self, connection: Any) -> Quote:
        return _quoted

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotKept | None:
        if isinstance(error, psycopg.DataError):
            return ValueNotKept(error)
        state = getattr(error, "sqlstate", None)
        if state is None:
            # Without a state it is the client library that speaks: it has no connection.
            lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
            if lost and _NOT_LET_IN.search(str(error)):
                return self.fault(NotPermitted, error)
            if lost and _TOO_MANY.search(str(error)):
                return TooManyConnections(error)
            if lost and _NO_SUCH_DATABASE.search(str(error)):
                return NoSuchDatabase(error)
            return Unreachable(error) if lost else None
        kinds = (_FAULTS.get(state[:length]) for length in (5, 3, 2))
        kind = next((kind for kind in kinds if kind is not None), None)
        if kind is Overtaken and GUARD not in str(error):
            return ConstraintFailed(error)
        return None if kind is None else self.fault(kind, error)


def _keeps(text: str) -> bool:
    return "\0" not in text


def _quoted(text: str) -> str:
    if not _keeps(text):
        raise psycopg.DataError("PostgreSQL keeps no text with a NUL in it.")
    text = text.replace("'", "''")
    # What a backslash means is a setting, but not after an E.
    return " E'" + text.replace("\\", "\\\\") + "'" if "\\" in text else "'" + text + "'"


def _limit_waits(connection: psycopg.Connection[Any]) -> None:
    """Make psycopg's own functions fail if the server does not answer: they would wait for ever."""
    wait = connection.wait

    def wait_with_deadline(steps: Any, *args: Any, **options: Any) -> Any:
        return wait(_with_deadline(steps), *args, **options)

    connection.wait = wait_with_deadline  # type: ignore[method-assign, assignment]


def _with_deadline(steps: Generator[Any, int, T]) -> Generator[Any, int, T]:
    """The steps of one of psycopg's operations. It sends 0 every tenth of a second in which nothing has come."""
    deadline = time.monotonic() + ANSWER_SECONDS
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if ready:
                deadline = time.monotonic() + ANSWER_SECONDS
            elif time.monotonic() > deadline:
                raise psycopg.OperationalError(_NO_ANSWER)
            wanted = steps.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


def _last_result(libpq: Any) -> Any:
    """The last result of what was sent.

    libpq's own functions that wait would block the thread, and with it every other request under gevent.
    """
    try:
        _flush(libpq)
        libpq.consume_input()  # it may be there already
        return _received(libpq)
    except TimeoutError:
        raise psycopg.OperationalError(_NO_ANSWER) from None


def _received(libpq: Any) -> Any:
    last = None
    while True:
        while libpq.is_busy():
            wait_for_input(libpq.socket, ANSWER_SECONDS)
            libpq.consume_input()
        result = libpq.get_result()
        if result is None:
            return last
        last = result


def _flush(libpq: Any) -> None:
    """Send what libpq has buffered: a connection that does not block takes only what fits into the socket's buffer.

    Input is read meanwhile, because a server whose answers are not read stops reading as well.
    """
    while libpq.flush():
        wait_for_input_or_room(libpq.socket, ANSWER_SECONDS)
        libpq.consume_input()


def _rows(connection: Any, result: Any) -> list[tuple[Any, ...]]:
    """Of numbers and texts; errors are raised as psycopg would."""
    if result.status not in _DONE:
        if connection.pgconn.status != psycopg.pq.ConnStatus.OK:
            raise psycopg.OperationalError(
                connection.pgconn.get_error_message() or "The connection was lost."
            )
        raise psycopg.errors.error_from_result(result, "utf-8")
    columns = [(column, result.ftype(column) in _INTEGERS) for column in range(result.nfields)]
    rows: list[tuple[Any, ...]] = []
    for row in range(result.ntuples):
        rows.append(
            tuple([_value(result.get_value(row, column), is_integer) for column, is_integer in columns])
        )
        if not len(rows) % ROWS_AT_ONCE:
            give_way()
    return rows


def _value(content: bytes | None, is_integer: bool) -> Any:
    if content is None:
        return None
    return int(content) if is_integer else content.decode()
