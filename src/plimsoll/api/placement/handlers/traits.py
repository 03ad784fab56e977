# SPDX-License-Identifier: Apache-2.0

"""Handlers of /traits, and of the traits of a provider."""

from __future__ import annotations

from plimsoll.api.placement.bodies.traits import CUSTOM_TRAIT
from plimsoll.api.placement.queries.traits import TraitsRequest
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.api.placement.views import names as views
from plimsoll.http.problems import Problem
from plimsoll.http.response import Response, json_response, latest
from plimsoll.service import traits


def find(call: ApiRequest) -> Response:
    asked: TraitsRequest = call.query()
    found = traits.list_all(call.placement, asked.among, asked.prefix, asked.associated)
    return json_response(views.traits(found), latest(entry.modified_at for entry in found))


def show(call: ApiRequest) -> Response:
    entry = accepted(traits.get(call.placement, call.params["name"]))
    return Response(204, modified=latest((entry.modified_at,)))


def ensure(call: ApiRequest) -> Response:
    name = call.params["name"]
    if not CUSTOM_TRAIT.schemas.at(call.version).accepts(name):
        raise Problem(
            400,
            "The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix"
            ' "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"',
        )
    entry, is_new = accepted(traits.create(call.placement, call.actor, name))
    return Response(
        201 if is_new else 204, location=views.trait_path(entry.name), modified=latest((entry.modified_at,))
    )


def delete(call: ApiRequest) -> Response:
    accepted(traits.delete(call.placement, call.actor, call.params["name"]))
    return Response(204)


def of_provider(call: ApiRequest) -> Response:
    provider, entries = accepted(traits.of_provider(call.placement, call.params["uuid"]))
    return json_response(
        views.traits(entries, provider.generation), latest([entry.modified_at for entry in entries])
    )


def set_for_provider(call: ApiRequest) -> Response:
    given = call.body()
    provider, entries = accepted(
        traits.set_for_provider(
            call.placement,
            call.actor,
            call.params["uuid"],
            given["resource_provider_generation"],
            given["traits"],
        )
    )
    return json_response(
        views.traits(entries, provider.generation), latest([entry.modified_at for entry in entries])
    )


def clear_for_provider(call: ApiRequest) -> Response:
    accepted(traits.clear_for_provider(call.placement, call.actor, call.params["uuid"]))
    return Response(204)
