# SPDX-License-Identifier: Apache-2.0

"""The body that sets the traits of a provider, and the schema of a new trait's name."""

from __future__ import annotations

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import CUSTOM_NAME, GENERATION
from plimsoll.api.placement.schemas import Field, ObjectSchema

_TRAIT = {"type": "string", "minLength": 1, "maxLength": 255}

TRAITS = Body(
    ObjectSchema(
        Field("traits", {"type": "array", "items": _TRAIT}), Field("resource_provider_generation", GENERATION)
    )
)

CUSTOM_TRAIT = Body({**_TRAIT, "pattern": CUSTOM_NAME})
