# SPDX-License-Identifier: Apache-2.0

"""Follow the change log: bring a snapshot up to the head, by the changes of other processes or by a full load."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from plimsoll.domain.bulk_claims import BulkClaims
from plimsoll.domain.effects import Reload
from plimsoll.domain.world import World
from plimsoll.ledger import change_codec
from plimsoll.ledger.full_load import load_snapshot
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.runtime.base import Runtime
from plimsoll.storage import changes
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.head import Head

LOG = logging.getLogger(__name__)

MAX_FOLLOWED_CHANGES = 20_000
"""After more missed changes than this, a full load is faster than applying them one by one."""
CHANGES_PER_READ = 500
"""Changes that one query reads. Each has at most 256 KB, most have 700 bytes."""


def follow(
    conn: Connection, snapshot: Snapshot, head: Head, runtime: Runtime, *, in_bulk: bool = True
) -> Snapshot:
    """Return the snapshot at this head, within the connection's transaction."""
    if head == snapshot.head:
        return snapshot
    followed: Snapshot | None = snapshot
    if 0 < head.seq - snapshot.head.seq <= MAX_FOLLOWED_CHANGES:
        while followed is not None and followed.head.seq < head.seq:
            before, query = followed, changes.log_query(followed.head, CHANGES_PER_READ)
            followed = advance(before, conn.exec_driver_sql(query.sql).all(), runtime, in_bulk=in_bulk)
            if followed is before:  # the log ends before the head
                break
    if followed is not None and followed.head == head:
        return followed
    LOG.info(
        "Full load of the database: the change log cannot be followed from change %s to change %s",
        snapshot.head.seq,
        head.seq,
    )
    return load_snapshot(conn, head, snapshot.world.semantics, snapshot.responses.empty(), runtime)


def advance(
    snapshot: Snapshot, rows: Sequence[Sequence[Any]], runtime: Runtime, *, in_bulk: bool = True
) -> Snapshot | None:
    """Return the snapshot after the changes in these rows of `changes.log_query`.

    None if they do not continue this snapshot, contain a Reload, or cannot be applied. If the rows end within a batch, so
    does the snapshot: it must not be published.
    """
    missed = changes.missed_changes(rows, snapshot.head)
    if missed is None:
        return None
    if not missed.effects:
        return snapshot
    pause = runtime.periodic_yield()
    try:
        apply = _apply_in_bulk if in_bulk else _apply_each
        applied = apply(snapshot.world, missed.effects, pause)
    except DatabaseFault:
        raise
    except Exception:
        last = snapshot.head.seq + len(missed.effects)
        LOG.exception("Changes %s to %s do not fit the snapshot in memory", snapshot.head.seq + 1, last)
        return None
    return None if applied is None else snapshot.advanced(missed.heads, *applied)


def _apply_in_bulk(
    world: World, lines: Iterable[str], pause: Callable[[], None]
) -> tuple[World, set[str]] | None:
    """Return the world after these lines of the change log, and the changed providers; None after a Reload.

    Consecutive claims are applied together.
    """
    touched: set[str] = set()
    claims: BulkClaims | None = None
    for line in lines:
        entries = change_codec.parse(line)
        if change_codec.are_claims(entries):
            claims = claims or BulkClaims(world)
            change_codec.collect_claims(entries, claims)
        else:
            if claims is not None:
                world, changed = claims.apply()
                claims = None
                touched |= changed
            applied = _apply_each(world, (line,), pause)
            if applied is None:
                return None
            world, changed = applied
            touched |= changed
        pause()
    if claims is not None:
        world, changed = claims.apply()
        touched |= changed
    return world, touched


def _apply_each(
    world: World, lines: Iterable[str], pause: Callable[[], None]
) -> tuple[World, set[str]] | None:
    """Return the same as `_apply_in_bulk`, applying one effect after the other."""
    touched: set[str] = set()
    for line in lines:
        for effect in change_codec.decode(line):
            if isinstance(effect, Reload):
                return None
            touched.update(effect.providers(world))
            world = effect.apply(world)
            pause()
    return world, touched
