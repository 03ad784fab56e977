# SPDX-License-Identifier: Apache-2.0

"""The sample cloud has what its description promises, as the service shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import sample_cloud
from tests.support.running import Client, Service


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Service(Path(tmp_path_factory.mktemp("cloud"))) as service:
        sample_cloud.create_at(f"http://127.0.0.1:{service.port}")
        yield service.client()


def get(client: Client, path: str) -> Any:
    status, answer = client.call("GET", path)
    assert status == 200, answer
    return answer


def roots_of(client: Client, query: str) -> set[str]:
    """Return the names of the trees that have candidates."""
    names = {uuid: name for name, uuid in sample_cloud.UUIDS.items()}
    summaries = get(client, f"/allocation_candidates?{query}")["provider_summaries"].values()
    return {names[each["root_provider_uuid"]] for each in summaries} - {"nfs-1"}


def free(client: Client, name: str, resource_class: str) -> float:
    uuid = sample_cloud.UUIDS[name]
    inventory = get(client, f"/resource_providers/{uuid}/inventories")["inventories"][resource_class]
    used = get(client, f"/resource_providers/{uuid}/usages")["usages"][resource_class]
    return float((inventory["total"] - inventory["reserved"]) * inventory["allocation_ratio"] - used)


def test_it_has_fourteen_hosts_and_a_pool(client: Client) -> None:
    found = get(client, "/resource_providers")["resource_providers"]
    roots = {each["name"] for each in found if each["parent_provider_uuid"] is None}
    assert roots == {*sample_cloud.HOSTS, "nfs-1"}
    assert len(sample_cloud.HOSTS) == 14
    assert len(found) == len(sample_cloud.PROVIDERS)


def test_one_host_is_full_and_one_is_over_full(client: Client) -> None:
    assert free(client, "node-05", "MEMORY_MB") == 0
    assert free(client, "node-07", "MEMORY_MB") < 0
    assert free(client, "node-07", "VCPU") < 0


def test_a_small_instance_fits_on_all_other_hosts(client: Client) -> None:
    fits = roots_of(client, "resources=VCPU:1,MEMORY_MB:256,DISK_GB:1")
    assert fits == set(sample_cloud.HOSTS) - {"node-05", "node-07"}
    enabled = roots_of(client, f"resources=VCPU:1,MEMORY_MB:256,DISK_GB:1&required=!{sample_cloud.DISABLED}")
    assert enabled == fits - {"node-06"}


def test_a_card_is_near_free_processors_on_one_host_alone(client: Client) -> None:
    pair = "resources1=VCPU:4&required1=HW_NUMA_ROOT&resources2=SRIOV_NET_VF:1&group_policy=none"
    assert roots_of(client, pair) == {"numa-01", "numa-02"}
    assert roots_of(client, f"{pair}&same_subtree=1,2") == {"numa-01"}


def test_three_gpus_are_free_on_one_host(client: Client) -> None:
    gpus = "&".join(f"resources{number}=PGPU:1" for number in (1, 2, 3))
    assert roots_of(client, f"{gpus}&group_policy=isolate") == {"gpu-01"}


def test_both_projects_hold_resources(client: Client) -> None:
    for project in (sample_cloud.ENGINES, sample_cloud.LOOMS):
        assert get(client, f"/usages?project_id={project}")["usages"]["INSTANCE"]["consumer_count"] > 3
    looms = get(client, f"/usages?project_id={sample_cloud.LOOMS}")["usages"]
    assert looms["MIGRATION"]["consumer_count"] == 1
