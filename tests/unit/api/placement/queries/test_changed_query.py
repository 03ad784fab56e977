# SPDX-License-Identifier: Apache-2.0

"""The query string of a changed request is parsed into that request."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.queries.candidates import candidates_request
from plimsoll.api.placement.queries.changed_query import changed_query
from plimsoll.search.relax.changes import (
    Relaxed,
    RequestChange,
    amounts,
    apply,
    is_valid,
    removals,
    with_amount,
    without_class,
    without_group,
)
from plimsoll.search.request import CandidatesRequest

ONE, TWO, THREE = (f"0000000{number}-0000-4000-8000-000000000000" for number in (1, 2, 3))
NEWEST = Version(39)


def changed(text: str, *changes: RequestChange) -> list[tuple[str, str]]:
    request = candidates_request(text, NEWEST)
    return parse_qsl(changed_query(text, request, apply(request, *changes)))


def test_the_other_parameters_stay_as_they_are() -> None:
    text = "limit=5&resources=VCPU:16,MEMORY_MB:512&required=HW_CPU_X86_AVX,CUSTOM_X&required=in:A,B"
    change = RequestChange(Relaxed.REQUIRED, "", ("CUSTOM_X",))
    assert changed(text, change) == [
        ("limit", "5"),
        ("resources", "VCPU:16,MEMORY_MB:512"),
        ("required", "HW_CPU_X86_AVX"),
        ("required", "in:A,B"),
    ]


def test_the_text_stays_readable() -> None:
    text = f"resources=VCPU:16&required=!CUSTOM_X,HW_CPU_X86_AVX&member_of=!in:{ONE},{TWO}"
    request = candidates_request(text, NEWEST)
    assert changed_query(text, request, apply(request, with_amount(request.groups[0], "VCPU", 14))) == (
        f"resources=VCPU:14&required=!CUSTOM_X,HW_CPU_X86_AVX&member_of=!in:{ONE},{TWO}"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (RequestChange(Relaxed.FORBIDDEN, "", ("B",)), {"required": "A"}),
        (RequestChange(Relaxed.MEMBER_OF, "", (ONE, TWO)), {"member_of": f"!{THREE}"}),
        (RequestChange(Relaxed.NOT_MEMBER_OF, "", (THREE,)), {"member_of": f"in:{ONE},{TWO}"}),
        (RequestChange(Relaxed.IN_TREE, "_N", (ONE,)), {"in_tree_N": None}),
        (RequestChange(Relaxed.ROOT_REQUIRED, names=("R",)), {"root_required": "!F"}),
        (RequestChange(Relaxed.ROOT_FORBIDDEN, names=("F",)), {"root_required": "R"}),
        (RequestChange(Relaxed.ISOLATE), {"group_policy": "none"}),
        (RequestChange(Relaxed.SAME_SUBTREE, names=("_M", "_N")), {"same_subtree": None}),
    ],
)
def test_one_condition_is_taken_away(change: RequestChange, expected: dict[str, str | None]) -> None:
    text = (
        f"resources=VCPU:1&required=A,!B&member_of=in:{ONE},{TWO}&member_of=!{THREE}&resources_N=PCI:1"
        f"&in_tree_N={ONE}&resources_M=PCI:2&group_policy=isolate&root_required=R,!F&same_subtree=_M,_N"
    )
    after = dict(changed(text, change))
    assert {name: after.get(name) for name in expected} == expected


def test_a_group_is_removed_with_all_its_parameters() -> None:
    text = "resources=VCPU:1&resources_N=PCI:1&required_N=A&resources_M=PCI:2&group_policy=none&same_subtree=_M,_N"
    group = next(each for each in candidates_request(text, NEWEST).groups if each.suffix == "_N")
    assert changed(text, without_group(group)) == [
        ("resources", "VCPU:1"),
        ("resources_M", "PCI:2"),
        ("group_policy", "none"),
        ("same_subtree", "_M"),
    ]


def contents(request: CandidatesRequest) -> Any:
    """Return the request without the order of groups and conditions, which does not matter."""
    groups = {
        group.suffix: (
            dict(group.resources),
            Counter(group.conditions.required),
            Counter(group.conditions.member_of),
            group.conditions._replace(required=(), member_of=()),
        )
        for group in request.groups
    }
    subtrees = Counter(request.same_subtrees)
    return (
        groups,
        subtrees,
        request.root_required,
        request.root_forbidden,
        request.group_policy,
        request.limit,
    )


def random_query(random: Random) -> str:
    def some(*items: str) -> list[str]:
        return [item for item in items if random.random() < 0.4]

    pairs = some("limit=7", "root_required=R,!F", "group_policy=none", "resources=VCPU:8")
    for suffix in ("", "_N", "1"):
        if suffix == "" or random.random() < 0.7:
            pairs.append(f"resources{suffix}=VCPU:4,PCI:2")
            pairs += some(f"required{suffix}=A,!B,%20C", f"required{suffix}=in:A,D", f"required{suffix}=!E")
            pairs += some(f"member_of{suffix}={ONE}", f"member_of{suffix}=in:{ONE},{TWO}")
            pairs += some(
                f"member_of{suffix}=!in:{THREE},{TWO}", f"in_tree{suffix}={ONE}", f"resources{suffix}=PCI:3"
            )
    if any("_N=" in pair for pair in pairs):
        pairs += some("same_subtree=_N")
    random.shuffle(pairs)
    return "&".join([*pairs, "group_policy=isolate"])


@settings(max_examples=300, deadline=None)
@given(random=st.randoms(use_true_random=True))
def test_every_change_of_a_query_is_parsed_into_the_changed_request(random: Random) -> None:
    text = random_query(random)
    request = candidates_request(text, NEWEST)
    changes = list(removals(request))
    for group, resource_class in amounts(request):
        changes.append(with_amount(group, resource_class, 1))
        if len(group.resources) > 1:
            changes.append(without_class(group, resource_class))
    changes += map(without_group, request.groups)
    for change in changes:
        after = apply(request, change)
        if is_valid(after):
            parsed = candidates_request(changed_query(text, request, after), NEWEST)
            assert contents(parsed) == contents(after)
