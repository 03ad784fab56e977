# SPDX-License-Identifier: Apache-2.0

"""The parts of an explanation with suggestions: changes of the request, and moves of consumers."""

from __future__ import annotations

from typing import Any

from plimsoll.api.v1.documents.parts import AMOUNT, UUID, object_schema
from plimsoll.search.relax.changes import Relaxed

_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_PROVIDER = object_schema(uuid=UUID, name=_TEXT)
_AMOUNTS: dict[str, Any] = {"type": "object", "additionalProperties": AMOUNT}

_CHANGE = object_schema(
    {
        "group": _TEXT | {"description": "The suffix of the group, empty for the group without suffix"},
        "names": _TEXTS | {"description": "Traits, aggregates, a provider or suffixes that are given up"},
        "resource_class": _TEXT,
        "amount": AMOUNT,
        "new_amount": AMOUNT,
    },
    kind={"type": "string", "enum": [kind.value for kind in Relaxed]},
)

RELAXATION = object_schema(
    text=_TEXT,
    changes={"type": "array", "items": _CHANGE},
    query=_TEXT | {"description": "The query with these changes"},
    hosts=_COUNT,
    candidates=_COUNT,
    is_exact={"type": "boolean", "description": "False: at least as many candidates"},
)

_CONDITION = object_schema(kind={"type": "string", "enum": ["required", "member_of"]}, names=_TEXTS)
EXCLUSION = object_schema(
    text=_TEXT,
    group=_TEXT,
    conditions={"type": "array", "items": _CONDITION},
    by={"type": "string", "enum": ["host", "provider"]},
)

_MOVE = object_schema(
    consumer={
        "type": ["string", "null"],
        "format": "uuid",
        "description": "null for consumers of other projects, without the right to see them",
    },
    project={"type": ["string", "null"]},
    resources=_AMOUNTS | {"description": "All that the consumer holds"},
    to={"type": "array", "items": object_schema(provider=_PROVIDER, resources=_AMOUNTS)},
)
MOVE_PLAN = object_schema(
    text=_TEXT,
    host=_PROVIDER,
    fewest={"type": "boolean", "description": "False: perhaps fewer consumers are enough"},
    moves={"type": "array", "items": _MOVE},
)
