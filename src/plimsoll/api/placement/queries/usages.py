# SPDX-License-Identifier: Apache-2.0

"""The queries of GET /usages and GET /allocations: the owner."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.api.placement.bodies.patterns import NAME, OWNER
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.queries.query import Parameters, Query, cached_by_query_string
from plimsoll.api.placement.schemas import Field, ObjectSchema

_OWNER = (Field("project_id", OWNER), Field("user_id", OWNER, required=False))

PARAMETERS = Parameters(
    ObjectSchema(
        *_OWNER,
        Field(
            "consumer_type",
            # The reference's pattern accepts any text that begins with "all"; no consumer has such a type.
            {"type": "string", "pattern": f"{NAME}|^all|^unknown$", "minLength": 1, "maxLength": 255},
            since=F.CONSUMER_TYPES,
            required=False,
        ),
    )
)
ALLOCATIONS_PARAMETERS = Parameters(ObjectSchema(*_OWNER))


@dataclass(frozen=True, slots=True)
class Owner:
    """A project or, with a user, that user's part of it."""

    project: str
    user: str | None
    consumer_type: str | None = None


@cached_by_query_string
def usages_request(query: Query, version: Version) -> Owner:
    PARAMETERS.check(query, version)
    return Owner(query.as_dict()["project_id"], query.last("user_id"), query.last("consumer_type"))


@cached_by_query_string
def allocations_request(query: Query, version: Version) -> Owner:
    ALLOCATIONS_PARAMETERS.check(query, version)
    return Owner(query.as_dict()["project_id"], query.last("user_id"))
