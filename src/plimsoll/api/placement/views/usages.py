# SPDX-License-Identifier: Apache-2.0

"""Usage: of a provider, of an owner, of an owner by type of consumer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.domain.provider import Provider


def of_provider(provider: Provider) -> dict[str, Any]:
    """Everything the provider has, used or not."""
    return {
        "resource_provider_generation": provider.generation,
        "usages": {name: provider.used_of(name) for name in provider.inventories},
    }


def of_owner(used: Mapping[str, int]) -> dict[str, Any]:
    return {"usages": used}


def by_type(found: Mapping[str, tuple[int, Mapping[str, int]]]) -> dict[str, Any]:
    return {"usages": {name: {**used, "consumer_count": count} for name, (count, used) in found.items()}}
