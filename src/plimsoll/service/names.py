# SPDX-License-Identifier: Apache-2.0

"""Find a provider by its uuid or its name."""

from __future__ import annotations

from uuid import UUID

from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World

_HEX_DIGITS = 32
_LONGEST_NAME = 200
"""Characters of the longest name that a provider can have."""


def find_provider(world: World, text: str) -> Provider | None:
    """Return the provider with this uuid, in any spelling, or else with exactly this name.

    Names are compared as the database compares them.
    """
    if len(text) > _LONGEST_NAME:
        return None
    return world.provider(text) or _by_other_spelling(world, text) or world.provider_named(text)


def _by_other_spelling(world: World, text: str) -> Provider | None:
    """Return the provider by a uuid in capital letters, without hyphens, in braces or as a URN."""
    if len(text.replace("-", "")) < _HEX_DIGITS:
        return None
    try:
        return world.providers.get(str(UUID(text)))
    except ValueError:
        return None
