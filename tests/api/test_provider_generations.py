# SPDX-License-Identifier: Apache-2.0

"""Which writes increase the generation of a provider: the table in docs/concepts/generations.md.

OpenStack Placement does the same; `make differential` compares the generations after every write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.api import NO_BODY, Api

ROOT, CHILD, OTHER = (f"10000000-0000-4000-8000-{number:012d}" for number in (1, 2, 3))
HELD, MOVED = (f"c0000000-0000-4000-8000-{number:012d}" for number in (1, 2))
AGGREGATE = "a0000000-0000-4000-8000-000000000001"
TRAIT = "HW_CPU_X86_AVX2"

INVENTORIES = f"/resource_providers/{ROOT}/inventories"
TRAITS = f"/resource_providers/{ROOT}/traits"
AGGREGATES = f"/resource_providers/{ROOT}/aggregates"


def generation(client: Api, provider: str = ROOT) -> int:
    found: int = client.get(f"/resource_providers/{provider}").json["generation"]
    return found


def consumer(generation: int | None, **amounts: dict[str, int]) -> dict[str, Any]:
    uuids = {"root": ROOT, "child": CHILD, "other": OTHER}
    return {
        "allocations": {uuids[name]: {"resources": each} for name, each in amounts.items()},
        "project_id": "project",
        "user_id": "user",
        "consumer_type": "INSTANCE",
        "consumer_generation": generation,
    }


@pytest.fixture
def cloud(client: Api) -> Api:
    """Three providers; the root has inventories, a trait and an aggregate, and a consumer holds some of it."""
    client.host(ROOT, VCPU=10, DISK_GB=10)
    client.host(CHILD, parent=ROOT)
    client.host(OTHER, VCPU=10)
    assert client.put(TRAITS, {"resource_provider_generation": 1, "traits": [TRAIT]}).status == 200
    body = {"resource_provider_generation": 2, "aggregates": [AGGREGATE]}
    assert client.put(AGGREGATES, body).status == 200
    assert client.put(f"/allocations/{HELD}", consumer(None, root={"VCPU": 1})).status == 204
    return client


def guarded(client: Api, path: str, **members: Any) -> None:
    body = {"resource_provider_generation": generation(client), **members}
    assert client.put(path, body).status == 200


def sent(client: Api, method: str, path: str, body: Any = NO_BODY, version: str = "1.39") -> None:
    response = client.call(method, path, body, version)
    assert response.status in (200, 201, 204), response.body


SAME = {"VCPU": {"total": 10}, "DISK_GB": {"total": 10}}
INCREASE: dict[str, Callable[[Api], None]] = {
    "set the same inventories": lambda api: guarded(api, INVENTORIES, inventories=SAME),
    "set the same inventory": lambda api: guarded(api, f"{INVENTORIES}/VCPU", total=10),
    "add an inventory": lambda api: sent(
        api, "POST", INVENTORIES, {"resource_class": "MEMORY_MB", "total": 1}
    ),
    "delete an inventory": lambda api: sent(api, "DELETE", f"{INVENTORIES}/DISK_GB"),
    "set other traits": lambda api: guarded(api, TRAITS, traits=[]),
    "delete the traits": lambda api: sent(api, "DELETE", TRAITS),
    "set the same aggregates": lambda api: guarded(api, AGGREGATES, aggregates=[AGGREGATE]),
    "claim the same again": lambda api: sent(
        api, "PUT", f"/allocations/{HELD}", consumer(1, root={"VCPU": 1})
    ),
    "claim nothing": lambda api: sent(api, "PUT", f"/allocations/{HELD}", consumer(1)),
    "claim for several consumers": lambda api: sent(
        api, "POST", "/allocations", {MOVED: consumer(None, root={"VCPU": 1}), HELD: consumer(1)}
    ),
}
KEEP: dict[str, Callable[[Api], None]] = {
    "set the same traits": lambda api: guarded(api, TRAITS, traits=[TRAIT]),
    "aggregates before 1.19": lambda api: sent(api, "PUT", AGGREGATES, [], version="1.18"),
    "add a child": lambda api: sent(
        api, "POST", "/resource_providers", {"name": "new", "parent_provider_uuid": ROOT}
    ),
    "delete a child": lambda api: sent(api, "DELETE", f"/resource_providers/{CHILD}"),
    "rename": lambda api: sent(api, "PUT", f"/resource_providers/{ROOT}", {"name": "renamed"}),
    "move below another": lambda api: sent(
        api, "PUT", f"/resource_providers/{ROOT}", {"name": "root", "parent_provider_uuid": OTHER}
    ),
    "a consumer leaves for another provider": lambda api: sent(
        api, "PUT", f"/allocations/{HELD}", consumer(1, other={"VCPU": 1})
    ),
    "delete the allocations": lambda api: sent(api, "DELETE", f"/allocations/{HELD}"),
}


@pytest.mark.parametrize("name", INCREASE)
def test_the_write_increases_the_generation_by_one(cloud: Api, name: str) -> None:
    before = generation(cloud)
    INCREASE[name](cloud)
    assert generation(cloud) == before + 1


@pytest.mark.parametrize("name", KEEP)
def test_the_write_keeps_the_generation(cloud: Api, name: str) -> None:
    before = generation(cloud)
    KEEP[name](cloud)
    assert generation(cloud) == before


def test_without_traits_their_deletion_keeps_the_generation(client: Api) -> None:
    client.host(ROOT)
    client.delete(TRAITS)
    assert generation(client) == 1


def test_deleting_no_inventories_increases_the_generation(client: Api) -> None:
    client.host(ROOT)
    client.delete(INVENTORIES)
    assert generation(client) == 2


def test_a_reshape_increases_generations_by_more_than_one(cloud: Api) -> None:
    before = generation(cloud), generation(cloud, CHILD)
    providers = {
        ROOT: {"resource_provider_generation": before[0], "inventories": {"VCPU": {"total": 10}}},
        CHILD: {"resource_provider_generation": before[1], "inventories": {"DISK_GB": {"total": 10}}},
    }
    claims = {HELD: consumer(1, root={"VCPU": 1}, child={"DISK_GB": 1})}
    sent(cloud, "POST", "/reshaper", {"inventories": providers, "allocations": claims})
    assert (generation(cloud), generation(cloud, CHILD)) == (before[0] + 3, before[1] + 3)
