# SPDX-License-Identifier: Apache-2.0

"""Claims: a consumer's allocations are replaced by others, or cleared, one or several consumers at once.

All claims of a request hold together or none does. A provider that is over its line already (its
inventory shrank) may be relieved, never loaded further.
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
    OwnerNotKept,
    Refusal,
    ResourceClassMissing,
    StaleConsumerGeneration,
    UnitsViolated,
)
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World


class _Unguarded(Enum):
    UNGUARDED = "unguarded"


UNGUARDED: Final = _Unguarded.UNGUARDED
"""For clients from before consumer generations: whatever is there is overwritten."""

Guard = int | Literal[_Unguarded.UNGUARDED] | None


@unhashable_value
class Claim:
    """What a consumer is to hold from now on: amounts by provider and class; nothing clears it."""

    consumer: str
    allocations: Mapping[str, Mapping[str, int]]
    project: str | None
    user: str | None
    """The owner. None, from clients too old to name one, is filled in before it is decided."""
    type: str | None = None
    """None keeps the type that the consumer has."""
    guard: Guard = UNGUARDED
    """The generation that the client has seen; None if it expects a new consumer."""

    @property
    def assumes_new(self) -> bool:
        """Whether the consumer need not be looked up: recording a consumer that exists fails in the database.

        A claim of nothing records nothing, so that only a lookup can find that the consumer exists.
        """
        return self.guard is None and bool(self.allocations)


Move = tuple[Claim, tuple[Allocation, ...], Holding]
"""A claim, what is wanted by it, and what its consumer holds so far."""


def claim(draft: Draft, claims: Iterable[Claim]) -> Refusal | None:
    """Decides the claims of one request: all or none."""
    moves = moves_of(draft, claims)
    return check_parties(draft, moves) or settle(draft, moves)


def moves_of(draft: Draft, claims: Iterable[Claim]) -> list[Move]:
    moves = []
    for each in claims:
        moves.append((each, _wanted(draft.world, each), draft.holding(each.consumer)))
        draft.pause()
    return moves


def _wanted(world: World, claim: Claim) -> tuple[Allocation, ...]:
    """Of providers as they are kept: the database may know them in another spelling."""
    allocations = claim.allocations
    for uuid in allocations:
        if uuid not in world.providers:
            allocations = _on_kept(world, allocations)
            break
    return tuple(
        [
            Allocation(provider, resource_class, amount)
            for provider, resources in allocations.items()
            for resource_class, amount in resources.items()
        ]
    )


def _on_kept(world: World, allocations: Mapping[str, Mapping[str, int]]) -> Mapping[str, Mapping[str, int]]:
    kept: dict[str, dict[str, int]] = {}
    for uuid, amounts in allocations.items():
        provider = world.provider(uuid)
        wanted = kept.setdefault(uuid if provider is None else provider.uuid, {})
        for name, amount in amounts.items():
            wanted[name] = wanted.get(name, 0) + amount
    return kept


def check_parties(draft: Draft, moves: Sequence[Move]) -> Refusal | None:
    """Are the consumers as the client saw them, and do the providers exist?"""
    world, seen = draft.world, set()
    key_of, keeps = world.keeping.key, world.keeping.keeps
    for each, _, holding in moves:
        if not (keeps(each.project or "") and keeps(each.user or "")):
            return OwnerNotKept(each.consumer)  # also of who lets go, whose owner would not be written
        actual = None if holding.consumer is None else holding.consumer.generation
        if each.guard is not UNGUARDED and each.guard != actual:
            return StaleConsumerGeneration(each.consumer, actual, each.guard)
        # In another spelling, the consumer of a claim before this one: that has changed it meanwhile.
        key = key_of(each.consumer)
        if key in seen:
            return StaleConsumerGeneration(each.consumer, (actual or 0) + 1, actual)
        seen.add(key)
        draft.pause()
    for _, wants, _ in moves:
        for uuid, _, _ in wants:
            if uuid not in world.providers:
                return ClaimOnMissingProvider(uuid)
        draft.pause()
    return None


def settle(draft: Draft, moves: Sequence[Move]) -> Refusal | None:
    """Checks what is claimed against what is there, and writes it down."""
    wanted: list[Allocation] = []
    held: list[Allocation] = []
    released: list[Allocation] = []
    for _, wants, holding in moves:
        wanted += wants
        held += holding.allocations
        if not wants:
            released += holding.allocations
        draft.pause()
    providers, classes = _in_play(draft.world, wanted + released)
    draft.pause()
    refusal = _check_amounts(draft, providers, classes, wanted, held)
    if refusal is not None:
        return refusal
    for each, wants, holding in moves:
        _write(draft, each, wants, holding)
    for uuid in providers:
        draft.raise_generation(uuid)
    return None


def release(draft: Draft, consumer: str) -> Refusal | None:
    """Lets go of all that a consumer holds, and forgets the consumer. Generations stay as they are."""
    holding = draft.holding(consumer)
    if holding.consumer is None or not holding.allocations:
        return AllocationsMissing(consumer)
    _replace_allocations(draft, holding.consumer.uuid, holding, ())
    draft.add(ConsumerRemoved(holding.consumer.uuid))
    return None


def _in_play(world: World, allocations: list[Allocation]) -> tuple[dict[str, Provider], dict[str, None]]:
    """The providers of these, as far as they are there, and the classes, in the order in which they are named."""
    there = world.providers
    providers: dict[str, Provider] = {}
    classes: dict[str, None] = {}
    for uuid, resource_class, _ in allocations:
        classes[resource_class] = None
        if uuid not in providers and uuid in there:
            providers[uuid] = there[uuid]
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
    strangers = [uuid for uuid, each in providers.items() if classes.keys().isdisjoint(each.inventories)]
    if strangers:
        return NoSuchInventory(tuple(strangers), tuple(classes))
    changes: dict[tuple[str, str], int] = {}
    for uuid, resource_class, amount in held:
        key = uuid, resource_class
        changes[key] = changes.get(key, 0) - amount
    for uuid, resource_class, amount in wanted:
        provider = providers[uuid]
        inventory = provider.inventories.get(resource_class)
        if inventory is None:
            return NoSuchInventory((uuid,), (resource_class,))
        if not inventory.cuts(amount):
            return UnitsViolated(
                uuid, resource_class, amount, inventory.min_unit, inventory.max_unit, inventory.step_size
            )
        key = uuid, resource_class
        change = changes[key] = changes.get(key, 0) + amount
        used = provider.used.get(resource_class, 0) + change
        if change > 0 and used > inventory.capacity:
            return CapacityExceeded(
                uuid, provider.name, resource_class, amount, used - amount, inventory.capacity
            )
        draft.pause()
    return None


def _write(draft: Draft, each: Claim, wanted: tuple[Allocation, ...], holding: Holding) -> None:
    if not wanted and holding == EMPTY_HOLDING:
        return  # a consumer is recorded for as long as it has allocations: this one has none, and had none
    if each.type is not None and each.type not in draft.world.consumer_types.by_name:
        draft.add(ConsumerTypeAdded(each.type, draft.now, draft.world.consumer_types.next_id))
    known = holding.consumer
    moves = bool(wanted or holding.allocations)
    after = None if not wanted and (moves or known is None) else _consumer_after(each, known, raised=moves)
    uuid = each.consumer if known is None else known.uuid
    if moves or holding.strays:
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
            before=holding.allocations + holding.strays,
            after=wanted,
            account_before=holding.account,
            account_after=None if after is None else after.account,
        )
    )
