# SPDX-License-Identifier: Apache-2.0

"""The list of providers."""

from typing import Any

import pytest

from plimsoll.domain.refusals import ResourceClassMissing, TraitsMissing
from plimsoll.domain.world import World
from plimsoll.search.index.selection import Selection
from plimsoll.search.providers import find_providers
from plimsoll.search.request import Conditions, ProvidersRequest
from tests.unit.search.clouds import CLASSES, TRAITS, Cloud, amounts, any_of, host, names

CLOUD = Cloud(
    host("a", "VCPU:8", traits="FAST", aggs="x"),
    host("a1", "VCPU:2 DISK_GB:5", parent="a", traits="BIG"),
    host("b", "VCPU:4", traits="FAST BIG", aggs="y", used="VCPU:3"),
)


def listed(cloud: Cloud = CLOUD, **wanted: Any) -> Any:
    resources = amounts(wanted.pop("resources", ""))
    request = ProvidersRequest(
        wanted.pop("uuid", None), wanted.pop("name", None), Conditions(**wanted), resources
    )
    found = find_providers(cloud.world, cloud.index, request)
    return [provider.uuid for provider in found] if isinstance(found, Selection) else found


def test_an_empty_request_lists_all_providers_in_the_order_of_creation() -> None:
    assert listed() == ["a", "b", "a1"]


def test_the_order_is_by_id_even_if_ids_were_assigned_out_of_order() -> None:
    cloud = Cloud(host("a"), host("c"))
    new = [host("b"), host("d")]
    cloud.world = World.of([*cloud.world.providers.values(), *new], classes=CLASSES, traits=TRAITS)
    cloud.index = cloud.index.updated((None, each) for each in new)
    assert listed(cloud) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"uuid": "b"}, ["b"]),
        ({"uuid": "missing"}, []),
        ({"name": "a1"}, ["a1"]),
        ({"name": "missing"}, []),
        ({"name": "a", "uuid": "b"}, []),
        ({"in_tree": "a1"}, ["a", "a1"]),
        ({"in_tree": "missing"}, []),
        ({"required": any_of("FAST BIG")}, ["b"]),
        ({"required": any_of("FAST|BIG"), "forbidden": names("FAST")}, ["a1"]),
        ({"member_of": any_of("x|y")}, ["a", "b"]),
        ({"member_of": any_of("nowhere")}, []),
        ({"not_member_of": names("x")}, ["b", "a1"]),
        ({"resources": "VCPU:2"}, ["a", "a1"]),
        ({"resources": "VCPU:1 DISK_GB:5"}, ["a1"]),
        ({"resources": "PCI:1"}, []),
    ],
)
def test_each_condition_is_met_by_each_provider_listed(wanted: dict[str, Any], expected: list[str]) -> None:
    assert listed(**wanted) == expected


def test_an_unknown_name_is_refused() -> None:
    assert listed(required=any_of("NEW")) == TraitsMissing(("NEW",))
    assert listed(forbidden=names("NEW")) == TraitsMissing(("NEW",))
    assert listed(resources="NEW:1") == ResourceClassMissing("NEW")


def test_an_empty_result_hides_unknown_names_that_are_looked_up_later() -> None:
    assert listed(in_tree="missing", required=any_of("NEW")) == []
    assert listed(required=any_of("RED"), forbidden=names("NEW")) == []
    assert listed(member_of=any_of("nowhere"), resources="NEW:1") == []
    assert listed(member_of=any_of("nowhere"), forbidden=names("NEW")) == TraitsMissing(("NEW",))
    assert listed(in_tree="b", resources="VCPU:100 NEW:1") == ResourceClassMissing("NEW")
