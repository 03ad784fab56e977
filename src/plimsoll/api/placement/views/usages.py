# SPDX-License-Identifier: Apache-2.0

"""Usage of a provider, of an owner, and of an owner by consumer type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.domain.provider import Provider


def of_provider(provider: Provider) -> dict[str, Any]:
    """Show the usage of every resource class that the provider has, also if it is 0."""
    return {
        "resource_provider_generation": provider.generation,
        "usages": {name: provider.used_of(name) for name in provider.inventories},
    }


def of_owner(used: Mapping[str, int]) -> dict[str, Any]:
    return {"usages": used}


def by_type(found: Mapping[str, tuple[int, Mapping[str, int]]]) -> dict[str, Any]:
    return {"usages": {name: {**used, "consumer_count": count} for name, (count, used) in found.items()}}
