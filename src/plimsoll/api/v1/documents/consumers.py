# SPDX-License-Identifier: Apache-2.0

"""The documents of consumers."""

from __future__ import annotations

from typing import Any

from plimsoll.api.v1.documents.parts import AMOUNT, REVISION, object_schema
from plimsoll.api.v1.route import Document

_TIME: dict[str, Any] = {"type": ["string", "null"], "format": "date-time"}

FIELDS: dict[str, Any] = {
    "uuid": {"type": "string"},
    "project": {"type": "string"},
    "user": {"type": "string"},
    "type": {"type": "string", "description": "`unknown` for a consumer of a client that sent no type"},
    "generation": {"type": "integer"},
    "created_at": _TIME,
    "updated_at": _TIME | {"description": "The last change of the consumer; null if there was none"},
    "allocations": {
        "type": "object",
        "description": "By uuid of the provider",
        "additionalProperties": object_schema(
            name={"type": "string", "description": "The name of the provider"},
            resources={"type": "object", "additionalProperties": AMOUNT},
        ),
    },
}

CONSUMER = Document("Consumer", object_schema(revision=REVISION, **FIELDS))
CONSUMERS = Document(
    "Consumers",
    object_schema(
        revision=REVISION,
        consumers={"type": "array", "items": object_schema(**FIELDS)},
        next={
            "type": ["string", "null"],
            "description": (
                "The value of `after` for the next page; null on the last one. A page may have fewer consumers than"
                " `limit`, or none, although there are more"
            ),
        },
    ),
)
