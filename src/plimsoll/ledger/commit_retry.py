# SPDX-License-Identifier: Apache-2.0

"""Writes batches of commands so that each is committed once, or not at all, whatever happens to the database.

A batch that was surely not written is tried again for a while. One whose commit got no answer is looked for in
the change log, under the head's lock, before it is answered or tried again: nobody can write in between.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

from sqlalchemy.exc import IntegrityError

from plimsoll.domain.refusals import RowInTheWay
from plimsoll.ledger.batch import Batch
from plimsoll.ledger.command import Answer, Ticket
from plimsoll.ledger.commit import (
    CommitInDoubt,
    Committer,
    Forgotten,
    TakeUp,
)
from plimsoll.ledger.current import CurrentSnapshot
from plimsoll.ledger.group_commit import Lease
from plimsoll.ledger.pacer import CommitPacer
from plimsoll.ledger.pruner import Pruner
from plimsoll.storage.database import Database
from plimsoll.storage.errors import (
    Busy,
    DatabaseFault,
    Interrupted,
    OutcomeUnknown,
    Refusing,
    Unreachable,
)

LOG = logging.getLogger(__name__)

PATIENCE = 8.0
"""Seconds for which a write is tried again before its client is told to come back later."""
FAILURES_OF_LOST_CONNECTIONS = 2
"""How many failures of one commit are put down to connections that were lost while idle, and not to an outage."""
PATIENCE_IN_DOUBT = 45.0
"""Seconds for which we try to find out what became of a commit."""
FIRST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE_IN_A_RACE = 0.002, 0.5, 0.01


class CommitRetrier:
    """For whoever has taken the pen."""

    def __init__(
        self,
        database: Database,
        present: CurrentSnapshot,
        change_log_keep: int,
        clock: Callable[[], datetime],
    ) -> None:
        self._attempts = Committer(database, present, clock)
        self._pruner = Pruner(database, change_log_keep)
        self._database = database
        self._pacer = CommitPacer()

    def nothing_under_way(self) -> AbstractContextManager[object]:
        """Waits for what is being written, and keeps others from writing."""
        return self._attempts.nothing_under_way()

    def write(self, tickets: list[Ticket], take_up: TakeUp, turn: Lease) -> None:
        """Commits tickets together; if one of them cannot be written, each by itself, so that only it fails."""
        try:
            batch = self._commit(tickets, take_up, turn)
        except DatabaseFault as fault:
            for ticket in tickets:
                ticket.answer = fault
        except Exception as error:
            LOG.info("Writing %s commands one by one: %s", len(tickets), error)
            for ticket in tickets:
                self._write_alone(ticket, turn)
        else:
            self._finish(batch)
            # Those refused on a mere belief; and, if the batch was found in the log, those who came after it.
            for ticket in tickets:
                if ticket.answer is None:
                    self._write_alone(ticket, turn)

    def _write_alone(self, ticket: Ticket, turn: Lease) -> None:
        try:
            batch = self._commit([ticket], _nobody_else, turn, assume_new=False)
        except Exception as fault:
            ticket.answer = _in_the_rows(fault)
        else:
            self._finish(batch)

    def _finish(self, batch: Batch) -> None:
        self._pacer.note_commit(time.monotonic(), batch.before, batch.snapshot.head)
        batch.committed()
        self._pruner.after(batch)

    def _commit(
        self, tickets: list[Ticket], take_up: TakeUp, turn: Lease, *, assume_new: bool = True
    ) -> Batch:
        """The batch that was committed. Raises when surely nothing was written, or OutcomeUnknown."""
        self._let_other_nodes_commit()
        began = time.monotonic()
        pause = FIRST_PAUSE
        doubtful: list[Batch] = []
        fault: DatabaseFault
        failures = 0
        while True:
            try:
                batch = self._attempts.make(tickets, take_up, turn, doubtful, assume_new=assume_new)
                self._database.outage.note_success(write=bool(batch.log))
                return batch
            except CommitInDoubt as doubt:
                # Those before it stay in doubt: between Galera nodes, one may have been committed all the same.
                doubtful.append(doubt.batch)
                fault = doubt.fault
            except DatabaseFault as failed:
                fault = failed
            except Exception as error:
                if not doubtful:
                    raise
                # Whatever it is: to write anything again before the doubt is gone might write it twice.
                fault = Unreachable(error)
                assume_new = False
            if isinstance(fault, Busy):
                self._pacer.note_lost_race(time.monotonic())
            patience = PATIENCE_IN_DOUBT if doubtful else PATIENCE
            hopeless = isinstance(fault, Forgotten) if doubtful else isinstance(fault, Refusing)
            if hopeless or time.monotonic() - began + pause > patience:
                self._database.outage.note_failure(fault, write=True)
                LOG.debug(
                    "Giving up on %s writes after %.1f s: %s", len(tickets), time.monotonic() - began, fault
                )
                return self._given_up(doubtful, fault, turn)
            failures += 1
            if failures > FAILURES_OF_LOST_CONNECTIONS:
                self._database.outage.note_failure(fault, write=True)
            LOG.debug("Trying %s writes again: %s", len(tickets), fault)
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, LONGEST_PAUSE_IN_A_RACE if isinstance(fault, Busy) else LONGEST_PAUSE)

    def _let_other_nodes_commit(self) -> None:
        pause = self._pacer.pause(time.monotonic()) if self._database.is_multi_primary else 0.0
        if pause:
            time.sleep(pause)

    def _given_up(self, doubtful: list[Batch], fault: DatabaseFault, turn: Lease) -> Batch:
        """Raises what to tell the clients, unless a doubtful batch was committed after all."""
        if not doubtful:
            raise fault
        try:
            found = self._attempts.found(doubtful, turn)
        except Exception as error:
            raise OutcomeUnknown(fault) from error
        if found is None:
            raise Interrupted(fault)
        return found


def _in_the_rows(fault: Exception) -> Answer:
    """What memory knows it checks by itself, so a row in the way is one that it was not shown."""
    return RowInTheWay() if isinstance(fault, IntegrityError) else fault


def _nobody_else(_: list[Ticket]) -> list[Ticket]:
    """A ticket that is written by itself."""
    return []
