# SPDX-License-Identifier: Apache-2.0

"""A provider of resources: a host, a NUMA node, a device, a storage pool.

Providers are immutable; a change makes a new object. `used` holds sums, not single allocations, so memory does not
grow with the number of consumers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from functools import lru_cache

from plimsoll.domain.catalog import CUSTOM_PREFIX
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.values import unhashable_value

SHARING_TRAIT = "MISC_SHARES_VIA_AGGREGATE"
"""A sharing provider has this trait: it can serve every tree with which it has a common aggregate."""
DISABLED_TRAIT = "COMPUTE_STATUS_DISABLED"
"""Nova starts no instance on a host with this trait, and forbids it in its searches."""

_NOTHING: Mapping[str, int] = {}
_NO_INVENTORIES: Mapping[str, Inventory] = {}


@unhashable_value
class Provider:
    """One provider with all data that searches and claims need."""

    id: int
    uuid: str
    name: str
    root: str
    parent: str | None = None
    generation: int = 0
    inventories: Mapping[str, Inventory] = field(default_factory=lambda: _NO_INVENTORIES)
    used: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    """Sum of the allocations by class; a class without allocations is absent."""
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()
    modified_at: datetime | None = field(default=None, compare=False)

    def listed_traits(self) -> tuple[str, ...]:
        """Return the traits in a stable order: standard traits first, then by name."""
        return _in_order(self.traits)

    def used_of(self, resource_class: str) -> int:
        return self.used.get(resource_class, 0)

    @property
    def is_empty(self) -> bool:
        """Whether no consumer has an allocation of this provider."""
        return not any(self.used.values())

    @property
    def is_over_full(self) -> bool:
        """Whether more of some class is allocated than its capacity: inventories may shrink below their usage."""
        inventories = self.inventories
        return any(
            amount > (inventories[name].capacity if name in inventories else 0)
            for name, amount in self.used.items()
        )


@lru_cache(maxsize=4096)  # many providers have the same traits
def _in_order(traits: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(traits, key=lambda name: (name.startswith(CUSTOM_PREFIX), name)))
