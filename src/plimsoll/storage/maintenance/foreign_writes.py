# SPDX-License-Identifier: Apache-2.0

"""Detect foreign writes: rows that another program wrote after our last change, such as the reference or manual SQL.

The change log does not contain them. A worker that starts loads all rows anyway; a running worker continues with its
memory until a reload is written to the change log.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, Table, func, select

from plimsoll.domain.actor import Actor
from plimsoll.storage import changes
from plimsoll.storage import tables as t
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from plimsoll.storage.maintenance.data_migrations import RELOAD
from plimsoll.storage.schema import migrate
from plimsoll.storage.sql import utc_now

OPERATION = "outsiders.noticed"

CONFLICT_RETRY_SECONDS = 30.0
"""How long a conflict with other services that start at the same time is retried."""
_BACKOFF_SECONDS = 0.05, 0.5

# Some databases round the time of a row up to a second. Stopping one service and starting another takes longer.
_CLOCK_TOLERANCE = timedelta(seconds=1)

# Without allocations: a write to them also changes a consumer and the generation of a provider, and a scan of all
# allocations takes long.
_TABLES = tuple(
    table for table in t.reference.sorted_tables if "updated_at" in table.c and table is not t.allocations
)


@dataclass(frozen=True, slots=True)
class ForeignWrites:
    """Time of the newest row, and of the last change in our log, which is older."""

    newest_row: datetime
    last_change: datetime


def find(connection: Connection) -> ForeignWrites | None:
    """Return the foreign writes after our last change, or None; our own tables must exist.

    Deletions by other programs are not detected.
    """
    last = connection.scalar(select(func.max(t.changes.c.at)))
    newest = max(filter(None, (_newest(connection, table) for table in _TABLES)), default=None)
    if newest is None or last is None or newest <= last + _CLOCK_TOLERANCE:
        return None
    return ForeignWrites(newest, last)


def take_over(db: Database) -> None:
    """Migrate the schema; after foreign writes, also make every worker reload.

    Services that start at several nodes of a Galera cluster conflict with each other: a conflict is retried.
    """
    deadline = time.monotonic() + CONFLICT_RETRY_SECONDS
    while True:
        try:
            migrate.sync(db)
            reload_workers(db)
            return
        except Busy:
            if time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(*_BACKOFF_SECONDS))


def reload_workers(db: Database) -> bool:
    """After foreign writes, append a reload to the change log for every worker; return whether there were any.

    A second call does nothing.
    """
    with db.transaction() as transaction:
        head = transaction.lock_head()
        foreign = find(transaction.connection)
        if foreign is None:
            return False
        # The other clock may be ahead: the next `find` must not report the same rows as newer than this change.
        at = max(utc_now(), foreign.newest_row)
        change = Change(head.seq + 1, at, Actor(), OPERATION, RELOAD)
        transaction.commit(changes.append_statements(transaction.dialect, [change], head, changes.new_mark()))
        return True


def _newest(connection: Connection, table: Table) -> datetime | None:
    times = connection.execute(select(func.max(table.c.created_at), func.max(table.c.updated_at))).one()
    return max(filter(None, times), default=None)
