# SPDX-License-Identifier: Apache-2.0

"""A transaction that writes: begun with its first message, and committed with its last if that is known.

Each message to a server costs the time there and back, while all other writers wait. SQLAlchemy takes the connections
that it is for as committing by themselves, so that nothing is sent but what is sent here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, IntegrityError, OperationalError, ProgrammingError

from plimsoll.storage.faults import Busy, Interrupted, OutcomeUnknown, Refusing, ValueNotKept
from plimsoll.storage.head import Head

FaultOf = Callable[[BaseException], Exception | None]

_KEY = "plimsoll.writing"
# If the error is one of these and no fault of the database's.
_SAID_BY_THE_SERVER = (DataError, IntegrityError, OperationalError, ProgrammingError)


class Writing:
    """Commits on a clean exit, unless that is done; else rolls back. OutcomeUnknown if nobody knows.

    It tells how far it has come, and where it takes the head to be if it has not taken it yet.
    """

    __slots__ = ("_connection", "_fault_of", "_kept", "begun", "committed", "expected")

    def __init__(self, connection: Connection, fault_of: FaultOf, expected: Head | None = None) -> None:
        self._connection = connection
        self._fault_of = fault_of
        self.begun = self.committed = False
        self.expected = expected

    def __enter__(self) -> Connection:
        self._kept = self._connection.info
        self._kept[_KEY] = self
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self.begun and not self.committed:
                if error is None:
                    self._commit()
                else:
                    self._roll_back()
        finally:
            # A connection that was lost may serve another one already.
            if self._kept.get(_KEY) is self:
                del self._kept[_KEY]

    def _commit(self) -> None:
        try:
            with Committing(self._fault_of):
                self._connection.exec_driver_sql("COMMIT")
            self.committed = True
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        with contextlib.suppress(Exception):  # a lost connection: the server rolls back by itself
            self._connection.exec_driver_sql("ROLLBACK")
            self.begun = False


def of(connection: Connection) -> Writing | None:
    """The one that this connection is in."""
    writing: Writing | None = connection.info.get(_KEY)
    return writing


class Committing:
    """What goes wrong with a commit: the server says itself that it did not happen, or nobody knows."""

    __slots__ = ("_fault_of",)

    def __init__(self, fault_of: FaultOf) -> None:
        self._fault_of = fault_of

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, UnicodeError) or not isinstance(error, Exception):
            return  # with UnicodeError it could not even be said
        if not isinstance(error, _SAID_BY_THE_SERVER):
            raise OutcomeUnknown(error) from error
        fault = None if error.orig is None else self._fault_of(error.orig)
        if fault is None:
            return
        # A message may be interrupted after its commit, before its end.
        said = isinstance(fault, Busy | Refusing | ValueNotKept) and not isinstance(fault, Interrupted)
        if said:
            raise fault from error
        raise OutcomeUnknown(error.orig) from error
