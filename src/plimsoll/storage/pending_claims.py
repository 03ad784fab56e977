# SPDX-License-Identifier: Apache-2.0

"""Rows that claims write, collected over a batch of commands and written with one statement of each kind.

Only the final state is written: the last generation of a provider, the last allocations of a consumer, and whether
it still exists. No statement that runs earlier may depend on these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from sqlalchemy import Dialect

from plimsoll.domain.consumer import Consumer
from plimsoll.domain.world import World
from plimsoll.storage import tables as t
from plimsoll.storage.lookup_tables import LookupSession, LookupTables
from plimsoll.storage.sql import Columns, Statement, delete_by_key, insert_rows, update_rows

_GENERATION = Columns(t.resource_providers, ("id", "generation"))
_ALLOCATION = Columns(
    t.allocations, ("resource_provider_id", "resource_class_id", "used", "consumer_id", "created_at")
)
_CONSUMER = Columns(t.consumers, ("uuid", "project_id", "user_id", "consumer_type_id", "generation"))
_NEW_CONSUMER = Columns(t.consumers, (*_CONSUMER.names, "created_at"))

AllocationRow = tuple[int, int, int, str, str]
"""Id of the provider, id of the class, amount, uuid of the consumer, time of creation."""


class PendingClaims:
    """Rows of one batch of commands that are not written yet."""

    def __init__(
        self,
        dialect: Dialect,
        lookup_tables: LookupTables,
        lookups: LookupSession,
        now: str,
        pause: Callable[[], None],
    ) -> None:
        self._dialect = dialect
        self._lookup_tables = lookup_tables
        self._lookups = lookups
        self._now = now
        self._pause = pause
        self.generations: dict[int, int] = {}
        """By id of the provider."""
        self._allocations: dict[str, Sequence[AllocationRow]] = {}
        self._had_allocations: set[str] = set()
        self._existed: dict[str, bool] = {}
        """By uuid: true if the consumer existed before the batch."""
        self._consumers: dict[str, Consumer | None] = {}

    def replace_allocations(
        self, consumer: str, *, had_allocations: bool, allocations: Sequence[AllocationRow]
    ) -> None:
        if had_allocations:
            self._had_allocations.add(consumer)
        self._allocations[consumer] = allocations

    def put_consumer(self, uuid: str, consumer: Consumer | None, *, existed: bool) -> None:
        """Set or, with None, delete a consumer. The first call for it states whether it existed before the batch."""
        self._existed.setdefault(uuid, existed)
        self._consumers[uuid] = consumer

    def statements(self, world: World) -> list[Statement]:
        """Return all statements. `world` is the world after the last effect."""
        dialect, existed = self._dialect, self._existed
        statements: list[Statement] = []
        if self.generations:
            rows = [*self.generations.items()]
            statements += update_rows(dialect, _GENERATION, rows, ("updated_at", self._now))
        if self._allocations:
            clear_uuids = [
                uuid for uuid in self._allocations if uuid in self._had_allocations or existed.get(uuid, True)
            ]
            if clear_uuids:
                statements += delete_by_key(dialect, t.allocations, "consumer_id", clear_uuids)
            allocations = [*chain.from_iterable(self._allocations.values())]
            if allocations:
                statements += insert_rows(dialect, _ALLOCATION, allocations)
        if self._consumers:
            statements += self._consumer_statements(world)
        return statements

    def _consumer_statements(self, world: World) -> list[Statement]:
        dialect, now = self._dialect, self._now
        remaining = [consumer for consumer in self._consumers.values() if consumer is not None]
        projects = self._lookups.entries(self._lookup_tables.projects, {each.project for each in remaining})
        users = self._lookups.entries(self._lookup_tables.users, {each.user for each in remaining})
        removed, changed, added = [], [], []
        for uuid, consumer in self._consumers.items():
            if consumer is None:
                assert not self._allocations.get(uuid), "a consumer is removed, and its allocations are not"
                if self._existed[uuid]:
                    removed.append(uuid)
                continue
            project_id, user_id = projects[consumer.project].id, users[consumer.user].id
            type_id = None if consumer.type is None else world.consumer_types.by_name[consumer.type].id
            row = uuid, project_id, user_id, type_id, consumer.generation
            if self._existed[uuid]:
                changed.append(row)
            else:
                added.append((*row, now))
            self._pause()
        statements: list[Statement] = []
        if removed:
            statements += delete_by_key(dialect, t.consumers, "uuid", removed)
        if changed:
            statements += update_rows(dialect, _CONSUMER, changed, ("updated_at", now))
        if added:
            statements += insert_rows(dialect, _NEW_CONSUMER, added)
        return statements
