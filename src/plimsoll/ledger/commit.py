# SPDX-License-Identifier: Apache-2.0

"""One attempt to commit a batch of tickets: a transaction that decides and writes them, or writes nothing.

The head is the one row that every commit updates: it orders the writes of all processes.

Locked commit: lock the head row, follow the change log up to it, decide, write, commit.

Optimistic commit, while no other process writes: decide on the snapshot in memory, then send all statements in one
message. The first one moves the head from where the snapshot has it; if the head has moved, a constraint fails the
transaction and the batch is decided again with the lock. While one batch is in flight, the next one is decided on the
snapshot that the first will publish.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from plimsoll.domain.consumer import Holding
from plimsoll.domain.world import NO_IDS, LastIds
from plimsoll.ledger.batch import Batch
from plimsoll.ledger.command import Ticket
from plimsoll.ledger.current import CurrentSnapshot
from plimsoll.ledger.group_commit import Lease
from plimsoll.ledger.snapshot import Origin, Snapshot
from plimsoll.metrics import Metrics
from plimsoll.runtime.base import Runtime
from plimsoll.storage import changes
from plimsoll.storage.consumers import HoldingsQuery
from plimsoll.storage.database import Database
from plimsoll.storage.errors import DatabaseFault, HeadMoved, OutcomeUnknown, Unreachable
from plimsoll.storage.head import HEAD_GUARD, Head
from plimsoll.storage.load import LAST_IDS
from plimsoll.storage.lookup_tables import LookupTables
from plimsoll.storage.sql import Statement
from plimsoll.storage.transaction import Transaction

LOG = logging.getLogger(__name__)

OPTIMISTIC_AFTER_SECONDS = 1.0
"""Seconds without a commit of another process, and without a fault, after which commits are optimistic."""

CHANGES_UNDER_LOCK = 200
"""Changes that are followed while the head is locked. A process that has missed more follows them before it locks the head."""
FOLLOWS_BEFORE_LOCK = 3
"""Attempts to do so. Other processes write meanwhile."""

TakeQueued = Callable[[list[Ticket]], list[Ticket]]
"""Moves tickets from the queue to the end of the given list, and returns them."""


class Committer:
    """Commits one batch at a time. The caller holds the lease, which is released once the next batch can be decided."""

    def __init__(
        self,
        database: Database,
        current: CurrentSnapshot,
        runtime: Runtime,
        clock: Callable[[], datetime],
        metrics: Metrics,
        *,
        optimistic: bool,
    ) -> None:
        self._database = database
        self._current = current
        self._runtime = runtime
        self._clock = clock
        self._metrics = metrics
        self._optimistic = optimistic
        self._lookup_tables = LookupTables(database.semantics())
        self._origin: Origin | None = None
        self._last_conflict = -OPTIMISTIC_AFTER_SECONDS
        self._has_head_guard: bool | None = None
        # Held from before a batch is sent until its snapshot is published. Lock order: the group commit lock first.
        # Only its holder waits for this lock, and the holder of this lock never waits for the group commit lock.
        self._in_flight = threading.Lock()
        self._pending: Snapshot | None = None
        """The snapshot of the batch in flight: the newest one as soon as that batch is committed."""

    def commit(
        self,
        tickets: list[Ticket],
        take_queued: TakeQueued,
        lease: Lease,
        in_doubt: Sequence[CommitInDoubt] = (),
        *,
        assume_new: bool,
    ) -> Batch:
        """Decide and commit the tickets. If a batch in doubt turns out to be committed, return that one instead."""
        lease.reacquire()
        pending = self._pending
        base = pending or self._current.newest
        if assume_new and not in_doubt and self._may_commit_optimistically(base, tickets):
            try:
                return self._commit_optimistic(base, tickets, take_queued, lease)
            except _NeedsHeadLock:
                pass
            except HeadMoved as moved:
                self._metrics.commit_retried(moved)
                if pending is None:  # else the cause may be a failure of our own batch in flight
                    self._last_conflict = time.monotonic()
            except (DatabaseFault, CommitInDoubt):
                self._last_conflict = time.monotonic()
                raise
            lease.reacquire()
        for _ in range(FOLLOWS_BEFORE_LOCK):
            try:
                return self._commit_locked(tickets, take_queued, in_doubt, assume_new)
            except _TooFarBehind:
                self._current.snapshot()
        return self._commit_locked(tickets, take_queued, in_doubt, assume_new, any_distance=True)

    def find_committed(self, in_doubt: Sequence[CommitInDoubt], lease: Lease) -> Batch | None:
        """Return the batch that was committed, if any; None if none was and none can be any more.

        The head is locked for the query. Raise HeadNotMoved if the server may still execute the message of one of them.
        """
        lease.reacquire()
        with self._in_flight, self._database.transaction() as transaction:
            head = transaction.lock_head()
            found = _find_committed(transaction, in_doubt)
            if found is None and any(
                each.batch.base_head == head and not each.fault.has_ended for each in in_doubt
            ):
                raise HeadNotMoved("The head has not moved since this commit was sent.")
            return found

    def block_commits(self) -> AbstractContextManager[object]:
        """Wait for the batch in flight, and let no other batch be sent while the context is open."""
        return self._in_flight

    def _may_commit_optimistically(self, base: Snapshot, tickets: list[Ticket]) -> bool:
        """True if no other process has written recently, and memory has all that the decisions need."""
        if not self._optimistic or self._is_contended() or base.origin.has_allocations_without_consumer:
            return False
        for ticket in tickets:
            if ticket.command.consumers:
                return False
        return self._has_head_guard or self._check_head_guard()

    def _check_head_guard(self) -> bool:
        """True if the head has its constraint: checked once. A database restored without it only costs round trips."""
        if self._has_head_guard is None:
            try:
                self._has_head_guard = self._database.enforces_head_guard()
            except DatabaseFault:
                return False
            if not self._has_head_guard:
                LOG.warning(
                    "The table plimsoll_head lacks its constraint %s: writes need an additional round trip without it",
                    HEAD_GUARD,
                )
        return self._has_head_guard

    def _commit_optimistic(
        self, base: Snapshot, tickets: list[Ticket], take_queued: TakeQueued, lease: Lease
    ) -> Batch:
        """Decide on `base` and commit in one message. Raise HeadMoved if another process has committed first.

        The lease is released before the batch is sent, so that the next leader can decide its batch meanwhile.
        """
        is_in_flight = False
        try:
            with self._database.transaction(base.head) as transaction:
                batch = self._new_batch(transaction, base, assume_new=True)
                batch.decide(tickets)
                is_in_flight = self._in_flight.acquire(blocking=False)
                if not is_in_flight:
                    is_in_flight = self._in_flight.acquire()
                    self._runtime.yield_to_ready()  # the waiters of the previous batch resume before this one is sent
                if self._current.newest is not base:
                    raise HeadMoved
                late = take_queued(tickets)
                if late:
                    consumers = _consumers_to_read(late)
                    if batch.has_holdings_of(consumers):
                        raise _NeedsHeadLock
                    batch.add_holdings(self._read_holdings(transaction, consumers))
                    batch.decide(late)
                batch.close()
                if not batch.log:
                    raise _NeedsHeadLock
                self._pending = batch.snapshot
                lease.release()
                began = time.monotonic()
                self._write_and_publish(batch, transaction, "optimistic")
                self._metrics.head_locked(0.0, time.monotonic() - began)
            return batch
        finally:
            if is_in_flight:
                self._pending = None
                self._in_flight.release()

    def _commit_locked(
        self,
        tickets: list[Ticket],
        take_queued: TakeQueued,
        in_doubt: Sequence[CommitInDoubt],
        assume_new: bool,
        *,
        any_distance: bool = False,
    ) -> Batch:
        """Lock the head, follow the change log up to it, decide and commit. No other process can write in between.

        Raise _TooFarBehind if it would have to follow many changes while it holds the lock, unless `any_distance` is set.
        """
        try:
            with self._in_flight, self._database.transaction() as transaction:
                began = time.monotonic()
                head, last_ids, holdings, log = self._lock_head(
                    transaction, _consumers_to_read(tickets), assume_new
                )
                locked = time.monotonic()
                found = _find_committed(transaction, in_doubt)
                if found is not None:
                    return found
                unread = _consumers_to_read(take_queued(tickets))
                snapshot = self._follow_to(transaction, head, log, any_distance=any_distance)
                assume_new = assume_new and not snapshot.origin.has_allocations_without_consumer
                if not assume_new:
                    unread |= _assumed_new_consumers(tickets)
                batch = self._new_batch(transaction, snapshot, assume_new=assume_new)
                batch.start_ids_after(last_ids)
                batch.add_holdings(holdings | self._read_holdings(transaction, unread))
                batch.decide(tickets)
                batch.close()
                self._write_and_publish(batch, transaction, "locked", current_at=locked)
                self._metrics.head_locked(locked - began, time.monotonic() - locked)
            return batch
        except OutcomeUnknown as fault:  # not of our commit: that one raises CommitInDoubt
            raise Unreachable(fault) from fault

    def _write_and_publish(
        self, batch: Batch, transaction: Transaction, mode: str, current_at: float = float("-inf")
    ) -> None:
        """Write the batch, commit, and publish its snapshot. Readers that see the new head wait for the snapshot.

        The snapshot that the batch is based on contains every write that was committed before `current_at`.
        """
        with self._current.publish_lock:
            try:
                if batch.statements:
                    began = time.monotonic()
                    transaction.commit(batch.statements)
                    self._metrics.commit_done(mode, time.monotonic() - began)
            except OutcomeUnknown as fault:
                raise CommitInDoubt(batch, fault) from fault
            if self._has_newer(batch):
                return
            self._current.publish(batch.snapshot, current_at)
            batch.cache_entries()

    def _has_newer(self, batch: Batch) -> bool:
        """True if a reader has published a newer snapshot than the one of a batch that writes nothing.

        On a Galera cluster the lock of the head does not exclude writers at other nodes. A batch that writes fails then.
        """
        newest, decided = self._current.newest, batch.snapshot
        return not batch.statements and decided.origin is newest.origin and decided.head.seq < newest.head.seq

    def _new_batch(self, transaction: Transaction, snapshot: Snapshot, *, assume_new: bool) -> Batch:
        if snapshot.origin is not self._origin:  # after a full load, cached ids may be wrong
            self._lookup_tables.clear_cache()
            self._has_head_guard = None
            self._origin = snapshot.origin
        return Batch(
            self._database, transaction, snapshot, self._lookup_tables, self._clock(), assume_new=assume_new
        )

    def _lock_head(
        self, transaction: Transaction, consumers: set[str], assume_new: bool
    ) -> tuple[Head, LastIds, dict[str, Holding], list[Any] | None]:
        """Lock the head and read these holdings, in one round trip; without `assume_new` the last ids too.

        If other processes write, read the change log in the same round trip: the last result.
        """
        query = self._holdings_query(transaction, consumers)
        last_ids_query = [] if assume_new else [LAST_IDS]
        log_query = [self._log_query()] if self._is_contended() else []
        (head,), *results = transaction.run(
            [transaction.lock_head_query, *log_query, *last_ids_query, *query.queries]
        )
        log = results.pop(0) if log_query else None
        last_ids = NO_IDS if assume_new else LastIds(*results.pop(0)[0])
        return Head(*head), last_ids, query.holdings(*results), log

    def _follow_to(
        self, transaction: Transaction, head: Head, log: list[Any] | None, *, any_distance: bool
    ) -> Snapshot:
        """Return the snapshot at the locked head. Another head than that of memory means another writer."""
        if head == self._current.newest.head:
            return self._current.newest
        self._last_conflict = time.monotonic()
        if log is None:
            (log,) = transaction.run([self._log_query()])
        followed = self._current.after_changes(log, head)
        if followed is not None:
            return followed
        if len(log) > CHANGES_UNDER_LOCK and not any_distance:
            raise _TooFarBehind
        return self._current.at_head(transaction.connection, head)

    def _log_query(self) -> Statement:
        return changes.log_query(self._current.newest.head, CHANGES_UNDER_LOCK)

    def _is_contended(self) -> bool:
        """True if another process has written recently, or a commit has failed."""
        return time.monotonic() - self._last_conflict <= OPTIMISTIC_AFTER_SECONDS

    def _read_holdings(self, transaction: Transaction, consumers: set[str]) -> dict[str, Holding]:
        if not consumers:
            return {}
        query = self._holdings_query(transaction, consumers)
        return query.holdings(*transaction.run(query.queries))

    def _holdings_query(self, transaction: Transaction, consumers: set[str]) -> HoldingsQuery:
        semantics = self._database.semantics()
        return HoldingsQuery(transaction.dialect, consumers, semantics, self._runtime)


class ChangeLogPruned(DatabaseFault):
    """The outcome of a commit cannot be found any more: its part of the change log was pruned."""


class HeadNotMoved(DatabaseFault):
    """The outcome of a commit is not known yet.

    The message of an optimistic commit locks no head before the server executes it, which may be later: it fails only if the
    head has moved.
    """


class CommitInDoubt(Exception):
    """The connection failed during a commit: the batch may be committed or not."""

    def __init__(self, batch: Batch, fault: OutcomeUnknown) -> None:
        super().__init__(str(fault))
        self.batch = batch
        self.fault = fault


class _TooFarBehind(Exception):
    """The process has missed so many changes that it should not follow them while it holds the lock of the head."""


class _NeedsHeadLock(Exception):
    """The batch cannot be committed optimistically.

    Either it writes nothing, so that no statement would check the head. Or a late command needs the holdings of a
    consumer that an earlier command of the batch assumed to be new.
    """


def _find_committed(transaction: Transaction, in_doubt: Sequence[CommitInDoubt]) -> Batch | None:
    return next((each.batch for each in in_doubt if _is_committed(transaction, each.batch)), None)


def _is_committed(transaction: Transaction, batch: Batch) -> bool:
    committed = changes.was_committed(transaction.connection, batch.snapshot.head)
    if committed is None:
        raise ChangeLogPruned("The change log was pruned beyond this commit.")
    return committed


def _consumers_to_read(tickets: list[Ticket]) -> set[str]:
    """The consumers whose holdings must be read in any case."""
    return {uuid for ticket in tickets for uuid in ticket.command.consumers}


def _assumed_new_consumers(tickets: list[Ticket]) -> set[str]:
    return {uuid for ticket in tickets for uuid in ticket.command.new_consumers}
