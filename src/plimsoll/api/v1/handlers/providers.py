# SPDX-License-Identifier: Apache-2.0

"""Providers: everything about one or many at once."""

from __future__ import annotations

from typing import Any

from plimsoll.api.placement.microversion import HIGHEST
from plimsoll.api.placement.queries import conditions
from plimsoll.api.placement.request import accepted
from plimsoll.api.v1.as_of import AT
from plimsoll.api.v1.documents import providers as documents
from plimsoll.api.v1.documents.changes import GONE
from plimsoll.api.v1.lists import list_response
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import JSON, NDJSON, V1Response
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.api.v1.views import providers as views
from plimsoll.search.request import Conditions, ProvidersRequest
from plimsoll.service.provider_list import ProviderQuery, list_providers


def show(call: V1Request) -> V1Response:
    snapshot = call.placement.snapshot()
    provider = call.provider_named(call.params["provider"], otherwise=404)
    etag = call.etag()
    return call.unchanged(etag) or V1Response(views.provider(provider, snapshot.revision), etag=etag)


def list_all(call: V1Request) -> V1Response:
    query = _query(call)
    etag = call.etag()
    unchanged = call.unchanged(etag)
    if unchanged is not None:
        return unchanged
    page = accepted(list_providers(call.placement.snapshot(), query, call.pauses()))
    fields = call.values["fields"].split(",") if "fields" in call.values else None
    encode = views.ProviderEncoder(fields, cached=call.placement.settings.fast_paths.json_cache)
    following = None if page.next is None else str(page.next)
    return list_response(call, "providers", page.providers, encode, etag=etag, following=following)


def _query(call: V1Request) -> ProviderQuery:
    values = call.values
    member_of, not_member_of = conditions.member_of(values["member_of"], HIGHEST)
    required, forbidden = conditions.required(values["required"], HIGHEST)
    in_tree = values.get("in_tree")
    if in_tree is not None:
        in_tree = call.provider_named(in_tree).uuid
    return ProviderQuery(
        ProvidersRequest(
            conditions=Conditions(required, forbidden, member_of, not_member_of, in_tree),
            resources=conditions.resources(values["resources"]) if "resources" in values else {},
        ),
        name=values.get("name"),
        over_full=values.get("over_full"),
        empty=values.get("empty"),
        after=int(values.get("after", "0")),
        limit=values.get("limit"),
    )


_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 4096}
_FIELD = "|".join(documents.FIELDS)

PARAMETERS = (
    Parameter(
        "name",
        "A pattern for the name: `*` any text, `?` one character, `[abc]` one of these. Upper and lower case differ.",
        {"type": "string", "minLength": 1, "maxLength": 200},
        example="compute-*",
    ),
    Parameter("in_tree", "The uuid or name of a provider: all providers of its tree.", _TEXT),
    Parameter(
        "member_of",
        "Aggregates: a uuid, `in:` before several of which one is enough, `!` or `!in:` for forbidden ones.",
        _TEXT,
        repeated=True,
    ),
    Parameter(
        "required",
        "Traits: a list of required ones, `!` before a forbidden one, `in:` before several of which one is enough.",
        _TEXT,
        repeated=True,
        example="HW_CPU_X86_AVX2,!COMPUTE_STATUS_DISABLED",
    ),
    Parameter(
        "resources",
        "Amounts that are free for one claim, by resource class.",
        _TEXT,
        example="VCPU:4,MEMORY_MB:4096",
    ),
    Parameter("over_full", "Whether more than the capacity of some class is allocated.", {"type": "boolean"}),
    Parameter("empty", "Whether nothing is allocated.", {"type": "boolean"}),
    Parameter(
        "fields",
        "The members to show, with commas between them. Without it: all.",
        {"type": "string", "pattern": f"^({_FIELD})(,({_FIELD}))*$", "maxLength": 200},
        example="name,inventories",
    ),
    Parameter(
        "limit", "The largest number of providers. Without it: all.", {"type": "integer", "minimum": 1}
    ),
    Parameter(
        "after",
        "`next` of the page before this one.",
        {"type": "string", "pattern": "^[0-9]+$", "maxLength": 18},
    ),
    AT,
)

ROUTES = (
    V1Route(
        method="GET",
        path="/plimsoll/v1/providers",
        handler=list_all,
        rule="plimsoll:providers:list",
        summary="List providers with everything about them",
        description="In the order of their creation. All conditions must be met.",
        parameters=PARAMETERS,
        returns={200: documents.PROVIDERS, 410: GONE},
        formats=(JSON, NDJSON),
    ),
    V1Route(
        method="GET",
        path="/plimsoll/v1/providers/{provider}",
        handler=show,
        rule="plimsoll:providers:show",
        summary="Show a provider with everything about it",
        description="The provider is given by its uuid or its name.",
        parameters=(AT,),
        returns={200: documents.PROVIDER, 410: GONE},
    ),
)
