# SPDX-License-Identifier: Apache-2.0

"""The query of GET /resource_providers."""

from __future__ import annotations

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.queries import conditions
from plimsoll.api.placement.queries.query import TEXT, Query, QueryParser
from plimsoll.api.placement.schemas import Field, ObjectSchema
from plimsoll.search.request import Conditions, ProvidersRequest

_UUID = {"type": "string", "format": "uuid"}

_PARAMETERS = ObjectSchema(
    Field("name", TEXT, required=False),
    Field("uuid", _UUID, required=False),
    Field("member_of", TEXT, since=F.PROVIDERS_BY_AGGREGATE, required=False),
    Field("resources", TEXT, since=F.PROVIDERS_BY_RESOURCES, required=False),
    Field("in_tree", _UUID, since=F.PROVIDER_TREES, required=False),
    Field("required", TEXT, since=F.PROVIDERS_BY_TRAITS, required=False),
)


def _parse(query: Query, version: Version) -> ProvidersRequest:
    member_of, not_member_of = conditions.member_of(query.all("member_of"), version)
    required, forbidden = conditions.required(query.all("required"), version)
    resources = query.last("resources")
    return ProvidersRequest(
        uuid=query.last("uuid"),
        name=query.last("name") or None,
        conditions=Conditions(required, forbidden, member_of, not_member_of, query.last("in_tree")),
        resources={} if resources is None else conditions.resources(resources),
    )


providers_request = QueryParser(_PARAMETERS, _parse)
