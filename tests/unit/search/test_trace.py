# SPDX-License-Identifier: Apache-2.0

"""A traced search finds the same, and every step of every group reports."""

from __future__ import annotations

from plimsoll.domain.refusals import TraitsMissing
from plimsoll.search.budget import Budget
from plimsoll.search.combine.exists import anchors_with_choice
from plimsoll.search.find import find_candidates, has_candidates, trace_plan
from plimsoll.search.plan import Plan, allowed_roots, plan_group, plan_request
from plimsoll.search.request import CandidatesRequest, Group, Order
from plimsoll.search.result import Candidates
from plimsoll.search.trace import Trace
from tests.unit.search.clouds import Cloud, group, host, names

CLOUD = Cloud(
    host("a", "DISK_GB:9", traits="RED", aggs="x"),
    host("a1", "VCPU:4 PCI:1", parent="a", traits="FAST"),
    host("a2", "VCPU:4", parent="a"),
    host("b", "VCPU:2 DISK_GB:9", traits="RED BLUE"),
)


def traced(*groups: Group, cloud: Cloud = CLOUD, **rest: object) -> tuple[object, Trace]:
    trace = Trace()
    request = CandidatesRequest(groups, **rest)  # type: ignore[arg-type]
    return find_candidates(cloud.world, cloud.index, request, Order(), Budget(), trace=trace), trace


def reasons(trace: Trace) -> list[list[list[str]]]:
    """By group and slot: the reason of each filter."""
    return [[[each.step.reason for each in slot.filters] for slot in group.slots] for group in trace.groups]


PARTS = ["no_inventory", "min_unit", "max_unit", "step_size", "capacity", "used"]


def test_a_trace_does_not_change_the_result() -> None:
    for wanted in (group("VCPU:2"), group("VCPU:3 DISK_GB:1", required="FAST"), group("VCPU:9")):
        found, _ = traced(wanted)
        assert isinstance(found, Candidates)
        assert list(found.requests) == list(CLOUD.candidates(wanted).requests)


def test_filters_report_in_the_order_of_the_clauses() -> None:
    _, trace = traced(
        group(
            "VCPU:1",
            "_1",
            required="FAST RED",
            forbidden="BIG",
            member_of="x",
            not_member_of="y",
            in_tree="a2",
        )
    )
    conditions = ["in_tree", "required", "required", "forbidden", "member_of", "not_member_of"]
    assert reasons(trace) == [[[*conditions, *PARTS]]]
    rows = [each.after for each in trace.groups[0].slots[0].filters]
    assert all(after & ~before == 0 for before, after in zip([CLOUD.index.live, *rows], rows, strict=False))


def test_a_group_of_several_classes_reports_each_class() -> None:
    _, trace = traced(group("VCPU:1 DISK_GB:1", forbidden="BIG"))
    assert reasons(trace) == [[["forbidden", *PARTS], ["forbidden", *PARTS]]]
    assert [(each.reason, each.before.bit_count(), each.after.bit_count()) for each in trace.anchors] == [
        ("supply", 2, 2),
        ("supply", 2, 2),
    ]


def test_groups_after_one_without_providers_report_too() -> None:
    found, trace = traced(group("VCPU:99", "_1"), group("PCI:1", "_2"), group("DISK_GB:1", "_3"))
    assert isinstance(found, Candidates)
    assert not found.requests
    assert [each.group.suffix for each in trace.groups] == ["_1", "_2", "_3"]


def test_equal_groups_report_the_same_slots() -> None:
    _, trace = traced(
        group("VCPU:1", "_1"), group("VCPU:1", "_2"), group("VCPU:2", "_3"), group_policy="none"
    )
    assert reasons(trace) == [[PARTS]] * 3
    first, second, third = [each.slots for each in trace.groups]
    assert first is second
    assert first is not third


def test_early_ends_report_their_reason() -> None:
    _, trace = traced(
        group("VCPU:1", "_1", member_of="nowhere"),
        group("VCPU:1", "_2", in_tree="missing"),
        group("VCPU:1", "_3", required="UNKNOWN"),
        group("VCPU:1", "_4"),
    )
    assert [each.early_end for each in trace.groups] == ["member_of", "in_tree", "unknown_name", None]


def test_unknown_names_are_refused_with_a_trace_as_without() -> None:
    found, _ = traced(group("VCPU:1", "_1"), group("VCPU:1", "_2", required="NEW"))
    assert found == TraitsMissing(("NEW",))


def test_root_conditions_report() -> None:
    _, trace = traced(group("VCPU:1"), root_required=names("BLUE"), root_forbidden=names("FAST"))
    assert [(each.step.reason, each.before.bit_count(), each.after.bit_count()) for each in trace.roots] == [
        ("required", 2, 1),
        ("forbidden", 1, 1),
    ]


def test_trees_that_are_too_small_by_counting_report() -> None:
    pair = group("PCI:1", "_1"), group("PCI:1", "_2")
    _, trace = traced(*pair, group_policy="isolate")
    assert [(each.reason, each.before.bit_count(), each.after.bit_count()) for each in trace.anchors] == [
        ("supply", 2, 1),
        ("supply", 2, 1),
        ("groups", 1, 1),
        ("capacity", 1, 0),
        ("isolate", 0, 0),
    ]


def test_a_plan_can_be_traced_without_combining_providers() -> None:
    request = CandidatesRequest((group("VCPU:1"),))
    trace = trace_plan(CLOUD.world, CLOUD.index, request, Budget())
    assert reasons(trace) == [[PARTS]]


def test_trees_with_a_choice_are_found_without_enumerating_choices() -> None:
    cloud = Cloud(
        *[host(name) for name in "hij"],
        *[host(f"{name}{number}", "PCI:1", parent=name) for name in "hi" for number in range(9)],
        host("j0", "PCI:1", parent="j"),
    )
    groups = tuple(group("PCI:1", f"_{number}") for number in range(4))
    request = CandidatesRequest(groups, group_policy="isolate")
    roots = allowed_roots(cloud.world, cloud.index, request)
    assert isinstance(roots, int)
    parts = [plan_group(cloud.world, cloud.index, each, roots, {}) for each in groups]
    plan = plan_request(cloud.index, request, [each for each in parts if isinstance(each, Plan)], Budget())
    assert plan is not None
    expected = 1 << cloud.index.row("h") | 1 << cloud.index.row("i")
    assert anchors_with_choice(cloud.index, plan, Budget()) == expected
    assert has_candidates(cloud.world, cloud.index, request, Budget())
    none = CandidatesRequest((*groups, *[group("PCI:1", f"_x{n}") for n in range(6)]), group_policy="isolate")
    assert not has_candidates(cloud.world, cloud.index, none, Budget())
