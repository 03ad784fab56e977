# SPDX-License-Identifier: Apache-2.0

"""The documents of unplaced searches."""

from __future__ import annotations

from typing import Any

from plimsoll.api.v1.documents.parts import REVISION, object_schema
from plimsoll.api.v1.route import Document

_TIME: dict[str, Any] = {"type": "string", "format": "date-time"}
_ID: dict[str, Any] = {"type": ["string", "null"]}

_WHY: dict[str, Any] = {
    "revision": REVISION | {"description": "The revision at which the search was explained"},
    "reason": {"type": "string", "description": "A stable word for programs"},
    "verdict": {
        "type": "string",
        "enum": ["not now", "never", "unknown"],
        "description": "`never`: even an empty cloud could not serve the request",
    },
    "summary": {"type": "string", "description": "The reason in one sentence, as it was at that time"},
}

REQUEST = object_schema(
    at=_TIME,
    request_id=_ID | {"description": "The id that Plimsoll has given to the request"},
    global_request_id=_ID
    | {"description": "The id that the client has sent; nova sends that of its own request"},
    user=_ID,
    **_WHY,
)

ENTRY = object_schema(
    project=_ID | {"description": "The project of the caller: nova's service project for searches of nova"},
    user=_ID | {"description": "The caller of the last search"},
    query={"type": "string", "description": "The query of `GET /allocation_candidates`; a long one is cut"},
    microversion={"type": "string"},
    searches={
        "type": "integer",
        "minimum": 1,
        "description": "How often this query of this project found nothing",
    },
    first_at=_TIME,
    last_at=_TIME,
    **_WHY,
    requests={
        "type": "array",
        "items": REQUEST,
        "description": "The last searches; with `request_id` those with that id. The newest first",
    },
)

UNPLACED = Document(
    "Unplaced",
    object_schema(
        revision=REVISION,
        unplaced={"type": "array", "items": ENTRY},
        next={
            "type": ["string", "null"],
            "description": "The value of `after` for the next page; null on the last one",
        },
    ),
)
