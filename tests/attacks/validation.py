# SPDX-License-Identifier: Apache-2.0

"""Point 5: documents that are refused."""

from __future__ import annotations

import json
import uuid
from typing import Any

from tests.attacks.attack import Outcome, Stop, attack, exchange
from tests.attacks.sockets import request
from tests.attacks.target import Target


def mixed_aggregates(count: int = 12_000) -> dict[str, Any]:
    """Items of different types, all different: a validator that compares each with each takes quadratic time."""
    kinds: list[Any] = [{"a": 1}, [1], 1, 1.5, None, True]
    items = [[kinds[n % len(kinds)], n] if n % 2 else str(n) for n in range(count)]
    return {"aggregates": items, "resource_provider_generation": 0}


def bad_consumers(count: int = 40_000) -> dict[str, Any]:
    return {str(uuid.UUID(int=n + 1)): {"bad": n} for n in range(count)}


def long_name(length: int = 9_000_000) -> dict[str, Any]:
    return {"name": "a" * length}


def nested(depth: int = 100_000) -> bytes:
    return b'{"name": ' + b"[" * depth + b"]" * depth + b"}"


def _repeat(target: Target, stop: Stop, outcome: Outcome, content: bytes) -> None:
    while not stop.is_set():
        exchange(target, content, outcome, seconds=90)
        if stop.wait(0.05):
            return


@attack("5")
def aggregates_of_mixed_types(target: Target, stop: Stop, outcome: Outcome) -> None:
    path = f"/resource_providers/{target.host}/aggregates"
    _repeat(target, stop, outcome, request("PUT", path, json.dumps(mixed_aggregates()).encode()))


@attack("5")
def many_bad_consumers(target: Target, stop: Stop, outcome: Outcome) -> None:
    _repeat(target, stop, outcome, request("POST", "/allocations", json.dumps(bad_consumers()).encode()))


@attack("5")
def name_of_nine_megabytes(target: Target, stop: Stop, outcome: Outcome) -> None:
    _repeat(target, stop, outcome, request("POST", "/resource_providers", json.dumps(long_name()).encode()))


@attack("new")
def deeply_nested_documents(target: Target, stop: Stop, outcome: Outcome) -> None:
    _repeat(target, stop, outcome, request("POST", "/resource_providers", nested()))


@attack("new")
def many_unknown_members(target: Target, stop: Stop, outcome: Outcome) -> None:
    document = {"name": "a"} | {f"x{n}": n for n in range(200_000)}
    _repeat(target, stop, outcome, request("POST", "/resource_providers", json.dumps(document).encode()))


@attack("new")
def many_bad_inventories(target: Target, stop: Stop, outcome: Outcome) -> None:
    inventories = {f"CUSTOM_{n}": {"total": -1, "extra": n} for n in range(60_000)}
    document = {"resource_provider_generation": 0, "inventories": inventories}
    path = f"/resource_providers/{target.host}/inventories"
    _repeat(target, stop, outcome, request("PUT", path, json.dumps(document).encode()))


@attack("new")
def many_equal_aggregates(target: Target, stop: Stop, outcome: Outcome) -> None:
    """Valid uuids, the last of which occurs twice."""
    items = [str(uuid.UUID(int=n + 1)) for n in range(100_000)]
    document = {"aggregates": [*items, items[-1]], "resource_provider_generation": 0}
    path = f"/resource_providers/{target.host}/aggregates"
    _repeat(target, stop, outcome, request("PUT", path, json.dumps(document).encode()))


@attack("new")
def integers_of_many_digits(target: Target, stop: Stop, outcome: Outcome) -> None:
    body = b'{"name": "a", "uuid": ' + b"9" * 4_000_000 + b"}"
    _repeat(target, stop, outcome, request("POST", "/resource_providers", body))


@attack("new")
def long_queries(target: Target, stop: Stop, outcome: Outcome) -> None:
    """Query strings of 60 kB with many parameters, many members and many groups."""
    queries = [
        "/resource_providers?" + "&".join(f"a{n}=1" for n in range(8_000)),
        "/resource_providers?" + "&".join(f"member_of={uuid.UUID(int=n)}" for n in range(1_200)),
        "/resource_providers?required=" + ",".join(f"CUSTOM_{n}" for n in range(6_000)),
        "/allocation_candidates?"
        + "&".join(f"resources{n}=VCPU:1" for n in range(3_000))
        + "&group_policy=none",
        "/allocation_candidates?resources=" + ",".join(f"CUSTOM_{n}:1" for n in range(4_500)),
        "/allocation_candidates?resources=VCPU:1" + "".join(f"&same_subtree=_{n}" for n in range(3_500)),
    ]
    contents = [request("GET", query[:60_000]) for query in queries]
    while not stop.is_set():
        for content in contents:
            exchange(target, content, outcome, seconds=90)
        if stop.wait(0.05):
            return
