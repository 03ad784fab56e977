# SPDX-License-Identifier: Apache-2.0

"""Add, rename, move and remove providers. A tree has no loop and exactly one root."""

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


class _KeepParent(Enum):
    KEEP_PARENT = "keep"


KEEP_PARENT: Final = _KeepParent.KEEP_PARENT
"""The request does not change the parent."""

NewParent = str | Literal[_KeepParent.KEEP_PARENT] | None


def add_provider(draft: Draft, uuid: str, name: str, parent: str | None) -> Refusal | None:
    if not name:
        return ProviderNameEmpty()
    parent_provider = None
    if parent is not None:
        if parent == uuid:
            return ParentIsSelf(uuid)
        parent_provider = draft.world.provider(parent)
        if parent_provider is None:
            return ParentMissing(parent)
    if draft.world.provider(uuid) is not None:
        return ProviderUuidTaken(uuid)
    if draft.world.provider_named(name) is not None:
        return ProviderNameTaken(name)
    parent, root = (None, uuid) if parent_provider is None else (parent_provider.uuid, parent_provider.root)
    # A decision is committed only if no other process has written since: the next id needs no query.
    next_id = draft.world.last_provider_id + 1
    draft.add(ProviderAdded(uuid, name, parent, root, draft.now, next_id))
    return None


def change_provider(
    draft: Draft, uuid: str, name: str, parent: NewParent, *, reparenting: bool
) -> Refusal | None:
    """Rename a provider, and change its parent if `reparenting` is allowed or it has none."""
    provider = draft.world.provider_at_generation(uuid)
    if isinstance(provider, Refusal):
        return provider
    if parent is not KEEP_PARENT and parent != provider.parent:
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
    provider = draft.world.provider_at_generation(uuid)
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
    parent_provider = draft.world.provider(parent)
    if parent_provider is None:
        return ParentMissing(parent)
    if parent_provider.uuid == provider.parent:
        return None
    if provider.parent is not None and not reparenting:
        return ReparentingNotAllowed(uuid)
    if parent_provider.uuid in subtree:
        return TreeWouldLoop(uuid, parent_provider.uuid)
    draft.add(ProviderMoved(uuid, parent_provider.uuid, parent_provider.root, subtree, draft.now))
    return None
