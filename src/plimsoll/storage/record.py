# SPDX-License-Identifier: Apache-2.0

"""Writes effects to SQL, inside the transaction that holds the head.

What claims write, the bulk of all writes, is gathered over a batch of commands (see `gathered`); everything
else is written at once, because the database numbers what is new and later effects need the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, and_, bindparam, delete, insert, select, update

from plimsoll.domain import effects as e
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.keeping import Keeping
from plimsoll.domain.world import World
from plimsoll.storage import tables as t
from plimsoll.storage.gathered import Gathered
from plimsoll.storage.owners import Owners, new_id
from plimsoll.storage.statements import Statement


class _Aggregate(NamedTuple):
    uuid: str
    id: int


_AGGREGATES = select(t.placement_aggregates.c.uuid, t.placement_aggregates.c.id).where(
    t.placement_aggregates.c.uuid.in_(bindparam("uuids", expanding=True))
)


# What claims do: nothing gets an id, and the world before it has all ids that are needed.
_WITHOUT_IDS = frozenset(
    (e.AllocationsReplaced, e.ConsumerAdded, e.ConsumerChanged, e.ConsumerRemoved, e.GenerationRaised)
)


class Recorder:
    """Records the effects of one batch of commands. Run what is `gathered` before the commit, `remember` after it."""

    def __init__(self, conn: Connection, projects: Owners, users: Owners) -> None:
        self._conn = conn
        self._gathered = Gathered(conn, projects, users)

    def record(
        self, effects: Sequence[e.Effect], world: World, after: World, now: datetime
    ) -> tuple[Sequence[e.Effect], World]:
        """Writes effects, or remembers to, and returns them with their ids and the world after them.

        `after` is that world already, but for the ids.
        """
        if all(type(effect) in _WITHOUT_IDS for effect in effects):
            for effect in effects:
                _WRITERS[type(effect)](self, effect, world, now)
            return effects, after
        recorded = []
        for effect in effects:
            numbered = _WRITERS[type(effect)](self, effect, world, now) or effect
            world = numbered.apply(world)
            recorded.append(numbered)
        return recorded, world

    def gathered(self, world: World, now: datetime) -> Iterator[Statement]:
        """The statements that are yet to be run. `world` is the world after the last effect."""
        self._gathered.prepare(now)
        return self._gathered.statements(world, now)

    def remember(self) -> None:
        """The transaction is committed: ids of owners that it made are good."""
        self._gathered.remember()

    # Providers and trees

    def _add_provider(self, effect: e.ProviderAdded, world: World, now: datetime) -> e.Effect:
        parent = None if effect.parent is None else world.providers[effect.parent]
        made = self._conn.execute(
            insert(t.resource_providers),
            {
                "uuid": effect.uuid,
                "name": effect.name,
                "generation": 0,
                "parent_provider_id": None if parent is None else parent.id,
                "root_provider_id": None if parent is None else world.providers[effect.root].id,
                "created_at": effect.at,
            },
        )
        id_ = new_id(made)
        if parent is None:
            self._update_provider(id_, root_provider_id=id_)
        return replace(effect, id=id_)

    def _rename_provider(self, effect: e.ProviderRenamed, world: World, now: datetime) -> None:
        self._update_provider(world.providers[effect.uuid].id, name=effect.name, updated_at=effect.at)

    def _move_provider(self, effect: e.ProviderMoved, world: World, now: datetime) -> None:
        root_id = world.providers[effect.root].id
        for uuid in effect.subtree:
            self._update_provider(world.providers[uuid].id, root_provider_id=root_id, updated_at=effect.at)
        parent_id = None if effect.parent is None else world.providers[effect.parent].id
        self._update_provider(world.providers[effect.uuid].id, parent_provider_id=parent_id)

    def _remove_provider(self, effect: e.ProviderRemoved, world: World, now: datetime) -> None:
        id_ = world.providers[effect.uuid].id
        for table in (t.inventories, t.resource_provider_aggregates, t.resource_provider_traits):
            self._conn.execute(delete(table).where(table.c.resource_provider_id == id_))
        self._update_provider(id_, root_provider_id=None)
        self._conn.execute(delete(t.resource_providers).where(t.resource_providers.c.id == id_))
        self._gathered.forget_provider(id_)

    def _update_provider(self, id_: int, **values: Any) -> None:
        self._conn.execute(
            update(t.resource_providers).where(t.resource_providers.c.id == id_).values(values)
        )

    def _raise_generation(self, effect: e.GenerationRaised, world: World, now: datetime) -> None:
        self._gathered.raise_generation(world.providers[effect.provider].id, effect.generation)

    # What a provider has

    def _add_inventory(self, effect: e.InventoryAdded, world: World, now: datetime) -> None:
        provider_id, class_id = _ids(world, effect.provider, effect.resource_class)
        self._conn.execute(
            insert(t.inventories),
            {
                "resource_provider_id": provider_id,
                "resource_class_id": class_id,
                "created_at": effect.at,
                **_figures(effect.inventory),
            },
        )

    def _change_inventory(self, effect: e.InventoryChanged, world: World, now: datetime) -> None:
        self._conn.execute(
            update(t.inventories)
            .where(_is_inventory(world, effect.provider, effect.resource_class))
            .values(updated_at=effect.at, **_figures(effect.inventory))
        )

    def _remove_inventory(self, effect: e.InventoryRemoved, world: World, now: datetime) -> None:
        self._conn.execute(
            delete(t.inventories).where(_is_inventory(world, effect.provider, effect.resource_class))
        )

    def _set_traits(self, effect: e.TraitsSet, world: World, now: datetime) -> None:
        provider = world.providers[effect.provider]
        self._replace_marks(
            t.resource_provider_traits,
            "trait_id",
            provider.id,
            gone=[world.traits.by_name[name].id for name in provider.traits - effect.traits],
            new=[world.traits.by_name[name].id for name in effect.traits - provider.traits],
            now=now,
        )

    def _set_aggregates(self, effect: e.AggregatesSet, world: World, now: datetime) -> e.Effect:
        provider = world.providers[effect.provider]
        kept = self._aggregates(provider.aggregates ^ effect.aggregates, world.keeping, now)
        # The database may know an aggregate in another spelling that it takes for the same.
        aggregates = frozenset(kept[uuid].uuid if uuid in kept else uuid for uuid in effect.aggregates)
        self._replace_marks(
            t.resource_provider_aggregates,
            "aggregate_id",
            provider.id,
            gone=[kept[uuid].id for uuid in provider.aggregates - aggregates],
            new=[kept[uuid].id for uuid in aggregates - provider.aggregates],
            now=now,
        )
        return replace(effect, aggregates=aggregates)

    def _aggregates(self, uuids: Iterable[str], keeping: Keeping, now: datetime) -> dict[str, _Aggregate]:
        """The rows of these aggregates, by the spelling asked for and by their own; new ones are made."""
        wanted = sorted(uuids)
        if not wanted:
            return {}
        found = {row.uuid: _Aggregate(*row) for row in self._conn.execute(_AGGREGATES, {"uuids": wanted})}
        by_key = {keeping.key(uuid): aggregate for uuid, aggregate in found.items()}
        for uuid in wanted:
            if keeping.key(uuid) not in by_key:
                made = self._conn.execute(insert(t.placement_aggregates), {"uuid": uuid, "created_at": now})
                by_key[keeping.key(uuid)] = _Aggregate(uuid, new_id(made))
            found[uuid] = by_key[keeping.key(uuid)]
        return found

    def _replace_marks(
        self, table: Table, column: str, provider_id: int, *, gone: list[int], new: list[int], now: datetime
    ) -> None:
        if gone:
            is_gone = and_(table.c.resource_provider_id == provider_id, table.c[column].in_(gone))
            self._conn.execute(delete(table).where(is_gone))
        if new:
            rows = [{"resource_provider_id": provider_id, column: id_, "created_at": now} for id_ in new]
            self._conn.execute(insert(table), rows)

    # What consumers hold

    def _replace_allocations(self, effect: e.AllocationsReplaced, world: World, now: datetime) -> None:
        holds = [(*_ids(world, each.provider, each.resource_class), each.amount) for each in effect.after]
        self._gathered.replace_allocations(effect.consumer, held_some=bool(effect.before), now_holds=holds)

    def _add_consumer(self, effect: e.ConsumerAdded, world: World, now: datetime) -> None:
        self._gathered.put_consumer(effect.consumer, was_there=False)

    def _change_consumer(self, effect: e.ConsumerChanged, world: World, now: datetime) -> None:
        self._gathered.put_consumer(effect.consumer, was_there=True)

    def _remove_consumer(self, effect: e.ConsumerRemoved, world: World, now: datetime) -> None:
        self._gathered.remove_consumer(effect.uuid)

    # Names

    def _add_class(self, effect: e.ClassAdded, world: World, now: datetime) -> None:
        self._conn.execute(
            insert(t.resource_classes), {"id": effect.id, "name": effect.name, "created_at": effect.at}
        )

    def _rename_class(self, effect: e.ClassRenamed, world: World, now: datetime) -> None:
        term = world.classes.by_name[effect.name]
        self._conn.execute(
            update(t.resource_classes)
            .where(t.resource_classes.c.id == term.id)
            .values(name=effect.new_name, updated_at=effect.at)
        )

    def _remove_class(self, effect: e.ClassRemoved, world: World, now: datetime) -> None:
        term = world.classes.by_name[effect.name]
        self._conn.execute(delete(t.resource_classes).where(t.resource_classes.c.id == term.id))

    def _add_trait(self, effect: e.TraitAdded, world: World, now: datetime) -> e.Effect:
        return replace(effect, id=self._add_name(t.traits, effect.name, effect.at))

    def _remove_trait(self, effect: e.TraitRemoved, world: World, now: datetime) -> None:
        term = world.traits.by_name[effect.name]
        self._conn.execute(delete(t.traits).where(t.traits.c.id == term.id))

    def _add_consumer_type(self, effect: e.ConsumerTypeAdded, world: World, now: datetime) -> e.Effect:
        return replace(effect, id=self._add_name(t.consumer_types, effect.name, effect.at))

    def _add_name(self, table: Table, name: str, at: datetime) -> int:
        return new_id(self._conn.execute(insert(table), {"name": name, "created_at": at}))


def _ids(world: World, provider: str, resource_class: str) -> tuple[int, int]:
    return world.providers[provider].id, world.classes.by_name[resource_class].id


def _is_inventory(world: World, provider: str, resource_class: str) -> Any:
    provider_id, class_id = _ids(world, provider, resource_class)
    return and_(
        t.inventories.c.resource_provider_id == provider_id, t.inventories.c.resource_class_id == class_id
    )


def _figures(inventory: Inventory) -> dict[str, int | float]:
    return {
        "total": inventory.total,
        "reserved": inventory.reserved,
        "min_unit": inventory.min_unit,
        "max_unit": inventory.max_unit,
        "step_size": inventory.step_size,
        "allocation_ratio": inventory.allocation_ratio,
    }


_WRITERS: Mapping[type[e.Effect], Callable[[Recorder, Any, World, datetime], e.Effect | None]] = {
    e.ProviderAdded: Recorder._add_provider,
    e.ProviderRenamed: Recorder._rename_provider,
    e.ProviderMoved: Recorder._move_provider,
    e.ProviderRemoved: Recorder._remove_provider,
    e.GenerationRaised: Recorder._raise_generation,
    e.InventoryAdded: Recorder._add_inventory,
    e.InventoryChanged: Recorder._change_inventory,
    e.InventoryRemoved: Recorder._remove_inventory,
    e.TraitsSet: Recorder._set_traits,
    e.AggregatesSet: Recorder._set_aggregates,
    e.AllocationsReplaced: Recorder._replace_allocations,
    e.ConsumerAdded: Recorder._add_consumer,
    e.ConsumerChanged: Recorder._change_consumer,
    e.ConsumerRemoved: Recorder._remove_consumer,
    e.ClassAdded: Recorder._add_class,
    e.ClassRenamed: Recorder._rename_class,
    e.ClassRemoved: Recorder._remove_class,
    e.TraitAdded: Recorder._add_trait,
    e.TraitRemoved: Recorder._remove_trait,
    e.ConsumerTypeAdded: Recorder._add_consumer_type,
}
