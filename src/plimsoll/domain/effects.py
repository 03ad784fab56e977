# SPDX-License-Identifier: Apache-2.0

"""What a decision changes, in the smallest pieces that mean something.

An effect is the one word for a change: the writer records it in SQL, the change log keeps it, and every
process, the one that decided and those that follow, applies it to its world.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from rpds import HashTrieMap

from plimsoll.domain.catalog import Term
from plimsoll.domain.consumer import Account, Allocation, Consumer
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import (
    Sums,
    what_is_left,
    with_class_renamed,
    with_holding,
    without_class,
    without_holding,
)
from plimsoll.domain.values import value
from plimsoll.domain.world import World

V = TypeVar("V")


@value
class Effect:
    """The base of all effects. Most change one provider; some change only what is kept in SQL."""

    def apply(self, world: World) -> World:
        return world

    def providers(self, world: World) -> Iterable[str]:
        """The uuids of the providers that it changes, given the world before it."""
        return ()


@value
class _AtProvider(Effect):
    """An effect on one provider that is there already."""

    provider: str

    def providers(self, world: World) -> Iterable[str]:
        return (self.provider,)


# Providers and trees


@value
class ProviderAdded(Effect):
    uuid: str
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

    def providers(self, world: World) -> Iterable[str]:
        return (self.uuid,)


@value
class ProviderRenamed(Effect):
    uuid: str
    name: str
    at: datetime

    def apply(self, world: World) -> World:
        return world.with_provider(replace(world.providers[self.uuid], name=self.name, modified_at=self.at))

    def providers(self, world: World) -> Iterable[str]:
        return (self.uuid,)


@value
class ProviderMoved(Effect):
    """A provider gets another parent, or none; it and all below it get the root of the new place."""

    uuid: str
    parent: str | None
    root: str
    subtree: tuple[str, ...]
    at: datetime

    def apply(self, world: World) -> World:
        for uuid in self.subtree:
            provider = world.providers[uuid]
            parent = self.parent if uuid == self.uuid else provider.parent
            world = world.with_provider(replace(provider, parent=parent, root=self.root, modified_at=self.at))
        return world

    def providers(self, world: World) -> Iterable[str]:
        return self.subtree


@value
class ProviderRemoved(Effect):
    uuid: str

    def apply(self, world: World) -> World:
        return world.without_provider(self.uuid)

    def providers(self, world: World) -> Iterable[str]:
        return (self.uuid,)


@value
class GenerationRaised(_AtProvider):
    generation: int
    at: datetime

    def apply(self, world: World) -> World:
        provider = world.providers[self.provider]
        assert self.generation == provider.generation + 1
        return world.with_state_of(provider.changed(self.generation, modified_at=self.at))


# What a provider has


@value
class _InventoryWritten(_AtProvider):
    resource_class: str
    inventory: Inventory
    at: datetime

    def apply(self, world: World) -> World:
        provider = world.providers[self.provider]
        # Memory must not know it any better than the database, from which others read it.
        written = world.keeping.inventory(self.inventory, self.at)
        inventories = {**provider.inventories, self.resource_class: written}
        return world.with_state_of(provider.changed(inventories=inventories))


@value
class InventoryAdded(_InventoryWritten):
    """The provider did not have the class before."""


@value
class InventoryChanged(_InventoryWritten):
    """The provider had the class before, in another amount perhaps."""


@value
class InventoryRemoved(_AtProvider):
    resource_class: str

    def apply(self, world: World) -> World:
        provider = world.providers[self.provider]
        kept = {name: inv for name, inv in provider.inventories.items() if name != self.resource_class}
        return world.with_state_of(provider.changed(inventories=kept))


@value
class TraitsSet(_AtProvider):
    traits: frozenset[str]

    def apply(self, world: World) -> World:
        return world.with_state_of(world.providers[self.provider].changed(traits=self.traits))


@value
class AggregatesSet(_AtProvider):
    aggregates: frozenset[str]

    def apply(self, world: World) -> World:
        return world.with_state_of(world.providers[self.provider].changed(aggregates=self.aggregates))


# What consumers hold


@value
class AllocationsReplaced(Effect):
    """A consumer lets go of what it held and holds something else, or nothing; it may get another owner with it."""

    consumer: str
    before: tuple[Allocation, ...]
    after: tuple[Allocation, ...]
    account_before: Account | None
    account_after: Account | None

    def apply(self, world: World) -> World:
        providers, key = world.providers, world.keeping.key
        for uuid, used in self._used_after(providers).items():
            providers = providers.insert(uuid, providers[uuid].changed(used=used))
        usages = without_holding(world.usages, key, self.account_before, self.before)
        return world.with_claims(providers, with_holding(usages, key, self.account_after, self.after))

    def providers(self, world: World) -> Iterable[str]:
        return {allocation.provider for allocation in (*self.before, *self.after)}

    def _used_after(self, providers: HashTrieMap[str, Provider]) -> Mapping[str, Sums]:
        """What is used then of each provider concerned."""
        sums: dict[str, dict[str, int]] = {}
        for sign, allocations in ((-1, self.before), (1, self.after)):
            for uuid, resource_class, amount in allocations:
                if uuid not in sums:
                    # An allocation may have outlived its provider: `db verify` tells of it.
                    if uuid not in providers:
                        continue
                    sums[uuid] = dict(providers[uuid].used)
                used = sums[uuid]
                used[resource_class] = used.get(resource_class, 0) + sign * amount
        return {uuid: what_is_left(used) for uuid, used in sums.items()} if self.before else sums


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
class ClassAdded(Effect):
    name: str
    at: datetime
    id: int

    def apply(self, world: World) -> World:
        return replace(world, classes=world.classes.with_terms(Term(self.id, self.name, self.at)))


@value
class ClassRenamed(Effect):
    name: str
    new_name: str
    at: datetime

    def apply(self, world: World) -> World:
        term = world.classes.by_name[self.name]
        classes = world.classes.with_terms(Term(term.id, self.new_name, self.at))
        for provider in self._holders(world):
            world = world.with_provider(
                replace(
                    provider,
                    inventories=_renamed(provider.inventories, self.name, self.new_name),
                    used=_renamed(provider.used, self.name, self.new_name),
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


def _renamed(mapping: Mapping[str, V], name: str, new_name: str) -> Mapping[str, V]:
    return {new_name if key == name else key: value for key, value in mapping.items()}


@value
class ClassRemoved(Effect):
    name: str

    def apply(self, world: World) -> World:
        # Nobody has it any more, but for what outlived its provider: that does not count without a name.
        usages = without_class(world.usages, self.name)
        return replace(world, classes=world.classes.without(self.name), usages=usages)


@value
class TraitAdded(Effect):
    name: str
    at: datetime
    id: int

    def apply(self, world: World) -> World:
        return replace(world, traits=world.traits.with_terms(Term(self.id, self.name, self.at)))


@value
class TraitRemoved(Effect):
    name: str

    def apply(self, world: World) -> World:
        return replace(world, traits=world.traits.without(self.name))


@value
class ConsumerTypeAdded(Effect):
    name: str
    at: datetime
    id: int

    def apply(self, world: World) -> World:
        types = world.consumer_types.with_terms(Term(self.id, self.name, self.at))
        return replace(world, consumer_types=types)


@value
class Reload(Effect):
    """What changed is not told here: whoever follows reads everything again."""
