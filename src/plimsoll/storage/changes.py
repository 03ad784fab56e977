# SPDX-License-Identifier: Apache-2.0

"""The head and the change log: the order of all writes, and what each of them changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from plimsoll.domain.actor import Actor
from plimsoll.storage import tables as t

_HEAD = select(t.head.c.seq).where(t.head.c.id == 1)
_LOCK_HEAD = _HEAD.with_for_update()
_C = t.changes.c


@dataclass(frozen=True, slots=True)
class Change:
    """One committed write. `effects` is the text that `ledger.history` makes and reads."""

    seq: int
    at: datetime
    actor: Actor
    operation: str
    effects: str


def read_head(conn: Connection) -> int:
    """The sequence number of the last committed change."""
    return int(conn.execute(_HEAD).scalar_one())


def lock_head(conn: Connection) -> int:
    """Takes the head for this transaction: whoever holds it is the only writer there is."""
    return int(conn.execute(_LOCK_HEAD).scalar_one())


def append(conn: Connection, changes: Sequence[Change]) -> None:
    """Writes changes to the log and moves the head to the last of them."""
    assert changes
    conn.execute(
        insert(t.changes),
        [
            {
                "seq": change.seq,
                "at": change.at,
                "request_id": change.actor.request_id,
                "user_id": change.actor.user,
                "project_id": change.actor.project,
                "operation": change.operation,
                "effects": change.effects,
            }
            for change in changes
        ],
    )
    conn.execute(update(t.head).where(t.head.c.id == 1).values(seq=changes[-1].seq))


def since(conn: Connection, seq: int, most: int) -> list[Change]:
    """The changes after this one, oldest first, at most so many."""
    rows = conn.execute(
        select(_C.seq, _C.at, _C.user_id, _C.project_id, _C.request_id, _C.operation, _C.effects)
        .where(_C.seq > seq)
        .order_by(_C.seq)
        .limit(most)
    )
    return [Change(row[0], row[1], Actor(*row[2:5]), row[5], row[6]) for row in rows]


def prune(conn: Connection, up_to: int, most: int) -> int:
    """Forgets old changes up to this one, at most so many at once; returns how many are gone."""
    oldest = conn.execute(select(func.min(_C.seq))).scalar()
    if oldest is None or oldest > up_to:
        return 0
    return conn.execute(delete(t.changes).where(_C.seq <= min(up_to, oldest + most - 1))).rowcount
