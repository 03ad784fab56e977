# SPDX-License-Identifier: Apache-2.0

"""Allocations: read, claim and release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.domain.actor import Actor
from plimsoll.domain.consumer import ConsumerAllocations, ProviderAllocations
from plimsoll.domain.refusals import ProviderMissing, Refusal
from plimsoll.domain.rules import allocations as rules
from plimsoll.domain.rules.allocations import Claim
from plimsoll.ledger import holdings
from plimsoll.service.placement import Placement, no_result


def of_consumer(placement: Placement, uuid: str) -> ConsumerAllocations:
    return holdings.of_consumer(placement.ledger, uuid)


def of_provider(placement: Placement, uuid: str) -> ProviderAllocations | ProviderMissing:
    """Return the allocations on a provider: from the cache while the provider is unchanged, else from SQL."""
    ledger = placement.ledger
    provider = ledger.newest.world.provider(uuid)
    cached = None if provider is None else ledger.allocation_cache.get(provider)
    if cached is not None and placement.world().provider(uuid) is provider:
        return cached
    found = holdings.of_provider(ledger, uuid)
    if found is not None and provider is not None:
        ledger.allocation_cache.put(provider, found)
    return found or ProviderMissing(uuid)


def of_owner(placement: Placement, project: str, user: str | None) -> list[tuple[str, dict[str, int]]]:
    """Return the allocations of each consumer of a project, or of one user in it, per provider."""
    return holdings.of_owner(placement.ledger, project, user)


def claim(placement: Placement, actor: Actor, claims: Sequence[Claim]) -> Refusal | None:
    """Replace the allocations of several consumers: all or none."""
    owned = [with_owner(placement, each) for each in claims]
    refusal = placement.write(
        "allocations.claim", actor, lambda draft: rules.claim(draft, owned), then=no_result, claims=owned
    )
    placement.metrics.claims_done(len(owned), refusal)
    return refusal


def with_owner(placement: Placement, claim: Claim) -> Claim:
    """Return the claim with an owner: for clients too old to send one, the owner from the settings."""
    if claim.project is not None and claim.user is not None:
        return claim
    settings = placement.settings
    return replace(claim, project=settings.incomplete_project, user=settings.incomplete_user)


def release(placement: Placement, actor: Actor, consumer: str) -> Refusal | None:
    return placement.write(
        "allocations.release",
        actor,
        lambda draft: rules.release(draft, consumer),
        then=no_result,
        claims=(Claim(consumer, {}, None, None),),
    )
