# SPDX-License-Identifier: Apache-2.0

"""Reads the JSON that a request carries and checks it against the shape that its version asks for.

A body that violates the schema is a 400 that names the property and the reason; a body
longer than the operator allows is a 413 and is not read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson
from jsonschema import FormatChecker

from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.schemas import Schema, Schemas, Shape
from plimsoll.api.placement.uuids import is_uuid
from plimsoll.http.problems import Problem

_FORMATS = FormatChecker()
_FORMATS.checks("uuid")(is_uuid)

_ALL_DIGITS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
"""orjson makes a float of a whole number that 64 bits cannot hold."""

_TOO_DEEP = "Malformed JSON: it is nested too deeply."


class Body:
    """A body that a route takes, at every version."""

    def __init__(self, shape: Shape) -> None:
        self.schemas = Schemas(shape, _FORMATS, is_uuid)

    def read(self, raw: bytes, version: Version) -> Any:
        return checked(raw, self.schemas.at(version))


def raw_body(environ: Mapping[str, Any], most: int) -> bytes:
    """The bytes of the body, of which there may be at most so many."""
    given = environ.get("CONTENT_LENGTH")
    if not given:
        # Without a length there is a body only if the server says that reading it comes to an end.
        raw = _received(environ, most + 1) if environ.get("wsgi.input_terminated") else b""
        if len(raw) > most:
            raise _too_long(most)
    else:
        length = int(given)  # checked before the request came to a handler
        if length > most:
            raise _too_long(most)
        raw = _received(environ, length) if length > 0 else b""
        if len(raw) < length:
            raise Problem(400, "The body is shorter than content-length says.")
    return bytes(raw)


def checked(raw: bytes, schema: Schema) -> Any:
    """The content of a body, if it is JSON and what the schema asks for."""
    if _LONG_NUMBER not in raw.translate(_ALL_DIGITS_ZERO):  # a regular expression takes six times as long
        try:
            content = orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass
        else:
            if not schema.accepts(content):
                _refuse_violation(schema, content, len(raw))
            return content
    return _checked_with_care(raw, schema)


def _checked_with_care(raw: bytes, schema: Schema) -> Any:
    """Python's parser takes more than orjson, and its verdicts and messages are those that clients know."""
    try:
        content = json.loads(raw.decode())
    except RecursionError:
        raise Problem(400, _TOO_DEEP) from None
    except ValueError as problem:
        raise Problem(400, f"Malformed JSON: {problem}") from None
    _refuse_violation(schema, content, len(raw))
    if not _can_be_kept(content):
        raise Problem(400, "JSON does not validate: a number is not finite, or a text is not Unicode.")
    return content


def _refuse_violation(schema: Schema, content: Any, size: int) -> None:
    try:
        violation = schema.violation(content, size)
    except RecursionError:
        raise Problem(400, _TOO_DEEP) from None
    if violation is not None:
        raise Problem(400, violation.worded("JSON does not validate"))


def _received(environ: Mapping[str, Any], size: int) -> bytes:
    """Up to so many bytes of the body. Servers other than ours receive it only now, and raise if it breaks off."""
    try:
        received: bytes = environ["wsgi.input"].read(size)
    except OSError:
        raise Problem(400, "The body is malformed, or broke off.") from None
    return received


def _can_be_kept(content: Any) -> bool:
    """Python's parser lets through what no database and no answer could hold."""
    match content:
        case float():
            return math.isfinite(content)
        case str():
            return _is_unicode(content)
        case dict():
            return all(_can_be_kept(key) and _can_be_kept(value) for key, value in content.items())
        case list():
            return all(map(_can_be_kept, content))
    return True


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _too_long(most: int) -> Problem:
    return Problem(413, f"The body is longer than the {most} bytes that this service reads.")
