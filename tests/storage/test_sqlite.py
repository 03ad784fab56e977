# SPDX-License-Identifier: Apache-2.0

"""SQLite alone: its file and its log, who waits for whom, and what a fork inherits."""

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

RAISE = text("UPDATE counter SET value = value + 1")


def value(connection: Connection) -> int:
    return connection.execute(text("SELECT value FROM counter")).scalar_one()  # type: ignore[no-any-return]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "placement.sqlite"


@pytest.fixture
def db(file: Path) -> Iterator[Database]:
    """Our tables, and one of the test's own with a number in it."""
    with opened(f"sqlite:///{file}") as database:
        migrate.sync(database)
        with database.write() as connection:
            connection.execute(text("CREATE TABLE counter (value INTEGER)"))
            connection.execute(text("INSERT INTO counter VALUES (0)"))
        yield database


def test_nothing_is_created_before_it_is_needed(tmp_path: Path) -> None:
    Database(f"sqlite:///{tmp_path}/deep/down/placement.sqlite").dispose()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("use", ["read", "write"])
def test_the_directory_is_created_when_it_is_needed(tmp_path: Path, use: str) -> None:
    with opened(f"sqlite:///{tmp_path}/deep/down/placement.sqlite") as db:
        with db.read() if use == "read" else db.write():
            pass
        assert (tmp_path / "deep/down/placement.sqlite").exists()


def test_tables_made_in_a_write_that_fails_are_gone(db: Database, file: Path) -> None:
    with pytest.raises(RuntimeError), db.write() as connection:
        connection.execute(text("CREATE TABLE another (value INTEGER)"))
        raise RuntimeError
    with db.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM sqlite_master WHERE name = 'another'")) == 0


def test_a_write_inside_a_write_is_refused_and_not_waited_for(db: Database) -> None:
    with db.write(), pytest.raises(RuntimeError, match="already writing"), db.write():
        pass
    with db.write() as connection:
        connection.execute(RAISE)


def test_a_stranger_s_write_is_waited_for_too(db: Database, file: Path) -> None:
    stranger = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    stranger.execute("BEGIN IMMEDIATE")
    stranger.execute("UPDATE counter SET value = 7")
    threading.Timer(0.3, lambda: stranger.execute("COMMIT")).start()
    with db.write() as connection:
        assert value(connection) == 7
    stranger.close()


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 0)])
def test_commits_reach_the_disk_unless_the_operator_says_otherwise(
    file: Path, durable: bool, level: int
) -> None:
    db = Database(f"sqlite:///{file}", DatabaseOptions(sqlite_synchronous=durable))
    with db.write() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == level
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    db.dispose()


def test_foreign_keys_are_not_enforced_because_the_reference_does_not(db: Database) -> None:
    with db.write() as connection:
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 0


DIES_WRITING_BUT_LEAVES_A_CHILD = """
import os, signal, sys
from plimsoll.storage.database import Database

with Database(sys.argv[1]).write():
    if os.fork():
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(1)
    sys.stdin.read()
    os._exit(0)
"""


def test_the_child_of_a_writer_that_died_holds_up_nobody(db: Database, file: Path) -> None:
    script = [sys.executable, "-c", DIES_WRITING_BUT_LEAVES_A_CHILD, f"sqlite:///{file}"]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdin is not None
        writer.stdout.read()  # to its end: the child runs, and has let go of it
        assert writer.wait() == -signal.SIGKILL
        done = threading.Event()

        def write() -> None:
            with db.write() as connection:
                connection.execute(RAISE)
            done.set()

        threading.Thread(target=write, daemon=True).start()
        try:
            assert done.wait(10)
        finally:
            writer.stdin.close()  # the child ends, and whoever waits for it goes on
            assert done.wait(10)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite://", "in memory.*Name a file"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:///file:x?mode=memory&uri=true", "in memory"),
        ("sqlite:///file:/tmp/x?uri=true", "plain path"),
    ],
)
def test_a_file_that_cannot_be_shared_is_refused_with_a_reason(url: str, says: str) -> None:
    with pytest.raises(UnusableDatabaseError, match=says):
        Database(url)


@pytest.mark.parametrize("question", [consumers._OF_CONSUMER, consumers._OF_PROVIDER])
def test_what_one_consumer_or_provider_holds_is_found_without_looking_at_all_allocations(
    db: Database, question: str
) -> None:
    with db.read() as connection:
        asked = query(connection.dialect, f"EXPLAIN QUERY PLAN {question}", ["uuid"])
        steps = [row[3] for row in connection.exec_driver_sql(asked.sql, tuple(asked.values))]
    assert any("allocations" in step or " a " in step for step in steps)
    assert [step for step in steps if step.startswith(("SCAN", "MATERIALIZE"))] == []
