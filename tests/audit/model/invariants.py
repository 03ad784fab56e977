# SPDX-License-Identifier: Apache-2.0

"""Invariants of every state and every step, computed from the single allocations alone.

The rules of the model never violate them. A violation is a bug in the model, which then proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.audit.model.state import State


def violations_in(state: State) -> Iterator[str]:
    """Yield sums that differ from the allocations, and allocations without an inventory."""
    sums: Counter[tuple[str, str]] = Counter()
    for uuid, consumer in state.consumers.items():
        for provider, resource_class, amount in consumer.holds:
            sums[provider, resource_class] += amount
            if provider not in state.providers or not state.providers[provider].has(resource_class):
                yield f"consumer {uuid} holds {resource_class} of provider {provider}, which has no such inventory"
    stored = {
        (uuid, resource_class): amount
        for uuid, provider in state.providers.items()
        for resource_class, amount in provider.used
    }
    if stored != dict(sums):
        yield f"the stored sums {stored} differ from the sums of the allocations {dict(sums)}"


def violations_by_step(before: State, after: State) -> Iterator[str]:
    """Yield capacities that this step exceeded, and generations that it changed wrongly."""
    for uuid, provider in after.providers.items():
        old = before.providers.get(uuid)
        if old is provider:
            continue
        if old is not None and provider.generation < old.generation:
            yield f"the generation of provider {uuid} went from {old.generation} to {provider.generation}"
        for resource_class, amount in provider.used:
            inventory = provider.inventory(resource_class)
            capacity = 0 if inventory is None else inventory.capacity
            if amount > capacity and amount > (0 if old is None else old.used_of(resource_class)):
                yield f"provider {uuid} has usage {amount} of {resource_class}, above its capacity {capacity}"
    for uuid, consumer in after.consumers.items():
        old_consumer = before.consumers.get(uuid)
        if old_consumer is consumer:
            continue
        if old_consumer is not None and consumer.generation not in (
            old_consumer.generation,
            old_consumer.generation + 1,
        ):
            yield f"the generation of consumer {uuid} went from {old_consumer.generation} to {consumer.generation}"
