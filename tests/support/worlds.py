# SPDX-License-Identifier: Apache-2.0

"""Small worlds for tests of the rules, said in one line each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from rpds import HashTrieMap

from plimsoll.domain.catalog import Catalog, Term
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
        Term(0, "VCPU"),
        Term(1, "MEMORY_MB"),
        Term(2, "DISK_GB"),
        Term(10000, "CUSTOM_GOLD"),
        Term(10001, "CUSTOM_TIN"),
    ]
)
TRAITS = Catalog([Term(1, "HW_CPU_X86_AVX"), Term(2, "CUSTOM_FAST"), Term(3, "MISC_SHARES_VIA_AGGREGATE")])
TYPES = Catalog([Term(1, "INSTANCE")])


def provider(uuid: str, parent: str | None = None, root: str | None = None, **rest: Any) -> Provider:
    """A provider whose name is its uuid; inventories may be given as totals."""
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
    """What a consumer holds: amounts by class, by provider."""
    return Holding(
        Consumer(uuid, "project", "user", type, generation),
        tuple(Allocation(p, name, amount) for p, held in amounts.items() for name, amount in held.items()),
    )


def draft(*providers: Provider, **holdings: Holding) -> Draft:
    return Draft(replace(world(*providers), usages=usages(holdings.values())), NOON, holdings)


def usages(holdings: Iterable[Holding]) -> Usages:
    """The sums of what these hold, made anew."""
    sums: Usages = HashTrieMap()
    for each in holdings:
        sums = with_holding(sums, EXACT.key, each.account, each.allocations + each.strays)
    return sums
