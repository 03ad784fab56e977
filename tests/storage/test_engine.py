# SPDX-License-Identifier: Apache-2.0

"""What each engine promises: consistent reads, and one writer at a time over threads and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Connection, text

from plimsoll.storage.database import Database, DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.errors import ConstraintFailed, Refusing
from tests.storage.conftest import make_ours, opened
from tests.storage.writers import finish, move_head, start, writing
from tests.support.databases import Databases, run_sql

RAISE = text("UPDATE counter SET value = value + 1")


def make_counter(url: str) -> None:
    make_ours(url)
    run_sql(url, "CREATE TABLE counter (value INTEGER)", "INSERT INTO counter VALUES (0)")


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    with databases.fresh("counter", make_counter) as url:
        yield url


@pytest.fixture
def db(url: str) -> Iterator[Database]:
    """Our tables, and one of the test's own with a number in it."""
    with opened(url) as database:
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
    with writing(db) as connection:
        connection.execute(RAISE)
    with db.read() as connection:
        assert value(connection) == 1


def test_a_write_that_fails_leaves_nothing_and_lets_the_next_one_in(db: Database) -> None:
    with pytest.raises(RuntimeError, match="changed my mind"), writing(db) as connection:
        connection.execute(RAISE)
        raise RuntimeError("changed my mind")
    with writing(db) as connection:
        assert value(connection) == 0


def test_a_read_sees_one_state_from_its_first_query_to_its_end(db: Database) -> None:
    with db.read() as reader:
        assert value(reader) == 0
        with writing(db) as writer:
            writer.execute(RAISE)
        assert value(reader) == 0
    with db.read() as reader:
        assert value(reader) == 1


def test_a_read_waits_for_no_write_and_sees_nothing_of_it(db: Database) -> None:
    with writing(db) as writer:
        writer.execute(RAISE)
        with db.read() as reader:
            assert value(reader) == 0


def test_a_read_cannot_write(db: Database) -> None:
    with pytest.raises(Refusing), db.read() as connection:
        connection.execute(RAISE)
    with db.read() as connection:
        assert value(connection) == 0


def test_reads_may_be_as_many_as_there_are_threads(db: Database) -> None:
    together = threading.Barrier(40, timeout=20)
    seen = []

    def read() -> None:
        with db.read() as connection:
            together.wait()
            seen.append(value(connection))

    in_threads(40, read)
    assert seen == [0] * 40


def test_who_holds_the_head_sees_what_the_last_holder_wrote(db: Database) -> None:
    def read_then_write() -> None:
        for _ in range(25):
            with writing(db) as connection:
                seen = value(connection)
                connection.execute(text("UPDATE counter SET value = :value"), {"value": seen + 1})

    in_threads(8, read_then_write)
    with db.read() as connection:
        assert value(connection) == 200


def test_processes_write_one_after_the_other(db: Database, url: str) -> None:
    script = """
for _ in range(50):
    with db.write() as connection:
        changes.lock_head(connection)
        seen = connection.execute(text("SELECT value FROM counter")).scalar_one()
        connection.execute(text("UPDATE counter SET value = :value"), {"value": seen + 1})
"""
    processes = [start(script, url) for _ in range(4)]
    assert [finish(process) for process in processes] == [0] * 4
    with db.read() as connection:
        assert value(connection) == 200


@pytest.fixture
def stuck_writer(url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process in the middle of a write that it will never end."""
    process = start(
        """
import time
with db.write() as connection:
    changes.lock_head(connection)
    connection.execute(text("UPDATE counter SET value = 1000"))
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


def test_a_writer_waits_for_one_in_another_process(db: Database, stuck_writer: subprocess.Popen[str]) -> None:
    entered = threading.Event()

    def write() -> None:
        with writing(db):
            entered.set()

    waiting = threading.Thread(target=write)
    waiting.start()
    assert not entered.wait(0.3)
    stuck_writer.kill()
    assert entered.wait(5)
    waiting.join()


def test_a_writer_that_is_killed_leaves_nothing_and_lets_the_next_one_in(
    db: Database, stuck_writer: subprocess.Popen[str]
) -> None:
    stuck_writer.send_signal(signal.SIGKILL)
    stuck_writer.wait()
    with writing(db) as connection:
        connection.execute(RAISE)
        assert value(connection) == 1


def test_one_writer_after_the_other_uses_the_same_connection_unless_it_was_lost(db: Database) -> None:
    with writing(db) as connection:
        first = connection.connection.driver_connection
    with writing(db) as connection:
        assert connection.connection.driver_connection is first
        connection.execute(RAISE)
    with pytest.raises(RuntimeError, match="lost"), writing(db) as connection:
        connection.invalidate()
        raise RuntimeError("lost")
    with writing(db) as connection:
        assert connection.connection.driver_connection is not first
        assert value(connection) == 1


def test_a_disposed_database_opens_again(db: Database) -> None:
    left = move_head(db)
    db.dispose()
    with writing(db) as connection:
        connection.execute(RAISE)
    with db.read() as connection:
        assert value(connection) == 1
    assert db.head() == left


def test_a_child_of_a_fork_opens_its_own_connections(db: Database) -> None:
    with db.read() as connection:
        value(connection)
    left = move_head(db)
    db.head()
    child = os.fork()
    if child == 0:
        try:
            with writing(db) as connection:
                connection.execute(RAISE)
            os._exit(0 if db.head() == left else 2)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    with writing(db) as connection:
        connection.execute(RAISE)
        assert value(connection) == 2
    assert db.head() == left


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("db2://somewhere/x", "not supported|not a database URL"),
        ("placement.sqlite", "not a database URL"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused_with_a_reason(url: str, says: str) -> None:
    with pytest.raises(UnusableDatabaseError, match=says):
        Database(url)


@pytest.mark.parametrize("kind", ["mysql+pymysql", "postgresql", "postgresql+psycopg2"])
def test_a_password_is_never_part_of_the_place(kind: str) -> None:
    place = Database(f"{kind}://placement:secret@somewhere/x").where
    assert "somewhere" in place
    assert "secret" not in place


def test_options_are_taken_from_sections_that_have_others_too() -> None:
    section = {"sqlite_synchronous": False, "max_pool_size": 3, "sync_on_startup": True, "connection": "x"}
    ours = {"causal_reads": False, "verify_interval": 7}
    assert DatabaseOptions.from_sections(section, ours) == DatabaseOptions(
        sqlite_synchronous=False, max_pool_size=3, causal_reads=False
    )


def test_a_check_that_is_not_ours_is_no_lost_race(db: Database, url: str) -> None:
    run_sql(url, "CREATE TABLE narrow (n INTEGER, CONSTRAINT only_small CHECK (n < 2))")
    with pytest.raises(ConstraintFailed, match="only_small"), writing(db) as connection:
        connection.execute(text("INSERT INTO narrow VALUES (3)"))
    assert db.guards_the_head()
