# SPDX-License-Identifier: Apache-2.0

"""Inventories, one or all of a provider."""

from __future__ import annotations

from plimsoll.api.placement.documents.parts import INTEGER, PROVIDER_GENERATION, map_of
from plimsoll.api.placement.schemas import Field, ObjectSchema

_FIGURES = (
    Field("total", INTEGER),
    Field("reserved", INTEGER),
    Field("min_unit", INTEGER),
    Field("max_unit", INTEGER),
    Field("step_size", INTEGER),
    Field("allocation_ratio", {"type": "number"}),
)

# The generation is left out while it is 0, as in the reference.
INVENTORY = ObjectSchema(
    *_FIGURES, Field(PROVIDER_GENERATION.name, {"type": "integer", "minimum": 1}, required=False)
)
INVENTORIES = ObjectSchema(PROVIDER_GENERATION, Field("inventories", map_of(ObjectSchema(*_FIGURES))))
