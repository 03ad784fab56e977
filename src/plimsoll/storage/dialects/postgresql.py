# SPDX-License-Identifier: Apache-2.0

"""PostgreSQL 13 and later, through psycopg 3. Texts are compared byte by byte, ratios are stored exactly."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

import psycopg
from sqlalchemy import URL, Connection, text

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.fast_paths import FastPaths
from plimsoll.runtime.base import Runtime
from plimsoll.storage.dialects.base import DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.dialects.server import (
    CONNECT_SECONDS,
    IDLE_TRANSACTION_SECONDS,
    LOCK_SECONDS,
    ServerDialect,
)
from plimsoll.storage.dialects.statements import ROWS_PER_YIELD
from plimsoll.storage.errors import (
    Busy,
    ConstraintFailed,
    DatabaseFault,
    DiskFull,
    HeadMoved,
    Interrupted,
    NoSuchDatabase,
    NotPermitted,
    NotWritable,
    ReadOnly,
    TooManyConnections,
    Unreachable,
    ValueNotStorable,
)
from plimsoll.storage.fast.multi_statement import Quote
from plimsoll.storage.head import HEAD_GUARD, QUERY
from plimsoll.storage.sql import Statement

T = TypeVar("T")

MIN_VERSION = 13

# A number that no other program is likely to lock in the same database.
_SCHEMA_LOCK = 0x506C696D736F6C6C
_SCHEMA_SECONDS = 60

RESULT_SECONDS = 60
"""How long to wait for input. A server that hangs keeps its connections open."""
_NO_RESULT = f"The server has sent nothing for {RESULT_SECONDS} s."


# By the first characters of the SQLSTATE. The longest match counts.
_FAULTS: dict[str, type[DatabaseFault]] = {
    "08": Unreachable,  # connection exceptions
    "25006": ReadOnly,  # read-only transaction: a standby, or a setting
    "25P03": Unreachable,  # idle in transaction for too long
    "26": Busy,  # no prepared statement of that name: a connection pool in between has switched sessions
    "28": NotPermitted,  # wrong password, no such user
    "3D000": NoSuchDatabase,
    "40": Busy,  # deadlock, serialization failure
    "42501": NotPermitted,
    "42P05": Busy,  # a prepared statement of that name exists: the same
    "53": NotWritable,  # out of memory
    "53100": DiskFull,
    "53300": TooManyConnections,
    "55P03": Busy,  # lock not available
    "57014": Interrupted,  # statement timeout, cancelled
    "57P": Unreachable,  # shutdown, crash, starting up
    "58": DiskFull,  # input/output error
    "23514": HeadMoved,  # a CHECK constraint failed: its name is in the text
    "XX": NotWritable,  # internal error of the server
}

# The client library gives no SQLSTATE when a connection is refused, only the text. A text in another language than
# English counts as Unreachable; the log has the text in any case.
_TOO_MANY = re.compile(
    "FATAL:  (sorry, too many clients already|remaining connection slots are reserved|too many connections for )"
)
_NO_SUCH_DATABASE = re.compile(r'FATAL:  database "[^"]*" does not exist')
_NOT_PERMITTED = re.compile(
    'FATAL:  (permission denied|.* authentication failed|role ".*" (does not exist|is not permitted)'
    "|(no )?pg_hba.conf )|no password supplied"
)

_INTEGER_TYPES = frozenset((20, 21, 23))
_SUCCESS = (psycopg.pq.ExecStatus.COMMAND_OK, psycopg.pq.ExecStatus.TUPLES_OK)


class PostgreSQL(ServerDialect):
    begin_write = (Statement("BEGIN ISOLATION LEVEL READ COMMITTED"),)
    begin_read = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def __init__(self, url: URL, options: DatabaseOptions, runtime: Runtime, fast_paths: FastPaths) -> None:
        # URLs of the reference name psycopg2, or no driver, which means psycopg2.
        super().__init__(url.set(drivername="postgresql+psycopg"), options, runtime, fast_paths)

    def connect_arguments(self) -> dict[str, Any]:
        return {
            "connect_timeout": CONNECT_SECONDS,
            # Detects a host that has vanished within half a minute.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 4,
            "tcp_user_timeout": 30_000,
            # The server converts from the encoding of the database.
            "client_encoding": "utf8",
            **({} if "application_name" in self._url.query else {"application_name": "plimsoll"}),
        }

    def socket_of(self, connection: psycopg.Connection[Any]) -> int:
        return -1 if connection.closed else connection.fileno()

    def set_up_reader(self, connection: psycopg.Connection[Any]) -> None:
        _limit_waits(connection)

    def set_up_writer(self, connection: psycopg.Connection[Any]) -> None:
        _limit_waits(connection)
        # psycopg would prepare statements by name, which fail if a connection pool in between switches sessions.
        connection.prepare_threshold = None
        connection.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        connection.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_TRANSACTION_SECONDS}s'")

    def inspect(self, connection: Connection) -> DatabaseSemantics:
        version = int(connection.scalar(text("SHOW server_version_num"))) // 10_000
        if version < MIN_VERSION:
            raise UnusableDatabaseError(
                f"{self.where} is PostgreSQL {version}; Plimsoll needs {MIN_VERSION} or later."
            )
        return DatabaseSemantics(can_store=_can_store)

    def lock_schema(self, connection: Any) -> None:
        del connection.wait  # no time limit: changing a large table may take long
        connection.execute(f"SET lock_timeout = '{_SCHEMA_SECONDS}s'")
        connection.execute(f"SELECT pg_advisory_lock({_SCHEMA_LOCK})")

    # These run for every request and call libpq directly: psycopg's own functions take longer than the server.

    def execute_message(self, connection: Any, message: str) -> list[list[Any]]:
        # One message, because the values are in the statements. A pipeline would do it too, but it ends with a flush,
        # after which the server does not apply idle_in_transaction_session_timeout.
        connection.pgconn.send_query(message.encode())
        return self._receive(connection)

    def send_head_query(self, connection: Any) -> None:
        connection.pgconn.send_query(QUERY.encode())

    def receive_head(self, connection: Any) -> Sequence[Any]:
        row: Sequence[Any] = self._receive(connection)[0][0]
        return row

    def _receive(self, connection: Any) -> list[list[Any]]:
        """Return the rows of each statement of the message that was sent.

        libpq's own functions that wait would block the thread, and under gevent every other request with it.
        """
        libpq = connection.pgconn
        try:
            # A non-blocking send takes only as much as fits into the socket's buffer. Input is read meanwhile, because
            # a server whose results are not read stops reading.
            while libpq.flush():
                self._runtime.wait_for_input_or_output_space(libpq.socket, RESULT_SECONDS)
                libpq.consume_input()
            libpq.consume_input()  # the result may have arrived already
            results = []
            while True:
                while libpq.is_busy():
                    self._runtime.wait_for_input(libpq.socket, RESULT_SECONDS)
                    libpq.consume_input()
                result = libpq.get_result()
                if result is None:
                    break
                results.append(result)
        except TimeoutError:
            raise psycopg.OperationalError(_NO_RESULT) from None
        return [self._rows(libpq, result) for result in results]

    def _rows(self, libpq: Any, result: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a result with integers and texts. Errors are raised as psycopg raises them."""
        if result.status not in _SUCCESS:
            if libpq.status != psycopg.pq.ConnStatus.OK:
                raise psycopg.OperationalError(libpq.get_error_message() or "The connection was lost.")
            raise psycopg.errors.error_from_result(result, "utf-8")
        columns = [(column, result.ftype(column) in _INTEGER_TYPES) for column in range(result.nfields)]
        rows: list[tuple[Any, ...]] = []
        for row in range(result.ntuples):
            rows.append(
                tuple([_value(result.get_value(row, column), is_integer) for column, is_integer in columns])
            )
            if not len(rows) % ROWS_PER_YIELD:
                self._runtime.yield_now()
        return rows

    def sequence_statements(self, table: str, rows: int) -> Sequence[Statement]:
        # setval would need a privilege that the database user may not have.
        sequence = f"pg_get_serial_sequence('{table}', 'id')"
        return (Statement(f"SELECT nextval({sequence}) FROM generate_series(1, {rows:d})"),)  # noqa: S608

    def quote(self, connection: Any) -> Quote:
        return _quoted

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotStorable | None:
        if isinstance(error, psycopg.DataError):
            return ValueNotStorable(error)
        state = getattr(error, "sqlstate", None)
        if state is None:
            # An error without SQLSTATE comes from the client library: it has no connection.
            lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
            if lost and _NOT_PERMITTED.search(str(error)):
                return self.fault(NotPermitted, error)
            if lost and _TOO_MANY.search(str(error)):
                return TooManyConnections(error)
            if lost and _NO_SUCH_DATABASE.search(str(error)):
                return NoSuchDatabase(error)
            return Unreachable(error) if lost else None
        kinds = (_FAULTS.get(state[:length]) for length in (5, 3, 2))
        kind = next((kind for kind in kinds if kind is not None), None)
        if kind is HeadMoved and HEAD_GUARD not in str(error):
            return ConstraintFailed(error)
        return None if kind is None else self.fault(kind, error)


def _can_store(text: str) -> bool:
    return "\0" not in text


def _quoted(text: str) -> str:
    if not _can_store(text):
        raise psycopg.DataError("PostgreSQL cannot store a text with a NUL character.")
    text = text.replace("'", "''")
    # In an E string a backslash always escapes; in others that depends on a setting.
    return " E'" + text.replace("\\", "\\\\") + "'" if "\\" in text else "'" + text + "'"


def _limit_waits(connection: psycopg.Connection[Any]) -> None:
    """Give psycopg's own functions a deadline: without one they wait for a result for ever."""
    wait = connection.wait

    def wait_with_deadline(steps: Any, *args: Any, **options: Any) -> Any:
        return wait(_with_deadline(steps), *args, **options)

    connection.wait = wait_with_deadline  # type: ignore[method-assign, assignment]


def _with_deadline(steps: Generator[Any, int, T]) -> Generator[Any, int, T]:
    """Add a deadline to an operation of psycopg. It is sent 0 every tenth of a second without input."""
    deadline = time.monotonic() + RESULT_SECONDS
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if ready:
                deadline = time.monotonic() + RESULT_SECONDS
            elif time.monotonic() > deadline:
                raise psycopg.OperationalError(_NO_RESULT)
            wanted = steps.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


def _value(content: bytes | None, is_integer: bool) -> Any:
    if content is None:
        return None
    return int(content) if is_integer else content.decode()
