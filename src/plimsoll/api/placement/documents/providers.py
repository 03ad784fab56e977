# SPDX-License-Identifier: Apache-2.0

"""Providers."""

from __future__ import annotations

from plimsoll.api.placement.documents.parts import INTEGER, LINKS, TEXT, UUID, UUID_OR_NULL
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Field, ObjectSchema

PROVIDER = ObjectSchema(
    Field("uuid", UUID),
    Field("name", TEXT),
    Field("generation", INTEGER),
    Field("links", LINKS),
    Field("parent_provider_uuid", UUID_OR_NULL, since=F.PROVIDER_TREES),
    Field("root_provider_uuid", UUID, since=F.PROVIDER_TREES),
)
PROVIDERS = ObjectSchema(Field("resource_providers", {"type": "array", "items": PROVIDER}))
