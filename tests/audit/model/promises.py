# SPDX-License-Identifier: Apache-2.0

"""What must hold in every world and at every step, counted from the single allocations and nothing else.

The rules of the model should never break it. If they did, the model would be wrong and prove nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.audit.model.world import World


def broken_in(world: World) -> Iterator[str]:
    """Sums that do not agree with the allocations, and allocations of what is not there."""
    sums: Counter[tuple[str, str]] = Counter()
    for uuid, consumer in world.consumers.items():
        for provider, resource_class, amount in consumer.holds:
            sums[provider, resource_class] += amount
            if provider not in world.providers or not world.providers[provider].has(resource_class):
                yield f"consumer {uuid} holds {resource_class} of provider {provider}, which has none"
    kept = {
        (uuid, resource_class): amount
        for uuid, provider in world.providers.items()
        for resource_class, amount in provider.used
    }
    if kept != dict(sums):
        yield f"the sums {kept} are not those of the allocations, {dict(sums)}"


def broken_by(before: World, after: World) -> Iterator[str]:
    """Lines overstepped, and generations that went anywhere but up."""
    for uuid, provider in after.providers.items():
        old = before.providers.get(uuid)
        if old is provider:
            continue
        if old is not None and provider.generation < old.generation:
            yield f"the generation of provider {uuid} went from {old.generation} to {provider.generation}"
        for resource_class, amount in provider.used:
            inventory = provider.inventory(resource_class)
            line = 0 if inventory is None else inventory.line
            if amount > line and amount > (0 if old is None else old.used_of(resource_class)):
                yield f"provider {uuid} is loaded with {amount} {resource_class}, its line is at {line}"
    for uuid, consumer in after.consumers.items():
        known = before.consumers.get(uuid)
        if known is consumer:
            continue
        if known is not None and consumer.generation not in (known.generation, known.generation + 1):
            yield f"the generation of consumer {uuid} went from {known.generation} to {consumer.generation}"
