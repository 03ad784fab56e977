# SPDX-License-Identifier: Apache-2.0

"""The body that sets the aggregates of a provider: a list; since AGGREGATES_GENERATION an object with that list."""

from __future__ import annotations

from typing import Any

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import GENERATION, UUID
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Changed, Field, ObjectSchema

_LISTED = {"type": "array", "items": UUID, "uniqueItems": True}

AGGREGATES = Body(
    Changed(
        F.AGGREGATES_GENERATION,
        before=_LISTED,
        after=ObjectSchema(Field("aggregates", _LISTED), Field("resource_provider_generation", GENERATION)),
    )
)


def aggregates_and_generation(content: Any) -> tuple[list[str], int | None]:
    """Return aggregates and generation of a body of either shape; the older one has no generation."""
    if isinstance(content, list):
        return content, None
    return content["aggregates"], content["resource_provider_generation"]
