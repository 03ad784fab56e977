# SPDX-License-Identifier: Apache-2.0

"""What claims write, gathered over a batch of commands and written with one statement of each kind.

Only the last word counts: a provider's last generation, what a consumer holds at the end, and whether it is
still there. Nothing that is written before it may depend on what is gathered here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import Connection

from plimsoll.domain.consumer import Consumer
from plimsoll.domain.world import World
from plimsoll.storage import tables as t
from plimsoll.storage.registers import Entry, Registers
from plimsoll.storage.statements import Statement, change, deletion, insertion

Held = tuple[int, int, int]
"""Ids of the provider and of the class, and the amount."""


class Gathered:
    """What one batch of commands has yet to write. First `prepare`, then `statements`; `remember` after the commit."""

    def __init__(self, conn: Connection, registers: Registers, now: datetime) -> None:
        self._dialect = conn.dialect
        self._now = now
        self._projects = registers.projects.opened(conn, now)
        self._users = registers.users.opened(conn, now)
        self._project_of: dict[str, Entry] = {}
        self._user_of: dict[str, Entry] = {}
        self._generations: dict[int, int] = {}
        self._held: dict[str, Sequence[Held]] = {}
        self._let_go: set[str] = set()
        self._consumers: dict[str, _PendingConsumer] = {}

    def raise_generation(self, provider_id: int, generation: int) -> None:
        self._generations[provider_id] = generation

    def replace_allocations(self, consumer: str, *, held_some: bool, now_holds: Sequence[Held]) -> None:
        if held_some:
            self._let_go.add(consumer)
        self._held[consumer] = now_holds

    def put_consumer(self, consumer: Consumer, *, was_there: bool) -> None:
        self._pending(consumer.uuid, was_there=was_there).now_is = consumer

    def remove_consumer(self, uuid: str) -> None:
        self._pending(uuid, was_there=True).now_is = None

    def _pending(self, uuid: str, *, was_there: bool) -> _PendingConsumer:
        """The first word on a consumer tells whether it was there before the batch."""
        return self._consumers.setdefault(uuid, _PendingConsumer(was_there=was_there))

    def prepare(self) -> None:
        """Finds or makes what `statements` needs to know from the database."""
        kept = [each.now_is for each in self._consumers.values() if each.now_is is not None]
        self._project_of = self._projects.entries([consumer.project for consumer in kept])
        self._user_of = self._users.entries([consumer.user for consumer in kept])

    def statements(self, world: World) -> Iterator[Statement]:
        """All that is to be written. `world` is the world after the last effect."""
        dialect, now = self._dialect, self._now
        if self._generations:
            rows = list(self._generations.items())
            yield from change(dialect, t.resource_providers, "id", ("generation",), rows, ("updated_at", now))
        let_go = [uuid for uuid in self._held if uuid in self._let_go or not self._is_new(uuid)]
        if let_go:
            yield from deletion(dialect, t.allocations, "consumer_id", let_go)
        held = [(*each, uuid, now) for uuid, holding in self._held.items() for each in holding]
        if held:
            columns = ("resource_provider_id", "resource_class_id", "used", "consumer_id", "created_at")
            yield from insertion(dialect, t.allocations, columns, held)
        yield from self._consumer_statements(world)

    def remember(self) -> None:
        """The transaction is committed: owners that it made are good."""
        self._projects.remember()
        self._users.remember()

    def _consumer_statements(self, world: World) -> Iterator[Statement]:
        dialect, now = self._dialect, self._now
        gone = [uuid for uuid, each in self._consumers.items() if each.was_there and each.now_is is None]
        if gone:
            yield from deletion(dialect, t.consumers, "uuid", gone)
        columns = ("project_id", "user_id", "consumer_type_id", "generation")
        changed = [self._row(each, world) for each in self._kept(were_there=True)]
        if changed:
            yield from change(dialect, t.consumers, "uuid", columns, changed, ("updated_at", now))
        added = [(*self._row(each, world), now) for each in self._kept(were_there=False)]
        if added:
            yield from insertion(dialect, t.consumers, ("uuid", *columns, "created_at"), added)

    def _is_new(self, consumer: str) -> bool:
        pending = self._consumers.get(consumer)
        return pending is not None and not pending.was_there

    def _kept(self, *, were_there: bool) -> Iterable[Consumer]:
        pending = self._consumers.values()
        return (each.now_is for each in pending if each.was_there == were_there and each.now_is is not None)

    def _row(self, consumer: Consumer, world: World) -> tuple[object, ...]:
        project, user = self._project_of[consumer.project], self._user_of[consumer.user]
        return consumer.uuid, project.id, user.id, _type_id(world, consumer), consumer.generation


class _PendingConsumer:
    """What becomes of a consumer over a batch: whether it was there before, and what it is at the end."""

    __slots__ = ("now_is", "was_there")

    def __init__(self, *, was_there: bool) -> None:
        self.was_there = was_there
        self.now_is: Consumer | None = None


def _type_id(world: World, consumer: Consumer) -> int | None:
    return None if consumer.type is None else world.consumer_types.by_name[consumer.type].id
