# SPDX-License-Identifier: Apache-2.0

"""A write transaction: begin, run statements, commit.

Each message to a server costs a round trip, while all other writers wait. So BEGIN is sent with the first statements,
and COMMIT with the last ones, if the sender of the statements can join them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

from sqlalchemy import Connection, Dialect
from sqlalchemy.exc import DataError, IntegrityError, OperationalError, ProgrammingError

from plimsoll.storage.dialects.errors import FaultOf, as_sqlalchemy_error
from plimsoll.storage.dialects.pool import PooledConnection
from plimsoll.storage.dialects.statements import CommitFailed, StatementSender
from plimsoll.storage.errors import (
    Busy,
    HeadMoved,
    Interrupted,
    NotWritable,
    OutcomeUnknown,
    ValueNotStorable,
)
from plimsoll.storage.head import Head
from plimsoll.storage.sql import Statement

# Errors that a server has sent, unless the dialect maps them to a fault.
_SENT_BY_SERVER = (DataError, IntegrityError, OperationalError, ProgrammingError)

_ROLLBACK = Statement("ROLLBACK")


class Transaction:
    """One write transaction on a connection of the pool. Leaving its `with` block without `commit` rolls it back.

    `expected` is the head that the transaction assumes. It is locked and compared when the transaction begins, unless
    `commit` is the first call: then the first of its statements must be `head.move_head_sql`, which compares it too.
    """

    def __init__(
        self,
        pooled: PooledConnection,
        sender: StatementSender,
        fault_of: FaultOf,
        *,
        begin: Sequence[Statement],
        lock_head_query: Statement,
        expected: Head | None = None,
    ) -> None:
        self._pooled = pooled
        self._sender = sender
        self._fault_of = fault_of
        self._begin = begin
        self.lock_head_query = lock_head_query
        """Reads the head and locks it, which excludes all other writers. To be run with `run`."""
        self._expected = expected
        self._is_begun = False
        self._is_committed = False

    @property
    def dialect(self) -> Dialect:
        """SQLAlchemy's dialect, for the text of statements."""
        return self._pooled.dialect

    @cached_property
    def connection(self) -> Connection:
        """SQLAlchemy's connection, for code that uses SQLAlchemy in this transaction. Begins it."""
        self.begin()
        return self._pooled.sqlalchemy_connection()

    def begin(self) -> None:
        """Begin the transaction, unless it has begun. With an expected head, lock it; HeadMoved if it is another one."""
        if not self._is_begun:
            self.run(())

    def run(self, statements: Sequence[Statement]) -> list[list[Any]]:
        """Run statements and return the rows of each. The first call begins the transaction."""
        assert not self._is_committed
        first: list[Statement] = []
        if not self._is_begun:
            self._is_begun = True
            first += self._begin
            first += () if self._expected is None else (self.lock_head_query,)
        try:
            results = self._sender.run(self._pooled.driver, [*first, *statements])
        except self._pooled.driver_error as error:
            raise as_sqlalchemy_error(error, self.dialect) from error
        if first and self._expected is not None and Head(*results[len(first) - 1][0]) != self._expected:
            raise HeadMoved
        return results[len(first) :]

    def lock_head(self) -> Head:
        """Lock the head, which excludes all other writers, and return it."""
        ((row,),) = self.run([self.lock_head_query])
        return Head(*row)

    def commit(self, statements: Sequence[Statement] = ()) -> None:
        """Run the last statements and commit. Raises OutcomeUnknown if it is not known whether it is committed."""
        assert not self._is_committed
        first: Sequence[Statement] = ()
        if not self._is_begun:
            assert self._expected is not None or not statements, "the head is neither locked nor expected"
            self._is_begun = True
            first = self._begin
        try:
            self._sender.commit(self._pooled.driver, [*first, *statements])
        except CommitFailed as failed:
            error = as_sqlalchemy_error(failed.error, self.dialect)
            raise_commit_outcome(error, self._fault_of)
            raise error from failed.error
        except self._pooled.driver_error as error:
            raise as_sqlalchemy_error(error, self.dialect) from error
        self._is_committed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Nothing is sent after a commit: if that failed, a committed transaction would seem to have failed.
        if self._is_begun and not self._is_committed:
            with contextlib.suppress(Exception):  # a lost connection: the server rolls back by itself
                self._sender.run(self._pooled.driver, [_ROLLBACK])
                self._pooled.is_clean = True
        else:
            self._pooled.is_clean = True


def raise_commit_outcome(error: BaseException, fault_of: FaultOf) -> None:
    """Raise for a commit that failed: a fault if the server did not commit, OutcomeUnknown if that is not known.

    Returns if the error is no fault of the database: the caller raises the error itself, and nothing was committed.
    """
    if isinstance(error, UnicodeError):
        return  # it could not even be encoded
    if not isinstance(error, _SENT_BY_SERVER):
        raise OutcomeUnknown(error) from error
    fault = None if error.orig is None else fault_of(error.orig)
    if fault is None:
        return
    # A message may be interrupted after its commit, before its end.
    is_rolled_back = isinstance(fault, Busy | NotWritable | ValueNotStorable) and not isinstance(
        fault, Interrupted
    )
    if is_rolled_back:
        raise fault from error
    raise OutcomeUnknown(error.orig, has_ended=isinstance(fault, Interrupted)) from error
