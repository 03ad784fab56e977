# SPDX-License-Identifier: Apache-2.0

"""Commands decided one after the other in one transaction. A refused one leaves no trace in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from plimsoll.domain import effects as e
from plimsoll.domain.consumer import EMPTY_HOLDING, Holding
from plimsoll.domain.draft import Draft
from plimsoll.domain.world import LastIds
from plimsoll.ledger.change_codec import lines
from plimsoll.ledger.command import Answer, Command, Ticket
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.runtime.scheduling import Pace
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.effect_writer import EffectWriter
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.head import Head
from plimsoll.storage.lookup_tables import LookupTables
from plimsoll.storage.sql import Statement


class Batch:
    """One transaction's worth of commands. After the commit, `snapshot` is what to publish.

    If clients are `believed`, the consumers that they say are new were not looked at.
    """

    def __init__(
        self,
        database: Database,
        conn: Connection,
        present: Snapshot,
        registers: LookupTables,
        now: datetime,
        *,
        believed: bool,
    ) -> None:
        self._conn = conn
        self._now = now
        # Times in the reference's tables are whole seconds, as some of its databases keep no more.
        self._second = now.replace(microsecond=0)
        self._pause = Pace()
        self._recorder = EffectWriter(database, conn, registers, self._second, self._pause)
        self._world = present.world
        self._holdings: dict[str, Holding] = {}
        self._news: list[e.Effect] = []
        """Effects that the holdings do not show yet: whoever is the last in a batch has nobody to show them to."""
        self._renamed: list[tuple[str, str]] = []
        """Classes that have other names than the database knows yet."""
        self._believed = believed
        self._touched: set[str] = set()
        self._answers: list[tuple[Ticket, Answer]] = []
        self.statements: list[Statement] = []
        """What was accepted, to be written and committed."""
        self.log: list[Change] = []
        self.before = present.head
        """The head that the commands were decided at."""
        self.snapshot = present

    def decide(self, tickets: Sequence[Ticket]) -> None:
        """Decides each command on the world that those before it left. What was accepted is yet to be written.

        A ticket that is refused on a mere belief gets no answer.
        """
        for ticket in tickets:
            answer = self._decide(ticket.command)
            if answer is not None:
                self._answers.append((ticket, answer))

    def see(self, holdings: dict[str, Holding]) -> None:
        """What consumers hold whom the commands to come are about, by the keys of their uuids."""
        self._keep_up()
        for renamed in self._renamed:
            holdings = {key: held.with_class_renamed(*renamed) for key, held in holdings.items()}
        self._holdings |= holdings

    def count_from(self, last_ids: LastIds) -> None:
        """What the commands to come add gets higher ids than these."""
        self._world = self._world.counting_from(last_ids)

    def is_about(self, consumers: Iterable[str]) -> bool:
        """Whether one of these was seen, or is held by a command so far to be new."""
        self._keep_up()
        return any(self._key(uuid) in self._holdings for uuid in consumers)

    def close(self) -> None:
        """All are decided that will be."""
        if self.log:
            head = Head(self.log[-1].seq, changes.new_mark())
            recorded = self._recorder.statements(self._world)
            logged = changes.appending(self._conn.dialect, self.log, self.snapshot.head, head.mark)
            self.statements = logged + recorded
            self.snapshot = self.snapshot.advanced(head, self._world, self._touched)

    def committed(self) -> None:
        """What was decided is true now: it may be remembered and told."""
        self._recorder.remember()
        for ticket, answer in self._answers:
            ticket.answer = answer

    def _decide(self, command: Command) -> Answer | None:
        if self._news:
            self._keep_up()
        draft = Draft(self._world, self._second, self._holdings, self._pause)
        try:
            refusal = command.decide(draft)
        except DatabaseFault:  # to compare texts, memory may have to ask the database
            raise
        except Exception as fault:  # a mistake of ours in one command must not fail its neighbours
            return fault
        if refusal is not None:
            return None if self._believed and command.new_consumers else refusal
        if draft.effects:
            self._record(command, draft)
        return self._world

    def _record(self, command: Command, draft: Draft) -> None:
        before = self._world
        recorded, self._world = self._recorder.record(draft)
        self._news += recorded
        for effect in recorded:
            self._touched.update(effect.providers(before))
            self._pause()
        seq = self.log[-1].seq if self.log else self.snapshot.head.seq
        for line in lines(recorded, self._pause):
            seq += 1
            self.log.append(Change(seq, self._now, command.actor, command.operation, line))

    # A later command of the batch must see what an earlier one left a consumer with.

    def _keep_up(self) -> None:
        for effect in self._news:
            keep = _KEEPERS.get(type(effect))
            if keep is not None:
                keep(self, effect)
            self._pause()
        self._news.clear()

    def _key(self, consumer: str) -> str:
        return self._world.keeping.key(consumer)

    def _keep_allocations(self, effect: e.AllocationsReplaced) -> None:
        key = self._key(effect.consumer)
        held = self._holdings.get(key, EMPTY_HOLDING)
        self._holdings[key] = Holding(held.consumer, effect.after)

    def _keep_consumer(self, effect: e.ConsumerAdded | e.ConsumerChanged) -> None:
        key = self._key(effect.consumer.uuid)
        held = self._holdings.get(key, EMPTY_HOLDING)
        self._holdings[key] = Holding(effect.consumer, held.allocations, held.strays)

    def _forget_consumer(self, effect: e.ConsumerRemoved) -> None:
        self._holdings[self._key(effect.uuid)] = EMPTY_HOLDING

    def _rename_class(self, effect: e.ClassRenamed) -> None:
        renamed = effect.name, effect.new_name
        self._renamed.append(renamed)
        for key, held in self._holdings.items():
            self._holdings[key] = held.with_class_renamed(*renamed)


_KEEPERS: Mapping[type[e.Effect], Callable[[Batch, Any], None]] = {
    e.AllocationsReplaced: Batch._keep_allocations,
    e.ConsumerAdded: Batch._keep_consumer,
    e.ConsumerChanged: Batch._keep_consumer,
    e.ConsumerRemoved: Batch._forget_consumer,
    e.ClassRenamed: Batch._rename_class,
}
