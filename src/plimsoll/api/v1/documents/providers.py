# SPDX-License-Identifier: Apache-2.0

"""The documents of providers."""

from __future__ import annotations

from plimsoll.api.v1.documents.parts import AMOUNT, NEXT, REVISION, UUID, inventory_schema, object_schema
from plimsoll.api.v1.route import Document

INVENTORY = inventory_schema(
    capacity=AMOUNT | {"description": "(total - reserved) * allocation_ratio"},
    used=AMOUNT,
    free=AMOUNT | {"description": "capacity - used; 0 if the inventory is over-full"},
    largest=AMOUNT
    | {"description": "The largest amount that a claim can still have, by min_unit, max_unit and step_size"},
)

FIELDS = {
    "uuid": UUID,
    "name": {"type": "string"},
    "generation": {"type": "integer"},
    "root": UUID | {"description": "The root of the provider's tree"},
    "parent": {"type": ["string", "null"], "format": "uuid"},
    "inventories": {"type": "object", "additionalProperties": INVENTORY},
    "traits": {"type": "array", "items": {"type": "string"}},
    "aggregates": {"type": "array", "items": UUID},
    "updated_at": {
        "type": ["string", "null"],
        "format": "date-time",
        "description": "The last change, claims included; null if the database has none",
    },
}

PROVIDER = Document("Provider", object_schema(revision=REVISION, **FIELDS))
PROVIDERS = Document(
    "Providers",
    object_schema(revision=REVISION, providers={"type": "array", "items": object_schema(FIELDS)}, next=NEXT),
)
