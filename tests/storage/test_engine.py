# SPDX-License-Identifier: Apache-2.0

"""Consistent reads, one writer at a time over threads and processes, and a token that tells of commits."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from plimsoll.storage.engine import Database, DatabaseOptions, UnusableDatabaseError

RAISE = text("UPDATE counter SET value = value + 1")

IN_ANOTHER_PROCESS = """
import sys
from sqlalchemy import text
from plimsoll.storage.engine import Database
db = Database(sys.argv[1])
"""


def value(connection: Connection) -> int:
    return connection.execute(text("SELECT value FROM counter")).scalar_one()  # type: ignore[no-any-return]


@pytest.fixture
def db(empty: Database) -> Database:
    with empty.write() as connection:
        connection.execute(text("CREATE TABLE counter (value INTEGER)"))
        connection.execute(text("INSERT INTO counter VALUES (0)"))
    return empty


def start(script: str, db: Database) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", IN_ANOTHER_PROCESS + script, f"sqlite:///{db.where}"],
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=60)
    return process.returncode


def test_nothing_is_created_before_it_is_needed(tmp_path: Path) -> None:
    Database(f"sqlite:///{tmp_path}/deep/down/placement.sqlite").dispose()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("use", ["read", "write", "version_token"])
def test_the_directory_is_created_when_it_is_needed(tmp_path: Path, use: str) -> None:
    db = Database(f"sqlite:///{tmp_path}/deep/down/placement.sqlite")
    match use:
        case "read":
            with db.read():
                pass
        case "write":
            with db.write():
                pass
        case _:
            db.version_token()
    assert (tmp_path / "deep/down/placement.sqlite").exists()
    db.dispose()


def test_a_write_is_committed_at_its_end(db: Database) -> None:
    with db.write() as connection:
        connection.execute(RAISE)
    with db.read() as connection:
        assert value(connection) == 1


def test_a_write_that_fails_leaves_nothing_and_lets_the_next_one_in(db: Database) -> None:
    with pytest.raises(RuntimeError, match="changed my mind"), db.write() as connection:
        connection.execute(RAISE)
        raise RuntimeError("changed my mind")
    with db.write() as connection:
        assert value(connection) == 0


def test_tables_made_in_a_write_that_fails_are_gone(db: Database) -> None:
    with pytest.raises(RuntimeError), db.write() as connection:
        connection.execute(text("CREATE TABLE another (value INTEGER)"))
        raise RuntimeError
    with db.read() as connection, pytest.raises(OperationalError, match="no such table"):
        connection.execute(text("SELECT * FROM another"))


def test_a_read_sees_one_state_from_its_first_query_to_its_end(db: Database) -> None:
    with db.read() as reader:
        assert value(reader) == 0
        with db.write() as writer:
            writer.execute(RAISE)
        assert value(reader) == 0
    with db.read() as reader:
        assert value(reader) == 1


def test_a_read_waits_for_no_write_and_sees_nothing_of_it(db: Database) -> None:
    with db.write() as writer:
        writer.execute(RAISE)
        with db.read() as reader:
            assert value(reader) == 0


def test_a_read_cannot_write(db: Database) -> None:
    with db.read() as connection, pytest.raises(OperationalError, match="readonly"):
        connection.execute(RAISE)


def test_reads_may_be_as_many_as_there_are_threads(db: Database) -> None:
    together = threading.Barrier(40, timeout=20)
    seen = []

    def read() -> None:
        with db.read() as connection:
            together.wait()
            seen.append(value(connection))

    threads = [threading.Thread(target=read) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [0] * 40


def test_a_write_inside_a_write_is_refused_and_not_waited_for(db: Database) -> None:
    with db.write(), pytest.raises(RuntimeError, match="already writing"), db.write():
        pass
    with db.write() as connection:
        connection.execute(RAISE)


def test_threads_write_one_after_the_other(db: Database) -> None:
    def read_then_write() -> None:
        for _ in range(25):
            with db.write() as connection:
                seen = value(connection)
                connection.execute(text("UPDATE counter SET value = :value"), {"value": seen + 1})

    threads = [threading.Thread(target=read_then_write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with db.read() as connection:
        assert value(connection) == 200


def test_processes_write_one_after_the_other(db: Database) -> None:
    script = """
for _ in range(50):
    with db.write() as connection:
        seen = connection.execute(text("SELECT value FROM counter")).scalar_one()
        connection.execute(text("UPDATE counter SET value = :value"), {"value": seen + 1})
"""
    processes = [start(script, db) for _ in range(4)]
    assert [finish(process) for process in processes] == [0] * 4
    with db.read() as connection:
        assert value(connection) == 200


@pytest.fixture
def stuck_writer(db: Database) -> Iterator[subprocess.Popen[str]]:
    """Another process in the middle of a write that it will never end."""
    process = start(
        """
import time
with db.write() as connection:
    connection.execute(text("UPDATE counter SET value = 1000"))
    print("writing", flush=True)
    time.sleep(600)
""",
        db,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    yield process
    process.kill()
    process.communicate()


def test_a_writer_waits_for_one_in_another_process(db: Database, stuck_writer: subprocess.Popen[str]) -> None:
    entered = threading.Event()

    def write() -> None:
        with db.write():
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
    with db.write() as connection:
        connection.execute(RAISE)
        assert value(connection) == 1


def test_a_stranger_s_write_is_waited_for_too(db: Database) -> None:
    stranger = sqlite3.connect(db.where, isolation_level=None, check_same_thread=False)
    stranger.execute("BEGIN IMMEDIATE")
    stranger.execute("UPDATE counter SET value = 7")
    threading.Timer(0.3, lambda: stranger.execute("COMMIT")).start()
    with db.write() as connection:
        assert value(connection) == 7
    stranger.close()


def test_the_token_stays_while_nobody_commits(db: Database) -> None:
    before = db.version_token()
    with db.read() as connection:
        value(connection)
    with pytest.raises(RuntimeError), db.write() as connection:
        connection.execute(RAISE)
        raise RuntimeError
    assert db.version_token() == before


def test_the_token_changes_with_our_own_commit(db: Database) -> None:
    before = db.version_token()
    with db.write() as connection:
        connection.execute(RAISE)
    assert db.version_token() != before


def test_the_token_changes_with_the_commit_of_another_process(db: Database) -> None:
    before = db.version_token()
    script = 'with db.write() as connection: connection.execute(text("UPDATE counter SET value = 5"))'
    assert finish(start(script, db)) == 0
    assert db.version_token() != before


def test_a_token_from_before_a_dispose_is_never_given_again(db: Database) -> None:
    tokens = set()
    for _ in range(5):
        tokens.add(db.version_token())
        db.dispose()
    assert len(tokens) == 5


def test_the_token_costs_microseconds(db: Database) -> None:
    db.version_token()
    began = time.perf_counter()
    for _ in range(1000):
        db.version_token()
    # Measured: 4.5 us. The bound is for machines that are busy with something else.
    assert (time.perf_counter() - began) / 1000 < 200e-6


def test_a_disposed_database_opens_again(db: Database) -> None:
    db.dispose()
    with db.write() as connection:
        connection.execute(RAISE)
    with db.read() as connection:
        assert value(connection) == 1


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


def test_a_child_of_a_fork_opens_its_own_connections(db: Database) -> None:
    with db.read() as connection:
        value(connection)
    db.version_token()
    child = os.fork()
    if child == 0:
        try:
            with db.write() as connection:
                connection.execute(RAISE)
            os._exit(0 if db.version_token() >> 40 == 2 else 2)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    with db.write() as connection:
        connection.execute(RAISE)
        assert value(connection) == 2


DIES_WRITING_BUT_LEAVES_A_CHILD = """
import os, signal, sys
from plimsoll.storage.engine import Database

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
        ("db2://somewhere/x", "not supported|not a database URL"),
        ("mysql+pymysql://somewhere/x", "mysql databases are not supported yet"),
        ("placement.sqlite", "not a database URL"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused_with_a_reason(url: str, says: str) -> None:
    with pytest.raises(UnusableDatabaseError, match=says):
        Database(url)


def test_a_password_is_never_part_of_the_place(file: Path) -> None:
    with pytest.raises(UnusableDatabaseError) as refused:
        Database("mysql+pymysql://placement:secret@somewhere/x")
    assert "secret" not in str(refused.value)


def test_options_are_taken_from_a_section_that_has_others_too() -> None:
    section = {"sqlite_synchronous": False, "max_pool_size": 3, "sync_on_startup": True, "connection": "x"}
    assert DatabaseOptions.from_section(section) == DatabaseOptions(sqlite_synchronous=False, max_pool_size=3)
