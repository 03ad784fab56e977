# SPDX-License-Identifier: Apache-2.0

"""Brings a snapshot up to a head that others have moved: change by change, or by reading all anew."""

from __future__ import annotations

import logging

from sqlalchemy import Connection

from plimsoll.domain.effects import Effect, Reload
from plimsoll.ledger.change_codec import decode
from plimsoll.ledger.full_load import read_all
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.runtime.scheduling import Pace
from plimsoll.storage import changes
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.head import Head

LOG = logging.getLogger(__name__)

RELOAD_BEYOND = 20_000
"""Who missed more changes than this reads everything: that is faster than to apply them one by one."""


def follow(conn: Connection, snapshot: Snapshot, head: Head) -> Snapshot:
    """The snapshot at this head, as the connection's transaction sees it."""
    if head == snapshot.head:
        return snapshot
    missed = _missed(conn, snapshot.head, head)
    followed = None if missed is None else _apply(missed, snapshot, head)
    if followed is None:
        LOG.info(
            "Reading the world anew: this process is at change %s, the database at %s",
            snapshot.head.seq,
            head.seq,
        )
        return read_all(conn, head, snapshot.world.keeping)
    return followed


def _missed(conn: Connection, place: Head, head: Head) -> list[str] | None:
    """The effects of all changes between two, or None if the log does not have them (pruned, restored, too many)."""
    if not 0 < head.seq - place.seq <= RELOAD_BEYOND:
        return None
    return changes.effects_after(conn, place, head)


def _apply(missed: list[str], snapshot: Snapshot, head: Head) -> Snapshot | None:
    """The snapshot after these changes, or None if they do not tell all, or do not fit what memory holds."""
    try:
        effects: list[Effect] = []
        pause = Pace()
        for text in missed:
            effects += decode(text)
            pause()
        if any(isinstance(effect, Reload) for effect in effects):
            return None
        return snapshot.after(head, effects)
    except DatabaseFault:
        raise
    except Exception:
        LOG.exception("Changes %s to %s do not fit what is in memory", snapshot.head.seq + 1, head.seq)
        return None
