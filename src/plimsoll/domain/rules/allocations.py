# SPDX-License-Identifier: Apache-2.0

"""Claims: replace or clear the allocations of one or several consumers.

All claims of a request are granted, or none. On an over-allocated provider (its inventory was reduced), a claim may
lower the usage but not raise it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, Literal

from plimsoll.domain.consumer import EMPTY_HOLDING, Allocation, Consumer, Holding
from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import (
    AllocationsReplaced,
    ConsumerAdded,
    ConsumerChanged,
    ConsumerRemoved,
    ConsumerTypeAdded,
)
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import (
    AllocationsMissing,
    CapacityExceeded,
    ClaimOnMissingProvider,
    NoSuchInventory,
    OwnerNotStorable,
    Refusal,
    ResourceClassMissing,
    StaleConsumerGeneration,
    UnitsViolated,
)
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World


class _AnyGeneration(Enum):
    ANY_GENERATION = "unguarded"


ANY_GENERATION: Final = _AnyGeneration.ANY_GENERATION
"""For microversions before consumer generations: the claim replaces any state of the consumer."""

ExpectedGeneration = int | Literal[_AnyGeneration.ANY_GENERATION] | None


@unhashable_value
class Claim:
    """The new allocations of a consumer: amounts by provider and class. An empty mapping clears them."""

    consumer: str
    allocations: Mapping[str, Mapping[str, int]]
    project: str | None
    user: str | None
    """The owner. Old microversions send none; the service then fills in project and user before the decision."""
    type: str | None = None
    """None keeps the current type of the consumer."""
    expected_generation: ExpectedGeneration = ANY_GENERATION
    """The consumer generation that the client expects; None if it expects a new consumer."""

    @property
    def assumes_new(self) -> bool:
        """Whether the lookup of the consumer can be skipped: inserting an existing consumer fails in the database.

        A claim without allocations inserts no consumer, so it needs the lookup.
        """
        return self.expected_generation is None and bool(self.allocations)


ResolvedClaim = tuple[Claim, tuple[Allocation, ...], Holding]
"""A claim, its allocations with stored provider uuids, and the current holding of its consumer."""


def claim(draft: Draft, claims: Iterable[Claim]) -> Refusal | None:
    """Decide the claims of one request: all or none."""
    resolved = resolve_claims(draft, claims)
    return check_preconditions(draft, resolved) or apply_claims(draft, resolved)


def resolve_claims(draft: Draft, claims: Iterable[Claim]) -> list[ResolvedClaim]:
    """Return each claim with its allocations and the current holding of its consumer."""
    resolved = []
    for each in claims:
        resolved.append((each, _wanted(draft.world, each), draft.holding(each.consumer)))
        draft.pause()
    return resolved


def _wanted(world: World, claim: Claim) -> tuple[Allocation, ...]:
    """Return the claimed allocations with provider uuids as stored; the client may use another spelling."""
    allocations = claim.allocations
    for uuid in allocations:
        if uuid not in world.providers:
            allocations = _with_stored_uuids(world, allocations)
            break
    return tuple(
        [
            Allocation(provider, resource_class, amount)
            for provider, resources in allocations.items()
            for resource_class, amount in resources.items()
        ]
    )


def _with_stored_uuids(
    world: World, allocations: Mapping[str, Mapping[str, int]]
) -> Mapping[str, Mapping[str, int]]:
    stored: dict[str, dict[str, int]] = {}
    for uuid, amounts in allocations.items():
        provider = world.provider(uuid)
        wanted = stored.setdefault(uuid if provider is None else provider.uuid, {})
        for name, amount in amounts.items():
            wanted[name] = wanted.get(name, 0) + amount
    return stored


def check_preconditions(draft: Draft, resolved: Sequence[ResolvedClaim]) -> Refusal | None:
    """Check that consumers have the expected generations and that all providers exist."""
    world, claimed_keys = draft.world, set()
    key_of, can_store = world.semantics.key, world.semantics.can_store
    for each, _, holding in resolved:
        if not (can_store(each.project or "") and can_store(each.user or "")):
            # Also if the claim clears the consumer and would write no owner.
            return OwnerNotStorable(each.consumer)
        actual = None if holding.consumer is None else holding.consumer.generation
        if each.expected_generation is not ANY_GENERATION and each.expected_generation != actual:
            return StaleConsumerGeneration(each.consumer, actual, each.expected_generation)
        # An earlier claim of this request has the same consumer, in another spelling, and raised its generation.
        key = key_of(each.consumer)
        if key in claimed_keys:
            return StaleConsumerGeneration(each.consumer, (actual or 0) + 1, actual)
        claimed_keys.add(key)
        draft.pause()
    for _, wants, _ in resolved:
        for uuid, _, _ in wants:
            if uuid not in world.providers:
                return ClaimOnMissingProvider(uuid)
        draft.pause()
    return None


def apply_claims(draft: Draft, resolved: Sequence[ResolvedClaim]) -> Refusal | None:
    """Check the amounts against inventories and usage, and add the effects."""
    wanted: list[Allocation] = []
    held: list[Allocation] = []
    released: list[Allocation] = []
    for _, wants, holding in resolved:
        wanted += wants
        held += holding.allocations
        if not wants:
            released += holding.allocations
        draft.pause()
    providers, classes = _affected(draft.world, wanted + released)
    draft.pause()
    if refusal := _check_amounts(draft, providers, classes, wanted, held):
        return refusal
    for each, wants, holding in resolved:
        _add_effects(draft, each, wants, holding)
    for uuid in providers:
        draft.raise_generation(uuid)
    return None


def release(draft: Draft, consumer: str) -> Refusal | None:
    """Remove all allocations of a consumer, and the consumer. Does not raise provider generations."""
    holding = draft.holding(consumer)
    if holding.consumer is None or not holding.allocations:
        return AllocationsMissing(consumer)
    _replace_allocations(draft, holding.consumer.uuid, holding, ())
    draft.add(ConsumerRemoved(holding.consumer.uuid))
    return None


def _affected(world: World, allocations: list[Allocation]) -> tuple[dict[str, Provider], dict[str, None]]:
    """Return the existing providers and the classes of these allocations, in the order of first use."""
    existing = world.providers
    providers: dict[str, Provider] = {}
    classes: dict[str, None] = {}
    for uuid, resource_class, _ in allocations:
        classes[resource_class] = None
        if uuid not in providers and uuid in existing:
            providers[uuid] = existing[uuid]
    return providers, classes


def _check_amounts(
    draft: Draft,
    providers: Mapping[str, Provider],
    classes: dict[str, None],
    wanted: list[Allocation],
    held: list[Allocation],
) -> Refusal | None:
    if not wanted:
        return None
    known = draft.world.classes.by_name
    for _, resource_class, _ in wanted:
        if resource_class not in known:
            return ResourceClassMissing(resource_class)
    draft.pause()
    without_inventory = [
        uuid for uuid, each in providers.items() if classes.keys().isdisjoint(each.inventories)
    ]
    if without_inventory:
        return NoSuchInventory(tuple(without_inventory), tuple(classes))
    changes: dict[tuple[str, str], int] = {}
    for uuid, resource_class, amount in held:
        key = uuid, resource_class
        changes[key] = changes.get(key, 0) - amount
    for uuid, resource_class, amount in wanted:
        provider = providers[uuid]
        inventory = provider.inventories.get(resource_class)
        if inventory is None:
            return NoSuchInventory((uuid,), (resource_class,))
        key = uuid, resource_class
        used = provider.used.get(resource_class, 0) + changes.get(key, 0)
        change = changes[key] = changes.get(key, 0) + amount
        if not inventory.admits(amount, used):
            if not inventory.allows_amount(amount):
                return UnitsViolated(
                    uuid, resource_class, amount, inventory.min_unit, inventory.max_unit, inventory.step_size
                )
            if change > 0:  # a claim that does not raise the usage is granted, whatever the capacity
                return CapacityExceeded(uuid, provider.name, resource_class, amount, used, inventory.capacity)
        draft.pause()
    return None


def _add_effects(draft: Draft, each: Claim, wanted: tuple[Allocation, ...], holding: Holding) -> None:
    if not wanted and holding == EMPTY_HOLDING:
        return  # a consumer without allocations is not stored: there is nothing to add or remove
    if each.type is not None and each.type not in draft.world.consumer_types.by_name:
        draft.add(ConsumerTypeAdded(each.type, draft.now, draft.world.consumer_types.next_id))
    known = holding.consumer
    changed = bool(wanted or holding.allocations)
    removed = not wanted and (changed or known is None)
    after = None if removed else _consumer_after(each, known, raised=changed)
    uuid = each.consumer if known is None else known.uuid
    if changed or holding.orphans:
        _replace_allocations(draft, uuid, holding, wanted, after)
    if known is None and after is not None:
        draft.add(ConsumerAdded(after, draft.now))
    elif known is not None and after is None:
        draft.add(ConsumerRemoved(uuid))
    elif after is not None and after != known:
        draft.add(ConsumerChanged(after, draft.now))


def _consumer_after(each: Claim, known: Consumer | None, *, raised: bool) -> Consumer:
    assert each.project is not None
    assert each.user is not None
    if known is None:
        return Consumer(each.consumer, each.project, each.user, each.type, int(raised))
    type_ = known.type if each.type is None else each.type
    return Consumer(known.uuid, each.project, each.user, type_, known.generation + raised)


def _replace_allocations(
    draft: Draft, uuid: str, holding: Holding, wanted: tuple[Allocation, ...], after: Consumer | None = None
) -> None:
    draft.add(
        AllocationsReplaced(
            uuid,
            before=holding.allocations + holding.orphans,
            after=wanted,
            account_before=holding.account,
            account_after=None if after is None else after.account,
        )
    )
