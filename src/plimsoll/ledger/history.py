# SPDX-License-Identifier: Apache-2.0

"""The world as of an earlier change: the newest one, with the later changes of the log undone."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from plimsoll.domain.reversal import NotReversible, undo
from plimsoll.domain.values import value
from plimsoll.domain.world import World
from plimsoll.ledger.change_codec import decode
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.storage import changes

LINES_PER_READ = 1_000
"""Lines of the change log that are read at a time."""


@value
class HistoryTooShort:
    """The change log does not reach back to the requested change."""

    lowest: int
    """The earliest change of which the world can still be computed."""


def world_at(
    conn: Connection, snapshot: Snapshot, seq: int, pause: Callable[[], None] = lambda: None
) -> World | HistoryTooShort:
    """Return the world right after the change with this number. `snapshot` is at the head of the connection's transaction.

    Costs time in proportion to the number of changes since then. Calls `pause` after each of them.
    """
    assert 0 <= seq <= snapshot.head.seq
    world, reached = snapshot.world, snapshot.head.seq
    while reached > seq:
        lines = changes.before(conn, reached, min(LINES_PER_READ, reached - seq))
        for number, text in lines:
            if number != reached:
                return HistoryTooShort(reached)  # the lines before were pruned
            try:
                for effect in reversed(decode(text)):
                    world = undo(effect, world)
            except NotReversible:
                return HistoryTooShort(reached)
            reached -= 1
            pause()
        if not lines:
            return HistoryTooShort(reached)
    return world
