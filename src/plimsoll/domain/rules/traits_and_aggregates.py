# SPDX-License-Identifier: Apache-2.0

"""What a provider is marked with: traits that it has, and aggregates that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import AggregatesSet, TraitsSet
from plimsoll.domain.refusals import Refusal, TraitsMissing


def set_traits(draft: Draft, uuid: str, traits: Iterable[str], generation: int | None) -> Refusal | None:
    """Makes these the traits of a provider. Setting what is set already does not raise its generation."""
    provider = draft.world.provider_as_seen(uuid, generation)
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
    """Makes these the aggregates of a provider. Without a generation nothing is checked and none is raised."""
    provider = draft.world.provider_as_seen(uuid, generation)
    if isinstance(provider, Refusal):
        return provider
    wanted = frozenset(aggregates)
    if wanted != provider.aggregates:
        draft.add(AggregatesSet(provider.uuid, wanted))
    if generation is not None:
        draft.raise_generation(provider.uuid)
    return None
