# SPDX-License-Identifier: Apache-2.0

"""Allocations: of a consumer, of a provider, of an owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.domain.consumer import ConsumerAllocations, ProviderAllocations

UNKNOWN_TYPE = "unknown"
"""Shown as the type of consumers that were created before types existed."""


def of_consumer(found: ConsumerAllocations, version: Version) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "allocations": {
            provider: {"resources": amounts, "generation": generation}
            for provider, (generation, amounts) in found.by_provider.items()
        }
    }
    consumer = found.consumer
    if not found.by_provider or consumer is None or not version.has(F.KEYED_ALLOCATIONS):
        return shown
    shown["project_id"] = consumer.project
    shown["user_id"] = consumer.user
    if version.has(F.CONSUMER_GENERATION):
        shown["consumer_generation"] = consumer.generation
    if version.has(F.CONSUMER_TYPES):
        shown["consumer_type"] = UNKNOWN_TYPE if consumer.type is None else consumer.type
    return shown


def of_provider(found: ProviderAllocations, version: Version, pause: Callable[[], None]) -> dict[str, Any]:
    with_generation = version.has(F.CONSUMER_GENERATION)
    shown: dict[str, dict[str, Any]] = {}
    for consumer, (generation, amounts) in found.by_consumer.items():
        shown[consumer] = {"resources": amounts}
        if with_generation:
            shown[consumer]["consumer_generation"] = generation
        pause()
    return {"allocations": shown, "resource_provider_generation": found.generation}


def of_owner(found: Iterable[tuple[str, Mapping[str, int]]]) -> dict[str, Any]:
    return {
        "allocations": [
            {"resource_provider": {"uuid": provider}, "resources": amounts} for provider, amounts in found
        ]
    }
