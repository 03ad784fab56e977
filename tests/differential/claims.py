# SPDX-License-Identifier: Apache-2.0

"""Random writes of allocations in the format of their version: PUT, POST, DELETE and the reshaper.

Most claims fit into the free capacity of their providers and carry current generations; the others are too big,
violate step sizes, are stale, or name objects that do not exist.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tests.differential.requests import ADMIN, SERVICE, Request, SeededRandom, Version, write
from tests.differential.sample_data import CLASSES, SampleData, inventory
from tests.differential.state import State

Amounts = dict[str, dict[str, int]]  # provider -> class -> amount


def put(rng: SeededRandom, data: SampleData, state: State) -> Request:
    version = rng.version()
    consumer = rng.pick(data.consumers)
    body = claim(rng, data, state, version, consumer)
    return write("put allocations", "PUT", f"/allocations/{consumer}", version, body)


def post(rng: SeededRandom, data: SampleData, state: State) -> Request:
    version = rng.version(13)
    consumers = rng.some(data.consumers, 3, 1)
    if rng.chance(0.3) and state.consumers:
        return move(rng, data, state, version)
    body = {consumer: claim(rng, data, state, version, consumer) for consumer in consumers}
    return write("post allocations", "POST", "/allocations", version, body)


def move(rng: SeededRandom, data: SampleData, state: State, version: Version) -> Request:
    """Move one consumer's allocations to another, as a migration does."""
    old_consumer = rng.pick(state.consumers)
    new_consumer = rng.pick([uuid for uuid in data.consumers if uuid != old_consumer])
    amounts = allocations_of(state, old_consumer)
    body = {
        new_consumer: claim_body(
            rng, data, state, version, new_consumer, amounts or some_amounts(rng, state)
        ),
        old_consumer: claim_body(rng, data, state, version, old_consumer, {}),
    }
    return write("move allocations", "POST", "/allocations", version, body)


def delete(rng: SeededRandom, data: SampleData, state: State) -> Request:
    pool = state.consumers if state.consumers and rng.chance(0.75) else data.consumers
    return write("delete allocations", "DELETE", f"/allocations/{rng.pick(pool)}", rng.version())


def claim(
    rng: SeededRandom, data: SampleData, state: State, version: Version, consumer: str
) -> dict[str, Any]:
    if version >= 28 and rng.chance(0.08):
        amounts: Amounts = {}
    elif rng.chance(0.15):
        amounts = allocations_of(state, consumer) or some_amounts(rng, state)
    else:
        amounts = some_amounts(rng, state)
    if rng.chance(0.03):
        amounts = amounts | {rng.pick(data.absent_uuids): {"VCPU": 1}}
    if amounts and rng.chance(0.03):
        amounts = amounts | {rng.pick(amounts): {rng.pick(("CUSTOM_UNHEARD", "VCPU_LIKE")): 1}}
    return claim_body(rng, data, state, version, consumer, amounts)


def claim_body(
    rng: SeededRandom, data: SampleData, state: State, version: Version, consumer: str, amounts: Amounts
) -> dict[str, Any]:
    """Return the body of a claim with all fields that its version requires."""
    body: dict[str, Any] = {}
    if version >= 12:
        body["allocations"] = {provider: {"resources": amount} for provider, amount in amounts.items()}
        if amounts and rng.chance(0.2):
            provider = rng.pick(amounts)
            known = state.providers.get(provider)
            body["allocations"][provider]["generation"] = known.generation if known else 3
    else:
        body["allocations"] = [
            {"resource_provider": {"uuid": provider}, "resources": amount}
            for provider, amount in amounts.items()
        ]
    known_consumer = state.consumers.get(consumer)
    if version >= 8:
        body["project_id"], body["user_id"] = rng.pick(data.projects), rng.pick(data.users)
        if known_consumer and rng.chance(0.7):
            body["project_id"], body["user_id"] = known_consumer.project, known_consumer.user
    if version >= 28:
        body["consumer_generation"] = known_consumer.generation if known_consumer else None
        if rng.chance(0.06):
            body["consumer_generation"] = rng.pick((None, 0, 1, 99))
    if version >= 34 and amounts and rng.chance(0.3):
        body["mappings"] = {rng.pick(("_COMPUTE", "1", "net-0")): [rng.pick(amounts)]}
    if version >= 38:
        body["consumer_type"] = rng.pick(data.types)
    return body


def allocations_of(state: State, consumer: str) -> Amounts:
    amounts: Amounts = {}
    for (owner, provider, name), amount in state.allocations.items():
        if owner == consumer:
            amounts.setdefault(provider, {})[name] = amount
    return amounts


def some_amounts(rng: SeededRandom, state: State) -> Amounts:
    """Return one to four amounts, mostly available ones of providers of one tree."""
    if not state.inventories:
        return {}
    provider, _ = rng.pick(state.inventories)
    tree = set(state.tree(state.providers[provider].root))
    nearby = (
        [key for key in state.inventories if key[0] in tree] if rng.chance(0.8) else list(state.inventories)
    )
    with_room = [key for key in nearby if available_amounts(state, *key)]
    if with_room and rng.chance(0.9):
        nearby = with_room
    amounts: Amounts = {}
    for uuid, name in rng.some(nearby, 4, 1):
        amounts.setdefault(uuid, {})[name] = amount_of(rng, state, uuid, name)
    if rng.chance(0.03):
        amounts.setdefault(provider, {})[rng.pick(CLASSES)] = 1
    return amounts


def available_amounts(state: State, provider: str, name: str) -> range:
    """Return the amounts that a provider can still accept."""
    record = state.inventories[provider, name]
    step = record.step_size
    least = -(-record.min_unit // step) * step
    most = min(record.capacity - state.used(provider, name), record.max_unit)
    return range(least, most + 1, step)


def amount_of(rng: SeededRandom, state: State, provider: str, name: str) -> int:
    """Return an available amount; if there is none, or in 4 % of calls, one that may not fit."""
    fit = available_amounts(state, provider, name)
    if not fit or rng.chance(0.04):
        record = state.inventories[provider, name]
        return rng.pick((1, 2, 3, record.max_unit, record.capacity + 1, record.total * 20)) or 1
    return fit[-1] if rng.chance(0.08) else rng.pick(list(fit[:4]))


def reshape(rng: SeededRandom, data: SampleData, state: State) -> Request:
    """Move an inventory and its allocations to another provider, as nova does for a new tree."""
    version = rng.version(30)
    if not state.inventories:
        body: dict[str, Any] = {"inventories": {}, "allocations": {}}
        return as_service(rng, write("reshape", "POST", "/reshaper", version, body))
    source, name = rng.pick(state.inventories)
    tree = [uuid for uuid in state.tree(state.providers[source].root) if uuid != source]
    target = rng.pick(tree if tree and rng.chance(0.85) else state.providers)
    moved = {source: inventory_bodies(state, source), target: inventory_bodies(state, target)}
    moved[target][name] = moved[source].pop(name, inventory(rng, name))
    consumers = {
        owner for owner, provider, held_name in state.allocations if (provider, held_name) == (source, name)
    }
    if rng.chance(0.1):
        consumers = set()
    body = {
        "inventories": {
            uuid: {
                "resource_provider_generation": state.providers[uuid].generation
                - (1 if rng.chance(0.03) else 0),
                "inventories": content,
            }
            for uuid, content in moved.items()
        },
        "allocations": {
            consumer: claim_body(
                rng,
                data,
                state,
                version,
                consumer,
                move_amounts(allocations_of(state, consumer), source, target, name),
            )
            for consumer in sorted(consumers)
        },
    }
    return as_service(rng, write("reshape", "POST", "/reshaper", version, body))


def move_amounts(amounts: Amounts, source: str, target: str, name: str) -> Amounts:
    new = {provider: dict(content) for provider, content in amounts.items()}
    amount = new[source].pop(name)
    target_amounts = new.setdefault(target, {})
    target_amounts[name] = target_amounts.get(name, 0) + amount
    return {provider: content for provider, content in new.items() if content}


def inventory_bodies(state: State, provider: str) -> dict[str, dict[str, Any]]:
    """Return a provider's inventories in the format of a body."""
    return {
        name: dict(record._asdict())
        for (owner, name), record in state.inventories.items()
        if owner == provider
    }


def as_service(rng: SeededRandom, request: Request) -> Request:
    """Send the request as a service user: the reshaper refuses administrators."""
    if rng.chance(0.05):
        return request
    rest: Iterable[tuple[str, str]] = (header for header in request.headers if header not in ADMIN)
    return replace(request, headers=(*SERVICE, *rest))
