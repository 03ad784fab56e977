# SPDX-License-Identifier: Apache-2.0

"""The document of an explanation."""

from __future__ import annotations

from typing import Any

from plimsoll.api.v1.documents.parts import AMOUNT, REVISION, UUID, object_schema
from plimsoll.api.v1.documents.relax import EXCLUSION, MOVE_PLAN, RELAXATION
from plimsoll.api.v1.route import Document

_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_GROUP: dict[str, Any] = {
    "type": ["string", "null"],
    "description": "The suffix of the group, empty for the group without suffix; null for the tree as a whole",
}

REASONS = (
    "root_required",
    "root_forbidden",
    "in_tree",
    "required",
    "forbidden",
    "member_of",
    "not_member_of",
    "no_condition",
    "no_inventory",
    "sharing",
    "min_unit",
    "max_unit",
    "step_size",
    "capacity",
    "used",
    "one_provider",
    "isolate",
    "groups_capacity",
    "one_per_tree",
    "traits_together",
    "same_subtree",
    "rules_together",
)
_REASON: dict[str, Any] = {"type": "string", "enum": list(REASONS)}

_OVERLAP = object_schema(clause=_COUNT, hosts=_COUNT)
_CLAUSE = object_schema(
    {"resource_class": _TEXT, "requested": AMOUNT, "best": AMOUNT},
    number=_COUNT,
    reason=_REASON,
    group=_GROUP,
    asked=_TEXT,
    alone=_COUNT,
    failed=_COUNT,
    left=_COUNT,
    sole=_COUNT,
    overlap={"anyOf": [_OVERLAP, {"type": "null"}]},
)
_PROVIDER = object_schema(uuid=UUID, name=_TEXT)
_FACTS = object_schema(
    resource_class=_TEXT,
    requested=AMOUNT,
    free=AMOUNT,
    capacity=AMOUNT,
    shortfall=AMOUNT,
    total=AMOUNT,
    reserved=AMOUNT,
    allocation_ratio={"type": "number"},
    used=AMOUNT,
    min_unit=AMOUNT,
    max_unit=AMOUNT,
    step_size=AMOUNT,
)
_OBSTACLE = object_schema(
    {"provider": _PROVIDER, "facts": _FACTS}, clause=_COUNT, reason=_REASON, group=_GROUP, text=_TEXT
)
_HOST = object_schema(uuid=UUID, name=_TEXT, obstacles={"type": "array", "items": _OBSTACLE})

_NULLABLE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_ENDED_BY = object_schema(
    revision=REVISION | {"description": "The revision right after the change"},
    time={"type": "string", "format": "date-time"},
    request_id=_NULLABLE_TEXT,
    global_request_id=_NULLABLE_TEXT,
    user=_NULLABLE_TEXT,
    project=_NULLABLE_TEXT,
    operation=_TEXT | {"description": "A stable word for programs"},
    providers={"type": "array", "items": object_schema(uuid=UUID, name=_NULLABLE_TEXT)},
    more_providers=_COUNT,
    consumers={"type": "array", "items": UUID},
    more_consumers=_COUNT,
)
_SINCE_WHEN = object_schema(
    revision={"anyOf": [REVISION, {"type": "null"}]},
    time=_NULLABLE_TEXT | {"description": "Of the change; null if no change could be undone"},
    exact={
        "type": "boolean",
        "description": "True: there were candidates before the change `ended_by`. False: for at least as long",
    },
    complete={"type": "boolean", "description": "False: there was not enough time for the whole change log"},
    text=_TEXT,
    ended_by={"anyOf": [_ENDED_BY, {"type": "null"}]},
)

EXPLANATION = Document(
    "Explanation",
    object_schema(
        {"provider": _HOST, "since_when": _SINCE_WHEN},
        revision=REVISION,
        candidates=_COUNT,
        is_complete={"type": "boolean"},
        verdict={"type": "string", "enum": ["found", "not now", "never"]},
        summary=_TEXT,
        hosts=_COUNT,
        hosts_with_candidates=_COUNT,
        clauses={"type": "array", "items": _CLAUSE},
        examples={"type": "array", "items": _HOST},
        more_hosts=_COUNT,
        notes={"type": "array", "items": _TEXT},
        relax={"type": "array", "items": RELAXATION},
        relax_is_complete={"type": "boolean", "description": "False: not all changes were tried"},
        never_together={"type": "array", "items": EXCLUSION},
        make_room={"type": "array", "items": MOVE_PLAN},
        make_room_is_complete={"type": "boolean", "description": "False: not all hosts were tried"},
    ),
)
