# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI documents, as documents of the API."""

from __future__ import annotations

from plimsoll.api.v1.route import Document

_OBJECT = {"type": "object"}

OPENAPI = Document(
    "OpenApi",
    {
        "type": "object",
        "properties": {
            "openapi": {"type": "string"},
            "info": _OBJECT,
            "paths": _OBJECT,
            "components": _OBJECT,
        },
        "required": ["openapi", "info", "paths", "components"],
    },
)
