# SPDX-License-Identifier: Apache-2.0

"""The current snapshot of a process: reads follow the change log up to the head, commits publish a new snapshot."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection

from plimsoll.ledger.follow import CHANGES_PER_READ, MAX_FOLLOWED_CHANGES, advance, follow
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
MOSTLY, LAST_READ_WEIGHT = 0.5, 0.1
"""The share of stale reads above which reads are not optimistic, and the weight of the last read in this share."""


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

        The first call sends the query for the head, if `start` did not, unless a commit is about to replace the newest
        snapshot. While nearly every snapshot in memory is stale, the first call waits for one that is current.
        """
        if self._snapshot is None:
            self.start()
        if self._snapshot is None:
            current = self._current
            self._snapshot = current.caught_up() if current.is_mostly_stale else current.snapshot()
        return self._snapshot

    def start(self) -> None:
        """Send the query for the head, so that its result arrives while other work is done."""
        current = self._current
        if not (current.is_mostly_stale or current.publish_lock.locked()):
            self._base_head = current.newest.head
            self._head_query = current.database.start_head_query()
            self._snapshot = current.newest

    def confirm(self) -> bool:
        """True if the snapshot was current when the read began. If not, replace it with one that is."""
        if self._snapshot is None or self._head_query is None:
            return True
        head = self._head_query()
        is_current = head == self._snapshot.head  # later writes were committed after the read began
        self._current.note_read(is_stale=not is_current)
        if is_current:
            return True
        self._snapshot = self._current.at_least(head, self._base_head)
        return False


class CurrentSnapshot:
    """Holds the newest snapshot of this process. Every method may be called from any thread."""

    def __init__(
        self,
        database: Database,
        runtime: Runtime,
        responses: ResponseCache,
        metrics: Metrics,
        *,
        bulk_follow: bool = True,
    ) -> None:
        self.database = database
        self._runtime = runtime
        self._metrics = metrics
        self._in_bulk = bulk_follow
        self._responses = responses
        self._semantics = database.semantics()
        self._renewer = EpochRenewer(database)
        self._stale_share = 0.0
        """The share of reads for which memory was stale: a moving average."""
        self._current_at = float("-inf")
        """The newest snapshot contains every write that was committed before this time of the monotonic clock."""
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
            self._acquire_publish_lock()
            try:
                if not self.newest.contains(head, since):
                    before = self.newest
                    self._catch_up()
                    if self.newest is before:  # the change log does not have what the head shows
                        self.publish(self.database.run_read(self._follow_head))
            finally:
                self.publish_lock.release()
        return self.newest

    def caught_up(self) -> Snapshot:
        """Return the same as `snapshot`, by a query of the change log: one round trip if there are changes to follow.

        Reads that wait at the same time share one query.
        """
        called = time.monotonic()
        self._acquire_publish_lock()
        try:
            if self._current_at < called:
                before = self.newest
                self._catch_up()
                self.note_read(is_stale=self.newest is not before)
            return self.newest
        finally:
            self.publish_lock.release()

    @property
    def is_mostly_stale(self) -> bool:
        """True if other processes write so often that a read of the newest snapshot would mostly be repeated."""
        return self._stale_share > MOSTLY

    def note_read(self, *, is_stale: bool) -> None:
        self._stale_share += (is_stale - self._stale_share) * LAST_READ_WEIGHT

    def _catch_up(self) -> None:
        """Publish a snapshot that contains every write committed before this call. The caller holds `publish_lock`."""
        began = time.monotonic()
        self.publish(self._follow_log() or self.database.run_read(self._follow_head), began)

    def _acquire_publish_lock(self) -> None:
        if not self.publish_lock.acquire(timeout=COMMIT_SECONDS):
            raise Busy(f"A commit has been under way for {COMMIT_SECONDS} s.")

    def publish(self, snapshot: Snapshot, current_at: float = float("-inf")) -> None:
        """Make this the newest snapshot. The caller holds `publish_lock`.

        It contains every write that was committed before `current_at`.
        """
        assert self.publish_lock.locked()
        # A full load may lead back: the database was restored to an earlier state.
        assert snapshot.head.seq >= self.newest.head.seq or snapshot.origin is not self.newest.origin
        self.newest = snapshot
        self._current_at = max(self._current_at, current_at)

    def at_head(self, conn: Connection, head: Head) -> Snapshot:
        """Return the snapshot at the head that this transaction has locked."""
        before = self.newest
        if head == before.head:
            return before
        began = time.monotonic()
        followed = follow(conn, before, head, self._runtime, in_bulk=self._in_bulk)
        self._report(before, followed, began)
        # The same epoch with another history: the database was restored from a backup of this one.
        if (
            followed.origin is not before.origin
            and followed.origin.epoch == before.origin.epoch
            and changes.is_other_history(conn, before.head, head)
        ):
            self._renewer.start(before.origin.epoch)
        return followed

    def after_changes(self, rows: Sequence[Sequence[Any]], head: Head) -> Snapshot | None:
        """Return the snapshot at this head, by rows of `changes.log_query` that were read together with it.

        None if the rows do not lead from the newest snapshot to this head.
        """
        before, began = self.newest, time.monotonic()
        # A read may have published a newer snapshot since the query was sent.
        followed = advance(
            before, [row for row in rows if row[0] >= before.head.seq], self._runtime, in_bulk=self._in_bulk
        )
        if followed is None or followed.head != head:
            return None
        self._report(before, followed, began)
        return followed

    def _follow_log(self) -> Snapshot | None:
        """Return the snapshot after all changes of the change log, by one query without a transaction.

        None if they cannot be followed: the caller then compares with the head.
        """
        before, began = self.newest, time.monotonic()
        followed: Snapshot | None = before
        is_complete = False
        while followed is not None and not is_complete:
            rows = self.database.select(changes.log_query(followed.head, CHANGES_PER_READ))
            is_complete = len(rows) <= CHANGES_PER_READ
            followed = advance(followed, rows, self._runtime, in_bulk=self._in_bulk)
            if followed is not None and followed.head.seq - before.head.seq > MAX_FOLLOWED_CHANGES:
                return None
        if followed is not None and followed is not before:
            self._report(before, followed, began)
        return followed

    def _report(self, before: Snapshot, followed: Snapshot, began: float) -> None:
        seconds = time.monotonic() - began
        if followed.origin is before.origin:
            self._metrics.changes_followed(followed.head.seq - before.head.seq, seconds)
        else:
            self._metrics.full_load_done(seconds)

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
