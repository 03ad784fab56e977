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

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.pool import NullPool

from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.fast_paths import FastPaths
from plimsoll.runtime.base import Runtime
from plimsoll.storage.dialects.base import DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.dialects.errors import as_sqlalchemy_error
from plimsoll.storage.dialects.forks import reset_after_fork
from plimsoll.storage.dialects.pool import ConnectionPool, PooledConnection, Role
from plimsoll.storage.dialects.statements import COMMIT, CommitFailed, OneByOneSender, run_statement
from plimsoll.storage.dialects.write_queue import WriteQueue
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
from plimsoll.storage.transaction import Transaction

# Writers of Plimsoll wait in the WriteQueue, so only another program (a shell, a backup) makes SQLite itself wait.
BUSY_SECONDS = 15.0

# A checkpoint that no reader blocks truncates the write-ahead log to this size.
LOG_SIZE_LIMIT = 64 * 1024 * 1024
CHECKPOINT_PAGES = 8_000
"""Half of that size. Claims change the same pages again and again; a checkpoint copies each page once."""
WRITER_CACHE_KIB = 16_384
"""A claim writes a page of every index, each time another one."""
IDLE_READERS = 8

_BEGIN, _BEGIN_IMMEDIATE = Statement("BEGIN"), Statement("BEGIN IMMEDIATE")

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
    """One SQLite file: a pool of connections, and a probe that detects commits."""

    commits_in_background = False

    def __init__(self, url: URL, options: DatabaseOptions, runtime: Runtime, _: FastPaths) -> None:
        self.path = _file_path(url)
        self.where = str(self.path)
        self._options = options
        self._runtime = runtime
        self._sender = _Sender(runtime)
        self._engine = create_engine(
            url.set(database=self.where),
            poolclass=NullPool,
            pool_reset_on_return=None,
            connect_args={
                "timeout": BUSY_SECONDS,
                "check_same_thread": False,
                "isolation_level": None,  # the driver begins no transaction by itself
            },
        )
        event.listen(self._engine, "do_connect", lambda *_: self._make_directory())
        self._create_connections()
        reset_after_fork(self)

    def _create_connections(self) -> None:
        # No limit: there are as many readers as threads, and a limit would only make one of them fail.
        self._pool = ConnectionPool(
            self._engine,
            readers=Role(_set_up_reader, self._options.max_pool_size or IDLE_READERS),
            writers=Role(self._set_up_writer, 1),
            is_lost=_never,
            is_disconnect=_never,
        )
        self._write_queue = WriteQueue(self.path.with_name(self.path.name + ".writers"), self._runtime)
        self._probe: sqlite3.Connection | None = None
        self._probe_lock = threading.Lock()
        self._last_head: tuple[int, Head] | None = None

    def semantics(self) -> DatabaseSemantics:
        return EXACT

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        with self._pool.connection(self._pool.readers) as pooled:
            self._run(pooled, _BEGIN)
            yield pooled.sqlalchemy_connection()
            self._run(pooled, COMMIT)
            pooled.is_clean = True

    # A read transaction costs SQLite nothing.
    read_single_query = read

    @contextlib.contextmanager
    def transaction(self, expected: Head | None = None) -> Iterator[Transaction]:
        self._make_directory()
        with (
            self._write_queue.acquired(),
            self._pool.connection(self._pool.writers) as pooled,
            Transaction(
                pooled,
                self._sender,
                self.fault_of,
                begin=(_BEGIN_IMMEDIATE,),
                lock_head_query=Statement(QUERY),  # BEGIN IMMEDIATE has locked the whole file
                expected=expected,
            ) as transaction,
        ):
            yield transaction

    def background_transaction(self) -> contextlib.AbstractContextManager[Transaction]:
        # SQLite has one writer at a time: a connection of its own would not help.
        return self.transaction()

    def change_schema(self) -> contextlib.AbstractContextManager[Transaction]:
        # SQLite's DDL is transactional, and its write lock covers a file without any table.
        return self.transaction()

    def select_in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        return self.select(query(self._engine.dialect, sql, values))

    def select(self, statement: Statement) -> list[Any]:
        with self._pool.connection(self._pool.readers) as pooled:
            rows = self._run(pooled, statement)
            pooled.is_clean = True
            return rows

    def _run(self, pooled: PooledConnection, statement: Statement) -> list[Any]:
        try:
            return run_statement(pooled.driver, statement, self._runtime.yield_now)
        except sqlite3.Error as error:
            raise as_sqlalchemy_error(error, pooled.dialect) from error

    @property
    def is_multi_primary(self) -> bool:
        return False

    def sequence_statements(self, table: str, rows: int) -> Sequence[Statement]:
        return ()

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
        self._pool.close_idle()
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
        parents = self._pool, self._probe
        self._write_queue.close_in_child()
        self._create_connections()
        return parents


def _set_up_reader(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")


def _never(_: Any) -> bool:
    """A file is not lost as a connection to a server is."""
    return False


class _Sender(OneByOneSender):
    """Sends statements one by one, and commits in another thread: a commit waits for the disk."""

    def commit(self, connection: sqlite3.Connection, statements: Sequence[Statement]) -> None:
        self.run(connection, statements)
        try:
            self._runtime.offload(lambda: connection.execute(COMMIT.sql))
        except Exception as error:
            raise CommitFailed(error) from error


def _file_path(url: URL) -> Path:
    name = url.database or ""
    if name in ("", ":memory:") or url.query.get("mode") == "memory":
        raise UnusableDatabaseError(_IN_MEMORY.format(url=url))
    if name.startswith("file:"):
        raise UnusableDatabaseError(_FILE_URI.format(url=url))
    return Path(name).expanduser().absolute()
