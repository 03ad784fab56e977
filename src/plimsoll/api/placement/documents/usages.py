# SPDX-License-Identifier: Apache-2.0

"""Usage of a provider, and of an owner."""

from __future__ import annotations

from plimsoll.api.placement.documents.parts import AMOUNT, PROVIDER_GENERATION, map_of
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Changed, Field, ObjectSchema

_BY_CLASS = map_of(AMOUNT)
_BY_TYPE = map_of({**_BY_CLASS, "properties": {"consumer_count": AMOUNT}, "required": ["consumer_count"]})

PROVIDER_USAGES = ObjectSchema(PROVIDER_GENERATION, Field("usages", _BY_CLASS))
OWNER_USAGES = ObjectSchema(Field("usages", Changed(F.CONSUMER_TYPES, before=_BY_CLASS, after=_BY_TYPE)))
