# SPDX-License-Identifier: Apache-2.0

"""The common part of all database servers: connection pools, the head probe, messages of many statements.

Connections are opened on first use. A lost connection is replaced when it is needed next.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool, QueuePool

from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.runtime.scheduling import BusyPoll, has_input
from plimsoll.storage.dialects.base import DatabaseOptions
from plimsoll.storage.dialects.connection_cache import CachedConnection, ConnectionCache
from plimsoll.storage.dialects.errors import as_sqlalchemy_error
from plimsoll.storage.dialects.forks import reset_after_fork
from plimsoll.storage.dialects.head_probe import HeadProbe
from plimsoll.storage.dialects.startup import StartupCheck
from plimsoll.storage.dialects.transaction import Transaction, raise_commit_outcome, transaction_of
from plimsoll.storage.dialects.writers import WriteConnections, send_nothing
from plimsoll.storage.errors import (
    Busy,
    DatabaseFault,
    HeadMoved,
    NotPermitted,
    Unreachable,
    ValueNotStorable,
)
from plimsoll.storage.fast.multi_statement import (
    Quote,
    build_messages,
    join_statements,
    render_statement,
)
from plimsoll.storage.head import QUERY, Head
from plimsoll.storage.sql import Statement, query

CONNECT_SECONDS = 10
LOCK_SECONDS = 10
"""After which a writer that waits for the lock of the head fails."""
IDLE_TRANSACTION_SECONDS = 30
"""After which the server ends a write transaction that sends nothing, and so releases the lock of the head."""

HEAD_SECONDS = 100e-6
"""In which a server on the same machine or close to it returns the head."""

SERVER_MESSAGE_LIMIT = 1 << 29
"""Half of what PostgreSQL accepts: for a message of 1 GB it allocates 2 GB."""

MAX_THREADS = 1 << 16
# oslo.db's defaults, which the reference runs with.
POOL_SIZE, MAX_OVERFLOW, POOL_SECONDS = 5, 50, 30


class ServerDialect(ABC):
    """One database on a server. Each kind of server implements the abstract methods."""

    begin = ""
    """The statement that begins a write transaction; empty where the first statement begins it."""

    def __init__(self, url: URL, options: DatabaseOptions) -> None:
        self._url = url
        self._options = options
        self.where = url.render_as_string(hide_password=True)
        self._create_connections()
        reset_after_fork(self)

    def _create_connections(self) -> None:
        options = self._options
        overflow = MAX_OVERFLOW if options.max_overflow is None else options.max_overflow
        self._read_engine = self._engine(options.max_pool_size or POOL_SIZE, overflow)
        # Each statement is a transaction, so SQLAlchemy sends no BEGIN and no COMMIT. For writers, `Transaction` does.
        autocommit = {"isolation_level": "AUTOCOMMIT", "skip_autocommit_rollback": True}
        self._write_engine = self._engine(1, MAX_OVERFLOW, **autocommit)
        dialect = self._write_engine.dialect
        self._driver_error = dialect.loaded_dbapi.Error
        self._write_connections = WriteConnections(
            self._write_engine,
            self.fault_of,
            recycle_seconds=options.connection_recycle_time,
            connect=self._connect_writer,
            is_lost=self._is_lost,
        )
        # Nothing may be sent after a commit: if that failed, a committed transaction would seem to have failed.
        dialect.do_rollback = send_nothing  # type: ignore[method-assign, assignment]
        self._autocommit_engine = self._engine(options.max_pool_size or POOL_SIZE, overflow, **autocommit)
        point_query_engine = create_engine(
            self._url, poolclass=NullPool, connect_args=self.connect_arguments(), **autocommit
        )
        event.listen(point_query_engine, "connect", lambda connection, _: self.set_up_reader(connection))
        self._point_query_connections = ConnectionCache(
            point_query_engine,
            lambda: CachedConnection(point_query_engine.raw_connection()),
            options.max_pool_size or POOL_SIZE,
            options.connection_recycle_time,
        )
        # As many as a pool would allow.
        slots = MAX_THREADS if overflow < 0 else (options.max_pool_size or POOL_SIZE) + overflow
        self._point_query_slots = threading.Semaphore(slots)
        event.listen(self._autocommit_engine, "connect", lambda connection, _: self.set_up_reader(connection))
        event.listen(self._read_engine, "connect", lambda connection, _: self.set_up_reader(connection))
        event.listen(self._write_engine, "connect", lambda connection, _: self.set_up_writer(connection))
        event.listen(self._write_engine, "before_cursor_execute", self._begin)
        # Without a pool: a retry after a lost connection must not get another lost one.
        self._unpooled_engine = create_engine(
            self._url, poolclass=NullPool, connect_args=self.connect_arguments()
        )
        event.listen(self._unpooled_engine, "connect", lambda connection, _: self.set_up_writer(connection))
        self._head_busy_poll = BusyPoll(HEAD_SECONDS)
        self._probe = HeadProbe(self._connect_probe, self.send_head_query, self._receive_head_busy_polling)
        self._startup_check = StartupCheck(self.where, self._options, self._inspect_server, self.fault_of)
        self._semantics = EXACT

    def _engine(self, pool_size: int, max_overflow: int, **options: Any) -> Engine:
        return create_engine(
            self._url,
            poolclass=QueuePool,
            pool_size=pool_size,
            max_overflow=max_overflow,
            pool_timeout=self._options.pool_timeout or POOL_SECONDS,
            pool_recycle=self._options.connection_recycle_time,
            pool_use_lifo=True,
            # The code that uses a connection ends its transaction; a reset would cost another round trip.
            pool_reset_on_return=None,
            connect_args=self.connect_arguments(),
            **options,
        )

    # Implemented by each kind of server

    @abstractmethod
    def connect_arguments(self) -> dict[str, Any]: ...

    @abstractmethod
    def socket_of(self, connection: Any) -> int | None:
        """Return the file descriptor of a driver connection: -1 if it is closed, None if the driver hides it."""

    @abstractmethod
    def set_up_reader(self, connection: Any) -> None:
        """Configure a new driver connection for read transactions that see one state of the database."""

    @abstractmethod
    def set_up_writer(self, connection: Any) -> None:
        """Configure a new driver connection for write transactions, in which locking reads see the last commit."""

    @abstractmethod
    def set_up_probe(self, connection: Any) -> None:
        """Configure a new driver connection for the head probe: autocommit."""

    @abstractmethod
    def inspect(self, connection: Connection) -> DatabaseSemantics:
        """Check the version of the server, on the first connection, and return how it stores and compares values.

        Raises UnusableDatabaseError if the server is too old.
        """

    @abstractmethod
    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotStorable | None: ...

    def fault(
        self, kind: type[DatabaseFault | ValueNotStorable], error: BaseException
    ) -> DatabaseFault | ValueNotStorable:
        """Return a fault of this kind. NotPermitted gets the name of the database user, which some servers omit."""
        return NotPermitted(error, self._url.username) if kind is NotPermitted else kind(error)

    @abstractmethod
    def schema_lock(self, connection: Connection) -> contextlib.AbstractContextManager[object]:
        """Hold the lock that allows one process at a time to change the schema."""

    @abstractmethod
    def execute_message(self, connection: Any, message: str) -> list[list[Any]]:
        """Run a message of several statements on a driver connection. Return the rows of each statement."""

    def execute_for_last_result(self, connection: Any, message: str) -> list[Any]:
        """Run a message of statements. Return the rows of the last one."""
        return self.execute_message(connection, message)[-1]

    def execute_query(self, connection: Any, statement: Statement) -> list[Any]:
        """Run one query on a driver connection. Return its rows."""
        return self.execute_for_last_result(connection, render_statement(statement, self.quote(connection)))

    @abstractmethod
    def send_head_query(self, connection: Any) -> None:
        """Send the query for the head on the probe's driver connection, without waiting for the result."""

    @abstractmethod
    def receive_head(self, connection: Any) -> Sequence[Any]:
        """Wait for the result of `send_head_query`. Return its row."""

    def with_commit(self, message: str) -> str:
        """Return the message of a transaction's last statements with its commit appended."""
        return f"{message};COMMIT"

    def max_message_bytes(self, connection: Any) -> int:
        """Return how long a message the server accepts on a driver connection."""
        return SERVER_MESSAGE_LIMIT

    @abstractmethod
    def quote(self, connection: Any) -> Quote:
        """Return the function that quotes a text by the rules of this driver connection."""

    # The same for all servers

    def lock_head_query(self) -> Statement:
        return Statement(f"{QUERY} FOR UPDATE")

    @property
    def commits_in_background(self) -> bool:
        return True

    @property
    def is_multi_primary(self) -> bool:
        return False

    def sequence_statements(self, table: str, rows: int) -> Sequence[Statement]:
        return ()

    def semantics(self) -> DatabaseSemantics:
        self._ensure_started()
        return self._semantics

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        self._ensure_started()
        with self._pooled_connection(self._read_engine) as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def read_single_query(self) -> Iterator[Connection]:
        self._ensure_started()
        with self._pooled_connection(self._autocommit_engine) as connection:
            yield connection

    def write(self, expected: Head | None = None) -> contextlib.AbstractContextManager[Connection]:
        return self._write_connections.transaction(expected)

    @contextlib.contextmanager
    def change_schema(self) -> Iterator[Connection]:
        self._ensure_started()
        with (
            self._pooled_connection(self._write_engine) as connection,
            self.schema_lock(connection),
            Transaction(connection, self.fault_of),
        ):
            yield connection

    def start_head_query(self) -> Callable[[], Head]:
        return partial(self._probe.wait_for, self._probe.start())

    def run_queries(self, connection: Connection, queries: Sequence[Statement]) -> list[list[Any]]:
        """Send all queries in one message, as far as it can be that long. The first failure ends it."""
        transaction = transaction_of(connection)
        driver = connection.connection.driver_connection if transaction is None else transaction.driver
        try:
            quote = self.quote(driver)
            return self._begin_and_run(
                transaction, driver, [render_statement(each, quote) for each in queries]
            )
        except self._driver_error as error:
            raise as_sqlalchemy_error(error, connection.dialect) from error

    def _begin_and_run(
        self, transaction: Transaction | None, driver: Any, queries: Sequence[str]
    ) -> list[list[Any]]:
        """Run queries. The first ones of a write transaction also begin it, and lock and check the expected head."""
        first: list[str] = []
        expected = None
        if transaction is not None and not transaction.begun:
            transaction.begun, expected = True, transaction.expected
            first += [self.begin] if self.begin else []
            first += [] if expected is None else [self.lock_head_query().sql]
        statements = [*first, *queries]
        if len(statements) == 1:
            results = [self.execute_for_last_result(driver, statements[0])]
        else:
            results = []
            for message in join_statements(statements, self.max_message_bytes(driver)) if statements else ():
                results += self.execute_message(driver, message)
        if expected is not None and Head(*results[len(first) - 1][0]) != expected:
            raise HeadMoved
        return results[len(first) :]

    def select_in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        self._ensure_started()
        if not self._point_query_slots.acquire(timeout=self._options.pool_timeout or POOL_SECONDS):
            raise Busy("All connections for reads are in use.")
        try:
            return self._run_point_query(sql, values)
        finally:
            self._point_query_slots.release()

    def _run_point_query(self, sql: str, values: Sequence[Any]) -> list[Any]:
        cached = self._point_query_connections.take()
        try:
            rows = self.execute_query(cached.driver, query(self._autocommit_engine.dialect, sql, values))
        except BaseException as error:
            cached.connection.invalidate()
            if isinstance(
                self.fault_of(error), Unreachable
            ):  # the other connections are probably lost as well
                self._point_query_connections.close_idle()
            raise
        self._point_query_connections.put_back(cached)
        return rows

    def run_and_commit(self, connection: Connection, statements: Sequence[Statement]) -> None:
        transaction = transaction_of(connection)
        assert transaction is not None, "no write transaction is active on this connection"
        driver = transaction.driver
        try:
            quote, limit = self.quote(driver), self.max_message_bytes(driver)
            messages = build_messages(self._with_begin(transaction, statements), quote, limit)
            last = next(messages)
            for message in messages:
                self.execute_for_last_result(driver, last)
                last = message
            try:
                self.execute_for_last_result(driver, self.with_commit(last))
            except Exception as error:
                raise_commit_outcome(as_sqlalchemy_error(error, connection.dialect), self.fault_of)
                raise
        except self._driver_error as error:
            raise as_sqlalchemy_error(error, connection.dialect) from error
        transaction.committed = True

    def _with_begin(self, transaction: Transaction, statements: Sequence[Statement]) -> Sequence[Statement]:
        """Prepend the BEGIN if it was not sent yet. The first statement then checks the expected head."""
        if transaction.begun:
            return statements
        assert transaction.expected is not None, "the head is neither locked nor expected"
        transaction.begun = True
        return [Statement(self.begin), *statements] if self.begin else statements

    def _begin(self, connection: Connection, *_: object) -> None:
        """Begin the write transaction before its first statement, if SQLAlchemy sends that one."""
        transaction = transaction_of(connection)
        if transaction is not None and not transaction.begun:
            try:
                self._begin_and_run(transaction, transaction.driver, ())
            except self._driver_error as error:
                raise as_sqlalchemy_error(error, connection.dialect) from error

    def dispose(self) -> None:
        self._read_engine.dispose()
        self._point_query_connections.close_idle()
        self._autocommit_engine.dispose()
        self._write_connections.close_idle()
        self._write_engine.dispose()
        self._probe.close()

    def reset_in_child(self) -> object:
        parents = (
            self._read_engine,
            self._autocommit_engine,
            self._point_query_connections,
            self._write_engine,
            self._write_connections,
            self._probe,
        )
        self._create_connections()
        return parents

    @contextlib.contextmanager
    def _pooled_connection(self, engine: Engine) -> Iterator[Connection]:
        """A connection of a pool. After an exception it is closed instead of returned to the pool."""
        with self._connect(engine) as connection:
            try:
                yield connection
            except BaseException:
                connection.invalidate()
                raise

    def _connect(self, engine: Engine) -> Connection:
        try:
            return engine.connect()
        except PoolTimeout as error:
            raise Busy(error) from error

    def _is_lost(self, connection: Any) -> bool:
        """True if the server has closed an idle connection: on an idle one, input can only be its end.

        A loss that is found when a message with a commit was sent would leave the outcome unknown.
        """
        descriptor = self.socket_of(connection)
        if descriptor is None:
            return False
        return descriptor < 0 or has_input(descriptor)

    def _receive_head_busy_polling(self, connection: Any) -> Sequence[Any]:
        """Receive the head, which has usually almost arrived: the query was sent earlier."""
        with self._head_busy_poll:
            self._head_busy_poll.poll_until_readable(self.socket_of(connection))
            return self.receive_head(connection)

    def _connect_writer(self) -> Connection:
        self._ensure_started()
        return self._connect(self._write_engine)

    def _connect_probe(self) -> Any:
        self._ensure_started()
        pooled = self._unpooled_engine.raw_connection()
        connection = pooled.driver_connection
        pooled.detach()
        self.set_up_probe(connection)
        return connection

    def _ensure_started(self) -> None:
        if not self._startup_check.is_done:
            self._startup_check.run()

    def _inspect_server(self) -> None:
        with self._write_engine.connect() as connection, connection.begin():
            self._semantics = self.inspect(connection)
