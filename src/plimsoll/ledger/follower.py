# SPDX-License-Identifier: Apache-2.0

"""Brings a snapshot up to a head that others have moved: change by change, or by reading all anew."""

from __future__ import annotations

import logging

from sqlalchemy import Connection

from plimsoll.domain.effects import Reload
from plimsoll.ledger.history import decode
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.load import load_world

LOG = logging.getLogger(__name__)

RELOAD_BEYOND = 20_000
"""Who missed more changes than this reads everything: that is faster than to apply them one by one."""


def follow(conn: Connection, snapshot: Snapshot, head: int) -> Snapshot:
    """The snapshot at this head, as the connection's transaction sees it."""
    if head == snapshot.seq:
        return snapshot
    missed = _missed(conn, snapshot.seq, head)
    followed = None if missed is None else _apply(missed, snapshot)
    if followed is None:
        LOG.info(
            "Reading the world anew: this process is at change %s, the database at %s", snapshot.seq, head
        )
        return Snapshot.of(head, load_world(conn))
    return followed


def _missed(conn: Connection, seq: int, head: int) -> list[Change] | None:
    """All changes between two, or None if the log does not have them (pruned, restored, too many)."""
    if not 0 < head - seq <= RELOAD_BEYOND:
        return None
    found = changes.since(conn, seq, most=head - seq)
    return found if [change.seq for change in found] == list(range(seq + 1, head + 1)) else None


def _apply(missed: list[Change], snapshot: Snapshot) -> Snapshot | None:
    """The snapshot after these changes, or None if they do not tell all, or do not fit what memory holds."""
    try:
        effects = [effect for change in missed for effect in decode(change.effects)]
        if any(isinstance(effect, Reload) for effect in effects):
            return None
        return snapshot.after(missed[-1].seq, effects)
    except Exception:
        LOG.exception("Changes %s to %s do not fit what is in memory", missed[0].seq, missed[-1].seq)
        return None
