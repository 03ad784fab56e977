# SPDX-License-Identifier: Apache-2.0

"""Describe a change: what its effects have changed, with the values before and after, by provider and by consumer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from plimsoll.domain import effects as e
from plimsoll.domain.consumer import Account, Allocation, Consumer
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.domain.provider import Provider
from plimsoll.domain.values import unhashable_value, value

INVENTORIES = "inventories"
ALLOCATIONS = "allocations"
PROJECT = "project"
AGGREGATES = "aggregates"
NAME = "name"

Members = dict[str, Any]
"""Values by the name of a member. Those of INVENTORIES: by resource class, an Inventory or None."""


class Named(StrEnum):
    RESOURCE_CLASS = "resource_class"
    TRAIT = "trait"
    CONSUMER_TYPE = "consumer_type"


@value
class NameChange:
    """A name that was created (`before` is None), removed (`after` is None) or changed."""

    kind: Named
    before: str | None
    after: str | None


@unhashable_value
class Changed:
    """A provider or consumer before and after. None: it did not exist. Otherwise the members that changed."""

    uuid: str
    before: Members | None
    after: Members | None


@unhashable_value
class ChangeDescription:
    providers: Mapping[str, Changed]
    consumers: Mapping[str, Changed]
    names: tuple[NameChange, ...]
    is_reload: bool = False
    """True if the log does not say what has changed."""

    def providers_involved(self) -> set[str]:
        """Return the uuids of the changed providers, and of those on which a changed consumer has allocations."""
        found = set(self.providers)
        for each in self.consumers.values():
            for side in (each.before, each.after):
                found.update(allocation.provider for allocation in (side or {}).get(ALLOCATIONS, ()))
        return found

    def projects_of(self, consumer: str) -> set[str]:
        """Return the projects that owned the consumer before, or own it after."""
        changed = self.consumers[consumer]
        return {side[PROJECT] for side in (changed.before, changed.after) if side and PROJECT in side}


def describe(effects: Iterable[e.Effect], semantics: DatabaseSemantics) -> ChangeDescription:
    """Return what these effects of one change have changed."""
    description = _Description(semantics)
    for effect in effects:
        if isinstance(effect, e.Reload):
            return ChangeDescription({}, {}, (), is_reload=True)
        _DESCRIBE[type(effect)](description, effect)
    return description.result()


class _Description:
    """The description while it is collected. A value before is that before the first effect, one after that of the last."""

    def __init__(self, semantics: DatabaseSemantics) -> None:
        self._semantics = semantics
        self._providers: dict[str, Changed] = {}
        self._consumers: dict[str, Changed] = {}
        self._names: list[NameChange] = []

    def result(self) -> ChangeDescription:
        providers = {uuid: _without_equal(each) for uuid, each in self._providers.items()}
        return ChangeDescription(
            {uuid: each for uuid, each in providers.items() if each.before != {} or each.after != {}},
            self._consumers,
            tuple(self._names),
        )

    # Providers

    def add_provider(self, effect: e.ProviderAdded) -> None:
        created = Provider(
            id=effect.id, uuid=effect.uuid, name=effect.name, root=effect.root, parent=effect.parent
        )
        self._providers[effect.uuid] = Changed(effect.uuid, None, _all_members(created))

    def remove_provider(self, effect: e.ProviderRemoved) -> None:
        earlier = self._providers.get(effect.uuid)
        before = {} if effect.was is None else _all_members(effect.was)
        if earlier is not None and earlier.before:
            before |= earlier.before
        self._providers[effect.uuid] = Changed(effect.uuid, before, None)

    def rename_provider(self, effect: e.ProviderRenamed) -> None:
        self._set(effect.uuid, NAME, effect.was_name, effect.name, known=effect.was_name is not None)

    def move_provider(self, effect: e.ProviderMoved) -> None:
        known = effect.was_root is not None
        self._set(effect.uuid, "parent", effect.was_parent, effect.parent, known=known)
        for uuid in effect.subtree:
            self._set(uuid, "root", effect.was_root, effect.root, known=known)

    def raise_generation(self, effect: e.GenerationRaised) -> None:
        self._set(effect.provider, "generation", effect.generation - 1, effect.generation)

    def add_inventory(self, effect: e.InventoryAdded) -> None:
        written = self._semantics.inventory(effect.inventory, effect.at)
        self._set_inventory(effect.provider, effect.resource_class, None, written)

    def change_inventory(self, effect: e.InventoryChanged) -> None:
        written = self._semantics.inventory(effect.inventory, effect.at)
        was = effect.was_inventory
        self._set_inventory(effect.provider, effect.resource_class, was, written, known=was is not None)

    def remove_inventory(self, effect: e.InventoryRemoved) -> None:
        was = effect.was_inventory
        self._set_inventory(effect.provider, effect.resource_class, was, None, known=was is not None)

    def set_traits(self, effect: e.TraitsSet) -> None:
        was = effect.was_traits
        self._set(effect.provider, "traits", was, effect.traits, known=was is not None)

    def set_aggregates(self, effect: e.AggregatesSet) -> None:
        was = effect.was_aggregates
        self._set(effect.provider, AGGREGATES, was, effect.aggregates, known=was is not None)

    def _set(self, uuid: str, member: str, before: Any, after: Any, *, known: bool = True) -> None:
        changed = self._providers.setdefault(uuid, Changed(uuid, {}, {}))
        if changed.before is not None and known:
            changed.before.setdefault(member, before)
        if changed.after is not None:
            changed.after[member] = after

    def _set_inventory(
        self, uuid: str, resource_class: str, before: Any, after: Any, *, known: bool = True
    ) -> None:
        changed = self._providers.setdefault(uuid, Changed(uuid, {}, {}))
        if changed.before is not None and known:
            changed.before.setdefault(INVENTORIES, {}).setdefault(resource_class, before)
        if changed.after is not None:
            inventories = changed.after.setdefault(INVENTORIES, {})
            inventories[resource_class] = after
            if changed.before is None and after is None:
                del inventories[resource_class]

    # Consumers

    def replace_allocations(self, effect: e.AllocationsReplaced) -> None:
        before = _holding(effect.account_before, effect.before)
        after = _holding(effect.account_after, effect.after)
        earlier = self._consumers.get(effect.consumer)
        self._consumers[effect.consumer] = Changed(
            effect.consumer, before if earlier is None else earlier.before, after
        )

    def add_consumer(self, effect: e.ConsumerAdded) -> None:
        self._set_consumer(effect.consumer, None)

    def change_consumer(self, effect: e.ConsumerChanged) -> None:
        self._set_consumer(effect.consumer, {})

    def _set_consumer(self, consumer: Consumer, before: Members | None) -> None:
        changed = self._consumers.setdefault(consumer.uuid, Changed(consumer.uuid, before, {}))
        raised = changed.after is not None and ALLOCATIONS in changed.after
        if changed.before and raised:
            changed.before.setdefault("generation", consumer.generation - 1)
        after = {**(changed.after or {}), **_owner(consumer.account), "generation": consumer.generation}
        self._consumers[consumer.uuid] = Changed(consumer.uuid, changed.before, after)

    def remove_consumer(self, effect: e.ConsumerRemoved) -> None:
        earlier = self._consumers.get(effect.uuid)
        self._consumers[effect.uuid] = Changed(effect.uuid, {} if earlier is None else earlier.before, None)

    # Names

    def add_class(self, effect: e.ClassAdded) -> None:
        self._names.append(NameChange(Named.RESOURCE_CLASS, None, effect.name))

    def rename_class(self, effect: e.ClassRenamed) -> None:
        self._names.append(NameChange(Named.RESOURCE_CLASS, effect.name, effect.new_name))

    def remove_class(self, effect: e.ClassRemoved) -> None:
        self._names.append(NameChange(Named.RESOURCE_CLASS, effect.name, None))

    def add_trait(self, effect: e.TraitAdded) -> None:
        self._names.append(NameChange(Named.TRAIT, None, effect.name))

    def remove_trait(self, effect: e.TraitRemoved) -> None:
        self._names.append(NameChange(Named.TRAIT, effect.name, None))

    def add_type(self, effect: e.ConsumerTypeAdded) -> None:
        self._names.append(NameChange(Named.CONSUMER_TYPE, None, effect.name))


def _all_members(provider: Provider) -> Members:
    return {
        NAME: provider.name,
        "parent": provider.parent,
        "root": provider.root,
        "generation": provider.generation,
        INVENTORIES: dict(provider.inventories),
        "traits": provider.traits,
        AGGREGATES: provider.aggregates,
    }


def _holding(account: Account | None, allocations: tuple[Allocation, ...]) -> Members | None:
    if account is None:  # allocations of early releases have no record of their consumer
        return {ALLOCATIONS: allocations} if allocations else None
    return {**_owner(account), ALLOCATIONS: allocations}


def _owner(account: Account) -> Members:
    return {PROJECT: account.project, "user": account.user, "type": account.type}


def _without_equal(changed: Changed) -> Changed:
    """Leave out the members that are the same before and after."""
    before, after = changed.before, changed.after
    if before is None or after is None:
        return changed
    if INVENTORIES in before and INVENTORIES in after:
        old, new = before[INVENTORIES], after[INVENTORIES]
        equal = {name for name in old if name in new and old[name] == new[name]}
        before = before | {INVENTORIES: {name: each for name, each in old.items() if name not in equal}}
        after = after | {INVENTORIES: {name: each for name, each in new.items() if name not in equal}}
    same = {name for name in before if name in after and before[name] == after[name]}
    return Changed(
        changed.uuid,
        {name: each for name, each in before.items() if name not in same},
        {name: each for name, each in after.items() if name not in same},
    )


_DESCRIBE: Mapping[type[e.Effect], Callable[[_Description, Any], None]] = {
    e.ProviderAdded: _Description.add_provider,
    e.ProviderRenamed: _Description.rename_provider,
    e.ProviderMoved: _Description.move_provider,
    e.ProviderRemoved: _Description.remove_provider,
    e.GenerationRaised: _Description.raise_generation,
    e.InventoryAdded: _Description.add_inventory,
    e.InventoryChanged: _Description.change_inventory,
    e.InventoryRemoved: _Description.remove_inventory,
    e.TraitsSet: _Description.set_traits,
    e.AggregatesSet: _Description.set_aggregates,
    e.AllocationsReplaced: _Description.replace_allocations,
    e.ConsumerAdded: _Description.add_consumer,
    e.ConsumerChanged: _Description.change_consumer,
    e.ConsumerRemoved: _Description.remove_consumer,
    e.ClassAdded: _Description.add_class,
    e.ClassRenamed: _Description.rename_class,
    e.ClassRemoved: _Description.remove_class,
    e.TraitAdded: _Description.add_trait,
    e.TraitRemoved: _Description.remove_trait,
    e.ConsumerTypeAdded: _Description.add_type,
}
