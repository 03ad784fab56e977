# SPDX-License-Identifier: Apache-2.0

"""How many instances of a request fit."""

from __future__ import annotations

from typing import Any

from plimsoll.domain.inventory import Inventory
from plimsoll.search import copies
from plimsoll.search.budget import Budget
from plimsoll.search.fit import Fit, fit
from plimsoll.search.repeated_search import RepeatedSearch, hosts_of
from plimsoll.search.request import CandidatesRequest, Group
from tests.unit.search.clouds import Cloud, group, host, pool


def fitting(cloud: Cloud, *groups: Group, max_searches: int = 1000, **rest: Any) -> Fit:
    request, empty = CandidatesRequest(groups, **rest), copies.emptied(cloud.index)
    found = RepeatedSearch(cloud.world, Budget()).find(empty, request, None)
    assert found is not None
    search = RepeatedSearch(cloud.world, Budget(), max_searches)
    return fit(search, cloud.index, request, hosts_of(empty, found))


def test_free_amounts_are_divided_by_the_amounts_of_an_instance() -> None:
    cloud = Cloud(
        host("a", "VCPU:16 MEMORY_MB:100", used="VCPU:3"),
        host("b", "VCPU:64 MEMORY_MB:50"),
        host("c", "VCPU:2 MEMORY_MB:20", used="VCPU:2"),
        host("d", "DISK_GB:9"),
    )
    found = fitting(cloud, group("VCPU:2 MEMORY_MB:20"))
    assert (found.instances, found.hosts, found.is_exact, found.is_complete) == (5 + 2, 2, True, True)
    assert found.limits == {"MEMORY_MB": 2, "VCPU": 1}
    assert found.limiting_class == "MEMORY_MB"


def test_units_limit_an_instance_and_not_the_sum() -> None:
    cloud = Cloud(host("a", inventories={"VCPU": Inventory(20, max_unit=5, reserved=1)}))
    assert fitting(cloud, group("VCPU:5")).instances == 3


def test_each_device_is_filled() -> None:
    cloud = Cloud(
        host("a", "VCPU:8"),
        *[host(f"gpu{number}", "PCI:1", parent="a") for number in range(3)],
        host("b", "VCPU:1"),
        host("nic", "PCI:2", parent="b"),
    )
    found = fitting(cloud, group("VCPU:2"), group("PCI:1", "_1"))
    assert (found.instances, found.hosts, found.is_exact) == (3, 1, True)
    assert found.limits == {"PCI": 1, "VCPU": 0}


def test_a_sharing_provider_is_used_up_by_all_hosts_together() -> None:
    cloud = Cloud(
        host("a", "VCPU:8", aggs="x"), host("b", "VCPU:8", aggs="x"), pool("nfs", "DISK_GB:50", "x")
    )
    found = fitting(cloud, group("VCPU:1 DISK_GB:10"))
    assert (found.instances, found.is_exact) == (5, True)
    assert found.limiting_class == "DISK_GB"


def test_a_lower_bound_is_called_one() -> None:
    """Five devices of 4 have room for four instances by the sum of their amounts, but for three as they are used."""
    cloud = Cloud(host("a"), *[host(f"a{number}", "PCI:4", parent="a") for number in range(5)])
    found = fitting(cloud, group("PCI:2", "_1"), group("PCI:3", "_2"), group_policy="none")
    assert (found.instances, found.is_exact, found.is_complete) == (3, False, True)


def test_a_class_limits_also_if_only_several_pieces_of_it_are_missing() -> None:
    cloud = Cloud(host("a", "VCPU:9"), *[host(f"a{number}", "PCI:1", parent="a") for number in range(3)])
    groups = (group("VCPU:1"), group("PCI:1", "_1"), group("PCI:1", "_2"))
    found = fitting(cloud, *groups, group_policy="isolate")
    assert (found.instances, found.limits) == (1, {"PCI": 1, "VCPU": 0})


def test_what_does_not_fit_has_no_instances() -> None:
    cloud = Cloud(host("a", "VCPU:8", used="VCPU:8"))
    found = fitting(cloud, group("VCPU:1"))
    assert (found.instances, found.hosts, found.is_exact) == (0, 0, True)
    assert found.limiting_class == "VCPU"


def test_a_count_that_is_cut_short_is_a_lower_bound() -> None:
    cloud = Cloud(host("a"), host("a1", "PCI:2", parent="a"), host("a2", "PCI:2", parent="a"))
    found = fitting(cloud, group("PCI:1", "_1"), group("PCI:1", "_2"), group_policy="isolate", max_searches=1)
    assert (found.is_exact, found.is_complete, found.limiting_class) == (False, False, None)
    assert found.instances == 2


def test_an_absurd_ratio_does_not_overflow() -> None:
    huge = Inventory(2**31 - 1, allocation_ratio=1e38)
    cloud = Cloud(*[host(f"h{number}", inventories={"VCPU": huge}) for number in range(9)])
    assert fitting(cloud, group("VCPU:1")).instances > 0
