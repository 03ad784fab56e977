# SPDX-License-Identifier: Apache-2.0

"""Prune old changes from the change log, in small transactions of a background thread, so that no write waits."""

from __future__ import annotations

import contextlib
import logging
import threading

from plimsoll.ledger.batch import Batch
from plimsoll.storage import changes
from plimsoll.storage.database import Database
from plimsoll.storage.errors import DatabaseFault

LOG = logging.getLogger(__name__)

PRUNE_INTERVAL = 500
"""After so many changes the change log is pruned."""
PRUNE_BATCH = 200
"""Changes that are deleted in one transaction, at most."""


class Pruner:
    """Keeps the newest `keep` changes of the change log."""

    def __init__(self, database: Database, keep: int) -> None:
        self._database = database
        self._keep = keep
        self._running = threading.Lock()

    def on_commit(self, batch: Batch) -> None:
        """Start the thread if this batch has completed the next interval."""
        last = batch.snapshot.head.seq
        if last % PRUNE_INTERVAL < len(batch.log) and last > self._keep:
            # A committed write must not fail because no thread can be started: a later commit tries again.
            with contextlib.suppress(RuntimeError):
                threading.Thread(
                    target=self.prune, args=(last - self._keep,), name="change log", daemon=True
                ).start()

    def prune(self, up_to: int) -> None:
        """Delete the changes up to this number. Return at once if another thread is pruning."""
        if not self._running.acquire(blocking=False):
            return
        fault: DatabaseFault | None = None
        try:
            while self._prune_batch(up_to):
                pass
        except DatabaseFault as failed:
            fault = failed
        finally:
            self._running.release()
        if fault is not None:
            self._database.outage.note_failure(fault, write=True)
            LOG.debug("The change log was not pruned, a later commit tries again: %s", fault)

    def _prune_batch(self, up_to: int) -> int:
        # No process reads these changes, so the head need not be locked.
        with self._database.transaction() as transaction:
            pruned = changes.prune(transaction.connection, up_to, PRUNE_BATCH)
            transaction.commit()
            return pruned
