# SPDX-License-Identifier: Apache-2.0

"""Allocations: what consumers hold, claimed, shown and let go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.domain.actor import Actor
from plimsoll.domain.consumer import ConsumerAllocations, ProviderAllocations
from plimsoll.domain.refusals import ProviderMissing, Refusal
from plimsoll.domain.rules import allocations as rules
from plimsoll.domain.rules.allocations import Claim
from plimsoll.ledger import holdings
from plimsoll.service.placement import Placement, nothing


def of_consumer(placement: Placement, uuid: str) -> ConsumerAllocations:
    return holdings.of_consumer(placement.ledger, uuid)


def of_provider(placement: Placement, uuid: str) -> ProviderAllocations | ProviderMissing:
    ledger = placement.ledger
    provider = ledger.newest.world.provider(uuid)
    known = None if provider is None else ledger.last_found.of(provider)
    if known is not None and placement.world().provider(uuid) is provider:
        return known
    found = holdings.of_provider(ledger, uuid)
    if found is not None and provider is not None:
        ledger.last_found.keep(provider, found)
    return found or ProviderMissing(uuid)


def of_owner(placement: Placement, project: str, user: str | None) -> list[tuple[str, dict[str, int]]]:
    """What each consumer of a project, or of one user in it, holds of each provider."""
    return holdings.of_owner(placement.ledger, project, user)


def claim(placement: Placement, actor: Actor, claims: Sequence[Claim]) -> Refusal | None:
    """Several consumers get what they claim, or none of them does."""
    owned = [with_owner(placement, each) for each in claims]
    return placement.write(
        "allocations.claim",
        actor,
        lambda draft: rules.claim(draft, owned),
        then=nothing,
        claims=owned,
    )


def with_owner(placement: Placement, claim: Claim) -> Claim:
    """A claim of a client too old to name an owner gets the one that the operator has set for these."""
    if claim.project is not None and claim.user is not None:
        return claim
    settings = placement.settings
    return replace(claim, project=settings.incomplete_project, user=settings.incomplete_user)


def release(placement: Placement, actor: Actor, consumer: str) -> Refusal | None:
    return placement.write(
        "allocations.release",
        actor,
        lambda draft: rules.release(draft, consumer),
        then=nothing,
        claims=(Claim(consumer, {}, None, None),),
    )
