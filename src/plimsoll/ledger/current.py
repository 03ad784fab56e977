# SPDX-License-Identifier: Apache-2.0

"""The snapshot that a process has, and how it is kept at the head: reads follow it, writes replace it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from sqlalchemy import Connection

from plimsoll.ledger.follow import follow
from plimsoll.ledger.full_load import read_all
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.storage import changes
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from plimsoll.storage.head import Head

LOG = logging.getLogger(__name__)

COMMIT_SECONDS = 60
"""How long a read waits for the snapshot of a commit that is under way."""


class OptimisticRead:
    """What somebody sees of the present: the newest snapshot at first, while the database is asked whether it is that.

    If it is not, whatever was made of it has to be made again.
    """

    __slots__ = ("_head", "_present", "_seen", "_since")

    def __init__(self, present: CurrentSnapshot) -> None:
        self._present = present
        self._seen: Snapshot | None = None
        self._head: Callable[[], Head] | None = None

    def look(self) -> None:
        """Takes the newest snapshot for the present, unless it is about to be replaced."""
        present = self._present
        if self._seen is None and not present.replacing.locked():
            self._since = present.newest.head
            self._head = present.database.ask_head()
            self._seen = present.newest

    def snapshot(self) -> Snapshot:
        if self._seen is None:
            self.look()
        if self._seen is None:
            self._seen = self._present.snapshot()
        return self._seen

    def confirm(self) -> bool:
        """Whether what was seen contains every write that was committed before. If not, it does from now on."""
        if self._seen is None or self._head is None:
            return True
        head = self._head()
        if head == self._seen.head:  # whoever has written since did so after this was asked
            return True
        self._seen = self._present.up_to(head, self._since)
        return False


class CurrentSnapshot:
    """Every method may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._keeping = database.keeping()
        self.replacing = threading.Lock()
        """Held by whoever is about to replace the newest snapshot. Readers that see a newer head wait for the one that is
        made there, instead of making their own."""
        self.newest = self._load()
        """The newest that this process has; others may have written since. To be replaced while `replacing` is held."""

    def snapshot(self) -> Snapshot:
        """It contains every write that was committed before this call, by whichever process."""
        since = self.newest.head
        return self.up_to(self.database.head(), since)

    def up_to(self, head: Head, since: Head) -> Snapshot:
        """The snapshot at this head, or at a later one. It was asked for when the newest was at `since`, or later."""
        if not self.newest.has_come_by(head, since):
            # If it is our own scribe who has moved the head, it publishes before it lets us in here.
            if not self.replacing.acquire(timeout=COMMIT_SECONDS):
                raise Busy(f"A commit has been under way for {COMMIT_SECONDS} s.")
            try:
                if not self.newest.has_come_by(head, since):
                    self.newest = self.database.ask(self._followed)
            finally:
                self.replacing.release()
        return self.newest

    def at(self, conn: Connection, head: Head) -> Snapshot:
        """The snapshot at the head that this transaction has taken."""
        return follow(conn, self.newest, head)

    def reload(self) -> None:
        with self.replacing:
            self.newest = self._load()

    def _followed(self, conn: Connection) -> Snapshot:
        return follow(conn, self.newest, changes.read_head(conn))

    def _load(self) -> Snapshot:
        return self.database.ask(self._read_all)

    def _read_all(self, conn: Connection) -> Snapshot:
        LOG.info("Reading the world from %s", self.database.where)
        return read_all(conn, changes.read_head(conn), self._keeping)
