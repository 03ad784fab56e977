# SPDX-License-Identifier: Apache-2.0

"""The smallest changes of a request that give candidates."""

from __future__ import annotations

from typing import Any

from plimsoll.domain.inventory import Inventory
from plimsoll.search.budget import Budget
from plimsoll.search.relax.changes import Relaxed, RequestChange
from plimsoll.search.relax.exclusions import exclusions
from plimsoll.search.relax.relaxations import Relaxations, relax
from plimsoll.search.repeated_search import RepeatedSearch
from plimsoll.search.request import CandidatesRequest, Group
from tests.unit.search.clouds import Cloud, group, host, pool


def relaxed(cloud: Cloud, *groups: Group, max_searches: int = 1000, **rest: Any) -> Relaxations:
    search = RepeatedSearch(cloud.world, Budget(), max_searches)
    return relax(search, cloud.index, CandidatesRequest(groups, **rest))


def text(change: RequestChange) -> str:
    if change.kind is Relaxed.AMOUNT:
        return f"{change.resource_class}{change.suffix} {change.amount} to {change.new_amount}"
    what = change.resource_class or ",".join(change.names)
    return f"{change.kind.value}{change.suffix or ''} {what}".strip()


def texts(result: Relaxations) -> list[str]:
    """Format each change as `VCPU 16 to 14: 3`, with the number of hosts."""
    return [" and ".join(map(text, each.changes)) + f": {each.found.hosts}" for each in result.found]


def test_an_amount_is_lowered_to_the_largest_that_fits() -> None:
    cloud = Cloud(host("a", "VCPU:16", used="VCPU:2"), host("b", "VCPU:14"), host("c", "VCPU:8"))
    assert texts(relaxed(cloud, group("VCPU:16"))) == ["VCPU 16 to 14: 2"]


def test_the_lower_amount_respects_the_units_of_the_provider() -> None:
    units = Inventory(100, min_unit=4, max_unit=11, step_size=4)
    cloud = Cloud(host("a", inventories={"VCPU": units}), host("b", "VCPU:7"))
    assert texts(relaxed(cloud, group("VCPU:50"))) == ["VCPU 50 to 8: 1"]


def test_an_amount_that_the_units_exclude_is_raised_too() -> None:
    units = Inventory(100, min_unit=4, max_unit=11, step_size=4)
    cloud = Cloud(host("a", inventories={"VCPU": units}), host("b", "VCPU:1"))
    assert texts(relaxed(cloud, group("VCPU:3"))) == ["VCPU 3 to 1: 1", "VCPU 3 to 4: 1"]
    assert texts(relaxed(cloud, group("VCPU:5"))) == ["VCPU 5 to 4: 1", "VCPU 5 to 8: 1"]
    assert texts(relaxed(cloud, group("VCPU:9"))) == ["VCPU 9 to 8: 1"]


def test_only_hosts_that_meet_the_other_conditions_count_for_the_amount() -> None:
    cloud = Cloud(host("a", "VCPU:14"), host("b", "VCPU:8", "FAST"), host("c", "VCPU:16"))
    found = texts(relaxed(cloud, group("VCPU:16", required="FAST")))
    assert found == ["required FAST: 1", "VCPU 16 to 8: 1"]


def test_amounts_of_several_groups_share_the_room_of_a_provider() -> None:
    cloud = Cloud(host("a", "VCPU:10"))
    found = relaxed(cloud, group("VCPU:7", "_1"), group("VCPU:4", "_2"), group_policy="none")
    assert texts(found) == ["VCPU_1 7 to 6: 1", "VCPU_2 4 to 3: 1"]


def test_each_condition_that_stands_alone_in_the_way_is_named() -> None:
    cloud = Cloud(
        host("a", "VCPU:4", "FAST"), host("b", "VCPU:4", "FAST BIG", "x"), host("c", "VCPU:1", "BIG", "y")
    )
    found = relaxed(cloud, group("VCPU:4", required="BIG", forbidden="FAST", member_of="y"))
    assert texts(found) == ["VCPU 4 to 1: 1"]
    found = relaxed(cloud, group("VCPU:4", required="BIG", forbidden="FAST"))
    assert texts(found) == ["forbidden FAST: 1", "VCPU 4 to 1: 1"]


def test_pairs_are_tried_if_no_single_change_is_enough() -> None:
    cloud = Cloud(host("a", "VCPU:4"), host("b", "VCPU:2", "FAST"))
    found = relaxed(cloud, group("VCPU:8", required="FAST BIG"))
    assert texts(found) == ["required BIG and VCPU 8 to 2: 1"]
    found = relaxed(cloud, group("VCPU:4", required="RED BIG"))
    assert texts(found) == ["required RED and required BIG: 1"]


def test_two_amounts_are_lowered_together() -> None:
    cloud = Cloud(
        host("a", "VCPU:4 DISK_GB:10"), host("b", "VCPU:2 DISK_GB:50"), host("c", "VCPU:1 DISK_GB:9")
    )
    found = relaxed(cloud, group("VCPU:8 DISK_GB:100"))
    assert texts(found) == ["VCPU 8 to 4 and DISK_GB 100 to 10: 1", "DISK_GB 100 to 50 and VCPU 8 to 2: 1"]


def test_a_class_that_no_host_has_is_left_out() -> None:
    cloud = Cloud(host("a", "VCPU:4"), host("b", "VCPU:4"))
    assert texts(relaxed(cloud, group("VCPU:4 PCI:1"))) == ["resource_class PCI: 2"]


def test_a_group_is_left_out_if_nothing_less_helps() -> None:
    cloud = Cloud(host("a", "VCPU:4"), host("b", "VCPU:4"))
    assert texts(relaxed(cloud, group("VCPU:4"), group("PCI:1", "_1"))) == ["group_1: 2"]


def test_isolation_and_subtrees_are_taken_away() -> None:
    cloud = Cloud(
        host("a"),
        host("numa0", parent="a", traits="FAST"),
        host("numa1", parent="a"),
        host("device", "PCI:4", parent="numa1", root="a"),
    )
    found = relaxed(cloud, group("PCI:1", "_1"), group("PCI:1", "_2"), group_policy="isolate")
    assert texts(found) == ["isolate: 1"]
    pci, numa = group("PCI:1", "_1"), group("", "_2", required="FAST")
    assert texts(
        relaxed(cloud, pci, numa, group_policy="none", same_subtrees=(frozenset({"_1", "_2"}),))
    ) == ["group_2: 1"]


def test_conditions_on_roots_are_taken_away() -> None:
    cloud = Cloud(host("a", "VCPU:4", "FAST"), host("b", "VCPU:4", "FAST BIG"))
    found = relaxed(cloud, group("VCPU:1"), root_required=frozenset({"RED"}), root_forbidden=frozenset())
    assert texts(found) == ["root_required RED: 2"]
    assert texts(relaxed(cloud, group("VCPU:1"), root_forbidden=frozenset({"FAST"}))) == [
        "root_forbidden FAST: 2"
    ]


def test_the_room_of_a_sharing_provider_counts() -> None:
    cloud = Cloud(host("a", "VCPU:4", aggs="x"), pool("nfs", "DISK_GB:100", "x", used="DISK_GB:60"))
    assert texts(relaxed(cloud, group("VCPU:1 DISK_GB:50"))) == ["DISK_GB 50 to 40: 1"]


def test_many_distinct_amounts_are_bisected() -> None:
    """The larger amounts are on hosts whose devices are in another subtree, which the columns do not show."""
    providers = [host("z"), host("z1", "VCPU:11", parent="z"), host("z2", "PCI:1", parent="z1", root="z")]
    for number in range(20, 60):
        root = f"h{number}"
        providers += [host(root), host(f"{root}a", f"VCPU:{number}", parent=root)]
        providers.append(host(f"{root}b", "PCI:1", parent=root))
    found = relaxed(
        Cloud(*providers),
        group("VCPU:99", "_1"),
        group("PCI:1", "_2"),
        group_policy="none",
        same_subtrees=(frozenset({"_1", "_2"}),),
    )
    assert texts(found) == ["VCPU_1 99 to 11: 1"]


def test_a_search_that_is_cut_short_is_reported_as_incomplete() -> None:
    cloud = Cloud(host("a", "VCPU:4", "FAST"))
    found = relaxed(cloud, group("VCPU:8", required="FAST"), max_searches=1)
    assert not found.is_complete
    assert found.found == ()


def test_the_number_of_results_is_bounded() -> None:
    groups = [group("VCPU:1", f"_{number}", forbidden="FAST") for number in range(9)]
    cloud = Cloud(host("a", "VCPU:9"))
    found = relaxed(cloud, group("VCPU:1"), *groups, group_policy="none")
    assert (len(found.found), found.is_complete) == (10, True)
    groups = [group("VCPU:1", f"_{number}") for number in range(50)]
    found = relaxed(Cloud(host("a", "VCPU:49")), *groups, group_policy="none")
    assert (len(found.found), found.is_complete) == (32, False)


def test_an_unknown_trait_is_a_condition_like_others() -> None:
    cloud = Cloud(host("a", "VCPU:4"))
    assert texts(relaxed(cloud, group("VCPU:4", required="TYPO"))) == ["required TYPO: 1"]


def excluded(cloud: Cloud, *groups: Group) -> list[str]:
    found = exclusions(cloud.index, CandidatesRequest(groups), Budget())
    return [f"{','.join(each.first.names)} {','.join(each.second.names)} {each.by}" for each in found]


def test_conditions_that_are_never_met_together_are_found() -> None:
    cloud = Cloud(
        host("a", traits="FAST"), host("b", traits="BIG", aggs="x"), host("c", parent="b", traits="RED")
    )
    assert excluded(cloud, group("VCPU:1", required="FAST BIG RED")) == ["FAST BIG host", "FAST RED host"]
    assert excluded(cloud, group("VCPU:1", "_1", required="BIG RED")) == ["BIG RED provider"]
    assert excluded(cloud, group("VCPU:1", required="FAST|RED BIG", member_of="x")) == []
    assert excluded(cloud, group("VCPU:1", required="FAST BLUE", member_of="x")) == ["FAST x host"]
