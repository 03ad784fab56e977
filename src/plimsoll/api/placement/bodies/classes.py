# SPDX-License-Identifier: Apache-2.0

"""A resource class, as it is made or renamed."""

from __future__ import annotations

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import CUSTOM_NAME
from plimsoll.api.placement.schemas import Field, ObjectSchema

NAMED = Body(ObjectSchema(Field("name", {"type": "string", "pattern": CUSTOM_NAME, "maxLength": 255})))
