# SPDX-License-Identifier: Apache-2.0

"""Set the traits and the aggregates of a provider."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import AggregatesSet, TraitsSet
from plimsoll.domain.refusals import Refusal, TraitsMissing


def set_traits(draft: Draft, uuid: str, traits: Iterable[str], generation: int | None) -> Refusal | None:
    """Replace the traits of a provider. Unchanged traits do not raise its generation."""
    provider = draft.world.provider_at_generation(uuid, generation)
    if isinstance(provider, Refusal):
        return provider
    wanted = frozenset(traits)
    unknown = tuple(sorted(wanted.difference(draft.world.traits.by_name)))
    if unknown:
        return TraitsMissing(unknown)
    if wanted != provider.traits:
        draft.add(TraitsSet(provider.uuid, wanted))
        draft.raise_generation(provider.uuid)
    return None


def set_aggregates(
    draft: Draft, uuid: str, aggregates: Iterable[str], generation: int | None
) -> Refusal | None:
    """Replace the aggregates of a provider. Without a generation, none is checked and none is raised."""
    provider = draft.world.provider_at_generation(uuid, generation)
    if isinstance(provider, Refusal):
        return provider
    wanted = frozenset(aggregates)
    if wanted != provider.aggregates:
        draft.add(AggregatesSet(provider.uuid, wanted))
    if generation is not None:
        draft.raise_generation(provider.uuid)
    return None
