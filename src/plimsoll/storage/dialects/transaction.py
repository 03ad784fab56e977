# SPDX-License-Identifier: Apache-2.0

"""A transaction that writes: begun with its first message, and committed with its last if that is known.

Each message to a server costs the time there and back, while all other writers wait. SQLAlchemy takes the connections
that it is for as committing by themselves, so that nothing is sent but what is sent here.
"""

from __future__ import annotations

import contextlib
from types import TracebackType

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, ProgrammingError

from plimsoll.storage.dialects.connection_cache import CachedConnection
from plimsoll.storage.dialects.errors import FaultOf, translated
from plimsoll.storage.errors import (
    Busy,
    Interrupted,
    OutcomeUnknown,
    Refusing,
    ValueNotKept,
)
from plimsoll.storage.head import Head

# If the error is one of these and no fault of the database's.
_SAID_BY_THE_SERVER = (DataError, IntegrityError, OperationalError, ProgrammingError)


class Transaction(CachedConnection[Connection]):
    """One transaction after the other on one connection: `with writing`.

    Commits on a clean exit, unless that is done; else rolls back. OutcomeUnknown if nobody knows. It tells how far it
    has come, and where it takes the head to be if it has not taken it yet. Errors that are the database's become ours.
    """

    __slots__ = ("_fault_of", "begun", "committed", "expected")

    def __init__(self, connection: Connection, fault_of: FaultOf) -> None:
        super().__init__(connection)
        self._fault_of = fault_of
        self.expected: Head | None = None

    def __enter__(self) -> Connection:
        self.begun = self.committed = False
        _under_way[self.connection] = self
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
        except BaseException as at_the_end:
            failed = at_the_end
        del _under_way[self.connection]
        self.over(failed)
        if failed is not None:
            if isinstance(failed, DBAPIError):
                raise translated(failed, self._fault_of) from failed
            if failed is not error:
                raise failed

    def over(self, error: BaseException | None) -> None:
        """What becomes of the connection."""

    def _commit(self) -> None:
        try:
            try:
                self.connection.exec_driver_sql("COMMIT")
            except Exception as error:
                tell_outcome(error, self._fault_of)
                raise
            self.committed = True
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        with contextlib.suppress(Exception):  # a lost connection: the server rolls back by itself
            self.connection.exec_driver_sql("ROLLBACK")
            self.begun = False


_under_way: dict[Connection, Transaction] = {}


def of(connection: Connection) -> Transaction | None:
    """The one that this connection is in."""
    return _under_way.get(connection)


def tell_outcome(error: BaseException, fault_of: FaultOf) -> None:
    """Of a commit that went wrong: raises a fault, if the server says that it did not happen; or OutcomeUnknown.

    Returns if the error says it as it is.
    """
    if isinstance(error, UnicodeError):
        return  # it could not even be said
    if not isinstance(error, _SAID_BY_THE_SERVER):
        raise OutcomeUnknown(error) from error
    fault = None if error.orig is None else fault_of(error.orig)
    if fault is None:
        return
    # A message may be interrupted after its commit, before its end.
    said = isinstance(fault, Busy | Refusing | ValueNotKept) and not isinstance(fault, Interrupted)
    if said:
        raise fault from error
    raise OutcomeUnknown(error.orig) from error
