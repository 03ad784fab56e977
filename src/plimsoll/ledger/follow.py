# SPDX-License-Identifier: Apache-2.0

"""Follow the change log: bring a snapshot up to the head, change by change or by a full load."""

from __future__ import annotations

import logging
from collections.abc import Callable

from sqlalchemy import Connection

from plimsoll.domain.effects import Effect, Reload
from plimsoll.ledger.change_codec import decode
from plimsoll.ledger.full_load import load_snapshot
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.runtime.base import Runtime
from plimsoll.storage import changes
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.head import Head

LOG = logging.getLogger(__name__)

MAX_FOLLOWED_CHANGES = 20_000
"""After more missed changes than this, a full load is faster than applying them one by one."""


def follow(conn: Connection, snapshot: Snapshot, head: Head, runtime: Runtime) -> Snapshot:
    """Return the snapshot at this head, within the connection's transaction."""
    if head == snapshot.head:
        return snapshot
    missed = _missed(conn, snapshot.head, head)
    followed = None if missed is None else _apply(missed, snapshot, head, runtime.periodic_yield())
    if followed is None:
        LOG.info(
            "Full load of the database: the change log cannot be followed from change %s to change %s",
            snapshot.head.seq,
            head.seq,
        )
        return load_snapshot(conn, head, snapshot.world.semantics, snapshot.responses.empty(), runtime)
    return followed


def _missed(conn: Connection, base: Head, head: Head) -> list[str] | None:
    """Return the effects of all changes between two heads, or None (pruned, restored, or too many)."""
    if not 0 < head.seq - base.seq <= MAX_FOLLOWED_CHANGES:
        return None
    return changes.effects_after(conn, base, head)


def _apply(missed: list[str], snapshot: Snapshot, head: Head, pause: Callable[[], None]) -> Snapshot | None:
    """Return the snapshot after these changes, or None if they contain a Reload or cannot be applied."""
    try:
        effects: list[Effect] = []
        for text in missed:
            effects += decode(text)
            pause()
        if any(isinstance(effect, Reload) for effect in effects):
            return None
        return snapshot.after(head, effects, pause)
    except DatabaseFault:
        raise
    except Exception:
        LOG.exception("Changes %s to %s do not fit the snapshot in memory", snapshot.head.seq + 1, head.seq)
        return None
