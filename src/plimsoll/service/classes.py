# SPDX-License-Identifier: Apache-2.0

"""Resource classes: list, create, rename, delete."""

from __future__ import annotations

from plimsoll.domain.actor import Actor
from plimsoll.domain.catalog import CatalogEntry
from plimsoll.domain.refusals import Refusal, ResourceClassExists, ResourceClassMissing
from plimsoll.domain.rules import classes_and_traits
from plimsoll.service.placement import Placement, no_result


def list_all(placement: Placement) -> list[CatalogEntry]:
    return list(placement.world().classes)


def get(placement: Placement, name: str) -> CatalogEntry | ResourceClassMissing:
    return placement.world().classes.get(name) or ResourceClassMissing(name)


def create(placement: Placement, actor: Actor, name: str) -> CatalogEntry | Refusal:
    return placement.write(
        "class.create",
        actor,
        lambda draft: classes_and_traits.add_class(draft, name),
        then=lambda world: world.classes.by_name[name],
    )


def ensure(placement: Placement, actor: Actor, name: str) -> tuple[CatalogEntry, bool] | Refusal:
    """Return the class with this name, created if missing, and whether it is new."""
    while True:
        existing = placement.world().classes.get(name)
        if existing is not None:
            return existing, False
        made = create(placement, actor, name)
        if not isinstance(made, ResourceClassExists):  # else another client has created it meanwhile
            return made if isinstance(made, Refusal) else (made, True)


def rename(placement: Placement, actor: Actor, name: str, new_name: str) -> CatalogEntry | Refusal:
    return placement.write(
        "class.rename",
        actor,
        lambda draft: classes_and_traits.rename_class(draft, name, new_name),
        then=lambda world: world.classes.by_name[new_name],
    )


def delete(placement: Placement, actor: Actor, name: str) -> Refusal | None:
    return placement.write(
        "class.delete", actor, lambda draft: classes_and_traits.remove_class(draft, name), then=no_result
    )
