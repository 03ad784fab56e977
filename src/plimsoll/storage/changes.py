# SPDX-License-Identifier: Apache-2.0

"""The head and the change log: the order of all writes, and what each of them changed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Dialect, delete, func, select

from plimsoll.domain.actor import Actor
from plimsoll.domain.values import value
from plimsoll.storage import tables as t
from plimsoll.storage.head import BEGINNING, Head, moving
from plimsoll.storage.sql import (
    Columns,
    Row,
    Statement,
    insertion,
    written,
)

_HEAD = select(t.head.c.seq, t.head.c.mark).where(t.head.c.id == 1)
_LOCK_HEAD = _HEAD.with_for_update()
_C = t.changes.c
_WRITTEN = Columns(
    t.changes, ("seq", "mark", "at", "request_id", "user_id", "project_id", "operation", "effects")
)

LONGEST_LINES = 256 << 10
"""Bytes of effects that one statement writes, unless a single line is longer."""


@value
class Change:
    """One committed write. `effects` is the text that `ledger.history` makes and reads."""

    seq: int
    at: datetime
    actor: Actor
    operation: str
    effects: str


def new_mark() -> int:
    """A number that no other write has. Nobody has to be kept from guessing it."""
    return random.getrandbits(63)


def read_head(conn: Connection) -> Head:
    """The head as this transaction sees it."""
    return Head(*conn.execute(_HEAD).one())


def lock_head(conn: Connection) -> Head:
    """Takes the head for this transaction: whoever holds it is the only writer there is."""
    return Head(*conn.execute(_LOCK_HEAD).one())


def append(conn: Connection, changes: Sequence[Change], before: Head, mark: int) -> Head:
    """Writes changes to the log and moves the head, which this transaction holds, to the last of them."""
    for statement in appending(conn.dialect, changes, before, mark):
        conn.exec_driver_sql(statement.sql, tuple(statement.values))
    return Head(changes[-1].seq, mark)


def appending(dialect: Dialect, changes: Sequence[Change], before: Head, mark: int) -> list[Statement]:
    """The statements that move the head to the last of these changes, and write them to the log.

    The first of them fails if the head is not any more where it was before.
    """
    rows: list[Row] = [
        (
            change.seq,
            mark,
            written(dialect, change.at),
            change.actor.request_id,
            change.actor.user,
            change.actor.project,
            change.operation,
            change.effects,
        )
        for change in changes
    ]
    move = Statement(moving(before, Head(changes[-1].seq, mark)))
    return [move, *(each for some in _by_length(rows) for each in insertion(dialect, _WRITTEN, some))]


def _by_length(rows: list[Row]) -> list[list[Row]]:
    """Split rows so that those of one statement have at most LONGEST_LINES bytes of effects, or are one row."""
    lengths = [_most_bytes(row[-1]) for row in rows]
    if sum(lengths) <= LONGEST_LINES:
        return [rows]
    parts: list[list[Row]] = [[]]
    room = LONGEST_LINES
    for row, length in zip(rows, lengths, strict=True):
        if length > room and parts[-1]:
            parts.append([])
            room = LONGEST_LINES
        parts[-1].append(row)
        room -= length
    return parts


def _most_bytes(text: str) -> int:
    """An upper bound of a text's bytes in UTF-8, which costs nothing to calculate."""
    return len(text) if text.isascii() else 4 * len(text)


def since(conn: Connection, seq: int, most: int) -> list[Change]:
    """The changes after this one, oldest first, at most so many."""
    rows = conn.execute(
        select(_C.seq, _C.at, _C.user_id, _C.project_id, _C.request_id, _C.operation, _C.effects)
        .where(_C.seq > seq)
        .order_by(_C.seq)
        .limit(most)
    )
    return [Change(row[0], row[1], Actor(*row[2:5]), row[5], row[6]) for row in rows]


def effects_after(conn: Connection, place: Head, head: Head) -> list[str] | None:
    """The effects of each change after a place up to the head; None if the log does not lead from one to the other."""
    rows = conn.execute(
        select(_C.seq, _C.mark, _C.effects).where(_C.seq >= place.seq, _C.seq <= head.seq).order_by(_C.seq)
    ).all()
    if place != BEGINNING:
        if not rows or (rows[0].seq, rows[0].mark) != place:
            return None
        rows = rows[1:]
    numbers = [row.seq for row in rows]
    return [row.effects for row in rows] if numbers == list(range(place.seq + 1, head.seq + 1)) else None


def is_there(conn: Connection, place: Head) -> bool | None:
    """Whether a write with this mark was committed at this place; None if the log does not say any more."""
    mark = conn.scalar(select(_C.mark).where(_C.seq == place.seq))
    if mark is not None:
        return bool(mark == place.mark)
    oldest = conn.scalar(select(func.min(_C.seq)))
    return None if oldest is not None and oldest > place.seq else False


def prune(conn: Connection, up_to: int, most: int) -> int:
    """Forgets old changes up to this one, at most so many at once; returns how many are gone."""
    oldest = conn.execute(select(func.min(_C.seq))).scalar()
    if oldest is None or oldest > up_to:
        return 0
    return conn.execute(delete(t.changes).where(_C.seq <= min(up_to, oldest + most - 1))).rowcount
