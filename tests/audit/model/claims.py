# SPDX-License-Identifier: Apache-2.0

"""Allocations: claimed, cleared, moved, released, and moved along with inventories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.audit.model.answers import (
    CONCURRENT_UPDATE,
    INVENTORY_IN_USE,
    PROVIDER_NOT_FOUND,
    Refused,
    Said,
)
from tests.audit.model.inventories import check_classes, figures
from tests.audit.model.world import Allocation, Consumer, Draft, Provider
from tests.audit.operations import Request

OWNER_NEEDED = 8
GUARDED = 28
"""From this minor version on a claim says which generation of the consumer it is made for."""


def put(draft: Draft, request: Request) -> Said:
    """PUT /allocations/{consumer}"""
    return _claim(draft, {request.parts[1]: request.body}, request.minor)


def post(draft: Draft, request: Request) -> Said:
    """POST /allocations"""
    return _claim(draft, request.body, request.minor)


def delete(draft: Draft, request: Request) -> Said:
    """DELETE /allocations/{consumer}: generations of providers stay as they are."""
    uuid = request.parts[1]
    consumer = draft.consumer(uuid)
    if consumer is None or not consumer.holds:
        raise Refused(404)
    _use(draft, consumer.holds, frozenset())
    draft.consumers[uuid] = None
    return Said(204)


def reshape(draft: Draft, request: Request) -> Said:
    """POST /reshaper: inventories are widened, allocations moved, inventories narrowed, all of it or nothing."""
    wanted: Mapping[str, Any] = request.body["inventories"]
    for uuid, given in wanted.items():
        provider = draft.provider(uuid)
        if provider is None:
            raise Refused(400, PROVIDER_NOT_FOUND)
        if provider.generation != given["resource_provider_generation"]:
            raise Refused(409, CONCURRENT_UPDATE)
    claims: Mapping[str, Any] = request.body["allocations"]
    _check_parties(draft, claims, request.minor)
    new = {uuid: figures(given["inventories"]) for uuid, given in wanted.items()}
    for uuid, inventories in new.items():
        if inventories:
            check_classes(draft, inventories)
            provider = _there(draft, uuid)
            widened = {**dict(provider.inventories), **inventories}
            draft.providers[uuid] = provider.with_inventories(widened).stepped()
    _settle(draft, claims)
    for uuid, inventories in new.items():
        provider = _there(draft, uuid)
        if any(name not in inventories for name, _ in provider.used):
            raise Refused(409, INVENTORY_IN_USE)
        draft.providers[uuid] = provider.with_inventories(inventories).stepped()
    return Said(204)


def _claim(draft: Draft, claims: Mapping[str, Any], minor: int) -> Said:
    _check_parties(draft, claims, minor)
    _settle(draft, claims)
    return Said(204)


def _check_parties(draft: Draft, claims: Mapping[str, Any], minor: int) -> None:
    if minor >= GUARDED:
        for uuid, claim in claims.items():
            consumer = draft.consumer(uuid)
            actual, given = None if consumer is None else consumer.generation, claim["consumer_generation"]
            if actual != given:
                expected = "null" if actual is None else actual
                raise Refused(
                    409, CONCURRENT_UPDATE, f"consumer generation conflict - expected {expected} but"
                )
    for claim in claims.values():
        for provider in claim["allocations"]:
            if draft.provider(provider) is None:
                raise Refused(400)


def _settle(draft: Draft, claims: Mapping[str, Any]) -> None:
    """Each consumer holds what it claims instead of what it held, if there is room for all of it."""
    wanted = {uuid: _wanted(claim) for uuid, claim in claims.items()}
    held = {uuid: _held(draft, uuid) for uuid in claims}
    for claimed in wanted.values():
        for each in claimed:
            if not draft.before.knows_class(each.resource_class):
                raise Refused(400)
    _check_room(draft, wanted, held)
    for uuid, claim in claims.items():
        _use(draft, held[uuid], wanted[uuid])
        draft.consumers[uuid] = _after(draft.consumer(uuid), claim, wanted[uuid])
    stepped = {each.provider for claimed in wanted.values() for each in claimed}
    stepped |= {each.provider for uuid, claimed in wanted.items() if not claimed for each in held[uuid]}
    for uuid in stepped:
        draft.providers[uuid] = _there(draft, uuid).stepped()


def _check_room(
    draft: Draft, wanted: Mapping[str, frozenset[Allocation]], held: Mapping[str, frozenset[Allocation]]
) -> None:
    """A provider over its line may be relieved, and never loaded further."""
    after: Counter[tuple[str, str]] = Counter()
    for allocations in wanted.values():
        for provider, resource_class, amount in allocations:
            inventory = _there(draft, provider).inventory(resource_class)
            if inventory is None or not inventory.allows(amount):
                raise Refused(409)
            after[provider, resource_class] += amount
    for allocations in held.values():
        for provider, resource_class, amount in allocations:
            if (provider, resource_class) in after:
                after[provider, resource_class] -= amount
    for (provider, resource_class), change in after.items():
        loaded = _there(draft, provider)
        inventory, used = loaded.inventory(resource_class), loaded.used_of(resource_class)
        assert inventory is not None
        if change > 0 and used + change > inventory.line:
            raise Refused(409)


def _after(
    known: Consumer | None, claim: Mapping[str, Any], wanted: frozenset[Allocation]
) -> Consumer | None:
    """The consumer after its claim. One that gives up all that it held is forgotten; one without a claim is not recorded."""
    if not wanted and (known is None or known.holds):
        return None
    project, user, kind = claim["project_id"], claim["user_id"], claim.get("consumer_type")
    if known is None:
        return Consumer(1 if wanted else 0, project, user, kind, wanted)
    return Consumer(known.generation + (1 if wanted else 0), project, user, kind or known.type, wanted)


def _use(draft: Draft, before: frozenset[Allocation], after: frozenset[Allocation]) -> None:
    changes: dict[str, Counter[str]] = {}
    for sign, allocations in ((-1, before), (1, after)):
        for provider, resource_class, amount in allocations:
            changes.setdefault(provider, Counter())[resource_class] += sign * amount
    for uuid, change in changes.items():
        draft.providers[uuid] = _there(draft, uuid).with_use(change)


def _wanted(claim: Mapping[str, Any]) -> frozenset[Allocation]:
    return frozenset(
        Allocation(provider, resource_class, amount)
        for provider, given in claim["allocations"].items()
        for resource_class, amount in given["resources"].items()
    )


def _held(draft: Draft, uuid: str) -> frozenset[Allocation]:
    consumer = draft.consumer(uuid)
    return frozenset() if consumer is None else consumer.holds


def _there(draft: Draft, uuid: str) -> Provider:
    provider = draft.provider(uuid)
    assert provider is not None, f"nobody can hold anything of provider {uuid}, which is not there"
    return provider
