# SPDX-License-Identifier: Apache-2.0

"""Parse the body of a request as JSON and validate it against the schema of its version.

A violation is a 400 that names the property and the reason.
"""

from __future__ import annotations

import json
import math
from typing import Any

import orjson
from jsonschema import FormatChecker

from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.schemas import Pause, Schema, Schemas, Shape, no_pause
from plimsoll.api.placement.uuids import is_uuid
from plimsoll.http.problems import Problem

_FORMATS = FormatChecker()
_FORMATS.checks("uuid")(is_uuid)

_ALL_DIGITS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
"""Digits from which on a number may not fit into 64 bits. orjson would turn such an integer into a float."""

_TOO_DEEP = "Malformed JSON: it is nested too deeply."


class Body:
    """The schema of a route's body at every version."""

    def __init__(self, shape: Shape) -> None:
        self.schemas = Schemas(shape, _FORMATS, is_uuid)

    def read(self, raw: bytes, version: Version, pause: Pause = no_pause) -> Any:
        return parse_body(raw, self.schemas.at(version), pause)


def parse_body(raw: bytes, schema: Schema, pause: Pause = no_pause) -> Any:
    """Parse a body and validate it; raise a `Problem` if it is not JSON or violates the schema."""
    if _LONG_NUMBER not in raw.translate(_ALL_DIGITS_ZERO):  # a regular expression takes six times as long
        try:
            content = orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass
        else:
            if not schema.accepts(content):
                _refuse_violation(schema, content, len(raw), pause)
            return content
    return _parse_with_json_module(raw, schema, pause)


def _parse_with_json_module(raw: bytes, schema: Schema, pause: Pause) -> Any:
    """Parse with Python's json, as the reference does: it accepts more than orjson, and clients see its messages."""
    try:
        content = json.loads(raw.decode())
    except RecursionError:
        raise Problem(400, _TOO_DEEP) from None
    except ValueError as problem:
        raise Problem(400, f"Malformed JSON: {problem}") from None
    _refuse_violation(schema, content, len(raw), pause)
    if not _is_storable(content):
        raise Problem(400, "JSON does not validate: a number is not finite, or a text is not Unicode.")
    return content


def _refuse_violation(schema: Schema, content: Any, size: int, pause: Pause) -> None:
    try:
        violation = schema.violation(content, size, pause)
    except RecursionError:
        raise Problem(400, _TOO_DEEP) from None
    if violation is not None:
        raise Problem(400, violation.as_text("JSON does not validate"))


def _is_storable(content: Any) -> bool:
    """Return False for values that Python's json accepts and that no database and no response can hold."""
    match content:
        case float():
            return math.isfinite(content)
        case str():
            return _is_unicode(content)
        case dict():
            return all(_is_storable(key) and _is_storable(value) for key, value in content.items())
        case list():
            return all(map(_is_storable, content))
    return True


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True
