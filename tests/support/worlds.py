# SPDX-License-Identifier: Apache-2.0

"""Builders of small domain objects for tests of the rules, one call each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from rpds import HashTrieMap

from plimsoll.domain.catalog import Catalog, CatalogEntry
from plimsoll.domain.consumer import Allocation, Consumer, Holding
from plimsoll.domain.database_semantics import EXACT
from plimsoll.domain.draft import Draft
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.usage import Usages, with_holding
from plimsoll.domain.world import World

NOON = datetime(2026, 1, 1, 12)

CLASSES = Catalog(
    [
        CatalogEntry(0, "VCPU"),
        CatalogEntry(1, "MEMORY_MB"),
        CatalogEntry(2, "DISK_GB"),
        CatalogEntry(10000, "CUSTOM_GOLD"),
        CatalogEntry(10001, "CUSTOM_TIN"),
    ]
)
TRAITS = Catalog(
    [
        CatalogEntry(1, "HW_CPU_X86_AVX"),
        CatalogEntry(2, "CUSTOM_FAST"),
        CatalogEntry(3, "MISC_SHARES_VIA_AGGREGATE"),
    ]
)
TYPES = Catalog([CatalogEntry(1, "INSTANCE")])


def provider(uuid: str, parent: str | None = None, root: str | None = None, **rest: Any) -> Provider:
    """Return a provider whose name is its uuid; inventories may be given as totals."""
    inventories = {
        name: inv if isinstance(inv, Inventory) else Inventory(total=inv)
        for name, inv in rest.pop("inventories", {}).items()
    }
    return Provider(
        id=sum(map(ord, uuid)),
        uuid=uuid,
        name=rest.pop("name", uuid),
        parent=parent,
        root=root or parent or uuid,
        inventories=inventories,
        **rest,
    )


def world(*providers: Provider) -> World:
    return World.of(providers, classes=CLASSES, traits=TRAITS, consumer_types=TYPES)


def holding(uuid: str, generation: int = 1, type: str | None = None, **amounts: dict[str, int]) -> Holding:  # noqa: A002
    """Return a consumer with allocations: `amounts` maps each provider to amounts by class."""
    return Holding(
        Consumer(uuid, "project", "user", type, generation),
        tuple(Allocation(p, name, amount) for p, held in amounts.items() for name, amount in held.items()),
    )


def draft(*providers: Provider, **holdings: Holding) -> Draft:
    return Draft(replace(world(*providers), usages=usages(holdings.values())), NOON, holdings)


def usages(holdings: Iterable[Holding]) -> Usages:
    """Return the usage sums of these consumers, computed from their allocations."""
    sums: Usages = HashTrieMap()
    for each in holdings:
        sums = with_holding(sums, EXACT.key, each.account, each.allocations + each.orphans)
    return sums
