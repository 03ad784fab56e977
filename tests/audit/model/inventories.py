# SPDX-License-Identifier: Apache-2.0

"""Rules for inventories: add, change, remove, one or all. The total may fall below the usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.audit.model.providers import at_generation, existing
from tests.audit.model.responses import CONCURRENT_UPDATE, INVENTORY_IN_USE, Refused, Response
from tests.audit.model.state import Draft, Inventory
from tests.audit.operations import Request

FIELDS = Inventory._fields


def parse_inventories(given: Mapping[str, Mapping[str, Any]]) -> dict[str, Inventory]:
    return {name: _parse_inventory(each) for name, each in given.items()}


def check_classes(draft: Draft, names: Iterable[str]) -> None:
    if not all(draft.before.has_class(name) for name in names):
        raise Refused(400)


def replace_all(draft: Draft, request: Request) -> Response:
    """PUT /resource_providers/{uuid}/inventories"""
    uuid = request.parts[1]
    provider = at_generation(draft, uuid, request.body["resource_provider_generation"])
    new = parse_inventories(request.body["inventories"])
    check_classes(draft, new)
    if any(name not in new for name, _ in provider.used):
        raise Refused(409, INVENTORY_IN_USE)
    after = draft.providers[uuid] = provider.with_inventories(new).with_next_generation()
    return Response(200, view(new, after.generation))


def remove_all(draft: Draft, request: Request) -> Response:
    """DELETE /resource_providers/{uuid}/inventories"""
    uuid = request.parts[1]
    provider = existing(draft, uuid)
    if provider.used:
        raise Refused(409, INVENTORY_IN_USE)
    draft.providers[uuid] = provider.with_inventories({}).with_next_generation()
    return Response(204)


def add(draft: Draft, request: Request) -> Response:
    """POST /resource_providers/{uuid}/inventories"""
    uuid, name = request.parts[1], request.body["resource_class"]
    provider = existing(draft, uuid)
    check_classes(draft, (name,))
    if provider.has(name):
        raise Refused(409, CONCURRENT_UPDATE)
    new = _parse_inventory(request.body)
    after = provider.with_inventories({**dict(provider.inventories), name: new}).with_next_generation()
    draft.providers[uuid] = after
    return Response(201, view_one(new, after.generation))


def change(draft: Draft, request: Request) -> Response:
    """PUT /resource_providers/{uuid}/inventories/{class}"""
    uuid, name = request.parts[1], request.parts[3]
    provider = at_generation(draft, uuid, request.body["resource_provider_generation"])
    check_one_class(draft, name, 404)
    if not provider.has(name):
        raise Refused(400)
    new = _parse_inventory(request.body)
    after = provider.with_inventories({**dict(provider.inventories), name: new}).with_next_generation()
    draft.providers[uuid] = after
    return Response(200, view_one(new, after.generation))


def remove(draft: Draft, request: Request) -> Response:
    """DELETE /resource_providers/{uuid}/inventories/{class}"""
    uuid, name = request.parts[1], request.parts[3]
    provider = existing(draft, uuid)
    check_one_class(draft, name, 404)
    if provider.used_of(name):
        raise Refused(409, CONCURRENT_UPDATE)
    if not provider.has(name):
        raise Refused(404)
    remaining = {each: inventory for each, inventory in provider.inventories if each != name}
    draft.providers[uuid] = provider.with_inventories(remaining).with_next_generation()
    return Response(204)


def check_one_class(draft: Draft, name: str, status: int) -> None:
    if not draft.before.has_class(name):
        raise Refused(status)


def view(inventories: Mapping[str, Inventory], generation: int) -> dict[str, Any]:
    return {
        "resource_provider_generation": generation,
        "inventories": {name: each._asdict() for name, each in inventories.items()},
    }


def view_one(inventory: Inventory, generation: int) -> dict[str, Any]:
    """The reference omits a generation of 0, so the model does too."""
    return {**inventory._asdict(), **({"resource_provider_generation": generation} if generation else {})}


def _parse_inventory(given: Mapping[str, Any]) -> Inventory:
    return Inventory(**{name: given[name] for name in FIELDS if name in given})
