# SPDX-License-Identifier: Apache-2.0

"""A query string as its parameters, and the check of these against what a version knows.

Parameters may be repeated. Which one counts then is for each of them to say; the check looks at the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from jsonschema import FormatChecker
from webob.compat import parse_qsl_text

from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.schemas import Plain, Schemas, Shape
from plimsoll.bounded_cache import bounded_cache
from plimsoll.http.problems import Problem

T = TypeVar("T")

TEXT: Plain = {"type": "string"}

_FORMATS = FormatChecker()
_REMEMBERED = 512
_LONGEST_REMEMBERED = 640
"""Bytes of a query string and a version. What is made of a query string can take 150 times its length."""


class Query:
    """The parameters of a request, in the order in which they were written."""

    __slots__ = ("_values", "pairs")

    def __init__(self, pairs: tuple[tuple[str, str], ...]) -> None:
        self.pairs = pairs
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def all(self, name: str) -> Sequence[str]:
        return self._values.get(name, ())

    def last(self, name: str) -> str | None:
        return self._values[name][-1] if name in self._values else None

    def as_dict(self) -> dict[str, str]:
        return dict(self.pairs)


def parsed(text: str) -> Query:
    """The parameters of a query string. Raises a `Problem` where it is not UTF-8."""
    try:
        # How escapes are read that are not quite right is visible too, so it is left to whom clients know: to WebOb.
        return Query(tuple(parse_qsl_text(text)))
    except UnicodeError as problem:
        raise Problem(400, f"Invalid query string parameters: {problem}") from None


class Parameters:
    """The parameters that a route takes, at every version."""

    def __init__(self, shape: Shape) -> None:
        self.schemas = Schemas(shape, _FORMATS, _is_uuid)

    def check(self, query: Query, version: Version) -> None:
        schema, given = self.schemas.at(version), query.as_dict()
        if schema.accepts(given):
            return
        violation = schema.violation(given, sum(len(name) + len(value) for name, value in query.pairs))
        if violation is not None:
            raise Problem(400, violation.worded("Invalid query string parameters"))


def _is_uuid(text: str) -> bool:
    """In queries a uuid needs its hyphens, unlike in bodies."""
    return bool(_FORMATS.conforms(text, "uuid"))


def remembered(parse: Callable[[Query, Version], T]) -> Callable[[str, Version], T]:
    """Cache what short query strings mean at a version: clients repeat them."""

    @bounded_cache(_REMEMBERED, max_bytes=1 << 20, max_key_bytes=_LONGEST_REMEMBERED)
    def read(text_and_version: tuple[str, Version]) -> T:
        text, version = text_and_version
        return parse(parsed(text), version)

    return lambda text, version: read((text, version))
