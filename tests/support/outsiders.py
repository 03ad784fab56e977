# SPDX-License-Identifier: Apache-2.0

"""Somebody else who writes to the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection

from plimsoll.domain.actor import Actor
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance.data_migrations import RELOAD


@contextmanager
def by_hand(database: Database, effects: str = RELOAD) -> Iterator[Connection]:
    """A transaction of somebody else, and what the change log says of it: to read everything anew, or this."""
    with database.write() as conn:
        yield conn
        head = changes.lock_head(conn)
        change = Change(head.seq + 1, datetime(2026, 1, 1), Actor(), "by hand", effects)
        changes.append(conn, [change], head, changes.new_mark())
