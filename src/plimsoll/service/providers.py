# SPDX-License-Identifier: Apache-2.0

"""Providers: create, find, update, delete."""

from __future__ import annotations

from plimsoll.domain.actor import Actor
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import ProviderMissing, Refusal
from plimsoll.domain.rules import providers
from plimsoll.domain.rules.providers import NewParent
from plimsoll.search.index.selection import Selection
from plimsoll.search.providers import find_providers
from plimsoll.search.request import ProvidersRequest
from plimsoll.service.placement import Placement, no_result, provider_after


def get(placement: Placement, uuid: str) -> Provider | ProviderMissing:
    return placement.world().provider(uuid) or ProviderMissing(uuid)


def find(placement: Placement, request: ProvidersRequest) -> Selection | Refusal:
    snapshot = placement.snapshot()
    return find_providers(snapshot.world, snapshot.index, request)


def create(
    placement: Placement, actor: Actor, uuid: str, name: str, parent: str | None
) -> Provider | Refusal:
    return placement.write(
        "provider.create",
        actor,
        lambda draft: providers.add_provider(draft, uuid, name, parent),
        then=provider_after(uuid),
    )


def update(
    placement: Placement, actor: Actor, uuid: str, name: str, parent: NewParent, reparenting: bool
) -> Provider | Refusal:
    return placement.write(
        "provider.update",
        actor,
        lambda draft: providers.change_provider(draft, uuid, name, parent, reparenting=reparenting),
        then=provider_after(uuid),
    )


def delete(placement: Placement, actor: Actor, uuid: str) -> Refusal | None:
    return placement.write(
        "provider.delete", actor, lambda draft: providers.remove_provider(draft, uuid), then=no_result
    )
