# SPDX-License-Identifier: Apache-2.0

"""Read the change log backwards: the changes before a revision, the last one before a time, and how far it reaches."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from plimsoll.domain.actor import Actor
from plimsoll.storage import tables as t
from plimsoll.storage.changes import Change
from plimsoll.storage.head import BEGINNING, Head

_C = t.changes.c
_COLUMNS = (_C.seq, _C.at, _C.user_id, _C.project_id, _C.request_id, _C.operation, _C.effects)


def before(conn: Connection, seq: int, limit: int) -> list[Change]:
    """Return at most `limit` changes up to number `seq`, the newest first."""
    rows = conn.execute(select(*_COLUMNS).where(_C.seq <= seq).order_by(_C.seq.desc()).limit(limit))
    return [Change(row[0], row[1], Actor(*row[2:5]), row[5], row[6]) for row in rows]


def has_head(conn: Connection, head: Head) -> bool:
    """Return whether the log has the change at this head, or the head is before the first change."""
    return head == BEGINNING or mark_of(conn, head.seq) == head.mark


def mark_of(conn: Connection, seq: int) -> int | None:
    """Return the mark of the write of this change; None if the log does not have it."""
    mark: int | None = conn.scalar(select(_C.mark).where(_C.seq == seq))
    return mark


def lowest(conn: Connection) -> int | None:
    """Return the number of the oldest change in the log; None if it is empty."""
    seq: int | None = conn.scalar(select(_C.seq).order_by(_C.seq).limit(1))
    return seq


def last_until(conn: Connection, time: datetime, highest: int) -> int | None:
    """Return the number of the last change up to this time; None if the log begins later. Halves the log at each query.

    The changes are in the order of their commits. Where clocks of workers differ, so may the times of neighbours.
    """
    low = lowest(conn)
    if low is None or _time_of(conn, low) > time:
        return None
    high = highest
    while low < high:
        middle = (low + high + 1) // 2
        if _time_of(conn, middle) <= time:
            low = middle
        else:
            high = middle - 1
    return low


def _time_of(conn: Connection, seq: int) -> datetime:
    """Return the time of this change, or of the next one that the log has: pruning may have removed it."""
    time: datetime = conn.execute(select(_C.at).where(_C.seq >= seq).order_by(_C.seq).limit(1)).scalar_one()
    return time
