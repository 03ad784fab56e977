# SPDX-License-Identifier: Apache-2.0

"""Prune old changes from the change log, in small transactions of a background thread, so that no write waits."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from datetime import timedelta

from plimsoll.domain.values import value
from plimsoll.ledger.batch import Batch
from plimsoll.storage import changes
from plimsoll.storage.database import Database
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.sql import utc_now

LOG = logging.getLogger(__name__)

PRUNE_INTERVAL = 500
"""After so many changes the change log is pruned."""
AGE_INTERVAL_SECONDS = 600.0
"""After so many seconds it is pruned by age, at the next commit."""
PRUNE_BATCH = 200
"""Changes that are deleted in one transaction, at most."""
KEPT_AT_ANY_AGE = 1_000
"""Changes that stay however old they are: other workers follow the log from their last change on."""


@value
class Retention:
    """What the change log keeps."""

    changes: int = 100_000
    age: timedelta | None = None
    """None for any age."""


class Pruner:
    """Keeps the newest changes of the change log."""

    def __init__(self, database: Database, retention: Retention) -> None:
        self._database = database
        self._retention = retention
        self._running = threading.Lock()
        self._pruned_by_age = 0.0
        """When changes were pruned by their age."""

    def on_commit(self, batch: Batch) -> None:
        """Start the thread if this batch has completed the next interval."""
        last = batch.snapshot.head.seq
        is_long = last % PRUNE_INTERVAL < len(batch.log) and last > self._retention.changes
        if is_long or self._is_old(last):
            # A committed write must not fail because no thread can be started: a later commit tries again.
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=self.prune, args=(last,), name="change log", daemon=True).start()

    def _is_old(self, last: int) -> bool:
        """True if it is time to prune by age."""
        if self._retention.age is None or last <= KEPT_AT_ANY_AGE:
            return False
        now = time.monotonic()
        if now - self._pruned_by_age < AGE_INTERVAL_SECONDS:
            return False
        self._pruned_by_age = now
        return True

    def prune(self, last: int) -> None:
        """Delete the changes that are not kept if `last` is the newest one. Return at once if another thread is pruning."""
        if not self._running.acquire(blocking=False):
            return
        fault: DatabaseFault | None = None
        try:
            while self._prune_batch(last):
                pass
        except DatabaseFault as failed:
            fault = failed
        finally:
            self._running.release()
        if fault is not None:
            self._database.outage.note_failure(fault, write=True)
            LOG.debug("The change log was not pruned, a later commit tries again: %s", fault)

    def _prune_batch(self, last: int) -> int:
        # Followers that are so far behind read everything again, so the head need not be locked.
        with self._database.transaction() as transaction:
            conn = transaction.connection
            up_to = last - self._retention.changes
            if self._retention.age is not None:
                before = utc_now() - self._retention.age
                old = changes.last_of_oldest(conn, before, PRUNE_BATCH)
                up_to = max(up_to, min(old, last - KEPT_AT_ANY_AGE))
            pruned = changes.prune(conn, up_to, PRUNE_BATCH)
            transaction.commit()
            return pruned
