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
from contextlib import ExitStack
from datetime import UTC, datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from plimsoll.domain.refusals import Refusal, RowInTheWay
from plimsoll.domain.world import World
from plimsoll.ledger.batch import Batch
from plimsoll.ledger.command import Command, Ticket
from plimsoll.ledger.follower import follow
from plimsoll.ledger.pen import Pen
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
        self._pen = Pen()
        self._publishing = threading.Lock()
        self._seen_token: int | None = None
        self._snapshot = self._load()

    # Reads

    def snapshot(self) -> Snapshot:
        """The present: it contains every write that was committed before this call, by whichever process."""
        token = self.database.version_token()
        if token != self._seen_token:
            with self.database.read() as conn:
                head = changes.read_head(conn)
            if head != self._snapshot.seq:
                self._catch_up()
            # Whatever was committed when the token was taken is in the snapshot by now.
            self._seen_token = token
        return self._snapshot

    def world(self) -> World:
        return self.snapshot().world

    def reload(self) -> None:
        """Forgets the snapshot and reads everything again."""
        # Nor may a batch be under way: it would publish what it made of the snapshot that is to be forgotten.
        with self._pen.held(), self._publishing:
            self._snapshot = self._load()

    def _catch_up(self) -> None:
        # If it is our own scribe who has moved the head, it publishes before it lets us in here.
        with self._publishing, self.database.read() as conn:
            self._snapshot = follow(conn, self._snapshot, changes.read_head(conn))

    def _load(self) -> Snapshot:
        with self.database.read() as conn:
            return Snapshot.of(changes.read_head(conn), load_world(conn))

    # Writes

    def submit(self, command: Command) -> World | Refusal:
        """Decides a command and records it: the world right after it, or why it was refused."""
        ticket = Ticket(command)
        self._queue.append(ticket)
        while not ticket.done:
            with self._pen.held(unless=lambda: ticket.done) as is_scribe:
                if is_scribe:
                    self._write_batch()
        return ticket.result()

    def _write_batch(self) -> None:
        tickets: list[Ticket] = []
        self._take_up(tickets)
        try:
            self._commit_or_divide(tickets)
        finally:
            for ticket in tickets:
                ticket.done = True

    def _take_up(self, tickets: list[Ticket]) -> None:
        """Adds from the queue what has room; whoever holds the pen is the only one to take from it."""
        while self._queue and len(tickets) < MOST_AT_ONCE:
            tickets.append(self._queue.popleft())

    def _commit_or_divide(self, tickets: list[Ticket]) -> None:
        """Commits tickets together; if one of them cannot be written, each by itself, so that only it fails."""
        try:
            self._commit(tickets, latecomers=True)
        except NotWritten:
            for ticket in tickets:
                self._commit_alone(ticket)
        except Exception as fault:
            for ticket in tickets:
                ticket.answer(fault)

    def _commit_alone(self, ticket: Ticket) -> None:
        try:
            self._commit([ticket])
        except NotWritten as failed:
            # What memory knows it checks by itself, so a row in the way is one that it was not shown.
            in_the_way = isinstance(failed.fault, IntegrityError)
            ticket.answer(RowInTheWay() if in_the_way else failed.fault)
        except Exception as fault:
            ticket.answer(fault)

    def _commit(self, tickets: list[Ticket], *, latecomers: bool = False) -> None:
        with ExitStack() as publishing:
            with self.database.write() as conn:
                if latecomers:
                    self._take_up(tickets)
                batch = self._decide(conn, tickets)
                # From the commit until the new snapshot stands, readers wait for it instead of making their own.
                publishing.enter_context(self._publishing)
            self._snapshot = batch.snapshot
        batch.committed()

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


class NotWritten(Exception):
    """A batch failed before its commit was tried: nothing of it can have been written."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(str(fault))
        self.fault = fault
