# SPDX-License-Identifier: Apache-2.0

"""Reshapes: inventories move between providers, and the allocations on them move along, at once.

Nothing can be claimed that is not there, and nothing can be removed that is in use; so the new
inventories are set beside the old ones, the claims are settled, and what is no longer wanted is removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.domain.claims import Claim, check_parties, settle
from plimsoll.domain.draft import Draft
from plimsoll.domain.inventories import put_inventories
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.refusals import Refusal


@dataclass(frozen=True, slots=True)
class NewInventories:
    """All that a provider is to have, and the generation that the client has seen."""

    generation: int
    inventories: Mapping[str, Inventory]


@dataclass(frozen=True, slots=True)
class Reshape:
    inventories: Mapping[str, NewInventories]
    claims: tuple[Claim, ...]


def reshape(draft: Draft, request: Reshape) -> Refusal | None:
    """Decides a reshape: all of it or nothing."""
    for uuid, new in request.inventories.items():
        provider = draft.world.provider_as_seen(uuid, new.generation)
        if isinstance(provider, Refusal):
            return provider
    return (
        check_parties(draft, request.claims)
        or _widen(draft, request)
        or settle(draft, request.claims)
        or _narrow(draft, request)
    )


def _widen(draft: Draft, request: Reshape) -> Refusal | None:
    for uuid, new in request.inventories.items():
        if new.inventories:
            kept = draft.world.providers[uuid].inventories
            refusal = put_inventories(draft, uuid, {**kept, **new.inventories})
            if refusal is not None:
                return refusal
    return None


def _narrow(draft: Draft, request: Reshape) -> Refusal | None:
    for uuid, new in request.inventories.items():
        refusal = put_inventories(draft, uuid, new.inventories)
        if refusal is not None:
            return refusal
    return None
