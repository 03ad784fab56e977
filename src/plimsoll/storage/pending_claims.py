# SPDX-License-Identifier: Apache-2.0

"""What claims write, gathered over a batch of commands and written with one statement of each kind.

Only the last word counts: a provider's last generation, what a consumer holds at the end, and whether it is
still there. Nothing that is written before it may depend on what is gathered here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from sqlalchemy import Dialect

from plimsoll.domain.consumer import Consumer
from plimsoll.domain.world import World
from plimsoll.storage import tables as t
from plimsoll.storage.lookup_tables import LookupTables, Reading
from plimsoll.storage.sql import (
    Columns,
    Statement,
    change,
    deletion,
    insertion,
)

_GENERATION = Columns(t.resource_providers, ("id", "generation"))
_ALLOCATION = Columns(
    t.allocations, ("resource_provider_id", "resource_class_id", "used", "consumer_id", "created_at")
)
_CONSUMER = Columns(t.consumers, ("uuid", "project_id", "user_id", "consumer_type_id", "generation"))
_NEW_CONSUMER = Columns(t.consumers, (*_CONSUMER.names, "created_at"))

Held = tuple[int, int, int, str, str]
"""Ids of the provider and of the class, the amount, the consumer's uuid, and since when."""


class PendingClaims:
    """What one batch of commands, at this time, has yet to write."""

    def __init__(
        self, dialect: Dialect, registers: LookupTables, reading: Reading, now: str, pause: Callable[[], None]
    ) -> None:
        self._dialect = dialect
        self._registers = registers
        self._reading = reading
        self._now = now
        self._pause = pause
        self.generations: dict[int, int] = {}
        """By the ids of providers."""
        self._held: dict[str, Sequence[Held]] = {}
        self._let_go: set[str] = set()
        self._was_there: dict[str, bool] = {}
        """Whether each consumer was there before the batch."""
        self._consumers: dict[str, Consumer | None] = {}

    def replace_allocations(self, consumer: str, *, held_some: bool, now_holds: Sequence[Held]) -> None:
        if held_some:
            self._let_go.add(consumer)
        self._held[consumer] = now_holds

    def put_consumer(self, uuid: str, consumer: Consumer | None, *, was_there: bool) -> None:
        """The first word on a consumer tells whether it was there before the batch."""
        self._was_there.setdefault(uuid, was_there)
        self._consumers[uuid] = consumer

    def statements(self, world: World) -> list[Statement]:
        """All that is to be written. `world` is the world after the last effect."""
        dialect, was_there = self._dialect, self._was_there
        statements: list[Statement] = []
        if self.generations:
            rows = [*self.generations.items()]
            statements += change(dialect, _GENERATION, rows, ("updated_at", self._now))
        if self._held:
            let_go = [uuid for uuid in self._held if uuid in self._let_go or was_there.get(uuid, True)]
            if let_go:
                statements += deletion(dialect, t.allocations, "consumer_id", let_go)
            held = [*chain.from_iterable(self._held.values())]
            if held:
                statements += insertion(dialect, _ALLOCATION, held)
        if self._consumers:
            statements += self._consumer_statements(world)
        return statements

    def _consumer_statements(self, world: World) -> list[Statement]:
        dialect, now = self._dialect, self._now
        kept = [consumer for consumer in self._consumers.values() if consumer is not None]
        projects = self._reading.entries(self._registers.projects, {each.project for each in kept})
        users = self._reading.entries(self._registers.users, {each.user for each in kept})
        gone, changed, added = [], [], []
        for uuid, consumer in self._consumers.items():
            if consumer is None:
                if self._was_there[uuid]:
                    gone.append(uuid)
                continue
            project_id, user_id = projects[consumer.project].id, users[consumer.user].id
            type_id = None if consumer.type is None else world.consumer_types.by_name[consumer.type].id
            row = uuid, project_id, user_id, type_id, consumer.generation
            if self._was_there[uuid]:
                changed.append(row)
            else:
                added.append((*row, now))
            self._pause()
        statements: list[Statement] = []
        if gone:
            statements += deletion(dialect, t.consumers, "uuid", gone)
        if changed:
            statements += change(dialect, _CONSUMER, changed, ("updated_at", now))
        if added:
            statements += insertion(dialect, _NEW_CONSUMER, added)
        return statements
