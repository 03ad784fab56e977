# SPDX-License-Identifier: Apache-2.0

"""The standard resource classes and traits of OpenStack, added to the database at start."""

from __future__ import annotations

import os_resource_classes
import os_traits

from plimsoll.domain.actor import SERVICE_ACTOR
from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import ClassAdded, TraitAdded
from plimsoll.domain.refusals import Refusal
from plimsoll.service.placement import Placement, no_result


def synchronise(placement: Placement) -> None:
    """Add the standard names that are missing in the database.

    Tables that were copied from nova's database have rows of standard classes, but no record of these classes: such rows
    are not loaded, so everything is loaded again.
    """
    loaded = placement.ledger.newest.world  # before changes of other workers, which may have added the names
    placement.snapshot()  # opens the connection for queries of the head before the first request needs it
    has_classes = all(name in loaded.classes for name in os_resource_classes.STANDARDS)
    if has_classes and all(name in loaded.traits for name in os_traits.get_traits()):
        return
    refusal = placement.write("standards.synchronise", SERVICE_ACTOR, _add_missing, then=no_result)
    if refusal is not None:
        raise RuntimeError(f"The standard names cannot be added to the database: {refusal}")
    if loaded.providers and not has_classes:
        placement.ledger.reload()


def _add_missing(draft: Draft) -> Refusal | None:
    # The id of a standard class is its index in the library's list, in every Placement database.
    for id_, name in enumerate(os_resource_classes.STANDARDS):
        if name not in draft.world.classes:
            draft.add(ClassAdded(name, draft.now, id_))
    for name in sorted(os_traits.get_traits()):
        if name not in draft.world.traits:
            draft.add(TraitAdded(name, draft.now, draft.world.traits.next_id))
    return None
