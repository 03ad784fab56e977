# SPDX-License-Identifier: Apache-2.0

"""Reshapes: move inventories between providers together with their allocations, in one command.

A claim needs an inventory, and an inventory in use cannot be removed. So a reshape first adds the new inventories to
the old ones, then applies the claims, then removes the inventories that are no longer wanted.
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.domain.draft import Draft
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules.allocations import Claim, apply_claims, check_preconditions, resolve_claims
from plimsoll.domain.rules.inventories import put_inventories
from plimsoll.domain.values import unhashable_value


@unhashable_value
class NewInventories:
    """All new inventories of a provider, and the generation that the client expects."""

    generation: int
    inventories: Mapping[str, Inventory]


@unhashable_value
class Reshape:
    inventories: Mapping[str, NewInventories]
    claims: tuple[Claim, ...]


def reshape(draft: Draft, request: Reshape) -> Refusal | None:
    """Decide a reshape: all of it or nothing."""
    wanted: dict[str, Mapping[str, Inventory]] = {}
    for uuid, new in request.inventories.items():
        provider = draft.world.provider_at_generation(uuid, new.generation)
        if isinstance(provider, Refusal):
            return provider
        wanted[provider.uuid] = new.inventories
    resolved = resolve_claims(draft, request.claims)
    return (
        check_preconditions(draft, resolved)
        or _add_new_inventories(draft, wanted)
        or apply_claims(draft, resolved)
        or _remove_old_inventories(draft, wanted)
    )


def _add_new_inventories(draft: Draft, wanted: Mapping[str, Mapping[str, Inventory]]) -> Refusal | None:
    for uuid, inventories in wanted.items():
        if inventories:
            existing = draft.world.providers[uuid].inventories
            if refusal := put_inventories(draft, uuid, {**existing, **inventories}):
                return refusal
    return None


def _remove_old_inventories(draft: Draft, wanted: Mapping[str, Mapping[str, Inventory]]) -> Refusal | None:
    for uuid, inventories in wanted.items():
        if refusal := put_inventories(draft, uuid, inventories):
            return refusal
    return None
