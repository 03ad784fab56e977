# SPDX-License-Identifier: Apache-2.0

"""What becomes of ratios that the database keeps in single precision, as MariaDB does.

The reference's searches let SQL reckon with all the digits that are kept; its claims reckon with the six that
are shown. Where the two disagree about an amount, a search may find or miss a provider, and only there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.differential.compare import bag, canonical
from tests.differential.state import State

Place = tuple[str, str]  # (provider, class)


def disputed(state: State, asked: list[tuple[str, int]]) -> set[Place]:
    """Where one of the amounts fits by one reckoning and does not by the other."""
    found = set()
    for (provider, name), have in state.inventories.items():
        left = have.total - have.reserved
        by_sql, by_claims = left * state.ratios[provider, name], have.capacity
        used = state.used(provider, name)
        wanted = [used + amount for resource, amount in asked if resource == name]
        if any((amount <= by_sql) != (amount <= by_claims) for amount in wanted):
            found.add((provider, name))
    return found


def only_disputed_candidates_differ(there: dict[str, Any], here: dict[str, Any], places: set[Place]) -> bool:
    """Each candidate that one of the two lacks uses a disputed place, and what both summarise is the same."""
    summaries = "provider_summaries"
    both = there[summaries].keys() & here[summaries].keys()
    if any(canonical(there[summaries][uuid]) != canonical(here[summaries][uuid]) for uuid in both):
        return False
    requests = there["allocation_requests"], here["allocation_requests"]
    common = bag(requests[0]) & bag(requests[1])
    further = [request for side in requests for request in side if not bag([request]) & common]
    return bool(further) and all(places & set(used_places(request)) for request in further)


def only_disputed_providers_differ(there: dict[str, Any], here: dict[str, Any], places: set[Place]) -> bool:
    """Each provider that one of the two does not list has a disputed place, and what both list is the same."""
    listed = [
        {each["uuid"]: canonical(each) for each in body["resource_providers"]} for body in (there, here)
    ]
    different = {uuid for uuid, _ in listed[0].items() ^ listed[1].items()}
    in_both = listed[0].keys() & listed[1].keys()
    return bool(different) and different <= {provider for provider, _ in places} - in_both


def used_places(request: dict[str, Any]) -> Iterator[Place]:
    for provider, amounts in amounts_of(request):
        yield from ((provider, name) for name in amounts)


def amounts_of(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, int]]]:
    """The (provider, amounts) of a candidate in either of its shapes."""
    allocations = request["allocations"]
    if isinstance(allocations, dict):
        yield from ((provider, content["resources"]) for provider, content in allocations.items())
    else:
        yield from ((content["resource_provider"]["uuid"], content["resources"]) for content in allocations)
