# SPDX-License-Identifier: Apache-2.0

"""The database as the rest of the service sees it: consistent reads, writes in one order, and the head.

Which database it is decides a URL, in SQLAlchemy's form; what differs between them is in `dialects`. What goes
wrong with it is raised as a DatabaseFault; errors that rows or statements are to blame for stay SQLAlchemy's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from types import TracebackType
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.storage.dialects.base import DatabaseOptions, Dialect, DialectFactory, UnusableDatabaseError
from plimsoll.storage.dialects.errors import translated
from plimsoll.storage.errors import DatabaseFault, Overtaken, asked_again_if_lost
from plimsoll.storage.head import UNGUARDED, Head
from plimsoll.storage.outage import Outage
from plimsoll.storage.sql import Statement

__all__ = ["Database", "DatabaseOptions", "UnusableDatabaseError"]

T = TypeVar("T")

# Module, class, and the extra that brings its driver. Imported when one is asked for.
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
    "{driver}:// names a driver that is not here. Write sqlite:///, mysql+pymysql:// or postgresql://"
)
_NO_DRIVER = "{what} is not installed. Install it with: pip install 'plimsoll-placement[{extra}]'"


class Database:
    """One database. Open it once per process; every method may be called from any thread."""

    def __init__(self, url: str, options: DatabaseOptions | None = None) -> None:
        options = options or DatabaseOptions()
        parsed = _parse(url, options)
        _log_statements(options.connection_debug)
        self._dialect: Dialect = _open(parsed, options)
        self.outage = Outage(self._dialect.where)
        """Reads are noted here; a writer notes its own failures, because it retries."""

    @property
    def where(self) -> str:
        """The database's place in words fit for an operator's eyes: no password."""
        return self._dialect.where

    def keeping(self) -> DatabaseSemantics:
        """How it keeps texts and ratios."""
        try:
            return self._dialect.keeping()
        except DBAPIError as error:
            raise self._translated(error) from error

    def read(self) -> AbstractContextManager[Connection]:
        """A connection whose queries all see one committed state, the newest when the first of them runs."""
        return self._plainly_failing(self._dialect.read)

    def _glance(self) -> AbstractContextManager[Connection]:
        return self._plainly_failing(self._dialect.glance)

    def ask(self, question: Callable[[Connection], T], *, in_one_query: bool = False) -> T:
        """The answer to a question, asked a second time if the connection turns out to be lost.

        One that takes more than one query sees one committed state in all of them.
        """
        connected = self._glance if in_one_query else self.read

        def asked() -> T:
            with connected() as connection:
                return question(connection)

        return self._noting_outage(lambda: asked_again_if_lost(asked))

    def look(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """The rows of one query that says `IN (...)` of these values, in the words of all databases.

        Numbers and texts are what they are everywhere; times may be texts.
        """
        return self._noting_outage(lambda: asked_again_if_lost(lambda: self._look(sql, values)))

    def _look(self, sql: str, values: Sequence[Any]) -> list[Any]:
        try:
            return self._dialect.look(sql, values)
        except Exception as error:
            raise self._translated(error) from error

    def write(self, expected: Head | None = None) -> AbstractContextManager[Connection]:
        """A transaction that writes: commits on a clean exit and rolls back on an exception. Not to be nested.

        Its first act must be `changes.lock_head`, which makes it the only writer there is, in any process. Or it
        takes for granted that the head is the one expected: then it costs one round trip if all that it does is to
        `run_last` the statements of `changes.appending`, and others; and it raises Overtaken if it is not.
        """
        return self._dialect.write(expected)

    def change_schema(self) -> AbstractContextManager[Connection]:
        """Like write, for creating tables; no head is needed."""
        return self._plainly_failing(self._dialect.change_schema)

    def ask_together(self, connection: Connection, queries: Sequence[Statement]) -> list[list[Any]]:
        """The rows of each of these queries, in as few round trips as the driver allows."""
        return self._dialect.ask(connection, queries)

    def run_last(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """Runs the last statements of a `write`, which is committed when this returns."""
        self._dialect.run_last(connection, statements)

    @property
    def works_by_itself(self) -> bool:
        """Whether this process can get on with something else while a transaction is written and committed."""
        return self._dialect.works_by_itself

    @property
    def is_multi_primary(self) -> bool:
        """Whether several nodes accept writes, so that a lock at one of them does not exclude writers at another."""
        return self._dialect.is_multi_primary

    def counting_along(self, table: str, rows: int) -> Sequence[Statement]:
        """What makes the database count so many new rows that brought their ids, where it does not by itself."""
        return self._dialect.counting_along(table, rows)

    def guards_the_head(self) -> bool:
        """Whether it keeps a write from moving a head that is not where it takes it to be, see `head.moving`."""
        with suppress(_UnguardedConnection):
            try:
                with self.write() as connection:
                    connection.exec_driver_sql(UNGUARDED)
                    raise _UnguardedConnection
            except Overtaken:
                return True
        return False

    def taking_the_head(self) -> Statement:
        """The query for the head that takes it: whoever holds it is the only writer there is."""
        return self._dialect.taking_the_head()

    def head(self) -> Head:
        """The head at some moment after this call began: whatever was committed before is up to it."""
        return self.ask_head()()

    def ask_head(self) -> Callable[[], Head]:
        """Begins to ask for the head; what is returned waits for the answer. Much can be done in between."""
        try:
            hear = self._dialect.ask_head()
        except Exception as error:
            raise self._failed(error) from error

        def received() -> Head:
            try:
                head = hear()
            except Exception as failed:
                error = failed
            else:
                if self.outage.is_on:
                    self.outage.note_success()
                return head
            raise self._failed(error) from error  # outside of the handler, as in `_noting_outage`

        return received

    def dispose(self) -> None:
        """Close every connection."""
        self._dialect.dispose()

    def _failed(self, error: Exception) -> Exception:
        """The error as the layers above have it. A fault of the database is noted as part of an outage."""
        fault = self._translated(error)
        if isinstance(fault, DatabaseFault):
            self.outage.note_failure(fault)
        return fault

    def _noting_outage(self, operation: Callable[[], T]) -> T:
        try:
            result = operation()
        except DatabaseFault as failed:
            fault = failed
        else:
            if self.outage.is_on:
                self.outage.note_success()
            return result
        self.outage.note_failure(
            fault
        )  # outside of the handler: the log would append the fault a second time
        raise fault

    def _plainly_failing(
        self, connect: Callable[[], AbstractContextManager[Connection]]
    ) -> AbstractContextManager[Connection]:
        try:
            return TranslatingConnection(connect(), self._translated)
        except DBAPIError as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> Exception:
        return translated(error, self._dialect.fault_of)


class TranslatingConnection:
    """A connection, around which SQLAlchemy's errors become ours where they are the database's."""

    __slots__ = ("_connected", "_translated")

    def __init__(
        self,
        connected: AbstractContextManager[Connection],
        translated: Callable[[Exception], Exception],
    ) -> None:
        self._connected = connected
        self._translated = translated

    def __enter__(self) -> Connection:
        try:
            return self._connected.__enter__()
        except DBAPIError as error:
            raise self._translated(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._connected.__exit__(kind, error, trace)
        except DBAPIError as failed:
            raise self._translated(failed) from failed
        if isinstance(error, DBAPIError):
            raise self._translated(error) from error


class _UnguardedConnection(Exception):
    """What must not be possible was, and is undone."""


def _open(url: URL, options: DatabaseOptions) -> Dialect:
    name = url.get_backend_name()
    if name not in _DIALECTS:
        raise UnusableDatabaseError(_UNKNOWN.format(name=name, known=", ".join(sorted(_DIALECTS))))
    module, kind, extra = _DIALECTS[name]
    try:
        factory: DialectFactory = getattr(import_module(f"plimsoll.storage.dialects.{module}"), kind)
        return factory(url, options)
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
    """Follow [placement_database]connection_debug: from 50 on statements are logged, at 100 results too."""
    if verbosity >= 50:
        level = logging.DEBUG if verbosity >= 100 else logging.INFO
        logging.getLogger("sqlalchemy.engine").setLevel(level)
        return
    pool = logging.getLogger("sqlalchemy.pool")
    if pool.level == logging.NOTSET:
        # It logs a traceback for each lost connection that cannot be closed in order. What was lost is logged as an outage.
        pool.setLevel(logging.CRITICAL)
