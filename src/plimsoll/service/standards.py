# SPDX-License-Identifier: Apache-2.0

"""The standard names: resource classes and traits that every cloud knows, brought up to date at start."""

from __future__ import annotations

import os_resource_classes
import os_traits

from plimsoll.domain.actor import THE_SERVICE
from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import ClassAdded, TraitAdded
from plimsoll.domain.refusals import Refusal
from plimsoll.service.placement import Placement, nothing


def synchronise(placement: Placement) -> None:
    """Adds the standard names that the database does not know yet."""
    world = placement.world()
    if all(name in world.classes for name in os_resource_classes.STANDARDS) and all(
        name in world.traits for name in os_traits.get_traits()
    ):
        return
    refusal = placement.write("standards.synchronise", THE_SERVICE, _add_missing, then=nothing)
    if refusal is not None:
        raise RuntimeError(f"The standard names cannot be added to the database: {refusal}")


def _add_missing(draft: Draft) -> Refusal | None:
    # A standard class has its place in the library's list as its id, in every Placement database.
    for id_, name in enumerate(os_resource_classes.STANDARDS):
        if name not in draft.world.classes:
            draft.add(ClassAdded(name, draft.now, id_))
    for name in sorted(os_traits.get_traits()):
        if name not in draft.world.traits:
            draft.add(TraitAdded(name, draft.now, draft.world.traits.next_id))
    return None
