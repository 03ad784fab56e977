# SPDX-License-Identifier: Apache-2.0

"""Parse a query string into parameters, and validate them against the schema of a version.

A parameter may be repeated. The schema validates the last value; the parser of each parameter chooses the one it uses.
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
_MAX_CACHED = 512
_MAX_CACHED_KEY_BYTES = 640
"""Bytes of a query string and a version: the parsed request can take 150 times the size of its query string."""


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


def parse_query(text: str) -> Query:
    """Return the parameters of a query string; raise a `Problem` if it is not UTF-8."""
    try:
        # WebOb's parser, as in the reference: its reading of malformed escapes is visible to clients.
        return Query(tuple(parse_qsl_text(text)))
    except UnicodeError as problem:
        raise Problem(400, f"Invalid query string parameters: {problem}") from None


class Parameters:
    """The schema of a route's query parameters at every version."""

    def __init__(self, shape: Shape) -> None:
        self.schemas = Schemas(shape, _FORMATS, _is_uuid)

    def check(self, query: Query, version: Version) -> None:
        schema, given = self.schemas.at(version), query.as_dict()
        if schema.accepts(given):
            return
        violation = schema.violation(given, sum(len(name) + len(value) for name, value in query.pairs))
        if violation is not None:
            raise Problem(400, violation.as_text("Invalid query string parameters"))


def _is_uuid(text: str) -> bool:
    """Return whether the text is a uuid with hyphens. In queries they are required, unlike in bodies."""
    return bool(_FORMATS.conforms(text, "uuid"))


def cached_by_query_string(parse: Callable[[Query, Version], T]) -> Callable[[str, Version], T]:
    """Cache the parsed requests of short query strings, by string and version: clients repeat them."""

    @bounded_cache(_MAX_CACHED, max_bytes=1 << 20, max_key_bytes=_MAX_CACHED_KEY_BYTES)
    def read(text_and_version: tuple[str, Version]) -> T:
        text, version = text_and_version
        return parse(parse_query(text), version)

    return lambda text, version: read((text, version))
