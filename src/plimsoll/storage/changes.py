# SPDX-License-Identifier: Apache-2.0

"""The head and the change log: the order of all writes, and the effects of each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Dialect, Select, delete, func, select

from plimsoll.domain.actor import Actor
from plimsoll.domain.values import value
from plimsoll.storage import tables as t
from plimsoll.storage.head import BEGINNING, QUERY, Head, move_head_sql
from plimsoll.storage.sql import Columns, Row, Statement, format_time, insert_rows

_C = t.changes.c
_CHANGE_COLUMNS = Columns(
    t.changes,
    ("seq", "mark", "at", "request_id", "global_request_id", "user_id", "project_id", "operation", "effects"),
)

MAX_EFFECT_BYTES = 256 << 10
"""Maximum bytes of effects in one statement, unless a single change is longer."""


@value
class Change:
    """One committed write. `effects` is the text that the ledger encodes and decodes."""

    seq: int
    at: datetime
    actor: Actor
    operation: str
    effects: str


def new_mark() -> int:
    """Return a random number that identifies a write. It needs not be secret."""
    return random.getrandbits(63)


def read_head(conn: Connection) -> Head:
    """Return the head that this transaction reads."""
    return Head(*conn.exec_driver_sql(QUERY).one())


def append_statements(
    dialect: Dialect, changes: Sequence[Change], before: Head, mark: int
) -> list[Statement]:
    """Return the statements that move the head to the last of these changes and write them to the log.

    The first statement fails if the head is no longer `before`.
    """
    rows: list[Row] = [
        (
            change.seq,
            mark,
            format_time(dialect, change.at),
            change.actor.request_id,
            change.actor.global_request_id,
            change.actor.user,
            change.actor.project,
            change.operation,
            change.effects,
        )
        for change in changes
    ]
    move = Statement(move_head_sql(before, Head(changes[-1].seq, mark)))
    return [
        move,
        *(each for some in _by_length(rows) for each in insert_rows(dialect, _CHANGE_COLUMNS, some)),
    ]


def _by_length(rows: list[Row]) -> list[list[Row]]:
    """Split rows into groups of at most MAX_EFFECT_BYTES bytes of effects; a longer row is a group of its own."""
    lengths = [_max_bytes(row[-1]) for row in rows]
    if sum(lengths) <= MAX_EFFECT_BYTES:
        return [rows]
    parts: list[list[Row]] = [[]]
    room = MAX_EFFECT_BYTES
    for row, length in zip(rows, lengths, strict=True):
        if length > room and parts[-1]:
            parts.append([])
            room = MAX_EFFECT_BYTES
        parts[-1].append(row)
        room -= length
    return parts


def _max_bytes(text: str) -> int:
    """Return an upper bound of the length in UTF-8, without encoding the text."""
    return len(text) if text.isascii() else 4 * len(text)


def since(conn: Connection, seq: int, limit: int) -> list[Change]:
    """Return at most `limit` changes after number `seq`, oldest first."""
    return [each.change for each in logged_after(conn, seq, limit)]


@value
class LoggedChange:
    """A change as read from the log, with the mark of its write."""

    change: Change
    mark: int


_LOGGED = select(
    _C.seq,
    _C.at,
    _C.user_id,
    _C.project_id,
    _C.request_id,
    _C.global_request_id,
    _C.operation,
    _C.effects,
    _C.mark,
)


def logged_after(conn: Connection, seq: int, limit: int) -> list[LoggedChange]:
    """Return at most `limit` changes after number `seq`, oldest first."""
    return _logged(conn, _LOGGED.where(_C.seq > seq).order_by(_C.seq).limit(limit))


def logged_before(conn: Connection, seq: int, limit: int) -> list[LoggedChange]:
    """Return at most `limit` changes before number `seq`, newest first."""
    return _logged(conn, _LOGGED.where(_C.seq < seq).order_by(_C.seq.desc()).limit(limit))


def _logged(conn: Connection, query: Select[Any]) -> list[LoggedChange]:
    return [
        LoggedChange(Change(row[0], row[1], Actor(*row[2:6]), row[6], row[7]), row[8])
        for row in conn.execute(query)
    ]


def mark_of(conn: Connection, seq: int) -> int | None:
    """Return the mark of a change; None if the log does not have it."""
    mark: int | None = conn.scalar(select(_C.mark).where(_C.seq == seq))
    return mark


def is_other_history(conn: Connection, position: Head, head: Head) -> bool:
    """True if the database is at another history than the one with this position. False if that is unknown."""
    if head.seq <= position.seq:
        return head != position
    mark = mark_of(conn, position.seq)
    return mark is not None and mark != position.mark


def oldest(conn: Connection) -> int | None:
    """Return the number of the oldest change in the log."""
    number: int | None = conn.scalar(select(func.min(_C.seq)))
    return number


def log_query(position: Head, limit: int) -> Statement:
    """Return the query for the changes after a position, at most `limit` of them. `missed_changes` reads its result.

    Its first row is that of the position itself, without effects. The query needs no transaction: one statement reads one
    committed state, in which the last change is at the head.
    """
    return Statement(
        f"SELECT seq, mark, CASE WHEN seq > {position.seq:d} THEN effects END FROM plimsoll_changes"  # noqa: S608
        f" WHERE seq >= {position.seq:d} ORDER BY seq LIMIT {limit + 1:d}"
    )


class Missed(NamedTuple):
    """Changes of other processes: the effects of each, and the heads that they led to."""

    effects: list[str]
    heads: list[Head]
    """The last one is the head after all of them, unless the query was limited."""


def missed_changes(rows: Sequence[Sequence[Any]], position: Head) -> Missed | None:
    """Return the changes after `position`, from the rows of `log_query`; None if the log has a gap or another history."""
    if position != BEGINNING:
        if not rows or (rows[0][0], rows[0][1]) != position:
            return None
        rows = rows[1:]
    if not rows:
        return Missed([], [])
    numbers, marks, effects = zip(*rows, strict=True)
    if numbers != tuple(range(position.seq + 1, position.seq + 1 + len(rows))):
        return None
    # All changes of one batch have the same mark.
    ends = [at for at in range(len(rows)) if at + 1 == len(rows) or marks[at] != marks[at + 1]]
    return Missed(list(effects), [Head(numbers[at], marks[at]) for at in ends])


def was_committed(conn: Connection, position: Head) -> bool | None:
    """True if a write with this mark was committed at this number; None if the log is pruned past it."""
    mark = mark_of(conn, position.seq)
    if mark is not None:
        return bool(mark == position.mark)
    first = oldest(conn)
    return None if first is not None and first > position.seq else False


def last_of_oldest(conn: Connection, before: datetime, limit: int) -> int:
    """Return the number of the last of the oldest changes, in a row, that were made before this time; 0 if there is none.

    At most `limit` changes are examined.
    """
    last = 0
    for seq, at in conn.execute(select(_C.seq, _C.at).order_by(_C.seq).limit(limit)):
        if at >= before:
            break
        last = seq
    return last


def prune(conn: Connection, up_to: int, limit: int) -> int:
    """Delete the oldest changes up to number `up_to`, at most `limit` of them; return the number of deleted rows."""
    first = oldest(conn)
    if first is None or first > up_to:
        return 0
    return conn.execute(delete(t.changes).where(_C.seq <= min(up_to, first + limit - 1))).rowcount
