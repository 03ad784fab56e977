# SPDX-License-Identifier: Apache-2.0

"""Reshapes: inventories move between providers, and the allocations on them move along, at once.

Nothing can be claimed that is not there, and nothing can be removed that is in use; so the new
inventories are set beside the old ones, the claims are settled, and what is no longer wanted is removed.
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.domain.draft import Draft
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules.allocations import (
    Claim,
    check_parties,
    moves_of,
    settle,
)
from plimsoll.domain.rules.inventories import put_inventories
from plimsoll.domain.values import unhashable_value


@unhashable_value
class NewInventories:
    """All that a provider is to have, and the generation that the client has seen."""

    generation: int
    inventories: Mapping[str, Inventory]


@unhashable_value
class Reshape:
    inventories: Mapping[str, NewInventories]
    claims: tuple[Claim, ...]


def reshape(draft: Draft, request: Reshape) -> Refusal | None:
    """Decides a reshape: all of it or nothing."""
    wanted: dict[str, Mapping[str, Inventory]] = {}
    for uuid, new in request.inventories.items():
        provider = draft.world.provider_as_seen(uuid, new.generation)
        if isinstance(provider, Refusal):
            return provider
        wanted[provider.uuid] = new.inventories
    moves = moves_of(draft, request.claims)
    return (
        check_parties(draft, moves) or _widen(draft, wanted) or settle(draft, moves) or _narrow(draft, wanted)
    )


def _widen(draft: Draft, wanted: Mapping[str, Mapping[str, Inventory]]) -> Refusal | None:
    for uuid, inventories in wanted.items():
        if inventories:
            kept = draft.world.providers[uuid].inventories
            refusal = put_inventories(draft, uuid, {**kept, **inventories})
            if refusal is not None:
                return refusal
    return None


def _narrow(draft: Draft, wanted: Mapping[str, Mapping[str, Inventory]]) -> Refusal | None:
    for uuid, inventories in wanted.items():
        refusal = put_inventories(draft, uuid, inventories)
        if refusal is not None:
            return refusal
    return None
