# SPDX-License-Identifier: Apache-2.0

"""Handlers of /resource_providers: list, show, create, change, delete."""

from __future__ import annotations

import time
import uuid

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.api.placement.views import providers as views
from plimsoll.domain.provider import Provider
from plimsoll.domain.rules.providers import KEEP_PARENT
from plimsoll.http.response import Response, latest, now
from plimsoll.search.budget import Budget
from plimsoll.search.request import ProvidersRequest
from plimsoll.service import providers


def find(call: ApiRequest) -> Response:
    request: ProvidersRequest = call.query()
    found = accepted(providers.find(call.placement, request))
    pauses = Budget(clock=time.monotonic, pause=call.permit.pause)
    fast_paths = call.placement.settings.fast_paths
    body = views.providers(found, call.version, call.prefix, pauses.pause_if_due, fast_paths)
    return Response(200, body, modified=latest(views.modification_times(found)))


def show(call: ApiRequest) -> Response:
    provider = call.provider()
    body = views.provider(provider, call.version, call.prefix)
    return Response(200, body, modified=provider.modified_at or now())


def create(call: ApiRequest) -> Response:
    return Response(201, location=views.path_of(_created(call).uuid))


def create_and_show(call: ApiRequest) -> Response:
    provider = _created(call)
    body = views.provider(provider, call.version, call.prefix)
    return Response(200, body, views.path_of(provider.uuid), provider.modified_at or now())


def _created(call: ApiRequest) -> Provider:
    given = call.body()
    # Clients may leave out hyphens and use capital letters: store the canonical form.
    new = str(uuid.UUID(given["uuid"])) if given.get("uuid") else str(uuid.uuid4())
    name = given["name"]
    made = providers.create(call.placement, call.actor, new, name, given.get("parent_provider_uuid"))
    return accepted(made, uuid=new, name=name)


def change(call: ApiRequest) -> Response:
    known = call.provider()
    given = call.body()
    provider = accepted(
        providers.update(
            call.placement,
            call.actor,
            known.uuid,
            given["name"],
            given.get("parent_provider_uuid", KEEP_PARENT),
            call.version.has(F.REPARENTING),
        ),
        uuid=known.uuid,
    )
    body = views.provider(provider, call.version, call.prefix)
    return Response(200, body, modified=provider.modified_at or now())


def delete(call: ApiRequest) -> Response:
    accepted(providers.delete(call.placement, call.actor, call.params["uuid"]))
    return Response(204)
