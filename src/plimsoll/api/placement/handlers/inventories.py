# SPDX-License-Identifier: Apache-2.0

"""Inventories of a provider. A write returns the figures as the client wrote them."""

from __future__ import annotations

from datetime import datetime

from plimsoll.api.placement.bodies import inventories as bodies
from plimsoll.api.placement.errors import Refused
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.api.placement.views import inventories as views
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import InventoryMissing
from plimsoll.http.response import Response, json_response, latest
from plimsoll.service import inventories


def index(call: ApiRequest) -> Response:
    provider = call.provider()
    figures = {name: inventory.figures() for name, inventory in provider.inventories.items()}
    return json_response(views.inventories(figures, provider.generation), _last_change(provider))


def show(call: ApiRequest) -> Response:
    provider = call.provider()
    name = call.params["resource_class"]
    inventory = provider.inventories.get(name)
    if inventory is None:
        raise Refused(InventoryMissing(provider.uuid, name), {})
    shown = views.inventory(inventory.figures(), provider.generation)
    return json_response(shown, latest((inventory.modified_at,)))


def add(call: ApiRequest) -> Response:
    uuid = call.params["uuid"]
    with call.missing_provider_first():
        given = call.body()
        name, figures = given["resource_class"], bodies.figures_of(given)
        inventory = bodies.inventory_of(figures)
    provider = accepted(
        inventories.add(call.placement, call.actor, uuid, name, inventory, call.version.has(F.RESERVE_ALL))
    )
    return json_response(
        views.inventory(figures, provider.generation),
        latest((provider.inventories[name].modified_at,)),
        status=201,
        location=views.path_of(provider.uuid, name),
    )


def replace(call: ApiRequest) -> Response:
    uuid = call.params["uuid"]
    with call.missing_provider_first():
        given = call.body()
        figures = bodies.all_figures_of(uuid, given["inventories"])
        new = {name: bodies.inventory_of(each) for name, each in figures.items()}
    provider = accepted(
        inventories.replace(
            call.placement,
            call.actor,
            uuid,
            given["resource_provider_generation"],
            new,
            call.version.has(F.RESERVE_ALL),
        )
    )
    return json_response(views.inventories(figures, provider.generation), _last_change(provider))


def change(call: ApiRequest) -> Response:
    uuid, name = call.params["uuid"], call.params["resource_class"]
    with call.missing_provider_first():
        given = call.body()
        figures = bodies.figures_of(given)
        inventory = bodies.inventory_of(figures)
    provider = accepted(
        inventories.update(
            call.placement,
            call.actor,
            uuid,
            given["resource_provider_generation"],
            name,
            inventory,
            call.version.has(F.RESERVE_ALL),
        )
    )
    shown = views.inventory(figures, provider.generation)
    return json_response(shown, latest((provider.inventories[name].modified_at,)))


def remove(call: ApiRequest) -> Response:
    accepted(
        inventories.remove(call.placement, call.actor, call.params["uuid"], call.params["resource_class"])
    )
    return Response(204)


def clear(call: ApiRequest) -> Response:
    accepted(inventories.clear(call.placement, call.actor, call.params["uuid"]))
    return Response(204)


def _last_change(provider: Provider) -> datetime | None:
    """Return the time of the last change of any inventory; None if there are no inventories."""
    if not provider.inventories:
        return None
    return latest([inventory.modified_at for inventory in provider.inventories.values()])
