# SPDX-License-Identifier: Apache-2.0

"""Full load: read the whole database into a snapshot, at the start and when the change log cannot be followed."""

from __future__ import annotations

import logging
import time

from sqlalchemy import Connection

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.ledger.response_cache import ResponseCache
from plimsoll.ledger.snapshot import Origin, Snapshot
from plimsoll.runtime.base import Runtime
from plimsoll.storage.epoch import read_epoch
from plimsoll.storage.head import Head
from plimsoll.storage.load import load_world

LOG = logging.getLogger(__name__)


def load_snapshot(
    conn: Connection, head: Head, semantics: DatabaseSemantics, responses: ResponseCache, runtime: Runtime
) -> Snapshot:
    """Return the snapshot at this head, within the connection's transaction."""
    began = time.monotonic()
    world, has_allocations_without_consumer = load_world(conn, semantics, runtime.yield_now)
    read = time.monotonic()
    origin = Origin(has_allocations_without_consumer, read_epoch(conn))
    snapshot = Snapshot.of(head, world, origin, responses)
    LOG.info(
        "%s providers at change %s: read in %.1f s, indexed in %.1f s",
        len(world.providers),
        head.seq,
        read - began,
        time.monotonic() - read,
    )
    return snapshot
