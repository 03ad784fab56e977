# SPDX-License-Identifier: Apache-2.0

"""The current snapshot of a process: reads follow the change log up to the head, commits publish a new snapshot."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy import Connection

from plimsoll.ledger.follow import follow
from plimsoll.ledger.full_load import load_snapshot
from plimsoll.ledger.response_cache import ResponseCache
from plimsoll.ledger.restores import EpochRenewer
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.metrics import Metrics
from plimsoll.runtime.base import Runtime
from plimsoll.storage import changes
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from plimsoll.storage.head import Head

LOG = logging.getLogger(__name__)

COMMIT_SECONDS = 60
"""How long a read waits for the snapshot of a commit in flight."""


class OptimisticRead:
    """A read of the newest snapshot in memory, while a query for the head of the database is in flight.

    If `confirm` finds that the head has moved, the caller repeats its computation on the newer snapshot.
    """

    __slots__ = ("_base_head", "_current", "_head_query", "_snapshot")

    def __init__(self, current: CurrentSnapshot) -> None:
        self._current = current
        self._snapshot: Snapshot | None = None
        self._head_query: Callable[[], Head] | None = None

    def snapshot(self) -> Snapshot:
        """Return the snapshot of this read: always the same one until `confirm`.

        The first call sends the query for the head, unless a commit is about to replace the newest snapshot.
        """
        if self._snapshot is None:
            current = self._current
            if current.publish_lock.locked():
                self._snapshot = current.snapshot()
            else:
                self._base_head = current.newest.head
                self._head_query = current.database.start_head_query()
                self._snapshot = current.newest
        return self._snapshot

    def confirm(self) -> bool:
        """True if the snapshot was current when the read began. If not, replace it with one that is."""
        if self._snapshot is None or self._head_query is None:
            return True
        head = self._head_query()
        if head == self._snapshot.head:  # later writes were committed after the read began
            return True
        self._snapshot = self._current.at_least(head, self._base_head)
        return False


class CurrentSnapshot:
    """Holds the newest snapshot of this process. Every method may be called from any thread."""

    def __init__(
        self, database: Database, runtime: Runtime, responses: ResponseCache, metrics: Metrics
    ) -> None:
        self.database = database
        self._runtime = runtime
        self._metrics = metrics
        self._responses = responses
        self._semantics = database.semantics()
        self._renewer = EpochRenewer(database)
        self.publish_lock = threading.Lock()
        """Held while the newest snapshot is being replaced. Readers that see a newer head wait for it, instead of
        following the change log themselves."""
        self.newest = self._load()
        """The newest snapshot in memory. Other processes may have written since. Replaced only under `publish_lock`."""

    def snapshot(self) -> Snapshot:
        """Return a snapshot that contains every write committed before this call, by any process."""
        since = self.newest.head
        return self.at_least(self.database.head(), since)

    def at_least(self, head: Head, since: Head) -> Snapshot:
        """Return a snapshot at this head or a later one. `since` is the newest head in memory before it was read."""
        if not self.newest.contains(head, since):
            # If a commit of this process has moved the head, its snapshot is published before the lock is free.
            if not self.publish_lock.acquire(timeout=COMMIT_SECONDS):
                raise Busy(f"A commit has been under way for {COMMIT_SECONDS} s.")
            try:
                if not self.newest.contains(head, since):
                    self.publish(self.database.run_read(self._follow_head))
            finally:
                self.publish_lock.release()
        return self.newest

    def publish(self, snapshot: Snapshot) -> None:
        """Make this the newest snapshot. The caller holds `publish_lock`."""
        assert self.publish_lock.locked()
        # A full load may lead back: the database was restored to an earlier state.
        assert snapshot.head.seq >= self.newest.head.seq or snapshot.origin is not self.newest.origin
        self.newest = snapshot

    def at_head(self, conn: Connection, head: Head) -> Snapshot:
        """Return the snapshot at the head that this transaction has locked."""
        before = self.newest
        if head == before.head:
            return before
        began = time.monotonic()
        followed = follow(conn, before, head, self._runtime)
        seconds = time.monotonic() - began
        if followed.origin is before.origin:
            self._metrics.changes_followed(head.seq - before.head.seq, seconds)
        else:
            self._metrics.full_load_done(seconds)
            # The same epoch with another history: the database was restored from a backup of this one.
            if followed.origin.epoch == before.origin.epoch and changes.is_other_history(
                conn, before.head, head
            ):
                self._renewer.start(before.origin.epoch)
        return followed

    def reload(self) -> None:
        """Load the whole database and publish the result."""
        with self.publish_lock:
            self.publish(self._load())

    def _follow_head(self, conn: Connection) -> Snapshot:
        return self.at_head(conn, changes.read_head(conn))

    def _load(self) -> Snapshot:
        return self.database.run_read(self._load_snapshot)

    def _load_snapshot(self, conn: Connection) -> Snapshot:
        LOG.info("Full load of the database at %s", self.database.where)
        began = time.monotonic()
        head = changes.read_head(conn)
        loaded = load_snapshot(conn, head, self._semantics, self._responses.empty(), self._runtime)
        self._metrics.full_load_done(time.monotonic() - began)
        return loaded
