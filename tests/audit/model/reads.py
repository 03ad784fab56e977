# SPDX-License-Identifier: Apache-2.0

"""What reads show."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.audit.model import inventories, providers
from tests.audit.model.answers import Refused, Said
from tests.audit.model.providers import present
from tests.audit.model.world import Draft, Provider, World
from tests.audit.operations import Request


def provider(draft: Draft, request: Request) -> Said:
    uuid = request.parts[1]
    return Said(200, providers.shown(uuid, present(draft, uuid), draft.before.root(uuid)))


def all_providers(draft: Draft, request: Request) -> Said:
    world = draft.before
    listed = [providers.shown(uuid, each, world.root(uuid)) for uuid, each in sorted(world.providers.items())]
    return Said(200, {"resource_providers": listed})


def all_inventories(draft: Draft, request: Request) -> Said:
    found = present(draft, request.parts[1])
    return Said(200, inventories.shown(dict(found.inventories), found.generation))


def inventory(draft: Draft, request: Request) -> Said:
    found, name = present(draft, request.parts[1]), request.parts[3]
    one = found.inventory(name)
    if one is None:
        raise Refused(404)
    return Said(200, inventories.shown_one(one, found.generation))


def usages(draft: Draft, request: Request) -> Said:
    found = present(draft, request.parts[1])
    used = {name: found.used_of(name) for name, _ in found.inventories}
    return Said(200, {"resource_provider_generation": found.generation, "usages": used})


def traits(draft: Draft, request: Request) -> Said:
    found = present(draft, request.parts[1])
    return Said(200, {"traits": sorted(found.traits), "resource_provider_generation": found.generation})


def aggregates(draft: Draft, request: Request) -> Said:
    found = present(draft, request.parts[1])
    shown: dict[str, Any] = {"aggregates": sorted(found.aggregates)}
    if request.minor >= providers.AGGREGATES_GUARDED:
        shown["resource_provider_generation"] = found.generation
    return Said(200, shown)


def allocations_of_provider(draft: Draft, request: Request) -> Said:
    uuid = request.parts[1]
    found = present(draft, uuid)
    holders: dict[str, dict[str, Any]] = {}
    for consumer, record in draft.before.consumers.items():
        held = {each.resource_class: each.amount for each in record.holds if each.provider == uuid}
        if held:
            holders[consumer] = {"resources": held, "consumer_generation": record.generation}
    return Said(200, {"allocations": holders, "resource_provider_generation": found.generation})


def allocations_of_consumer(draft: Draft, request: Request) -> Said:
    record = draft.consumer(request.parts[1])
    if record is None or not record.holds:
        return Said(200, {"allocations": {}})
    held: dict[str, dict[str, Any]] = {}
    for uuid, resource_class, amount in record.holds:
        at = held.setdefault(uuid, {"resources": {}, "generation": draft.before.providers[uuid].generation})
        at["resources"][resource_class] = amount
    return Said(
        200,
        {
            "allocations": held,
            "project_id": record.project,
            "user_id": record.user,
            "consumer_generation": record.generation,
            "consumer_type": record.type or "unknown",
        },
    )


def usages_of_project(draft: Draft, request: Request) -> Said:
    """GET /usages before consumers had types."""
    project, user = request.query["project_id"], request.query.get("user_id")
    used: Counter[str] = Counter()
    for record in draft.before.consumers.values():
        if record.project == project and user in (None, record.user):
            for each in record.holds:
                used[each.resource_class] += each.amount
    return Said(200, {"usages": dict(used)})


def candidates(draft: Draft, request: Request) -> Said:
    """GET /allocation_candidates for one class: whoever has room for it, and the trees of all who have."""
    name, _, number = request.query["resources"].partition(":")
    world, amount = draft.before, int(number)
    fitting = sorted(uuid for uuid, each in world.providers.items() if _has_room(each, name, amount))
    trees = {world.root(uuid) for uuid in fitting}
    summaries = {
        uuid: _summary(world, uuid, each)
        for uuid, each in world.providers.items()
        if world.root(uuid) in trees
    }
    requests = [
        {"allocations": {uuid: {"resources": {name: amount}}}, "mappings": {"": [uuid]}} for uuid in fitting
    ]
    return Said(200, {"allocation_requests": requests, "provider_summaries": summaries})


def resource_class(draft: Draft, request: Request) -> Said:
    name = request.parts[1]
    if not draft.before.knows_class(name):
        raise Refused(404)
    return Said(200, {"name": name})


def trait(draft: Draft, request: Request) -> Said:
    if not draft.before.knows_trait(request.parts[1]):
        raise Refused(404)
    return Said(204)


def custom_traits(draft: Draft, request: Request) -> Said:
    """GET /traits?name=startswith:CUSTOM_"""
    return Said(200, {"traits": sorted(draft.before.traits)})


def _has_room(found: Provider, name: str, amount: int) -> bool:
    one = found.inventory(name)
    return one is not None and one.allows(amount) and found.used_of(name) + amount <= one.line


def _summary(world: World, uuid: str, found: Provider) -> dict[str, Any]:
    return {
        "resources": {
            name: {"capacity": one.line, "used": found.used_of(name)} for name, one in found.inventories
        },
        "traits": sorted(found.traits),
        "parent_provider_uuid": found.parent,
        "root_provider_uuid": world.root(uuid),
    }
