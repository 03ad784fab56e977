# SPDX-License-Identifier: Apache-2.0

"""The ledger of one process: reads see every committed write, writes are decided one after the other.

Writes queue. The first thread or greenlet in the queue becomes the leader: it locks the head of the database, brings
the snapshot up to date, decides all commands that have queued up, and commits them in one transaction (group commit).
The others wait until their commands are done. No outcome is returned before its commit. While one batch is in flight,
the next leader decides its batch on the snapshot that the first will publish.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime
from functools import partial

from plimsoll.domain.refusals import Refusal
from plimsoll.domain.world import World
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.ledger.allocation_cache import AllocationCache
from plimsoll.ledger.change_feed import ChangeFeed
from plimsoll.ledger.command import Abandoned, Command, Ticket
from plimsoll.ledger.commit import Committer
from plimsoll.ledger.commit_retry import CommitRetrier
from plimsoll.ledger.current import CurrentSnapshot, OptimisticRead
from plimsoll.ledger.group_commit import GroupCommitLock, Lease, LockTimeout, Waiter
from plimsoll.ledger.history import DEFAULT_LIMITS, HistoryLimits, PastSnapshots
from plimsoll.ledger.pruner import Retention
from plimsoll.ledger.response_cache import ResponseCache
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.metrics import NO_METRICS, Metrics
from plimsoll.runtime.base import Runtime
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from plimsoll.storage.sql import utc_now

MAX_BATCH = 256
"""Commands in one commit, at most: each waits for all the others."""


QUEUE_SECONDS = 30.0
"""How long a command waits to be taken into a batch."""
OUTCOME_SECONDS = 90.0
"""How long a command waits after that for the outcome of its batch. A leader in doubt retries for 45 seconds."""


class Ledger:
    """All reads and writes of one process on one database. Every method may be called from any thread."""

    def __init__(
        self,
        database: Database,
        *,
        runtime: Runtime | None = None,
        fast_paths: FastPaths = ALL,
        retention: Retention | None = None,
        max_subscribers: int = 2_000,
        history_limits: HistoryLimits = DEFAULT_LIMITS,
        metrics: Metrics = NO_METRICS,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.database = database
        self.runtime = runtime or database.runtime
        self._queue: deque[Ticket] = deque()
        self._last_batch_size = 0
        """Of the batch that was decided last. Changed by the holder of the group commit lock."""
        self._commit_lock = GroupCommitLock()
        responses = ResponseCache() if fast_paths.response_cache else ResponseCache(max_bytes=0)
        self._current = CurrentSnapshot(
            database, self.runtime, responses, metrics, bulk_follow=fast_paths.bulk_follow
        )
        committer = Committer(
            database, self._current, self.runtime, clock, metrics, optimistic=fast_paths.optimistic_commit
        )
        self._retrier = CommitRetrier(database, committer, retention or Retention(), metrics)
        semantics = self._current.newest.world.semantics
        self.feed = ChangeFeed(database, self.runtime, semantics, self.snapshot, max_subscribers)
        self.history = PastSnapshots(database, history_limits)
        self.allocation_cache = AllocationCache(enabled=fast_paths.allocation_cache)

    def snapshot(self) -> Snapshot:
        """Return a snapshot that contains every write committed before this call, by any process."""
        return self._current.snapshot()

    @property
    def newest(self) -> Snapshot:
        """The newest snapshot in memory. Other processes may have written since."""
        return self._current.newest

    def world(self) -> World:
        return self.snapshot().world

    def optimistic_read(self) -> OptimisticRead:
        """Return a read of the newest snapshot in memory that is confirmed by the database afterwards."""
        return OptimisticRead(self._current)

    def reload(self) -> None:
        """Discard the snapshot and load the whole database again."""
        # No batch may be in flight: it would publish a snapshot that is based on the discarded one.
        self._commit_lock.acquire(Waiter(self.runtime))
        try:
            with self._retrier.block_commits():
                self._current.reload()
        finally:
            self._commit_lock.release()

    def submit(self, command: Command) -> World | Refusal:
        """Decide a command and commit it. Return the world right after it, or the refusal."""
        ticket = Ticket(command, self.runtime)
        self._queue.append(ticket)
        try:
            while not ticket.done:
                if self._commit_lock.acquire(ticket, QUEUE_SECONDS):
                    lease = Lease(self._commit_lock, self.runtime)
                    try:
                        self.runtime.yield_to_ready()  # requests that are ready can join the batch
                        self._write_batch(lease)
                    finally:
                        lease.release()
        except LockTimeout:
            self._wait_for_outcome(ticket)
        except BaseException:  # this thread or greenlet ends: its response is not needed any more
            self._withdraw(ticket)
            raise
        return ticket.result()

    def _wait_for_outcome(self, ticket: Ticket) -> None:
        """Handle a timeout of the queue: raise Busy if the ticket is still in the queue, else wait for its batch."""
        if self._withdraw(ticket):
            raise Busy(
                f"A write was not begun within {QUEUE_SECONDS:.0f} s: the writes before it take too long."
            )
        if not ticket.wait(OUTCOME_SECONDS) and not ticket.done:
            raise Abandoned(f"Its commit has no outcome after {QUEUE_SECONDS + OUTCOME_SECONDS:.0f} s.")

    def _withdraw(self, ticket: Ticket) -> bool:
        """Remove a ticket from the queue. False if it is in a batch already."""
        try:
            self._queue.remove(ticket)
        except ValueError:
            return False
        return True

    def _write_batch(self, lease: Lease) -> None:
        """Commit the queued tickets as the leader, then wake their waiters."""
        tickets: list[Ticket] = []
        take_queued = partial(self._take_queued, in_flight=self._last_batch_size)
        take_queued(tickets)
        try:
            self._retrier.write(tickets, take_queued, lease)
        finally:
            for ticket in tickets:
                ticket.finish()

    def _take_queued(self, tickets: list[Ticket], in_flight: int) -> list[Ticket]:
        """Move tickets from the queue to the batch, up to its limit. The caller holds the group commit lock.

        `in_flight` is the size of the batch before.
        """
        queue = self._queue
        room = self._batch_limit(len(queue) + len(tickets) + in_flight) - len(tickets)
        taken: list[Ticket] = []
        while queue and len(taken) < room:
            ticket = queue.popleft()
            assert not ticket.in_batch
            ticket.in_batch = True
            taken.append(ticket)
        tickets += taken
        self._last_batch_size = len(tickets)
        return taken

    def _batch_limit(self, commands: int) -> int:
        """Return the size of a batch: all queued commands if the database is in this process, else half of them.

        `commands` counts those of the batch in flight too: their clients send the next ones soon. With half, one batch is
        decided while the other is at the database. Without a limit nearly all commands end up in one batch, and the
        database idles while it is decided. Two commands are always faster in one batch.
        """
        if not self.database.commits_in_background:
            return MAX_BATCH
        return min(max(2, (commands + 1) // 2), MAX_BATCH)
