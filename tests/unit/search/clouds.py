# SPDX-License-Identifier: Apache-2.0

"""Helpers for search tests: small clouds and requests in one line each, results as short texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.domain.catalog import Catalog, CatalogEntry
from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.domain.world import World
from plimsoll.search.budget import Budget
from plimsoll.search.find import find_candidates
from plimsoll.search.index.index import Index
from plimsoll.search.request import CandidatesRequest, Conditions, Group, Order
from plimsoll.search.result import Candidate, Candidates
from tests.support.worlds import provider

CLASSES = Catalog(
    CatalogEntry(number, name) for number, name in enumerate(["VCPU", "MEMORY_MB", "DISK_GB", "PCI"])
)
TRAITS = Catalog(
    CatalogEntry(number, name) for number, name in enumerate(["FAST", "BIG", "RED", "BLUE", SHARING_TRAIT])
)


def amounts(text: str) -> dict[str, int]:
    """Parse `VCPU:1 DISK_GB:5`."""
    pairs = (item.split(":") for item in text.split())
    return {name: int(amount) for name, amount in pairs}


def any_of(text: str) -> tuple[frozenset[str], ...]:
    """Parse `A B|C`: A, and one of B and C."""
    return tuple(frozenset(item.split("|")) for item in text.split())


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def host(uuid: str, has: str = "", traits: str = "", aggs: str = "", used: str = "", **rest: Any) -> Provider:
    inventories = rest.pop("inventories", amounts(has))
    return provider(
        uuid,
        inventories=inventories,
        traits=names(traits),
        aggregates=names(aggs),
        used=amounts(used),
        **rest,
    )


def pool(uuid: str, has: str, aggs: str, traits: str = "", **rest: Any) -> Provider:
    return host(uuid, has, f"{traits} {SHARING_TRAIT}", aggs, **rest)


def group(
    resources: str,
    suffix: str = "",
    required: str = "",
    forbidden: str = "",
    member_of: str = "",
    not_member_of: str = "",
    in_tree: str | None = None,
) -> Group:
    conditions = Conditions(
        any_of(required), names(forbidden), any_of(member_of), names(not_member_of), in_tree
    )
    return Group(suffix, amounts(resources), conditions)


def allocations_of(candidate: Candidate) -> str:
    """Format the allocations as `a VCPU:1 + b DISK_GB:5`."""
    return " + ".join(
        " ".join([uuid, *(f"{name}:{amount}" for name, amount in sorted(resources.items()))])
        for uuid, resources in sorted(candidate.allocations)
    )


def mappings_of(candidate: Candidate) -> str:
    """Format the mappings as `=a,b _1=c`."""
    return " ".join(f"{suffix}={','.join(sorted(uuids))}" for suffix, uuids in sorted(candidate.mappings))


class Cloud:
    def __init__(self, *providers: Provider) -> None:
        self.world = World.of(providers, classes=CLASSES, traits=TRAITS)
        self.index = Index.build(providers)

    def search(
        self, *groups: Group, order: Order | None = None, budget: Budget | None = None, **rest: Any
    ) -> Any:
        """Return the candidates or a refusal."""
        request = CandidatesRequest(groups, **rest)
        return find_candidates(self.world, self.index, request, order or Order(), budget)

    def candidates(self, *groups: Group, **rest: Any) -> Candidates:
        found = self.search(*groups, **rest)
        assert isinstance(found, Candidates), found
        return found

    def allocations_of(self, *groups: Group, **rest: Any) -> list[str]:
        return sorted(map(allocations_of, self.candidates(*groups, **rest).requests))

    def mappings_of(self, *groups: Group, **rest: Any) -> list[str]:
        return sorted(map(mappings_of, self.candidates(*groups, **rest).requests))

    def summaries_of(self, *groups: Group, **rest: Any) -> list[str]:
        return uuids(self.candidates(*groups, **rest).providers)


def uuids(providers: Iterable[Provider]) -> list[str]:
    return sorted(provider.uuid for provider in providers)
