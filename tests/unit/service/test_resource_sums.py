# SPDX-License-Identifier: Apache-2.0

"""Sums of capacity and usage per resource class."""

from __future__ import annotations

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World
from plimsoll.service.resource_sums import sum_resources


def provider(number: int, inventory: Inventory, used: int, *aggregates: str) -> Provider:
    uuid = f"{number:032}"
    return Provider(
        number,
        uuid,
        uuid,
        uuid,
        inventories={"VCPU": inventory},
        used={"VCPU": used},
        aggregates=frozenset(aggregates),
    )


def test_an_over_full_provider_takes_nothing_from_what_is_free_elsewhere() -> None:
    world = World.of([provider(1, Inventory(10), 15), provider(2, Inventory(10, reserved=2), 3)])
    found = sum_resources(world, per_aggregate=False, pause=lambda: None).by_class["VCPU"]
    assert (found.capacity, found.reserved, found.used, found.free) == (18, 2, 18, 5)


def test_the_largest_piece_is_that_of_one_provider_in_its_units() -> None:
    world = World.of(
        [
            provider(1, Inventory(100, max_unit=8), 0),
            provider(2, Inventory(20, step_size=4), 5),
            provider(3, Inventory(64, min_unit=32), 40),
        ]
    )
    assert sum_resources(world, per_aggregate=False, pause=lambda: None).by_class["VCPU"].largest_free == 12


def test_a_provider_counts_in_each_of_its_aggregates() -> None:
    world = World.of([provider(1, Inventory(10), 1, "a", "b"), provider(2, Inventory(5), 0, "b")])
    pauses: list[None] = []
    sums = sum_resources(world, per_aggregate=True, pause=lambda: pauses.append(None))
    capacities = {key: found.capacity for key, found in sums.by_aggregate.items()}
    assert capacities == {("a", "VCPU"): 10, ("b", "VCPU"): 15}
    assert len(pauses) == 2
