# SPDX-License-Identifier: Apache-2.0

"""Retries commits, so that each command is committed exactly once or not at all, also if the database fails.

A batch that certainly was not written is retried with exponential backoff. If the connection failed during the commit,
the outcome is unknown: the batch is searched in the change log while the head is locked, so that no other process can
write in between. It is retried only if it is not there.
"""

from __future__ import annotations

import logging
import random
import time
from contextlib import AbstractContextManager

from sqlalchemy.exc import IntegrityError

from plimsoll.domain.refusals import HiddenRowConflict
from plimsoll.ledger.batch import Batch
from plimsoll.ledger.command import Outcome, Ticket
from plimsoll.ledger.commit import ChangeLogPruned, CommitInDoubt, Committer, TakeQueued
from plimsoll.ledger.group_commit import Lease
from plimsoll.ledger.pacer import CommitPacer
from plimsoll.ledger.pruner import Pruner, Retention
from plimsoll.metrics import Metrics
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy, DatabaseFault, Interrupted, NotWritable, OutcomeUnknown, Unreachable

LOG = logging.getLogger(__name__)

RETRY_SECONDS = 8.0
"""Seconds for which a write is retried before the client gets a 503."""
SILENT_FAILURES = 2
"""So many failures of one commit are not reported as an outage: idle connections may have been closed meanwhile."""
OUTCOME_RETRY_SECONDS = 45.0
"""Seconds for which the outcome of a commit is searched before it is reported as unknown."""
FIRST_BACKOFF, MAX_BACKOFF, MAX_CONFLICT_BACKOFF = 0.002, 0.5, 0.01
"""Seconds. The last one applies after a deadlock or a lost race for the head."""


class CommitRetrier:
    """Commits tickets with retries, and sets their outcomes. The caller holds the group commit lock."""

    def __init__(
        self, database: Database, committer: Committer, retention: Retention, metrics: Metrics
    ) -> None:
        self._committer = committer
        self._metrics = metrics
        self._pruner = Pruner(database, retention)
        self._database = database
        self._pacer = CommitPacer()

    def block_commits(self) -> AbstractContextManager[object]:
        """Wait for the batch in flight, and let no other batch be sent while the context is open."""
        return self._committer.block_commits()

    def write(self, tickets: list[Ticket], take_queued: TakeQueued, lease: Lease) -> None:
        """Commit the tickets in one batch. If a row cannot be written, commit each by itself: only that one fails."""
        try:
            batch = self._commit(tickets, take_queued, lease)
        except DatabaseFault as fault:
            for ticket in tickets:
                ticket.outcome = fault
        except Exception as error:
            LOG.info("A batch of %s commands failed, each is written by itself now: %s", len(tickets), error)
            for ticket in tickets:
                self._write_single(ticket, lease)
        else:
            self._finish(batch)
            # Tickets refused while consumers were assumed to be new; and, if an earlier attempt turned out to be
            # committed, tickets that joined a later attempt.
            for ticket in tickets:
                if ticket.outcome is None:
                    self._write_single(ticket, lease)

    def _write_single(self, ticket: Ticket, lease: Lease) -> None:
        try:
            batch = self._commit([ticket], _take_none, lease, assume_new=False)
        except Exception as fault:
            ticket.outcome = _as_outcome(fault)
        else:
            self._finish(batch)

    def _finish(self, batch: Batch) -> None:
        self._pacer.note_commit(time.monotonic(), batch.base_head, batch.snapshot.head)
        batch.set_outcomes()
        if batch.log:
            self._metrics.batch_committed(batch.size)
        self._pruner.on_commit(batch)

    def _commit(
        self, tickets: list[Ticket], take_queued: TakeQueued, lease: Lease, *, assume_new: bool = True
    ) -> Batch:
        """Return the committed batch. Raise OutcomeUnknown, or another exception if certainly nothing was written."""
        self._pace()
        began = time.monotonic()
        backoff = FIRST_BACKOFF
        in_doubt: list[CommitInDoubt] = []
        fault: DatabaseFault
        failures = 0
        while True:
            try:
                batch = self._committer.commit(tickets, take_queued, lease, in_doubt, assume_new=assume_new)
                self._database.outage.note_success(write=bool(batch.log))
                return batch
            except CommitInDoubt as doubt:
                # Earlier attempts stay in doubt: on a Galera cluster, one of them may be committed at another node.
                in_doubt.append(doubt)
                fault = doubt.fault
            except DatabaseFault as failed:
                fault = failed
            except Exception as error:
                if not in_doubt:
                    raise
                # Not raised: writing the tickets again before the outcome is known could write them twice.
                fault = Unreachable(error)
                assume_new = False
            if isinstance(fault, Busy):
                self._pacer.note_lost_race(time.monotonic())
            limit = OUTCOME_RETRY_SECONDS if in_doubt else RETRY_SECONDS
            is_final = isinstance(fault, ChangeLogPruned) if in_doubt else isinstance(fault, NotWritable)
            if is_final or time.monotonic() - began + backoff > limit:
                self._database.outage.note_failure(fault, write=True)
                self._metrics.database_failed(fault)
                LOG.debug(
                    "Retries of %s writes ended after %.1f s: %s",
                    len(tickets),
                    time.monotonic() - began,
                    fault,
                )
                return self._give_up(in_doubt, fault, lease)
            failures += 1
            self._metrics.commit_retried(fault)
            if failures > SILENT_FAILURES:
                self._database.outage.note_failure(fault, write=True)
            LOG.debug("Retrying %s writes: %s", len(tickets), fault)
            time.sleep(backoff * random.uniform(0.5, 1))
            backoff = min(2 * backoff, MAX_CONFLICT_BACKOFF if isinstance(fault, Busy) else MAX_BACKOFF)

    def _pace(self) -> None:
        """On a Galera cluster, pause so that processes at other nodes commit too."""
        pause = self._pacer.pause(time.monotonic()) if self._database.is_multi_primary else 0.0
        if pause:
            time.sleep(pause)

    def _give_up(self, in_doubt: list[CommitInDoubt], fault: DatabaseFault, lease: Lease) -> Batch:
        """Raise the fault for the clients, unless a batch in doubt turns out to be committed."""
        if not in_doubt:
            raise fault
        try:
            found = self._committer.find_committed(in_doubt, lease)
        except Exception as error:
            raise OutcomeUnknown(fault) from error
        if found is None:
            raise Interrupted(fault)
        return found


def _as_outcome(fault: Exception) -> Outcome:
    """Return the outcome of a failed ticket. A duplicate key means a row in SQL that memory does not have."""
    return HiddenRowConflict() if isinstance(fault, IntegrityError) else fault


def _take_none(_: list[Ticket]) -> list[Ticket]:
    """A TakeQueued for a ticket that is written by itself: add no others."""
    return []
