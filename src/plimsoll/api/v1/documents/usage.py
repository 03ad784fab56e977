# SPDX-License-Identifier: Apache-2.0

"""The document of capacity and usage."""

from __future__ import annotations

from plimsoll.api.v1.documents.parts import AMOUNT, NEXT, REVISION, object_schema
from plimsoll.api.v1.route import Document

GROUPINGS = ("aggregate", "trait", "root", "project", "user", "consumer_type")
OF_OWNERS = ("project", "user", "consumer_type")

_CLASS_OF_PROVIDERS = object_schema(
    providers=AMOUNT | {"description": "Providers with an inventory of the class"},
    total=AMOUNT,
    reserved=AMOUNT,
    capacity=AMOUNT,
    used=AMOUNT,
    free=AMOUNT | {"description": "The sum of what is free on each provider"},
    largest=AMOUNT | {"description": "The largest amount that a claim on one provider can have"},
    stranded=AMOUNT
    | {
        "description": "The part of `free` on hosts where another class is used up: some of it is allocated, and no"
        " provider of the tree admits a further claim of it"
    },
    stranded_by={
        "type": "object",
        "additionalProperties": AMOUNT,
        "description": "The stranded amount for each class that is used up",
    },
)
_CLASS_OF_OWNERS = object_schema(used=AMOUNT)
_KEY = {
    "type": ["string", "null"],
    "description": "The aggregate, trait, root, project, user or type; null for the whole, or for what has none",
}

_PROVIDERS = object_schema(
    {"name": {"type": "string", "description": "The name of the root"}},
    group=_KEY,
    providers=AMOUNT,
    resources={"type": "object", "additionalProperties": _CLASS_OF_PROVIDERS},
)
_OWNERS = object_schema(
    group=_KEY, consumers=AMOUNT, resources={"type": "object", "additionalProperties": _CLASS_OF_OWNERS}
)

USAGE = Document(
    "Usage",
    object_schema(
        revision=REVISION,
        group_by={"enum": [None, *GROUPINGS]},
        groups={"type": "array", "items": {"oneOf": [_PROVIDERS, _OWNERS]}},
        next=NEXT,
    ),
)
