# SPDX-License-Identifier: Apache-2.0

"""Interface of the service to its database: consistent reads, serialized writes, and the head.

An SQLAlchemy URL selects the database; `dialects` contains the differences between them. A failure of the database
is raised as a DatabaseFault; an error that a row or a statement causes stays an SQLAlchemy error.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from types import TracebackType
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.metrics import NO_METRICS, Metrics
from plimsoll.runtime.base import Runtime
from plimsoll.runtime.threads import Threads
from plimsoll.storage.dialects.base import DatabaseOptions, Dialect, DialectFactory, UnusableDatabaseError
from plimsoll.storage.dialects.errors import translate_error
from plimsoll.storage.errors import DatabaseFault, HeadMoved, retry_once_if_lost
from plimsoll.storage.head import VIOLATE_HEAD_GUARD, Head
from plimsoll.storage.outage import Outage
from plimsoll.storage.sql import Statement
from plimsoll.storage.transaction import Transaction

__all__ = ["Database", "DatabaseOptions", "UnusableDatabaseError"]

T = TypeVar("T")

# Module, class, and the extra that installs the driver. Imported on first use.
_DIALECTS = {
    "sqlite": ("sqlite", "SQLite", None),
    "postgresql": ("postgresql", "PostgreSQL", "postgresql"),
    "mysql": ("mysql", "MySQL", "mysql"),
    "mariadb": ("mysql", "MySQL", "mysql"),
}

_UNREADABLE = (
    "This is not a database URL. It has the form mysql+pymysql://user:password@host/database,"
    " postgresql://user:password@host/database or sqlite:////absolute/path/to/file"
)
_UNKNOWN = "{name} databases are not supported; these are: {known}"
_UNKNOWN_DRIVER = (
    "{driver}:// names a driver that is not available. Use sqlite:///, mysql+pymysql:// or postgresql://"
)
_NO_DRIVER = "{what} is not installed. Install it with: pip install 'plimsoll-placement[{extra}]'"


class Database:
    """One database. Open it once per process; all methods are thread-safe."""

    def __init__(
        self,
        url: str,
        options: DatabaseOptions | None = None,
        *,
        runtime: Runtime | None = None,
        fast_paths: FastPaths = ALL,
        metrics: Metrics = NO_METRICS,
    ) -> None:
        options = options or DatabaseOptions()
        self.runtime = runtime or Threads()
        parsed = _parse(url, options)
        _log_statements(options.connection_debug)
        self._dialect: Dialect = _open(parsed, options, self.runtime, fast_paths)
        self._metrics = metrics
        self.outage = Outage(self._dialect.where)
        """Reads report success and failure here; a writer reports its own, because it retries."""

    @property
    def where(self) -> str:
        """The address of the database for log lines and messages, without the password."""
        return self._dialect.where

    def semantics(self) -> DatabaseSemantics:
        """Return how the database compares and stores texts and ratios."""
        try:
            return self._dialect.semantics()
        except DBAPIError as error:
            raise self._translate(error) from error

    def read(self) -> AbstractContextManager[Connection]:
        """Return a connection whose queries all read the state committed when the first of them runs."""
        return self._translating_faults(self._dialect.read)

    def _read_single_query(self) -> AbstractContextManager[Connection]:
        return self._translating_faults(self._dialect.read_single_query)

    def run_read(self, read: Callable[[Connection], T], *, single_query: bool = False) -> T:
        """Run a function that reads, and repeat it once if the connection was lost.

        Unless `single_query` is set, all its queries read one committed state.
        """
        connect = self._read_single_query if single_query else self.read

        def run() -> T:
            with connect() as connection:
                return read(connection)

        return self._track_outage(lambda: retry_once_if_lost(run))

    def select_in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows of a query in portable SQL, with the values in the place of its `IN (...)`.

        Numbers and texts have the same Python types on all databases; times may be strings.
        """
        return self._track_outage(lambda: retry_once_if_lost(lambda: self._select_in(sql, values)))

    def select(self, statement: Statement) -> list[Any]:
        """Return the rows of one query, whose columns are numbers and texts."""
        return self._track_outage(lambda: retry_once_if_lost(lambda: self._select(statement)))

    def _select(self, statement: Statement) -> list[Any]:
        try:
            return self._dialect.select(statement)
        except Exception as error:
            raise self._translate(error) from error

    def _select_in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        try:
            return self._dialect.select_in(sql, values)
        except Exception as error:
            raise self._translate(error) from error

    def transaction(self, expected: Head | None = None) -> AbstractContextManager[Transaction]:
        """Open a write transaction, which is rolled back unless its `commit` is called. It cannot be nested.

        Without `expected` it must call `lock_head` first, which excludes all other writers in all processes. With
        `expected` it is an optimistic write: one round trip if its only call is `commit`, with the statements of
        `changes.append_statements` first. It raises HeadMoved if the head is another one.
        """
        return self._translating_faults(lambda: self._dialect.transaction(expected))

    def background_transaction(self) -> AbstractContextManager[Transaction]:
        """Open a write transaction on tables that no claim uses. It uses no connection that a claim could need."""
        return self._translating_faults(self._dialect.background_transaction)

    def change_schema(self) -> AbstractContextManager[Transaction]:
        """Open a write transaction for creating tables; it needs no head."""
        return self._translating_faults(self._dialect.change_schema)

    @property
    def commits_in_background(self) -> bool:
        """True if this process can do other work while a transaction is written and committed."""
        return self._dialect.commits_in_background

    @property
    def is_multi_primary(self) -> bool:
        """True if several nodes accept writes: a lock on one node does not exclude writers on another."""
        return self._dialect.is_multi_primary

    def sequence_statements(self, table: str, rows: int) -> Sequence[Statement]:
        """Return the statements that advance the id sequence of a table by so many rows inserted with explicit ids."""
        return self._dialect.sequence_statements(table, rows)

    def enforces_head_guard(self) -> bool:
        """True if the database enforces the constraint that optimistic writes rely on, see `head.move_head_sql`."""
        try:
            with self.transaction() as transaction:
                transaction.run([VIOLATE_HEAD_GUARD])
        except HeadMoved:
            return True
        return False

    def head(self) -> Head:
        """Return a head at least as new as this call: it includes every change committed before."""
        return self.start_head_query()()

    def start_head_query(self) -> Callable[[], Head]:
        """Send the query for the head, and return a function that waits for its result.

        The caller can do other work in between.
        """
        try:
            receive = self._dialect.start_head_query()
        except Exception as error:
            raise self._failed(error) from error

        def wait_for_head() -> Head:
            try:
                head = receive()
            except Exception as failed:
                error = failed
            else:
                if self.outage.is_on:
                    self.outage.note_success()
                return head
            raise self._failed(error) from error  # outside of the handler, as in `_track_outage`

        return wait_for_head

    def dispose(self) -> None:
        """Close every connection."""
        self._dialect.dispose()

    def _failed(self, error: Exception) -> Exception:
        """Translate an error for the layers above, and report a fault of the database to `outage`."""
        fault = self._translate(error)
        if isinstance(fault, DatabaseFault):
            self._note_failure(fault)
        return fault

    def _track_outage(self, operation: Callable[[], T]) -> T:
        try:
            result = operation()
        except DatabaseFault as failed:
            fault = failed
        else:
            if self.outage.is_on:
                self.outage.note_success()
            return result
        # Outside of the handler, in which the log would append the fault a second time.
        self._note_failure(fault)
        raise fault

    def _note_failure(self, fault: DatabaseFault) -> None:
        self.outage.note_failure(fault)
        self._metrics.database_failed(fault)

    def _translating_faults(self, connect: Callable[[], AbstractContextManager[T]]) -> TranslatingErrors[T]:
        return TranslatingErrors(connect(), self._translate)

    def _translate(self, error: Exception) -> Exception:
        return translate_error(error, self._dialect.fault_of)


class TranslatingErrors(AbstractContextManager[T]):
    """A connection or transaction whose SQLAlchemy errors of the database are translated into DatabaseFault."""

    __slots__ = ("_connection", "_translate")

    def __init__(
        self, connection: AbstractContextManager[T], translate_error: Callable[[Exception], Exception]
    ) -> None:
        self._connection = connection
        self._translate = translate_error

    def __enter__(self) -> T:
        try:
            return self._connection.__enter__()
        except DBAPIError as error:
            raise self._translate(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._connection.__exit__(kind, error, trace)
        except DBAPIError as failed:
            raise self._translate(failed) from failed
        if isinstance(error, DBAPIError):
            raise self._translate(error) from error


def _open(url: URL, options: DatabaseOptions, runtime: Runtime, fast_paths: FastPaths) -> Dialect:
    name = url.get_backend_name()
    if name not in _DIALECTS:
        raise UnusableDatabaseError(_UNKNOWN.format(name=name, known=", ".join(sorted(_DIALECTS))))
    module, kind, extra = _DIALECTS[name]
    try:
        factory: DialectFactory = getattr(import_module(f"plimsoll.storage.dialects.{module}"), kind)
        return factory(url, options, runtime, fast_paths)
    except NoSuchModuleError as unknown:
        raise UnusableDatabaseError(_UNKNOWN_DRIVER.format(driver=url.drivername)) from unknown
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("plimsoll"):
            raise
        if extra is None:
            raise UnusableDatabaseError(_UNKNOWN_DRIVER.format(driver=url.drivername)) from missing
        raise UnusableDatabaseError(_NO_DRIVER.format(what=missing.name, extra=extra)) from missing


def _parse(url: str, options: DatabaseOptions) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # not shown: it may hold a password
        raise UnusableDatabaseError(_UNREADABLE) from error
    if options.connection_parameters:
        parsed = parsed.update_query_string(options.connection_parameters, append=True)
    return parsed


def _log_statements(verbosity: int) -> None:
    """Apply [placement_database]connection_debug: 50 and above logs statements, 100 and above also results."""
    if verbosity >= 50:
        level = logging.DEBUG if verbosity >= 100 else logging.INFO
        logging.getLogger("sqlalchemy.engine").setLevel(level)
        return
    pool = logging.getLogger("sqlalchemy.pool")
    if pool.level == logging.NOTSET:
        # It logs a traceback for each lost connection that it cannot close cleanly. `outage` logs lost connections.
        pool.setLevel(logging.CRITICAL)
