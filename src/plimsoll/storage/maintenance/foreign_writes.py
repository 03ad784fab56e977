# SPDX-License-Identifier: Apache-2.0

"""Whether somebody else has written since our last change: the reference, after it got its database back, or a hand.

The change log does not know of that. A worker that starts reads everything and need not know either; one that
has run all the while goes on with what it has in memory until it is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Table, func, select

from plimsoll.domain.actor import Actor
from plimsoll.storage import changes
from plimsoll.storage import tables as t
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance.data_migrations import RELOAD
from plimsoll.storage.schema import migrate

OPERATION = "outsiders.noticed"

# Some databases round the time of a row to the next second. Nobody stops one service and starts another in it.
_SAME_MOMENT = timedelta(seconds=1)

# Whoever writes allocations changes a consumer and the generation of a provider too; to look through all
# allocations would take long.
_TABLES = tuple(
    table for table in t.reference.sorted_tables if "updated_at" in table.c and table is not t.allocations
)


@dataclass(frozen=True, slots=True)
class ForeignWrites:
    """What others have written: the time of the newest row, and that of the last change that we know of."""

    newest_row: datetime
    last_change: datetime


def find(connection: Connection) -> ForeignWrites | None:
    """Who wrote after our last change, if there was one; our own tables must be there.

    What others only deleted leaves no trace here.
    """
    last = connection.scalar(select(func.max(t.changes.c.at)))
    newest = max(filter(None, (_newest(connection, table) for table in _TABLES)), default=None)
    if newest is None or last is None or newest <= last + _SAME_MOMENT:
        return None
    return ForeignWrites(newest, last)


def take_over(db: Database) -> None:
    """Bring the schema up to date; and if others had the database meanwhile, have every worker read it anew."""
    migrate.sync(db)
    tell_workers(db)


def tell_workers(db: Database) -> bool:
    """Have every worker read everything anew if others have written, and say whether that was so.

    Done twice, it does nothing the second time.
    """
    with db.write() as connection:
        head = changes.lock_head(connection)
        outsiders = find(connection)
        if outsiders is None:
            return False
        # Their clock may be ahead of ours: what we have seen must not look newer than this change ever after.
        at = max(datetime.now(UTC).replace(tzinfo=None), outsiders.newest_row)
        change = Change(head.seq + 1, at, Actor(), OPERATION, RELOAD)
        changes.append(connection, [change], head, changes.new_mark())
        return True


def _newest(connection: Connection, table: Table) -> datetime | None:
    times = connection.execute(select(func.max(table.c.created_at), func.max(table.c.updated_at))).one()
    return max(filter(None, times), default=None)
