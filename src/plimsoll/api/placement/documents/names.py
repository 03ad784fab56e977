# SPDX-License-Identifier: Apache-2.0

"""Resource classes, traits and aggregates."""

from __future__ import annotations

from plimsoll.api.placement.documents.parts import LINKS, NAMES, PROVIDER_GENERATION, TEXT
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Field, ObjectSchema

RESOURCE_CLASS = ObjectSchema(Field("name", TEXT), Field("links", LINKS))
RESOURCE_CLASSES = ObjectSchema(Field("resource_classes", {"type": "array", "items": RESOURCE_CLASS}))

TRAITS = ObjectSchema(Field("traits", NAMES))
PROVIDER_TRAITS = ObjectSchema(Field("traits", NAMES), PROVIDER_GENERATION)

# Not `format: uuid`: a PUT returns the uuids as the client wrote them, which may be without hyphens.
AGGREGATES = ObjectSchema(
    Field("aggregates", NAMES),
    Field(PROVIDER_GENERATION.name, PROVIDER_GENERATION.shape, since=F.AGGREGATES_GENERATION),
)
