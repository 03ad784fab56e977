# SPDX-License-Identifier: Apache-2.0

"""Aggregates of a provider. The time at which it joined one is not stored, so `last-modified` is the current time."""

from __future__ import annotations

from plimsoll.api.placement.bodies.aggregates import aggregates_and_generation
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.api.placement.views import names as views
from plimsoll.http.response import Response, json_response, now
from plimsoll.service import aggregates


def show(call: ApiRequest) -> Response:
    provider = call.provider()
    return json_response(views.aggregates(provider.aggregates, provider.generation, call.version), now())


def replace(call: ApiRequest) -> Response:
    with call.missing_provider_first():
        uuids, generation = aggregates_and_generation(call.body())
    provider = accepted(
        aggregates.set_for_provider(call.placement, call.actor, call.params["uuid"], uuids, generation)
    )
    return json_response(views.aggregates(uuids, provider.generation, call.version), now())
