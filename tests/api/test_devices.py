# SPDX-License-Identifier: Apache-2.0

"""Hosts with many equal devices: a search with far more combinations than its limit returns as many as the limit."""

from collections import Counter

import pytest

from tests.support.api import Api

pytestmark = pytest.mark.one_engine("searches read the snapshot in memory")

HOSTS, DEVICES, LIMIT = 20, 8, 1000


def device(host: int, number: int) -> str:
    return f"d0000000-0000-0000-{host:04}-{number:012}"


def test_eight_groups_over_eight_devices_return_as_many_as_the_limit_from_all_hosts(client: Api) -> None:
    """Each host has 16.7 million products, of which 40,320 are valid; the search makes no more than the limit."""
    for host in range(HOSTS):
        root = client.host(f"10000000-0000-0000-0000-{host:012}", VCPU=8)
        for number in range(DEVICES):
            client.host(device(host, number), parent=root, PGPU=1)
    groups = "&".join(f"resources{number}=PGPU:1" for number in range(1, DEVICES + 1))
    response = client.get(f"/allocation_candidates?{groups}&group_policy=none&limit={LIMIT}")
    assert response.status == 200
    found = response.json["allocation_requests"]
    distinct = {
        tuple(sorted((group, uuids[0]) for group, uuids in each["mappings"].items())) for each in found
    }
    assert len(found) == len(distinct) == LIMIT
    for each in found:
        assert len(each["allocations"]) == DEVICES
        assert all(taken == {"resources": {"PGPU": 1}} for taken in each["allocations"].values())
    by_host = Counter(next(iter(each["allocations"]))[19:23] for each in found)
    assert set(by_host.values()) == {LIMIT // HOSTS}
    assert len(response.json["provider_summaries"]) == HOSTS * (1 + DEVICES)
