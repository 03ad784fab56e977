# SPDX-License-Identifier: Apache-2.0

"""Inventories of a provider. `reserve_all`: whether `reserved` may equal `total`."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.domain.actor import Actor
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules import inventories as rules
from plimsoll.service.placement import Placement, no_result, provider_after


def add(
    placement: Placement,
    actor: Actor,
    uuid: str,
    resource_class: str,
    inventory: Inventory,
    reserve_all: bool,
) -> Provider | Refusal:
    return placement.write(
        "inventory.add",
        actor,
        lambda draft: rules.add_inventory(draft, uuid, resource_class, inventory, reserve_all=reserve_all),
        then=provider_after(uuid),
    )


def replace(
    placement: Placement,
    actor: Actor,
    uuid: str,
    generation: int,
    inventories: Mapping[str, Inventory],
    reserve_all: bool,
) -> Provider | Refusal:
    return placement.write(
        "inventories.replace",
        actor,
        lambda draft: rules.replace_inventories(
            draft, uuid, generation, inventories, reserve_all=reserve_all
        ),
        then=provider_after(uuid),
    )


def update(
    placement: Placement,
    actor: Actor,
    uuid: str,
    generation: int,
    resource_class: str,
    inventory: Inventory,
    reserve_all: bool,
) -> Provider | Refusal:
    return placement.write(
        "inventory.update",
        actor,
        lambda draft: rules.change_inventory(
            draft, uuid, generation, resource_class, inventory, reserve_all=reserve_all
        ),
        then=provider_after(uuid),
    )


def remove(placement: Placement, actor: Actor, uuid: str, resource_class: str) -> Refusal | None:
    return placement.write(
        "inventory.remove",
        actor,
        lambda draft: rules.remove_inventory(draft, uuid, resource_class),
        then=no_result,
    )


def clear(placement: Placement, actor: Actor, uuid: str) -> Refusal | None:
    return placement.write(
        "inventories.clear", actor, lambda draft: rules.clear_inventories(draft, uuid), then=no_result
    )
