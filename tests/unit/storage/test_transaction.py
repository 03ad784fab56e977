# SPDX-License-Identifier: Apache-2.0

"""When a transaction begins, which statements it sends together, and how it ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import NullPool

from plimsoll.storage.dialects.pool import PooledConnection
from plimsoll.storage.dialects.statements import CommitFailed
from plimsoll.storage.errors import Busy, HeadMoved, Interrupted, OutcomeUnknown, Unreachable
from plimsoll.storage.head import Head
from plimsoll.storage.sql import Statement
from plimsoll.storage.transaction import Transaction

LOCK = Statement("lock")
HEAD = Head(7, 1)
FIRST, SECOND = Statement("first"), Statement("second")


class Sender:
    """Records the statements of each message. The head is at HEAD."""

    def __init__(self) -> None:
        self.sent: list[list[str]] = []
        self.error: Exception | None = None

    def run(self, connection: Any, statements: Sequence[Statement]) -> list[list[Any]]:
        self.sent.append([each.sql for each in statements])
        if self.error is not None:
            raise self.error
        return [[tuple(HEAD)] if each is LOCK else [(each.sql,)] for each in statements]

    def commit(self, connection: Any, statements: Sequence[Statement]) -> None:
        self.run(connection, [*statements, Statement("COMMIT")])


@pytest.fixture
def sender() -> Sender:
    return Sender()


@pytest.fixture
def pooled(tmp_path: Path) -> PooledConnection:
    engine = create_engine(f"sqlite:///{tmp_path}/file", poolclass=NullPool, pool_reset_on_return=None)
    return PooledConnection(engine, engine.raw_connection())


def fault_of(error: BaseException) -> Exception | None:
    return error.args[0] if error.args and isinstance(error.args[0], Exception) else None


Open = Callable[..., Transaction]


@pytest.fixture
def open_transaction(sender: Sender, pooled: PooledConnection) -> Open:
    def opened(expected: Head | None = None) -> Transaction:
        begin = (Statement("BEGIN"),)
        return Transaction(pooled, sender, fault_of, begin=begin, lock_head_query=LOCK, expected=expected)

    return opened


def test_the_first_statements_begin_it_and_the_last_ones_commit_it(
    open_transaction: Open, sender: Sender, pooled: PooledConnection
) -> None:
    with open_transaction() as transaction:
        assert transaction.run([FIRST, SECOND]) == [[("first",)], [("second",)]]
        assert transaction.run([SECOND]) == [[("second",)]]
        transaction.commit([FIRST])
    assert sender.sent == [["BEGIN", "first", "second"], ["second"], ["first", "COMMIT"]]
    assert pooled.is_clean


def test_it_is_rolled_back_without_a_commit(
    open_transaction: Open, sender: Sender, pooled: PooledConnection
) -> None:
    with open_transaction() as transaction:
        transaction.begin()
    assert sender.sent == [["BEGIN"], ["ROLLBACK"]]
    assert pooled.is_clean


def test_nothing_is_sent_if_it_does_nothing(open_transaction: Open, sender: Sender) -> None:
    with open_transaction():
        pass
    assert sender.sent == []


def test_a_failed_rollback_leaves_the_connection_unusable(
    open_transaction: Open, sender: Sender, pooled: PooledConnection
) -> None:
    with open_transaction() as transaction:
        transaction.begin()
        sender.error = sqlite3.OperationalError("lost")
    assert not pooled.is_clean


def test_a_transaction_that_only_commits_is_one_message(open_transaction: Open, sender: Sender) -> None:
    with open_transaction(HEAD) as transaction:
        transaction.commit([FIRST])
    assert sender.sent == [["BEGIN", "first", "COMMIT"]]


def test_an_expected_head_is_locked_when_it_begins(open_transaction: Open, sender: Sender) -> None:
    with open_transaction(HEAD) as transaction:
        assert transaction.run([FIRST]) == [[("first",)]]
    assert sender.sent[0] == ["BEGIN", "lock", "first"]


def test_another_head_than_the_expected_one_is_refused(open_transaction: Open, sender: Sender) -> None:
    with pytest.raises(HeadMoved), open_transaction(Head(7, 2)) as transaction:
        transaction.begin()
    assert sender.sent == [["BEGIN", "lock"], ["ROLLBACK"]]


def test_the_head_is_locked(open_transaction: Open) -> None:
    with open_transaction() as transaction:
        assert transaction.lock_head() == HEAD


def test_its_connection_begins_it(open_transaction: Open, sender: Sender) -> None:
    with open_transaction() as transaction:
        assert transaction.connection.exec_driver_sql("SELECT 1").scalar() == 1
        assert transaction.connection is transaction.connection
    assert sender.sent == [["BEGIN"], ["ROLLBACK"]]


def test_a_second_commit_is_refused(open_transaction: Open) -> None:
    with open_transaction(HEAD) as transaction:
        transaction.commit([FIRST])
        with pytest.raises(AssertionError):
            transaction.commit([SECOND])


def test_statements_without_a_head_are_refused(open_transaction: Open) -> None:
    with (
        open_transaction() as transaction,
        pytest.raises(AssertionError, match="neither locked nor expected"),
    ):
        transaction.commit([FIRST])


def test_an_error_of_a_row_stays_an_error_of_sqlalchemy(open_transaction: Open, sender: Sender) -> None:
    with open_transaction() as transaction:
        transaction.begin()
        sender.error = sqlite3.IntegrityError("duplicate")
        for failing in (transaction.run, transaction.commit):
            with pytest.raises(IntegrityError):
                failing([FIRST])


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (sqlite3.IntegrityError("duplicate"), IntegrityError),
        (sqlite3.OperationalError(Busy()), Busy),
        (sqlite3.OperationalError(Unreachable()), OutcomeUnknown),
        (sqlite3.OperationalError(Interrupted()), OutcomeUnknown),
        (sqlite3.InterfaceError("lost"), OutcomeUnknown),
        (TimeoutError(), OutcomeUnknown),
    ],
)
def test_the_outcome_of_a_failed_commit(
    open_transaction: Open, sender: Sender, error: Exception, outcome: type[Exception]
) -> None:
    with open_transaction(HEAD) as transaction:
        sender.error = CommitFailed(error)
        with pytest.raises(outcome) as raised:
            transaction.commit([FIRST])
    if isinstance(raised.value, OutcomeUnknown):
        assert raised.value.has_ended is ("interrupted" in str(raised.value))
