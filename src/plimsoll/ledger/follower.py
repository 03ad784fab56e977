# SPDX-License-Identifier: Apache-2.0

"""Brings a snapshot up to a head that others have moved: change by change, or by reading all anew."""

from __future__ import annotations

import logging

from sqlalchemy import Connection

from plimsoll.domain.effects import Effect, Reload
from plimsoll.ledger.history import decode
from plimsoll.ledger.snapshot import Snapshot, replay
from plimsoll.storage import changes
from plimsoll.storage.load import load_world

LOG = logging.getLogger(__name__)

RELOAD_BEYOND = 20_000
"""Who missed more changes than this reads everything: that is faster than to apply them one by one."""


def follow(conn: Connection, snapshot: Snapshot, head: int) -> Snapshot:
    """The snapshot at this head, as the connection's transaction sees it."""
    if head == snapshot.seq:
        return snapshot
    effects = _missed(conn, snapshot.seq, head)
    if effects is None:
        LOG.info(
            "Reading the world anew: this process is at change %s, the database at %s", snapshot.seq, head
        )
        return Snapshot.of(head, load_world(conn))
    touched: set[str] = set()
    world = replay(snapshot.world, effects, touched)
    return snapshot.advanced(head, world, touched)


def _missed(conn: Connection, seq: int, head: int) -> list[Effect] | None:
    """All effects between two changes, or None if the log does not tell (pruned, restored, too many)."""
    if not 0 < head - seq <= RELOAD_BEYOND:
        return None
    found = changes.since(conn, seq, most=head - seq)
    if [change.seq for change in found] != list(range(seq + 1, head + 1)):
        return None
    effects = [effect for change in found for effect in decode(change.effects)]
    return None if any(isinstance(effect, Reload) for effect in effects) else effects
