# SPDX-License-Identifier: Apache-2.0

"""A resource class, as it is made or renamed."""

from __future__ import annotations

from plimsoll.wire.bodies.patterns import CUSTOM_NAME
from plimsoll.wire.bodies.reading import Body
from plimsoll.wire.schemas import Field, Record

NAMED = Body(Record(Field("name", {"type": "string", "pattern": CUSTOM_NAME, "maxLength": 255})))
