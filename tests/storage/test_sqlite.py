# SPDX-License-Identifier: Apache-2.0

"""SQLite only: its file and journal, locks between writers, and forks."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from plimsoll.storage import consumers
from plimsoll.storage.database import Database, DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.schema import migrate
from plimsoll.storage.sql import query
from tests.storage.conftest import opened
from tests.support.external_writes import committed_write

INCREMENT = text("UPDATE counter SET value = value + 1")


def value(connection: Connection) -> int:
    return connection.execute(text("SELECT value FROM counter")).scalar_one()  # type: ignore[no-any-return]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "placement.sqlite"


@pytest.fixture
def db(file: Path) -> Iterator[Database]:
    """A database with our tables and a table `counter`."""
    with opened(f"sqlite:///{file}") as database:
        migrate.sync(database)
        with committed_write(database) as connection:
            connection.execute(text("CREATE TABLE counter (value INTEGER)"))
            connection.execute(text("INSERT INTO counter VALUES (0)"))
        yield database


def test_opening_creates_no_file(tmp_path: Path) -> None:
    Database(f"sqlite:///{tmp_path}/deep/down/placement.sqlite").dispose()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("use", ["read", "write"])
def test_the_directory_is_created_on_first_use(tmp_path: Path, use: str) -> None:
    with opened(f"sqlite:///{tmp_path}/deep/down/placement.sqlite") as db:
        with db.read() if use == "read" else committed_write(db):
            pass
        assert (tmp_path / "deep/down/placement.sqlite").exists()


def test_tables_of_a_failed_write_are_rolled_back(db: Database, file: Path) -> None:
    with pytest.raises(RuntimeError), committed_write(db) as connection:
        connection.execute(text("CREATE TABLE another (value INTEGER)"))
        raise RuntimeError
    with db.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM sqlite_master WHERE name = 'another'")) == 0


def test_a_nested_write_fails_at_once(db: Database) -> None:
    with db.transaction(), pytest.raises(RuntimeError, match="already writing"), db.transaction():
        pass
    with committed_write(db) as connection:
        connection.execute(INCREMENT)


def test_a_write_waits_for_the_lock_of_another_program(db: Database, file: Path) -> None:
    other_connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    other_connection.execute("BEGIN IMMEDIATE")
    other_connection.execute("UPDATE counter SET value = 7")
    threading.Timer(0.3, lambda: other_connection.execute("COMMIT")).start()
    with committed_write(db) as connection:
        assert value(connection) == 7
    other_connection.close()


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 0)])
def test_commits_are_durable_unless_configured_otherwise(file: Path, durable: bool, level: int) -> None:
    db = Database(f"sqlite:///{file}", DatabaseOptions(sqlite_synchronous=durable))
    with committed_write(db) as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == level
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    db.dispose()


def test_foreign_keys_are_not_enforced_as_in_the_reference(db: Database) -> None:
    with committed_write(db) as connection:
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 0


WRITER_KILLED_AFTER_FORK = """
import os, signal, sys
from plimsoll.storage.database import Database

with Database(sys.argv[1]).transaction() as transaction:
    transaction.begin()
    if os.fork():
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(1)
    sys.stdin.read()
    os._exit(0)
"""


def test_the_child_of_a_killed_writer_does_not_hold_its_lock(db: Database, file: Path) -> None:
    script = [sys.executable, "-c", WRITER_KILLED_AFTER_FORK, f"sqlite:///{file}"]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdin is not None
        writer.stdout.read()  # until end of file: the child runs, and has closed its end
        assert writer.wait() == -signal.SIGKILL
        done = threading.Event()

        def write() -> None:
            with committed_write(db) as connection:
                connection.execute(INCREMENT)
            done.set()

        threading.Thread(target=write, daemon=True).start()
        try:
            assert done.wait(10)
        finally:
            writer.stdin.close()  # the child ends, and a blocked writer continues
            assert done.wait(10)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite://", "in memory.*Name a file"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:///file:x?mode=memory&uri=true", "in memory"),
        ("sqlite:///file:/tmp/x?uri=true", "plain path"),
    ],
)
def test_a_file_that_cannot_be_shared_is_rejected_with_a_reason(url: str, message: str) -> None:
    with pytest.raises(UnusableDatabaseError, match=message):
        Database(url)


@pytest.mark.parametrize("sql", [consumers._BY_CONSUMER_SQL, consumers._BY_PROVIDER_SQL])
def test_allocations_of_one_consumer_or_provider_are_read_without_a_table_scan(
    db: Database, sql: str
) -> None:
    with db.read() as connection:
        statement = query(connection.dialect, f"EXPLAIN QUERY PLAN {sql}", ["uuid"])
        steps = [row[3] for row in connection.exec_driver_sql(statement.sql, tuple(statement.values))]
    assert any("allocations" in step or " a " in step for step in steps)
    assert [step for step in steps if step.startswith(("SCAN", "MATERIALIZE"))] == []
