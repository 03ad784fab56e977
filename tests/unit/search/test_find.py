# SPDX-License-Identifier: Apache-2.0

"""Candidates on single providers, in trees and with sharing providers, and the rules between groups."""

import pytest

from plimsoll.domain.inventory import Inventory
from tests.unit.search.clouds import Cloud, group, host, names, pool

pytestmark = pytest.mark.usefixtures("each_combination_method")

# Single providers


def test_each_provider_with_room_for_everything_is_a_candidate() -> None:
    cloud = Cloud(
        host("a", "VCPU:4 DISK_GB:9"), host("b", "VCPU:4"), host("c", "VCPU:4 DISK_GB:9", used="VCPU:4")
    )
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5")) == ["a DISK_GB:5 VCPU:1"]
    assert cloud.mappings_of(group("VCPU:1")) == ["=a", "=b"]
    assert cloud.summaries_of(group("VCPU:1")) == ["a", "b"]


def test_candidates_of_single_providers_form_one_part() -> None:
    found = Cloud(host("a", "VCPU:4"), host("b", "VCPU:4")).candidates(group("VCPU:1"))
    assert len(list(found.requests.parts())) == 1
    assert [candidate.allocations for candidate in found.requests] == [
        (("a", {"VCPU": 1}),),
        (("b", {"VCPU": 1}),),
    ]


def test_conditions_apply_to_the_provider_itself() -> None:
    cloud = Cloud(
        host("a", "VCPU:4", traits="FAST", aggs="x"),
        host("b", "VCPU:4", traits="FAST RED", aggs="x y"),
        host("c", "VCPU:4", traits="BIG", aggs="y"),
    )
    assert cloud.allocations_of(group("VCPU:1", required="FAST|BIG", forbidden="RED")) == [
        "a VCPU:1",
        "c VCPU:1",
    ]
    assert cloud.allocations_of(group("VCPU:1", member_of="x y")) == ["b VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1", not_member_of="x")) == ["c VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1", in_tree="b")) == ["b VCPU:1"]
    assert cloud.allocations_of(
        group("VCPU:1"), root_required=names("FAST"), root_forbidden=names("RED")
    ) == ["a VCPU:1"]


def test_amounts_of_groups_on_one_provider_are_summed() -> None:
    cloud = Cloud(host("a", "VCPU:4"), host("b", "VCPU:2"))
    groups = group("VCPU:1"), group("VCPU:2", "_1")
    assert cloud.allocations_of(*groups) == ["a VCPU:3"]
    assert cloud.mappings_of(*groups) == ["=a _1=a"]


def test_max_unit_applies_to_the_sum_and_all_units_to_each_group() -> None:
    units = Inventory(10, min_unit=2, max_unit=5, step_size=2)
    cloud = Cloud(host("a", inventories={"VCPU": units}))
    assert cloud.allocations_of(group("VCPU:2", "_1"), group("VCPU:2", "_2"), group_policy="none") == [
        "a VCPU:4"
    ]
    assert cloud.allocations_of(group("VCPU:2", "_1"), group("VCPU:4", "_2"), group_policy="none") == []
    assert cloud.allocations_of(group("VCPU:1", "_1"), group("VCPU:1", "_2"), group_policy="none") == []


def test_isolated_groups_do_not_share_a_provider() -> None:
    cloud = Cloud(host("a", "VCPU:4"))
    pair = group("VCPU:1", "_1"), group("VCPU:1", "_2")
    assert cloud.allocations_of(*pair, group_policy="none") == ["a VCPU:2"]
    assert cloud.allocations_of(*pair, group_policy="isolate") == []
    # The group without suffix is not isolated from the others, nor is one with a suffix from it.
    assert cloud.allocations_of(group("VCPU:1"), group("VCPU:1", "_1"), group_policy="isolate") == [
        "a VCPU:2"
    ]


# Trees

NUMA = (
    host("h", "DISK_GB:9", traits="RED"),
    host("n1", "VCPU:4", parent="h", traits="FAST"),
    host("n2", "VCPU:4", parent="h", traits="BIG"),
    host("d1", "PCI:1", parent="n1", root="h"),
    host("d2", "PCI:1", parent="n2", root="h"),
)


def test_the_group_without_suffix_spreads_over_a_tree() -> None:
    assert Cloud(*NUMA).allocations_of(group("VCPU:1 DISK_GB:5")) == [
        "h DISK_GB:5 + n1 VCPU:1",
        "h DISK_GB:5 + n2 VCPU:1",
    ]
    assert Cloud(*NUMA).mappings_of(group("VCPU:1 DISK_GB:5")) == ["=h,n1", "=h,n2"]


def test_a_group_with_a_suffix_does_not_spread() -> None:
    assert Cloud(*NUMA).allocations_of(group("VCPU:1 DISK_GB:5", "_1")) == []


def test_required_traits_may_be_spread_over_providers_but_forbidden_traits_apply_to_each() -> None:
    cloud = Cloud(*NUMA)
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5", required="RED FAST")) == ["h DISK_GB:5 + n1 VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5", required="RED FAST BIG")) == []
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5", forbidden="FAST")) == ["h DISK_GB:5 + n2 VCPU:1"]
    # A trait of a provider without allocations does not count.
    assert cloud.allocations_of(group("VCPU:1", required="RED")) == []


def test_providers_of_two_trees_are_never_combined() -> None:
    cloud = Cloud(*NUMA[:2], host("i", "DISK_GB:9"), host("i1", "PCI:1", parent="i"))
    assert cloud.allocations_of(group("VCPU:1 PCI:1")) == []


def test_the_aggregate_of_a_root_counts_for_its_tree() -> None:
    cloud = Cloud(host("h", aggs="x"), host("h1", "VCPU:1", parent="h"), host("i", "VCPU:1"))
    assert cloud.allocations_of(group("VCPU:1", member_of="x")) == ["h1 VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1", not_member_of="x")) == ["i VCPU:1"]
    # For a group with a suffix, the provider itself must be a member.
    assert cloud.allocations_of(group("VCPU:1", "_1", member_of="x")) == []
    assert cloud.allocations_of(group("VCPU:1", "_1", not_member_of="x")) == ["h1 VCPU:1", "i VCPU:1"]


def test_in_tree_accepts_any_provider_of_the_tree() -> None:
    cloud = Cloud(*NUMA, host("i", "VCPU:4"))
    assert cloud.allocations_of(group("VCPU:1", in_tree="d1")) == ["n1 VCPU:1", "n2 VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1", "_1", in_tree="i")) == ["i VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1", in_tree="missing")) == []


def test_all_providers_of_a_tree_are_summarised_even_without_allocations() -> None:
    cloud = Cloud(*NUMA, host("i", "DISK_GB:9"))
    assert cloud.summaries_of(group("VCPU:1")) == ["d1", "d2", "h", "n1", "n2"]


def test_old_clients_get_no_candidate_with_two_providers_of_a_tree() -> None:
    cloud = Cloud(*NUMA, host("i", "VCPU:4 DISK_GB:9"))
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5"), nested=False) == ["i DISK_GB:5 VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1"), nested=False) == ["i VCPU:1", "n1 VCPU:1", "n2 VCPU:1"]
    assert cloud.summaries_of(group("VCPU:1"), nested=False) == ["i", "n1", "n2"]


def test_root_traits_apply_to_the_root_only() -> None:
    cloud = Cloud(*NUMA, host("i"), host("i1", "VCPU:1", parent="i", traits="RED"))
    assert cloud.allocations_of(group("VCPU:1"), root_required=names("RED")) == ["n1 VCPU:1", "n2 VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1"), root_forbidden=names("RED")) == ["i1 VCPU:1"]


# Groups with same_subtree

BY_NUMA = names("_c _d")


def test_same_subtree_needs_a_provider_that_is_an_ancestor_of_the_others() -> None:
    cloud = Cloud(*NUMA)
    groups = group("VCPU:1", "_c"), group("PCI:1", "_d")
    assert cloud.mappings_of(*groups, group_policy="none", same_subtrees=(BY_NUMA,)) == [
        "_c=n1 _d=d1",
        "_c=n2 _d=d2",
    ]
    assert len(cloud.mappings_of(*groups, group_policy="none")) == 4


def test_siblings_are_in_one_subtree_only_with_their_parent() -> None:
    cloud = Cloud(*NUMA)
    pair = group("PCI:1", "_d"), group("PCI:1", "_e")
    both = names("_d _e _r")
    assert cloud.mappings_of(*pair, group_policy="isolate", same_subtrees=(names("_d _e"),)) == []
    parent = group("", "_r", required="RED")
    assert cloud.mappings_of(*pair, parent, group_policy="isolate", same_subtrees=(both,)) == [
        "_d=d1 _e=d2 _r=h",
        "_d=d2 _e=d1 _r=h",
    ]


def test_a_group_without_resources_allocates_nothing_and_adds_no_summary() -> None:
    cloud = Cloud(*NUMA, host("i", "VCPU:1"))
    groups = group("PCI:1", "_d"), group("", "_c", required="FAST")
    assert cloud.allocations_of(*groups, same_subtrees=(BY_NUMA,), group_policy="none") == ["d1 PCI:1"]
    assert cloud.mappings_of(*groups, same_subtrees=(BY_NUMA,), group_policy="none") == ["_c=n1 _d=d1"]


def test_the_common_ancestor_may_be_chosen_last() -> None:
    """The two devices are chosen first: there are fewer of them than providers with the trait."""
    many = [host(f"r{number}", parent="h", traits="RED") for number in range(4)]
    cloud = Cloud(*NUMA, *many)
    groups = group("PCI:1", "_d"), group("PCI:1", "_e"), group("", "_r", required="RED")
    rest = {"group_policy": "isolate", "same_subtrees": (names("_d _e _r"),)}
    assert cloud.mappings_of(*groups, **rest) == ["_d=d1 _e=d2 _r=h", "_d=d2 _e=d1 _r=h"]


@pytest.mark.parametrize("wanted", [{"in_tree": "h"}, {"forbidden": "BIG"}, {"not_member_of": "x"}])
def test_a_group_without_a_positive_condition_has_no_provider(wanted: dict[str, str]) -> None:
    groups = group("PCI:1", "_d"), group("", "_c", **wanted)
    assert Cloud(*NUMA).allocations_of(*groups, same_subtrees=(BY_NUMA,), group_policy="none") == []


def test_in_tree_does_not_apply_to_a_group_without_resources() -> None:
    cloud = Cloud(*NUMA, host("i", "VCPU:1"))
    for tree, expected in (("i", ["_c=n1 _d=d1"]), ("missing", [])):
        groups = group("PCI:1", "_d"), group("", "_c", required="FAST", in_tree=tree)
        assert cloud.mappings_of(*groups, same_subtrees=(BY_NUMA,), group_policy="none") == expected


# Sharing providers


def test_a_sharing_provider_serves_the_trees_in_its_aggregates() -> None:
    cloud = Cloud(
        host("a", "VCPU:4", aggs="x"),
        host("b", "VCPU:4", aggs="y"),
        pool("p", "DISK_GB:9", "x"),
        host("q", "DISK_GB:9"),
    )
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5")) == ["a VCPU:1 + p DISK_GB:5"]
    assert cloud.summaries_of(group("VCPU:1 DISK_GB:5")) == ["a", "p"]


def test_an_aggregate_anywhere_in_the_tree_is_enough() -> None:
    cloud = Cloud(host("a", "VCPU:4"), host("a1", parent="a", aggs="x"), pool("p", "DISK_GB:9", "x"))
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5")) == ["a VCPU:1 + p DISK_GB:5"]


def test_sharing_providers_serve_groups_with_a_suffix_too() -> None:
    cloud = Cloud(host("a", "VCPU:4", aggs="x"), pool("p", "DISK_GB:9", "x"), pool("q", "DISK_GB:9", "x"))
    assert cloud.mappings_of(group("VCPU:1"), group("DISK_GB:5", "_1")) == ["=a _1=p", "=a _1=q"]


def test_sharing_providers_do_not_combine_without_a_common_aggregate() -> None:
    cloud = Cloud(pool("p", "DISK_GB:9", "x"), pool("q", "VCPU:9", "y"), pool("r", "VCPU:9", "x"))
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5")) == ["p DISK_GB:5 + r VCPU:1"]


def test_a_candidate_of_sharing_providers_alone_appears_once_for_all_trees() -> None:
    hosts = [host(f"h{number}", "VCPU:4", aggs="x") for number in range(5)]
    cloud = Cloud(*hosts, pool("p", "DISK_GB:9", "x"), pool("q", "DISK_GB:9 PCI:1", "x"))
    assert cloud.allocations_of(group("DISK_GB:5")) == ["p DISK_GB:5", "q DISK_GB:5"]
    assert cloud.allocations_of(group("DISK_GB:5 PCI:1")) == ["p DISK_GB:5 + q PCI:1", "q DISK_GB:5 PCI:1"]
    assert cloud.summaries_of(group("DISK_GB:5")) == ["p", "q"]
    assert len(cloud.allocations_of(group("DISK_GB:5"), limit=1)) == 1


def test_a_child_may_share_even_if_the_rest_of_its_tree_has_no_inventory() -> None:
    cloud = Cloud(host("a", "VCPU:4", aggs="x"), host("b"), pool("b1", "DISK_GB:9", "x", parent="b"))
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5")) == ["a VCPU:1 + b1 DISK_GB:5"]
    assert cloud.summaries_of(group("VCPU:1 DISK_GB:5")) == ["a", "b", "b1"]


def test_member_of_applies_to_the_sharing_provider_itself() -> None:
    hosts = host("a", "VCPU:4", aggs="x w"), host("b", "VCPU:4", aggs="x")
    cloud = Cloud(*hosts, pool("p", "DISK_GB:9", "x w"), pool("q", "DISK_GB:9", "x"))
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5", member_of="w")) == ["a VCPU:1 + p DISK_GB:5"]
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5", not_member_of="w")) == ["b VCPU:1 + q DISK_GB:5"]


def test_in_tree_excludes_sharing_providers_of_other_trees() -> None:
    cloud = Cloud(host("a", "VCPU:4", aggs="x"), pool("p", "DISK_GB:9", "x"))
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5", in_tree="a")) == []
    # In a group with a suffix, in_tree applies to the sharing provider's own tree.
    groups = group("VCPU:1", in_tree="a"), group("DISK_GB:5", "_1", in_tree="p")
    assert cloud.allocations_of(*groups) == ["a VCPU:1 + p DISK_GB:5"]


def test_root_traits_apply_to_the_anchor_and_not_to_the_sharing_provider() -> None:
    cloud = Cloud(
        host("a", "VCPU:4", aggs="x", traits="RED"),
        host("b", "VCPU:4", aggs="x"),
        pool("p", "DISK_GB:9", "x"),
    )
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5"), root_required=names("RED")) == [
        "a VCPU:1 + p DISK_GB:5"
    ]
    assert cloud.allocations_of(group("DISK_GB:5"), root_required=names("RED")) == ["p DISK_GB:5"]


def test_old_clients_get_sharing_providers_of_other_trees() -> None:
    cloud = Cloud(host("a", "VCPU:4", aggs="x"), host("a1", "PCI:1", parent="a"), pool("p", "DISK_GB:9", "x"))
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5"), nested=False) == ["a VCPU:1 + p DISK_GB:5"]
    assert cloud.allocations_of(group("VCPU:1 PCI:1"), nested=False) == []


def test_a_tree_in_a_forbidden_aggregate_is_no_anchor_for_sharing_providers() -> None:
    cloud = Cloud(host("a", aggs="x y w"), pool("p", "DISK_GB:9", "x"), pool("q", "VCPU:9", "y"))
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5")) == ["p DISK_GB:5 + q VCPU:1"]
    assert cloud.allocations_of(group("VCPU:1 DISK_GB:5", not_member_of="w")) == []


def test_with_in_tree_a_sharing_provider_serves_only_its_own_tree() -> None:
    cloud = Cloud(host("a", "VCPU:4", aggs="x"), pool("p", "DISK_GB:9", "x"))
    assert cloud.allocations_of(group("DISK_GB:5"), group("VCPU:1", "_1")) == ["a VCPU:1 + p DISK_GB:5"]
    assert cloud.allocations_of(group("DISK_GB:5", in_tree="p"), group("VCPU:1", "_1")) == []


def test_room_of_sharing_providers_counts_where_the_tree_has_too_little() -> None:
    cloud = Cloud(host("a", "PCI:1", aggs="x"), pool("p", "PCI:2", "x"))
    pair = group("PCI:1", "_1"), group("PCI:1", "_2")
    assert cloud.mappings_of(*pair, group_policy="isolate") == ["_1=a _2=p", "_1=p _2=a"]
    assert cloud.mappings_of(*pair, group_policy="none") == ["_1=a _2=p", "_1=p _2=a", "_1=p _2=p"]


# Several groups around one tree


def test_devices_are_assigned_in_every_order() -> None:
    cloud = Cloud(host("h"), *[host(f"d{number}", "PCI:1", parent="h") for number in range(3)])
    pair = group("PCI:1", "_1"), group("PCI:1", "_2")
    assert len(cloud.mappings_of(*pair, group_policy="none")) == 6
    assert len(cloud.mappings_of(*pair, group("PCI:1", "_3"), group_policy="none")) == 6
    assert cloud.mappings_of(*pair, group("PCI:2", "_3"), group_policy="none") == []


def test_a_provider_serves_several_groups_as_far_as_there_is_room() -> None:
    cloud = Cloud(host("h"), host("d", "PCI:4", parent="h", used="PCI:2"), host("e", "PCI:1", parent="h"))
    assert cloud.mappings_of(group("PCI:1", "_1"), group("PCI:1", "_2"), group_policy="none") == [
        "_1=d _2=d",
        "_1=d _2=e",
        "_1=e _2=d",
    ]


def test_amounts_of_both_kinds_of_group_are_summed_only_on_a_common_provider() -> None:
    cloud = Cloud(host("h", "VCPU:4"), host("n", "VCPU:4", parent="h"))
    assert cloud.allocations_of(group("VCPU:1"), group("VCPU:2", "_1"), group_policy="isolate") == [
        "h VCPU:1 + n VCPU:2",
        "h VCPU:2 + n VCPU:1",
        "h VCPU:3",
        "n VCPU:3",
    ]
