# SPDX-License-Identifier: Apache-2.0

"""The ledger of one process: reads see every committed write, writes are decided one after the other.

Writes queue. Whoever comes first becomes the scribe: it takes the head of the whole database, brings the
world up to date, decides all that has queued up meanwhile, and commits it at once (group commit). The
others find their answers done. Nothing is answered before it is committed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from plimsoll.domain.refusals import Refusal, RowInTheWay
from plimsoll.domain.world import World
from plimsoll.ledger.batch import Batch
from plimsoll.ledger.command import Command, Ticket
from plimsoll.ledger.follower import follow
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.storage import changes
from plimsoll.storage.engine import Database
from plimsoll.storage.load import load_world
from plimsoll.storage.owners import projects, users

MOST_AT_ONCE = 256
"""How many commands one commit may carry: none should wait long for its neighbours."""

PRUNE_EVERY = 500
"""After how many changes the log is looked through for old ones."""


def utc_now() -> datetime:
    """Now, as the schema keeps times: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


class Ledger:
    """All reads and writes of one process on one database. Every method may be called from any thread."""

    def __init__(
        self, database: Database, *, change_log_keep: int = 100_000, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.database = database
        self._clock = clock
        self._keep = change_log_keep
        self._projects = projects()
        self._users = users()
        self._queue: deque[Ticket] = deque()
        self._scribe = threading.Lock()
        self._publishing = threading.Lock()
        self._seen_token: int | None = None
        self._snapshot = self._load()

    # Reads

    def snapshot(self) -> Snapshot:
        """The present: it contains every write that was committed before this call, by whichever process."""
        token = self.database.version_token()
        if token != self._seen_token:
            with self._publishing:
                self._catch_up()
        return self._snapshot

    def world(self) -> World:
        return self.snapshot().world

    def reload(self) -> None:
        """Forgets the snapshot and reads everything again."""
        with self._publishing:
            self._snapshot = self._load()

    def _catch_up(self) -> None:
        token = self.database.version_token()
        if token == self._seen_token:
            return
        with self.database.read() as conn:
            self._snapshot = follow(conn, self._snapshot, changes.read_head(conn))
        self._seen_token = token

    def _load(self) -> Snapshot:
        with self.database.read() as conn:
            return Snapshot.of(changes.read_head(conn), load_world(conn))

    # Writes

    def submit(self, command: Command) -> World | Refusal:
        """Decides a command and records it: the world right after it, or why it was refused."""
        ticket = Ticket(command)
        self._queue.append(ticket)
        with self._scribe:
            while not ticket.done:
                self._write_batch()
        return ticket.result()

    def _write_batch(self) -> None:
        tickets = [self._queue.popleft() for _ in range(min(len(self._queue), MOST_AT_ONCE))]
        try:
            self._commit_or_divide(tickets)
        finally:
            for ticket in tickets:
                ticket.done = True

    def _commit_or_divide(self, tickets: list[Ticket]) -> None:
        """Commits tickets together; if one of them cannot be written, each by itself, so that only it fails."""
        try:
            self._commit(tickets)
        except NotWritten as failed:
            if len(tickets) == 1:
                _give_up(tickets[0], failed.fault)
                return
            for ticket in tickets:
                self._commit_or_divide([ticket])
        except Exception as fault:
            for ticket in tickets:
                ticket.fail(fault)

    def _commit(self, tickets: list[Ticket]) -> None:
        committing = False
        try:
            with self.database.write() as conn:
                batch = self._decide(conn, tickets)
                # From here until the new snapshot stands, readers wait instead of reading the log themselves.
                self._publishing.acquire()
                committing = True
            batch.committed()
            self._snapshot = batch.snapshot
        finally:
            if committing:
                self._publishing.release()

    def _decide(self, conn: Connection, tickets: list[Ticket]) -> Batch:
        try:
            head = changes.lock_head(conn)
            present = follow(conn, self._snapshot, head)
            batch = Batch(conn, present, self._projects, self._users, self._clock())
            batch.decide(tickets)
            if (head + len(batch.log)) // PRUNE_EVERY > head // PRUNE_EVERY:
                changes.prune(conn, head - self._keep, most=2 * PRUNE_EVERY)
            return batch
        except Exception as fault:
            raise NotWritten(fault) from fault


def _give_up(ticket: Ticket, fault: Exception) -> None:
    if isinstance(fault, IntegrityError):
        # What memory knows it checks by itself, so this row is one that it was not shown.
        ticket.settle(RowInTheWay())
    else:
        ticket.fail(fault)


class NotWritten(Exception):
    """A batch failed before its commit was tried: nothing of it can have been written."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(str(fault))
        self.fault = fault
