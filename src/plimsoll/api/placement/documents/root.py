# SPDX-License-Identifier: Apache-2.0

"""The version document."""

from __future__ import annotations

from plimsoll.api.placement.documents.parts import LINKS, TEXT
from plimsoll.api.placement.schemas import Field, ObjectSchema

VERSIONS = ObjectSchema(
    Field(
        "versions",
        {
            "type": "array",
            "minItems": 1,
            "items": ObjectSchema(
                Field("id", TEXT),
                Field("max_version", TEXT),
                Field("min_version", TEXT),
                Field("status", TEXT),
                Field("links", LINKS),
            ),
        },
    )
)
