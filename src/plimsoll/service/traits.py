# SPDX-License-Identifier: Apache-2.0

"""Traits: the names, and which providers have them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plimsoll.domain.actor import Actor
from plimsoll.domain.catalog import Term
from plimsoll.domain.draft import Draft
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import ProviderMissing, Refusal, TraitsMissing
from plimsoll.domain.rules import classes_and_traits, traits_and_aggregates
from plimsoll.domain.world import World
from plimsoll.service.placement import Placement, nothing, provider_after


def get(placement: Placement, name: str) -> Term | TraitsMissing:
    return placement.world().traits.get(name) or TraitsMissing((name,))


def list_all(
    placement: Placement,
    among: frozenset[str] | None = None,
    prefix: str | None = None,
    associated: bool | None = None,
) -> list[Term]:
    """Traits among these names, that begin like this, and that some provider has, or none."""
    snapshot = placement.snapshot()
    begins = None if prefix is None else like(prefix)
    return [
        term
        for term in snapshot.world.traits
        if (among is None or term.name in among)
        and (begins is None or begins.match(term.name))
        and (associated is None or bool(snapshot.index.with_trait(term.name)) == associated)
    ]


def create(placement: Placement, actor: Actor, name: str) -> tuple[Term, bool]:
    """The trait with this name, and whether it is new."""
    known = placement.world().traits.get(name)
    if known is not None:
        return known, False
    was_there: list[bool] = []

    def decide(draft: Draft) -> Refusal | None:
        was_there.append(name in draft.world.traits)
        return classes_and_traits.add_trait(draft, name)

    term = placement.write("trait.create", actor, decide, then=lambda world: world.traits.by_name[name])
    assert isinstance(term, Term)
    return term, not was_there[-1]


def delete(placement: Placement, actor: Actor, name: str) -> Refusal | None:
    return placement.write(
        "trait.delete", actor, lambda draft: classes_and_traits.remove_trait(draft, name), then=nothing
    )


def of_provider(placement: Placement, uuid: str) -> tuple[Provider, list[Term]] | ProviderMissing:
    world = placement.world()
    provider = world.provider(uuid)
    return ProviderMissing(uuid) if provider is None else _traits_of(world, provider)


def set_for_provider(
    placement: Placement, actor: Actor, uuid: str, generation: int, traits: Iterable[str]
) -> tuple[Provider, list[Term]] | Refusal:
    return placement.write(
        "provider.traits.set",
        actor,
        lambda draft: traits_and_aggregates.set_traits(draft, uuid, traits, generation),
        then=lambda world: _traits_of(world, provider_after(uuid)(world)),
    )


def clear_for_provider(placement: Placement, actor: Actor, uuid: str) -> Refusal | None:
    return placement.write(
        "provider.traits.clear",
        actor,
        lambda draft: traits_and_aggregates.set_traits(draft, uuid, (), generation=None),
        then=nothing,
    )


def _traits_of(world: World, provider: Provider) -> tuple[Provider, list[Term]]:
    return provider, [world.traits.by_name[name] for name in provider.listed_traits()]


def like(prefix: str) -> re.Pattern[str]:
    """Match as the reference does, which passes the prefix to SQL's LIKE: `_` and `%` are wildcards, case is ignored.

    Each part between two `%` is an atomic group: it matches at the first place where it can, and is never tried at
    another one. Without that, `%A%A%A...` takes time that grows exponentially.
    """
    first, *further = (_fixed(part) for part in prefix.split("%"))
    if len(prefix) - len(further) > LONGEST_NAME:
        return _NOTHING
    return re.compile(
        first + "".join(f"(?>.*?{part})" for part in further if part), re.DOTALL | re.IGNORECASE
    )


LONGEST_NAME = 255
_NOTHING = re.compile("(?!)")


def _fixed(part: str) -> str:
    return "".join("." if char == "_" else re.escape(char) for char in part)
