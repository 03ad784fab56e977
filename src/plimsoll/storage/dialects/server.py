# SPDX-License-Identifier: Apache-2.0

"""The common part of all database servers: the connection pool, transactions, and the head probe.

Connections are opened on first use. A lost connection is replaced when it is needed next.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import URL, Connection, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.fast_paths import FastPaths
from plimsoll.runtime.base import Runtime
from plimsoll.storage.dialects.base import DatabaseOptions
from plimsoll.storage.dialects.errors import as_sqlalchemy_error, translate_error
from plimsoll.storage.dialects.forks import reset_after_fork
from plimsoll.storage.dialects.head_probe import HeadProbe
from plimsoll.storage.dialects.pool import ConnectionPool, PooledConnection, Role
from plimsoll.storage.dialects.startup import StartupCheck
from plimsoll.storage.dialects.statements import COMMIT, OneByOneSender, StatementSender, run_statement
from plimsoll.storage.errors import DatabaseFault, NotPermitted, Unreachable, ValueNotStorable
from plimsoll.storage.fast.multi_statement import MultiStatementSender, Quote
from plimsoll.storage.head import LOCKING_QUERY, Head
from plimsoll.storage.sql import Statement, query
from plimsoll.storage.transaction import Transaction

CONNECT_SECONDS = 10
LOCK_SECONDS = 10
"""After which a writer that waits for the lock of the head fails."""
IDLE_TRANSACTION_SECONDS = 30
"""After which the server ends a write transaction that sends nothing, and so releases the lock of the head."""

SERVER_MESSAGE_LIMIT = 1 << 29
"""Half of what PostgreSQL accepts: for a message of 1 GB it allocates 2 GB."""

# oslo.db's defaults, which the reference runs with.
POOL_SIZE, MAX_OVERFLOW, POOL_SECONDS = 5, 50, 30
IDLE_WRITERS = 2
"""While one transaction is written, the next one is prepared."""


class ServerDialect(ABC):
    """One database on a server. Each kind of server implements the abstract methods."""

    begin_write: tuple[Statement, ...] = ()
    """Begins a write transaction; empty where its first statement begins it."""
    begin_read: Statement
    """Begins a read transaction, which sees one state of the database."""

    def __init__(self, url: URL, options: DatabaseOptions, runtime: Runtime, fast_paths: FastPaths) -> None:
        self._url = url
        self._options = options
        self._runtime = runtime
        self.where = url.render_as_string(hide_password=True)
        self.sender: StatementSender = (
            MultiStatementSender(self, runtime) if fast_paths.multi_statement else OneByOneSender(runtime)
        )
        # For SQLAlchemy each statement is a transaction, so that it sends neither BEGIN nor COMMIT by itself.
        self._engine = create_engine(
            url,
            poolclass=NullPool,
            pool_reset_on_return=None,
            isolation_level="AUTOCOMMIT",
            skip_autocommit_rollback=True,
            connect_args=self.connect_arguments(),
        )
        self._driver_error = self._engine.dialect.loaded_dbapi.Error
        self._create_connections()
        reset_after_fork(self)

    def _create_connections(self) -> None:
        options = self._options
        pool_size = options.max_pool_size or POOL_SIZE
        overflow = MAX_OVERFLOW if options.max_overflow is None else options.max_overflow
        max_open = None if overflow < 0 else pool_size + overflow
        self._pool = ConnectionPool(
            self._engine,
            readers=Role(self.set_up_reader, pool_size, max_open),
            writers=Role(self.set_up_writer, IDLE_WRITERS, max_open),
            background=Role(self.set_up_writer, 1, 1),
            timeout=options.pool_timeout or POOL_SECONDS,
            recycle_seconds=options.connection_recycle_time,
            is_lost=self._is_lost,
            is_disconnect=self._is_disconnect,
        )
        self._probe = HeadProbe(self._connect_probe, self.send_head_query, self.receive_head)
        self._startup_check = StartupCheck(self.where, options, self._inspect_server, self.fault_of)
        self._semantics = EXACT

    # Implemented by each kind of server

    @abstractmethod
    def connect_arguments(self) -> dict[str, Any]: ...

    @abstractmethod
    def socket_of(self, connection: Any) -> int | None:
        """Return the file descriptor of a driver connection: -1 if it is closed, None if the driver hides it."""

    @abstractmethod
    def set_up_reader(self, connection: Any) -> None:
        """Configure a new driver connection, which is in autocommit mode, for reads."""

    @abstractmethod
    def set_up_writer(self, connection: Any) -> None:
        """Configure a new driver connection for write transactions, in which locking reads see the last commit."""

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
    def lock_schema(self, connection: Any) -> None:
        """Take the lock that allows one process at a time to change the schema. The end of the session releases it."""

    def execute_query(self, connection: Any, statement: Statement) -> list[Any]:
        """Run one query on a driver connection. Return its rows."""
        return run_statement(connection, statement, self._runtime.yield_now)

    @abstractmethod
    def send_head_query(self, connection: Any) -> None:
        """Send the query for the head on the probe's driver connection, without waiting for the result."""

    @abstractmethod
    def receive_head(self, connection: Any) -> Sequence[Any]:
        """Wait for the result of `send_head_query`. Return its row."""

    @abstractmethod
    def execute_message(self, connection: Any, message: str) -> list[list[Any]]: ...

    def max_message_bytes(self, connection: Any) -> int:
        return SERVER_MESSAGE_LIMIT

    def as_one_statement(self, message: str) -> str:
        """Return the message in a form in which an abort of the transaction by the server ends all of it."""
        return message

    @abstractmethod
    def quote(self, connection: Any) -> Quote: ...

    # The same for all servers

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
        with self._pool.connection(self._pool.readers) as pooled:
            self._run(pooled.driver, self.begin_read)
            yield pooled.sqlalchemy_connection()
            self._run(pooled.driver, COMMIT)
            pooled.is_clean = True

    @contextlib.contextmanager
    def read_single_query(self) -> Iterator[Connection]:
        self._ensure_started()
        with self._pool.connection(self._pool.readers) as pooled:
            yield pooled.sqlalchemy_connection()
            pooled.is_clean = True

    def select_in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        self._ensure_started()
        with self._pool.connection(self._pool.readers) as pooled:
            rows = self._run(pooled.driver, query(pooled.dialect, sql, values))
            pooled.is_clean = True
            return rows

    def select(self, statement: Statement) -> list[Any]:
        self._ensure_started()
        with self._pool.connection(self._pool.readers) as pooled:
            try:
                (rows,) = self.sender.run(pooled.driver, (statement,))
            except self._driver_error as error:
                raise as_sqlalchemy_error(error, pooled.dialect) from error
            pooled.is_clean = True
            return rows

    @contextlib.contextmanager
    def transaction(self, expected: Head | None = None) -> Iterator[Transaction]:
        self._ensure_started()
        with (
            self._pool.connection(self._pool.writers) as pooled,
            self._transaction(pooled, expected) as transaction,
        ):
            yield transaction

    @contextlib.contextmanager
    def background_transaction(self) -> Iterator[Transaction]:
        self._ensure_started()
        with self._pool.connection(self._pool.background) as pooled, self._transaction(pooled) as transaction:
            yield transaction

    @contextlib.contextmanager
    def change_schema(self) -> Iterator[Transaction]:
        self._ensure_started()
        pooled = self._pool.open(self._pool.writers)
        try:
            try:
                self.lock_schema(pooled.driver)
            except self._driver_error as error:
                raise as_sqlalchemy_error(error, pooled.dialect) from error
            with self._transaction(pooled) as transaction:
                yield transaction
        finally:
            pooled.close()

    def start_head_query(self) -> Callable[[], Head]:
        return partial(self._probe.wait_for, self._probe.start())

    def dispose(self) -> None:
        self._pool.close_idle()
        self._probe.close()

    def reset_in_child(self) -> object:
        parents = self._pool, self._probe
        self._create_connections()
        return parents

    def _transaction(self, pooled: PooledConnection, expected: Head | None = None) -> Transaction:
        return Transaction(
            pooled,
            self.sender,
            self.fault_of,
            begin=self.begin_write,
            lock_head_query=Statement(LOCKING_QUERY),
            expected=expected,
        )

    def _run(self, connection: Any, statement: Statement) -> list[Any]:
        try:
            return self.execute_query(connection, statement)
        except self._driver_error as error:
            raise as_sqlalchemy_error(error, self._engine.dialect) from error

    def _is_lost(self, connection: Any) -> bool:
        """True if the server has closed an idle connection: on an idle one, input can only be its end.

        A loss that is found when a message with a commit was sent would leave the outcome unknown.
        """
        descriptor = self.socket_of(connection)
        if descriptor is None:
            return False
        return descriptor < 0 or self._runtime.has_input(descriptor)

    def _is_disconnect(self, error: BaseException) -> bool:
        return isinstance(error, DBAPIError) and isinstance(
            translate_error(error, self.fault_of), Unreachable
        )

    def _connect_probe(self) -> Any:
        self._ensure_started()
        return self._pool.open(self._pool.readers).detach()

    def _ensure_started(self) -> None:
        if not self._startup_check.is_done:
            self._startup_check.run()

    def _inspect_server(self) -> None:
        pooled = self._pool.open(self._pool.writers)
        try:
            self._semantics = self.inspect(pooled.sqlalchemy_connection())
        finally:
            pooled.close()
