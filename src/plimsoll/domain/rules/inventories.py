# SPDX-License-Identifier: Apache-2.0

"""Add, change, remove or replace the inventories of a provider.

Reducing an inventory below its usage is allowed: the provider is then over-allocated until allocations are removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import InventoryAdded, InventoryChanged, InventoryRemoved
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import (
    InventoryExists,
    InventoryInUse,
    InventoryMissing,
    InventoryReservesTooMuch,
    Refusal,
    ResourceClassMissing,
)


def add_inventory(
    draft: Draft, uuid: str, resource_class: str, inventory: Inventory, *, reserve_all: bool
) -> Refusal | None:
    provider = draft.world.provider_at_generation(uuid)
    return _write(draft, provider, InventoryAdded, resource_class, inventory, reserve_all)


def change_inventory(
    draft: Draft, uuid: str, generation: int, resource_class: str, inventory: Inventory, *, reserve_all: bool
) -> Refusal | None:
    provider = draft.world.provider_at_generation(uuid, generation)
    return _write(draft, provider, InventoryChanged, resource_class, inventory, reserve_all)


def _write(
    draft: Draft,
    provider: Provider | Refusal,
    effect: type[InventoryAdded] | type[InventoryChanged],
    resource_class: str,
    inventory: Inventory,
    reserve_all: bool,
) -> Refusal | None:
    if isinstance(provider, Refusal):
        return provider
    if refusal := _check_reserved(provider.uuid, {resource_class: inventory}, reserve_all):
        return refusal
    if resource_class not in draft.world.classes:
        return ResourceClassMissing(resource_class)
    exists = resource_class in provider.inventories
    if exists and effect is InventoryAdded:
        return InventoryExists(provider.uuid, resource_class)
    if not exists and effect is InventoryChanged:
        return InventoryMissing(provider.uuid, resource_class)
    draft.add(effect(provider.uuid, resource_class, inventory, draft.now))
    draft.raise_generation(provider.uuid)
    return None


def replace_inventories(
    draft: Draft, uuid: str, generation: int, inventories: Mapping[str, Inventory], *, reserve_all: bool
) -> Refusal | None:
    provider = draft.world.provider_at_generation(uuid, generation)
    if isinstance(provider, Refusal):
        return provider
    refusal = _check_reserved(provider.uuid, inventories, reserve_all)
    return refusal or put_inventories(draft, provider.uuid, inventories)


def clear_inventories(draft: Draft, uuid: str) -> Refusal | None:
    provider = draft.world.provider_at_generation(uuid)
    if isinstance(provider, Refusal):
        return provider
    return put_inventories(draft, provider.uuid, {})


def remove_inventory(draft: Draft, uuid: str, resource_class: str) -> Refusal | None:
    provider = draft.world.provider_at_generation(uuid)
    if isinstance(provider, Refusal):
        return provider
    if resource_class not in draft.world.classes:
        return ResourceClassMissing(resource_class)
    if refusal := _check_unused(draft, provider.uuid, (resource_class,)):
        return refusal
    if resource_class not in provider.inventories:
        return InventoryMissing(provider.uuid, resource_class)
    draft.add(InventoryRemoved(provider.uuid, resource_class))
    draft.raise_generation(provider.uuid)
    return None


def put_inventories(draft: Draft, uuid: str, inventories: Mapping[str, Inventory]) -> Refusal | None:
    """Replace all inventories of a provider. Raises the generation even if they are unchanged."""
    for resource_class in inventories:
        if resource_class not in draft.world.classes:
            return ResourceClassMissing(resource_class)
    existing = draft.world.providers[uuid].inventories
    unwanted = [name for name in existing if name not in inventories]
    if refusal := _check_unused(draft, uuid, unwanted):
        return refusal
    for name in unwanted:
        draft.add(InventoryRemoved(uuid, name))
    for name, inventory in inventories.items():
        effect = InventoryChanged if name in existing else InventoryAdded
        draft.add(effect(uuid, name, inventory, draft.now))
    draft.raise_generation(uuid)
    return None


def _check_reserved(uuid: str, inventories: Mapping[str, Inventory], reserve_all: bool) -> Refusal | None:
    for name, inventory in inventories.items():
        capacity = inventory.capacity
        if capacity < 0 or (capacity == 0 and not reserve_all):
            return InventoryReservesTooMuch(uuid, name, all_allowed=reserve_all)
    return None


def _check_unused(draft: Draft, uuid: str, resource_classes: Iterable[str]) -> Refusal | None:
    provider, classes = draft.world.providers[uuid], draft.world.classes.by_name
    in_use = sorted(filter(provider.used_of, resource_classes), key=lambda name: classes[name].id)
    return InventoryInUse(uuid, tuple(in_use)) if in_use else None
