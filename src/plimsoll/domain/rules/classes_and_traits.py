# SPDX-License-Identifier: Apache-2.0

"""Add, rename and remove resource classes and traits. Standard ones cannot be changed."""

from __future__ import annotations

from plimsoll.domain.catalog import FIRST_CUSTOM_CLASS_ID
from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import ClassAdded, ClassRemoved, ClassRenamed, TraitAdded, TraitRemoved
from plimsoll.domain.refusals import (
    Refusal,
    ResourceClassExists,
    ResourceClassInUse,
    ResourceClassMissing,
    ResourceClassStandard,
    TraitInUse,
    TraitsMissing,
    TraitStandard,
)


def add_class(draft: Draft, name: str) -> Refusal | None:
    classes = draft.world.classes
    if name in classes:
        return ResourceClassExists(name)
    draft.add(ClassAdded(name, draft.now, max(FIRST_CUSTOM_CLASS_ID, classes.next_id)))
    return None


def _check_custom(draft: Draft, name: str) -> Refusal | None:
    entry = draft.world.classes.get(name)
    if entry is None:
        return ResourceClassMissing(name)
    return ResourceClassStandard(name) if entry.id < FIRST_CUSTOM_CLASS_ID else None


def rename_class(draft: Draft, name: str, new_name: str) -> Refusal | None:
    if refusal := _check_custom(draft, name):
        return refusal
    if new_name == name:
        return None
    if new_name in draft.world.classes:
        return ResourceClassExists(new_name)
    draft.add(ClassRenamed(name, new_name, draft.now))
    return None


def remove_class(draft: Draft, name: str) -> Refusal | None:
    if refusal := _check_custom(draft, name):
        return refusal
    if any(name in each.inventories or name in each.used for each in draft.world.providers.values()):
        return ResourceClassInUse(name)
    draft.add(ClassRemoved(name))
    return None


def add_trait(draft: Draft, name: str) -> Refusal | None:
    """Add a trait, unless it exists."""
    if name not in draft.world.traits:
        draft.add(TraitAdded(name, draft.now, draft.world.traits.next_id))
    return None


def remove_trait(draft: Draft, name: str) -> Refusal | None:
    entry = draft.world.traits.get(name)
    if entry is None:
        return TraitsMissing((name,))
    if not entry.is_custom:
        return TraitStandard(name)
    if any(name in provider.traits for provider in draft.world.providers.values()):
        return TraitInUse(name)
    draft.add(TraitRemoved(name))
    return None
