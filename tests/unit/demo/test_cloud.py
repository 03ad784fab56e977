# SPDX-License-Identifier: Apache-2.0

"""The plan of a made-up cloud, and the consumers that fill it."""

from __future__ import annotations

from collections import Counter

import pytest

from plimsoll.demo.cloud import plan_cloud
from plimsoll.demo.hardware import DISABLED, GOLD, KINDS
from plimsoll.demo.naming import Naming
from plimsoll.demo.workload import Flavor, consumers_of, free_amounts

MANY = plan_cloud(400)


def test_equal_seeds_give_equal_clouds_and_consumers() -> None:
    first, second, other = (plan_cloud(60, seed=seed) for seed in (3, 3, 4))
    assert repr(first) == repr(second) != repr(other)
    assert repr(list(consumers_of(first))) == repr(list(consumers_of(second)))


@pytest.mark.parametrize("hosts", [0, 1, 2, 3, 7, 20, 321])
def test_a_cloud_has_as_many_hosts_as_it_should(hosts: int) -> None:
    assert len(plan_cloud(hosts).hosts) == hosts


def test_twenty_hosts_have_every_kind() -> None:
    assert {host.kind for host in plan_cloud(20).hosts} == {kind.name for kind in KINDS}


def test_names_and_uuids_are_unique() -> None:
    nodes = [*MANY.pools, *(node for host in MANY.hosts for node in host.nodes)]
    assert (
        len({node.name for node in nodes}) == len({node.uuid for node in nodes}) == len(nodes) == MANY.nodes
    )


def test_another_site_has_other_names_and_uuids() -> None:
    here, there = plan_cloud(20), plan_cloud(20, site="ber")
    assert not {node.uuid for host in here.hosts for node in host.nodes} & {
        node.uuid for host in there.hosts for node in host.nodes
    }
    assert all(host.root.name.startswith("ber-") for host in there.hosts)


def test_a_parent_stands_before_its_children() -> None:
    for host in MANY.hosts:
        seen: set[str] = set()
        for node in host.nodes:
            assert node.parent is None or node.parent in seen
            seen.add(node.uuid)


def test_no_consumer_exceeds_a_capacity() -> None:
    free = free_amounts([*MANY.pools, *(node for host in MANY.hosts for node in host.nodes)])
    used: Counter[tuple[str, str]] = Counter()
    for consumers in consumers_of(MANY):
        for consumer in consumers:
            for uuid, amounts in consumer.allocations.items():
                for name, amount in amounts.items():
                    used[uuid, name] += amount
    assert sum(used.values()) > 0
    assert [key for key, amount in used.items() if amount > free[key]] == []


def test_there_are_empty_disabled_and_full_hosts() -> None:
    counts = [len(each) for each in consumers_of(MANY)]
    assert counts.count(0) >= 5
    assert max(counts) >= 20
    assert any(DISABLED in host.root.traits for host in MANY.hosts)


def test_every_bare_metal_node_of_the_best_class_is_in_use() -> None:
    used = {uuid for each in consumers_of(MANY) for consumer in each for uuid in consumer.allocations}
    gold = {host.root.uuid for host in MANY.hosts if GOLD in host.root.inventories}
    assert gold
    assert gold <= used


def test_aggregates_are_uuids_that_begin_with_their_label() -> None:
    found = Naming(1).aggregate("d15cd15c", 2)
    assert found.startswith("d15cd15c-0002-")
    assert len(found) == 36


def test_the_query_of_a_flavor_has_a_policy_if_it_has_several_groups() -> None:
    flavor = Flavor(({"VCPU": 2, "MEMORY_MB": 512}, {"VGPU": 1}, {"VGPU": 1}))
    assert (
        flavor.query == "resources=VCPU:2,MEMORY_MB:512&resources1=VGPU:1&resources2=VGPU:1&group_policy=none"
    )
