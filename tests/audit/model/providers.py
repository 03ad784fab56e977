# SPDX-License-Identifier: Apache-2.0

"""Providers, their trees, and what they are marked with."""

from __future__ import annotations

from typing import Any

from tests.audit.model.answers import (
    CONCURRENT_UPDATE,
    DUPLICATE_NAME,
    PROVIDER_IN_USE,
    PROVIDER_IS_PARENT,
    Refused,
    Said,
)
from tests.audit.model.world import Draft, Provider, World
from tests.audit.operations import Request

AGGREGATES_GUARDED = 19
"""From this minor version on the provider's generation guards its aggregates, and is raised with them."""


def present(draft: Draft, uuid: str) -> Provider:
    provider = draft.provider(uuid)
    if provider is None:
        raise Refused(404)
    return provider


def seen(draft: Draft, uuid: str, generation: int) -> Provider:
    """The provider, if it still is as the client has seen it."""
    provider = present(draft, uuid)
    if provider.generation != generation:
        raise Refused(409, CONCURRENT_UPDATE)
    return provider


def create(draft: Draft, request: Request) -> Said:
    """POST /resource_providers"""
    uuid, name = request.body["uuid"], request.body["name"]
    parent = request.body.get("parent_provider_uuid")
    if parent is not None and (parent == uuid or draft.provider(parent) is None):
        raise Refused(400)
    if draft.provider(uuid) is not None or _is_taken(draft.before, name):
        raise Refused(409, DUPLICATE_NAME)
    draft.providers[uuid] = Provider(name, parent)
    root = uuid if parent is None else draft.before.root(parent)
    return Said(200, shown(uuid, Provider(name, parent), root))


def change(draft: Draft, request: Request) -> Said:
    """PUT /resource_providers/{uuid}: another name, another parent. The generation stays as it is."""
    uuid = request.parts[1]
    provider, name = present(draft, uuid), request.body["name"]
    parent = request.body.get("parent_provider_uuid", provider.parent)
    if parent is not None and (draft.provider(parent) is None or uuid in _ancestors(draft.before, parent)):
        raise Refused(400)
    if name != provider.name and _is_taken(draft.before, name):
        raise Refused(409, DUPLICATE_NAME)
    after = draft.providers[uuid] = provider._replace(name=name, parent=parent)
    root = uuid if parent is None else draft.before.root(parent)
    return Said(200, shown(uuid, after, root))


def delete(draft: Draft, request: Request) -> Said:
    """DELETE /resource_providers/{uuid}"""
    uuid = request.parts[1]
    provider = present(draft, uuid)
    if any(other.parent == uuid for other in draft.before.providers.values()):
        raise Refused(409, PROVIDER_IS_PARENT)
    if provider.used:
        raise Refused(409, PROVIDER_IN_USE)
    draft.providers[uuid] = None
    return Said(204)


def set_traits(draft: Draft, request: Request) -> Said:
    """PUT /resource_providers/{uuid}/traits: the generation is raised only if they differ."""
    uuid, traits = request.parts[1], frozenset(request.body["traits"])
    provider = seen(draft, uuid, request.body["resource_provider_generation"])
    if not all(draft.before.knows_trait(name) for name in traits):
        raise Refused(400)
    after = _with_traits(draft, uuid, provider, traits)
    return Said(200, {"traits": sorted(traits), "resource_provider_generation": after.generation})


def clear_traits(draft: Draft, request: Request) -> Said:
    """DELETE /resource_providers/{uuid}/traits"""
    uuid = request.parts[1]
    _with_traits(draft, uuid, present(draft, uuid), frozenset())
    return Said(204)


def set_aggregates(draft: Draft, request: Request) -> Said:
    """PUT /resource_providers/{uuid}/aggregates: the generation is raised always, or never by an old client."""
    uuid = request.parts[1]
    if request.minor < AGGREGATES_GUARDED:
        aggregates = frozenset(request.body)
        draft.providers[uuid] = present(draft, uuid)._replace(aggregates=aggregates)
        return Said(200, {"aggregates": sorted(aggregates)})
    aggregates = frozenset(request.body["aggregates"])
    provider = seen(draft, uuid, request.body["resource_provider_generation"])
    after = draft.providers[uuid] = provider._replace(aggregates=aggregates).stepped()
    return Said(200, {"aggregates": sorted(aggregates), "resource_provider_generation": after.generation})


def shown(uuid: str, provider: Provider, root: str) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "name": provider.name,
        "generation": provider.generation,
        "parent_provider_uuid": provider.parent,
        "root_provider_uuid": root,
    }


def _with_traits(draft: Draft, uuid: str, provider: Provider, traits: frozenset[str]) -> Provider:
    after = provider if traits == provider.traits else provider._replace(traits=traits).stepped()
    draft.providers[uuid] = after
    return after


def _is_taken(world: World, name: str) -> bool:
    return any(provider.name == name for provider in world.providers.values())


def _ancestors(world: World, uuid: str) -> set[str]:
    """The provider itself and all above it."""
    found = {uuid}
    while (parent := world.providers[uuid].parent) is not None:
        found.add(parent)
        uuid = parent
    return found
