# SPDX-License-Identifier: Apache-2.0

"""Sums of capacity and usage per resource class, over all providers and per aggregate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.world import World


@dataclass(slots=True, eq=False)
class ResourceSum:
    """The sums of one resource class, to which inventories are added."""

    capacity: int = 0
    """The limit of the sum of allocations: (total - reserved) x ratio."""
    reserved: int = 0
    used: int = 0
    free: int = 0
    largest_free: int = 0
    """The largest amount that one claim on one provider can have."""

    def add(self, inventory: Inventory, used: int) -> None:
        self.capacity += inventory.capacity
        self.reserved += inventory.reserved
        self.used += used
        self.free += inventory.free(used)
        self.largest_free = max(self.largest_free, inventory.largest(used))


@dataclass(slots=True, eq=False)
class ResourceSums:
    by_class: dict[str, ResourceSum] = field(default_factory=dict)
    by_aggregate: dict[tuple[str, str], ResourceSum] = field(default_factory=dict)
    """By the uuid of the aggregate and the class."""


def sum_resources(world: World, *, per_aggregate: bool, pause: Callable[[], object]) -> ResourceSums:
    """Return the sums of all providers. Calls `pause` after each of them."""
    sums = ResourceSums()
    by_class, by_aggregate = sums.by_class, sums.by_aggregate
    for provider in world.providers.values():
        for name, inventory in provider.inventories.items():
            used = provider.used_of(name)
            if name not in by_class:
                by_class[name] = ResourceSum()
            by_class[name].add(inventory, used)
            for aggregate in provider.aggregates if per_aggregate else ():
                if (aggregate, name) not in by_aggregate:
                    by_aggregate[aggregate, name] = ResourceSum()
                by_aggregate[aggregate, name].add(inventory, used)
        pause()
    return sums
