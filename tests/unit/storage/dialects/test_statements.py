# SPDX-License-Identifier: Apache-2.0

"""Statements that are sent one by one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from plimsoll.runtime.threads import Threads
from plimsoll.storage.dialects.statements import ROWS_PER_YIELD, CommitFailed, OneByOneSender, run_statement
from plimsoll.storage.sql import Statement

BEGIN = Statement("BEGIN")
INSERT = Statement("INSERT INTO t VALUES (?)", [7])


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    opened.execute("CREATE TABLE t (n INTEGER)")
    yield opened
    opened.close()


@pytest.fixture
def sender() -> OneByOneSender:
    return OneByOneSender(Threads())


def test_each_statement_has_its_rows(connection: sqlite3.Connection, sender: OneByOneSender) -> None:
    statements = [INSERT, Statement("SELECT n FROM t"), Statement("SELECT ?, ?", ["a", None])]
    assert sender.run(connection, statements) == [[], [(7,)], [("a", None)]]


def test_statements_are_committed(connection: sqlite3.Connection, sender: OneByOneSender) -> None:
    sender.commit(connection, [BEGIN, INSERT])
    assert not connection.in_transaction
    assert sender.run(connection, [Statement("SELECT n FROM t")]) == [[(7,)]]


def test_a_failed_statement_is_not_a_failed_commit(
    connection: sqlite3.Connection, sender: OneByOneSender
) -> None:
    with pytest.raises(sqlite3.OperationalError):
        sender.commit(connection, [BEGIN, Statement("no such statement")])
    assert connection.in_transaction


def test_a_failed_commit_has_the_error_of_the_driver(
    connection: sqlite3.Connection, sender: OneByOneSender
) -> None:
    with pytest.raises(CommitFailed) as raised:
        sender.commit(connection, [])  # no transaction is open
    assert isinstance(raised.value.error, sqlite3.OperationalError)


@pytest.mark.parametrize(
    ("rows", "pauses"), [(ROWS_PER_YIELD - 1, 0), (ROWS_PER_YIELD, 1), (2 * ROWS_PER_YIELD + 1, 2)]
)
def test_long_results_are_fetched_with_pauses(connection: sqlite3.Connection, rows: int, pauses: int) -> None:
    paused: list[None] = []
    count = Statement(
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT ?) SELECT n FROM c", [rows]
    )
    found = run_statement(connection, count, lambda: paused.append(None))
    assert found == [(number,) for number in range(1, rows + 1)]
    assert len(paused) == pauses
