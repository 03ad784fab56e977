# SPDX-License-Identifier: Apache-2.0

"""Sums of capacity and usage over several providers, by resource class."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider


class ClassTotals:
    """Sums of one resource class, to which inventories are added."""

    __slots__ = (
        "capacity",
        "free",
        "largest",
        "providers",
        "reserved",
        "stranded",
        "stranded_by",
        "total",
        "used",
    )

    def __init__(self) -> None:
        self.providers = 0
        """Providers with an inventory of the class."""
        self.total = self.reserved = self.capacity = self.used = self.free = 0
        self.largest = 0
        """The largest amount that a claim on one provider can have."""
        self.stranded = 0
        """The part of `free` on hosts where another class is used up: see `used_up_classes`."""
        self.stranded_by: dict[str, int] = {}
        """The same for each class that is used up. An amount counts for each of them."""

    def add(self, inventory: Inventory, used: int, others_used_up: Collection[str]) -> None:
        """Add an inventory. `others_used_up` has the other classes that are used up on its host."""
        free = inventory.free(used)
        self.providers += 1
        self.total += inventory.total
        self.reserved += inventory.reserved
        self.capacity += inventory.capacity
        self.used += used
        self.free += free
        self.largest = max(self.largest, inventory.largest(used))
        if others_used_up and free:
            self.stranded += free
            for name in others_used_up:
                self.stranded_by[name] = self.stranded_by.get(name, 0) + free

    def merge(self, more: ClassTotals) -> None:
        """Add the sums of other providers."""
        self.providers += more.providers
        self.total += more.total
        self.reserved += more.reserved
        self.capacity += more.capacity
        self.used += more.used
        self.free += more.free
        self.largest = max(self.largest, more.largest)
        self.stranded += more.stranded
        for name, amount in more.stranded_by.items():
            self.stranded_by[name] = self.stranded_by.get(name, 0) + amount


class ProviderTotals:
    """Sums of several providers, by resource class."""

    __slots__ = ("by_class", "providers")

    def __init__(self) -> None:
        self.providers = 0
        self.by_class: dict[str, ClassTotals] = {}

    def add(self, provider: Provider, used_up: frozenset[str]) -> None:
        """Add a provider. `used_up` has the classes that are used up on its host."""
        self.providers += 1
        for name, inventory in provider.inventories.items():
            totals = self.by_class.get(name)
            if totals is None:
                totals = self.by_class[name] = ClassTotals()
            totals.add(inventory, provider.used_of(name), used_up - {name} if used_up else ())

    def merge(self, more: ProviderTotals) -> None:
        self.providers += more.providers
        for name, totals in more.by_class.items():
            if name not in self.by_class:
                self.by_class[name] = ClassTotals()
            self.by_class[name].merge(totals)


def used_up_classes(host: Iterable[Provider]) -> frozenset[str]:
    """Return the classes that are used up on a host, given as all providers of its tree.

    A class is used up if some of it is allocated, and no provider of the tree admits a further claim of any amount.
    """
    allocated: set[str] = set()
    claimable: set[str] = set()
    for provider in host:
        inventories: Mapping[str, Inventory] = provider.inventories
        for name, inventory in inventories.items():
            used = provider.used_of(name)
            if used:
                allocated.add(name)
            if name not in claimable and inventory.largest(used):
                claimable.add(name)
    return frozenset(allocated - claimable)
