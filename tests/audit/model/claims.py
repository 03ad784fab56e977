# SPDX-License-Identifier: Apache-2.0

"""Rules for allocations: claim, clear, move, release, and reshape together with inventories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.audit.model.inventories import check_classes, parse_inventories
from tests.audit.model.responses import (
    CONCURRENT_UPDATE,
    INVENTORY_IN_USE,
    PROVIDER_NOT_FOUND,
    Refused,
    Response,
)
from tests.audit.model.state import Allocation, Consumer, Draft, Provider
from tests.audit.operations import Request

CONSUMER_GENERATIONS = 28
"""First minor version in which a claim carries the consumer's generation."""


def put(draft: Draft, request: Request) -> Response:
    """PUT /allocations/{consumer}"""
    return _claim(draft, {request.parts[1]: request.body}, request.minor)


def post(draft: Draft, request: Request) -> Response:
    """POST /allocations"""
    return _claim(draft, request.body, request.minor)


def delete(draft: Draft, request: Request) -> Response:
    """DELETE /allocations/{consumer}: provider generations do not change."""
    uuid = request.parts[1]
    consumer = draft.consumer(uuid)
    if consumer is None or not consumer.holds:
        raise Refused(404)
    _change_usage(draft, consumer.holds, frozenset())
    draft.consumers[uuid] = None
    return Response(204)


def reshape(draft: Draft, request: Request) -> Response:
    """POST /reshaper: add inventories, replace allocations, remove inventories, atomically."""
    wanted: Mapping[str, Any] = request.body["inventories"]
    for uuid, given in wanted.items():
        provider = draft.provider(uuid)
        if provider is None:
            raise Refused(400, PROVIDER_NOT_FOUND)
        if provider.generation != given["resource_provider_generation"]:
            raise Refused(409, CONCURRENT_UPDATE)
    claims: Mapping[str, Any] = request.body["allocations"]
    _check_consumers_and_providers(draft, claims, request.minor)
    new = {uuid: parse_inventories(given["inventories"]) for uuid, given in wanted.items()}
    for uuid, inventories in new.items():
        if inventories:
            check_classes(draft, inventories)
            provider = _existing(draft, uuid)
            merged = {**dict(provider.inventories), **inventories}
            draft.providers[uuid] = provider.with_inventories(merged).with_next_generation()
    _replace_allocations(draft, claims)
    for uuid, inventories in new.items():
        provider = _existing(draft, uuid)
        if any(name not in inventories for name, _ in provider.used):
            raise Refused(409, INVENTORY_IN_USE)
        draft.providers[uuid] = provider.with_inventories(inventories).with_next_generation()
    return Response(204)


def _claim(draft: Draft, claims: Mapping[str, Any], minor: int) -> Response:
    _check_consumers_and_providers(draft, claims, minor)
    _replace_allocations(draft, claims)
    return Response(204)


def _check_consumers_and_providers(draft: Draft, claims: Mapping[str, Any], minor: int) -> None:
    if minor >= CONSUMER_GENERATIONS:
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


def _replace_allocations(draft: Draft, claims: Mapping[str, Any]) -> None:
    """Replace each consumer's allocations by its claim, if all of them fit."""
    wanted = {uuid: _wanted(claim) for uuid, claim in claims.items()}
    held = {uuid: _held(draft, uuid) for uuid in claims}
    for claimed in wanted.values():
        for each in claimed:
            if not draft.before.has_class(each.resource_class):
                raise Refused(400)
    _check_room(draft, wanted, held)
    for uuid, claim in claims.items():
        _change_usage(draft, held[uuid], wanted[uuid])
        draft.consumers[uuid] = _consumer_after(draft.consumer(uuid), claim, wanted[uuid])
    raised = {each.provider for claimed in wanted.values() for each in claimed}
    raised |= {each.provider for uuid, claimed in wanted.items() if not claimed for each in held[uuid]}
    for uuid in raised:
        draft.providers[uuid] = _existing(draft, uuid).with_next_generation()


def _check_room(
    draft: Draft, wanted: Mapping[str, frozenset[Allocation]], held: Mapping[str, frozenset[Allocation]]
) -> None:
    """Refuse claims above capacity. On a provider that is over capacity already, usage may only fall."""
    after: Counter[tuple[str, str]] = Counter()
    for allocations in wanted.values():
        for provider, resource_class, amount in allocations:
            inventory = _existing(draft, provider).inventory(resource_class)
            if inventory is None or not inventory.allows(amount):
                raise Refused(409)
            after[provider, resource_class] += amount
    for allocations in held.values():
        for provider, resource_class, amount in allocations:
            if (provider, resource_class) in after:
                after[provider, resource_class] -= amount
    for (provider, resource_class), change in after.items():
        claimed_provider = _existing(draft, provider)
        inventory, used = claimed_provider.inventory(resource_class), claimed_provider.used_of(resource_class)
        assert inventory is not None
        if change > 0 and used + change > inventory.capacity:
            raise Refused(409)


def _consumer_after(
    old: Consumer | None, claim: Mapping[str, Any], wanted: frozenset[Allocation]
) -> Consumer | None:
    """Return the consumer after its claim. An empty claim deletes a consumer with allocations and creates none."""
    if not wanted and (old is None or old.holds):
        return None
    project, user, kind = claim["project_id"], claim["user_id"], claim.get("consumer_type")
    if old is None:
        return Consumer(1 if wanted else 0, project, user, kind, wanted)
    return Consumer(old.generation + (1 if wanted else 0), project, user, kind or old.type, wanted)


def _change_usage(draft: Draft, before: frozenset[Allocation], after: frozenset[Allocation]) -> None:
    changes: dict[str, Counter[str]] = {}
    for sign, allocations in ((-1, before), (1, after)):
        for provider, resource_class, amount in allocations:
            changes.setdefault(provider, Counter())[resource_class] += sign * amount
    for uuid, change in changes.items():
        draft.providers[uuid] = _existing(draft, uuid).with_use(change)


def _wanted(claim: Mapping[str, Any]) -> frozenset[Allocation]:
    return frozenset(
        Allocation(provider, resource_class, amount)
        for provider, given in claim["allocations"].items()
        for resource_class, amount in given["resources"].items()
    )


def _held(draft: Draft, uuid: str) -> frozenset[Allocation]:
    consumer = draft.consumer(uuid)
    return frozenset() if consumer is None else consumer.holds


def _existing(draft: Draft, uuid: str) -> Provider:
    provider = draft.provider(uuid)
    assert provider is not None, f"provider {uuid} has allocations but does not exist"
    return provider
