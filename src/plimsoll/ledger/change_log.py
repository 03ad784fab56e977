# SPDX-License-Identifier: Apache-2.0

"""Read the change log page by page, from a cursor on, in the order of all writes or backwards.

A cursor is a revision, or a revision with the mark of its write. With the mark it is never valid for another history, even if a database that was
restored from a backup has reached the same number again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import Connection

from plimsoll.domain.change_description import ChangeDescription
from plimsoll.domain.values import unhashable_value, value
from plimsoll.storage import changes
from plimsoll.storage.changes import Change, LoggedChange
from plimsoll.storage.database import Database
from plimsoll.storage.epoch import read_epoch, revision_of
from plimsoll.storage.head import Head

CURSOR_PATTERN = "^([0-9a-f]{8}):([0-9]{1,18})(?::([0-9a-f]{1,16}))?$"
_parse_cursor = re.compile(CURSOR_PATTERN).match

_NO_CHANGES: Sequence[LoggedChange] = ()


@value
class Cursor:
    """A place between two changes: right after the one with this number."""

    epoch: str
    seq: int
    mark: int | None = None
    """Of the change with this number; None if the client has only its revision."""

    @classmethod
    def parse(cls, text: str) -> Cursor | None:
        """Return the cursor of a text; None if it is none."""
        found = _parse_cursor(text)
        if found is None:
            return None
        return cls(found[1], int(found[2]), None if found[3] is None else int(found[3], 16))

    def __str__(self) -> str:
        revision = revision_of(self.epoch, self.seq)
        return revision if self.mark is None else f"{revision}:{self.mark:x}"


@value
class LogBounds:
    """What the change log has."""

    epoch: str
    lowest: int
    """The number of the oldest change, less one: all changes after it are there."""
    head: Head

    def revision(self, seq: int) -> str:
        """Return the revision right after a change of this log."""
        return revision_of(self.epoch, seq)

    def up_to(self, last: LoggedChange) -> LogBounds:
        """Return the bounds as if this change were the newest."""
        return LogBounds(self.epoch, self.lowest, Head(last.change.seq, last.mark))

    @property
    def end(self) -> Cursor:
        """The cursor after the newest change."""
        return Cursor(self.epoch, self.head.seq, self.head.mark)


@unhashable_value
class DescribedChange:
    """A change with its description."""

    change: Change
    mark: int
    description: ChangeDescription

    def cursor(self, epoch: str) -> Cursor:
        """The cursor right after the change."""
        return Cursor(epoch, self.change.seq, self.mark)


@value
class LogPage:
    """Some changes in a row, and the bounds of the log at that time."""

    bounds: LogBounds
    changes: Sequence[LoggedChange]


@value
class CursorPruned:
    """Changes after the cursor were removed from the log."""

    bounds: LogBounds


@value
class OtherHistory:
    """The cursor is of another history of the database, or of a change that was never made."""

    bounds: LogBounds


CursorGone = CursorPruned | OtherHistory


def read_bounds(database: Database) -> LogBounds:
    return database.run_read(_bounds)


def read_after(database: Database, cursor: Cursor, limit: int) -> LogPage | CursorGone:
    """Return at most `limit` changes after the cursor, the oldest first."""

    def read(conn: Connection) -> LogPage | CursorGone:
        bounds = _bounds(conn)
        if _is_of_other_history(conn, cursor, bounds):
            return OtherHistory(bounds)
        if cursor.seq < bounds.lowest:
            return CursorPruned(bounds)
        if cursor.seq == bounds.head.seq:
            return LogPage(bounds, _NO_CHANGES)
        found = changes.logged_after(conn, cursor.seq, limit)
        assert found[0].change.seq == cursor.seq + 1
        return LogPage(bounds, found)

    return database.run_read(read)


def read_before(database: Database, cursor: Cursor | None, limit: int) -> LogPage | CursorGone:
    """Return at most `limit` changes before the cursor, or the newest ones, the newest first."""

    def read(conn: Connection) -> LogPage | CursorGone:
        bounds = _bounds(conn)
        if cursor is not None and _is_of_other_history(conn, cursor, bounds):
            return OtherHistory(bounds)
        before = bounds.head.seq + 1 if cursor is None else cursor.seq
        return LogPage(bounds, changes.logged_before(conn, before, limit))

    return database.run_read(read)


def _bounds(conn: Connection) -> LogBounds:
    head = changes.read_head(conn)
    oldest = changes.oldest(conn)
    return LogBounds(read_epoch(conn), head.seq if oldest is None else oldest - 1, head)


def _is_of_other_history(conn: Connection, cursor: Cursor, bounds: LogBounds) -> bool:
    if cursor.epoch != bounds.epoch or cursor.seq > bounds.head.seq:
        return True
    if cursor.mark is None:
        return False
    mark = bounds.head.mark if cursor.seq == bounds.head.seq else changes.mark_of(conn, cursor.seq)
    return mark is not None and mark != cursor.mark
