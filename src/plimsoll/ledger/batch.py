# SPDX-License-Identifier: Apache-2.0

"""A batch: the commands of one transaction, decided one after the other. A refused command writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from plimsoll.domain import effects as e
from plimsoll.domain.consumer import EMPTY_HOLDING, Holding
from plimsoll.domain.draft import Draft
from plimsoll.domain.world import LastIds
from plimsoll.ledger.change_codec import encode_lines
from plimsoll.ledger.command import Command, Outcome, Ticket
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.effect_writer import EffectWriter
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.head import Head
from plimsoll.storage.lookup_tables import LookupTables
from plimsoll.storage.sql import Statement
from plimsoll.storage.transaction import Transaction


class Batch:
    """The commands of one transaction. `snapshot` is the snapshot to publish after the commit.

    With `assume_new`, consumers that the client calls new were not read from the database.
    """

    def __init__(
        self,
        database: Database,
        transaction: Transaction,
        base: Snapshot,
        lookup_tables: LookupTables,
        now: datetime,
        *,
        assume_new: bool,
    ) -> None:
        self._dialect = transaction.dialect
        self._now = now
        # Times in the reference's tables are whole seconds, because some of its databases store no fractions.
        self._second = now.replace(microsecond=0)
        self._pause = database.runtime.periodic_yield()
        self._effect_writer = EffectWriter(database, transaction, lookup_tables, self._second, self._pause)
        self._world = base.world
        self._holdings: dict[str, Holding] = {}
        self._pending_effects: list[e.Effect] = []
        """Effects not yet applied to the holdings: they are applied when the next command needs them."""
        self._renamed: list[tuple[str, str]] = []
        """Resource classes that this batch renames (old and new name): the database still has the old names."""
        self._assume_new = assume_new
        self._touched_providers: set[str] = set()
        self._outcomes: list[tuple[Ticket, Outcome]] = []
        self.statements: list[Statement] = []
        """The statements that write the effects, the change log and the head."""
        self.log: list[Change] = []
        """The changes to append to the change log: empty if no command has an effect."""
        self.base_head = base.head
        """The head of the snapshot on which the commands were decided."""
        self.snapshot = base

    @property
    def size(self) -> int:
        """The number of decided commands, refused ones included."""
        return len(self._outcomes)

    def decide(self, tickets: Sequence[Ticket]) -> None:
        """Decide each command on the world that the commands before it produced. Nothing is written yet.

        A ticket that is refused while its consumers are only assumed to be new gets no outcome: it is decided again.
        """
        for ticket in tickets:
            outcome = self._decide(ticket.command)
            if outcome is not None:
                self._outcomes.append((ticket, outcome))

    def add_holdings(self, holdings: dict[str, Holding]) -> None:
        """Add the holdings that the next commands need, by the keys of the consumers' uuids."""
        self._apply_pending()
        for renamed in self._renamed:
            holdings = {key: held.with_class_renamed(*renamed) for key, held in holdings.items()}
        self._holdings |= holdings

    def start_ids_after(self, last_ids: LastIds) -> None:
        """Give rows that the next commands add higher ids than these."""
        self._world = self._world.with_last_ids(last_ids)

    def has_holdings_of(self, consumers: Iterable[str]) -> bool:
        """True if one of these consumers was read, or was added by a command of this batch."""
        self._apply_pending()
        return any(self._key(uuid) in self._holdings for uuid in consumers)

    def close(self) -> None:
        """Make the statements and the next snapshot. No command is decided after this."""
        if self.log:
            head = Head(self.log[-1].seq, changes.new_mark())
            assert head.seq == self.base_head.seq + len(self.log)
            recorded = self._effect_writer.statements(self._world)
            logged = changes.append_statements(self._dialect, self.log, self.snapshot.head, head.mark)
            self.statements = logged + recorded
            self.snapshot = self.snapshot.advanced([head], self._world, self._touched_providers)

    def cache_entries(self) -> None:
        """Cache the ids of lookup tables that the batch read or inserted. To be called when `snapshot` is published.

        The cache is dropped when the database turns out to be restored to a state before the published one, not before
        one that this process has committed and not published.
        """
        self._effect_writer.cache_entries()

    def set_outcomes(self) -> None:
        """Set the outcomes of the tickets. To be called after the commit only."""
        for ticket, outcome in self._outcomes:
            assert ticket.outcome is None
            ticket.outcome = outcome

    def _decide(self, command: Command) -> Outcome | None:
        """Return the outcome of one command, or None if it has to be decided again without `assume_new`."""
        if self._pending_effects:
            self._apply_pending()
        draft = Draft(self._world, self._second, self._holdings, self._pause)
        try:
            refusal = command.decide(draft)
        except DatabaseFault:  # comparing texts may need a query for the collation
            raise
        except Exception as fault:  # a bug in one command must not fail the other commands of the batch
            return fault
        if refusal is not None:
            return None if self._assume_new and command.new_consumers else refusal
        if draft.effects:
            self._record(command, draft)
        return self._world

    def _record(self, command: Command, draft: Draft) -> None:
        """Record the effects of an accepted command, for the tables and for the change log."""
        before = self._world
        recorded, self._world = self._effect_writer.record(draft)
        self._pending_effects += recorded
        for effect in recorded:
            self._touched_providers.update(effect.providers(before))
            self._pause()
        seq = self.log[-1].seq if self.log else self.snapshot.head.seq
        for line in encode_lines(recorded, self._pause):
            seq += 1
            self.log.append(Change(seq, self._now, command.actor, command.operation, line))

    def _apply_pending(self) -> None:
        """Update the holdings, so that a later command of the batch sees the effects of earlier ones."""
        for effect in self._pending_effects:
            apply = _APPLY.get(type(effect))
            if apply is not None:
                apply(self, effect)
            self._pause()
        self._pending_effects.clear()

    def _key(self, consumer: str) -> str:
        return self._world.semantics.key(consumer)

    def _apply_allocations(self, effect: e.AllocationsReplaced) -> None:
        key = self._key(effect.consumer)
        held = self._holdings.get(key, EMPTY_HOLDING)
        self._holdings[key] = Holding(held.consumer, effect.after)

    def _apply_consumer(self, effect: e.ConsumerAdded | e.ConsumerChanged) -> None:
        key = self._key(effect.consumer.uuid)
        held = self._holdings.get(key, EMPTY_HOLDING)
        self._holdings[key] = Holding(effect.consumer, held.allocations, held.orphans)

    def _apply_consumer_removal(self, effect: e.ConsumerRemoved) -> None:
        self._holdings[self._key(effect.uuid)] = EMPTY_HOLDING

    def _apply_class_rename(self, effect: e.ClassRenamed) -> None:
        renamed = effect.name, effect.new_name
        self._renamed.append(renamed)
        for key, held in self._holdings.items():
            self._holdings[key] = held.with_class_renamed(*renamed)


_APPLY: Mapping[type[e.Effect], Callable[[Batch, Any], None]] = {
    e.AllocationsReplaced: Batch._apply_allocations,
    e.ConsumerAdded: Batch._apply_consumer,
    e.ConsumerChanged: Batch._apply_consumer,
    e.ConsumerRemoved: Batch._apply_consumer_removal,
    e.ClassRenamed: Batch._apply_class_rename,
}
