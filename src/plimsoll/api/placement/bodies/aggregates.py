# SPDX-License-Identifier: Apache-2.0

"""The aggregates of a provider: a list and, since the generation guards it, a record with that list."""

from __future__ import annotations

from typing import Any

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import GENERATION, UUID
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Changed, Field, ObjectSchema

_LISTED = {"type": "array", "items": UUID, "uniqueItems": True}

SET = Body(
    Changed(
        F.AGGREGATES_GENERATION,
        before=_LISTED,
        after=ObjectSchema(Field("aggregates", _LISTED), Field("resource_provider_generation", GENERATION)),
    )
)


def aggregates_and_generation(content: Any) -> tuple[list[str], int | None]:
    """What a body of either shape says; no generation in the older one."""
    if isinstance(content, list):
        return content, None
    return content["aggregates"], content["resource_provider_generation"]
