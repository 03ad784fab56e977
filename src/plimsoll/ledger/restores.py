# SPDX-License-Identifier: Apache-2.0

"""Give a database that was restored from a backup a new epoch, so that no revision of the lost history is valid for it.

A worker detects the restore when the change log has another write at the number of its snapshot, or none. Workers that were started after the
restore have the old epoch in memory: a reload in the change log makes all of them read the new one.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time

from plimsoll.domain.actor import SERVICE_ACTOR
from plimsoll.domain.effects import Reload
from plimsoll.ledger.change_codec import encode
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.epoch import replace_epoch
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.sql import utc_now

LOG = logging.getLogger(__name__)

OPERATION = "database.restored"
EPOCH_THREAD = "epoch"
ATTEMPTS = 10
RETRY_SECONDS = 1.0


class EpochRenewer:
    """Renews the epoch in a background thread: the read that detects a restore does not wait for it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, lost: str) -> None:
        """Renew the epoch, unless another worker has done so. `lost` is the epoch of the history that was lost."""
        # If no thread can be started, the epoch stays: cursors with a mark are refused all the same.
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=self._retry, args=(lost,), name=EPOCH_THREAD, daemon=True).start()

    def _retry(self, lost: str) -> None:
        for _ in range(ATTEMPTS):
            try:
                if renew_epoch(self._database, lost):
                    LOG.warning("The database was restored from a backup: it has a new epoch now")
                return
            except DatabaseFault as fault:
                LOG.debug("The epoch of the database was not renewed: %s", fault)
                time.sleep(RETRY_SECONDS)
        LOG.error("The database was restored from a backup, and could not be given a new epoch")


def renew_epoch(database: Database, lost: str) -> bool:
    """Replace this epoch, and make all workers reload; False if the database has another epoch already."""
    with database.transaction() as transaction:
        head = transaction.lock_head()
        if not replace_epoch(transaction.connection, lost):
            return False
        change = Change(head.seq + 1, utc_now(), SERVICE_ACTOR, OPERATION, encode([Reload()]))
        transaction.commit(changes.append_statements(transaction.dialect, [change], head, changes.new_mark()))
        return True
