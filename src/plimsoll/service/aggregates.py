# SPDX-License-Identifier: Apache-2.0

"""Aggregates of a provider: show and replace."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.domain.actor import Actor
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules import traits_and_aggregates
from plimsoll.service.placement import Placement, provider_after


def set_for_provider(
    placement: Placement, actor: Actor, uuid: str, aggregates: Iterable[str], generation: int | None
) -> Provider | Refusal:
    """Replace the aggregates of a provider. Without a generation (old clients), none is checked and none is raised."""
    return placement.write(
        "provider.aggregates.set",
        actor,
        lambda draft: traits_and_aggregates.set_aggregates(draft, uuid, aggregates, generation),
        then=provider_after(uuid),
    )
