# SPDX-License-Identifier: Apache-2.0

"""The epoch: eight hexadecimal digits that stand for one history of a database.

The number of a change identifies a state only within one history: a database that was restored from a backup counts
from the backup's number on. A revision has both, so that it is never valid for another history.
"""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, select, update

from plimsoll.storage import tables as t

UNKNOWN_EPOCH = "00000000"
"""If the row is missing: some program has deleted it."""


def read_epoch(conn: Connection) -> str:
    """Return the epoch that this transaction reads."""
    return conn.scalar(select(t.epoch.c.epoch)) or UNKNOWN_EPOCH


def replace_epoch(conn: Connection, known: str) -> bool:
    """Give the database a new epoch in place of this one; False if it has another one. The caller holds the head."""
    replaced = conn.execute(
        update(t.epoch).where(t.epoch.c.epoch == known).values(epoch=secrets.token_hex(4))
    )
    return replaced.rowcount == 1


def revision_of(epoch: str, seq: int) -> str:
    """Return the text of a revision: the epoch and the number of the last change."""
    return f"{epoch}:{seq}"
