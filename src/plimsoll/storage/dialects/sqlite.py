# SPDX-License-Identifier: Apache-2.0

"""SQLite in WAL mode: readers never wait, writers of all processes queue for one file lock.

A commit is on disk before the response is sent, unless `sqlite_synchronous` is off. Files are opened and created on
first use.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.runtime.scheduling import (
    InlineOrOffload,
    PeriodicYield,
    offload,
    yield_to_requests,
)
from plimsoll.storage.dialects.base import DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.dialects.connection_cache import CachedConnection, ConnectionCache
from plimsoll.storage.dialects.errors import as_sqlalchemy_error
from plimsoll.storage.dialects.forks import reset_after_fork
from plimsoll.storage.dialects.transaction import raise_commit_outcome, transaction_of
from plimsoll.storage.dialects.write_queue import WriteQueue
from plimsoll.storage.dialects.writers import WriteConnections, send_nothing
from plimsoll.storage.errors import (
    Busy,
    CannotOpenFile,
    ConstraintFailed,
    DatabaseFault,
    DiskFull,
    HeadMoved,
    ReadOnly,
    Unreachable,
    ValueNotStorable,
)
from plimsoll.storage.head import HEAD_GUARD, QUERY, Head
from plimsoll.storage.sql import Statement, query

# Writers of Plimsoll wait in the WriteQueue, so only another program (a shell, a backup) makes SQLite itself wait.
BUSY_SECONDS = 15.0

# A checkpoint that no reader blocks truncates the write-ahead log to this size.
LOG_SIZE_LIMIT = 64 * 1024 * 1024
CHECKPOINT_PAGES = 8_000
"""Half of that size. Claims change the same pages again and again; a checkpoint copies each page once."""
WRITER_CACHE_KIB = 16_384
"""A claim writes a page of every index, each time another one."""
SLOW_COMMIT_SECONDS = 0.003
"""On a disk with a write cache a commit takes a tenth of that."""

MANY_STATEMENTS = 50
"""A batch of common size has ten. A batch with more than this is committed in another thread."""
ROWS_PER_YIELD = 1_000
"""Rows that are read before a yield to other requests: SQLite finds them one by one in this thread."""

IDLE_READERS = 8

_FAULTS: dict[int, type[DatabaseFault]] = {
    sqlite3.SQLITE_BUSY: Busy,
    sqlite3.SQLITE_LOCKED: Busy,
    sqlite3.SQLITE_READONLY: ReadOnly,
    sqlite3.SQLITE_IOERR: Unreachable,
    sqlite3.SQLITE_FULL: DiskFull,
    sqlite3.SQLITE_CANTOPEN: CannotOpenFile,
}

_IN_MEMORY = (
    "{url} is a database in memory. Each worker process would have its own one, with other contents."
    " Name a file instead, for example sqlite:////var/lib/placement/plimsoll.sqlite"
)
_FILE_URI = (
    "{url} names its file as a URI. Give the plain path: sqlite:////absolute/path or sqlite:///relative"
)
_NO_WAL = (
    "{path} cannot be switched to a write-ahead log (its journal mode stays {mode!r}), which several connections need."
    " Put it on a local file system."
)


class SQLite:
    """One SQLite file: a pool of read connections, one write connection, and a probe that detects commits."""

    def __init__(self, url: URL, options: DatabaseOptions) -> None:
        self.path = _file_path(url)
        self.where = str(self.path)
        self._url = url.set(database=self.where)
        self._options = options
        self._commit = InlineOrOffload(SLOW_COMMIT_SECONDS)
        self._create_connections()
        reset_after_fork(self)

    def _create_connections(self) -> None:
        # No limit: there are as many readers as threads, and a limit would only make one of them fail.
        idle_readers = self._options.max_pool_size or IDLE_READERS
        self._read_engine = self._engine(_set_up_reader, idle_readers, max_overflow=-1)
        event.listen(self._read_engine, "begin", _begin_reading)
        self._point_query_connections = ConnectionCache(
            self._read_engine, lambda: CachedConnection(self._read_engine.raw_connection()), idle_readers
        )
        # `write` and `Transaction` begin and end transactions; for SQLAlchemy each statement is one.
        self._write_engine = self._engine(
            self._set_up_writer, 1, max_overflow=0, isolation_level="AUTOCOMMIT"
        )
        for method in ("do_commit", "do_rollback"):
            setattr(self._write_engine.dialect, method, send_nothing)
        self._write_connections = WriteConnections(self._write_engine, self.fault_of)
        self._write_queue = WriteQueue(self.path.with_name(self.path.name + ".writers"))
        self._probe: sqlite3.Connection | None = None
        self._probe_lock = threading.Lock()
        self._last_head: tuple[int, Head] | None = None

    def semantics(self) -> DatabaseSemantics:
        return EXACT

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        with self._read_engine.connect() as connection, connection.begin():
            yield connection

    # A read transaction costs SQLite nothing.
    read_single_query = read

    @contextlib.contextmanager
    def write(self, expected: Head | None = None) -> Iterator[Connection]:
        self._make_directory()
        with self._write_queue.acquired():
            transaction = self._write_connections.transaction(expected)
            with transaction as connection:
                try:
                    transaction.driver.execute("BEGIN IMMEDIATE")
                    transaction.begun = True
                    if (
                        expected is not None
                        and Head(*transaction.driver.execute(QUERY).fetchone()) != expected
                    ):
                        raise HeadMoved
                except sqlite3.Error as error:
                    raise as_sqlalchemy_error(error, connection.dialect) from error
                yield connection

    def change_schema(self) -> contextlib.AbstractContextManager[Connection]:
        # SQLite's DDL is transactional, and its write lock covers a file without any table.
        return self.write()

    def run_queries(self, connection: Connection, queries: Sequence[Statement]) -> list[list[Any]]:
        driver = _driver_connection(connection)
        try:
            return [_fetch(driver.execute(*each)) for each in queries]
        except sqlite3.Error as error:
            raise as_sqlalchemy_error(error, connection.dialect) from error

    def select_in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        cached, dialect = self._point_query_connections.take(), self._read_engine.dialect
        try:
            rows = _fetch(cached.driver.execute(*query(dialect, sql, values)))
        except BaseException as error:
            cached.connection.invalidate()
            if isinstance(error, sqlite3.Error):
                raise as_sqlalchemy_error(error, dialect) from error
            raise
        self._point_query_connections.put_back(cached)
        return rows

    def run_and_commit(self, connection: Connection, statements: Sequence[Statement]) -> None:
        transaction = transaction_of(connection)
        assert transaction is not None, "no write transaction is active on this connection"
        driver: sqlite3.Connection = transaction.driver
        try:
            yield_if_due = PeriodicYield()
            for each in statements:
                driver.execute(*each)
                yield_if_due()
            try:
                if len(statements) > MANY_STATEMENTS:
                    offload(lambda: driver.execute("COMMIT"))
                else:
                    self._commit.run(lambda: driver.execute("COMMIT"))  # waits for the disk
            except Exception as error:
                raise_commit_outcome(as_sqlalchemy_error(error, connection.dialect), self.fault_of)
                raise
        except sqlite3.Error as error:
            raise as_sqlalchemy_error(error, connection.dialect) from error
        transaction.committed = True

    @property
    def commits_in_background(self) -> bool:
        return self._commit.is_offloading

    @property
    def is_multi_primary(self) -> bool:
        return False

    def sequence_statements(self, table: str, rows: int) -> Sequence[Statement]:
        return ()

    def lock_head_query(self) -> Statement:
        return Statement(QUERY)  # BEGIN IMMEDIATE has locked the whole file

    def start_head_query(self) -> Callable[[], Head]:
        head = self._head()
        return lambda: head

    def _head(self) -> Head:
        with self._probe_lock:
            probe = self._probe or self._open_probe()
            version: int = probe.execute("PRAGMA data_version").fetchone()[0]
            # A commit between the two queries changes the version that the next call reads.
            if self._last_head is None or self._last_head[0] != version:
                self._last_head = version, Head(*probe.execute(QUERY).fetchone())
            return self._last_head[1]

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotStorable | None:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_CONSTRAINT_CHECK:
            return HeadMoved(error) if HEAD_GUARD in str(error) else ConstraintFailed(error)
        kind = None if code is None else _FAULTS.get(code & 0xFF)
        return None if kind is None else kind(error)

    def dispose(self) -> None:
        self._point_query_connections.close_idle()
        self._read_engine.dispose()
        self._write_connections.close_idle()
        self._write_engine.dispose()
        self._write_queue.close()
        with self._probe_lock:
            if self._probe is not None:
                self._probe.close()
                self._probe = self._last_head = None

    def _open_probe(self) -> sqlite3.Connection:
        self._make_directory()
        self._probe = sqlite3.connect(
            self.where, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        return self._probe

    def _make_directory(self) -> None:
        if not self.path.parent.is_dir():
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def _engine(
        self,
        set_up: Callable[[sqlite3.Connection], None],
        pool_size: int,
        max_overflow: int,
        **options: Any,
    ) -> Engine:
        engine = create_engine(
            self._url,
            poolclass=QueuePool,
            pool_size=pool_size,
            max_overflow=max_overflow,
            pool_use_lifo=True,
            connect_args={
                "timeout": BUSY_SECONDS,
                "check_same_thread": False,
                "isolation_level": None,  # the driver begins no transaction by itself
            },
            **options,
        )
        event.listen(engine, "do_connect", lambda *_: self._make_directory())
        event.listen(engine, "connect", lambda connection, _: set_up(connection))
        return engine

    def _set_up_writer(self, connection: sqlite3.Connection) -> None:
        # The reference runs without foreign key enforcement on SQLite, so one of its databases may have rows that
        # enforcement would refuse to change. It stays off; `plimsoll db verify` lists such rows.
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise UnusableDatabaseError(_NO_WAL.format(path=self.path, mode=mode))
        connection.execute(f"PRAGMA journal_size_limit = {LOG_SIZE_LIMIT}")
        # Else the rollback data of a statement with many rows goes to a temporary file, created and removed each time.
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB}")
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._options.sqlite_synchronous else 'OFF'}")

    def reset_in_child(self) -> object:
        # SQLite connections must not be used on both sides of a fork.
        parents = (
            self._read_engine,
            self._point_query_connections,
            self._write_engine,
            self._write_connections,
            self._probe,
        )
        self._write_queue.close_in_child()
        self._create_connections()
        return parents


def _set_up_reader(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")


def _fetch(cursor: sqlite3.Cursor) -> list[Any]:
    """Return all rows. Yields to other requests after every thousand rows."""
    rows: list[Any] = cursor.fetchmany(ROWS_PER_YIELD)
    while len(rows) and not len(rows) % ROWS_PER_YIELD:
        yield_to_requests()
        chunk = cursor.fetchmany(ROWS_PER_YIELD)
        if not chunk:
            break
        rows += chunk
    return rows


def _begin_reading(connection: Connection) -> None:
    # Directly on the driver: this cannot fail, and through SQLAlchemy it takes longer than the whole read.
    _driver_connection(connection).execute("BEGIN")


def _driver_connection(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _file_path(url: URL) -> Path:
    name = url.database or ""
    if name in ("", ":memory:") or url.query.get("mode") == "memory":
        raise UnusableDatabaseError(_IN_MEMORY.format(url=url))
    if name.startswith("file:"):
        raise UnusableDatabaseError(_FILE_URI.format(url=url))
    return Path(name).expanduser().absolute()
