# SPDX-License-Identifier: Apache-2.0

"""Find the last change before a time."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from plimsoll.storage import changes
from plimsoll.storage import tables as t

_C = t.changes.c


def last_until(conn: Connection, time: datetime, highest: int) -> int | None:
    """Return the number of the last change up to this time; None if the log begins later. Halves the log at each query.

    The changes are in the order of their commits. Where clocks of workers differ, so may the times of neighbours.
    """
    low = changes.oldest(conn)
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
    """Return the time of this change, or of the next one that the log has."""
    time: datetime = conn.execute(select(_C.at).where(_C.seq >= seq).order_by(_C.seq).limit(1)).scalar_one()
    return time
