# SPDX-License-Identifier: Apache-2.0

"""A transaction that writes, on a server: begun with its first message, and committed with its last if that is known.

Each message costs the time to the server and back, while all other writers wait. SQLAlchemy takes the connections
that it is for as committing by themselves, so that nothing is sent but what is sent here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, IntegrityError, OperationalError, ProgrammingError

from plimsoll.storage.faults import Busy, Interrupted, OutcomeUnknown, Refusing, ValueNotKept
from plimsoll.storage.head import Head

FaultOf = Callable[[BaseException], Exception | None]

_KEY = "plimsoll.writing"
# If the error is one of these and no fault of the database's.
_SAID_BY_THE_SERVER = (DataError, IntegrityError, OperationalError, ProgrammingError)


class Writing:
    """How far one has come, and where it takes the head to be if it has not taken it yet."""

    __slots__ = ("begun", "committed", "expected")

    def __init__(self, expected: Head | None = None) -> None:
        self.begun = self.committed = False
        self.expected = expected


def of(connection: Connection) -> Writing | None:
    """The one that this connection is in."""
    writing: Writing | None = connection.info.get(_KEY)
    return writing


@contextlib.contextmanager
def writing(connection: Connection, state: Writing, fault_of: FaultOf) -> Iterator[None]:
    """Commits on a clean exit, unless that is done; else rolls back. OutcomeUnknown if nobody knows."""
    kept = connection.info
    kept[_KEY] = state
    try:
        yield
        if state.begun and not state.committed:
            with committing(fault_of):
                connection.exec_driver_sql("COMMIT")
            state.committed = True
    except BaseException:
        if state.begun and not state.committed:
            with contextlib.suppress(Exception):  # a lost connection: the server rolls back by itself
                connection.exec_driver_sql("ROLLBACK")
                state.begun = False
        raise
    finally:
        # A connection that was lost may serve another one already.
        if kept.get(_KEY) is state:
            del kept[_KEY]


@contextlib.contextmanager
def committing(fault_of: FaultOf) -> Iterator[None]:
    """What goes wrong with a commit: the server says itself that it did not happen, or nobody knows."""
    try:
        yield
    except _SAID_BY_THE_SERVER as error:
        fault = None if error.orig is None else fault_of(error.orig)
        if fault is None:
            raise
        # A message may be interrupted after its commit, before its end.
        said = isinstance(fault, Busy | Refusing | ValueNotKept) and not isinstance(fault, Interrupted)
        if said:
            raise fault from error
        raise OutcomeUnknown(error.orig) from error
    except UnicodeError:  # it could not even be said
        raise
    except Exception as error:
        raise OutcomeUnknown(error) from error
