# SPDX-License-Identifier: Apache-2.0

"""What can go wrong between us and a database that is no mistake of ours, nor of the request.

Each kind says whether asking again at once may help. Which error of which database is of which kind, say the
dialects. None of them leaves anything half-written: a transaction that was not committed was rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class DatabaseFault(Exception):
    """The database did not do what it was asked, and nothing was written."""

    summary = "The database could not do what was asked."
    retry_after = 1
    """After how many seconds a client may try again."""
    is_outage = False
    """Whether other requests fail as well for the same reason."""
    advice = ""
    """A remedy for operators, logged with the fault."""

    def __init__(self, reason: object = "") -> None:
        # Some drivers give several lines. A fault is logged as one.
        super().__init__(" ".join(f"{self.summary} {reason}".split()))


class Unreachable(DatabaseFault):
    """No connection, or it was lost, before anything was committed."""

    summary = "The database cannot be reached."
    retry_after = 2
    is_outage = True
    advice = "Check that the server runs, and its address in [placement_database]connection."


class TooManyConnections(Unreachable):
    """The server runs, and has as many connections as it allows."""

    summary = "The database server takes no more connections."
    advice = "Raise the server's limit of connections, or lower [placement_database]max_pool_size or the number of workers."


class Busy(DatabaseFault):
    """A deadlock, a lock that was not to be had in time, a lost race."""

    summary = "The database was too busy."


class Interrupted(Busy):
    """A statement took too long, or somebody else has ended it. Only of a commit it is not known how far it came."""

    summary = "The database was interrupted."


class Overtaken(Busy):
    """The head is not any more where a write took for granted that it is."""

    summary = "Somebody else wrote in between."


class Refusing(DatabaseFault):
    """The database takes no writes at present: it is read-only, full, or does not let us."""

    summary = "The database takes no writes at present."
    retry_after = 10
    is_outage = True


class ReadOnly(Refusing):
    """A standby, a server that was set to read-only, or a file without the right to write."""

    summary = "The database is read-only."
    advice = "Connect to the primary server, or make this database writable."


class DiskFull(Refusing):
    """No space for what is to be written, or an error of the disk."""

    summary = "The database cannot write to its disk."
    advice = "Check the space on the database server's disk, and the server's log."


class NotPermitted(Refusing):
    """A right is missing, or there is no way in. Whose it would have to be is for the log alone."""

    summary = "The database does not permit this."
    advice = "Check the user, the password and the rights of the user in [placement_database]connection."

    def __init__(self, reason: object = "", user: str | None = None) -> None:
        super().__init__(f"To the user {user!r}: {reason}" if user else reason)


class NoSuchDatabase(Refusing):
    """The server has no database of the name in the URL."""

    summary = "There is no such database."
    advice = "Correct the name in [placement_database]connection, or create the database and run `plimsoll db sync`."


class NotOpened(Refusing):
    """SQLite cannot open the file: it is a directory, or its permissions forbid it."""

    summary = "The database file cannot be opened."
    advice = "Check the path in [placement_database]connection, and the owner and mode of the file and its directory."


class ValueNotKept(Exception):
    """The database has no way to keep a text or number that the request gave: a mistake of the request's."""


class TooLong(ValueNotKept):
    """A statement is longer than the database server takes. Splitting does not help: it writes a single value."""

    def __init__(self, needed: int | None = None, limit: int | None = None) -> None:
        sizes = (
            "" if needed is None or limit is None else f" It takes {needed:,} bytes, the limit is {limit:,}."
        )
        super().__init__(
            "The request is too large for the database server, which limits the length of a statement"
            f" (max_allowed_packet).{sizes} Send it in smaller parts, or have the limit raised. Nothing was changed."
        )


class ConstraintFailed(ValueNotKept):
    """A CHECK constraint that is not Plimsoll's refuses a row."""


class OutcomeUnknown(DatabaseFault):
    """The connection was lost during a commit: it may have happened or not."""

    summary = "The database was lost during a commit."
    retry_after = 2
    is_outage = True


def asked_again_if_lost(question: Callable[[], T]) -> T:
    """The answer to a question that changes nothing: its connection may have been lost long ago, unnoticed."""
    try:
        return question()
    except Unreachable:
        return question()
