# SPDX-License-Identifier: Apache-2.0

"""The document of errors; and that of a 401, which the authentication sends before the API is called."""

from __future__ import annotations

from plimsoll.api.placement.documents.parts import TEXT
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Field, ObjectSchema


def _document(*, with_code: bool) -> ObjectSchema:
    error = ObjectSchema(
        Field("status", {"type": "integer", "minimum": 400, "maximum": 599}),
        Field("title", TEXT),
        Field("detail", TEXT),
        Field("code", TEXT, since=F.ERROR_CODES, required=with_code),
        Field("request_id", TEXT),
        # Of a version that does not exist.
        Field("max_version", TEXT, required=False),
        Field("min_version", TEXT, required=False),
    )
    return ObjectSchema(Field("errors", {"type": "array", "minItems": 1, "maxItems": 1, "items": error}))


ERRORS = _document(with_code=True)
EARLY_ERRORS = _document(with_code=False)
"""Errors that can occur before the version is negotiated, which has the codes."""
UNAUTHORIZED = {
    "anyOf": [
        ObjectSchema(Field("message", TEXT), Field("code", TEXT), Field("title", TEXT)),
        ObjectSchema(
            Field(
                "error",
                ObjectSchema(
                    Field("message", TEXT), Field("code", {"type": "integer"}), Field("title", TEXT)
                ),
            )
        ),
    ]
}
"""The second form is that of keystonemiddleware, for a token that Keystone refuses."""
