# SPDX-License-Identifier: Apache-2.0

"""The reason for an empty result names the rules between the groups. Reasons of filters: tests/api/test_search_budget.py."""

from plimsoll.search.budget import Budget
from plimsoll.search.obstacle import obstacle
from plimsoll.search.request import CandidatesRequest
from tests.unit.search.clouds import Cloud, group, host


def test_rules_between_groups_are_named() -> None:
    cloud = Cloud(
        host("h"), host("m", "PCI:2", parent="h"), host("n", "PCI:2", parent="h"), host("o", parent="h")
    )
    request = CandidatesRequest(
        (group("PCI:1", "_1"), group("PCI:1", "_2")),
        group_policy="isolate",
        same_subtrees=(frozenset(["_1", "_2"]),),
    )
    assert not cloud.candidates(
        *request.groups, group_policy="isolate", same_subtrees=request.same_subtrees
    ).requests
    assert obstacle(cloud.world, cloud.index, request, Budget()) == (
        "no combination of providers meets all rules between the groups"
        " (group_policy=isolate, capacity, same_subtree)"
    )
