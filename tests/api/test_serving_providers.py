# SPDX-License-Identifier: Apache-2.0

"""Which providers must meet the conditions of a search: the table in docs/concepts/traits-and-aggregates.md.

The root has a trait and an aggregate and gives nothing; its children give processors and disk; a pool shares disk.
openstack-placement 16.0.0 gives the same candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api import Api

pytestmark = pytest.mark.one_engine("searches read the snapshot in memory")

ROOT, FIRST, SECOND, DISK, POOL = (f"10000000-0000-4000-8000-{number:012d}" for number in range(1, 6))
NAMES = {ROOT: "root", FIRST: "first", SECOND: "second", DISK: "disk", POOL: "pool"}
STORAGE, ZONE, FAST = (f"a0000000-0000-4000-8000-{number:012d}" for number in (1, 2, 3))
SHARES = "MISC_SHARES_VIA_AGGREGATE"


@pytest.fixture
def cloud(client: Api) -> Api:
    for trait in ("CUSTOM_ROOT", "CUSTOM_FIRST", "CUSTOM_SECOND"):
        client.put(f"/traits/{trait}")
    client.host(ROOT)
    client.host(FIRST, parent=ROOT, VCPU=10)
    client.host(SECOND, parent=ROOT, VCPU=10)
    client.host(DISK, parent=ROOT, DISK_GB=10)
    client.host(POOL, DISK_GB=10)
    traits = {ROOT: "CUSTOM_ROOT", FIRST: "CUSTOM_FIRST", SECOND: "CUSTOM_SECOND", POOL: SHARES}
    for provider, trait in traits.items():
        body = {"resource_provider_generation": 1, "traits": [trait]}
        assert client.put(f"/resource_providers/{provider}/traits", body).status == 200
    for provider, aggregates in {ROOT: [STORAGE, ZONE], SECOND: [FAST], POOL: [STORAGE]}.items():
        body = {"resource_provider_generation": 2, "aggregates": aggregates}
        assert client.put(f"/resource_providers/{provider}/aggregates", body).status == 200
    return client


def found(client: Api, query: str) -> set[str]:
    """Return the candidates, each as the names of its providers."""
    response = client.get(f"/allocation_candidates?{query}")
    assert response.status == 200, response.body
    return {"+".join(_names(each["allocations"])) for each in response.json["allocation_requests"]}


def _names(allocations: dict[str, Any]) -> Iterator[str]:
    return (name for uuid, name in NAMES.items() if uuid in allocations)


@pytest.mark.parametrize(
    ("query", "candidates"),
    [
        ("required=CUSTOM_ROOT", set()),
        ("required=!CUSTOM_ROOT", {"first", "second"}),
        ("root_required=CUSTOM_ROOT", {"first", "second"}),
        ("root_required=!CUSTOM_ROOT", set()),
        ("required=in:CUSTOM_ROOT,CUSTOM_FIRST", {"first"}),
        ("required=!CUSTOM_FIRST", {"second"}),
    ],
)
def test_traits_of_a_root_that_gives_nothing_count_in_root_required_alone(
    cloud: Api, query: str, candidates: set[str]
) -> None:
    assert found(cloud, f"resources=VCPU:1&{query}") == candidates


@pytest.mark.parametrize(
    ("query", "candidates"),
    [
        (f"resources=VCPU:1&member_of={ZONE}", {"first", "second"}),
        (f"resources=VCPU:1&member_of={FAST}", {"second"}),
        (f"resources=VCPU:1&member_of=!{ZONE}", set()),
        (f"resources=VCPU:1&member_of={ZONE}&member_of=!{FAST}", {"first"}),
        (f"resources_C=VCPU:1&member_of_C={ZONE}", set()),
        (f"resources_C=VCPU:1&member_of_C=!{ZONE}", {"first", "second"}),
        (f"resources_C=VCPU:1&member_of_C={FAST}", {"second"}),
    ],
)
def test_aggregates_of_the_root_count_in_the_group_without_a_suffix_alone(
    cloud: Api, query: str, candidates: set[str]
) -> None:
    assert found(cloud, query) == candidates


BOTH = {f"{cpu}+{disk}" for cpu in ("first", "second") for disk in ("disk", "pool")}
OWN = {"first+disk", "second+disk"}
SHARED = {"first+pool", "second+pool"}


@pytest.mark.parametrize(
    ("query", "candidates"),
    [
        ("resources=VCPU:1,DISK_GB:1", BOTH),
        (f"resources=VCPU:1,DISK_GB:1&required={SHARES}", SHARED),
        (f"resources=VCPU:1,DISK_GB:1&required=!{SHARES}", OWN),
        (f"resources=VCPU:1&resources_DISK=DISK_GB:1&required_DISK={SHARES}", SHARED),
        (f"resources=VCPU:1,DISK_GB:1&in_tree={FIRST}", OWN),
        (f"resources=VCPU:1&in_tree={ROOT}&resources_DISK=DISK_GB:1", BOTH),
        (f"resources=VCPU:1&resources_DISK=DISK_GB:1&in_tree_DISK={ROOT}", OWN),
        (f"resources=VCPU:1&resources_DISK=DISK_GB:1&in_tree_DISK={POOL}", SHARED),
    ],
)
def test_a_pool_is_asked_for_by_its_trait_and_left_out_by_in_tree(
    cloud: Api, query: str, candidates: set[str]
) -> None:
    assert found(cloud, query) == candidates
