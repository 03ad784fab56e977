# SPDX-License-Identifier: Apache-2.0

"""Add descriptions to the members of a schema."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from plimsoll.api.openapi.texts import IGNORED_IF_OPTIONAL, MEMBERS, SENT_MEMBERS

_TextOf = Callable[[str, Container[str]], str | None]
"""The text of a member, by its name and the names of the required members beside it."""


def with_descriptions(schema: Any) -> Any:
    """Return a copy of the schema of a response in which members with a text have it as their description."""
    return _described(schema, lambda name, _: MEMBERS.get(name))


def with_sent_descriptions(schema: Any) -> Any:
    """Return such a copy of the schema of a request body."""
    return _described(schema, _sent_text)


def _sent_text(name: str, required: Container[str]) -> str | None:
    if name in IGNORED_IF_OPTIONAL and name not in required:
        return IGNORED_IF_OPTIONAL[name]
    return SENT_MEMBERS.get(name, MEMBERS.get(name))


def _described(schema: Any, text_of: _TextOf) -> Any:
    if isinstance(schema, list):
        return [_described(part, text_of) for part in schema]
    if not isinstance(schema, dict):
        return schema
    copied = {key: _described(part, text_of) for key, part in schema.items()}
    properties = copied.get("properties")
    if isinstance(properties, dict):
        required = copied.get("required", ())
        for name, member in properties.items():
            text = text_of(name, required)
            if isinstance(member, dict) and text is not None:
                properties[name] = {"description": text, **member}
    return copied
