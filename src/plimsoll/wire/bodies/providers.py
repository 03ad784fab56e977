# SPDX-License-Identifier: Apache-2.0

"""Providers as they are made and changed."""

from __future__ import annotations

from plimsoll.wire.bodies.patterns import UUID
from plimsoll.wire.bodies.reading import Body
from plimsoll.wire.features import Feature as F
from plimsoll.wire.schemas import Field, Record

_NAME = Field("name", {"type": "string", "maxLength": 200})
_PARENT = Field(
    "parent_provider_uuid", {"anyOf": [UUID, {"type": "null"}]}, since=F.PROVIDER_TREES, required=False
)

CREATE = Body(Record(_NAME, Field("uuid", UUID, required=False), _PARENT))
CHANGE = Body(Record(_NAME, _PARENT))
