# SPDX-License-Identifier: Apache-2.0

"""Client actions that change allocations."""

from __future__ import annotations

import copy
from typing import Any

from tests.audit import identifiers
from tests.audit.client_state import Action, ClientState
from tests.audit.operations import Request

UNGUARDED_CLAIM = 27
"""The last minor version whose claims carry no consumer generation."""


def claim(client: ClientState) -> Action:
    uuid = client.consumer()
    generation = yield from client.consumer_generation(uuid)
    yield Request("claim", "PUT", f"/allocations/{uuid}", client.claim_body(client.allocations(), generation))


def claim_unguarded(client: ClientState) -> Action:
    body = {"allocations": client.allocations(), **client.owner()}
    yield Request("claim (old)", "PUT", f"/allocations/{client.consumer()}", body, UNGUARDED_CLAIM)


def clear(client: ClientState) -> Action:
    uuid = client.consumer()
    generation = yield from client.consumer_generation(uuid)
    if generation is None and client.chance(0.9):
        # An empty claim for a new consumer is allowed and changes nothing: rarely worth a request.
        return
    yield Request("clear", "PUT", f"/allocations/{uuid}", client.claim_body({}, generation))


def release(client: ClientState) -> Action:
    yield Request("release", "DELETE", f"/allocations/{client.consumer()}")


def move(client: ClientState) -> Action:
    """Replace the allocations of two or three consumers in one request, by new ones or by none."""
    uuids = client.rng.sample(client.ids.consumers, client.pick((2, 2, 3)))
    body = {}
    for uuid in uuids:
        generation = yield from client.consumer_generation(uuid)
        clears = client.chance(0.05 if generation is None else 0.5)
        body[uuid] = client.claim_body({} if clears else client.allocations(), generation)
    yield Request("move", "POST", "/allocations", body)


def swap(client: ClientState) -> Action:
    """Give the allocations of one consumer to another, and new ones to the first, as a migration does."""
    first, second = client.rng.sample(client.ids.consumers, 2)
    found = yield Request("look up consumer", "GET", f"/allocations/{first}")
    held = found.answer.get("allocations") if found.status == 200 else None
    if held:
        generation = yield from client.consumer_generation(second)
        body = {
            first: client.claim_body(client.allocations(), found.answer.get("consumer_generation")),
            second: client.claim_body(held, generation),
        }
        yield Request("swap", "POST", "/allocations", body)


def reshape(client: ClientState) -> Action:
    """Move one resource class from a provider to another, with the allocations of up to six consumers."""
    source, target = client.rng.sample(client.ids.providers, 2)
    inventories = {}
    for uuid in (source, target):
        found = yield Request("look up inventories", "GET", f"/resource_providers/{uuid}/inventories")
        if found.status != 200:
            return
        inventories[uuid] = copy.deepcopy(found.answer)
    moved = sorted(inventories[source]["inventories"])
    if not moved:
        return
    name = client.pick(moved)
    taken = inventories[source]["inventories"].pop(name)
    inventories[target]["inventories"].setdefault(name, taken)["total"] += client.rng.randint(0, 20)
    found = yield Request("look up allocations", "GET", f"/resource_providers/{source}/allocations")
    consumers = sorted(found.answer["allocations"]) if found.status == 200 else []
    claims = {}
    for consumer in consumers[:6]:
        found = yield Request("look up consumer", "GET", f"/allocations/{consumer}")
        if found.status == 200 and found.answer["allocations"]:
            claims[consumer] = _moved(found.answer, source, target, name)
    yield Request("reshape", "POST", "/reshaper", {"inventories": inventories, "allocations": claims})


def _moved(shown: dict[str, Any], source: str, target: str, name: str) -> dict[str, Any]:
    """Return the consumer's claim with one resource class moved from `source` to `target`."""
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
        "consumer_type": identifiers.TYPES[0] if kind == "unknown" else kind,
    }
