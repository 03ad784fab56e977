# SPDX-License-Identifier: Apache-2.0

"""Explanations of small clouds: clauses, counts, words. Random ones: tests/property/search/test_explain.py."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.domain.inventory import Inventory
from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.explain.explain import explain, reason_of_none
from plimsoll.search.explain.explanation import Clause, Explanation, HostExplanation, Overlap, Verdict
from plimsoll.search.explain.host_explanations import MAX_EXAMPLES
from plimsoll.search.request import CandidatesRequest, Group, Order
from tests.unit.search.clouds import Cloud, group, host, pool


def explained(cloud: Cloud, *groups: Group, provider: str | None = None, **rest: Any) -> Explanation:
    named = None if provider is None else cloud.world.provider(provider)
    request = CandidatesRequest(groups, **rest)
    found = explain(cloud.world, cloud.index, request, Order(), Budget(), provider=named)
    assert isinstance(found, Explanation)
    return found


def failing(explanation: Explanation) -> dict[str, tuple[int, int, int]]:
    """By reason: alone, left and sole of the clauses that fail."""
    return {
        clause.reason: (clause.alone, clause.left, clause.sole)
        for clause in explanation.clauses
        if clause.failed
    }


def clause_of(explanation: Explanation, reason: str) -> Clause:
    return next(clause for clause in explanation.clauses if clause.reason == reason)


def texts(story: HostExplanation | None) -> list[str]:
    assert story is not None
    return [obstacle.text for obstacle in story.obstacles]


FLAT = Cloud(
    host("fits", "VCPU:8 MEMORY_MB:64", traits="FAST", aggs="x"),
    host("slow", "VCPU:8 MEMORY_MB:64", aggs="x"),
    host("full", "VCPU:8 MEMORY_MB:64", traits="FAST", aggs="x", used="VCPU:7"),
    host("full_slow", "VCPU:8 MEMORY_MB:64", used="VCPU:6 MEMORY_MB:64"),
)


def test_each_clause_is_counted_alone_and_in_the_funnel() -> None:
    found = explained(FLAT, group("VCPU:4 MEMORY_MB:1", required="FAST", member_of="x"))
    assert (found.hosts, found.hosts_with_candidates, found.candidates) == (4, 1, 1)
    assert failing(found) == {"required": (2, 2, 1), "member_of": (3, 2, 0), "used": (3, 1, 0)}
    vcpu = next(clause for clause in found.clauses if clause.reason == "used")
    assert (vcpu.resource_class, vcpu.requested, vcpu.best, vcpu.left, vcpu.sole) == ("VCPU", 4, 1, 1, 1)


def test_the_overlap_is_the_clause_that_fails_at_most_of_the_same_hosts() -> None:
    found = explained(FLAT, group("VCPU:4 MEMORY_MB:1", required="FAST", member_of="x"))
    assert clause_of(found, "member_of").overlap == Overlap(clause_of(found, "required").number, 1)


def test_the_summary_counts_each_host_once() -> None:
    found = explained(FLAT, group("VCPU:4 MEMORY_MB:1", required="FAST", member_of="x"))
    assert found.summary == (
        "Candidates on 1 of 4 hosts; of the others, 2 lack FAST, 1 has too little VCPU (4 wanted, at most 1 free)."
    )
    none = explained(FLAT, group("VCPU:9", required="BLUE|RED"))
    assert none.verdict == Verdict.NEVER
    assert none.summary == "No candidates, even if nothing were in use: all 4 hosts have none of BLUE, RED."


def test_an_empty_cloud_has_no_hosts() -> None:
    found = explained(Cloud(), group("VCPU:1"))
    assert (found.hosts, found.verdict) == (0, Verdict.NEVER)
    assert found.summary == "No candidates, even if nothing were in use: there are no resource providers."


def test_a_cloud_that_is_only_full_is_not_now() -> None:
    found = explained(Cloud(host("a", "VCPU:8", used="VCPU:8")), group("VCPU:1"))
    assert found.verdict == Verdict.NOT_NOW
    assert found.summary == "No candidates: the only host has too little VCPU (1 wanted, at most 0 free)."


def test_capacity_is_split_into_what_is_wrong() -> None:
    cloud = Cloud(
        host("none", "DISK_GB:1"),
        host("min", inventories={"VCPU": Inventory(64, min_unit=16)}),
        host("max", inventories={"VCPU": Inventory(64, max_unit=4)}),
        host("step", inventories={"VCPU": Inventory(64, step_size=5)}),
        host("small", inventories={"VCPU": Inventory(8, reserved=6, allocation_ratio=2.0)}),
        host("full", "VCPU:64", used="VCPU:60"),
    )
    found = explained(cloud, group("VCPU:8"))
    assert failing(found) == {
        "no_inventory": (5, 5, 1),
        "min_unit": (4, 4, 1),
        "max_unit": (4, 3, 1),
        "step_size": (4, 2, 1),
        "capacity": (4, 1, 1),
        "used": (3, 0, 1),
    }
    stories = {
        name: texts(explained(cloud, group("VCPU:8"), provider=name).host) for name in ("small", "full")
    }
    assert stories == {
        "small": ["VCPU: 8 wanted, capacity 4 (total 8, reserved 6, ratio 2)"],
        "full": ["VCPU: 8 wanted, 4 of 64 free, 4 missing"],
    }


def test_examples_come_nearest_first_with_all_obstacles() -> None:
    found = explained(FLAT, group("VCPU:4 MEMORY_MB:65", required="FAST"))
    assert [(story.uuid, len(story.obstacles)) for story in found.examples] == [
        ("fits", 1),
        ("slow", 2),
        ("full", 2),
        ("full_slow", 3),
    ]
    many = Cloud(*[host(f"h{number}", "VCPU:8", used=f"VCPU:{number % 7 + 1}") for number in range(20)])
    found = explained(many, group("VCPU:8"))
    assert len(found.examples) == MAX_EXAMPLES
    assert found.more_hosts == 20 - MAX_EXAMPLES
    shortfalls = [story.obstacles[0].facts.shortfall for story in found.examples if story.obstacles[0].facts]
    assert shortfalls == [1, 1, 1, 2, 2]


NUMA = Cloud(
    host("h", "DISK_GB:9", traits="RED"),
    host("n1", "VCPU:4", parent="h", traits="FAST"),
    host("n2", "VCPU:4", parent="h", traits="BIG"),
    host("d1", "PCI:1", parent="n1", root="h"),
    host("d2", "PCI:1", parent="n2", root="h"),
)


def test_clauses_that_different_providers_meet_fail_together() -> None:
    found = explained(NUMA, group("VCPU:1 PCI:1", "_1", required="FAST"), provider="d1")
    assert failing(found) == {"one_provider": (0, 0, 1)}
    assert texts(found.host) == ["meets each clause, but not on one provider: n1 has no inventory of PCI"]


def test_traits_of_a_group_without_suffix_must_be_on_its_providers() -> None:
    found = explained(NUMA, group("VCPU:1 PCI:1", required="RED FAST"))
    assert failing(found) == {"traits_together": (0, 0, 1)}
    assert clause_of(found, "required").alone == 1


@pytest.mark.parametrize(
    ("rest", "reason", "text"),
    [
        (
            {"groups": 3, "group_policy": "isolate"},
            "isolate",
            "has too few providers for groups that must not share one: _0, _1, _2 on d1, d2",
        ),
        (
            {"groups": 3, "group_policy": "none"},
            "groups_capacity",
            "has no room for all groups together (PCI:1 + 1 + 1): _0, _1, _2 on d1, d2",
        ),
        (
            {"groups": 2, "group_policy": "none", "same_subtrees": (frozenset(["_0", "_1"]),)},
            "rules_together",
            "meets each rule between the groups, but not all at once",
        ),
    ],
)
def test_rules_between_groups_are_clauses(rest: dict[str, Any], reason: str, text: str) -> None:
    groups = [group("PCI:1", f"_{number}") for number in range(rest.pop("groups"))]
    found = explained(NUMA, *groups, provider="h", **rest)
    assert reason in failing(found)
    assert text in texts(found.host)
    assert [clause.left for clause in found.clauses][-1] == 0


def test_shared_storage_that_is_not_associated() -> None:
    cloud = Cloud(host("a", "VCPU:4", aggs="x"), host("b", "VCPU:4"), pool("p", "DISK_GB:9", "x"))
    found = explained(cloud, group("VCPU:1 DISK_GB:1"), provider="b")
    assert clause_of(found, "sharing").sole == 1
    assert texts(found.host) == ["has no DISK_GB and no aggregate in common with a provider that shares it"]


def test_a_forbidden_trait_concerns_only_providers_with_the_resources() -> None:
    cloud = Cloud(host("a", "VCPU:4", traits="BLUE"), host("a1", "PCI:1", parent="a"))
    found = explained(cloud, group("VCPU:1", forbidden="BLUE"))
    assert failing(found) == {"forbidden": (0, 0, 1)}


def test_usual_causes_are_named() -> None:
    cloud = Cloud(host("over", inventories={"VCPU": Inventory(2)}, used="VCPU:8"), host("bare"))
    found = explained(cloud, group("VCPU:1", member_of="nowhere"))
    assert found.notes == (
        "1 host (over): over-full, more VCPU is used than the capacity. The inventory was reduced below its"
        " use, or another program wrote to the database.",
        "1 host (bare): no inventory at all. Its compute service has not reported any.",
        "No provider is in aggregate nowhere.",
    )


def test_unknown_names_after_a_group_that_cannot_be_served_are_notes_with_near_names() -> None:
    found = explained(FLAT, group("VCPU:99", "_1"), group("VCPUS:1", "_2", required="FASTER"))
    assert found.notes == (
        "There is no trait FASTER. Near names: FAST.",
        "There is no resource class VCPUS. Near names: VCPU.",
    )


def test_the_reason_for_a_log_line_is_the_summary() -> None:
    request = CandidatesRequest((group("VCPU:4", required="BLUE"),))
    assert reason_of_none(FLAT.world, FLAT.index, request, Budget()) == "all 4 hosts lack BLUE"


def test_an_explanation_ends_with_its_budget() -> None:
    ticks = iter(range(1000))
    budget = Budget(20, clock=lambda: float(next(ticks)))
    groups = tuple(group("PCI:1", f"_{number}") for number in range(4))
    with pytest.raises(BudgetExceeded):
        explain(NUMA.world, NUMA.index, CandidatesRequest(groups, group_policy="isolate"), Order(), budget)
