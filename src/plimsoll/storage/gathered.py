# SPDX-License-Identifier: Apache-2.0

"""What claims write, gathered over a batch of commands and written with one statement of each kind.

Only the last word counts: a provider's last generation, what a consumer holds at the end, and whether it is
still there. Nothing that is written before it may depend on what is gathered here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from plimsoll.domain.consumer import Consumer
from plimsoll.domain.world import World
from plimsoll.storage import tables as t
from plimsoll.storage.registers import Entry, Reading, Registers
from plimsoll.storage.statements import Statement, change, deletion, insertion

_ALLOCATION = ("resource_provider_id", "resource_class_id", "used", "consumer_id", "created_at")
_CONSUMER = ("project_id", "user_id", "consumer_type_id", "generation")

Held = tuple[int, int, int]
"""Ids of the provider and of the class, and the amount."""


class Gathered:
    """What one batch of commands has yet to write. First `prepare`, then `statements`; `remember` after the commit."""

    def __init__(self, conn: Connection, registers: Registers, now: datetime) -> None:
        self._dialect = conn.dialect
        self._now = now
        self._projects = Reading(registers.projects, conn, now)
        self._users = Reading(registers.users, conn, now)
        self._project_of: dict[str, Entry] = {}
        self._user_of: dict[str, Entry] = {}
        self._generations: dict[int, int] = {}
        self._held: dict[str, Sequence[Held]] = {}
        self._let_go: set[str] = set()
        self._consumers: dict[str, tuple[bool, Consumer | None]] = {}
        """Whether each was there before the batch, and what it is at the end."""

    def raise_generation(self, provider_id: int, generation: int) -> None:
        self._generations[provider_id] = generation

    def replace_allocations(self, consumer: str, *, held_some: bool, now_holds: Sequence[Held]) -> None:
        if held_some:
            self._let_go.add(consumer)
        self._held[consumer] = now_holds

    def put_consumer(self, consumer: Consumer, *, was_there: bool) -> None:
        self._consumers[consumer.uuid] = self._was_there(consumer.uuid, was_there), consumer

    def remove_consumer(self, uuid: str) -> None:
        self._consumers[uuid] = self._was_there(uuid, True), None

    def _was_there(self, uuid: str, said: bool) -> bool:
        """The first word on a consumer tells whether it was there before the batch."""
        return self._consumers[uuid][0] if uuid in self._consumers else said

    def prepare(self) -> None:
        """Finds or makes what `statements` needs to know from the database."""
        kept = [consumer for _, consumer in self._consumers.values() if consumer is not None]
        if kept:
            self._project_of = self._projects.entries([consumer.project for consumer in kept])
            self._user_of = self._users.entries([consumer.user for consumer in kept])

    def statements(self, world: World) -> list[Statement]:
        """All that is to be written. `world` is the world after the last effect."""
        dialect, now = self._dialect, self._now
        statements: list[Statement] = []
        if self._generations:
            rows = list(self._generations.items())
            statements += change(
                dialect, t.resource_providers, "id", ("generation",), rows, ("updated_at", now)
            )
        let_go = [uuid for uuid in self._held if uuid in self._let_go or self._was_there(uuid, True)]
        if let_go:
            statements += deletion(dialect, t.allocations, "consumer_id", let_go)
        held = [(*each, uuid, now) for uuid, holding in self._held.items() for each in holding]
        if held:
            statements += insertion(dialect, t.allocations, _ALLOCATION, held)
        if self._consumers:
            statements += self._consumer_statements(world)
        return statements

    def remember(self) -> None:
        """The transaction is committed: owners that it made are good."""
        self._projects.remember()
        self._users.remember()

    def _consumer_statements(self, world: World) -> list[Statement]:
        dialect, now = self._dialect, self._now
        gone, changed, added = [], [], []
        for uuid, (was_there, consumer) in self._consumers.items():
            if consumer is None:
                if was_there:
                    gone.append(uuid)
            elif was_there:
                changed.append(self._row(consumer, world))
            else:
                added.append((*self._row(consumer, world), now))
        statements: list[Statement] = []
        if gone:
            statements += deletion(dialect, t.consumers, "uuid", gone)
        if changed:
            statements += change(dialect, t.consumers, "uuid", _CONSUMER, changed, ("updated_at", now))
        if added:
            statements += insertion(dialect, t.consumers, ("uuid", *_CONSUMER, "created_at"), added)
        return statements

    def _row(self, consumer: Consumer, world: World) -> tuple[object, ...]:
        return (
            consumer.uuid,
            self._project_of[consumer.project].id,
            self._user_of[consumer.user].id,
            None if consumer.type is None else world.consumer_types.by_name[consumer.type].id,
            consumer.generation,
        )
