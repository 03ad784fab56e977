# SPDX-License-Identifier: Apache-2.0

"""Undo effects: the world before a change, from the world after it and the change log.

`with_replaced_values` completes an effect when it is added to a draft; `undo` is the inverse of `Effect.apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from plimsoll.domain import effects as e
from plimsoll.domain.catalog import Catalog, CatalogEntry
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import has_class
from plimsoll.domain.world import World


class NotReversible(Exception):
    """The effect lacks what it has replaced: an earlier release wrote it, or it is a Reload."""


def with_replaced_values(effect: e.Effect, world: World) -> e.Effect:
    """Return the effect with the values that it replaces in this world, the one before it."""
    read = _REPLACED_VALUES.get(type(effect))
    return effect if read is None else read(effect, world)


def undo(effect: e.Effect, world: World) -> World:
    """Return the world before this effect. `world` is the one right after it. Raise NotReversible if that is unknown."""
    undo_effect = _UNDO.get(type(effect))
    return world if undo_effect is None else undo_effect(effect, world)


# Values that an effect replaces


def _renamed(effect: e.ProviderRenamed, world: World) -> e.Effect:
    provider = world.providers[effect.uuid]
    return replace(effect, was_name=provider.name, was_at=provider.modified_at)


def _moved(effect: e.ProviderMoved, world: World) -> e.Effect:
    provider = world.providers[effect.uuid]
    times = tuple([world.providers[uuid].modified_at for uuid in effect.subtree])
    return replace(effect, was_parent=provider.parent, was_root=provider.root, was_times=times)


def _removed(effect: e.ProviderRemoved, world: World) -> e.Effect:
    return replace(effect, was=world.providers[effect.uuid])


def _inventory(effect: e.InventoryChanged | e.InventoryRemoved, world: World) -> e.Effect:
    return replace(effect, was_inventory=world.providers[effect.provider].inventories[effect.resource_class])


def _traits_set(effect: e.TraitsSet, world: World) -> e.Effect:
    return replace(effect, was_traits=world.providers[effect.provider].traits)


def _aggregates_set(effect: e.AggregatesSet, world: World) -> e.Effect:
    return replace(effect, was_aggregates=world.providers[effect.provider].aggregates)


def _class_renamed(effect: e.ClassRenamed, world: World) -> e.Effect:
    return replace(effect, was_at=world.classes.by_name[effect.name].modified_at)


def _class_removed(effect: e.ClassRemoved, world: World) -> e.Effect:
    if has_class(world.usages, effect.name):
        return effect  # the sums of owners lose the class: the effect cannot be undone
    entry = world.classes.by_name[effect.name]
    return replace(effect, was_id=entry.id, was_at=entry.modified_at)


def _trait_removed(effect: e.TraitRemoved, world: World) -> e.Effect:
    entry = world.traits.by_name[effect.name]
    return replace(effect, was_id=entry.id, was_at=entry.modified_at)


_REPLACED_VALUES: Mapping[type[e.Effect], Callable[[Any, World], e.Effect]] = {
    e.ProviderRenamed: _renamed,
    e.ProviderMoved: _moved,
    e.ProviderRemoved: _removed,
    e.InventoryChanged: _inventory,
    e.InventoryRemoved: _inventory,
    e.TraitsSet: _traits_set,
    e.AggregatesSet: _aggregates_set,
    e.ClassRenamed: _class_renamed,
    e.ClassRemoved: _class_removed,
    e.TraitRemoved: _trait_removed,
}
"""Effects that are not listed replace nothing, or are created with it: `Draft.raise_generation`."""


# The inverse of each effect


def _undo_added(effect: e.ProviderAdded, world: World) -> World:
    return world.without_provider(effect.uuid)


def _undo_renamed(effect: e.ProviderRenamed, world: World) -> World:
    if effect.was_name is None:
        raise NotReversible
    provider = world.providers[effect.uuid]
    return world.with_provider(replace(provider, name=effect.was_name, modified_at=effect.was_at))


def _undo_moved(effect: e.ProviderMoved, world: World) -> World:
    if effect.was_root is None:
        raise NotReversible
    for uuid, at in zip(effect.subtree, effect.was_times, strict=True):
        provider = world.providers[uuid]
        parent = effect.was_parent if uuid == effect.uuid else provider.parent
        world = world.with_provider(replace(provider, parent=parent, root=effect.was_root, modified_at=at))
    return world


def _undo_removed(effect: e.ProviderRemoved, world: World) -> World:
    if effect.was is None:
        raise NotReversible
    return world.with_provider(effect.was)


def _undo_raised(effect: e.GenerationRaised, world: World) -> World:
    provider = world.providers[effect.provider]
    return world.with_changed_provider(
        replace(provider, generation=effect.generation - 1, modified_at=effect.was_at)
    )


def _undo_inventory_added(effect: e.InventoryAdded, world: World) -> World:
    return e.InventoryRemoved(effect.provider, effect.resource_class).apply(world)


def _undo_inventory(effect: e.InventoryChanged | e.InventoryRemoved, world: World) -> World:
    if effect.was_inventory is None:
        raise NotReversible
    provider = world.providers[effect.provider]
    inventories = {**provider.inventories, effect.resource_class: effect.was_inventory}
    return _changed(world, provider, inventories=inventories)


def _undo_traits(effect: e.TraitsSet, world: World) -> World:
    if effect.was_traits is None:
        raise NotReversible
    return _changed(world, world.providers[effect.provider], traits=effect.was_traits)


def _undo_aggregates(effect: e.AggregatesSet, world: World) -> World:
    if effect.was_aggregates is None:
        raise NotReversible
    return _changed(world, world.providers[effect.provider], aggregates=effect.was_aggregates)


def _undo_allocations(effect: e.AllocationsReplaced, world: World) -> World:
    inverse = e.AllocationsReplaced(
        effect.consumer, effect.after, effect.before, effect.account_after, effect.account_before
    )
    return inverse.apply(world)


def _undo_class_added(effect: e.ClassAdded, world: World) -> World:
    return replace(world, classes=world.classes.without(effect.name))


def _undo_class_renamed(effect: e.ClassRenamed, world: World) -> World:
    before = e.ClassRenamed(effect.new_name, effect.name, effect.at).apply(world)
    entry = replace(before.classes.by_name[effect.name], modified_at=effect.was_at)
    return replace(before, classes=before.classes.with_entries(entry))


def _undo_class_removed(effect: e.ClassRemoved, world: World) -> World:
    return replace(world, classes=_restored(world.classes, effect))


def _undo_trait_added(effect: e.TraitAdded, world: World) -> World:
    return replace(world, traits=world.traits.without(effect.name))


def _undo_trait_removed(effect: e.TraitRemoved, world: World) -> World:
    return replace(world, traits=_restored(world.traits, effect))


def _undo_type_added(effect: e.ConsumerTypeAdded, world: World) -> World:
    return replace(world, consumer_types=world.consumer_types.without(effect.name))


def _undo_reload(_: e.Reload, __: World) -> World:
    raise NotReversible


def _restored(catalog: Catalog, effect: e.ClassRemoved | e.TraitRemoved) -> Catalog:
    if effect.was_id is None:
        raise NotReversible
    return catalog.with_entries(CatalogEntry(effect.was_id, effect.name, effect.was_at))


def _changed(world: World, provider: Provider, **fields: Any) -> World:
    return world.with_changed_provider(replace(provider, **fields))


_UNDO: Mapping[type[e.Effect], Callable[[Any, World], World]] = {
    e.ProviderAdded: _undo_added,
    e.ProviderRenamed: _undo_renamed,
    e.ProviderMoved: _undo_moved,
    e.ProviderRemoved: _undo_removed,
    e.GenerationRaised: _undo_raised,
    e.InventoryAdded: _undo_inventory_added,
    e.InventoryChanged: _undo_inventory,
    e.InventoryRemoved: _undo_inventory,
    e.TraitsSet: _undo_traits,
    e.AggregatesSet: _undo_aggregates,
    e.AllocationsReplaced: _undo_allocations,
    e.ClassAdded: _undo_class_added,
    e.ClassRenamed: _undo_class_renamed,
    e.ClassRemoved: _undo_class_removed,
    e.TraitAdded: _undo_trait_added,
    e.TraitRemoved: _undo_trait_removed,
    e.ConsumerTypeAdded: _undo_type_added,
    e.Reload: _undo_reload,
}
"""Effects that are not listed change only SQL tables."""
