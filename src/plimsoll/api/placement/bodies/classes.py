# SPDX-License-Identifier: Apache-2.0

"""The body that creates or renames a resource class."""

from __future__ import annotations

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import CUSTOM_NAME
from plimsoll.api.placement.schemas import Field, ObjectSchema

CLASS_NAME = Body(ObjectSchema(Field("name", {"type": "string", "pattern": CUSTOM_NAME, "maxLength": 255})))
