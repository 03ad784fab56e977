# SPDX-License-Identifier: Apache-2.0

"""One try to write a batch of tickets: a transaction that decides them and commits, or does nothing.

In turn: it takes the head, brings memory up to it, decides and commits. Or at once, for who seems to be alone: it
decides on what memory has, and says in the one message that writes it all where it takes the head to be; the database
refuses if it is elsewhere. While that is under way the next batch is decided already, on what the world will be.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from sqlalchemy import Connection

from plimsoll.domain.consumer import Holding
from plimsoll.domain.world import NO_IDS, LastIds
from plimsoll.ledger.batch import Batch
from plimsoll.ledger.command import Ticket
from plimsoll.ledger.current import CurrentSnapshot
from plimsoll.ledger.group_commit import Lease
from plimsoll.ledger.snapshot import Origin, Snapshot
from plimsoll.runtime.scheduling import yield_to_pending
from plimsoll.storage import changes
from plimsoll.storage.consumers import Asked
from plimsoll.storage.database import Database
from plimsoll.storage.errors import (
    DatabaseFault,
    OutcomeUnknown,
    Overtaken,
    Unreachable,
)
from plimsoll.storage.head import GUARD, Head
from plimsoll.storage.load import LAST_IDS
from plimsoll.storage.lookup_tables import LookupTables

LOG = logging.getLogger(__name__)

ALONE = 1.0
"""Seconds without a write of anybody else's, and without a fault, after which we take ourselves to be alone."""

TakeUp = Callable[[list[Ticket]], list[Ticket]]
"""Adds to tickets what has queued up meanwhile, and returns that."""


class Committer:
    """For whoever has the turn; it is passed on as soon as the next batch can be decided."""

    def __init__(self, database: Database, present: CurrentSnapshot, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._present = present
        self._clock = clock
        self._registers = LookupTables(database.keeping())
        self._origin: Origin | None = None
        self._not_alone = -ALONE
        self._guarded: bool | None = None
        # From the moment when a batch goes to the database until its snapshot stands. Whoever waits for it has the
        # pen: nobody else can wait for it then, and whoever has it does not wait for the pen.
        self._under_way = threading.Lock()
        self._ahead: Snapshot | None = None
        """What will be the newest snapshot once the batch that is under way is committed."""

    def make(
        self,
        tickets: list[Ticket],
        take_up: TakeUp,
        turn: Lease,
        doubtful: Sequence[Batch] = (),
        *,
        assume_new: bool,
    ) -> Batch:
        """Decides the tickets and commits, or finds that a doubtful batch was committed."""
        turn.come_back()
        ahead = self._ahead
        basis = ahead or self._present.newest
        if assume_new and not doubtful and self._seems_alone(basis, tickets):
            try:
                return self._commit_optimistic(basis, tickets, take_up, turn)
            except _NotAtOnce:
                pass
            except Overtaken:
                if ahead is None:  # else it may be that our own batch before this one has failed
                    self._not_alone = time.monotonic()
            except (DatabaseFault, CommitInDoubt):
                self._not_alone = time.monotonic()
                raise
            turn.come_back()
        return self._commit_locked(tickets, take_up, doubtful, assume_new)

    def found(self, doubtful: Sequence[Batch], turn: Lease) -> Batch | None:
        """The one of these that was committed. It is asked under the head, so that the answer is final."""
        turn.come_back()
        with self._under_way, self._database.write() as conn:
            changes.lock_head(conn)
            return next((each for each in doubtful if _was_committed(conn, each)), None)

    def nothing_under_way(self) -> AbstractContextManager[object]:
        return self._under_way

    def _seems_alone(self, basis: Snapshot, tickets: list[Ticket]) -> bool:
        """And memory has all that the tickets are decided on."""
        if time.monotonic() - self._not_alone <= ALONE or basis.origin.has_unrecorded:
            return False
        for ticket in tickets:
            if ticket.command.consumers:
                return False
        return self._guarded or self._head_is_guarded()

    def _head_is_guarded(self) -> bool:
        """The database is asked once. Whoever has copied the database without its constraints pays for it with round trips only."""
        if self._guarded is None:
            try:
                self._guarded = self._database.guards_the_head()
            except DatabaseFault:
                return False
            if not self._guarded:
                LOG.warning(
                    "The table plimsoll_head has lost its constraint %s: writes take longer without it", GUARD
                )
        return self._guarded

    def _commit_optimistic(
        self, basis: Snapshot, tickets: list[Ticket], take_up: TakeUp, turn: Lease
    ) -> Batch:
        is_next = False
        try:
            with self._database.write(basis.head) as conn:
                batch = self._batch(conn, basis, believed=True)
                batch.decide(tickets)
                is_next = self._under_way.acquire(blocking=False)
                if not is_next:
                    is_next = self._under_way.acquire()
                    yield_to_pending()  # those of the batch before are told before this one is sent
                if self._present.newest is not basis:
                    raise Overtaken
                late = take_up(tickets)
                if late:
                    known = _known(late)
                    if batch.is_about(known):
                        raise _NotAtOnce
                    batch.see(self._holdings(conn, known))
                    batch.decide(late)
                batch.close()
                if not batch.log:
                    raise _NotAtOnce
                self._ahead = batch.snapshot
                turn.pass_on()
                self._send(batch, conn)
            return batch
        finally:
            if is_next:
                self._ahead = None
                self._under_way.release()

    def _commit_locked(
        self, tickets: list[Ticket], take_up: TakeUp, doubtful: Sequence[Batch], assume_new: bool
    ) -> Batch:
        try:
            with self._under_way, self._database.write() as conn:
                head, last_ids, holdings = self._begin(conn, _known(tickets), assume_new)
                for each in doubtful:
                    if _was_committed(conn, each):
                        return each
                unseen = _known(take_up(tickets))
                snapshot = self._at(conn, head)
                believed = assume_new and not snapshot.origin.has_unrecorded
                if not believed:
                    unseen |= _said_to_be_new(tickets)
                batch = self._batch(conn, snapshot, believed=believed)
                batch.count_from(last_ids)
                batch.see(holdings | self._holdings(conn, unseen))
                batch.decide(tickets)
                batch.close()
                self._send(batch, conn)
            return batch
        except OutcomeUnknown as fault:  # nothing was to be committed
            raise Unreachable(fault) from fault

    def _send(self, batch: Batch, conn: Connection) -> None:
        """From the commit until the new snapshot stands, readers wait for it."""
        with self._present.replacing:
            try:
                if batch.statements:
                    self._database.run_last(conn, batch.statements)
            except OutcomeUnknown as fault:
                raise CommitInDoubt(batch, fault) from fault
            self._present.newest = batch.snapshot

    def _batch(self, conn: Connection, snapshot: Snapshot, *, believed: bool) -> Batch:
        if snapshot.origin is not self._origin:  # everything was read anew: nothing older is to be trusted
            self._registers.forget()
            self._guarded = None
            self._origin = snapshot.origin
        return Batch(self._database, conn, snapshot, self._registers, self._clock(), believed=believed)

    def _begin(
        self, conn: Connection, consumers: set[str], assume_new: bool
    ) -> tuple[Head, LastIds, dict[str, Holding]]:
        """Takes the head, and reads what these consumers hold; and which ids are taken, unless memory is believed."""
        asked = self._asked(conn, consumers)
        counted = [] if assume_new else [LAST_IDS]
        (head,), *answers = self._database.ask_together(
            conn, [self._database.taking_the_head(), *counted, *asked.queries]
        )
        last_ids = NO_IDS if assume_new else LastIds(*answers.pop(0)[0])
        return Head(*head), last_ids, asked.holdings(*answers)

    def _at(self, conn: Connection, head: Head) -> Snapshot:
        if head != self._present.newest.head:
            self._not_alone = time.monotonic()
        return self._present.at(conn, head)

    def _holdings(self, conn: Connection, consumers: set[str]) -> dict[str, Holding]:
        if not consumers:
            return {}
        asked = self._asked(conn, consumers)
        return asked.holdings(*self._database.ask_together(conn, asked.queries))

    def _asked(self, conn: Connection, consumers: set[str]) -> Asked:
        return Asked(conn.dialect, consumers, self._database.keeping())


class Forgotten(DatabaseFault):
    """It will never be known what became of a commit: the change log does not reach back to it any more."""


class CommitInDoubt(Exception):
    """A batch may have been committed or not."""

    def __init__(self, batch: Batch, fault: OutcomeUnknown) -> None:
        super().__init__(str(fault))
        self.batch = batch
        self.fault = fault


class _NotAtOnce(Exception):
    """Nothing is to be written, and so nothing would tell whether the head is where it was taken to be.

    Or a client was believed that a consumer is new, and another client knows it.
    """


def _was_committed(conn: Connection, batch: Batch) -> bool:
    there = changes.is_there(conn, batch.snapshot.head)
    if there is None:
        raise Forgotten("The change log does not reach back to it any more.")
    return there


def _known(tickets: list[Ticket]) -> set[str]:
    """The consumers that must be looked at in any case."""
    return {uuid for ticket in tickets for uuid in ticket.command.consumers}


def _said_to_be_new(tickets: list[Ticket]) -> set[str]:
    return {uuid for ticket in tickets for uuid in ticket.command.new_consumers}
