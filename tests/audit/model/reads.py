# SPDX-License-Identifier: Apache-2.0

"""Rules for reads."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.audit.model import inventories, providers
from tests.audit.model.providers import existing
from tests.audit.model.responses import Refused, Response
from tests.audit.model.state import Draft, Provider, State
from tests.audit.operations import Request


def provider(draft: Draft, request: Request) -> Response:
    uuid = request.parts[1]
    return Response(200, providers.view(uuid, existing(draft, uuid), draft.before.root(uuid)))


def all_providers(draft: Draft, request: Request) -> Response:
    state = draft.before
    listed = [providers.view(uuid, each, state.root(uuid)) for uuid, each in sorted(state.providers.items())]
    return Response(200, {"resource_providers": listed})


def all_inventories(draft: Draft, request: Request) -> Response:
    found = existing(draft, request.parts[1])
    return Response(200, inventories.view(dict(found.inventories), found.generation))


def inventory(draft: Draft, request: Request) -> Response:
    found, name = existing(draft, request.parts[1]), request.parts[3]
    one = found.inventory(name)
    if one is None:
        raise Refused(404)
    return Response(200, inventories.view_one(one, found.generation))


def usages(draft: Draft, request: Request) -> Response:
    found = existing(draft, request.parts[1])
    used = {name: found.used_of(name) for name, _ in found.inventories}
    return Response(200, {"resource_provider_generation": found.generation, "usages": used})


def traits(draft: Draft, request: Request) -> Response:
    found = existing(draft, request.parts[1])
    return Response(200, {"traits": sorted(found.traits), "resource_provider_generation": found.generation})


def aggregates(draft: Draft, request: Request) -> Response:
    found = existing(draft, request.parts[1])
    body: dict[str, Any] = {"aggregates": sorted(found.aggregates)}
    if request.minor >= providers.AGGREGATE_GENERATIONS:
        body["resource_provider_generation"] = found.generation
    return Response(200, body)


def allocations_of_provider(draft: Draft, request: Request) -> Response:
    uuid = request.parts[1]
    found = existing(draft, uuid)
    by_consumer: dict[str, dict[str, Any]] = {}
    for consumer, record in draft.before.consumers.items():
        held = {each.resource_class: each.amount for each in record.holds if each.provider == uuid}
        if held:
            by_consumer[consumer] = {"resources": held, "consumer_generation": record.generation}
    return Response(200, {"allocations": by_consumer, "resource_provider_generation": found.generation})


def allocations_of_consumer(draft: Draft, request: Request) -> Response:
    record = draft.consumer(request.parts[1])
    if record is None or not record.holds:
        return Response(200, {"allocations": {}})
    held: dict[str, dict[str, Any]] = {}
    for uuid, resource_class, amount in record.holds:
        at = held.setdefault(uuid, {"resources": {}, "generation": draft.before.providers[uuid].generation})
        at["resources"][resource_class] = amount
    return Response(
        200,
        {
            "allocations": held,
            "project_id": record.project,
            "user_id": record.user,
            "consumer_generation": record.generation,
            "consumer_type": record.type or "unknown",
        },
    )


def usages_of_project(draft: Draft, request: Request) -> Response:
    """GET /usages of minor versions without consumer types."""
    project, user = request.query["project_id"], request.query.get("user_id")
    used: Counter[str] = Counter()
    for record in draft.before.consumers.values():
        if record.project == project and user in (None, record.user):
            for each in record.holds:
                used[each.resource_class] += each.amount
    return Response(200, {"usages": dict(used)})


def candidates(draft: Draft, request: Request) -> Response:
    """GET /allocation_candidates for one class: providers with room for it, and summaries of their trees."""
    name, _, number = request.query["resources"].partition(":")
    state, amount = draft.before, int(number)
    with_room = sorted(uuid for uuid, each in state.providers.items() if _has_room(each, name, amount))
    trees = {state.root(uuid) for uuid in with_room}
    summaries = {
        uuid: _summary(state, uuid, each)
        for uuid, each in state.providers.items()
        if state.root(uuid) in trees
    }
    requests = [
        {"allocations": {uuid: {"resources": {name: amount}}}, "mappings": {"": [uuid]}} for uuid in with_room
    ]
    return Response(200, {"allocation_requests": requests, "provider_summaries": summaries})


def resource_class(draft: Draft, request: Request) -> Response:
    name = request.parts[1]
    if not draft.before.has_class(name):
        raise Refused(404)
    return Response(200, {"name": name})


def trait(draft: Draft, request: Request) -> Response:
    if not draft.before.has_trait(request.parts[1]):
        raise Refused(404)
    return Response(204)


def custom_traits(draft: Draft, request: Request) -> Response:
    """GET /traits?name=startswith:CUSTOM_"""
    return Response(200, {"traits": sorted(draft.before.traits)})


def _has_room(found: Provider, name: str, amount: int) -> bool:
    one = found.inventory(name)
    return one is not None and one.allows(amount) and found.used_of(name) + amount <= one.capacity


def _summary(state: State, uuid: str, found: Provider) -> dict[str, Any]:
    return {
        "resources": {
            name: {"capacity": one.capacity, "used": found.used_of(name)} for name, one in found.inventories
        },
        "traits": sorted(found.traits),
        "parent_provider_uuid": found.parent,
        "root_provider_uuid": state.root(uuid),
    }
