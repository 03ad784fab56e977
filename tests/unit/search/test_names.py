# SPDX-License-Identifier: Apache-2.0

"""The order in which names are looked up: an empty result hides unknown names that come later."""

from typing import Any

import pytest

from plimsoll.domain.refusals import ResourceClassMissing, TraitsMissing
from plimsoll.search.request import Group
from tests.unit.search.clouds import Cloud, group, host, names

CLOUD = Cloud(
    host("a", "VCPU:4", traits="FAST", aggs="x"),
    host("a1", "DISK_GB:9", parent="a", traits="BIG"),
    host("b", "VCPU:4 DISK_GB:9"),
)
UNKNOWN_TRAIT = TraitsMissing(("NEW",))
UNKNOWN_CLASS = ResourceClassMissing("NEW")
EMPTY: tuple[Any, ...] = ()

GOOD = group("VCPU:1", "_1")
BAD_CLASS = group("NEW:1", "_2")


def search_result(*groups: Group, cloud: Cloud = CLOUD, **rest: Any) -> Any:
    found = cloud.search(*groups, **rest)
    return tuple(found.requests) if hasattr(found, "requests") else found


@pytest.mark.parametrize(
    ("groups", "rest", "expected"),
    [
        ([group("NEW:1")], {}, UNKNOWN_CLASS),
        ([group("VCPU:1", required="NEW")], {}, UNKNOWN_TRAIT),
        ([group("VCPU:1", required="FAST|NEW")], {}, UNKNOWN_TRAIT),
        ([group("VCPU:1", forbidden="NEW")], {}, UNKNOWN_TRAIT),
        ([group("VCPU:1")], {"root_required": names("NEW")}, UNKNOWN_TRAIT),
        ([group("VCPU:1")], {"root_forbidden": names("NEW")}, UNKNOWN_TRAIT),
        # Root traits are looked up first ...
        ([BAD_CLASS], {"root_required": names("RED")}, EMPTY),
        ([BAD_CLASS], {"root_required": names("NEW")}, UNKNOWN_TRAIT),
        # ... then, within a group, classes, aggregates, traits, the tree.
        ([group("NEW:1", member_of="nowhere")], {}, UNKNOWN_CLASS),
        ([group("VCPU:1", member_of="nowhere", required="NEW")], {}, EMPTY),
        ([group("VCPU:1", in_tree="missing", required="NEW")], {}, UNKNOWN_TRAIT),
        ([group("VCPU:99", forbidden="NEW")], {}, UNKNOWN_TRAIT),
        # The names of a group are looked up only if all groups before it have a candidate.
        ([GOOD, BAD_CLASS], {}, UNKNOWN_CLASS),
        ([group("VCPU:99", "_1"), BAD_CLASS], {}, EMPTY),
        ([group("VCPU:1", "_1", required="BIG"), BAD_CLASS], {}, EMPTY),
        ([group("VCPU:1", "_1", in_tree="missing"), BAD_CLASS], {}, EMPTY),
        ([group("VCPU:1 DISK_GB:1", required="FAST BIG"), BAD_CLASS], {}, UNKNOWN_CLASS),
        ([group("VCPU:1 DISK_GB:1", required="FAST BIG", in_tree="b"), BAD_CLASS], {}, EMPTY),
        # Whether the groups fit together is checked after all names were looked up.
        ([group("VCPU:4", "_1"), group("VCPU:4", "_2"), group("NEW:1", "_3")], {}, UNKNOWN_CLASS),
    ],
)
def test_names_are_looked_up_in_the_documented_order(
    groups: list[Group], rest: dict[str, Any], expected: object
) -> None:
    assert search_result(*groups, **rest) == expected


def test_a_group_whose_traits_no_combination_has_ends_the_search() -> None:
    """Each trait is on a provider with room, but no choice of providers has both."""
    cloud = Cloud(
        host("a"),
        host("a1", "VCPU:1", parent="a", traits="FAST"),
        host("a2", "VCPU:1", parent="a", traits="BIG"),
        host("a3", "DISK_GB:1", parent="a"),
    )
    wanted = group("VCPU:1 DISK_GB:1", required="FAST BIG")
    assert tuple(cloud.search(wanted, BAD_CLASS).requests) == EMPTY
    assert cloud.search(group("VCPU:1 DISK_GB:1", required="FAST"), BAD_CLASS) == UNKNOWN_CLASS


@pytest.mark.parametrize(
    ("groups", "rest", "expected"),
    [
        ([group("VCPU:1")], {}, EMPTY),
        ([group("NEW:1")], {}, UNKNOWN_CLASS),
        ([group("VCPU:1", required="NEW")], {}, UNKNOWN_TRAIT),
        ([group("VCPU:1", forbidden="NEW")], {}, UNKNOWN_TRAIT),
        ([BAD_CLASS], {"root_required": names("RED")}, EMPTY),
        ([BAD_CLASS], {"root_forbidden": names("RED")}, EMPTY),
        ([GOOD, BAD_CLASS], {}, EMPTY),
    ],
)
def test_names_are_looked_up_in_a_cloud_without_providers(
    groups: list[Group], rest: dict[str, Any], expected: object
) -> None:
    found = Cloud().search(*groups, **rest)
    assert (tuple(found.requests) if hasattr(found, "requests") else found) == expected
