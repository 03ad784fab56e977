# SPDX-License-Identifier: Apache-2.0

"""Allocations: of a consumer, of a provider, of an owner."""

from __future__ import annotations

from plimsoll.api.placement.documents.parts import AMOUNTS, INTEGER, PROVIDER_GENERATION, TEXT, UUID, map_of
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Field, ObjectSchema

# A consumer without allocations has only an empty `allocations`.
OF_CONSUMER = ObjectSchema(
    Field("allocations", map_of(ObjectSchema(Field("resources", AMOUNTS), Field("generation", INTEGER)))),
    Field("project_id", TEXT, since=F.KEYED_ALLOCATIONS, required=False),
    Field("user_id", TEXT, since=F.KEYED_ALLOCATIONS, required=False),
    Field("consumer_generation", INTEGER, since=F.CONSUMER_GENERATION, required=False),
    Field("consumer_type", TEXT, since=F.CONSUMER_TYPES, required=False),
)

OF_PROVIDER = ObjectSchema(
    Field(
        "allocations",
        map_of(
            ObjectSchema(
                Field("resources", AMOUNTS),
                Field("consumer_generation", INTEGER, since=F.CONSUMER_GENERATION),
            )
        ),
    ),
    PROVIDER_GENERATION,
)

LISTED = {
    "type": "array",
    "items": ObjectSchema(
        Field("resource_provider", ObjectSchema(Field("uuid", UUID))), Field("resources", AMOUNTS)
    ),
}
OF_OWNER = ObjectSchema(Field("allocations", LISTED))
