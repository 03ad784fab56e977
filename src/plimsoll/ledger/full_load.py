# SPDX-License-Identifier: Apache-2.0

"""Reads the whole database into a snapshot: at the start, and when following change by change will not do."""

from __future__ import annotations

import logging
import time

from sqlalchemy import Connection

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.ledger.snapshot import Origin, Snapshot
from plimsoll.storage.head import Head
from plimsoll.storage.load import load_world

LOG = logging.getLogger(__name__)


def read_all(conn: Connection, head: Head, keeping: DatabaseSemantics) -> Snapshot:
    """The snapshot at this head, as the connection's transaction sees it."""
    began = time.monotonic()
    world, has_unrecorded = load_world(conn, keeping)
    read = time.monotonic()
    snapshot = Snapshot.of(head, world, Origin(has_unrecorded))
    LOG.info(
        "%s providers at change %s: read in %.1f s, indexed in %.1f s",
        len(world.providers),
        head.seq,
        read - began,
        time.monotonic() - read,
    )
    return snapshot
