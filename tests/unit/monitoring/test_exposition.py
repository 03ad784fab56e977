# SPDX-License-Identifier: Apache-2.0

"""The text of a scrape has as many series as its budget, and the number of those that were left out."""

from __future__ import annotations

import pytest

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World
from plimsoll.monitoring import gauges
from plimsoll.monitoring.exposition import Exposition
from plimsoll.service.progress import Progress
from tests.support.scrapes import Scrape


def host(number: int, **fields: object) -> Provider:
    inventories = {"VCPU": Inventory(16, allocation_ratio=4.0), "MEMORY_MB": Inventory(4096, reserved=96)}
    uuid = f"{number:032}"
    return Provider(
        number,
        uuid,
        f'host "{number}"',
        uuid,
        inventories=inventories,
        used={"VCPU": 3},
        **fields,  # type: ignore[arg-type]
    )


def rendered(world: World, budget: int, *, per_aggregate: bool = True) -> Scrape:
    pauses: list[None] = []
    text = Exposition(budget, lambda: pauses.append(None))
    gauges.add_service(text, world, 7, Progress(9, 2))
    gauges.add_resources(text, world, per_aggregate=per_aggregate, pause=lambda: None)
    gauges.add_providers(text, world)
    gauges.add_omitted(text)
    scrape = Scrape(b"".join(text.texts).decode())
    assert len(pauses) >= len(scrape.series), "the scrape yields at each series"
    return scrape


def test_a_world_within_the_budget_is_complete() -> None:
    world = World.of([host(number, aggregates=frozenset({"a", "b"})) for number in range(1, 4)])
    scrape = rendered(world, 1000)
    assert scrape.value("plimsoll_omitted_series") == 0
    assert scrape.value("plimsoll_follow_lag_changes") == 2
    assert scrape.value("plimsoll_head_sequence") == 9
    assert scrape.value("plimsoll_snapshot_sequence") == 7
    assert scrape.value("plimsoll_snapshot_providers") == 3
    assert scrape.values("plimsoll_resource_capacity", "resource_class") == {
        "VCPU": 3 * 64,
        "MEMORY_MB": 3 * 4000,
    }
    assert scrape.value("plimsoll_aggregate_free", aggregate="b", resource_class="VCPU") == 3 * 61
    labels = {"hostname": 'host "2"', "resourcetype": "VCPU"}
    assert scrape.value("openstack_placement_resource_total", **labels) == 16
    assert scrape.value("openstack_placement_resource_usage", **labels) == 3
    assert scrape.value("openstack_placement_resource_reserved", **labels) == 0
    assert scrape.value("openstack_placement_resource_allocation_ratio", **labels) == 4.0
    assert scrape.value("plimsoll_provider_capacity", **labels) == 64
    assert scrape.value("plimsoll_provider_free", **labels) == 61
    assert len(scrape.series) == 7 + 2 * 5 + 2 * 2 * 5 + 3 * 2 * 6


@pytest.mark.parametrize("budget", [1, 6, 7, 8, 20, 36, 37, 38, 72])
def test_a_scrape_never_exceeds_its_budget_and_counts_the_rest(budget: int) -> None:
    world = World.of([host(number, aggregates=frozenset({"a", "b"})) for number in range(1, 4)])
    scrape = rendered(world, budget)
    assert len(scrape.series) == budget
    assert scrape.value("plimsoll_omitted_series") == 73 - budget


def test_ten_thousand_hosts_with_three_classes_are_within_the_budget_for_providers() -> None:
    assert 10_000 * 3 * 6 + gauges.SERIES_BUDGET <= gauges.PROVIDER_SERIES_BUDGET


def test_an_empty_world_has_no_families_of_resources() -> None:
    assert {name for name in rendered(World.of([]), 100).names if "resource" in name} == set()
