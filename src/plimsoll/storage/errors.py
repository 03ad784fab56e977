# SPDX-License-Identifier: Apache-2.0

"""Faults of the database: errors that neither our code nor the request caused.

Each class states whether an immediate retry can help. The dialects map driver errors to these classes. No fault leaves
a partial write: a transaction that was not committed was rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class DatabaseFault(Exception):
    """The database did not execute an operation, and nothing was written."""

    summary = "The database could not execute the operation."
    retry_after = 1
    """Seconds after which a client may retry."""
    is_outage = False
    """True if other requests fail for the same reason."""
    advice = ""
    """A remedy for operators, logged with the fault."""

    def __init__(self, reason: object = "") -> None:
        # Some drivers return several lines. A fault is logged as one line.
        super().__init__(" ".join(f"{self.summary} {reason}".split()))


class Unreachable(DatabaseFault):
    """The connection failed or was lost before the commit."""

    summary = "The database cannot be reached."
    retry_after = 2
    is_outage = True
    advice = "Check that the server runs, and its address in [placement_database]connection."


class TooManyConnections(Unreachable):
    """The server runs, but has reached its connection limit."""

    summary = "The database server accepts no more connections."
    advice = "Raise the server's limit of connections, or lower [placement_database]max_pool_size or the number of workers."


class Busy(DatabaseFault):
    """A deadlock, a lock timeout, or a write conflict."""

    summary = "The database was too busy."


class Interrupted(Busy):
    """A statement timed out or was cancelled. Only an interrupted commit has an unknown outcome."""

    summary = "The database was interrupted."


class HeadMoved(Busy):
    """An optimistic write found another head than it expected: another writer has committed in between."""

    summary = "Another writer committed first."


class NotWritable(DatabaseFault):
    """The database accepts no writes at present: it is read-only or full, or access is denied."""

    summary = "The database accepts no writes at present."
    retry_after = 10
    is_outage = True


class ReadOnly(NotWritable):
    """A standby, a server set to read-only, or a file without write permission."""

    summary = "The database is read-only."
    advice = "Connect to the primary server, or make this database writable."


class DiskFull(NotWritable):
    """The disk is full or failed."""

    summary = "The database cannot write to its disk."
    advice = "Check the space on the database server's disk, and the server's log."


class NotPermitted(NotWritable):
    """A missing privilege or a failed login. The name of the user goes into the log only."""

    summary = "The database does not permit this."
    advice = "Check the user, the password and the rights of the user in [placement_database]connection."

    def __init__(self, reason: object = "", user: str | None = None) -> None:
        super().__init__(f"To the user {user!r}: {reason}" if user else reason)


class NoSuchDatabase(NotWritable):
    """The server has no database with the name in the URL."""

    summary = "There is no such database."
    advice = "Correct the name in [placement_database]connection, or create the database and run `plimsoll db sync`."


class CannotOpenFile(NotWritable):
    """SQLite cannot open the file: it is a directory, or its permissions forbid it."""

    summary = "The database file cannot be opened."
    advice = "Check the path in [placement_database]connection, and the owner and mode of the file and its directory."


class ValueNotStorable(Exception):
    """The database cannot store a text or number of the request: a client error."""


class StatementTooLong(ValueNotStorable):
    """A statement is longer than the database server accepts, and cannot be split: it writes a single value."""

    def __init__(self, needed: int | None = None, limit: int | None = None) -> None:
        sizes = (
            "" if needed is None or limit is None else f" It takes {needed:,} bytes, the limit is {limit:,}."
        )
        super().__init__(
            "The request is too large for the database server, which limits the length of a statement"
            f" (max_allowed_packet).{sizes} Send it in smaller parts, or have the limit raised. Nothing was changed."
        )


class ConstraintFailed(ValueNotStorable):
    """A CHECK constraint that Plimsoll did not create rejects a row."""


class OutcomeUnknown(DatabaseFault):
    """The connection was lost during a commit: the transaction may or may not be committed."""

    summary = "The database was lost during a commit."
    retry_after = 2
    is_outage = True

    def __init__(self, reason: object = "", *, has_ended: bool = False) -> None:
        super().__init__(reason)
        self.has_ended = has_ended
        """True if the server has responded: it cannot execute the commit later."""


def retry_once_if_lost(read: Callable[[], T]) -> T:
    """Run a read, and repeat it once if its connection was lost: an idle connection may be dead unnoticed."""
    try:
        return read()
    except Unreachable:
        return read()
