# SPDX-License-Identifier: Apache-2.0

"""Providers come, get other names and parents, and go. A tree never has a loop, and always one root."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import ProviderAdded, ProviderMoved, ProviderRemoved, ProviderRenamed
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import (
    ParentIsSelf,
    ParentMissing,
    ProviderHasChildren,
    ProviderInUse,
    ProviderNameEmpty,
    ProviderNameTaken,
    ProviderUuidTaken,
    Refusal,
    ReparentingNotAllowed,
    TreeWouldLoop,
    UnparentingNotAllowed,
)


class _Keep(Enum):
    KEEP = "keep"


KEEP: Final = _Keep.KEEP
"""The parent stays what it is."""

NewParent = str | Literal[_Keep.KEEP] | None


def add_provider(draft: Draft, uuid: str, name: str, parent: str | None) -> Refusal | None:
    if not name:
        return ProviderNameEmpty()
    above = None
    if parent is not None:
        if parent == uuid:
            return ParentIsSelf(uuid)
        above = draft.world.provider(parent)
        if above is None:
            return ParentMissing(parent)
    if draft.world.provider(uuid) is not None:
        return ProviderUuidTaken(uuid)
    if draft.world.provider_named(name) is not None:
        return ProviderNameTaken(name)
    parent, root = (None, uuid) if above is None else (above.uuid, above.root)
    # Whoever decides is the only one who writes, and so can give the next id without asking.
    next_id = draft.world.last_provider_id + 1
    draft.add(ProviderAdded(uuid, name, parent, root, draft.now, next_id))
    return None


def change_provider(
    draft: Draft, uuid: str, name: str, parent: NewParent, *, reparenting: bool
) -> Refusal | None:
    """Gives a provider another name, and another parent if `reparenting` is allowed or it had none."""
    provider = draft.world.provider_as_seen(uuid)
    if isinstance(provider, Refusal):
        return provider
    if parent is not KEEP and parent != provider.parent:
        refusal = _move(draft, provider, parent, reparenting=reparenting)
        if refusal is not None:
            return refusal
    if name != provider.name:
        named = draft.world.provider_named(name)
        if named is not None and named.uuid != provider.uuid:
            return ProviderNameTaken(name)
        draft.add(ProviderRenamed(provider.uuid, name, draft.now))
    return None


def remove_provider(draft: Draft, uuid: str) -> Refusal | None:
    provider = draft.world.provider_as_seen(uuid)
    if isinstance(provider, Refusal):
        return provider
    if draft.world.children(provider.uuid):
        return ProviderHasChildren(provider.uuid)
    if provider.used:
        return ProviderInUse(provider.uuid)
    draft.add(ProviderRemoved(provider.uuid))
    return None


def _move(draft: Draft, provider: Provider, parent: str | None, *, reparenting: bool) -> Refusal | None:
    uuid = provider.uuid
    subtree = tuple(each.uuid for each in draft.world.subtree(uuid))
    if parent is None:
        if not reparenting:
            return UnparentingNotAllowed(uuid)
        draft.add(ProviderMoved(uuid, None, uuid, subtree, draft.now))
        return None
    above = draft.world.provider(parent)
    if above is None:
        return ParentMissing(parent)
    if above.uuid == provider.parent:
        return None
    if provider.parent is not None and not reparenting:
        return ReparentingNotAllowed(uuid)
    if above.uuid in subtree:
        return TreeWouldLoop(uuid, above.uuid)
    draft.add(ProviderMoved(uuid, above.uuid, above.root, subtree, draft.now))
    return None
