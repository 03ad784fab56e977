# SPDX-License-Identifier: Apache-2.0

"""Add descriptions to the members of a schema."""

from __future__ import annotations

from typing import Any

from plimsoll.api.openapi.texts import MEMBERS


def with_descriptions(schema: Any) -> Any:
    """Return a copy of a schema in which members with a text in `MEMBERS` have it as their description."""
    if isinstance(schema, list):
        return [with_descriptions(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    copied = {key: with_descriptions(part) for key, part in schema.items()}
    properties = copied.get("properties")
    if isinstance(properties, dict):
        for name, member in properties.items():
            if isinstance(member, dict) and name in MEMBERS:
                properties[name] = {"description": MEMBERS[name], **member}
    return copied
