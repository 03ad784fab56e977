# SPDX-License-Identifier: Apache-2.0

"""Resource classes: the kinds of things that providers have."""

from __future__ import annotations

from plimsoll.domain.actor import Actor
from plimsoll.domain.catalog import Term
from plimsoll.domain.refusals import Refusal, ResourceClassExists, ResourceClassMissing
from plimsoll.domain.rules import classes_and_traits
from plimsoll.service.placement import Placement, nothing


def list_all(placement: Placement) -> list[Term]:
    return list(placement.world().classes)


def get(placement: Placement, name: str) -> Term | ResourceClassMissing:
    return placement.world().classes.get(name) or ResourceClassMissing(name)


def create(placement: Placement, actor: Actor, name: str) -> Term | Refusal:
    return placement.write(
        "class.create",
        actor,
        lambda draft: classes_and_traits.add_class(draft, name),
        then=lambda world: world.classes.by_name[name],
    )


def ensure(placement: Placement, actor: Actor, name: str) -> tuple[Term, bool]:
    """The class with this name, and whether it is new."""
    while True:
        known = placement.world().classes.get(name)
        if known is not None:
            return known, False
        made = create(placement, actor, name)
        if not isinstance(made, ResourceClassExists):  # else somebody was faster
            assert isinstance(made, Term)
            return made, True


def rename(placement: Placement, actor: Actor, name: str, new_name: str) -> Term | Refusal:
    return placement.write(
        "class.rename",
        actor,
        lambda draft: classes_and_traits.rename_class(draft, name, new_name),
        then=lambda world: world.classes.by_name[new_name],
    )


def delete(placement: Placement, actor: Actor, name: str) -> Refusal | None:
    return placement.write(
        "class.delete", actor, lambda draft: classes_and_traits.remove_class(draft, name), then=nothing
    )
