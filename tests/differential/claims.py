# SPDX-License-Identifier: Apache-2.0

"""Writes of allocations in the shape of their version: PUT, POST, DELETE and the reshaper.

Most claims are made to fit what is left of the providers they name, and carry the generations that
are current; the rest are too big, oddly sized, stale, or name what does not exist.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tests.differential.requests import ADMIN, SERVICE, Dice, Request, Version, write
from tests.differential.state import State
from tests.differential.words import CLASSES, Words, inventory

Amounts = dict[str, dict[str, int]]  # provider -> class -> amount


def put(dice: Dice, vocabulary: Words, state: State) -> Request:
    version = dice.version()
    consumer = dice.pick(vocabulary.consumers)
    body = claim(dice, vocabulary, state, version, consumer)
    return write("put allocations", "PUT", f"/allocations/{consumer}", version, body)


def post(dice: Dice, vocabulary: Words, state: State) -> Request:
    version = dice.version(13)
    consumers = dice.some(vocabulary.consumers, 3, 1)
    if dice.chance(0.3) and state.consumers:
        return move(dice, vocabulary, state, version)
    body = {consumer: claim(dice, vocabulary, state, version, consumer) for consumer in consumers}
    return write("post allocations", "POST", "/allocations", version, body)


def move(dice: Dice, vocabulary: Words, state: State, version: Version) -> Request:
    """Hand one consumer's allocations to another, as a migration does."""
    giver = dice.pick(state.consumers)
    taker = dice.pick([uuid for uuid in vocabulary.consumers if uuid != giver])
    taken = held(state, giver)
    body = {
        taker: owned(dice, vocabulary, state, version, taker, taken or some_amounts(dice, state)),
        giver: owned(dice, vocabulary, state, version, giver, {}),
    }
    return write("move allocations", "POST", "/allocations", version, body)


def delete(dice: Dice, vocabulary: Words, state: State) -> Request:
    pool = state.consumers if state.consumers and dice.chance(0.75) else vocabulary.consumers
    return write("delete allocations", "DELETE", f"/allocations/{dice.pick(pool)}", dice.version())


def claim(dice: Dice, vocabulary: Words, state: State, version: Version, consumer: str) -> dict[str, Any]:
    if version >= 28 and dice.chance(0.08):
        amounts: Amounts = {}
    elif dice.chance(0.15):
        amounts = held(state, consumer) or some_amounts(dice, state)
    else:
        amounts = some_amounts(dice, state)
    if dice.chance(0.03):
        amounts = amounts | {dice.pick(vocabulary.strangers): {"VCPU": 1}}
    if amounts and dice.chance(0.03):
        amounts = amounts | {dice.pick(amounts): {dice.pick(("CUSTOM_UNHEARD", "VCPU_LIKE")): 1}}
    return owned(dice, vocabulary, state, version, consumer, amounts)


def owned(
    dice: Dice, vocabulary: Words, state: State, version: Version, consumer: str, amounts: Amounts
) -> dict[str, Any]:
    """The body of a claim, with all that its version asks for."""
    body: dict[str, Any] = {}
    if version >= 12:
        body["allocations"] = {provider: {"resources": amount} for provider, amount in amounts.items()}
        if amounts and dice.chance(0.2):
            provider = dice.pick(amounts)
            known = state.providers.get(provider)
            body["allocations"][provider]["generation"] = known.generation if known else 3
    else:
        body["allocations"] = [
            {"resource_provider": {"uuid": provider}, "resources": amount}
            for provider, amount in amounts.items()
        ]
    known_consumer = state.consumers.get(consumer)
    if version >= 8:
        body["project_id"], body["user_id"] = dice.pick(vocabulary.projects), dice.pick(vocabulary.users)
        if known_consumer and dice.chance(0.7):
            body["project_id"], body["user_id"] = known_consumer.project, known_consumer.user
    if version >= 28:
        body["consumer_generation"] = known_consumer.generation if known_consumer else None
        if dice.chance(0.06):
            body["consumer_generation"] = dice.pick((None, 0, 1, 99))
    if version >= 34 and amounts and dice.chance(0.3):
        body["mappings"] = {dice.pick(("_COMPUTE", "1", "net-0")): [dice.pick(amounts)]}
    if version >= 38:
        body["consumer_type"] = dice.pick(vocabulary.types)
    return body


def held(state: State, consumer: str) -> Amounts:
    amounts: Amounts = {}
    for (owner, provider, name), amount in state.allocations.items():
        if owner == consumer:
            amounts.setdefault(provider, {})[name] = amount
    return amounts


def some_amounts(dice: Dice, state: State) -> Amounts:
    """One to four amounts, mostly of what providers of one tree have left."""
    if not state.inventories:
        return {}
    provider, _ = dice.pick(state.inventories)
    tree = set(state.tree(state.providers[provider].root))
    near = (
        [key for key in state.inventories if key[0] in tree] if dice.chance(0.8) else list(state.inventories)
    )
    roomy = [key for key in near if fitting(state, *key)]
    if roomy and dice.chance(0.9):
        near = roomy
    amounts: Amounts = {}
    for where, name in dice.some(near, 4, 1):
        amounts.setdefault(where, {})[name] = amount_of(dice, state, where, name)
    if dice.chance(0.03):
        amounts.setdefault(provider, {})[dice.pick(CLASSES)] = 1
    return amounts


def fitting(state: State, provider: str, name: str) -> range:
    """The amounts that a provider can still give."""
    have = state.inventories[provider, name]
    step = have.step_size
    least = -(-have.min_unit // step) * step
    most = min(have.capacity - state.used(provider, name), have.max_unit)
    return range(least, most + 1, step)


def amount_of(dice: Dice, state: State, provider: str, name: str) -> int:
    """An amount that fits, if one does and chance agrees; otherwise one that may not."""
    fit = fitting(state, provider, name)
    if not fit or dice.chance(0.04):
        have = state.inventories[provider, name]
        return dice.pick((1, 2, 3, have.max_unit, have.capacity + 1, have.total * 20)) or 1
    return fit[-1] if dice.chance(0.08) else dice.pick(list(fit[:4]))


def reshape(dice: Dice, vocabulary: Words, state: State) -> Request:
    """Move an inventory and what is allocated of it to another provider, as nova does for a new tree."""
    version = dice.version(30)
    if not state.inventories:
        body: dict[str, Any] = {"inventories": {}, "allocations": {}}
        return as_service(dice, write("reshape", "POST", "/reshaper", version, body))
    source, name = dice.pick(state.inventories)
    tree = [uuid for uuid in state.tree(state.providers[source].root) if uuid != source]
    target = dice.pick(tree if tree and dice.chance(0.85) else state.providers)
    moved = {source: records(state, source), target: records(state, target)}
    moved[target][name] = moved[source].pop(name, inventory(dice, name))
    consumers = {
        owner for owner, provider, held_name in state.allocations if (provider, held_name) == (source, name)
    }
    if dice.chance(0.1):
        consumers = set()
    body = {
        "inventories": {
            uuid: {
                "resource_provider_generation": state.providers[uuid].generation
                - (1 if dice.chance(0.03) else 0),
                "inventories": content,
            }
            for uuid, content in moved.items()
        },
        "allocations": {
            consumer: owned(
                dice,
                vocabulary,
                state,
                version,
                consumer,
                rehoused(held(state, consumer), source, target, name),
            )
            for consumer in sorted(consumers)
        },
    }
    return as_service(dice, write("reshape", "POST", "/reshaper", version, body))


def rehoused(amounts: Amounts, source: str, target: str, name: str) -> Amounts:
    new = {provider: dict(content) for provider, content in amounts.items()}
    amount = new[source].pop(name)
    goal = new.setdefault(target, {})
    goal[name] = goal.get(name, 0) + amount
    return {provider: content for provider, content in new.items() if content}


def records(state: State, provider: str) -> dict[str, dict[str, Any]]:
    """A provider's inventories as a body shows them."""
    return {
        name: dict(have._asdict()) for (owner, name), have in state.inventories.items() if owner == provider
    }


def as_service(dice: Dice, request: Request) -> Request:
    """The reshaper is for services; an administrator is refused."""
    if dice.chance(0.05):
        return request
    rest: Iterable[tuple[str, str]] = (header for header in request.headers if header not in ADMIN)
    return replace(request, headers=(*SERVICE, *rest))
