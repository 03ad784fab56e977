# SPDX-License-Identifier: Apache-2.0

"""What claims write, gathered over a batch of commands and written with one statement of each kind.

Only the last word counts: a provider's last generation, what a consumer holds at the end, and whether it is
still there. Nothing that is written at once may depend on what is gathered here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, update

from plimsoll.domain.consumer import Consumer
from plimsoll.domain.world import World
from plimsoll.storage import tables as t
from plimsoll.storage.owners import Owners

Values = Mapping[str, Any]
"""The values of one row, by column or by the name that a statement gives them."""

# What these two set are the other values that they are executed with.
_CHANGE_PROVIDER = update(t.resource_providers).where(t.resource_providers.c.id == bindparam("provider"))
_CHANGE_CONSUMER = update(t.consumers).where(t.consumers.c.uuid == bindparam("consumer"))
_FORGET_CONSUMERS = delete(t.consumers).where(t.consumers.c.uuid.in_(bindparam("consumers", expanding=True)))
_LET_GO = delete(t.allocations).where(t.allocations.c.consumer_id.in_(bindparam("consumers", expanding=True)))


class Gathered:
    """What one batch of commands has yet to write. Call `write` before the commit, `remember` after it."""

    def __init__(self, conn: Connection, projects: Owners, users: Owners) -> None:
        self._conn = conn
        self._projects = projects
        self._users = users
        self._owner_ids: dict[Owners, dict[str, int]] = {projects: {}, users: {}}
        self._generations: dict[int, Values] = {}
        self._held: dict[str, Sequence[Values]] = {}
        self._consumers: dict[str, _PendingConsumer] = {}

    def raise_generation(self, provider_id: int, generation: int, at: datetime) -> None:
        self._generations[provider_id] = {"provider": provider_id, "generation": generation, "updated_at": at}

    def forget_provider(self, provider_id: int) -> None:
        """It is removed, and the database may give its id to the next one."""
        self._generations.pop(provider_id, None)

    def replace_allocations(self, consumer: str, rows: Sequence[Values]) -> None:
        self._held[consumer] = rows

    def put_consumer(self, consumer: Consumer, *, was_there: bool) -> None:
        self._pending(consumer.uuid, was_there=was_there).now_is = consumer

    def remove_consumer(self, uuid: str) -> None:
        self._pending(uuid, was_there=True).now_is = None

    def _pending(self, uuid: str, *, was_there: bool) -> _PendingConsumer:
        """The first word on a consumer tells whether it was there before the batch."""
        return self._consumers.setdefault(uuid, _PendingConsumer(was_there=was_there))

    def write(self, world: World, now: datetime) -> None:
        """Writes it all. `world` is the world after the last effect."""
        if self._generations:
            self._conn.execute(_CHANGE_PROVIDER, list(self._generations.values()))
        if self._held:
            self._conn.execute(_LET_GO, {"consumers": list(self._held)})
            rows = [row for held in self._held.values() for row in held]
            if rows:
                self._conn.execute(insert(t.allocations), rows)
        if self._consumers:
            self._write_consumers(world, now)

    def remember(self) -> None:
        """The transaction is committed: ids of owners that it made are good."""
        for owners, ids in self._owner_ids.items():
            owners.remember(ids)

    def _write_consumers(self, world: World, now: datetime) -> None:
        gone = [uuid for uuid, each in self._consumers.items() if each.was_there and each.now_is is None]
        if gone:
            self._conn.execute(_FORGET_CONSUMERS, {"consumers": gone})
        kept = [(each.was_there, each.now_is) for each in self._consumers.values() if each.now_is is not None]
        projects = self._ids_of_owners(self._projects, {consumer.project for _, consumer in kept}, now)
        users = self._ids_of_owners(self._users, {consumer.user for _, consumer in kept}, now)
        changed: list[Values] = []
        added: list[Values] = []
        for was_there, consumer in kept:
            values = {
                "project_id": projects[consumer.project],
                "user_id": users[consumer.user],
                "consumer_type_id": _type_id(world, consumer),
                "generation": consumer.generation,
            }
            if was_there:
                changed.append({"consumer": consumer.uuid, "updated_at": now, **values})
            else:
                added.append({"uuid": consumer.uuid, "created_at": now, **values})
        if changed:
            self._conn.execute(_CHANGE_CONSUMER, changed)
        if added:
            self._conn.execute(insert(t.consumers), added)

    def _ids_of_owners(self, owners: Owners, names: set[str], now: datetime) -> dict[str, int]:
        ids = owners.ids(self._conn, names, now)
        self._owner_ids[owners].update(ids)
        return ids


class _PendingConsumer:
    """What becomes of a consumer over a batch: whether it was there before, and what it is at the end."""

    __slots__ = ("now_is", "was_there")

    def __init__(self, *, was_there: bool) -> None:
        self.was_there = was_there
        self.now_is: Consumer | None = None


def _type_id(world: World, consumer: Consumer) -> int | None:
    return None if consumer.type is None else world.consumer_types.by_name[consumer.type].id
