# SPDX-License-Identifier: Apache-2.0

"""The bodies that create and update a provider."""

from __future__ import annotations

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.patterns import UUID
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Field, ObjectSchema

_NAME = Field("name", {"type": "string", "maxLength": 200})
_PARENT = Field(
    "parent_provider_uuid", {"anyOf": [UUID, {"type": "null"}]}, since=F.PROVIDER_TREES, required=False
)

CREATE_PROVIDER = Body(ObjectSchema(_NAME, Field("uuid", UUID, required=False), _PARENT))
CHANGE_PROVIDER = Body(ObjectSchema(_NAME, _PARENT))
