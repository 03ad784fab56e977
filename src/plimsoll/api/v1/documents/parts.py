# SPDX-License-Identifier: Apache-2.0

"""Parts of schemas that several documents have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.http.problems import CHANGES_OTHER_HISTORY, CHANGES_PRUNED

UUID: dict[str, Any] = {"type": "string", "format": "uuid"}
AMOUNT: dict[str, Any] = {"type": "integer"}
REVISION: dict[str, Any] = {
    "type": "string",
    "pattern": "^[0-9a-f]{8}:[0-9]+$",
    "description": "The state of the database: its epoch and the number of its last change",
}
NEXT: dict[str, Any] = {
    "type": ["string", "null"],
    "description": "The value of `after` for the next page; null if this is the last one",
}


def object_schema(optional: Mapping[str, Any] | None = None, /, **members: Any) -> dict[str, Any]:
    """Return the schema of an object with these members, all required, and these optional ones."""
    return {
        "type": "object",
        "properties": {**members, **(optional or {})},
        "required": list(members),
        "additionalProperties": False,
    }


def gone_schema(lowest: str) -> dict[str, Any]:
    """Return the schema of a 410: the error document, with the revisions that are available. `lowest` describes the first."""
    return object_schema(
        errors={
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": object_schema(
                status={"const": 410},
                title={"type": "string"},
                detail={"type": "string"},
                code={"type": "string", "enum": [CHANGES_PRUNED, CHANGES_OTHER_HISTORY]},
                request_id={"type": "string"},
                lowest=REVISION | {"description": lowest},
                highest=REVISION | {"description": "The newest revision"},
            ),
        }
    )
