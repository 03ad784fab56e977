# SPDX-License-Identifier: Apache-2.0

"""What a provider has: one class or all of them, added, changed, removed. It may become less than is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.audit.model.answers import CONCURRENT_UPDATE, INVENTORY_IN_USE, Refused, Said
from tests.audit.model.providers import present, seen
from tests.audit.model.world import Draft, Inventory
from tests.audit.operations import Request

FIGURES = Inventory._fields


def figures(given: Mapping[str, Mapping[str, Any]]) -> dict[str, Inventory]:
    return {name: _figures(each) for name, each in given.items()}


def check_classes(draft: Draft, names: Iterable[str]) -> None:
    if not all(draft.before.knows_class(name) for name in names):
        raise Refused(400)


def replace_all(draft: Draft, request: Request) -> Said:
    """PUT /resource_providers/{uuid}/inventories"""
    uuid = request.parts[1]
    provider = seen(draft, uuid, request.body["resource_provider_generation"])
    new = figures(request.body["inventories"])
    check_classes(draft, new)
    if any(name not in new for name, _ in provider.used):
        raise Refused(409, INVENTORY_IN_USE)
    after = draft.providers[uuid] = provider.with_inventories(new).stepped()
    return Said(200, shown(new, after.generation))


def remove_all(draft: Draft, request: Request) -> Said:
    """DELETE /resource_providers/{uuid}/inventories"""
    uuid = request.parts[1]
    provider = present(draft, uuid)
    if provider.used:
        raise Refused(409, INVENTORY_IN_USE)
    draft.providers[uuid] = provider.with_inventories({}).stepped()
    return Said(204)


def add(draft: Draft, request: Request) -> Said:
    """POST /resource_providers/{uuid}/inventories"""
    uuid, name = request.parts[1], request.body["resource_class"]
    provider = present(draft, uuid)
    check_classes(draft, (name,))
    if provider.has(name):
        raise Refused(409, CONCURRENT_UPDATE)
    new = _figures(request.body)
    after = provider.with_inventories({**dict(provider.inventories), name: new}).stepped()
    draft.providers[uuid] = after
    return Said(201, shown_one(new, after.generation))


def change(draft: Draft, request: Request) -> Said:
    """PUT /resource_providers/{uuid}/inventories/{class}"""
    uuid, name = request.parts[1], request.parts[3]
    provider = seen(draft, uuid, request.body["resource_provider_generation"])
    check_one_class(draft, name, 404)
    if not provider.has(name):
        raise Refused(400)
    new = _figures(request.body)
    after = provider.with_inventories({**dict(provider.inventories), name: new}).stepped()
    draft.providers[uuid] = after
    return Said(200, shown_one(new, after.generation))


def remove(draft: Draft, request: Request) -> Said:
    """DELETE /resource_providers/{uuid}/inventories/{class}"""
    uuid, name = request.parts[1], request.parts[3]
    provider = present(draft, uuid)
    check_one_class(draft, name, 404)
    if provider.used_of(name):
        raise Refused(409, CONCURRENT_UPDATE)
    if not provider.has(name):
        raise Refused(404)
    kept = {each: inventory for each, inventory in provider.inventories if each != name}
    draft.providers[uuid] = provider.with_inventories(kept).stepped()
    return Said(204)


def check_one_class(draft: Draft, name: str, status: int) -> None:
    if not draft.before.knows_class(name):
        raise Refused(status)


def shown(inventories: Mapping[str, Inventory], generation: int) -> dict[str, Any]:
    return {
        "resource_provider_generation": generation,
        "inventories": {name: each._asdict() for name, each in inventories.items()},
    }


def shown_one(inventory: Inventory, generation: int) -> dict[str, Any]:
    """A generation of 0 is not shown: so it has always been."""
    return {**inventory._asdict(), **({"resource_provider_generation": generation} if generation else {})}


def _figures(given: Mapping[str, Any]) -> Inventory:
    return Inventory(**{name: given[name] for name in FIGURES if name in given})
