# SPDX-License-Identifier: Apache-2.0

"""Parts of schemas that several documents have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def inventory_schema(**others: Any) -> dict[str, Any]:
    """Return the schema of an inventory as it is written, with these members added."""
    return object_schema(
        total=AMOUNT,
        reserved=AMOUNT,
        min_unit=AMOUNT,
        max_unit=AMOUNT,
        step_size=AMOUNT,
        allocation_ratio={"type": "number"},
        **others,
    )


def object_schema(optional: Mapping[str, Any] | None = None, /, **members: Any) -> dict[str, Any]:
    """Return the schema of an object with these members, all required, and these optional ones."""
    return {
        "type": "object",
        "properties": {**members, **(optional or {})},
        "required": list(members),
        "additionalProperties": False,
    }
