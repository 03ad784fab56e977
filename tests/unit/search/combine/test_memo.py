# SPDX-License-Identifier: Apache-2.0

"""Choices that are computed once per tree shape: each host gets the choices of its own shape."""

from dataclasses import replace

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.search.combine import memo
from tests.unit.search.clouds import Cloud, group, host, pool

PAIR = group("PCI:1", "_1"), group("PCI:1", "_2")


def model(name: str, devices: int, used: int = 0) -> list[Provider]:
    """A host with child devices, the first `used` of them in use."""
    return [
        host(name, "VCPU:4"),
        *[
            host(f"{name}d{number}", "PCI:1", parent=name, used="PCI:1" if number < used else "")
            for number in range(devices)
        ],
    ]


def test_hosts_of_different_shapes_get_different_choices() -> None:
    cloud = Cloud(*model("a", 2), *model("b", 3), *model("c", 2), *model("d", 3, used=1))
    found = cloud.mappings_of(*PAIR, group_policy="none")
    assert found == [
        "_1=ad0 _2=ad1",
        "_1=ad1 _2=ad0",
        *sorted(f"_1=bd{one} _2=bd{other}" for one in range(3) for other in range(3) if one != other),
        "_1=cd0 _2=cd1",
        "_1=cd1 _2=cd0",
        "_1=dd1 _2=dd2",
        "_1=dd2 _2=dd1",
    ]


def test_a_limit_may_end_within_a_host() -> None:
    cloud = Cloud(*model("a", 4), *model("b", 4))
    everything = cloud.mappings_of(*PAIR, group_policy="none")
    for limit in range(1, 25):
        found = cloud.mappings_of(*PAIR, group_policy="none", limit=limit)
        assert len(set(found)) == limit
        assert set(found) <= set(everything)


def test_sharing_providers_combine_with_the_devices_of_each_host() -> None:
    cloud = Cloud(
        host("h1", "VCPU:4", aggs="x"),
        host("h1d", "PCI:1", parent="h1"),
        host("h2", "VCPU:4", aggs="x"),
        host("h2d", "PCI:1", parent="h2"),
        pool("s", "DISK_GB:9", "x"),
    )
    assert cloud.allocations_of(group("DISK_GB:5"), group("PCI:1", "_1")) == [
        "h1d PCI:1 + s DISK_GB:5",
        "h2d PCI:1 + s DISK_GB:5",
    ]


def test_a_claim_changes_the_shape_of_its_host_only() -> None:
    cloud = Cloud(*model("a", 2), *model("b", 2))
    before = cloud.world.providers["ad0"]
    assert len(cloud.mappings_of(*PAIR, group_policy="none")) == 4
    cloud.index = cloud.index.updated([(before, replace(before, used={"PCI": 1}))])
    assert cloud.mappings_of(*PAIR, group_policy="none") == ["_1=bd0 _2=bd1", "_1=bd1 _2=bd0"]


def test_the_same_devices_elsewhere_in_the_tree_are_another_shape() -> None:
    deep = [host("b", "VCPU:4"), host("bn", parent="b"), host("bm", parent="b")]
    deep += [host("b1", "PCI:1", parent="bn", root="b"), host("b2", "PCI:1", parent="bm", root="b")]
    flat = [host("a", "VCPU:4"), host("an", "PCI:1", parent="a"), host("an2", "PCI:1", parent="an", root="a")]
    cloud = Cloud(*flat, *deep)
    found = cloud.mappings_of(*PAIR, group_policy="none", same_subtrees=(frozenset(["_1", "_2"]),))
    assert found == ["_1=an _2=an2", "_1=an2 _2=an"]


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    memo._cache.clear()
    monkeypatch.setattr(memo, "_MAX_CACHED", 2)
    for devices in range(2, 7):
        assert len(Cloud(*model("a", devices)).mappings_of(*PAIR, group_policy="none")) == devices * (
            devices - 1
        )
        assert len(memo._cache) <= 2
    monkeypatch.setattr(memo, "_MAX_CACHED_CELLS", 0)
    memo._cache.clear()
    Cloud(*model("a", 3)).mappings_of(*PAIR, group_policy="none")
    assert not memo._cache


def test_trees_of_different_sizes_do_not_share_cached_choices() -> None:
    cloud = Cloud(
        host("a", "VCPU:4 DISK_GB:4"),
        host("aa", "DISK_GB:4", parent="a"),
        host("ab", parent="a"),
        host("b", "VCPU:4", traits="FAST"),
        host("ba", "DISK_GB:4", parent="b"),
    )
    wanted = group("VCPU:1 DISK_GB:1", required="FAST")
    memo._cache.clear()
    alone = cloud.allocations_of(wanted)
    memo._cache.clear()
    assert len(cloud.allocations_of(group("VCPU:1 DISK_GB:1", in_tree="a"))) == 2
    assert cloud.allocations_of(wanted) == alone
    assert len(alone) == 1
