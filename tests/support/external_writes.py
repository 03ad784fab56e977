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
def committed_write(database: Database) -> Iterator[Connection]:
    """A connection in a write transaction, which is committed at the end of the block. It does not lock the head."""
    with database.transaction() as transaction:
        yield transaction.connection
        transaction.commit()


@contextmanager
def external_transaction(database: Database, effects: str = RELOAD) -> Iterator[Connection]:
    """A transaction of another program, with an entry in the change log: a full reload, or these effects."""
    with database.transaction() as transaction:
        yield transaction.connection
        head = transaction.lock_head()
        change = Change(head.seq + 1, datetime(2026, 1, 1), Actor(), "by hand", effects)
        transaction.commit(changes.append_statements(transaction.dialect, [change], head, changes.new_mark()))
