# SPDX-License-Identifier: Apache-2.0

"""SQLite in WAL mode: readers never wait, writers of all processes queue for one file lock.

A commit is on disk before it is answered unless the operator said otherwise. Nothing is opened or created
before it is first needed.
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
    Pace,
    give_way,
    offload,
)
from plimsoll.storage.dialects.base import DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.dialects.connection_cache import CachedConnection, ConnectionCache
from plimsoll.storage.dialects.errors import as_sqlalchemys
from plimsoll.storage.dialects.forks import begin_anew_after_fork
from plimsoll.storage.dialects.transaction import of, tell_outcome
from plimsoll.storage.dialects.write_queue import WriteQueue
from plimsoll.storage.dialects.writers import WriteConnections, send_nothing
from plimsoll.storage.errors import (
    Busy,
    ConstraintFailed,
    DatabaseFault,
    DiskFull,
    NotOpened,
    Overtaken,
    ReadOnly,
    Unreachable,
    ValueNotKept,
)
from plimsoll.storage.head import GUARD, QUERY, Head
from plimsoll.storage.sql import Statement, query

# Our own writers queue at the turnstile, so only a stranger (a shell, a backup) can make SQLite wait at all.
BUSY_SECONDS = 15.0

# A checkpoint that finds no reader in its way gives the log's disk space back down to this size.
LOG_SIZE_LIMIT = 64 * 1024 * 1024
CHECKPOINT_PAGES = 8_000
"""So many pages of the log are half of that. Claims change the same pages over and over: each is copied once in that time."""
WRITER_CACHE_KIB = 16_384
LONG_COMMIT = 0.003
"""Seconds. On a disk that keeps what it is given at once a commit takes a tenth of that."""
"""A claim touches some page of every index, each time another one."""

MANY_STATEMENTS = 50
"""In a batch of common size there are ten. A batch with more is committed in another thread."""
ROWS_AT_ONCE = 1_000
"""Rows that are read before other requests run: SQLite finds them in this thread, one by one."""

IDLE_READERS = 8

_FAULTS: dict[int, type[DatabaseFault]] = {
    sqlite3.SQLITE_BUSY: Busy,
    sqlite3.SQLITE_LOCKED: Busy,
    sqlite3.SQLITE_READONLY: ReadOnly,
    sqlite3.SQLITE_IOERR: Unreachable,
    sqlite3.SQLITE_FULL: DiskFull,
    sqlite3.SQLITE_CANTOPEN: NotOpened,
}

_IN_MEMORY = (
    "{url} is a database in memory, which each process would have for itself: two workers would differ."
    " Name a file instead, for example sqlite:////var/lib/placement/plimsoll.sqlite"
)
_FILE_URI = (
    "{url} names its file as a URI. Give the plain path: sqlite:////absolute/path or sqlite:///relative"
)
_NO_WAL = (
    "{path} cannot be switched to a write-ahead log (SQLite says {mode!r}), which several connections need."
    " Put it on a local file system."
)


class SQLite:
    """One SQLite file, its pool of readers, its one writer, and the probe that sees others' commits."""

    def __init__(self, url: URL, options: DatabaseOptions) -> None:
        self.path = _file_of(url)
        self.where = str(self.path)
        self._url = url.set(database=self.where)
        self._options = options
        self._commit = InlineOrOffload(LONG_COMMIT)
        self._start_afresh()
        begin_anew_after_fork(self)

    def _start_afresh(self) -> None:
        # Readers are as many as there are threads: a limit on them could only make one of them fail.
        idle_readers = self._options.max_pool_size or IDLE_READERS
        self._readers = self._engine(_set_up_reader, idle_readers, max_overflow=-1)
        event.listen(self._readers, "begin", _begin_reading)
        self._lookers = ConnectionCache(
            self._readers, lambda: CachedConnection(self._readers.raw_connection()), idle_readers
        )
        # Whoever writes begins and ends it by itself; to SQLAlchemy each statement is a transaction.
        self._writing = self._engine(self._set_up_writer, 1, max_overflow=0, isolation_level="AUTOCOMMIT")
        for end in ("do_commit", "do_rollback"):
            setattr(self._writing.dialect, end, send_nothing)
        self._writers = WriteConnections(self._writing, self.fault_of)
        self._turnstile = WriteQueue(self.path.with_name(self.path.name + ".writers"))
        self._probe: sqlite3.Connection | None = None
        self._probe_lock = threading.Lock()
        self._seen: tuple[int, Head] | None = None

    def keeping(self) -> DatabaseSemantics:
        return EXACT

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        with self._readers.connect() as connection, connection.begin():
            yield connection

    # A transaction that reads costs SQLite nothing.
    glance = read

    @contextlib.contextmanager
    def write(self, expected: Head | None = None) -> Iterator[Connection]:
        self._make_directory()
        with self._turnstile.passed():
            writing = self._writers.writing(expected)
            with writing as connection:
                try:
                    writing.driver.execute("BEGIN IMMEDIATE")
                    writing.begun = True
                    if expected is not None and Head(*writing.driver.execute(QUERY).fetchone()) != expected:
                        raise Overtaken
                except sqlite3.Error as error:
                    raise as_sqlalchemys(error, connection.dialect) from error
                yield connection

    def change_schema(self) -> contextlib.AbstractContextManager[Connection]:
        # SQLite's DDL is transactional, and its write lock covers a file without any table.
        return self.write()

    def ask(self, connection: Connection, queries: Sequence[Statement]) -> list[list[Any]]:
        driver = _driver(connection)
        try:
            return [_fetch(driver.execute(*each)) for each in queries]
        except sqlite3.Error as error:
            raise as_sqlalchemys(error, connection.dialect) from error

    def look(self, sql: str, values: Sequence[Any]) -> list[Any]:
        looker, dialect = self._lookers.take(), self._readers.dialect
        try:
            rows = _fetch(looker.driver.execute(*query(dialect, sql, values)))
        except BaseException as error:
            looker.connection.invalidate()
            if isinstance(error, sqlite3.Error):
                raise as_sqlalchemys(error, dialect) from error
            raise
        self._lookers.keep(looker)
        return rows

    def run_last(self, connection: Connection, statements: Sequence[Statement]) -> None:
        writing = of(connection)
        assert writing is not None, "a transaction that writes"
        driver: sqlite3.Connection = writing.driver
        try:
            pause = Pace()
            for each in statements:
                driver.execute(*each)
                pause()
            try:
                if len(statements) > MANY_STATEMENTS:
                    offload(lambda: driver.execute("COMMIT"))
                else:
                    self._commit.do(lambda: driver.execute("COMMIT"))  # it waits for the disk
            except Exception as error:
                tell_outcome(as_sqlalchemys(error, connection.dialect), self.fault_of)
                raise
        except sqlite3.Error as error:
            raise as_sqlalchemys(error, connection.dialect) from error
        writing.committed = True

    @property
    def works_by_itself(self) -> bool:
        return self._commit.is_aside

    @property
    def is_multi_primary(self) -> bool:
        return False

    def counting_along(self, table: str, rows: int) -> Sequence[Statement]:
        return ()

    def taking_the_head(self) -> Statement:
        return Statement(QUERY)  # the transaction has taken everything when it began

    def ask_head(self) -> Callable[[], Head]:
        head = self._head()
        return lambda: head

    def _head(self) -> Head:
        with self._probe_lock:
            probe = self._probe or self._open_probe()
            version: int = probe.execute("PRAGMA data_version").fetchone()[0]
            # Whoever commits in between changes the version that is asked for next time.
            if self._seen is None or self._seen[0] != version:
                self._seen = version, Head(*probe.execute(QUERY).fetchone())
            return self._seen[1]

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotKept | None:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_CONSTRAINT_CHECK:
            return Overtaken(error) if GUARD in str(error) else ConstraintFailed(error)
        kind = None if code is None else _FAULTS.get(code & 0xFF)
        return None if kind is None else kind(error)

    def dispose(self) -> None:
        self._lookers.let_go()
        self._readers.dispose()
        self._writers.let_go()
        self._writing.dispose()
        self._turnstile.close()
        with self._probe_lock:
            if self._probe is not None:
                self._probe.close()
                self._probe = self._seen = None

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
                "isolation_level": None,  # no transaction is begun behind our back
            },
            **options,
        )
        event.listen(engine, "do_connect", lambda *_: self._make_directory())
        event.listen(engine, "connect", lambda connection, _: set_up(connection))
        return engine

    def _set_up_writer(self, connection: sqlite3.Connection) -> None:
        # The reference runs without foreign key enforcement on SQLite, and so a database of its may hold rows
        # that enforcement would refuse to touch. It stays off; `plimsoll db verify` names such rows.
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise UnusableDatabaseError(_NO_WAL.format(path=self.path, mode=mode))
        connection.execute(f"PRAGMA journal_size_limit = {LOG_SIZE_LIMIT}")
        # What a statement of many rows may have to take back is else written to a file, made and removed each time.
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB}")
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._options.sqlite_synchronous else 'OFF'}")

    def forget_parent(self) -> object:
        # SQLite connections must not be used on both sides of a fork.
        left = (self._readers, self._lookers, self._writing, self._writers, self._probe)
        self._turnstile.leave_to_parent()
        self._start_afresh()
        return left


def _set_up_reader(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")


def _fetch(cursor: sqlite3.Cursor) -> list[Any]:
    """All rows; other requests run between a thousand and the next."""
    rows: list[Any] = cursor.fetchmany(ROWS_AT_ONCE)
    while len(rows) and not len(rows) % ROWS_AT_ONCE:
        give_way()
        some = cursor.fetchmany(ROWS_AT_ONCE)
        if not some:
            break
        rows += some
    return rows


def _begin_reading(connection: Connection) -> None:
    # Straight to the driver: this cannot fail, and SQLAlchemy's way around costs more than the whole read.
    _driver(connection).execute("BEGIN")


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _file_of(url: URL) -> Path:
    name = url.database or ""
    if name in ("", ":memory:") or url.query.get("mode") == "memory":
        raise UnusableDatabaseError(_IN_MEMORY.format(url=url))
    if name.startswith("file:"):
        raise UnusableDatabaseError(_FILE_URI.format(url=url))
    return Path(name).expanduser().absolute()
