# SPDX-License-Identifier: Apache-2.0

"""Effects: the smallest meaningful changes that a decision makes.

An effect is written to the SQL tables and to the change log. Every process applies it to its world: the one that
decided, and all followers. Names and types of the fields are part of the format of the change log (`ledger/change_codec.py`).

Fields that begin with `was_` have what the effect replaces, so that it can be undone (`domain/reversal.py`). They are set when the
effect is added to a draft, and missing in lines of the change log that earlier releases wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from rpds import HashTrieMap

from plimsoll.domain.catalog import Catalog, CatalogEntry
from plimsoll.domain.consumer import Account, Allocation, Consumer
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import (
    Sums,
    renamed,
    with_class_renamed,
    with_holding,
    without_class,
    without_zeros,
)
from plimsoll.domain.values import value, with_fields
from plimsoll.domain.world import World


@value
class Effect:
    """Base class of all effects. Most change one provider; some change only SQL tables."""

    def apply(self, world: World) -> World:
        return world

    def providers(self, world: World) -> Iterable[str]:
        """Return the uuids of the providers that the effect changes, given the world before it."""
        return ()


@value
class _AtProvider(Effect):
    """Base class of effects on one existing provider."""

    provider: str

    def providers(self, world: World) -> Iterable[str]:
        return (self.provider,)

    def changed(self, world: World, **fields: Any) -> World:
        """Return the world with other values of these fields of the provider."""
        return world.with_changed_provider(with_fields(world.providers[self.provider], **fields))


# Providers and trees


@value
class _OfProvider(Effect):
    """Base class of effects that create, remove or move a provider, or change its name."""

    uuid: str

    def providers(self, world: World) -> Iterable[str]:
        return (self.uuid,)


@value
class ProviderAdded(_OfProvider):
    name: str
    parent: str | None
    root: str
    at: datetime
    id: int

    def apply(self, world: World) -> World:
        assert world.provider(self.uuid) is None
        return world.with_provider(
            Provider(
                id=self.id,
                uuid=self.uuid,
                name=self.name,
                root=self.root,
                parent=self.parent,
                modified_at=self.at,
            )
        )


@value
class ProviderRenamed(_OfProvider):
    name: str
    at: datetime
    was_name: str | None = None
    was_at: datetime | None = None

    def apply(self, world: World) -> World:
        return world.with_provider(replace(world.providers[self.uuid], name=self.name, modified_at=self.at))


@value
class ProviderMoved(_OfProvider):
    """A provider gets another parent, or none; it and its descendants get the new root."""

    parent: str | None
    root: str
    subtree: tuple[str, ...]
    at: datetime
    was_parent: str | None = None
    was_root: str | None = None
    was_times: tuple[datetime | None, ...] = ()
    """By provider of the subtree: the time of its last change."""

    def apply(self, world: World) -> World:
        for uuid in self.subtree:
            provider = world.providers[uuid]
            parent = self.parent if uuid == self.uuid else provider.parent
            world = world.with_provider(replace(provider, parent=parent, root=self.root, modified_at=self.at))
        return world

    def providers(self, world: World) -> Iterable[str]:
        return self.subtree


@value
class ProviderRemoved(_OfProvider):
    was: Provider | None = field(default=None, hash=False)

    def apply(self, world: World) -> World:
        return world.without_provider(self.uuid)


@value
class GenerationRaised(_AtProvider):
    generation: int
    at: datetime
    was_at: datetime | None = None

    def apply(self, world: World) -> World:
        assert self.generation == world.providers[self.provider].generation + 1
        return self.changed(world, generation=self.generation, modified_at=self.at)


# Inventories, traits and aggregates of a provider


@value
class _InventoryWritten(_AtProvider):
    resource_class: str
    inventory: Inventory
    at: datetime

    def apply(self, world: World) -> World:
        provider = world.providers[self.provider]
        # Store the value as the database returns it: followers read it from there.
        written = world.semantics.inventory(self.inventory, self.at)
        inventories = {**provider.inventories, self.resource_class: written}
        return self.changed(world, inventories=inventories)


@value
class InventoryAdded(_InventoryWritten):
    """The provider had no inventory of the class before."""


@value
class InventoryChanged(_InventoryWritten):
    """The provider had an inventory of the class before; it may be unchanged."""

    was_inventory: Inventory | None = None


@value
class InventoryRemoved(_AtProvider):
    resource_class: str
    was_inventory: Inventory | None = None

    def apply(self, world: World) -> World:
        provider = world.providers[self.provider]
        remaining = {name: inv for name, inv in provider.inventories.items() if name != self.resource_class}
        return self.changed(world, inventories=remaining)


@value
class TraitsSet(_AtProvider):
    traits: frozenset[str]
    was_traits: frozenset[str] | None = None

    def apply(self, world: World) -> World:
        return self.changed(world, traits=self.traits)


@value
class AggregatesSet(_AtProvider):
    aggregates: frozenset[str]
    was_aggregates: frozenset[str] | None = None

    def apply(self, world: World) -> World:
        return self.changed(world, aggregates=self.aggregates)


# Consumers and their allocations


@value
class AllocationsReplaced(Effect):
    """All allocations of a consumer are replaced by others, or by none; its owner may change too."""

    consumer: str
    before: tuple[Allocation, ...]
    after: tuple[Allocation, ...]
    account_before: Account | None
    account_after: Account | None

    def apply(self, world: World) -> World:
        providers, key = world.providers, world.semantics.key
        for uuid, used in self._used_after(providers).items():
            providers = providers.insert(uuid, with_fields(providers[uuid], used=used))
        usages = with_holding(world.usages, key, self.account_before, self.before, sign=-1)
        usages = with_holding(usages, key, self.account_after, self.after)
        return with_fields(world, providers=providers, usages=usages)

    def providers(self, world: World) -> Iterable[str]:
        return {allocation.provider for allocation in (*self.before, *self.after)}

    def _used_after(self, providers: HashTrieMap[str, Provider]) -> Mapping[str, Sums]:
        """Return the usage of each changed provider after the effect."""
        sums: dict[str, dict[str, int]] = {}
        for sign, allocations in ((-1, self.before), (1, self.after)):
            for uuid, resource_class, amount in allocations:
                if uuid not in sums:
                    # The provider of an allocation may no longer exist; `db verify` reports it.
                    if uuid not in providers:
                        continue
                    sums[uuid] = dict(providers[uuid].used)
                used = sums[uuid]
                used[resource_class] = used.get(resource_class, 0) + sign * amount
        return {uuid: without_zeros(used) for uuid, used in sums.items()} if self.before else sums


@value
class ConsumerAdded(Effect):
    consumer: Consumer
    at: datetime


@value
class ConsumerChanged(Effect):
    consumer: Consumer
    at: datetime


@value
class ConsumerRemoved(Effect):
    uuid: str


# Names


@value
class _NameAdded(Effect):
    name: str
    at: datetime
    id: int

    def added_to(self, catalog: Catalog) -> Catalog:
        return catalog.with_entries(CatalogEntry(self.id, self.name, self.at))


@value
class ClassAdded(_NameAdded):
    def apply(self, world: World) -> World:
        return replace(world, classes=self.added_to(world.classes))


@value
class ClassRenamed(Effect):
    name: str
    new_name: str
    at: datetime
    was_at: datetime | None = None

    def apply(self, world: World) -> World:
        entry = world.classes.by_name[self.name]
        classes = world.classes.with_entries(CatalogEntry(entry.id, self.new_name, self.at))
        for provider in self._holders(world):
            world = world.with_provider(
                replace(
                    provider,
                    inventories=renamed(provider.inventories, self.name, self.new_name),
                    used=renamed(provider.used, self.name, self.new_name),
                )
            )
        usages = with_class_renamed(world.usages, self.name, self.new_name)
        return replace(world, classes=classes, usages=usages)

    def providers(self, world: World) -> Iterable[str]:
        return [provider.uuid for provider in self._holders(world)]

    def _holders(self, world: World) -> list[Provider]:
        return [
            provider
            for provider in world.providers.values()
            if self.name in provider.inventories or self.name in provider.used
        ]


@value
class ClassRemoved(Effect):
    name: str
    was_id: int | None = None
    was_at: datetime | None = None

    def apply(self, world: World) -> World:
        # Only allocations of removed providers can still use the class; without its name they no longer count.
        usages = without_class(world.usages, self.name)
        return replace(world, classes=world.classes.without(self.name), usages=usages)


@value
class TraitAdded(_NameAdded):
    def apply(self, world: World) -> World:
        return replace(world, traits=self.added_to(world.traits))


@value
class TraitRemoved(Effect):
    name: str
    was_id: int | None = None
    was_at: datetime | None = None

    def apply(self, world: World) -> World:
        return replace(world, traits=world.traits.without(self.name))


@value
class ConsumerTypeAdded(_NameAdded):
    def apply(self, world: World) -> World:
        return replace(world, consumer_types=self.added_to(world.consumer_types))


@value
class Reload(Effect):
    """The change is not described; a follower reads the whole database again."""
