# SPDX-License-Identifier: Apache-2.0

"""Handlers of /allocations: claim, show, release; and of the allocations of a provider."""

from __future__ import annotations

from plimsoll.api.placement.bodies.allocations import claim_of, claims_of
from plimsoll.api.placement.queries.usages import Owner
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.api.placement.uuids import canonical_uuid
from plimsoll.api.placement.views import allocations as views
from plimsoll.http.problems import Problem
from plimsoll.http.response import Response, json_response, now
from plimsoll.service import allocations


def of_consumer(call: ApiRequest) -> Response:
    found = allocations.of_consumer(call.placement, call.params["consumer_uuid"])
    return json_response(views.of_consumer(found, call.version), found.modified_at or now())


def of_provider(call: ApiRequest) -> Response:
    found = accepted(allocations.of_provider(call.placement, call.params["uuid"]))
    shown = views.of_provider(found, call.version, call.permit.periodic_yield())
    return json_response(shown, found.modified_at or now())


def of_owner(call: ApiRequest) -> Response:
    owner: Owner = call.query()
    return json_response(
        views.of_owner(allocations.of_owner(call.placement, owner.project, owner.user)), now()
    )


def claim(call: ApiRequest) -> Response:
    given = call.params["consumer_uuid"]
    consumer = canonical_uuid(given)
    if consumer is None:
        raise Problem(400, f"Malformed consumer_uuid: {given}")
    claimed = claim_of(consumer, call.body(), call.version)
    accepted(allocations.claim(call.placement, call.actor, [claimed]), consumer=consumer)
    return Response(204)


def claim_for_several(call: ApiRequest) -> Response:
    claims = claims_of(call.body(), call.version, call.permit.periodic_yield())
    accepted(allocations.claim(call.placement, call.actor, claims))
    return Response(204)


def release(call: ApiRequest) -> Response:
    accepted(allocations.release(call.placement, call.actor, call.params["consumer_uuid"]))
    return Response(204)
