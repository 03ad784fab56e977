# SPDX-License-Identifier: Apache-2.0

"""Makes statements of effects, for the transaction that holds the head. None is run before the last is known.

What claims write, the bulk of all writes, is gathered by kind (see `gathered`); everything else goes before it, in
the order in which it comes (see `rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import Any

from sqlalchemy import Connection, Table

from plimsoll.domain import effects as e
from plimsoll.domain.draft import Draft
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.world import World
from plimsoll.storage import tables as t
from plimsoll.storage.engine import Database
from plimsoll.storage.gathered import Gathered
from plimsoll.storage.registers import Reading, Registers
from plimsoll.storage.rows import Rows
from plimsoll.storage.statements import Statement


class Recorder:
    """Records the effects of one batch of commands. Run the `statements` before the commit, `remember` after it."""

    def __init__(self, database: Database, conn: Connection, registers: Registers, now: datetime) -> None:
        self._database = database
        self._now = now
        self._rows = Rows(conn.dialect)
        self._gathered = Gathered(conn, registers, now)
        self._aggregates = Reading(registers.aggregates, conn, now)

    def record(self, draft: Draft) -> tuple[Sequence[e.Effect], World]:
        """Remembers to write what was decided; returns the effects as they are kept, and the world after them."""
        recorded = [
            _WRITERS[type(effect)](self, effect, world) or effect
            for effect, world in zip(draft.effects, draft.worlds, strict=True)
        ]
        if recorded == draft.effects:
            return recorded, draft.world
        return recorded, reduce(lambda world, effect: effect.apply(world), recorded, draft.worlds[0])

    def statements(self, world: World) -> list[Statement]:
        """All that is to be written. `world` is the world after the last effect."""
        self._gathered.prepare()
        statements = self._rows.statements()
        for table, count in self._rows.numbered.items():
            statements += self._database.counting_along(table, count)
        return statements + self._gathered.statements(world)

    def remember(self) -> None:
        """The transaction is committed: what it found or made in registers is good."""
        self._aggregates.remember()
        self._gathered.remember()

    # Providers and trees

    def _add_provider(self, effect: e.ProviderAdded, world: World) -> None:
        parent_id = None if effect.parent is None else world.providers[effect.parent].id
        root_id = effect.id if effect.parent is None else world.providers[effect.root].id
        row = {
            "id": effect.id,
            "uuid": effect.uuid,
            "name": effect.name,
            "generation": 0,
            "parent_provider_id": parent_id,
            "root_provider_id": root_id,
            "created_at": effect.at,
        }
        self._rows.add_numbered(t.resource_providers, row)

    def _rename_provider(self, effect: e.ProviderRenamed, world: World) -> None:
        self._change_provider(world.providers[effect.uuid].id, name=effect.name, updated_at=effect.at)

    def _move_provider(self, effect: e.ProviderMoved, world: World) -> None:
        root_id = world.providers[effect.root].id
        for uuid in effect.subtree:
            self._change_provider(world.providers[uuid].id, root_provider_id=root_id, updated_at=effect.at)
        parent_id = None if effect.parent is None else world.providers[effect.parent].id
        self._change_provider(world.providers[effect.uuid].id, parent_provider_id=parent_id)

    def _remove_provider(self, effect: e.ProviderRemoved, world: World) -> None:
        id_ = world.providers[effect.uuid].id
        for table in (t.inventories, t.resource_provider_aggregates, t.resource_provider_traits):
            self._rows.remove(table, {"resource_provider_id": [id_]})
        self._change_provider(id_, root_provider_id=None)
        self._rows.remove(t.resource_providers, {"id": [id_]})

    def _change_provider(self, id_: int, **values: Any) -> None:
        self._rows.change(t.resource_providers, {"id": id_}, values)

    def _raise_generation(self, effect: e.GenerationRaised, world: World) -> None:
        self._gathered.raise_generation(world.providers[effect.provider].id, effect.generation)

    # What a provider has

    def _add_inventory(self, effect: e.InventoryAdded, world: World) -> None:
        key = _inventory_key(world, effect.provider, effect.resource_class)
        self._rows.add(t.inventories, {**key, "created_at": effect.at, **_figures(effect.inventory)})

    def _change_inventory(self, effect: e.InventoryChanged, world: World) -> None:
        key = _inventory_key(world, effect.provider, effect.resource_class)
        self._rows.change(t.inventories, key, {"updated_at": effect.at, **_figures(effect.inventory)})

    def _remove_inventory(self, effect: e.InventoryRemoved, world: World) -> None:
        key = _inventory_key(world, effect.provider, effect.resource_class)
        self._rows.remove(t.inventories, {column: [id_] for column, id_ in key.items()})

    def _set_traits(self, effect: e.TraitsSet, world: World) -> None:
        provider = world.providers[effect.provider]
        self._replace_marks(
            t.resource_provider_traits,
            "trait_id",
            provider.id,
            gone=[world.traits.by_name[name].id for name in provider.traits - effect.traits],
            new=[world.traits.by_name[name].id for name in effect.traits - provider.traits],
        )

    def _set_aggregates(self, effect: e.AggregatesSet, world: World) -> e.Effect:
        provider = world.providers[effect.provider]
        entries = self._aggregates.entries(sorted(provider.aggregates ^ effect.aggregates))
        # The database may know an aggregate in another spelling that it takes for the same.
        aggregates = frozenset(entries[uuid].name if uuid in entries else uuid for uuid in effect.aggregates)
        ids = {entry.name: entry.id for entry in entries.values()}
        self._replace_marks(
            t.resource_provider_aggregates,
            "aggregate_id",
            provider.id,
            gone=[ids[uuid] for uuid in provider.aggregates - aggregates],
            new=[ids[uuid] for uuid in aggregates - provider.aggregates],
        )
        return e.AggregatesSet(effect.provider, aggregates)

    def _replace_marks(
        self, table: Table, column: str, provider_id: int, *, gone: list[int], new: list[int]
    ) -> None:
        if gone:
            self._rows.remove(table, {"resource_provider_id": [provider_id], column: gone})
        for id_ in new:
            row = {"resource_provider_id": provider_id, column: id_, "created_at": self._now}
            self._rows.add(table, row)

    # What consumers hold

    def _replace_allocations(self, effect: e.AllocationsReplaced, world: World) -> None:
        providers, classes = world.providers, world.classes.by_name
        holds = [
            (providers[each.provider].id, classes[each.resource_class].id, each.amount)
            for each in effect.after
        ]
        self._gathered.replace_allocations(effect.consumer, held_some=bool(effect.before), now_holds=holds)

    def _add_consumer(self, effect: e.ConsumerAdded, _: World) -> None:
        self._gathered.put_consumer(effect.consumer, was_there=False)

    def _change_consumer(self, effect: e.ConsumerChanged, _: World) -> None:
        self._gathered.put_consumer(effect.consumer, was_there=True)

    def _remove_consumer(self, effect: e.ConsumerRemoved, _: World) -> None:
        self._gathered.remove_consumer(effect.uuid)

    # Names

    def _add_class(self, effect: e.ClassAdded, _: World) -> None:
        self._rows.add(t.resource_classes, _name(effect))

    def _rename_class(self, effect: e.ClassRenamed, world: World) -> None:
        key = {"id": world.classes.by_name[effect.name].id}
        self._rows.change(t.resource_classes, key, {"name": effect.new_name, "updated_at": effect.at})

    def _remove_class(self, effect: e.ClassRemoved, world: World) -> None:
        self._rows.remove(t.resource_classes, {"id": [world.classes.by_name[effect.name].id]})

    def _add_trait(self, effect: e.TraitAdded, _: World) -> None:
        self._rows.add_numbered(t.traits, _name(effect))

    def _remove_trait(self, effect: e.TraitRemoved, world: World) -> None:
        self._rows.remove(t.traits, {"id": [world.traits.by_name[effect.name].id]})

    def _add_consumer_type(self, effect: e.ConsumerTypeAdded, _: World) -> None:
        self._rows.add_numbered(t.consumer_types, _name(effect))


def _inventory_key(world: World, provider: str, resource_class: str) -> dict[str, int]:
    return {
        "resource_provider_id": world.providers[provider].id,
        "resource_class_id": world.classes.by_name[resource_class].id,
    }


def _figures(inventory: Inventory) -> dict[str, int | float]:
    return {
        "total": inventory.total,
        "reserved": inventory.reserved,
        "min_unit": inventory.min_unit,
        "max_unit": inventory.max_unit,
        "step_size": inventory.step_size,
        "allocation_ratio": inventory.allocation_ratio,
    }


def _name(effect: e.ClassAdded | e.TraitAdded | e.ConsumerTypeAdded) -> dict[str, Any]:
    return {"id": effect.id, "name": effect.name, "created_at": effect.at}


_WRITERS: Mapping[type[e.Effect], Callable[[Recorder, Any, World], e.Effect | None]] = {
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
