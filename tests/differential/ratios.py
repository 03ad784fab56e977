# SPDX-License-Identifier: Apache-2.0

"""Allocation ratios that the database stores in single precision, as MariaDB does.

The reference's searches let SQL calculate with all stored digits; its claims calculate with the six displayed ones.
Only where the two disagree about an amount, a search may find a provider that claims refuse, or miss one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.differential.compare import canonical, multiset
from tests.differential.state import State

InventoryKey = tuple[str, str]  # (provider, class)


def ambiguous_inventories(state: State, requested: list[tuple[str, int]]) -> set[InventoryKey]:
    """Return the inventories where an amount fits by one calculation and not by the other."""
    found = set()
    for (provider, name), have in state.inventories.items():
        left = have.total - have.reserved
        by_sql, by_claims = left * state.ratios[provider, name], have.capacity
        used = state.used(provider, name)
        wanted = [used + amount for resource, amount in requested if resource == name]
        if any((amount <= by_sql) != (amount <= by_claims) for amount in wanted):
            found.add((provider, name))
    return found


def only_ambiguous_candidates_differ(
    expected: dict[str, Any], actual: dict[str, Any], keys: set[InventoryKey]
) -> bool:
    """True if each unmatched candidate uses an ambiguous inventory and the common summaries are equal."""
    summaries = "provider_summaries"
    both = expected[summaries].keys() & actual[summaries].keys()
    if any(canonical(expected[summaries][uuid]) != canonical(actual[summaries][uuid]) for uuid in both):
        return False
    requests = expected["allocation_requests"], actual["allocation_requests"]
    common = multiset(requests[0]) & multiset(requests[1])
    unmatched = [request for side in requests for request in side if not multiset([request]) & common]
    return bool(unmatched) and all(keys & set(used_keys(request)) for request in unmatched)


def only_ambiguous_providers_differ(
    expected: dict[str, Any], actual: dict[str, Any], keys: set[InventoryKey]
) -> bool:
    """True if each provider that only one lists has an ambiguous inventory and the common ones are equal."""
    listed = [
        {each["uuid"]: canonical(each) for each in body["resource_providers"]} for body in (expected, actual)
    ]
    different = {uuid for uuid, _ in listed[0].items() ^ listed[1].items()}
    in_both = listed[0].keys() & listed[1].keys()
    return bool(different) and different <= {provider for provider, _ in keys} - in_both


def used_keys(request: dict[str, Any]) -> Iterator[InventoryKey]:
    for provider, amounts in amounts_of(request):
        yield from ((provider, name) for name in amounts)


def amounts_of(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield (provider, amounts) of a candidate in either of its formats."""
    allocations = request["allocations"]
    if isinstance(allocations, dict):
        yield from ((provider, content["resources"]) for provider, content in allocations.items())
    else:
        yield from ((content["resource_provider"]["uuid"], content["resources"]) for content in allocations)
