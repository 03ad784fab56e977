# SPDX-License-Identifier: Apache-2.0

"""What a client does to allocations."""

from __future__ import annotations

import copy
from typing import Any

from tests.audit import words as w
from tests.audit.mind import Action, Mind
from tests.audit.operations import Request

UNGUARDED_CLAIM = 27
"""The last minor version whose claims say nothing about the consumer's generation."""


def claim(mind: Mind) -> Action:
    uuid = mind.consumer()
    generation = yield from mind.consumer_generation(uuid)
    yield Request("claim", "PUT", f"/allocations/{uuid}", mind.claim_body(mind.allocations(), generation))


def claim_unguarded(mind: Mind) -> Action:
    body = {"allocations": mind.allocations(), **mind.owner()}
    yield Request("claim (old)", "PUT", f"/allocations/{mind.consumer()}", body, UNGUARDED_CLAIM)


def clear(mind: Mind) -> Action:
    uuid = mind.consumer()
    generation = yield from mind.consumer_generation(uuid)
    if generation is None and mind.chance(0.9):
        # It is allowed, and leaves a consumer behind that holds nothing.
        return
    yield Request("clear", "PUT", f"/allocations/{uuid}", mind.claim_body({}, generation))


def release(mind: Mind) -> Action:
    yield Request("release", "DELETE", f"/allocations/{mind.consumer()}")


def move(mind: Mind) -> Action:
    """Several consumers at once: one gets what the other held, or something else, or nothing."""
    uuids = mind.dice.sample(mind.words.consumers, mind.pick((2, 2, 3)))
    body = {}
    for uuid in uuids:
        generation = yield from mind.consumer_generation(uuid)
        clears = mind.chance(0.05 if generation is None else 0.5)
        body[uuid] = mind.claim_body({} if clears else mind.allocations(), generation)
    yield Request("move", "POST", "/allocations", body)


def hand_over(mind: Mind) -> Action:
    """What one consumer holds another gets, and the first one something new: as when an instance migrates."""
    first, second = mind.dice.sample(mind.words.consumers, 2)
    found = yield Request("look at consumer", "GET", f"/allocations/{first}")
    held = found.answer.get("allocations") if found.status == 200 else None
    if held:
        generation = yield from mind.consumer_generation(second)
        body = {
            first: mind.claim_body(mind.allocations(), found.answer.get("consumer_generation")),
            second: mind.claim_body(held, generation),
        }
        yield Request("hand over", "POST", "/allocations", body)


def reshape(mind: Mind) -> Action:
    """A class moves from one provider to another, with all who hold some of it."""
    source, target = mind.dice.sample(mind.words.providers, 2)
    inventories = {}
    for uuid in (source, target):
        found = yield Request("look at inventories", "GET", f"/resource_providers/{uuid}/inventories")
        if found.status != 200:
            return
        inventories[uuid] = copy.deepcopy(found.answer)
    moved = sorted(inventories[source]["inventories"])
    if not moved:
        return
    name = mind.pick(moved)
    taken = inventories[source]["inventories"].pop(name)
    inventories[target]["inventories"].setdefault(name, taken)["total"] += mind.dice.randint(0, 20)
    found = yield Request("look at holders", "GET", f"/resource_providers/{source}/allocations")
    holders = sorted(found.answer["allocations"]) if found.status == 200 else []
    claims = {}
    for consumer in holders[:6]:
        found = yield Request("look at consumer", "GET", f"/allocations/{consumer}")
        if found.status == 200 and found.answer["allocations"]:
            claims[consumer] = _moved(found.answer, source, target, name)
    yield Request("reshape", "POST", "/reshaper", {"inventories": inventories, "allocations": claims})


def _moved(shown: dict[str, Any], source: str, target: str, name: str) -> dict[str, Any]:
    """What a consumer holds, with one class taken from another provider than before."""
    held = {uuid: dict(each["resources"]) for uuid, each in shown["allocations"].items()}
    amount = held.get(source, {}).pop(name, 0)
    if amount:
        held.setdefault(target, {})
        held[target][name] = held[target].get(name, 0) + amount
    kind = shown["consumer_type"]
    return {
        "allocations": {uuid: {"resources": amounts} for uuid, amounts in held.items() if amounts},
        "project_id": shown["project_id"],
        "user_id": shown["user_id"],
        "consumer_generation": shown["consumer_generation"],
        "consumer_type": w.TYPES[0] if kind == "unknown" else kind,
    }
