# SPDX-License-Identifier: Apache-2.0

"""Writes batches of commands so that each is committed once, or not at all, whatever happens to the database.

A batch that was surely not written is tried again for a while. One whose commit got no answer is looked for in
the change log, under the head's lock, before it is answered or tried again: nobody can write in between.
Nodes of a Galera cluster race for the head, and the winner is the quickest to start the next race: whoever has lost
one lately rests a little after its commits, so that all come to write.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from plimsoll.domain.consumer import Holding
from plimsoll.domain.refusals import RowInTheWay
from plimsoll.ledger.batch import Batch
from plimsoll.ledger.command import Answer, Ticket
from plimsoll.ledger.present import Present
from plimsoll.ledger.pruner import Pruner
from plimsoll.ledger.snapshot import Origin, Snapshot
from plimsoll.storage import changes
from plimsoll.storage.consumers import Asked
from plimsoll.storage.engine import Database
from plimsoll.storage.faults import Busy, DatabaseFault, OutcomeUnknown, Refusing, Unreachable
from plimsoll.storage.head import Head
from plimsoll.storage.owners import projects, users

LOG = logging.getLogger(__name__)

PATIENCE = 8.0
"""Seconds for which a write is tried again before its client is told to come back later."""
PATIENCE_IN_DOUBT = 45.0
"""Seconds for which we try to find out what became of a commit."""
FIRST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE_IN_A_RACE = 0.002, 0.5, 0.01
LONGEST_REST = 0.03
"""Seconds that a scribe leaves to others after a commit,"""
RACING = 2.0
"""for so long after it has lost a race."""

TakeUp = Callable[[list[Ticket]], list[Ticket]]
"""Adds to tickets what has queued up meanwhile, and returns that."""


class Scribe:
    """For whoever holds the pen: not to be used by two threads at once."""

    def __init__(
        self, database: Database, present: Present, change_log_keep: int, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._present = present
        self._clock = clock
        self._projects = projects(database.keeping())
        self._users = users(database.keeping())
        self._origin: Origin | None = None
        self._pruner = Pruner(database, change_log_keep)
        self._lost_a_race = self._last_commit = -RACING

    def write(self, tickets: list[Ticket], take_up: TakeUp) -> None:
        """Commits tickets together; if one of them cannot be written, each by itself, so that only it fails."""
        try:
            batch = self._commit(tickets, take_up)
        except DatabaseFault as fault:
            for ticket in tickets:
                ticket.answer(fault)
        except Exception as error:
            LOG.info("Writing %s commands one by one: %s", len(tickets), error)
            for ticket in tickets:
                self._write_alone(ticket)
        else:
            self._finish(batch)
            # Those refused on a mere belief; and, if the batch was found in the log, those who came after it.
            for ticket in tickets:
                if not ticket.answered:
                    self._write_alone(ticket)

    def _write_alone(self, ticket: Ticket) -> None:
        try:
            batch = self._commit([ticket], _nobody_else, believing=False)
        except Exception as fault:
            ticket.answer(_in_the_rows(fault))
        else:
            self._finish(batch)

    def _finish(self, batch: Batch) -> None:
        self._last_commit = time.monotonic()
        batch.committed()
        self._pruner.after(batch)

    def _commit(self, tickets: list[Ticket], take_up: TakeUp, *, believing: bool = True) -> Batch:
        """The batch that was committed. Raises when surely nothing was written, or OutcomeUnknown."""
        began = time.monotonic()
        pause = FIRST_PAUSE
        doubtful: list[Batch] = []
        fault: DatabaseFault
        self._leave_time_to_others()
        while True:
            try:
                return self._attempt(tickets, take_up, doubtful, believing)
            except _InDoubt as doubt:
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
            if isinstance(fault, Busy):
                self._lost_a_race = time.monotonic()
            patience = PATIENCE_IN_DOUBT if doubtful else PATIENCE
            hopeless = isinstance(fault, _Forgotten) if doubtful else isinstance(fault, Refusing)
            if hopeless or time.monotonic() - began + pause > patience:
                LOG.error(
                    "Giving up on %s writes after %.1f s: %s", len(tickets), time.monotonic() - began, fault
                )
                raise OutcomeUnknown(fault) if doubtful else fault
            LOG.info("Trying %s writes again: %s", len(tickets), fault)
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, LONGEST_PAUSE_IN_A_RACE if isinstance(fault, Busy) else LONGEST_PAUSE)

    def _leave_time_to_others(self) -> None:
        now = time.monotonic()
        rest = self._last_commit + random.uniform(0, LONGEST_REST) - now
        if rest > 0 and now - self._lost_a_race < RACING:
            time.sleep(rest)

    def _attempt(
        self, tickets: list[Ticket], take_up: TakeUp, doubtful: Sequence[Batch], believing: bool
    ) -> Batch:
        """One transaction: decides the tickets and commits, or finds that a doubtful batch was committed."""
        batch: Batch | None = None
        with ExitStack() as publishing:
            try:
                with self._database.write() as conn:
                    head, holdings = self._begin(conn, _known(tickets))
                    committed = next((each for each in doubtful if _was_committed(conn, each)), None)
                    if committed is not None:
                        return committed
                    unseen = _known(take_up(tickets))
                    snapshot = self._at(conn, head)
                    believed = believing and not snapshot.origin.has_unrecorded
                    if not believed:
                        unseen |= _said_to_be_new(tickets)
                    holdings |= self._holdings(conn, unseen)
                    batch = Batch(
                        self._database,
                        conn,
                        snapshot,
                        self._projects,
                        self._users,
                        self._clock(),
                        holdings,
                        believed=believed,
                    )
                    batch.decide(tickets)
                    # From the commit until the new snapshot stands, readers wait for it.
                    publishing.enter_context(self._present.replacing())
                    batch.write()
            except OutcomeUnknown as fault:
                if batch is None:  # nothing was to be committed but a look into the log
                    raise Unreachable(fault) from fault
                if batch.log:
                    raise _InDoubt(batch, fault) from fault
            assert batch is not None
            self._present.publish(batch.snapshot)
        return batch

    def _begin(self, conn: Connection, consumers: set[str]) -> tuple[Head, dict[str, Holding]]:
        """Takes the head, and reads what these consumers hold."""
        asked = self._asked(conn, consumers)
        (head,), *answers = self._database.ask_together(
            conn, [self._database.taking_the_head(), *asked.queries]
        )
        return Head(*head), asked.holdings(*answers)

    def _at(self, conn: Connection, head: Head) -> Snapshot:
        """The snapshot at the head. If everything had to be read for it, nothing older is to be trusted."""
        snapshot = self._present.at(conn, head)
        if snapshot.origin is not self._origin:
            self._projects.forget()
            self._users.forget()
            self._origin = snapshot.origin
        return snapshot

    def _holdings(self, conn: Connection, consumers: set[str]) -> dict[str, Holding]:
        asked = self._asked(conn, consumers)
        return asked.holdings(*self._database.ask_together(conn, asked.queries)) if asked.queries else {}

    def _asked(self, conn: Connection, consumers: set[str]) -> Asked:
        return Asked(conn.dialect, consumers, self._database.keeping())


class _Forgotten(DatabaseFault):
    """It will never be known what became of a commit: the change log does not reach back to it any more."""


class _InDoubt(Exception):
    """A batch may have been committed or not."""

    def __init__(self, batch: Batch, fault: OutcomeUnknown) -> None:
        super().__init__(str(fault))
        self.batch = batch
        self.fault = fault


def _was_committed(conn: Connection, batch: Batch) -> bool:
    there = changes.is_there(conn, batch.snapshot.head)
    if there is None:
        raise _Forgotten("The change log does not reach back to it any more.")
    return there


def _known(tickets: list[Ticket]) -> set[str]:
    """The consumers that must be looked at in any case."""
    return {uuid for ticket in tickets for uuid in ticket.command.consumers}


def _said_to_be_new(tickets: list[Ticket]) -> set[str]:
    return {uuid for ticket in tickets for uuid in ticket.command.new_consumers}


def _in_the_rows(fault: Exception) -> Answer:
    """What memory knows it checks by itself, so a row in the way is one that it was not shown."""
    return RowInTheWay() if isinstance(fault, IntegrityError) else fault


def _nobody_else(_: list[Ticket]) -> list[Ticket]:
    """A ticket that is written by itself."""
    return []
