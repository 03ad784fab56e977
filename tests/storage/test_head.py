# SPDX-License-Identifier: Apache-2.0

"""The head on each engine: every read returns the last committed head, of this or another process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime

import pytest

from plimsoll.domain.actor import Actor
from plimsoll.fast_paths import FastPaths
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.head import BEGINNING, Head
from tests.storage.conftest import opened
from tests.storage.writers import finish, move_head, start


@pytest.fixture
def db(url: str, fast_paths: FastPaths) -> Iterator[Database]:
    with opened(url, fast_paths) as database:
        yield database


def test_the_head_of_a_new_database_is_the_beginning(db: Database) -> None:
    assert db.head() == BEGINNING


def test_the_head_stays_without_a_commit(db: Database) -> None:
    before = move_head(db)
    with db.read() as connection:
        changes.read_head(connection)
    with db.transaction() as transaction:
        transaction.lock_head()
        change = Change(before.seq + 1, datetime(2026, 1, 1), Actor(), "test", "[]")
        mark = changes.new_mark()
        transaction.run(changes.append_statements(transaction.dialect, [change], before, mark))
    assert db.head() == before


def test_the_head_follows_our_writes(db: Database) -> None:
    for seq in (1, 2, 3):
        moved = move_head(db)
        assert moved.seq == seq
        assert db.head() == moved


def test_the_head_follows_writes_of_another_process(db: Database, url: str) -> None:
    db.head()
    script = """
from datetime import datetime
from plimsoll.domain.actor import Actor
with db.transaction() as transaction:
    head = transaction.lock_head()
    change = changes.Change(head.seq + 1, datetime(2026, 1, 1), Actor(), "test", "[]")
    transaction.commit(changes.append_statements(transaction.dialect, [change], head, 4711))
"""
    assert finish(start(script, url)) == 0
    assert db.head() == Head(1, 4711)


def test_a_head_query_includes_every_commit_before_it(db: Database) -> None:
    """Concurrent queries share results; no result may be older than the start of its query."""
    done = threading.Event()
    stale: list[tuple[Head, Head]] = []
    last = [move_head(db)]

    def read_head_repeatedly() -> None:
        while not done.is_set():
            before = last[0]
            head = db.head()
            if head.seq < before.seq:
                stale.append((before, head))

    threads = [threading.Thread(target=read_head_repeatedly) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        last[0] = move_head(db)
    done.set()
    for thread in threads:
        thread.join()
    assert stale == []


def test_a_result_is_never_older_than_the_start_of_its_query(db: Database) -> None:
    db.head()
    before = db.start_head_query()
    moved = move_head(db)
    after, again = db.start_head_query(), db.start_head_query()
    assert after() == moved  # although the first result has not been received yet
    assert again() == moved
    assert before() in (BEGINNING, moved)
    last = move_head(db)
    assert db.head() == last


def test_a_head_query_whose_connection_is_lost_is_repeated(db: Database) -> None:
    db.head()
    moved = move_head(db)
    pending = db.start_head_query()
    db.dispose()
    assert pending() == moved
    assert db.head() == moved


def test_many_head_queries_can_start_before_a_result_is_received(db: Database) -> None:
    db.head()
    pending = [db.start_head_query() for _ in range(5)]
    moved = move_head(db)
    assert db.head() == moved
    assert {receive() for receive in pending} <= {BEGINNING, moved}
