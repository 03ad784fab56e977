# SPDX-License-Identifier: Apache-2.0

"""SQLite in WAL mode: readers never wait, writers of all processes queue for one file lock.

A commit is on disk before it is answered unless the operator said otherwise. Nothing is opened or created
before it is first needed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from plimsoll.storage.dialects.base import DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.dialects.turnstile import Turnstile

# Our own writers queue at the turnstile, so only a stranger (a shell, a backup) can make SQLite wait at all.
BUSY_SECONDS = 15.0

# A checkpoint that finds no reader in its way gives the log's disk space back down to this size.
LOG_SIZE_LIMIT = 64 * 1024 * 1024

IDLE_READERS = 8

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
        self._epochs = itertools.count(1)
        self._start_afresh()
        _all_open.add(self)

    def _start_afresh(self) -> None:
        # Readers are as many as there are threads: a limit on them could only make one of them fail.
        idle_readers = self._options.max_pool_size or IDLE_READERS
        self._readers = self._engine(_set_up_reader, _begin_reading, idle_readers, max_overflow=-1)
        self._writer = self._engine(self._set_up_writer, _begin_writing, 1, max_overflow=0)
        self._turnstile = Turnstile(self.path.with_name(self.path.name + ".writers"))
        self._probe: sqlite3.Connection | None = None
        self._probe_epoch = 0
        self._probe_lock = threading.Lock()

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        with self._readers.connect() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        self._make_directory()
        with self._turnstile.passed(), self._writer.connect() as connection, connection.begin():
            yield connection

    # SQLite's DDL is transactional, and its write lock covers a file without any table.
    change_schema = write

    def version_token(self) -> int:
        with self._probe_lock:
            probe = self._probe or self._open_probe()
            version: int = probe.execute("PRAGMA data_version").fetchone()[0]
            # SQLite counts per connection, from one start: a new probe must not repeat an old one's number.
            return self._probe_epoch << 40 | version

    def dispose(self) -> None:
        self._readers.dispose()
        self._writer.dispose()
        self._turnstile.close()
        with self._probe_lock:
            if self._probe is not None:
                self._probe.close()
                self._probe = None

    def _open_probe(self) -> sqlite3.Connection:
        self._make_directory()
        self._probe = sqlite3.connect(
            self.where, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._probe_epoch = next(self._epochs)
        return self._probe

    def _make_directory(self) -> None:
        if not self.path.parent.is_dir():
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def _engine(
        self,
        set_up: Callable[[sqlite3.Connection], None],
        begin: Callable[[Connection], object],
        pool_size: int,
        max_overflow: int,
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
                # No transaction is begun behind our back: `begin` begins every one.
                "isolation_level": None,
            },
        )
        event.listen(engine, "do_connect", lambda *_: self._make_directory())
        event.listen(engine, "connect", lambda connection, _: set_up(connection))
        event.listen(engine, "begin", begin)
        return engine

    def _set_up_writer(self, connection: sqlite3.Connection) -> None:
        # The reference runs without foreign key enforcement on SQLite, and so a database of its may hold rows
        # that enforcement would refuse to touch. It stays off; `plimsoll db verify` names such rows.
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise UnusableDatabaseError(_NO_WAL.format(path=self.path, mode=mode))
        connection.execute(f"PRAGMA journal_size_limit = {LOG_SIZE_LIMIT}")
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._options.sqlite_synchronous else 'OFF'}")

    def _forget_parent(self) -> None:
        # SQLite connections must not be used on both sides of a fork. Closing them here could release what the
        # parent holds, so they are kept, untouched, for the life of this process.
        _left_by_parent.append((self._readers, self._writer, self._probe))
        self._turnstile.leave_to_parent()
        self._start_afresh()


def _set_up_reader(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")


def _begin_reading(connection: Connection) -> None:
    # Straight to the driver: this cannot fail, and SQLAlchemy's way around costs more than the whole read.
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    driver.execute("BEGIN")


def _begin_writing(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


_all_open: weakref.WeakSet[SQLite] = weakref.WeakSet()
_left_by_parent: list[object] = []


def _after_fork() -> None:
    for database in list(_all_open):
        database._forget_parent()


os.register_at_fork(after_in_child=_after_fork)


def _file_of(url: URL) -> Path:
    name = url.database or ""
    if name in ("", ":memory:") or url.query.get("mode") == "memory":
        raise UnusableDatabaseError(_IN_MEMORY.format(url=url))
    if name.startswith("file:"):
        raise UnusableDatabaseError(_FILE_URI.format(url=url))
    return Path(name).expanduser().absolute()
