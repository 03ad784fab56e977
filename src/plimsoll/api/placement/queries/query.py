# SPDX-License-Identifier: Apache-2.0

"""Parse a query string into parameters, and validate them against the schema of a version.

A parameter may be repeated. The schema validates the last value; the parser of each parameter chooses the one it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

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


class QueryParser(Generic[T]):
    """The query of a route: the schema of its parameters at every version, and the function that parses valid ones.

    Parsed requests of short query strings are cached, by string and version: clients repeat them.
    """

    def __init__(self, shape: Shape, parse: Callable[[Query, Version], T]) -> None:
        self.schemas = Schemas(shape, _FORMATS, _is_uuid)
        self._parse = parse
        cached = bounded_cache(_MAX_CACHED, max_bytes=1 << 20, max_key_bytes=_MAX_CACHED_KEY_BYTES)
        self._parse_cached = cached(self._parse_valid)

    def __call__(self, text: str, version: Version) -> T:
        """Return the request that a query string describes; raise a `Problem` if it is not valid."""
        return self._parse_cached((text, version))

    def _parse_valid(self, text_and_version: tuple[str, Version]) -> T:
        text, version = text_and_version
        query = parse_query(text)
        self._check(query, version)
        return self._parse(query, version)

    def _check(self, query: Query, version: Version) -> None:
        schema, given = self.schemas.at(version), query.as_dict()
        if schema.accepts(given):
            return
        violation = schema.violation(given, sum(len(name) + len(value) for name, value in query.pairs))
        if violation is not None:
            raise Problem(400, violation.as_text("Invalid query string parameters"))


def _is_uuid(text: str) -> bool:
    """Return whether the text is a uuid with hyphens. In queries they are required, unlike in bodies."""
    return bool(_FORMATS.conforms(text, "uuid"))
