# SPDX-License-Identifier: Apache-2.0

"""Each filter removes the right rows, and counts and reasons are recorded."""

from plimsoll.domain.inventory import Inventory
from plimsoll.search import filters
from plimsoll.search.filters import Filter, FilterReport, apply_filters
from plimsoll.search.index.bitset import numbers_of
from plimsoll.search.index.index import Index
from tests.unit.search.clouds import host, uuids

INDEX = Index.build(
    [
        host("a", "VCPU:8", traits="FAST RED", aggs="x"),
        host("b", "VCPU:8", traits="BIG", aggs="y", used="VCPU:7"),
        host("c", traits="FAST", aggs="x y", inventories={"VCPU": Inventory(8, max_unit=1)}),
        host("d", "DISK_GB:8"),
        host("d1", parent="d", aggs="x"),
    ]
)


def passing(step: Filter) -> str:
    rows = apply_filters(INDEX, INDEX.live, [step])
    return "".join(f"{p.uuid} " for p in INDEX.providers(numbers_of(rows, INDEX.size).tolist())).strip()


def test_one_of_several_traits_is_enough() -> None:
    assert passing(filters.HasTrait(frozenset(["RED", "BIG"]))) == "a b"
    assert passing(filters.HasTrait(frozenset(["UNKNOWN"]))) == ""


def test_one_forbidden_trait_removes_a_provider() -> None:
    assert passing(filters.LacksTraits(frozenset(["RED", "BIG"]))) == "c d d1"


def test_every_item_of_member_of_must_be_met() -> None:
    assert passing(filters.MemberOf((frozenset(["x", "y"]),))) == "a b c d1"
    assert passing(filters.MemberOf((frozenset(["x"]), frozenset(["y"])))) == "c"


def test_membership_of_a_root_counts_for_its_tree_but_that_of_a_child_does_not() -> None:
    index = Index.build(
        [host("r", aggs="x"), host("r1", parent="r"), host("s"), host("s1", parent="s", aggs="x")]
    )
    for step, expected in (
        (filters.MemberOf((frozenset(["x"]),), tree=True), ["r", "r1", "s1"]),
        (filters.NotMemberOf(frozenset(["x"]), tree=True), ["s"]),
        (filters.NotMemberOf(frozenset(["x"])), ["r1", "s"]),
    ):
        rows = step.keep(index, index.live)
        assert uuids(index.providers(numbers_of(rows, index.size).tolist())) == expected


def test_the_parts_of_the_capacity_rule_report_separately() -> None:
    index = Index.build(
        [
            host("fits", "VCPU:8"),
            host("none", "DISK_GB:8"),
            host("min", inventories={"VCPU": Inventory(8, min_unit=4)}),
            host("max", inventories={"VCPU": Inventory(8, max_unit=1)}),
            host("step", inventories={"VCPU": Inventory(8, step_size=3)}),
            host("small", "VCPU:1"),
            host("full", "VCPU:8", used="VCPU:7"),
        ]
    )
    reports: list[FilterReport] = []
    rows = apply_filters(index, index.live, [filters.Admits("VCPU", 2)], reports)
    assert rows == apply_filters(index, index.live, [filters.Admits("VCPU", 2)]) == 1 << index.row("fits")
    removed = {
        report.step.reason: uuids(
            index.providers(numbers_of(report.before & ~report.after, index.size).tolist())
        )
        for report in reports
    }
    assert removed == {
        "no_inventory": ["none"],
        "min_unit": ["min"],
        "max_unit": ["max"],
        "step_size": ["step"],
        "capacity": ["small"],
        "used": ["full"],
    }


def test_filters_report_even_after_the_last_row_was_removed() -> None:
    reports: list[FilterReport] = []
    no_provider = filters.HasTrait(frozenset(["UNKNOWN"]))
    assert (
        apply_filters(INDEX, INDEX.live, [no_provider, filters.HasTrait(frozenset(["FAST"]))], reports) == 0
    )
    assert [(each.before.bit_count(), each.after.bit_count()) for each in reports] == [(5, 0), (0, 0)]
