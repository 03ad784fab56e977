# SPDX-License-Identifier: Apache-2.0

"""The query of GET /traits."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.queries.query import TEXT, Query, QueryParser
from plimsoll.api.placement.schemas import Field, ObjectSchema
from plimsoll.http.problems import Problem

_PARAMETERS = ObjectSchema(Field("name", TEXT, required=False), Field("associated", TEXT, required=False))

_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class TraitsRequest:
    among: frozenset[str] | None = None
    prefix: str | None = None
    associated: bool | None = None
    """True: traits that some provider has. False: traits that no provider has. None: all."""


def _parse(query: Query, version: Version) -> TraitsRequest:
    among, prefix = _named(query.last("name"))
    associated = query.last("associated")
    if associated is None:
        return TraitsRequest(among, prefix)
    if associated.lower() not in _TRUTH:
        raise Problem(400, 'The query parameter "associated" only accepts "true" or "false"')
    return TraitsRequest(among, prefix, _TRUTH[associated.lower()])


traits_request = QueryParser(_PARAMETERS, _parse)


def _named(name: str | None) -> tuple[frozenset[str] | None, str | None]:
    """Parse `in:A,B` or `startswith:A`. Any other operator is accepted and ignored, as in the reference."""
    if name is None:
        return None, None
    operator, colon, value = name.partition(":")
    if not colon:
        raise Problem(
            400,
            "Badly formatted name parameter. Expected name query string parameter in form:"
            f' ?name=[in|startswith]:[name1,name2|prefix]. Got: "{name}"',
        )
    among = frozenset(value.split(",")) if operator == "in" else None
    return among, value if operator == "startswith" else None
