# SPDX-License-Identifier: Apache-2.0

"""Limits and order: a short result covers many trees, and the search stops when it has enough choices."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.search.request import Group, Order
from plimsoll.search.result import Candidate
from tests.unit.search.clouds import Cloud, group, host, mappings_of, pool

pytestmark = pytest.mark.usefixtures("each_combination_method")


def hosts_with_devices(hosts: int, devices: int, used: int = 0) -> list[Provider]:
    made = []
    for number in range(hosts):
        made.append(host(f"h{number:02}"))
        for device in range(devices):
            taken = "PCI:1" if device < used else ""
            made.append(host(f"h{number:02}d{device}", "PCI:1", parent=f"h{number:02}", used=taken))
    return made


def devices(number: int) -> list[Group]:
    return [group("PCI:1", f"_{each}") for each in range(number)]


def hosts_of(candidates: list[Candidate]) -> Counter[str]:
    return Counter(uuid[:3] for candidate in candidates for uuid, _ in candidate.allocations[:1])


def test_with_a_limit_choices_are_taken_round_robin() -> None:
    cloud = Cloud(*hosts_with_devices(5, 4))
    found = list(cloud.candidates(*devices(2), limit=10, group_policy="none").requests)
    assert set(hosts_of(found).values()) == {2}
    found = list(cloud.candidates(*devices(2), limit=3, group_policy="none").requests)
    assert set(hosts_of(found).values()) == {1}


def test_other_trees_replace_the_missing_choices_of_small_trees() -> None:
    cloud = Cloud(*hosts_with_devices(3, 2), *hosts_with_devices(4, 4)[15:])
    found = list(cloud.candidates(*devices(2), limit=16, group_policy="none").requests)
    assert hosts_of(found) == {"h00": 2, "h01": 2, "h02": 2, "h03": 10}


def test_a_limit_above_the_number_of_choices_returns_all() -> None:
    cloud = Cloud(*hosts_with_devices(3, 3))
    everything = cloud.mappings_of(*devices(3), group_policy="none")
    assert len(everything) == len(set(everything)) == 18
    assert cloud.mappings_of(*devices(3), group_policy="none", limit=100) == everything
    assert len(cloud.mappings_of(*devices(3), group_policy="none", limit=17)) == 17


def test_the_operators_bound_applies_with_and_without_a_limit() -> None:
    cloud = Cloud(*hosts_with_devices(3, 3))
    assert len(cloud.mappings_of(*devices(2), group_policy="none", order=Order(max_candidates=4))) == 4
    assert (
        len(cloud.mappings_of(*devices(2), group_policy="none", limit=3, order=Order(max_candidates=4))) == 3
    )
    flat = Cloud(host("a", "VCPU:1"), host("b", "VCPU:1"))
    assert len(flat.mappings_of(group("VCPU:1"), order=Order(max_candidates=1))) == 1


def test_without_a_limit_trees_come_one_after_the_other_or_round_robin() -> None:
    cloud = Cloud(*hosts_with_devices(3, 2))
    depth_first = cloud.candidates(*devices(2), group_policy="none")
    breadth_first = cloud.candidates(*devices(2), group_policy="none", order=Order(strategy="breadth-first"))
    first = [candidate.allocations[0][0][:3] for candidate in depth_first.requests]
    assert first == ["h00", "h00", "h01", "h01", "h02", "h02"]
    assert len({candidate.allocations[0][0][:3] for candidate in list(breadth_first.requests)[:3]}) == 3
    assert sorted(map(mappings_of, breadth_first.requests)) == sorted(map(mappings_of, depth_first.requests))


def test_a_seed_shuffles_the_order_reproducibly() -> None:
    cloud = Cloud(*hosts_with_devices(4, 4))
    plain, first, again, other = (
        [mappings_of(c) for c in cloud.candidates(*devices(2), group_policy="none", order=order).requests]
        for order in (Order(), Order(shuffle_seed=1), Order(shuffle_seed=1), Order(shuffle_seed=2))
    )
    assert first == again
    assert first != plain
    assert first != other
    assert sorted(first) == sorted(plain)


def test_a_seed_also_selects_the_candidates_of_a_limited_result() -> None:
    cloud = Cloud(*[host(f"h{number}", "VCPU:1") for number in range(40)])
    results = {
        tuple(cloud.mappings_of(group("VCPU:1"), limit=5, order=Order(shuffle_seed=seed)))
        for seed in range(5)
    }
    assert len(results) == 5
    nested = Cloud(*hosts_with_devices(20, 2))
    results = {
        tuple(nested.mappings_of(*devices(1), limit=5, order=Order(shuffle_seed=seed))) for seed in range(5)
    }
    assert len(results) == 5


def test_only_trees_in_a_limited_result_are_summarised() -> None:
    cloud = Cloud(*hosts_with_devices(9, 2))
    found = cloud.candidates(*devices(1), limit=2)
    assert len({provider.root for provider in found.providers}) == 2


def test_duplicates_of_sharing_providers_do_not_count_towards_the_limit() -> None:
    pools = [pool(f"p{number}", "DISK_GB:9", "x") for number in range(6)]
    cloud = Cloud(*[host(f"h{number}", "VCPU:1", aggs="x") for number in range(30)], *pools)
    assert len(cloud.allocations_of(group("DISK_GB:1"), limit=5)) == 5
    assert (
        len(
            cloud.allocations_of(
                group("DISK_GB:1", "_1"), group("DISK_GB:1", "_2"), group_policy="none", limit=40
            )
        )
        == 36
    )


def count_within(seconds: float, cloud: Cloud, *groups: Group, **rest: Any) -> int:
    """Return the number of candidates. The time bound is far above the usual time and far below brute force."""
    started = time.thread_time()
    found = cloud.candidates(*groups, **rest)
    assert time.thread_time() - started < seconds
    return len(found.requests)


def test_eight_groups_on_eight_devices_take_less_than_a_second() -> None:
    """Eight groups on eight devices have sixteen million assignments, times twenty hosts."""
    cloud = Cloud(*hosts_with_devices(20, 8))
    assert count_within(1, cloud, *devices(8), group_policy="none", limit=1000) == 1000
    assert count_within(1, cloud, *devices(8), group_policy="isolate", limit=1000) == 1000


def test_eight_groups_on_seven_devices_fail_fast() -> None:
    cloud = Cloud(*hosts_with_devices(20, 8, used=1))
    assert count_within(1, cloud, *devices(8), group_policy="none", limit=1000) == 0
    assert count_within(1, cloud, *devices(8), group_policy="none") == 0


def test_an_impossible_combination_is_not_tried_in_every_order() -> None:
    """There is enough room, but no device is an ancestor of all others."""
    cloud = Cloud(*hosts_with_devices(20, 8))
    subtree = frozenset(f"_{number}" for number in range(8))
    rest = {"group_policy": "none", "limit": 1000, "same_subtrees": (subtree,)}
    assert count_within(2, cloud, *devices(8), **rest) == 0


def test_one_scarce_device_among_many_is_found() -> None:
    """Seven groups accept any device, the eighth only the device with the trait."""
    providers = [
        host("h"),
        *[
            host(f"d{number}", "PCI:1", parent="h", traits="RED" if number == 9 else "")
            for number in range(10)
        ],
    ]
    groups = [*devices(7), group("PCI:1", "_red", required="RED")]
    cloud = Cloud(*providers)
    assert count_within(2, cloud, *groups, group_policy="none", limit=50) == 50
    found = cloud.candidates(*groups, group_policy="none", limit=50)
    assert all(dict(candidate.mappings)["_red"] == ("d9",) for candidate in found.requests)


def test_more_groups_than_devices_of_their_kind_are_not_tried_in_every_order() -> None:
    """Eleven groups need ten red devices; the twelve blue devices have room but not the trait."""
    providers = [host("h")]
    providers += [host(f"r{number}", "PCI:1", parent="h", traits="RED") for number in range(10)]
    providers += [host(f"b{number}", "PCI:1", parent="h", traits="BLUE") for number in range(12)]
    red = [group("PCI:1", f"_{number}", required="RED") for number in range(11)]
    cloud = Cloud(*providers)
    assert (
        count_within(4, cloud, *red, group("PCI:1", "_b", required="BLUE"), group_policy="none", limit=10)
        == 0
    )


def test_the_only_valid_choice_is_found_after_hundreds_of_invalid_ones() -> None:
    nodes = [host(f"n{number}", "VCPU:1", parent="h") for number in range(2)]
    cards = [host(f"d{number:03}", "PCI:1", parent="n1", root="h") for number in range(150)]
    groups = group("VCPU:1", "_c"), group("PCI:1", "_d")
    rest: dict[str, Any] = {"group_policy": "none", "same_subtrees": (frozenset(["_c", "_d"]),)}
    for limit in (1, 20, 150):
        found = Cloud(host("h"), *nodes, *cards).candidates(*groups, limit=limit, **rest).requests
        assert len(found) == limit
        assert {dict(candidate.mappings)["_c"] for candidate in found} == {("n1",)}


def test_trees_served_only_by_sharing_providers_are_searched_once() -> None:
    pools = [pool(f"p{number}", "DISK_GB:9", "x") for number in range(6)]
    cloud = Cloud(*[host(f"h{number:03}", "VCPU:1", aggs="x") for number in range(500)], *pools)
    groups = [group("DISK_GB:1", f"_{number}") for number in range(5)]
    assert count_within(4, cloud, *groups, group_policy="none") == 6**5
