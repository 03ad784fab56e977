# SPDX-License-Identifier: Apache-2.0

"""The documents of the change log."""

from __future__ import annotations

from typing import Any

from plimsoll.api.v1.documents.parts import AMOUNT, REVISION, inventory_schema, object_schema
from plimsoll.api.v1.route import Document
from plimsoll.domain.change_description import Named
from plimsoll.http.problems import CHANGES_OTHER_HISTORY, CHANGES_PRUNED

_ID: dict[str, Any] = {"type": ["string", "null"]}
_NAME: dict[str, Any] = {"type": "string"}
_NAMES: dict[str, Any] = {"type": "array", "items": _NAME}


def _some_of(**members: Any) -> dict[str, Any]:
    """Return the schema of an object with some of these members, or of null."""
    return object_schema(members) | {"type": ["object", "null"]}


_INVENTORY = inventory_schema() | {"type": ["object", "null"]}

_PROVIDER = _some_of(
    name=_NAME,
    parent=_ID,
    root=_NAME,
    generation=AMOUNT,
    inventories={"type": "object", "additionalProperties": _INVENTORY},
    traits=_NAMES,
    aggregates=_NAMES,
)
_CONSUMER = _some_of(
    project=_NAME,
    user=_NAME,
    type=_NAME | {"description": "`unknown` for a consumer without a type"},
    generation=AMOUNT,
    allocations={
        "type": "object",
        "description": "By uuid of the provider",
        "additionalProperties": object_schema(
            name=_ID | {"description": "The name of the provider"},
            resources={"type": "object", "additionalProperties": AMOUNT},
        ),
    },
)
_BEFORE_AND_AFTER = "null: it did not exist. Otherwise the members that changed"

CHANGE = object_schema(
    revision=REVISION | {"description": "The revision right after the change"},
    cursor={"type": "string", "description": "The value of `since` for the changes after this one"},
    time={"type": "string", "format": "date-time"},
    request_id=_ID | {"description": "The id that Plimsoll has given to the request"},
    global_request_id=_ID
    | {"description": "The id that the client has sent; nova sends that of its own request"},
    user=_ID | {"description": "The caller"},
    project=_ID | {"description": "The project of the caller"},
    operation={"type": "string", "description": "A stable word for programs"},
    reload={
        "type": "boolean",
        "description": "True if the log does not describe the change: read everything again",
    },
    providers={
        "type": "array",
        "items": object_schema(
            uuid=_NAME,
            name=_ID,
            before=_PROVIDER | {"description": _BEFORE_AND_AFTER},
            after=_PROVIDER | {"description": _BEFORE_AND_AFTER},
        ),
    },
    consumers={
        "type": "array",
        "items": object_schema(
            uuid=_NAME,
            before=_CONSUMER | {"description": _BEFORE_AND_AFTER},
            after=_CONSUMER | {"description": _BEFORE_AND_AFTER},
        ),
    },
    names={
        "type": "array",
        "description": "Names that were created, removed or changed",
        "items": object_schema(
            kind={"type": "string", "enum": [str(each) for each in Named]}, before=_ID, after=_ID
        ),
    },
)

GONE = Document(
    "ChangesGone",
    object_schema(
        errors={
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": object_schema(
                status={"const": 410},
                title=_NAME,
                detail=_NAME,
                code={"type": "string", "enum": [CHANGES_PRUNED, CHANGES_OTHER_HISTORY]},
                request_id=_NAME,
                lowest=REVISION | {"description": "The lowest `since` that gives every later change"},
                highest=REVISION | {"description": "The revision of the newest change"},
            ),
        }
    ),
)

CHANGES = Document(
    "Changes",
    object_schema(
        revision=REVISION,
        lowest=REVISION | {"description": "The lowest `since` that gives every later change"},
        highest=REVISION | {"description": "The revision of the newest change"},
        changes={"type": "array", "items": CHANGE},
        next={
            "type": ["string", "null"],
            "description": (
                "The cursor: the value of `since`, or of `before` if the newest is first, for the next page. Null if"
                " the log has no earlier change"
            ),
        },
        more={"type": "boolean", "description": "Whether there are further changes after `next` now"},
    ),
)
