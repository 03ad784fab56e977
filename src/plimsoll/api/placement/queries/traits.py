# SPDX-License-Identifier: Apache-2.0

"""Which traits are asked for."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.queries.query import (
    TEXT,
    Parameters,
    Query,
    remembered,
)
from plimsoll.api.placement.schemas import Field, ObjectSchema
from plimsoll.http.problems import Problem

PARAMETERS = Parameters(
    ObjectSchema(Field("name", TEXT, required=False), Field("associated", TEXT, required=False))
)

_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class TraitsRequest:
    among: frozenset[str] | None = None
    prefix: str | None = None
    associated: bool | None = None
    """Whether some provider has it."""


@remembered
def traits_request(query: Query, version: Version) -> TraitsRequest:
    PARAMETERS.check(query, version)
    among, prefix = _named(query.last("name"))
    associated = query.last("associated")
    if associated is None:
        return TraitsRequest(among, prefix)
    if associated.lower() not in _TRUTH:
        raise Problem(400, 'The query parameter "associated" only accepts "true" or "false"')
    return TraitsRequest(among, prefix, _TRUTH[associated.lower()])


def _named(name: str | None) -> tuple[frozenset[str] | None, str | None]:
    """`in:A,B` or `startswith:A`. Another word before the colon is not an error, and filters nothing."""
    if name is None:
        return None, None
    how, colon, value = name.partition(":")
    if not colon:
        raise Problem(
            400,
            "Badly formatted name parameter. Expected name query string parameter in form:"
            f' ?name=[in|startswith]:[name1,name2|prefix]. Got: "{name}"',
        )
    return frozenset(value.split(",")) if how == "in" else None, value if how == "startswith" else None
