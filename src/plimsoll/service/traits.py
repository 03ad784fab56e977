# SPDX-License-Identifier: Apache-2.0

"""Traits: their names, and the traits of providers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plimsoll.domain.actor import Actor
from plimsoll.domain.catalog import CatalogEntry
from plimsoll.domain.draft import Draft
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import ProviderMissing, Refusal, TraitsMissing
from plimsoll.domain.rules import classes_and_traits, traits_and_aggregates
from plimsoll.domain.world import World
from plimsoll.service.placement import Placement, no_result, provider_after


def get(placement: Placement, name: str) -> CatalogEntry | TraitsMissing:
    return placement.world().traits.get(name) or TraitsMissing((name,))


def list_all(
    placement: Placement,
    among: frozenset[str] | None = None,
    prefix: str | None = None,
    associated: bool | None = None,
) -> list[CatalogEntry]:
    """Return the traits that match all filters: names, prefix, and whether any provider has them."""
    snapshot = placement.snapshot()
    pattern = None if prefix is None else like_pattern(prefix)
    return [
        entry
        for entry in snapshot.world.traits
        if (among is None or entry.name in among)
        and (pattern is None or pattern.match(entry.name))
        and (associated is None or bool(snapshot.index.with_trait(entry.name)) == associated)
    ]


def create(placement: Placement, actor: Actor, name: str) -> tuple[CatalogEntry, bool] | Refusal:
    """Return the trait with this name, created if missing, and whether it is new."""
    existing = placement.world().traits.get(name)
    if existing is not None:
        return existing, False
    existed: list[bool] = []

    def decide(draft: Draft) -> Refusal | None:
        existed.append(name in draft.world.traits)
        return classes_and_traits.add_trait(draft, name)

    entry = placement.write("trait.create", actor, decide, then=lambda world: world.traits.by_name[name])
    return entry if isinstance(entry, Refusal) else (entry, not existed[-1])


def delete(placement: Placement, actor: Actor, name: str) -> Refusal | None:
    return placement.write(
        "trait.delete", actor, lambda draft: classes_and_traits.remove_trait(draft, name), then=no_result
    )


def of_provider(placement: Placement, uuid: str) -> tuple[Provider, list[CatalogEntry]] | ProviderMissing:
    world = placement.world()
    provider = world.provider(uuid)
    return ProviderMissing(uuid) if provider is None else _traits_of(world, provider)


def set_for_provider(
    placement: Placement, actor: Actor, uuid: str, generation: int, traits: Iterable[str]
) -> tuple[Provider, list[CatalogEntry]] | Refusal:
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
        then=no_result,
    )


def _traits_of(world: World, provider: Provider) -> tuple[Provider, list[CatalogEntry]]:
    return provider, [world.traits.by_name[name] for name in provider.listed_traits()]


def like_pattern(prefix: str) -> re.Pattern[str]:
    """Return a pattern that matches like SQL's LIKE, as in the reference: `_` and `%` are wildcards, case is ignored.

    Each part between two `%` is an atomic group: it matches at the first place where it can, and is never tried at
    another one. Without that, `%A%A%A...` takes time that grows exponentially.
    """
    first, *rest = (_literal(part) for part in prefix.split("%"))
    if len(prefix) - len(rest) > LONGEST_NAME:
        return _MATCHES_NOTHING
    return re.compile(first + "".join(f"(?>.*?{part})" for part in rest if part), re.DOTALL | re.IGNORECASE)


LONGEST_NAME = 255
_MATCHES_NOTHING = re.compile("(?!)")


def _literal(part: str) -> str:
    return "".join("." if char == "_" else re.escape(char) for char in part)
