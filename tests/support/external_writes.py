# SPDX-License-Identifier: Apache-2.0

"""Writes to the database by another program than the service."""

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
def external_transaction(database: Database, effects: str = RELOAD) -> Iterator[Connection]:
    """A transaction of another program, with an entry in the change log: a full reload, or these effects."""
    with database.write() as conn:
        yield conn
        head = changes.lock_head(conn)
        change = Change(head.seq + 1, datetime(2026, 1, 1), Actor(), "by hand", effects)
        changes.append(conn, [change], head, changes.new_mark())
