# SPDX-License-Identifier: Apache-2.0

"""Hosts that serve a request after consumers were moved."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.domain.catalog import Catalog, CatalogEntry
from plimsoll.domain.provider import DISABLED_TRAIT
from plimsoll.domain.world import World
from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.index.index import Index
from plimsoll.search.make_room import move_plans
from plimsoll.search.make_room.move_plans import HeldAmounts, MovePlan, hosts_to_clear, plan_moves
from plimsoll.search.repeated_search import RepeatedSearch
from plimsoll.search.request import CandidatesRequest, Group
from tests.unit.search.clouds import CLASSES, Cloud, amounts, group, host, pool


def held(consumer: str, **by_provider: str) -> HeldAmounts:
    return HeldAmounts(consumer, {uuid: amounts(text) for uuid, text in by_provider.items()})


def move_plan(
    cloud: Cloud, uuid: str, consumers: list[HeldAmounts], *groups: Group, **rest: Any
) -> MovePlan | None:
    search = RepeatedSearch(cloud.world, Budget())
    return plan_moves(search, cloud.index, CandidatesRequest(groups, **rest), uuid, consumers)


def moved(found: MovePlan | None) -> dict[str, dict[str, Any]]:
    """Return where each consumer goes."""
    return {} if found is None else {move.held.consumer: dict(move.to) for move in found.moves}


def test_the_smallest_consumer_that_is_enough_is_moved() -> None:
    cloud = Cloud(host("a", "VCPU:16", used="VCPU:15"), host("b", "VCPU:9", used="VCPU:1"))
    consumers = [held("large", a="VCPU:9"), held("medium", a="VCPU:4"), held("small", a="VCPU:2")]
    found = move_plan(cloud, "a", consumers, group("VCPU:4", required=""))
    assert moved(found) == {"medium": {"b": {"VCPU": 4}}}
    assert found is not None
    assert found.is_fewest
    assert found.candidate.allocations == (("a", {"VCPU": 4}),)


def test_two_consumers_are_moved_if_one_is_not_enough() -> None:
    cloud = Cloud(host("a", "VCPU:8", used="VCPU:8"), host("b", "VCPU:4"), host("c", "VCPU:4"))
    consumers = [held("one", a="VCPU:4"), held("two", a="VCPU:2"), held("three", a="VCPU:2")]
    found = move_plan(cloud, "a", consumers, group("VCPU:6"))
    assert moved(found) == {"one": {"b": {"VCPU": 4}}, "three": {"c": {"VCPU": 2}}}


def test_a_consumer_that_fits_nowhere_else_is_not_moved() -> None:
    cloud = Cloud(host("a", "VCPU:8", used="VCPU:8"), host("b", "VCPU:4", used="VCPU:2"))
    assert move_plan(cloud, "a", [held("one", a="VCPU:8")], group("VCPU:5")) is None
    assert move_plan(cloud, "a", [held("one", a="VCPU:3"), held("two", a="VCPU:5")], group("VCPU:5")) is None


def test_consumers_are_moved_one_after_the_other() -> None:
    """Each of the two fits on b, but not both."""
    cloud = Cloud(host("a", "VCPU:8", used="VCPU:8"), host("b", "VCPU:7"))
    consumers = [held("one", a="VCPU:4"), held("two", a="VCPU:4")]
    assert move_plan(cloud, "a", consumers, group("VCPU:8")) is None


def test_what_the_request_takes_from_a_sharing_provider_is_not_free_for_the_moved() -> None:
    providers = [host("a", "VCPU:8", aggs="x", used="VCPU:8"), host("b", "VCPU:4", aggs="x")]
    consumers = [held("one", a="VCPU:4", nfs="DISK_GB:10"), held("two", a="VCPU:4")]
    wanted = group("VCPU:4 DISK_GB:10", forbidden="", in_tree=None)
    enough = Cloud(*providers, pool("nfs", "DISK_GB:20", "x", used="DISK_GB:10"))
    small = Cloud(*providers, pool("nfs", "DISK_GB:10", "x", used="DISK_GB:10"))
    assert moved(move_plan(enough, "a", consumers, wanted)) == {"two": {"b": {"VCPU": 4}}}
    assert move_plan(small, "a", consumers[:1], wanted) is None


def test_a_disabled_host_takes_no_consumers() -> None:
    traits = Catalog([CatalogEntry(1, DISABLED_TRAIT)])
    providers = [host("a", "VCPU:8", used="VCPU:8"), host("b", "VCPU:8", DISABLED_TRAIT)]
    world = World.of(providers, classes=CLASSES, traits=traits)
    search, request = RepeatedSearch(world, Budget()), CandidatesRequest((group("VCPU:2"),))
    assert plan_moves(search, Index.build(providers), request, "a", [held("one", a="VCPU:8")]) is None


def test_devices_of_a_host_are_cleared() -> None:
    cloud = Cloud(
        host("a", "VCPU:8", used="VCPU:4"),
        host("gpu", "PCI:1", parent="a", used="PCI:1"),
        host("b", "VCPU:8"),
        host("gpu2", "PCI:1", parent="b"),
    )
    consumers = [held("plain", a="VCPU:2"), held("with gpu", a="VCPU:2", gpu="PCI:1")]
    found = move_plan(cloud, "a", consumers, group("VCPU:1"), group("PCI:1", "_1"))
    assert moved(found) == {"with gpu": {"b": {"VCPU": 2}, "gpu2": {"PCI": 1}}}


def test_the_nearest_hosts_come_first() -> None:
    cloud = Cloud(
        host("a", "VCPU:8", used="VCPU:8"),
        host("b", "VCPU:8", used="VCPU:5"),
        host("c", "VCPU:2"),
        host("d", "VCPU:9", used="VCPU:7"),
    )
    search = RepeatedSearch(cloud.world, Budget())
    found = hosts_to_clear(search, cloud.index, CandidatesRequest((group("VCPU:4"),)))
    assert [cloud.index.provider(row).uuid for row in found.tolist()] == ["b", "d", "a"]


def test_a_host_without_consumers_has_nothing_to_move() -> None:
    cloud = Cloud(host("a", "VCPU:8", used="VCPU:8"), host("b", "VCPU:4"))
    assert move_plan(cloud, "a", [], group("VCPU:6")) is None


def test_the_searches_for_one_host_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = Cloud(host("a", "VCPU:8", used="VCPU:8"), host("b", "VCPU:40"))
    consumers = [held(f"c{number}", a="VCPU:1") for number in range(8)]
    monkeypatch.setattr(move_plans, "MAX_SEARCHES_PER_HOST", 1)
    assert move_plan(cloud, "a", consumers, group("VCPU:6")) is None


def test_the_budget_ends_the_work() -> None:
    cloud = Cloud(host("a", "VCPU:8", used="VCPU:8"), host("b", "VCPU:40"))
    search = RepeatedSearch(cloud.world, Budget(), max_searches=0)
    request = CandidatesRequest((group("VCPU:6"),))
    with pytest.raises(BudgetExceeded):
        plan_moves(search, cloud.index, request, "a", [held("one", a="VCPU:8")])
