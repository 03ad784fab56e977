# SPDX-License-Identifier: Apache-2.0

"""A write transaction that begins with its first message, and commits with its last one where that is known.

Each message to a server costs a round trip, while all other writers wait. For SQLAlchemy these connections are in
autocommit mode, so that it sends neither BEGIN nor COMMIT by itself.
"""

from __future__ import annotations

import contextlib
from types import TracebackType

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, ProgrammingError

from plimsoll.storage.dialects.connection_cache import CachedConnection
from plimsoll.storage.dialects.errors import FaultOf, translate_error
from plimsoll.storage.errors import (
    Busy,
    Interrupted,
    NotWritable,
    OutcomeUnknown,
    ValueNotStorable,
)
from plimsoll.storage.head import Head

# Errors that a server has sent, unless the dialect maps them to a fault.
_SENT_BY_SERVER = (DataError, IntegrityError, OperationalError, ProgrammingError)


class Transaction(CachedConnection[Connection]):
    """Write transactions on one connection, one at a time: `with transaction`.

    Commits on a clean exit, unless it is committed already; else rolls back. Raises OutcomeUnknown if the result of the
    commit is not known, and faults for errors of the database. `expected` is the head that the transaction assumes.
    """

    __slots__ = ("_fault_of", "begun", "committed", "expected")

    def __init__(self, connection: Connection, fault_of: FaultOf) -> None:
        super().__init__(connection)
        self._fault_of = fault_of
        self.expected: Head | None = None

    def __enter__(self) -> Connection:
        self.begun = self.committed = False
        _active[self.connection] = self
        return self.connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        failed = error
        try:
            if self.begun and not self.committed:
                if error is None:
                    self._commit()
                else:
                    self._roll_back()
        except BaseException as end_error:
            failed = end_error
        del _active[self.connection]
        self.release_connection(failed)
        if failed is not None:
            if isinstance(failed, DBAPIError):
                raise translate_error(failed, self._fault_of) from failed
            if failed is not error:
                raise failed

    def release_connection(self, error: BaseException | None) -> None:
        """Return the connection to its owner, after the transaction has ended with this error or none."""

    def _commit(self) -> None:
        try:
            try:
                self.connection.exec_driver_sql("COMMIT")
            except Exception as error:
                raise_commit_outcome(error, self._fault_of)
                raise
            self.committed = True
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        with contextlib.suppress(Exception):  # a lost connection: the server rolls back by itself
            self.connection.exec_driver_sql("ROLLBACK")
            self.begun = False


_active: dict[Connection, Transaction] = {}


def transaction_of(connection: Connection) -> Transaction | None:
    """Return the write transaction that is active on this connection, if any."""
    return _active.get(connection)


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
    raise OutcomeUnknown(error.orig) from error
