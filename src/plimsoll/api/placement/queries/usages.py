# SPDX-License-Identifier: Apache-2.0

"""The queries of GET /usages and GET /allocations: the owner."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.api.placement.bodies.patterns import NAME, OWNER
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.queries.query import Query, QueryParser
from plimsoll.api.placement.schemas import Field, ObjectSchema

_OWNER = (Field("project_id", OWNER), Field("user_id", OWNER, required=False))

_CONSUMER_TYPE = Field(
    "consumer_type",
    # The reference's pattern accepts any text that begins with "all"; no consumer has such a type.
    {"type": "string", "pattern": f"{NAME}|^all|^unknown$", "minLength": 1, "maxLength": 255},
    since=F.CONSUMER_TYPES,
    required=False,
)


@dataclass(frozen=True, slots=True)
class Owner:
    """A project or, with a user, that user's part of it."""

    project: str
    user: str | None
    consumer_type: str | None = None


def _parse(query: Query, _: Version) -> Owner:
    return Owner(query.as_dict()["project_id"], query.last("user_id"), query.last("consumer_type"))


usages_request = QueryParser(ObjectSchema(*_OWNER, _CONSUMER_TYPE), _parse)
allocations_request = QueryParser(ObjectSchema(*_OWNER), _parse)
