# SPDX-License-Identifier: Apache-2.0

"""Rules for providers, their trees, traits and aggregates."""

from __future__ import annotations

from typing import Any

from tests.audit.model.responses import (
    CONCURRENT_UPDATE,
    DUPLICATE_NAME,
    PROVIDER_IN_USE,
    PROVIDER_IS_PARENT,
    Refused,
    Response,
)
from tests.audit.model.state import Draft, Provider, State
from tests.audit.operations import Request

AGGREGATE_GENERATIONS = 19
"""First minor version in which setting aggregates checks and raises the provider's generation."""


def existing(draft: Draft, uuid: str) -> Provider:
    provider = draft.provider(uuid)
    if provider is None:
        raise Refused(404)
    return provider


def at_generation(draft: Draft, uuid: str, generation: int) -> Provider:
    """Return the provider, or refuse if its generation is not the client's."""
    provider = existing(draft, uuid)
    if provider.generation != generation:
        raise Refused(409, CONCURRENT_UPDATE)
    return provider


def create(draft: Draft, request: Request) -> Response:
    """POST /resource_providers"""
    uuid, name = request.body["uuid"], request.body["name"]
    parent = request.body.get("parent_provider_uuid")
    if parent is not None and (parent == uuid or draft.provider(parent) is None):
        raise Refused(400)
    if draft.provider(uuid) is not None or _name_is_taken(draft.before, name):
        raise Refused(409, DUPLICATE_NAME)
    draft.providers[uuid] = Provider(name, parent)
    root = uuid if parent is None else draft.before.root(parent)
    return Response(200, view(uuid, Provider(name, parent), root))


def change(draft: Draft, request: Request) -> Response:
    """PUT /resource_providers/{uuid}: change the name or the parent. The generation does not change."""
    uuid = request.parts[1]
    provider, name = existing(draft, uuid), request.body["name"]
    parent = request.body.get("parent_provider_uuid", provider.parent)
    if parent is not None and (draft.provider(parent) is None or uuid in _ancestors(draft.before, parent)):
        raise Refused(400)
    if name != provider.name and _name_is_taken(draft.before, name):
        raise Refused(409, DUPLICATE_NAME)
    after = draft.providers[uuid] = provider._replace(name=name, parent=parent)
    root = uuid if parent is None else draft.before.root(parent)
    return Response(200, view(uuid, after, root))


def delete(draft: Draft, request: Request) -> Response:
    """DELETE /resource_providers/{uuid}"""
    uuid = request.parts[1]
    provider = existing(draft, uuid)
    if any(other.parent == uuid for other in draft.before.providers.values()):
        raise Refused(409, PROVIDER_IS_PARENT)
    if provider.used:
        raise Refused(409, PROVIDER_IN_USE)
    draft.providers[uuid] = None
    return Response(204)


def set_traits(draft: Draft, request: Request) -> Response:
    """PUT /resource_providers/{uuid}/traits: raises the generation only if the traits differ."""
    uuid, traits = request.parts[1], frozenset(request.body["traits"])
    provider = at_generation(draft, uuid, request.body["resource_provider_generation"])
    if not all(draft.before.has_trait(name) for name in traits):
        raise Refused(400)
    after = _with_traits(draft, uuid, provider, traits)
    return Response(200, {"traits": sorted(traits), "resource_provider_generation": after.generation})


def clear_traits(draft: Draft, request: Request) -> Response:
    """DELETE /resource_providers/{uuid}/traits"""
    uuid = request.parts[1]
    _with_traits(draft, uuid, existing(draft, uuid), frozenset())
    return Response(204)


def set_aggregates(draft: Draft, request: Request) -> Response:
    """PUT /resource_providers/{uuid}/aggregates: raises the generation, except before 1.19."""
    uuid = request.parts[1]
    if request.minor < AGGREGATE_GENERATIONS:
        aggregates = frozenset(request.body)
        draft.providers[uuid] = existing(draft, uuid)._replace(aggregates=aggregates)
        return Response(200, {"aggregates": sorted(aggregates)})
    aggregates = frozenset(request.body["aggregates"])
    provider = at_generation(draft, uuid, request.body["resource_provider_generation"])
    after = draft.providers[uuid] = provider._replace(aggregates=aggregates).with_next_generation()
    return Response(200, {"aggregates": sorted(aggregates), "resource_provider_generation": after.generation})


def view(uuid: str, provider: Provider, root: str) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "name": provider.name,
        "generation": provider.generation,
        "parent_provider_uuid": provider.parent,
        "root_provider_uuid": root,
    }


def _with_traits(draft: Draft, uuid: str, provider: Provider, traits: frozenset[str]) -> Provider:
    after = provider if traits == provider.traits else provider._replace(traits=traits).with_next_generation()
    draft.providers[uuid] = after
    return after


def _name_is_taken(state: State, name: str) -> bool:
    return any(provider.name == name for provider in state.providers.values())


def _ancestors(state: State, uuid: str) -> set[str]:
    """Return the provider and all its ancestors."""
    found = {uuid}
    while (parent := state.providers[uuid].parent) is not None:
        found.add(parent)
        uuid = parent
    return found
