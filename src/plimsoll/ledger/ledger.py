# SPDX-License-Identifier: Apache-2.0

"""The ledger of one process: reads see every committed write, writes are decided one after the other.

Writes queue. Whoever comes first becomes the scribe: it takes the head of the whole database, brings the
world up to date, decides all that has queued up meanwhile, and commits it at once (group commit). The
others find their answers done. Nothing is answered before it is committed. While one batch is at the
database, the next is decided already, on what the world will be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

from plimsoll.domain.refusals import Refusal
from plimsoll.domain.world import World
from plimsoll.ledger.allocation_cache import AllocationCache
from plimsoll.ledger.command import Abandoned, Command, Ticket
from plimsoll.ledger.commit_retry import CommitRetrier
from plimsoll.ledger.current import CurrentSnapshot, OptimisticRead
from plimsoll.ledger.group_commit import (
    GroupCommitLock,
    Lease,
    NotInTime,
    Waiter,
)
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.runtime.scheduling import AT_WORK, yield_to_pending
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy

MOST_AT_ONCE = 256
"""How many commands one commit may carry: none should wait long for its neighbours."""


QUEUE_SECONDS = 30.0
"""How long a command waits until it is taken into a batch."""
OUTCOME_SECONDS = 90.0
"""How long a command waits after that for the outcome of the batch. A leader that is in doubt retries for 45 seconds."""


def utc_now() -> datetime:
    """Now, as the schema keeps times: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


class Ledger:
    """All reads and writes of one process on one database. Every method may be called from any thread."""

    def __init__(
        self, database: Database, *, change_log_keep: int = 100_000, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.database = database
        self._queue: deque[Ticket] = deque()
        self._pen = GroupCommitLock()
        self._present = CurrentSnapshot(database)
        self._scribe = CommitRetrier(database, self._present, change_log_keep, clock)
        self.last_found = AllocationCache()

    def snapshot(self) -> Snapshot:
        """The present: it contains every write that was committed before this call, by whichever process."""
        return self._present.snapshot()

    @property
    def newest(self) -> Snapshot:
        """The newest that this process has; others may have written since."""
        return self._present.newest

    def world(self) -> World:
        return self.snapshot().world

    def sight(self) -> OptimisticRead:
        """For who reads, and is ready to read again."""
        return OptimisticRead(self._present)

    def reload(self) -> None:
        """Forgets the snapshot and reads everything again."""
        # Nor may a batch be under way: it would publish what it made of the snapshot that is to be forgotten.
        self._pen.taken_by(Waiter())
        try:
            with self._scribe.nothing_under_way():
                self._present.reload()
        finally:
            self._pen.lay_down()

    def submit(self, command: Command) -> World | Refusal:
        """Decides a command and records it: the world right after it, or why it was refused."""
        ticket = Ticket(command)
        self._queue.append(ticket)
        try:
            while not ticket.done:
                if self._pen.taken_by(ticket, QUEUE_SECONDS):
                    turn = Lease(self._pen)
                    try:
                        yield_to_pending()
                        self._write_batch(turn)
                    finally:
                        turn.pass_on()
        except NotInTime:
            self._wait_for_outcome(ticket)
        except BaseException:  # this thread or greenlet ends, and with it the need for the write
            self._withdraw(ticket)
            raise
        return ticket.result()

    def _wait_for_outcome(self, ticket: Ticket) -> None:
        """The command was not committed in time. Refuse it if it is still in the queue, else wait for its batch."""
        if self._withdraw(ticket):
            raise Busy(
                f"A write was not begun within {QUEUE_SECONDS:.0f} s: the writes before it take too long."
            )
        if not ticket.sleep(OUTCOME_SECONDS) and not ticket.done:
            raise Abandoned(f"Its commit has no outcome after {QUEUE_SECONDS + OUTCOME_SECONDS:.0f} s.")

    def _withdraw(self, ticket: Ticket) -> bool:
        """Take a ticket out of the queue. False if it is in a batch already."""
        try:
            self._queue.remove(ticket)
        except ValueError:
            return False
        return True

    def _write_batch(self, turn: Lease) -> None:
        tickets: list[Ticket] = []
        self._take_up(tickets)
        try:
            self._scribe.write(tickets, self._take_up, turn)
        finally:
            for ticket in tickets:
                ticket.finish()

    def _take_up(self, tickets: list[Ticket]) -> list[Ticket]:
        """Adds from the queue what has room; whoever holds the pen is the only one to take from it."""
        queue = self._queue
        if not queue:
            return []
        room = self._most_at_once() - len(tickets)
        taken: list[Ticket] = []
        while queue and len(taken) < room:
            ticket = queue.popleft()
            ticket.seen_to = True
            taken.append(ticket)
        tickets += taken
        return taken

    def _most_at_once(self) -> int:
        """All who wait, where the database is this process. Else half of those at work: while their batch is at the
        database, the other half is decided.

        Nearly all of them would end up in one batch: the database waits until it is decided, and then all wait for that.
        Who has just been answered counts as well: most come back. Two are better off together.
        """
        half = (AT_WORK.lately() + 1) // 2 if self.database.works_by_itself else 0
        if half > 2:
            return min(half, MOST_AT_ONCE)
        return 2 if half else MOST_AT_ONCE  # or nobody counts them
