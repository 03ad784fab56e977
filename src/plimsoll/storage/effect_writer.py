# SPDX-License-Identifier: Apache-2.0

"""Translate effects into SQL statements, for the transaction that holds the head.

No statement runs before all effects are recorded. Rows of claims, most of all writes, are collected by kind
(`pending_claims`). All other statements precede them, in the order of the effects (`pending_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from plimsoll.domain import effects as e
from plimsoll.domain.draft import Draft
from plimsoll.domain.inventory import FIGURES
from plimsoll.domain.world import World
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.lookup_tables import LookupSession, LookupTables
from plimsoll.storage.pending_claims import PendingClaims
from plimsoll.storage.pending_rows import PendingRows
from plimsoll.storage.sql import Columns, Row, Statement, format_time
from plimsoll.storage.transaction import Transaction

T = TypeVar("T")

_PROVIDER = Columns(
    t.resource_providers,
    ("id", "uuid", "name", "generation", "parent_provider_id", "root_provider_id", "created_at"),
)
_INVENTORY = Columns(t.inventories, ("resource_provider_id", "resource_class_id", "created_at", *FIGURES))
_TRAIT = Columns(t.resource_provider_traits, ("resource_provider_id", "trait_id", "created_at"))
_AGGREGATE = Columns(t.resource_provider_aggregates, ("resource_provider_id", "aggregate_id", "created_at"))
_NAMED = ("id", "name", "created_at")
_CLASS = Columns(t.resource_classes, _NAMED)
_TRAIT_NAME = Columns(t.traits, _NAMED)
_CONSUMER_TYPE = Columns(t.consumer_types, _NAMED)


class EffectWriter:
    """Records the effects of one batch. Run the `statements` before the commit, and call `cache_entries` after it."""

    def __init__(
        self,
        database: Database,
        transaction: Transaction,
        lookup_tables: LookupTables,
        now: datetime,
        pause: Callable[[], None],
    ) -> None:
        self._database = database
        self._dialect = dialect = transaction.dialect
        self._now = format_time(dialect, now)
        self._lookup_tables = lookup_tables
        self._pause = pause
        self._lookups = LookupSession(lambda: transaction.connection, now, pause)
        self._rows = PendingRows(dialect)
        self._claims = PendingClaims(dialect, lookup_tables, self._lookups, self._now, pause)

    def record(self, draft: Draft) -> tuple[Sequence[e.Effect], World]:
        """Queue the effects of a draft; return them as the database stores them, and the world that they lead to."""
        recorded = [
            self._record(effect, world)
            for effect, world in zip(draft.effects, draft.worlds_before, strict=True)
        ]
        if recorded == draft.effects:
            return recorded, draft.world
        world = draft.worlds_before[0]
        for effect in recorded:
            world = effect.apply(world)
            self._pause()
        return recorded, world

    def _record(self, effect: e.Effect, world: World) -> e.Effect:
        self._pause()
        return _WRITERS[type(effect)](self, effect, world) or effect

    def statements(self, world: World) -> list[Statement]:
        """Return all statements of the batch. `world` is the world after the last effect."""
        statements = self._rows.statements()
        for table, count in self._rows.explicit_id_counts.items():
            statements += self._database.sequence_statements(table, count)
        return statements + self._claims.statements(world)

    def cache_entries(self) -> None:
        """Cache the rows of lookup tables that the batch read or inserted. Call it after the commit."""
        self._lookups.cache_entries()

    # Providers and trees

    def _add_provider(self, effect: e.ProviderAdded, world: World) -> None:
        parent_id = None if effect.parent is None else world.providers[effect.parent].id
        root_id = effect.id if effect.parent is None else world.providers[effect.root].id
        at = format_time(self._dialect, effect.at)
        row = effect.id, effect.uuid, effect.name, 0, parent_id, root_id, at
        self._rows.add_with_id(_PROVIDER, row)

    def _rename_provider(self, effect: e.ProviderRenamed, world: World) -> None:
        at = format_time(self._dialect, effect.at)
        self._change_provider(world.providers[effect.uuid].id, name=effect.name, updated_at=at)

    def _move_provider(self, effect: e.ProviderMoved, world: World) -> None:
        root_id = world.providers[effect.root].id
        at = format_time(self._dialect, effect.at)
        for uuid in effect.subtree:
            self._change_provider(world.providers[uuid].id, root_provider_id=root_id, updated_at=at)
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
        self._claims.generations[world.providers[effect.provider].id] = effect.generation

    # Inventories, traits and aggregates of a provider

    def _add_inventory(self, effect: e.InventoryAdded, world: World) -> None:
        key = _inventory_key(world, effect.provider, effect.resource_class)
        row = *key.values(), format_time(self._dialect, effect.at), *effect.inventory.figures().values()
        self._rows.add(_INVENTORY, (row,))

    def _change_inventory(self, effect: e.InventoryChanged, world: World) -> None:
        key = _inventory_key(world, effect.provider, effect.resource_class)
        self._rows.change(
            t.inventories,
            key,
            {"updated_at": format_time(self._dialect, effect.at), **effect.inventory.figures()},
        )

    def _remove_inventory(self, effect: e.InventoryRemoved, world: World) -> None:
        key = _inventory_key(world, effect.provider, effect.resource_class)
        self._rows.remove(t.inventories, {column: [id_] for column, id_ in key.items()})

    def _set_traits(self, effect: e.TraitsSet, world: World) -> None:
        provider = world.providers[effect.provider]
        self._replace_associations(
            _TRAIT,
            provider.id,
            removed=[world.traits.by_name[name].id for name in provider.traits - effect.traits],
            new=[world.traits.by_name[name].id for name in effect.traits - provider.traits],
        )

    def _set_aggregates(self, effect: e.AggregatesSet, world: World) -> e.Effect:
        provider = world.providers[effect.provider]
        changed = provider.aggregates ^ effect.aggregates
        entries = self._lookups.entries(self._lookup_tables.aggregates, changed)
        # The database may store an aggregate in another spelling that it compares as equal.
        stored = {uuid: entries[uuid].name for uuid in self._iterate_with_pauses(changed)}
        ids = {entries[uuid].name: entries[uuid].id for uuid in self._iterate_with_pauses(changed)}
        aggregates = frozenset(
            stored.get(uuid, uuid) for uuid in self._iterate_with_pauses(effect.aggregates)
        )
        self._replace_associations(
            _AGGREGATE,
            provider.id,
            removed=[ids[uuid] for uuid in self._iterate_with_pauses(provider.aggregates - aggregates)],
            new=[ids[uuid] for uuid in self._iterate_with_pauses(aggregates - provider.aggregates)],
        )
        return replace(effect, aggregates=aggregates)

    def _iterate_with_pauses(self, values: Iterable[T]) -> Iterator[T]:
        """Yield the same values; other requests run in between."""
        for value in values:
            self._pause()
            yield value

    def _replace_associations(
        self, columns: Columns, provider_id: int, *, removed: list[int], new: list[int]
    ) -> None:
        if removed:
            provider, member, _ = columns.names
            self._rows.remove(columns.table, {provider: [provider_id], member: removed})
        if new:
            self._rows.add(columns, [(provider_id, id_, self._now) for id_ in self._iterate_with_pauses(new)])

    # Consumers and their allocations

    def _replace_allocations(self, effect: e.AllocationsReplaced, world: World) -> None:
        providers, classes, uuid, now = world.providers, world.classes.by_name, effect.consumer, self._now
        rows = [
            (providers[provider].id, classes[resource_class].id, amount, uuid, now)
            for provider, resource_class, amount in effect.after
        ]
        self._claims.replace_allocations(uuid, had_allocations=bool(effect.before), allocations=rows)

    def _add_consumer(self, effect: e.ConsumerAdded, _: World) -> None:
        self._claims.put_consumer(effect.consumer.uuid, effect.consumer, existed=False)

    def _change_consumer(self, effect: e.ConsumerChanged, _: World) -> None:
        self._claims.put_consumer(effect.consumer.uuid, effect.consumer, existed=True)

    def _remove_consumer(self, effect: e.ConsumerRemoved, _: World) -> None:
        self._claims.put_consumer(effect.uuid, None, existed=True)

    # Names

    def _add_class(self, effect: e.ClassAdded, _: World) -> None:
        self._rows.add(_CLASS, (self._named(effect),))

    def _rename_class(self, effect: e.ClassRenamed, world: World) -> None:
        key = {"id": world.classes.by_name[effect.name].id}
        values = {"name": effect.new_name, "updated_at": format_time(self._dialect, effect.at)}
        self._rows.change(t.resource_classes, key, values)

    def _remove_class(self, effect: e.ClassRemoved, world: World) -> None:
        self._rows.remove(t.resource_classes, {"id": [world.classes.by_name[effect.name].id]})

    def _add_trait(self, effect: e.TraitAdded, _: World) -> None:
        self._rows.add_with_id(_TRAIT_NAME, self._named(effect))

    def _remove_trait(self, effect: e.TraitRemoved, world: World) -> None:
        self._rows.remove(t.traits, {"id": [world.traits.by_name[effect.name].id]})

    def _add_consumer_type(self, effect: e.ConsumerTypeAdded, _: World) -> None:
        self._rows.add_with_id(_CONSUMER_TYPE, self._named(effect))

    def _named(self, effect: e.ClassAdded | e.TraitAdded | e.ConsumerTypeAdded) -> Row:
        return effect.id, effect.name, format_time(self._dialect, effect.at)


def _inventory_key(world: World, provider: str, resource_class: str) -> dict[str, int]:
    return {
        "resource_provider_id": world.providers[provider].id,
        "resource_class_id": world.classes.by_name[resource_class].id,
    }


_WRITERS: Mapping[type[e.Effect], Callable[[EffectWriter, Any, World], e.Effect | None]] = {
    e.ProviderAdded: EffectWriter._add_provider,
    e.ProviderRenamed: EffectWriter._rename_provider,
    e.ProviderMoved: EffectWriter._move_provider,
    e.ProviderRemoved: EffectWriter._remove_provider,
    e.GenerationRaised: EffectWriter._raise_generation,
    e.InventoryAdded: EffectWriter._add_inventory,
    e.InventoryChanged: EffectWriter._change_inventory,
    e.InventoryRemoved: EffectWriter._remove_inventory,
    e.TraitsSet: EffectWriter._set_traits,
    e.AggregatesSet: EffectWriter._set_aggregates,
    e.AllocationsReplaced: EffectWriter._replace_allocations,
    e.ConsumerAdded: EffectWriter._add_consumer,
    e.ConsumerChanged: EffectWriter._change_consumer,
    e.ConsumerRemoved: EffectWriter._remove_consumer,
    e.ClassAdded: EffectWriter._add_class,
    e.ClassRenamed: EffectWriter._rename_class,
    e.ClassRemoved: EffectWriter._remove_class,
    e.TraitAdded: EffectWriter._add_trait,
    e.TraitRemoved: EffectWriter._remove_trait,
    e.ConsumerTypeAdded: EffectWriter._add_consumer_type,
}
