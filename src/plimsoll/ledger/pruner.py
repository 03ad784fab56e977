# SPDX-License-Identifier: Apache-2.0

"""Forgets old changes, a few at a time and beside the writes, so that none of them waits for it."""

from __future__ import annotations

import contextlib
import logging
import threading

from plimsoll.ledger.batch import Batch
from plimsoll.storage import changes
from plimsoll.storage.database import Database
from plimsoll.storage.errors import DatabaseFault

LOG = logging.getLogger(__name__)

EVERY = 500
"""After how many changes the log is looked through for old ones."""
AT_ONCE = 200
"""How many are forgotten in one transaction."""


class Pruner:
    def __init__(self, database: Database, keep: int) -> None:
        self._database = database
        self._keep = keep
        self._at_work = threading.Lock()

    def after(self, batch: Batch) -> None:
        """A batch was committed: starts work if it is time for it."""
        last = batch.snapshot.head.seq
        if last % EVERY < len(batch.log) and last > self._keep:
            # What was committed must not fail for want of a thread: the next one will do it.
            with contextlib.suppress(RuntimeError):
                threading.Thread(
                    target=self.prune, args=(last - self._keep,), name="change log", daemon=True
                ).start()

    def prune(self, up_to: int) -> None:
        """Forgets the changes up to this one. If others do it already, they do it."""
        if not self._at_work.acquire(blocking=False):
            return
        fault: DatabaseFault | None = None
        try:
            while self._forget_some(up_to):
                pass
        except DatabaseFault as failed:
            fault = failed
        finally:
            self._at_work.release()
        if fault is not None:
            self._database.outage.note_failure(fault, write=True)
            LOG.debug("Old changes are not removed from the change log for now: %s", fault)

    def _forget_some(self, up_to: int) -> int:
        # Nobody needs what is forgotten here, so the head need not be held for it.
        with self._database.write() as conn:
            return changes.prune(conn, up_to, AT_ONCE)
