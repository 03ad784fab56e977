# SPDX-License-Identifier: Apache-2.0

"""Convert and check the parameters of a query by their declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote_plus

from jsonschema import FormatChecker

from plimsoll.api.placement.queries.query import Query, parse_query
from plimsoll.api.placement.schemas import Schema
from plimsoll.api.placement.uuids import is_uuid
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.http.problems import (
    BAD_PARAMETER,
    DUPLICATE_PARAMETER,
    LONGEST_QUOTE,
    MISSING_PARAMETER,
    Problem,
    shorten,
)

_FORMATS = FormatChecker()
_is_integer = re.compile("-?[0-9]{1,18}").fullmatch
_KEYWORD_NOTE = " Failed validating"
"""Begins the part of a violation that names the keyword of the schema."""
_BOOLEANS = {"true": True, "false": False}


class ParameterReader:
    """Reads the parameters of one route from query strings."""

    def __init__(self, route: V1Route) -> None:
        self._parameters = {each.name: (each, _converter(each)) for each in route.parameters}
        self._absent = {
            each.name: () if each.repeated else each.schema["default"]
            for each in route.parameters
            if each.repeated or "default" in each.schema
        }
        self._required = [each.name for each in route.parameters if each.required]
        self._allows_others = route.candidates_query

    def __call__(self, query_string: str) -> Mapping[str, Any]:
        """Return the values by name; raise a `Problem` if the query is not valid."""
        query = parse_query(query_string)
        if not self._allows_others:
            self._refuse_unknown(query)
        values = dict(self._absent)
        for name, (parameter, convert) in self._parameters.items():
            texts = query.all(name)
            if parameter.repeated:
                values[name] = tuple(map(convert, texts))
            elif len(texts) > 1:
                raise Problem(
                    400, f"The query parameter {name} was given more than once.", DUPLICATE_PARAMETER
                )
            elif texts:
                values[name] = convert(texts[0])
        for name in self._required:
            if not query.all(name):
                raise Problem(400, f"The query parameter {name} is required.", MISSING_PARAMETER)
        return values

    def others(self, query_string: str) -> str:
        """Return the query string without the parameters of this route."""
        pairs = parse_query(query_string).pairs
        return "&".join(
            f"{quote_plus(name)}={quote_plus(value)}" for name, value in pairs if name not in self._parameters
        )

    def _refuse_unknown(self, query: Query) -> None:
        unknown = next((name for name, _ in query.pairs if name not in self._parameters), None)
        if unknown is not None:
            known = ", ".join(self._parameters) or "none"
            quoted = shorten(unknown, LONGEST_QUOTE)
            detail = f"There is no query parameter '{quoted}' here. Parameters: {known}."
            raise Problem(400, detail, BAD_PARAMETER)


def _converter(parameter: Parameter) -> Callable[[str], Any]:
    schema = Schema(dict(parameter.schema), _FORMATS, is_uuid)
    kind = parameter.schema.get("type")

    def convert(text: str) -> Any:
        value: Any = text
        if kind == "integer" and _is_integer(text):
            value = int(text)
        elif kind == "boolean":
            value = _BOOLEANS.get(text.lower(), text)
        if schema.accepts(value):
            return value
        violation = schema.violation(value, len(text))
        if violation is None:
            return value
        reason = violation.sentence.partition(_KEYWORD_NOTE)[0]
        raise Problem(400, f"Invalid value of the query parameter {parameter.name}: {reason}", BAD_PARAMETER)

    return convert
