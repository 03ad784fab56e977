# SPDX-License-Identifier: Apache-2.0

"""The head on each engine: where the last commit left it, whoever asks and whoever has written."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest

from plimsoll.domain.actor import Actor
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.head import BEGINNING, Head
from tests.storage.writers import finish, move_head, start


def test_the_head_of_a_new_database_is_the_beginning(db: Database) -> None:
    assert db.head() == BEGINNING


def test_the_head_stays_while_nobody_commits(db: Database) -> None:
    before = move_head(db)
    with db.read() as connection:
        changes.read_head(connection)
    with pytest.raises(RuntimeError), db.write() as connection:
        changes.lock_head(connection)
        change = Change(before.seq + 1, datetime(2026, 1, 1), Actor(), "test", "[]")
        changes.append(connection, [change], before, changes.new_mark())
        raise RuntimeError
    assert db.head() == before


def test_the_head_is_where_our_last_write_left_it(db: Database) -> None:
    for seq in (1, 2, 3):
        left = move_head(db)
        assert left.seq == seq
        assert db.head() == left


def test_the_head_is_where_another_process_left_it(db: Database, url: str) -> None:
    db.head()
    script = """
from datetime import datetime
from plimsoll.domain.actor import Actor
with db.write() as connection:
    head = changes.lock_head(connection)
    change = changes.Change(head.seq + 1, datetime(2026, 1, 1), Actor(), "test", "[]")
    changes.append(connection, [change], head, 4711)
"""
    assert finish(start(script, url)) == 0
    assert db.head() == Head(1, 4711)


def test_whoever_asks_for_the_head_is_told_of_every_commit_before(db: Database) -> None:
    """Many ask at once, and share answers: none may get one that is older than its question."""
    done = threading.Event()
    late: list[tuple[Head, Head]] = []
    last = [move_head(db)]

    def ask() -> None:
        while not done.is_set():
            before = last[0]
            seen = db.head()
            if seen.seq < before.seq:
                late.append((before, seen))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        last[0] = move_head(db)
    done.set()
    for thread in threads:
        thread.join()
    assert late == []


def test_an_answer_is_never_older_than_its_question(db: Database) -> None:
    db.head()
    before = db.ask_head()
    left = move_head(db)
    after, again = db.ask_head(), db.ask_head()
    assert after() == left  # although the first question has not been heard yet
    assert again() == left
    assert before() in (BEGINNING, left)
    last = move_head(db)
    assert db.head() == last


def test_a_question_whose_connection_is_lost_is_asked_again(db: Database) -> None:
    db.head()
    left = move_head(db)
    under_way = db.ask_head()
    db.dispose()
    assert under_way() == left
    assert db.head() == left


def test_many_begin_to_ask_before_anybody_hears(db: Database) -> None:
    db.head()
    questions = [db.ask_head() for _ in range(5)]
    left = move_head(db)
    assert db.head() == left
    assert {hear() for hear in questions} <= {BEGINNING, left}
