# SPDX-License-Identifier: Apache-2.0

"""Guarantees of every engine: consistent reads, and one writer at a time across threads and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Connection, text

from plimsoll.fast_paths import FastPaths
from plimsoll.storage.database import Database, DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.errors import ConstraintFailed, NotWritable
from tests.storage.conftest import create_schema, opened
from tests.storage.writers import finish, locked_write, move_head, start
from tests.support.databases import Databases, run_sql

INCREMENT = text("UPDATE counter SET value = value + 1")


def make_counter(url: str) -> None:
    create_schema(url)
    run_sql(url, "CREATE TABLE counter (value INTEGER)", "INSERT INTO counter VALUES (0)")


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    with databases.fresh("counter", make_counter) as url:
        yield url


@pytest.fixture
def db(url: str, fast_paths: FastPaths) -> Iterator[Database]:
    """A database with our tables and a table `counter`."""
    with opened(url, fast_paths) as database:
        yield database


def value(connection: Connection) -> int:
    return connection.execute(text("SELECT value FROM counter")).scalar_one()  # type: ignore[no-any-return]


def in_threads(count: int, run: Callable[[], None]) -> None:
    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_write_is_committed_at_its_end(db: Database) -> None:
    with locked_write(db) as connection:
        connection.execute(INCREMENT)
    with db.read() as connection:
        assert value(connection) == 1


def test_a_failed_write_is_rolled_back_and_releases_the_lock(db: Database) -> None:
    with pytest.raises(RuntimeError, match="rolled back"), locked_write(db) as connection:
        connection.execute(INCREMENT)
        raise RuntimeError("rolled back")
    with locked_write(db) as connection:
        assert value(connection) == 0


def test_all_queries_of_a_read_see_one_committed_state(db: Database) -> None:
    with db.read() as reader:
        assert value(reader) == 0
        with locked_write(db) as writer:
            writer.execute(INCREMENT)
        assert value(reader) == 0
    with db.read() as reader:
        assert value(reader) == 1


def test_a_read_is_not_blocked_by_a_write_and_does_not_see_it(db: Database) -> None:
    with locked_write(db) as writer:
        writer.execute(INCREMENT)
        with db.read() as reader:
            assert value(reader) == 0


def test_a_read_cannot_write(db: Database) -> None:
    with pytest.raises(NotWritable), db.read() as connection:
        connection.execute(INCREMENT)
    with db.read() as connection:
        assert value(connection) == 0


def test_forty_threads_can_read_at_once(db: Database) -> None:
    together = threading.Barrier(40, timeout=20)
    values = []

    def read() -> None:
        with db.read() as connection:
            together.wait()
            values.append(value(connection))

    in_threads(40, read)
    assert values == [0] * 40


def test_the_holder_of_the_head_reads_the_last_commit(db: Database) -> None:
    def read_then_write() -> None:
        for _ in range(25):
            with locked_write(db) as connection:
                before = value(connection)
                connection.execute(text("UPDATE counter SET value = :value"), {"value": before + 1})

    in_threads(8, read_then_write)
    with db.read() as connection:
        assert value(connection) == 200


def test_writes_of_several_processes_are_serialized(db: Database, url: str) -> None:
    script = """
for _ in range(50):
    with db.transaction() as transaction:
        transaction.lock_head()
        connection = transaction.connection
        before = connection.execute(text("SELECT value FROM counter")).scalar_one()
        connection.execute(text("UPDATE counter SET value = :value"), {"value": before + 1})
        transaction.commit()
"""
    processes = [start(script, url) for _ in range(4)]
    assert [finish(process) for process in processes] == [0] * 4
    with db.read() as connection:
        assert value(connection) == 200


@pytest.fixture
def stuck_writer(url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the head and does not commit."""
    process = start(
        """
import time
with db.transaction() as transaction:
    transaction.lock_head()
    transaction.connection.execute(text("UPDATE counter SET value = 1000"))
    print("writing", flush=True)
    time.sleep(600)
""",
        url,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    yield process
    process.kill()
    process.communicate()


def test_a_writer_blocks_until_the_writer_of_another_process_ends(
    db: Database, stuck_writer: subprocess.Popen[str]
) -> None:
    entered = threading.Event()

    def write() -> None:
        with locked_write(db):
            entered.set()

    waiting = threading.Thread(target=write)
    waiting.start()
    assert not entered.wait(0.3)
    stuck_writer.kill()
    assert entered.wait(5)
    waiting.join()


def test_the_write_of_a_killed_process_is_rolled_back_and_releases_the_lock(
    db: Database, stuck_writer: subprocess.Popen[str]
) -> None:
    stuck_writer.send_signal(signal.SIGKILL)
    stuck_writer.wait()
    with locked_write(db) as connection:
        connection.execute(INCREMENT)
        assert value(connection) == 1


def test_successive_writes_reuse_the_connection_unless_it_was_lost(db: Database) -> None:
    with locked_write(db) as connection:
        first = connection.connection.driver_connection
    with locked_write(db) as connection:
        assert connection.connection.driver_connection is first
        connection.execute(INCREMENT)
    with pytest.raises(RuntimeError, match="lost"), locked_write(db) as connection:
        connection.invalidate()
        raise RuntimeError("lost")
    with locked_write(db) as connection:
        assert connection.connection.driver_connection is not first
        assert value(connection) == 1


def test_a_disposed_database_can_be_used_again(db: Database) -> None:
    moved = move_head(db)
    db.dispose()
    with locked_write(db) as connection:
        connection.execute(INCREMENT)
    with db.read() as connection:
        assert value(connection) == 1
    assert db.head() == moved


def test_a_forked_child_opens_its_own_connections(db: Database) -> None:
    with db.read() as connection:
        value(connection)
    moved = move_head(db)
    db.head()
    child = os.fork()
    if child == 0:
        try:
            with locked_write(db) as connection:
                connection.execute(INCREMENT)
            os._exit(0 if db.head() == moved else 2)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    with locked_write(db) as connection:
        connection.execute(INCREMENT)
        assert value(connection) == 2
    assert db.head() == moved


@pytest.mark.parametrize(
    ("url", "message"),
    [("db2://somewhere/x", "not supported|not a database URL"), ("placement.sqlite", "not a database URL")],
)
def test_an_unusable_url_is_rejected_with_a_reason(url: str, message: str) -> None:
    with pytest.raises(UnusableDatabaseError, match=message):
        Database(url)


@pytest.mark.parametrize("kind", ["mysql+pymysql", "postgresql", "postgresql+psycopg2"])
def test_the_address_does_not_contain_the_password(kind: str) -> None:
    place = Database(f"{kind}://placement:secret@somewhere/x").where
    assert "somewhere" in place
    assert "secret" not in place


def test_options_are_taken_from_sections_and_others_ignored() -> None:
    section = {"sqlite_synchronous": False, "max_pool_size": 3, "sync_on_startup": True, "connection": "x"}
    ours = {"causal_reads": False, "verify_interval": 7}
    assert DatabaseOptions.from_sections(section, ours) == DatabaseOptions(
        sqlite_synchronous=False, max_pool_size=3, causal_reads=False
    )


def test_a_foreign_check_constraint_is_not_reported_as_a_moved_head(db: Database, url: str) -> None:
    run_sql(url, "CREATE TABLE narrow (n INTEGER, CONSTRAINT only_small CHECK (n < 2))")
    with pytest.raises(ConstraintFailed, match="only_small"), locked_write(db) as connection:
        connection.execute(text("INSERT INTO narrow VALUES (3)"))
    assert db.enforces_head_guard()
