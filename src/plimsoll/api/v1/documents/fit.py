# SPDX-License-Identifier: Apache-2.0

"""The document of GET /plimsoll/v1/fit."""

from __future__ import annotations

from typing import Any

from plimsoll.api.v1.documents.parts import REVISION, object_schema
from plimsoll.api.v1.route import Document

_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}

_FIT = object_schema(
    instances=_COUNT | {"description": "How many instances fit, one after the other"},
    hosts=_COUNT | {"description": "The hosts that serve at least one of them"},
    exact={
        "type": "boolean",
        "description": "False: a lower bound, because other choices of providers might leave room for more",
    },
    complete={
        "type": "boolean",
        "description": "False: the time ended before the cloud was full; then nothing is known about limits",
    },
    limiting_class={
        "type": ["string", "null"],
        "description": "The resource class that limits most hosts; null if no class does",
    },
    limits={
        "type": "object",
        "additionalProperties": _COUNT,
        "description": "By resource class: the hosts that have too little of it left for one more instance,"
        " of those that could serve it if nothing were in use",
    },
)

FIT = Document("Fit", object_schema(revision=REVISION, now=_FIT, empty=_FIT))
